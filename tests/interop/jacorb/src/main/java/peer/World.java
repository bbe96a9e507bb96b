package peer;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;

/** The command line, and the ORB and root adapter that it asks for. */
final class World {
    final ORB orb;
    final POA root;

    World(Map<String, String> options) throws org.omg.CORBA.UserException {
        Rmi.install();
        Properties settings = new Properties();
        settings.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        settings.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        String version = options.getOrDefault("giop", "1.2");
        settings.put("jacorb.giop_minor_version", version.substring(version.indexOf('.') + 1));
        settings.put("jacorb.native_char_codeset", options.getOrDefault("text", "latin1").equals("utf8") ? "UTF8" : "ISO8859_1");
        settings.put("OAIAddr", "127.0.0.1");
        settings.put("jacorb.poa.queue_wait", "on");  // else a full queue drops oneways
        settings.put("jacorb.connection.client.pending_reply_timeout", "20000");
        settings.put("jacorb.implname", "zorb-interop");
        settings.put("jacorb.log.default.verbosity", options.getOrDefault("trace", "1"));
        settings.put("org.omg.PortableInterceptor.ORBInitializerClass." + Forwarding.class.getName(), "");
        settings.put("org.omg.PortableInterceptor.ORBInitializerClass." + Tracing.class.getName(), "");
        if (options.containsKey("group")) {
            settings.put("jacorb.transport.factories", "org.jacorb.orb.iiop.IIOPFactories,org.jacorb.orb.miop.MIOPFactories");
            settings.put("jacorb.transport.client.selector", "org.jacorb.orb.miop.MIOPProfileSelector");
        }
        orb = ORB.init(new String[0], settings);
        root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
    }

    /** Activates a servant in the root adapter; the result is to be narrowed. */
    org.omg.CORBA.Object activate(Servant servant) throws org.omg.CORBA.UserException {
        return root.servant_to_reference(servant);
    }

    /** {@code --name value} pairs; what is not an option goes to "". */
    static Map<String, String> options(String[] words) {
        Map<String, String> found = new HashMap<>();
        for (int i = 0; i < words.length; i++) {
            if (words[i].equals("--list") || words[i].equals("--samples") || words[i].equals("--bridged")) found.put(words[i].substring(2), "yes");
            else if (words[i].startsWith("--") && i + 1 < words.length) found.put(words[i].substring(2), words[++i]);
            else found.put("", words[i]);
        }
        return found;
    }
}

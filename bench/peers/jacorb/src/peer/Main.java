package peer;

import java.util.Properties;
import org.omg.CORBA.ORB;

/**
 * JacORB 3.9 as a peer: {@code peer serve} and {@code peer drive}, see ../README.md for the protocol.
 *
 * <p>Settings, from JacORB's programming guide, and why:
 * <ul>
 * <li>{@code jacorb.poa.queue_wait=on}: otherwise a full request queue drops oneways;
 * <li>an adapter with one thread: with several, oneways are executed in any order;
 * <li>{@code jacorb.maxManagedBufSize=26}: buffers of up to 64 MiB are used again, by default up to 4 MiB;
 * <li>{@code max_receptor_threads=20000} on both sides: it has a thread for each connection, by default 1,000 at most;
 * <li>{@code native_char_codeset=ISO8859_1}: characters are 8 bits here;
 * <li>{@code retries=0}: a server that is gone is an error at once;
 * <li>20,000 calls and a short flood of each type before {@code ready}, so that what is measured is compiled code.
 * </ul>
 * {@code TCP_NODELAY} is JacORB's default. Over Unix sockets it has no transport.
 */
public final class Main {
    private Main() {}

    public static void main(String[] words) {
        Settings settings;
        try {
            settings = Settings.read(words);
        } catch (IllegalArgumentException refused) {
            System.err.println(refused.getMessage());
            System.exit(2);
            return;
        }
        try {
            Sockets.configure(settings);
            if (settings.address() == null) Servant.serve(orb(settings), settings);
            else new Commands(new Driver(orb(settings), settings.address())).run();
            // No orderly shutdown: nobody waits for it.
            Runtime.getRuntime().halt(0);
        } catch (Exception failure) {
            System.err.println(describe(failure));
            Runtime.getRuntime().halt(1);
        }
    }

    private static ORB orb(Settings settings) {
        Properties properties = new Properties();
        properties.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.put("jacorb.implname", "peer");
        properties.put("jacorb.log.default.verbosity", "0");
        properties.put("OAIAddr", settings.host());
        if (settings.port() != 0) properties.put("OAPort", Integer.toString(settings.port()));
        properties.put("jacorb.poa.queue_wait", "on");
        properties.put("jacorb.maxManagedBufSize", "26");
        properties.put("jacorb.connection.server.max_receptor_threads", "20000");
        properties.put("jacorb.connection.client.max_receptor_threads", "20000");
        properties.put("jacorb.connection.max_server_connections", "20000");
        properties.put("jacorb.native_char_codeset", "ISO8859_1");
        properties.put("jacorb.retries", "0");
        properties.put("jacorb.retry_interval", "1");
        properties.put("jacorb.net.socket_factory", Sockets.Connecting.class.getName());
        properties.put("jacorb.net.server_socket_factory", Sockets.Listening.class.getName());
        return ORB.init(new String[0], properties);
    }

    /** A failure on one line. */
    static String describe(Throwable failure) {
        String text = failure instanceof Failure ? failure.getMessage() : failure.toString();
        return String.valueOf(text).replace('\n', ' ');
    }
}

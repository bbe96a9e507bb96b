package peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.omg.PortableGroup.GOAHelper;

/**
 * {@code Server --ior-file FILE [--giop 1.0|1.1|1.2] [--text latin1|utf8] [--group corbaloc:miop:…]}: publishes an Every and
 * serves it until {@code shutdown} is called or the process is killed; it joins the group, if one is named. Prints {@code ready}
 * when the reference is written.
 */
public final class Server {
    private Server() {}

    public static void main(String[] words) throws Exception {
        Map<String, String> options = World.options(words);
        World world = new World(options);
        org.omg.CORBA.Object every = world.activate(EveryServant.create(world));
        if (options.containsKey("group")) {
            org.omg.CORBA.Object group = world.orb.string_to_object(options.get("group"));
            GOAHelper.narrow(world.root).associate_reference_with_id(group, world.root.reference_to_id(every));
        }
        Path file = Path.of(options.get("ior-file"));
        Path unfinished = Path.of(file + ".new");
        Files.writeString(unfinished, world.orb.object_to_string(every) + "\n");
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);  // whoever waits for the file finds it whole
        System.out.println("ready");
        world.orb.run();
    }
}

package peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/**
 * {@code Server --ior-file FILE [--giop 1.0|1.1|1.2] [--text latin1|utf8]}: publishes an Every and serves it until
 * {@code shutdown} is called or the process is killed. Prints {@code ready} when the reference is written.
 */
public final class Server {
    private Server() {}

    public static void main(String[] words) throws Exception {
        Map<String, String> options = World.options(words);
        World world = new World(options);
        org.omg.CORBA.Object every = world.activate(EveryServant.create(world));
        Path file = Path.of(options.get("ior-file"));
        Path unfinished = Path.of(file + ".new");
        Files.writeString(unfinished, world.orb.object_to_string(every) + "\n");
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);  // whoever waits for the file finds it whole
        System.out.println("ready");
        world.orb.run();
    }
}

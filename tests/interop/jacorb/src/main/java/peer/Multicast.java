package peer;

import interop.Every;
import interop.EveryHelper;
import java.util.Map;

/**
 * {@code Multicast --group corbaloc:miop:…}: tells every object of the group 1 to 20, and then a text that takes several
 * packets.
 */
public final class Multicast {
    private Multicast() {}

    public static void main(String[] words) throws Exception {
        Map<String, String> options = World.options(words);
        World world = new World(options);
        // A narrow that asks would wait for an answer, which no group gives.
        Every group = EveryHelper.unchecked_narrow(world.orb.string_to_object(options.get("group")));
        for (int i = 1; i <= 20; i++) group.note(i);
        group.note_all(new int[] {-1, -2}, "x".repeat(5000));
        System.exit(0);
    }
}

package peer;

import interop.Every;
import interop.EveryHelper;
import java.util.Map;
import org.omg.CORBA.Object;
import org.omg.PortableGroup.GOA;
import org.omg.PortableGroup.GOAHelper;

/**
 * Group references (MIOP): {@code Multicast member --group corbaloc:miop:… } joins an Every to the group, prints {@code ready}
 * and, whenever a line is typed, what it was told so far; {@code Multicast sender --group …} tells the group 1 to 20 and then
 * a text that takes several packets.
 */
public final class Multicast {
    private Multicast() {}

    public static void main(String[] words) throws Exception {
        Map<String, String> options = World.options(words);
        options.put("multicast", "yes");
        World world = new World(options);
        Object group = world.orb.string_to_object(options.get("group"));
        if (options.get("").equals("member")) join(world, group);
        else tell(EveryHelper.unchecked_narrow(group));
    }

    private static void join(World world, Object group) throws Exception {
        Object local = world.activate(EveryServant.create(world));
        GOA goa = GOAHelper.narrow(world.root);
        goa.associate_reference_with_id(group, world.root.reference_to_id(local));
        Every every = EveryHelper.narrow(local);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            StringBuilder line = new StringBuilder();
            for (int one : every.noted()) line.append(one).append(' ');
            System.out.println(line.toString().trim());
        }
        System.exit(0);
    }

    private static void tell(Every group) throws InterruptedException {
        for (int i = 1; i <= 20; i++) group.note(i);
        group.note_all(new int[] {-1, -2}, "x".repeat(5000));
        Thread.sleep(200);
        System.exit(0);
    }
}

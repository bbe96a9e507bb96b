package peer;

import interop.Every;
import interop.EveryHelper;
import interop.Listener;
import interop.ListenerHelper;
import interop.Peer;
import interop.PeerHelper;
import interop.Refused;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.omg.BiDirPolicy.BIDIRECTIONAL_POLICY_TYPE;
import org.omg.BiDirPolicy.BOTH;
import org.omg.BiDirPolicy.BidirectionalPolicyValueHelper;
import org.omg.CORBA.Any;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.IdAssignmentPolicyValue;
import org.omg.PortableServer.ImplicitActivationPolicyValue;
import org.omg.PortableServer.LifespanPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.Servant;

/**
 * {@code Bidirectional server --ior-file FILE}: publishes an Every that calls clients back over the connections that they opened.
 * {@code Bidirectional client IOR}: has the Every call objects of its own back, and says of each call whether that went well.
 */
public final class Bidirectional {
    private static int failed;

    private Bidirectional() {}

    public static void main(String[] words) throws Exception {
        System.setProperty("org.omg.PortableInterceptor.ORBInitializerClass.bidir_init",
                "org.jacorb.orb.giop.BiDirConnectionInitializer");
        Map<String, String> options = World.options(Arrays.copyOfRange(words, 1, words.length));
        World world = new World(options);
        Any both = world.orb.create_any();
        BidirectionalPolicyValueHelper.insert(both, BOTH.value);
        Policy[] policies = {
            world.orb.create_policy(BIDIRECTIONAL_POLICY_TYPE.value, both),
            world.root.create_lifespan_policy(LifespanPolicyValue.TRANSIENT),
            world.root.create_id_assignment_policy(IdAssignmentPolicyValue.SYSTEM_ID),
            world.root.create_implicit_activation_policy(ImplicitActivationPolicyValue.IMPLICIT_ACTIVATION),
        };
        // With the policy on an adapter the ORB offers and accepts.
        POA poa = world.root.create_POA("called back", world.root.the_POAManager(), policies);
        if (words[0].equals("server")) serve(world, options);
        else call(world, poa, options.get(""));
    }

    private static void serve(World world, Map<String, String> options) throws Exception {
        org.omg.CORBA.Object every = world.activate(EveryServant.create(world));
        Path file = Path.of(options.get("ior-file"));
        Path unfinished = Path.of(file + ".new");
        Files.writeString(unfinished, world.orb.object_to_string(every) + "\n");
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);  // whoever waits for the file finds it whole
        System.out.println("ready");
        world.orb.run();
    }

    private static org.omg.CORBA.Object activate(POA poa, Servant servant) throws Exception {
        return poa.id_to_reference(poa.activate_object(servant));
    }

    private static void call(World world, POA poa, String reference) throws Exception {
        Every every = EveryHelper.narrow(world.orb.string_to_object(reference));
        Servants.ListenerServant ear = new Servants.ListenerServant();
        Listener listener = ListenerHelper.narrow(activate(poa, ear));
        Peer mine = PeerHelper.narrow(activate(poa, new Servants.PeerServant()));
        check("ask", () -> every.ask(listener, "w\u00e4rum?").equals("w\u00e4rum?w\u00e4rum?"));
        check("ask-refused", () -> {
            try {
                every.ask(listener, "refuse");
                return false;
            } catch (Refused refused) {
                return refused.code == 13;
            }
        });
        check("tell", () -> {
            every.tell(listener, 50);
            for (int i = 0; i < 500 && ear.all().size() < 50; i++) Thread.sleep(10);
            return ear.all().size() == 50;
        });
        for (int depth : new int[] {1, 2, 8}) check("bounce-" + depth, () -> every.bounce_with(mine, depth) == depth);
        check("threads", () -> {
            AtomicInteger good = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Thread thread = new Thread(() -> {
                    for (int n = 0; n < 25; n++) if (every.bounce_with(mine, 3) == 3) good.incrementAndGet();
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) thread.join();
            return good.get() == 100;
        });
        System.out.println(failed == 0 ? "all passed" : "failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static void check(String what, Callable<Boolean> body) {
        String wrong = null;
        try {
            if (!body.call()) wrong = "another answer";
        } catch (Exception exception) {
            wrong = exception.toString();
        }
        if (wrong != null) failed++;
        System.out.println(what + ": " + (wrong == null ? "passed" : wrong));
    }
}

package peer;

import interop.*;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ShortHolder;
import org.omg.CORBA.StringHolder;

/**
 * The servant behind Every. Echo, phase, lead and bulk operations all follow one rule each and are
 * answered by reflection; the methods below are the others.
 */
public final class EveryServant {
    private final World world;
    private final Base base;
    private final Left left;
    private final Right right;
    private final Diamond diamond;
    private final Guarded guarded;
    private final Decimals decimals;
    private final Peer peer;
    private final Beyond beyond;
    private final List<Integer> notes = new ArrayList<>();
    private int present;
    private int meetings;
    private String title = "";
    private BinStruct setting = (BinStruct) Samples.sample("BinStruct", 0);
    private ByUShort choice = (ByUShort) Samples.sample("ByUShort", 0);
    private int[] first = {};
    private int[] second = {};

    private EveryServant(World world) throws org.omg.CORBA.UserException {
        this.world = world;
        base = BaseHelper.narrow(world.activate(new Servants.BaseServant(1)));
        left = LeftHelper.narrow(world.activate(new Servants.LeftServant()));
        right = RightHelper.narrow(world.activate(new Servants.RightServant()));
        diamond = DiamondHelper.narrow(world.activate(new Servants.DiamondServant()));
        guarded = GuardedHelper.narrow(world.activate(new Servants.GuardedServant()));
        decimals = DecimalsHelper.narrow(world.activate(new DecimalsPOATie((DecimalsOperations) Proxy.newProxyInstance(
            EveryServant.class.getClassLoader(), new Class<?>[] {DecimalsOperations.class},
            (proxy, method, arguments) -> answer(method, arguments)))));
        peer = PeerHelper.narrow(world.activate(new Servants.PeerServant()));
        beyond = new Beyond(world);
        Forwarding.start(world, base);
    }

    static EveryPOATie create(World world) throws org.omg.CORBA.UserException {
        EveryServant servant = new EveryServant(world);
        return new EveryPOATie((EveryOperations) Proxy.newProxyInstance(
            EveryServant.class.getClassLoader(), new Class<?>[] {EveryOperations.class},
            (proxy, method, arguments) -> servant.answer(method, arguments)));
    }

    private Object answer(Method method, Object[] arguments) throws Throwable {
        String name = method.getName();
        if (name.startsWith("echo_")) {
            Object old = Holders.get(arguments[2]);
            Holders.set(arguments[1], arguments[0]);
            Holders.set(arguments[2], arguments[0]);
            return old;
        }
        if (name.startsWith("phase_")) {
            Holders.set(arguments[2], arguments[0]);
            Holders.set(arguments[3], arguments[1]);
            return null;
        }
        if (name.startsWith("lead_") || name.startsWith("bulk_")) return arguments[arguments.length - 1];
        try {
            return EveryServant.class.getMethod(name, method.getParameterTypes()).invoke(this, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    public void raise_wide(int k) throws WideError { throw (WideError) Samples.sample("WideError", k); }

    // Bulk
    public int sum_octets(byte[] a) {
        int sum = 0;
        for (byte octet : a) sum += octet & 0xff;
        return sum;
    }
    public byte[] make_octets(int count) {
        byte[] made = new byte[count];
        for (int i = 0; i < count; i++) made[i] = (byte) (i % 251);
        return made;
    }

    // Calls
    public void nothing() {}
    public void consume(int a, String b, BinStruct c, String[] d) {}
    public void produce(IntHolder a, StringHolder b, BinStructHolder c, StringSeqHolder d, LongArrayHolder f) {
        a.value = (Integer) Samples.sample("long", 5);
        b.value = (String) Samples.sample("string", 5);
        c.value = (BinStruct) Samples.sample("BinStruct", 5);
        d.value = (String[]) Samples.sample("StringSeq", 5);
        f.value = (int[]) Samples.sample("LongArray", 5);
    }
    public void change(IntHolder a, StringHolder b, BinStructHolder c, StringSeqHolder d, ByUShortHolder f) {
        a.value = (Integer) Samples.sample("long", 5);
        b.value = (String) Samples.sample("string", 5);
        c.value = (BinStruct) Samples.sample("BinStruct", 5);
        d.value = (String[]) Samples.sample("StringSeq", 5);
        f.value = (ByUShort) Samples.sample("ByUShort", 5);
    }
    public int mixed(byte a, ShortHolder b, DoubleHolder c, String d, StringHolder g, OctetSeqHolder f) {
        b.value = (short) -b.value;
        c.value = a & 0xff;
        g.value = d;
        byte[] reversed = new byte[f.value.length];
        for (int i = 0; i < reversed.length; i++) reversed[i] = f.value[reversed.length - 1 - i];
        f.value = reversed;
        return reversed.length;
    }
    public short _interface(short module) { return (short) (module + 1); }
    public synchronized void note(int value) { notes.add(value); }
    public synchronized void note_all(int[] more, String text) {
        for (int value : more) notes.add(value);
        notes.add(text.length());
    }
    public synchronized int[] noted() { return notes.stream().mapToInt(Integer::intValue).toArray(); }
    public synchronized void forget() { notes.clear(); }
    public void nap(int milliseconds) throws InterruptedException { Thread.sleep(milliseconds); }
    public synchronized boolean meet(int parties, int milliseconds) throws InterruptedException {
        int meeting = meetings;
        if (++present >= parties) {
            present = 0;
            meetings++;
            notifyAll();
            return true;
        }
        long end = System.nanoTime() + milliseconds * 1_000_000L;
        while (meetings == meeting) {
            long left = (end - System.nanoTime()) / 1_000_000L;
            if (left <= 0) {
                present--;
                return false;
            }
            wait(left);
        }
        return true;
    }
    public String operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones(String a) { return a; }

    // Attributes
    public int answer() { return 42; }
    public String title() { return title; }
    public void title(String v) { title = v; }
    public BinStruct setting() { return setting; }
    public void setting(BinStruct v) { setting = v; }
    public ByUShort choice() { return choice; }
    public void choice(ByUShort v) { choice = v; }
    public int[] first_list() { return first; }
    public void first_list(int[] v) { first = v; }
    public int[] second_list() { return second; }
    public void second_list(int[] v) { second = v; }

    // Exceptions
    public void raise_empty() throws Empty { throw new Empty(); }
    public int raise_refused(String why, int code) throws Refused { throw new Refused(why, code); }
    public void raise_loaded(int k) throws Loaded { throw (Loaded) Samples.sample("Loaded", k); }
    public int raise_one_of(int which, StringHolder b, IntHolder c) throws Empty, Refused, Loaded {
        switch (which) {
            case 1: throw new Empty();
            case 2: throw new Refused("two", 2);
            case 3: throw (Loaded) Samples.sample("Loaded", 3);
            default:
        }
        b.value = "fine";
        c.value = -c.value;
        return 7;
    }
    public void raise_system(String name, int minor, int completed) throws ReflectiveOperationException {
        throw (org.omg.CORBA.SystemException) Class.forName("org.omg.CORBA." + name)
            .getConstructor(int.class, CompletionStatus.class).newInstance(minor, CompletionStatus.from_int(completed));
    }
    public void raise_undeclared() { throw new IllegalStateException("not declared"); }

    // References
    public Base make(Kind which) {
        switch (which.value()) {
            case Kind._a_base: return base;
            case Kind._a_left: return left;
            case Kind._a_right: return right;
            case Kind._a_diamond: return diamond;
            default: return null;
        }
    }
    public org.omg.CORBA.Object make_object(Kind which) { return make(which); }
    public Base gone() throws org.omg.CORBA.UserException {
        byte[] id = world.root.activate_object(new Servants.BaseServant(1));
        org.omg.CORBA.Object object = world.root.id_to_reference(id);
        world.root.deactivate_object(id);
        return BaseHelper.unchecked_narrow(object);
    }
    public Base forwarded(int hops) {
        return hops == 0 ? base : BaseHelper.unchecked_narrow(Forwarding.reference(hops));
    }
    public void raise_ref(Base culprit, org.omg.CORBA.Object witness) throws RefError { throw new RefError(culprit, witness); }

    // Callbacks
    public Peer partner() { return peer; }
    public String ask(Listener whom, String question) throws Refused { return whom.asked(question); }
    public void tell(Listener whom, int times) { for (int n = 0; n < times; n++) whom.told(n); }
    public int bounce_with(Peer other, int depth) { return peer.bounce(other, depth); }

    public org.omg.CORBA.Object part(String name) {
        return name.equals("Guarded") ? guarded : name.equals("Decimals") ? decimals : beyond.part(name);
    }
    public void shutdown() { new Thread(() -> world.orb.shutdown(true)).start(); }
}

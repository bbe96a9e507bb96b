package peer;

import bench.BinStruct32;
import bench.BinStruct;
import bench.Peer;
import bench.PeerHelper;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.omg.CORBA.ORB;
import org.omg.CORBA.StringHolder;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** The calling end. */
final class Driver {
    private static final int WARM_UP = 20_000;
    private static final long PATIENCE = 30_000_000_000L;

    private final ORB orb;
    private final String address;
    private final Peer peer;
    private final List<Peer> held = new ArrayList<>();
    private int made;
    private Counter counter;
    private Peer own;
    /** What the flood before was sent from, and the next of its kind will be: making it belongs to no flood. */
    private Elements.Buffers<?> buffers;

    Driver(ORB orb, String address) throws InterruptedException {
        this.orb = orb;
        this.address = address;
        peer = reference(address);
        warmUp();
    }

    private void warmUp() throws InterruptedException {
        Call[] calls = {call("null", 0), call("echo.octet", 1024), call("cube.struct", 0), call("cube.longs", 1024)};
        for (int number = 0; number < WARM_UP; number++) {
            Call call = calls[number % calls.length];
            call.change(number);
            call.make();
            call.verify();
        }
        for (String type : new String[] {"octet", "char", "short", "long", "double", "struct", "struct32", "string"})
            flood(type, 4096, 300);
    }

    private Peer reference(String url) {
        return PeerHelper.unchecked_narrow(orb.string_to_object(url));
    }

    /** The object of collocated calls. */
    private static final class Counter extends Servant {
        private int counted;

        @Override
        public void ping() {
            counted++;
        }
    }

    long collocated(int calls) throws Exception {
        if (own == null) {
            POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
            counter = new Counter();
            own = PeerHelper.narrow(poa.servant_to_reference(counter));
            poa.the_POAManager().activate();
        }
        counter.counted = 0;
        long began = System.nanoTime();
        for (int made = 0; made < calls; made++) own.ping();
        long ended = System.nanoTime();
        if (counter.counted != calls) throw new Failure(counter.counted + " of " + calls + " calls have come");
        return ended - began;
    }

    Call call(String kind, int size) {
        return Call.named(peer, kind, size);
    }

    /** Nanoseconds from the first send: until the last had left the caller, and until all have been executed. */
    record Flooded(long sent, long executed) {}

    Flooded flood(String type, int payload, int count) throws InterruptedException {
        return switch (type) {
            case "octet" -> this.<byte[]>flood(type, payload, count, peer::send_octets);
            case "char" -> this.<char[]>flood(type, payload, count, peer::send_chars);
            case "short" -> this.<short[]>flood(type, payload, count, peer::send_shorts);
            case "long" -> this.<int[]>flood(type, payload, count, peer::send_longs);
            case "double" -> this.<double[]>flood(type, payload, count, peer::send_doubles);
            case "struct" -> this.<BinStruct[]>flood(type, payload, count, peer::send_structs);
            case "struct32" -> this.<BinStruct32[]>flood(type, payload, count, peer::send_structs32);
            default -> this.<String>flood(type, payload, count, peer::send_string);
        };
    }

    private <A> Flooded flood(String type, int payload, int count, Consumer<A> send) throws InterruptedException {
        Elements.Buffers<A> buffers = buffersOf(type, Elements.count(type, payload));
        peer.expect(type, payload, count);
        long began = System.nanoTime();
        for (int number = 0; number < count; number++) send.accept(buffers.get(number));
        long sent = System.nanoTime();
        int before = 0;
        long moved = sent;
        for (;;) {
            StringHolder fault = new StringHolder();
            int executed = peer.received(fault);
            long ended = System.nanoTime();
            if (!fault.value.isEmpty()) throw new Failure(fault.value);
            if (executed >= count) return new Flooded(sent - began, ended - began);
            if (executed != before) {
                before = executed;
                moved = ended;
            } else if (ended - moved > PATIENCE) {
                throw new Failure("only " + executed + " of " + count + " buffers have been executed");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    @SuppressWarnings("unchecked")
    private <A> Elements.Buffers<A> buffersOf(String type, int length) {
        if (buffers == null || !buffers.type.equals(type) || buffers.length != length)
            buffers = new Elements.Buffers<A>(type, length);
        buffers.rewind();
        return (Elements.Buffers<A>) buffers;
    }

    /** The time of a new connection with one null call. */
    long connect() {
        String another = Sockets.elsewhere(address, ++made);
        long began = System.nanoTime();
        Peer fresh = reference(another);
        fresh.ping();
        long ended = System.nanoTime();
        fresh._release();
        return ended - began;
    }

    /** Holds so many idle connections more; 0 closes all. */
    void idle(int count) {
        if (count == 0) {
            for (Peer each : held) each._release();
            held.clear();
        }
        for (; count > 0; count--) {
            Peer another = reference(Sockets.elsewhere(address, ++made));
            another.ping();
            held.add(another);
        }
    }
}

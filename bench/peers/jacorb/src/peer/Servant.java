package peer;

import bench.BinStruct;
import bench.BinStruct32;
import bench.Mixed;
import bench.PeerPOA;
import java.io.IOException;
import org.jacorb.orb.util.CorbaLoc;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.UserException;
import org.omg.PortableServer.IdAssignmentPolicyValue;
import org.omg.PortableServer.LifespanPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.ThreadPolicyValue;

/** The serving end. */
class Servant extends PeerPOA {
    private final Receiver receiver = new Receiver();

    /** Serves until the input ends. */
    static void serve(ORB orb, Settings settings) throws UserException, IOException {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Policy[] policies = {
            root.create_thread_policy(ThreadPolicyValue.SINGLE_THREAD_MODEL),
            // So that the address is short and readable.
            root.create_lifespan_policy(LifespanPolicyValue.PERSISTENT),
            root.create_id_assignment_policy(IdAssignmentPolicyValue.USER_ID),
        };
        POA adapter = root.create_POA("bench", root.the_POAManager(), policies);
        adapter.activate_object_with_id("peer".getBytes(), new Servant());
        root.the_POAManager().activate();
        org.omg.CORBA.Object object = adapter.id_to_reference("peer".getBytes());
        System.out.println("ready corbaloc:" + CorbaLoc.generateCorbaloc(orb, object));
        while (System.in.read() >= 0) { }
    }

    @Override
    public void ping() {}

    @Override
    public byte[] echo(byte[] value) {
        return value;
    }

    @Override
    public short cube_short(short value) {
        return (short) (value * value * value);
    }

    @Override
    public int cube_long(int value) {
        return value * value * value;
    }

    @Override
    public byte cube_octet(byte value) {
        return (byte) (value * value * value);
    }

    @Override
    public Mixed cube_struct(Mixed value) {
        return new Mixed(cube_octet(value.o), cube_long(value.l), cube_short(value.s));
    }

    @Override
    public byte[] cube_octets(byte[] values) {
        for (int i = 0; i < values.length; i++) values[i] = cube_octet(values[i]);
        return values;
    }

    @Override
    public int[] cube_longs(int[] values) {
        for (int i = 0; i < values.length; i++) values[i] = cube_long(values[i]);
        return values;
    }

    @Override
    public void expect(String type, int payload, int buffers) {
        receiver.expect(type, payload, buffers);
    }

    @Override
    public void send_octets(byte[] buffer) {
        receiver.take("octet", buffer);
    }

    @Override
    public void send_chars(char[] buffer) {
        receiver.take("char", buffer);
    }

    @Override
    public void send_shorts(short[] buffer) {
        receiver.take("short", buffer);
    }

    @Override
    public void send_longs(int[] buffer) {
        receiver.take("long", buffer);
    }

    @Override
    public void send_doubles(double[] buffer) {
        receiver.take("double", buffer);
    }

    @Override
    public void send_structs(BinStruct[] buffer) {
        receiver.take("struct", buffer);
    }

    @Override
    public void send_structs32(BinStruct32[] buffer) {
        receiver.take("struct32", buffer);
    }

    @Override
    public void send_string(String buffer) {
        receiver.take("string", buffer);
    }

    @Override
    public int received(StringHolder fault) {
        fault.value = receiver.fault();
        return receiver.received();
    }
}

package peer;

import interop.BaseHelper;
import java.nio.charset.StandardCharsets;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.Policy;
import org.omg.PortableInterceptor.ForwardRequest;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;
import org.omg.PortableServer.IdAssignmentPolicyValue;
import org.omg.PortableServer.IdUniquenessPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.RequestProcessingPolicyValue;

/**
 * Answers requests to the object "hops/N" with LOCATION_FORWARD to "hops/N-1", and "hops/1" with the final object.
 *
 * <p>An interceptor, since JacORB 3.9 drops the request, and never answers, when a servant locator or activator raises
 * ForwardRequest.
 */
public final class Forwarding extends LocalObject implements ORBInitializer, ServerRequestInterceptor {
    private static final String PREFIX = "hops/";
    private static volatile POA poa;
    private static volatile org.omg.CORBA.Object last;

    /** Creates the adapter whose objects forward, the last of them to {@code target}. */
    static void start(World world, org.omg.CORBA.Object target) throws org.omg.CORBA.UserException {
        POA root = world.root;
        last = target;
        poa = root.create_POA("forwarding", root.the_POAManager(), new Policy[] {
            root.create_request_processing_policy(RequestProcessingPolicyValue.USE_DEFAULT_SERVANT),
            root.create_id_uniqueness_policy(IdUniquenessPolicyValue.MULTIPLE_ID),
            root.create_id_assignment_policy(IdAssignmentPolicyValue.USER_ID),
        });
        poa.set_servant(new Servants.BaseServant(1));
    }

    static org.omg.CORBA.Object reference(int hops) {
        try {
            return poa.create_reference_with_id((PREFIX + hops).getBytes(StandardCharsets.US_ASCII), BaseHelper.id());
        } catch (org.omg.CORBA.UserException e) {
            throw new org.omg.CORBA.INTERNAL(e.toString());
        }
    }

    public void pre_init(ORBInitInfo info) {}

    public void post_init(ORBInitInfo info) {
        try {
            info.add_server_request_interceptor(this);
        } catch (org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName e) {
            throw new org.omg.CORBA.INTERNAL(e.toString());
        }
    }

    public void receive_request(ServerRequestInfo info) throws ForwardRequest {
        String id = new String(info.object_id(), StandardCharsets.US_ASCII);
        if (!id.startsWith(PREFIX)) return;
        int hops = Integer.parseInt(id.substring(PREFIX.length()));
        throw new ForwardRequest(hops <= 1 ? last : reference(hops - 1));
    }

    public void receive_request_service_contexts(ServerRequestInfo info) {}
    public void send_reply(ServerRequestInfo info) {}
    public void send_exception(ServerRequestInfo info) {}
    public void send_other(ServerRequestInfo info) {}
    public String name() { return "forwarding"; }
    public void destroy() {}
}

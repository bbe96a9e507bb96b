package peer;

import java.util.concurrent.atomic.AtomicInteger;
import org.omg.CORBA.LocalObject;
import org.omg.IOP.ServiceContext;
import org.omg.PortableInterceptor.ClientRequestInfo;
import org.omg.PortableInterceptor.ClientRequestInterceptor;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;

/** Service contexts by interceptors: a request with 0x5a4f5201 is answered with 0x5a4f5202, the same octets reversed. */
public final class Tracing extends LocalObject implements ORBInitializer, ClientRequestInterceptor, ServerRequestInterceptor {
    private static final int ASKS = 0x5a4f5201;
    private static final int ANSWERS = 0x5a4f5202;

    /** What this thread sends with its requests, and what the last of its replies had. */
    static final ThreadLocal<byte[]> SENDS = new ThreadLocal<>();
    static final ThreadLocal<byte[]> ANSWERED = new ThreadLocal<>();
    /** Requests that came with the context. */
    static final AtomicInteger SEEN = new AtomicInteger();

    public void pre_init(ORBInitInfo info) {}

    public void post_init(ORBInitInfo info) {
        try {
            info.add_client_request_interceptor(this);
            info.add_server_request_interceptor(this);
        } catch (org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName e) {
            throw new org.omg.CORBA.INTERNAL(e.toString());
        }
    }

    static byte[] reversed(byte[] octets) {
        byte[] made = new byte[octets.length];
        for (int i = 0; i < made.length; i++) made[i] = octets[made.length - 1 - i];
        return made;
    }

    // ------------------------------------------------------------------- client

    public void send_request(ClientRequestInfo info) {
        ANSWERED.remove();
        byte[] octets = SENDS.get();
        if (octets != null) info.add_request_service_context(new ServiceContext(ASKS, octets), false);
    }
    private static void came(ClientRequestInfo info) {
        try {
            ANSWERED.set(info.get_reply_service_context(ANSWERS).context_data);
        } catch (org.omg.CORBA.BAD_PARAM none) {
            ANSWERED.remove();
        }
    }
    public void send_poll(ClientRequestInfo info) {}
    public void receive_reply(ClientRequestInfo info) { came(info); }
    public void receive_exception(ClientRequestInfo info) { came(info); }
    public void receive_other(ClientRequestInfo info) {}

    // ------------------------------------------------------------------- server

    private static byte[] asked(ServerRequestInfo info) {
        try {
            return info.get_request_service_context(ASKS).context_data;
        } catch (org.omg.CORBA.BAD_PARAM none) {
            return null;
        }
    }
    private static void answer(ServerRequestInfo info) {
        byte[] asked = asked(info);
        if (asked != null) info.add_reply_service_context(new ServiceContext(ANSWERS, reversed(asked)), false);
    }
    public void receive_request_service_contexts(ServerRequestInfo info) {}
    public void receive_request(ServerRequestInfo info) {
        if (asked(info) != null) SEEN.incrementAndGet();
    }
    public void send_reply(ServerRequestInfo info) { answer(info); }
    public void send_exception(ServerRequestInfo info) { answer(info); }
    public void send_other(ServerRequestInfo info) {}

    public String name() { return "tracing"; }
    public void destroy() {}
}

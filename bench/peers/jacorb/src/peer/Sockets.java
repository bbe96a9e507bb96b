package peer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jacorb.orb.factory.AbstractSocketFactory;
import org.jacorb.orb.factory.ServerSocketFactory;

/**
 * How JacORB gets its sockets: with the queues that were asked for, and on the client's side always to the one server.
 * JacORB shares a connection among references with the same host and port; a reference with another has its own, and is
 * led here to the same server all the same.
 */
final class Sockets {
    private static int queue;
    private static InetSocketAddress server;

    private Sockets() {}

    static void configure(Settings settings) {
        queue = settings.queue();
        if (settings.address() == null) return;
        Matcher corbaloc = corbaloc(settings.address());
        server = new InetSocketAddress(corbaloc.group(2), Integer.parseInt(corbaloc.group(3)));
    }

    /** The same address with a host and port that have not been used: a reference with a connection of its own. */
    static String elsewhere(String address, int number) {
        Matcher corbaloc = corbaloc(address);
        String host = "127." + (1 + (number >> 16 & 0x7F)) + "." + (number >> 8 & 0xFF) + "." + (number & 0xFF);
        return corbaloc.group(1) + host + ":1" + corbaloc.group(4);
    }

    private static Matcher corbaloc(String address) {
        Matcher matcher = Pattern.compile("(corbaloc:iiop:1.[0-2]@)([^:]+):(\\d+)(/.*)").matcher(address);
        if (!matcher.matches()) throw new Failure("no address: " + address);
        return matcher;
    }

    /** The client's. */
    public static final class Connecting extends AbstractSocketFactory {
        @Override
        public Socket createSocket(String host, int port) throws IOException {
            return doCreateSocket(host, port, 0);
        }

        @Override
        protected Socket doCreateSocket(String host, int port, int timeout) throws IOException {
            Socket socket = new Socket();
            if (queue > 0) {
                socket.setSendBufferSize(queue);
                socket.setReceiveBufferSize(queue);
            }
            socket.connect(server, timeout);
            return socket;
        }

        @Override
        public boolean isSSL(Socket socket) {
            return false;
        }
    }

    /** The server's. */
    public static final class Listening implements ServerSocketFactory {
        @Override
        public ServerSocket createServerSocket(int port) throws IOException {
            return createServerSocket(port, 0, null);
        }

        @Override
        public ServerSocket createServerSocket(int port, int backlog) throws IOException {
            return createServerSocket(port, backlog, null);
        }

        @Override
        public ServerSocket createServerSocket(int port, int backlog, InetAddress address) throws IOException {
            ServerSocket listener = new ServerSocket() {
                @Override
                public Socket accept() throws IOException {
                    Socket accepted = super.accept();
                    if (queue > 0) accepted.setSendBufferSize(queue);
                    return accepted;
                }
            };
            if (queue > 0) listener.setReceiveBufferSize(queue);
            listener.bind(new InetSocketAddress(address, port), Math.max(backlog, 4096));
            return listener;
        }
    }
}

package peer;

import bench.Mixed;
import bench.Peer;
import java.util.Arrays;

/** One kind of two-way call, prepared. Only {@link #make} is timed. */
interface Call {
    /** Prepares what the call of this number sends. */
    void change(long number);

    void make();

    /** Makes sure that the reply is right. */
    void verify();

    /** A call of this kind. */
    static Call named(Peer peer, String kind, int size) {
        return switch (kind) {
            case "null", "cube.void" -> new Null(peer);
            case "cube.short" -> new Value<>(n -> (short) (n * 7 + 3), peer::cube_short, Call::cube);
            case "cube.long" -> new Value<>(n -> n * 77, peer::cube_long, Call::cube);
            case "cube.octet" -> new Value<>(n -> (byte) n, peer::cube_octet, Call::cube);
            case "cube.struct" -> new Struct(peer);
            case "echo.octet" -> new Octets(size, peer::echo, false);
            case "cube.octets" -> new Octets(size, peer::cube_octets, true);
            case "cube.longs" -> new Longs(size / 4, peer);
            default -> throw new Failure("no kind " + kind);
        };
    }

    private static byte cube(byte value) {
        return (byte) (value * value * value);
    }

    private static short cube(short value) {
        return (short) (value * value * value);
    }

    private static int cube(int value) {
        return value * value * value;
    }

    private static void verified(boolean same) {
        if (!same) throw new Failure("a reply is not what was sent, or not its cube");
    }

    /** No argument. */
    record Null(Peer peer) implements Call {
        @Override
        public void change(long number) {}

        @Override
        public void make() {
            peer.ping();
        }

        @Override
        public void verify() {}
    }

    /** A number. */
    final class Value<T> implements Call {
        private final java.util.function.IntFunction<T> values;
        private final java.util.function.UnaryOperator<T> call;
        private final java.util.function.UnaryOperator<T> cube;
        private T sent;
        private T got;

        Value(java.util.function.IntFunction<T> values, java.util.function.UnaryOperator<T> call,
              java.util.function.UnaryOperator<T> cube) {
            this.values = values;
            this.call = call;
            this.cube = cube;
            change(0);
        }

        @Override
        public void change(long number) {
            sent = values.apply((int) number);
        }

        @Override
        public void make() {
            got = call.apply(sent);
        }

        @Override
        public void verify() {
            verified(got.equals(cube.apply(sent)));
        }
    }

    /** A struct. */
    final class Struct implements Call {
        private final Peer peer;
        private Mixed sent = new Mixed((byte) 0, 0, (short) 0);
        private Mixed got;

        Struct(Peer peer) {
            this.peer = peer;
        }

        @Override
        public void change(long number) {
            sent = new Mixed((byte) number, (int) number * 77, (short) (number * 7));
        }

        @Override
        public void make() {
            got = peer.cube_struct(sent);
        }

        @Override
        public void verify() {
            verified(got.o == cube(sent.o) && got.l == cube(sent.l) && got.s == cube(sent.s));
        }
    }

    /** Octets, which come back as they are or cubed. */
    final class Octets implements Call {
        private final java.util.function.UnaryOperator<byte[]> call;
        private final boolean cubed;
        private final byte[] sent;
        private byte[] got;

        Octets(int length, java.util.function.UnaryOperator<byte[]> call, boolean cubed) {
            this.call = call;
            this.cubed = cubed;
            sent = new byte[length];
            for (int i = 0; i < length; i++) sent[i] = (byte) (i * 3);
        }

        @Override
        public void change(long number) {
            for (int i = 0; i < Math.min(sent.length, 8); i++) sent[i] = (byte) (number * 7 + i);
        }

        @Override
        public void make() {
            got = call.apply(sent);
        }

        @Override
        public void verify() {
            if (!cubed) {
                verified(Arrays.equals(sent, got));
                return;
            }
            boolean same = got.length == sent.length;
            for (int i = 0; same && i < sent.length; i++) same = got[i] == cube(sent[i]);
            verified(same);
        }
    }

    /** Longs, which come back cubed. */
    final class Longs implements Call {
        private final Peer peer;
        private final int[] sent;
        private int[] got;

        Longs(int length, Peer peer) {
            this.peer = peer;
            sent = new int[length];
            for (int i = 0; i < length; i++) sent[i] = i * 3;
        }

        @Override
        public void change(long number) {
            for (int i = 0; i < Math.min(sent.length, 8); i++) sent[i] = (int) number * 7 + i;
        }

        @Override
        public void make() {
            got = peer.cube_longs(sent);
        }

        @Override
        public void verify() {
            boolean same = got.length == sent.length;
            for (int i = 0; same && i < sent.length; i++) same = got[i] == cube(sent[i]);
            verified(same);
        }
    }
}

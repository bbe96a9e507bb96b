package peer;

import bench.BinStruct;
import bench.BinStruct32;

/**
 * What the buffers of a flood hold: element i of buffer n is made of n*31 + i, truncated to the type; a character of a string is
 * one of 64 that are printable and ASCII.
 */
final class Elements {
    /** How far the pattern of a buffer is from the one before. */
    static final int STEP = 31;

    private Elements() {}

    /** How many elements a buffer of so many octets has. */
    static int count(String type, int payload) {
        int size = switch (type) {
            case "octet", "char", "string" -> 1;
            case "short" -> 2;
            case "long" -> 4;
            case "double" -> 8;
            case "struct" -> 24;
            case "struct32" -> 32;
            default -> throw new Failure("no type " + type + ": there are octet char short long double struct struct32 string");
        };
        return Math.max(payload / size, 1);
    }

    /** An array, or what strings are parts of. */
    static Object newTable(String type, int length) {
        return switch (type) {
            case "octet" -> new byte[length];
            case "char" -> new char[length];
            case "short" -> new short[length];
            case "long" -> new int[length];
            case "double" -> new double[length];
            case "struct" -> new BinStruct[length];
            case "struct32" -> new BinStruct32[length];
            default -> {
                StringBuilder text = new StringBuilder();
                text.setLength(length);
                yield text;
            }
        };
    }

    private static char character(int value) {
        return (char) ('0' + (value & 63));
    }

    /** Makes the elements of the numbers from {@code first} on. */
    static void fill(Object array, int first) {
        if (array instanceof byte[] octets) {
            for (int i = 0; i < octets.length; i++) octets[i] = (byte) (first + i);
        } else if (array instanceof char[] chars) {
            for (int i = 0; i < chars.length; i++) chars[i] = (char) (first + i & 0xFF);
        } else if (array instanceof short[] shorts) {
            for (int i = 0; i < shorts.length; i++) shorts[i] = (short) (first + i);
        } else if (array instanceof int[] longs) {
            for (int i = 0; i < longs.length; i++) longs[i] = first + i;
        } else if (array instanceof double[] doubles) {
            for (int i = 0; i < doubles.length; i++) doubles[i] = Integer.toUnsignedLong(first + i);
        } else if (array instanceof BinStruct[] structs) {
            for (int i = 0; i < structs.length; i++) structs[i] = struct(first + i);
        } else if (array instanceof StringBuilder text) {
            for (int i = 0; i < text.length(); i++) text.setCharAt(i, character(first + i));
        } else {
            BinStruct32[] structs = (BinStruct32[]) array;
            for (int i = 0; i < structs.length; i++) structs[i] = struct32(first + i);
        }
    }

    private static BinStruct struct(int value) {
        return new BinStruct(
            (short) value, (char) (value & 0xFF), value, (byte) value, Integer.toUnsignedLong(value));
    }

    private static BinStruct32 struct32(int value) {
        byte[] filler = new byte[8];
        java.util.Arrays.fill(filler, (byte) value);
        return new BinStruct32(
            (short) value, (char) (value & 0xFF), value, (byte) value, Integer.toUnsignedLong(value), filler);
    }

    static int length(Object array) {
        if (array instanceof String text) return text.length();
        return java.lang.reflect.Array.getLength(array);
    }

    /** Whether an element is made of this number. */
    static boolean holds(Object array, int index, int value) {
        double wide = Integer.toUnsignedLong(value);
        if (array instanceof byte[] octets) return octets[index] == (byte) value;
        if (array instanceof char[] chars) return chars[index] == (value & 0xFF);
        if (array instanceof short[] shorts) return shorts[index] == (short) value;
        if (array instanceof int[] longs) return longs[index] == value;
        if (array instanceof double[] doubles) return doubles[index] == wide;
        if (array instanceof BinStruct[] structs) {
            BinStruct item = structs[index];
            return item.s == (short) value && item.c == (value & 0xFF) && item.l == value && item.o == (byte) value
                && item.d == wide;
        }
        if (array instanceof String text) return text.charAt(index) == character(value);
        BinStruct32 item = ((BinStruct32[]) array)[index];
        boolean same = item.s == (short) value && item.c == (value & 0xFF) && item.l == value
            && item.o == (byte) value && item.d == wide;
        for (byte octet : item.filler) same = same && octet == (byte) value;
        return same;
    }

    /**
     * The buffers of a flood, each copied from its place in one table: JacORB wants an array of the right length, and a string is
     * never changed. Of structs only the references are copied.
     */
    static final class Buffers<A> {
        // So many windows before the table is written anew: seldom, and small buffers stay in the cache.
        private static final int ROUND = 256;
        private final Object table;
        private final Object buffer;
        private int round;
        final String type;
        final int length;

        Buffers(String type, int length) {
            table = newTable(type, length + STEP * (ROUND - 1));
            buffer = newTable(type, length);
            this.type = type;
            this.length = length;
            fill(table, 0);
        }

        @SuppressWarnings("unchecked")
        A get(int number) {
            turnTo(number / ROUND);
            int start = number % ROUND * STEP;
            if (table instanceof StringBuilder text) return (A) text.substring(start, start + length);
            System.arraycopy(table, start, buffer, 0, length);
            return (A) buffer;
        }

        /** To the first buffer: written anew now, if the last flood has left another round, and not under the clock. */
        void rewind() {
            turnTo(0);
        }

        private void turnTo(int wanted) {
            if (wanted == round) return;
            round = wanted;
            fill(table, round * ROUND * STEP);
        }
    }
}

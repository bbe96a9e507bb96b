package peer;

import bench.BinStruct;
import bench.BinStruct32;

/** What the buffers of a flood hold: element i of buffer n is made of n*31 + i, truncated to the type. */
final class Elements {
    /** How far the pattern of a buffer is from the one before. */
    static final int STEP = 31;

    private Elements() {}

    /** How many elements a buffer of so many octets has. */
    static int count(String type, int payload) {
        int size = switch (type) {
            case "octet", "char" -> 1;
            case "short" -> 2;
            case "long" -> 4;
            case "double" -> 8;
            case "struct" -> 24;
            case "struct32" -> 32;
            default -> throw new Failure("no type " + type + ": there are octet char short long double struct struct32");
        };
        return Math.max(payload / size, 1);
    }

    static Object newArray(String type, int length) {
        return switch (type) {
            case "octet" -> new byte[length];
            case "char" -> new char[length];
            case "short" -> new short[length];
            case "long" -> new int[length];
            case "double" -> new double[length];
            case "struct" -> new BinStruct[length];
            default -> new BinStruct32[length];
        };
    }

    /** Makes the elements of an array of the numbers from {@code first} on. */
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
        BinStruct32 item = ((BinStruct32[]) array)[index];
        boolean same = item.s == (short) value && item.c == (value & 0xFF) && item.l == value
            && item.o == (byte) value && item.d == wide;
        for (byte octet : item.filler) same = same && octet == (byte) value;
        return same;
    }

    /**
     * The buffers of a flood, each copied from its place in one table: JacORB wants an array of the right length. Of structs
     * only the references are copied.
     */
    static final class Buffers<A> {
        // So many windows before the table is written anew: seldom, and small buffers stay in the cache.
        private static final int ROUND = 256;
        private final Object table;
        private final Object buffer;

        Buffers(String type, int length) {
            table = newArray(type, length + STEP * (ROUND - 1));
            buffer = newArray(type, length);
            fill(table, 0);
        }

        @SuppressWarnings("unchecked")
        A get(int number) {
            if (number % ROUND == 0 && number != 0) fill(table, number * STEP);
            System.arraycopy(table, number % ROUND * STEP, buffer, 0, length(buffer));
            return (A) buffer;
        }
    }
}

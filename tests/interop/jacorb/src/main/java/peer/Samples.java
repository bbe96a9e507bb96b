package peer;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;

/**
 * Samples of every IDL type and their canonical text, as ../cases.md defines both.
 *
 * <p>The TypeCode leads, since a Java type does not tell an unsigned short from a short, a wstring
 * from a string, or a bound. Union members are set by field: the generated setters refuse labels
 * that the compiler did not choose.
 */
final class Samples {
    private Samples() {}

    private static final int[] LENGTHS = {0, 1, 2, 3, 5, 8, 17};
    private static final short[] SHORTS = {0, 1, -1, 32767, -32768, 258};
    private static final short[] USHORTS = {0, 1, -1, -32768, 258};
    private static final int[] LONGS = {0, 1, -1, 2147483647, -2147483648, 16909060};
    private static final int[] ULONGS = {0, 1, -1, -2147483648, 16909060};
    private static final long[] LONGLONGS = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 72623859790382856L};
    private static final long[] ULONGLONGS = {0, 1, -1, Long.MIN_VALUE, 72623859790382856L};
    private static final int[] FLOATS = {
        0, 0x80000000, 0x3f800000, 0xc0490fdb, 0x7f7fffff, 0x00800000, 1, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000
    };
    private static final long[] DOUBLES = {
        0, 0x8000000000000000L, 0x3ff0000000000000L, 0xc00921fb54442d18L, 0x7fefffffffffffffL, 0x0010000000000000L,
        1, 0x800fffffffffffffL, 0x7ff0000000000000L, 0xfff0000000000000L, 0x7ff8000000000000L
    };
    private static final char[] CHARS = {'A', 0, 0x7f, ' ', '0'};
    private static final char[] WCHARS = {'a', 1, 0xff, 0x100, 0x20ac, 0xd7ff, 0xe000, 0xfffd};
    private static final byte[] OCTETS = {0, 1, -1, -128, 127};
    private static final String[] STRINGS = {
        "", "a", "zorb", "hello, world", "!\"#%&'()*+,-./:;<=>?@[\\]^_{|}~", "\t\r\n\001\177", "x".repeat(300)
    };
    private static final String[] WSTRINGS = {
        "", "a", "Gr\u00fc\u00dfe", "\u65e5\u672c\u8a9e", "\001\u00ff\u0100\ufffd", "\u0436".repeat(300)
    };

    /** For each union its sampled labels, each with the member that it selects. */
    private static final Map<String, String> LABELS = Map.ofEntries(
        Map.entry("ByShort", "-32768 s,-1 us,0 l,1 ul,2 ll,3 ull,4 f,5 d,6 c,7 o,8 t,32767 e"),
        Map.entry("ByUShort", "1 number,2 number,32767 number,3 text,0 other"),
        Map.entry("ByLong", "-2147483647 text,-1 bounded,0 bin,1 rec,2 numbers,3 records,4 grid,5 texts,"
            + "2147483647 inner,6 scalar"),
        Map.entry("ByULong", "0 value,1 value,4294967295 odd"),
        Map.entry("ByLongLong", "-9223372036854775807 first,9223372036854775807 last,0 -"),
        Map.entry("ByULongLong", "0 zero,18446744073709551615 most,1 other"),
        Map.entry("ByChar", "a letters,b letters,0 digit"),
        Map.entry("ByBoolean", "TRUE yes,FALSE no"),
        Map.entry("Maybe", "TRUE value,FALSE -"),
        Map.entry("ByColor", "red r,green g,blue b"),
        Map.entry("ByLevel", "low usual,medium usual,extreme many,high -,off -"),
        Map.entry("WideChoice", "0 letter,1 text,2 short_code"));

    /** The default arms of the unions that have one. */
    private static final Map<String, String> DEFAULTS = Map.of(
        "ByUShort", "other", "ByLong", "scalar", "ByULong", "value", "ByULongLong", "other", "WideChoice", "short_code");

    /** The TypeCode of an IDL type by its name in every.idl. */
    static TypeCode type(String name) {
        org.omg.CORBA.ORB orb = org.omg.CORBA.ORB.init();
        switch (name) {
            case "short": return orb.get_primitive_tc(TCKind.tk_short);
            case "unsigned short": return orb.get_primitive_tc(TCKind.tk_ushort);
            case "long": return orb.get_primitive_tc(TCKind.tk_long);
            case "unsigned long": return orb.get_primitive_tc(TCKind.tk_ulong);
            case "long long": return orb.get_primitive_tc(TCKind.tk_longlong);
            case "unsigned long long": return orb.get_primitive_tc(TCKind.tk_ulonglong);
            case "float": return orb.get_primitive_tc(TCKind.tk_float);
            case "double": return orb.get_primitive_tc(TCKind.tk_double);
            case "char": return orb.get_primitive_tc(TCKind.tk_char);
            case "wchar": return orb.get_primitive_tc(TCKind.tk_wchar);
            case "octet": return orb.get_primitive_tc(TCKind.tk_octet);
            case "boolean": return orb.get_primitive_tc(TCKind.tk_boolean);
            case "string": return orb.create_string_tc(0);
            case "wstring": return orb.create_wstring_tc(0);
            default:
                try {
                    return (TypeCode) Class.forName("interop." + name + "Helper").getMethod("type").invoke(null);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(name, e);
                }
        }
    }

    static Object sample(String type, int k) {
        return sample(type(type), k);
    }

    static Object sample(TypeCode type, int k) {
        try {
            switch (type.kind().value()) {
                case TCKind._tk_alias:
                    if (type.name().equals("TreeSeq")) return trees(k);
                    if (type.name().equals("OctetCubes")) return octetCubes(k);
                    return sample(type.content_type(), k);
                case TCKind._tk_short: return SHORTS[k % 6];
                case TCKind._tk_ushort: return USHORTS[k % 5];
                case TCKind._tk_long: return LONGS[k % 6];
                case TCKind._tk_ulong: return ULONGS[k % 5];
                case TCKind._tk_longlong: return LONGLONGS[k % 6];
                case TCKind._tk_ulonglong: return ULONGLONGS[k % 5];
                case TCKind._tk_float: return Float.intBitsToFloat(FLOATS[k % 11]);
                case TCKind._tk_double: return Double.longBitsToDouble(DOUBLES[k % 11]);
                case TCKind._tk_char: return CHARS[k % 5];
                case TCKind._tk_wchar: return WCHARS[k % 8];
                case TCKind._tk_octet: return OCTETS[k % 5];
                case TCKind._tk_boolean: return k % 2 == 1;
                case TCKind._tk_string: return cut(STRINGS[k % 7], type.length());
                case TCKind._tk_wstring: return cut(WSTRINGS[k % 6], type.length());
                case TCKind._tk_fixed: {
                    String digits = "1234567890123456789012345678901".substring(0, type.fixed_digits());
                    String most = "9".repeat(type.fixed_digits());
                    String[] table = {"0", "1", "-1", most, "-" + most, digits};
                    return new java.math.BigDecimal(new java.math.BigInteger(table[k % 6]), type.fixed_scale());
                }
                case TCKind._tk_enum: return enumerator(type, k % type.member_count());
                case TCKind._tk_sequence: {
                    int length = LENGTHS[k % 7];
                    if (type.length() != 0) length = Math.min(length, type.length());
                    return elements(type.content_type(), k, length);
                }
                case TCKind._tk_array: return elements(type.content_type(), k, type.length());
                case TCKind._tk_struct: case TCKind._tk_except: return struct(type, k);
                case TCKind._tk_union: return union(type, k);
                default: throw new IllegalStateException("no sample of kind " + type.kind().value());
            }
        } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A sequence of {@code length} elements, element i being sample i of the element's type. */
    static Object elements(TypeCode element, int k, int length) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        Object all = Array.newInstance(javaClass(element), length);
        for (int i = 0; i < length; i++) Array.set(all, i, sample(element, k + i));
        return all;
    }

    private static String cut(String text, int bound) {
        return bound == 0 || text.length() <= bound ? text : text.substring(0, bound);
    }

    private static Object enumerator(TypeCode type, int i) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        return javaClass(type).getMethod("from_int", int.class).invoke(null, i);
    }

    private static Object struct(TypeCode type, int k) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        if (type.name().equals("Tree")) return tree(k);
        Object made = javaClass(type).getDeclaredConstructor().newInstance();
        for (int i = 0; i < type.member_count(); i++) {
            field(made, type.member_name(i)).set(made, sample(type.member_type(i), k + i));
        }
        return made;
    }

    private static interop.Tree tree(int k) {
        int n = k % 4;
        interop.Tree[] children = new interop.Tree[n];
        for (int i = 0; i < n; i++) children[i] = tree(n - 1 - i);
        return new interop.Tree(LONGS[k % 6], children);
    }

    // The TypeCode of a sequence of a recursive type cannot be asked anything.
    private static interop.Tree[] trees(int k) {
        interop.Tree[] all = new interop.Tree[LENGTHS[k % 7]];
        for (int i = 0; i < all.length; i++) all[i] = tree(k + i);
        return all;
    }

    // JacORB's TypeCode of a sequence of sequences has lost the inner bound, 4.
    private static byte[][][] octetCubes(int k) {
        byte[][][] all = new byte[LENGTHS[k % 7]][][];
        for (int i = 0; i < all.length; i++) {
            all[i] = new byte[Math.min(LENGTHS[(k + i) % 7], 4)][];
            for (int j = 0; j < all[i].length; j++) all[i][j] = (byte[]) sample("OctetSeq", k + i + j);
        }
        return all;
    }

    private static Object union(TypeCode type, int k) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        String[] arms = LABELS.get(type.name()).split(",");
        String[] arm = arms[k % arms.length].split(" ");
        return union(type, k, arm);
    }

    /** A union with the given label and the member that it selects, or "-". */
    static Object union(TypeCode type, int k, String... arm) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        Object made = javaClass(type).getDeclaredConstructor().newInstance();
        field(made, "discriminator").set(made, label(type.discriminator_type(), arm[0]));
        if (!arm[1].equals("-")) field(made, arm[1]).set(made, sample(armType(type, arm[1]), k));
        return made;
    }

    private static Object label(TypeCode type, String text) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        switch (type.kind().value()) {
            case TCKind._tk_short: case TCKind._tk_ushort: return (short) Integer.parseInt(text);
            case TCKind._tk_long: case TCKind._tk_ulong: return (int) Long.parseLong(text);
            case TCKind._tk_longlong: return Long.parseLong(text);
            case TCKind._tk_ulonglong: return Long.parseUnsignedLong(text);
            case TCKind._tk_char: return text.charAt(0);
            case TCKind._tk_boolean: return text.equals("TRUE");
            default: return javaClass(type).getField(text).get(null);
        }
    }

    private static TypeCode armType(TypeCode type, String member) throws org.omg.CORBA.UserException {
        for (int i = 0; i < type.member_count(); i++) {
            if (type.member_name(i).equals(member)) return type.member_type(i);
        }
        throw new IllegalStateException(member);
    }

    // What reflection has found: it looks longer than all else here takes.
    private static final Map<Class<?>, Map<String, Field>> FIELDS = new ConcurrentHashMap<>();
    private static final Map<String, Class<?>> CLASSES = new ConcurrentHashMap<>();

    private static Field field(Object of, String name) throws ReflectiveOperationException {
        Map<String, Field> fields = FIELDS.computeIfAbsent(of.getClass(), any -> new ConcurrentHashMap<>());
        Field field = fields.get(name);
        if (field == null) {
            field = of.getClass().getDeclaredField(name);
            field.setAccessible(true);
            fields.put(name, field);
        }
        return field;
    }

    private static Class<?> named(String name) throws ReflectiveOperationException {
        Class<?> found = CLASSES.get(name);
        if (found == null) CLASSES.put(name, found = Class.forName("interop." + name));
        return found;
    }

    /** The number with at least so many hexadecimal digits. */
    private static StringBuilder hex(StringBuilder out, int digits, long number) {
        String text = Long.toHexString(number);
        return out.append("0".repeat(Math.max(0, digits - text.length()))).append(text);
    }

    private static Class<?> javaClass(TypeCode type) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        switch (type.kind().value()) {
            case TCKind._tk_alias: return javaClass(type.content_type());
            case TCKind._tk_short: case TCKind._tk_ushort: return short.class;
            case TCKind._tk_long: case TCKind._tk_ulong: return int.class;
            case TCKind._tk_longlong: case TCKind._tk_ulonglong: return long.class;
            case TCKind._tk_float: return float.class;
            case TCKind._tk_double: return double.class;
            case TCKind._tk_char: case TCKind._tk_wchar: return char.class;
            case TCKind._tk_octet: return byte.class;
            case TCKind._tk_boolean: return boolean.class;
            case TCKind._tk_fixed: return java.math.BigDecimal.class;
            case TCKind._tk_string: case TCKind._tk_wstring: return String.class;
            case TCKind._tk_sequence: case TCKind._tk_array: return javaClass(type.content_type()).arrayType();
            default: return named(type.name());
        }
    }

    /** The canonical text of a value. */
    static String text(String type, Object value) {
        return text(type(type), value);
    }

    static String text(TypeCode type, Object value) {
        StringBuilder out = new StringBuilder();
        try {
            show(out, type, value);
        } catch (ReflectiveOperationException | org.omg.CORBA.UserException e) {
            throw new IllegalStateException(e);
        }
        return out.toString();
    }

    private static void show(StringBuilder out, TypeCode type, Object x) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        switch (type.kind().value()) {
            case TCKind._tk_alias:
                if (x instanceof interop.Tree[]) showTrees(out, (interop.Tree[]) x);
                else show(out, type.content_type(), x);
                break;
            case TCKind._tk_ushort: out.append((Short) x & 0xffff); break;
            case TCKind._tk_ulong: out.append(Integer.toUnsignedString((Integer) x)); break;
            case TCKind._tk_ulonglong: out.append(Long.toUnsignedString((Long) x)); break;
            case TCKind._tk_octet: out.append((Byte) x & 0xff); break;
            case TCKind._tk_float: hex(out.append("0x"), 8, Float.floatToRawIntBits((Float) x) & 0xffffffffL); break;
            case TCKind._tk_double: hex(out.append("0x"), 16, Double.doubleToRawLongBits((Double) x)); break;
            case TCKind._tk_char: hex(out.append('c'), 2, (Character) x); break;
            case TCKind._tk_wchar: hex(out.append('w'), 4, (Character) x); break;
            case TCKind._tk_boolean: out.append((Boolean) x ? "TRUE" : "FALSE"); break;
            case TCKind._tk_string: showString(out, (String) x); break;
            case TCKind._tk_wstring: out.append('L'); showString(out, (String) x); break;
            case TCKind._tk_fixed: out.append(((java.math.BigDecimal) x).setScale(type.fixed_scale()).toPlainString()); break;
            case TCKind._tk_enum: out.append(type.member_name((Integer) x.getClass().getMethod("value").invoke(x))); break;
            case TCKind._tk_sequence: case TCKind._tk_array:
                out.append('[');
                for (int i = 0; i < Array.getLength(x); i++) {
                    if (i > 0) out.append(", ");
                    show(out, type.content_type(), Array.get(x, i));
                }
                out.append(']');
                break;
            case TCKind._tk_struct: case TCKind._tk_except: showStruct(out, type, x); break;
            case TCKind._tk_union: showUnion(out, type, x); break;
            default: out.append(x);
        }
    }

    private static void showStruct(StringBuilder out, TypeCode type, Object x) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        if (x instanceof interop.Tree) {
            showTree(out, (interop.Tree) x);
            return;
        }
        out.append('{');
        for (int i = 0; i < type.member_count(); i++) {
            if (i > 0) out.append(", ");
            show(out, type.member_type(i), field(x, type.member_name(i)).get(x));
        }
        out.append('}');
    }

    private static void showTree(StringBuilder out, interop.Tree tree) {
        out.append('{').append(tree.value).append(", ");
        showTrees(out, tree.children);
        out.append('}');
    }

    private static void showTrees(StringBuilder out, interop.Tree[] trees) {
        out.append('[');
        for (int i = 0; i < trees.length; i++) {
            if (i > 0) out.append(", ");
            showTree(out, trees[i]);
        }
        out.append(']');
    }

    private static void showUnion(StringBuilder out, TypeCode type, Object x) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        Object label = field(x, "discriminator").get(x);
        String shown = text(type.discriminator_type(), label);
        out.append(shown).append(": ");
        for (String arm : LABELS.get(type.name()).split(",")) {
            String[] parts = arm.split(" ");
            if (!text(type.discriminator_type(), label(type.discriminator_type(), parts[0])).equals(shown)) continue;
            showArm(out, type, x, parts[1]);
            return;
        }
        showArm(out, type, x, DEFAULTS.getOrDefault(type.name(), "-"));
    }

    private static void showArm(StringBuilder out, TypeCode type, Object x, String arm) throws ReflectiveOperationException, org.omg.CORBA.UserException {
        if (arm.equals("-")) out.append('-');
        else show(out, armType(type, arm), field(x, arm).get(x));
    }

    static void showString(StringBuilder out, String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') out.append(c);
            else hex(out.append("\\u{"), 1, c).append('}');
        }
        out.append('"');
    }
}

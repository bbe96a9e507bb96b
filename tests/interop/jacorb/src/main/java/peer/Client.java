package peer;

import interop.*;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.omg.CORBA.CharHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.FloatHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ShortHolder;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.SystemException;

/**
 * {@code Client REF [--giop 1.0|1.1|1.2] [--text latin1|utf8] [--only PREFIX] [--bridged]}: runs every case of ../cases.md against
 * the Every that REF names, one line a case; with {@code --bridged} those that go through a bridge. {@code --list} prints the names, {@code --samples} the samples.
 */
public final class Client {
    private static final int ROUNDS = 22;  // twice the longest scalar table

    private final Map<String, String> options;
    private World world;
    private Every every;
    private int passed;
    private int failed;

    private Client(Map<String, String> options) { this.options = options; }

    public static void main(String[] words) throws Exception {
        java.io.FileOutputStream standard = new java.io.FileOutputStream(java.io.FileDescriptor.out);
        System.setOut(new java.io.PrintStream(standard, true, "UTF-8"));
        System.exit(new Client(World.options(words)).run());
    }

    private int run() throws Exception {
        if (options.containsKey("samples")) return samples();
        boolean list = options.containsKey("list");
        if (!list) {
            world = new World(options);
            every = EveryHelper.narrow(world.orb.string_to_object(options.get("")));
        }
        echoes();
        phases();
        fragments();
        bulk();
        texts();
        defaultLabels();
        bits();
        calls();
        attributes();
        exceptions();
        objects();
        references();
        callbacks();
        constants();
        extras();
        if (!options.containsKey("bridged")) new BeyondCases(harness(), world, every).run();
        if (list) return 0;
        System.out.println(passed + " passed, " + failed + " failed");
        return failed == 0 ? 0 : 1;
    }

    // ------------------------------------------------------------- harness

    private interface Body { void run() throws Exception; }

    private static final class Failure extends RuntimeException {
        Failure(String reason) { super(reason); }
    }

    private static final class Skip extends RuntimeException {
        Skip(String reason) { super(reason); }
    }

    private void check(String name, Body body) {
        if (options.containsKey("only") && !name.startsWith(options.get("only"))) return;
        if (options.containsKey("list")) {
            System.out.println(name);
            return;
        }
        String reason;
        try {
            body.run();
            passed++;
            System.out.println("ok " + name);
            return;
        } catch (Skip skip) {
            System.out.println("skip " + name + ": " + skip.getMessage());
            return;
        } catch (Failure failure) {
            reason = failure.getMessage();
        } catch (InvocationTargetException e) {
            reason = "raised " + describe(e.getCause());
        } catch (Exception | LinkageError | StackOverflowError e) {
            reason = "raised " + describe(e);
        }
        failed++;
        System.out.println("FAIL " + name + ": " + reason);
    }

    private BeyondCases.Harness harness() {
        return new BeyondCases.Harness() {
            public void check(String name, BeyondCases.Body body) { Client.this.check(name, body::run); }
            public void needWide() { Client.this.needWide(); }
            public RuntimeException failure(String reason) { return new Failure(reason); }
            public RuntimeException skip(String reason) { return new Skip(reason); }
            public void same(String what, String got, String wanted) { expect(what, got, wanted); }
        };
    }

    private static String describe(Throwable e) {
        String text = e.getClass().getSimpleName();
        if (e instanceof SystemException) {
            SystemException s = (SystemException) e;
            return text + " minor 0x" + Integer.toHexString(s.minor) + " completed " + s.completed.value();
        }
        return text + (e.getMessage() == null ? "" : " " + e.getMessage().replace('\n', ' '));
    }

    /** At most 120 characters of a text, from shortly before {@code at}. */
    private static String excerpt(String text, int at) {
        int from = Math.min(Math.max(at - 40, 0), text.length());
        int to = Math.min(from + 120, text.length());
        return (from > 0 ? "…" : "") + text.substring(from, to) + (to < text.length() ? "…" : "");
    }

    private static void expect(String what, String got, String wanted) {
        if (got.equals(wanted)) return;
        int at = 0;
        while (at < got.length() && at < wanted.length() && got.charAt(at) == wanted.charAt(at)) at++;
        throw new Failure(what + ": expected " + excerpt(wanted, at) + " got " + excerpt(got, at));
    }

    private static void expect(String what, boolean holds) {
        if (!holds) throw new Failure(what + ": expected it to hold");
    }

    private static void same(String what, String type, Object got, Object wanted) {
        expect(what, Samples.text(type, got), Samples.text(type, wanted));
    }

    private void needWide() {
        if (options.getOrDefault("giop", "1.2").equals("1.0")) throw new Skip("GIOP 1.0 has no wide characters");
    }

    private static Method operation(String name) { return operation(EveryOperations.class, name); }

    private static Method operation(Class<?> operations, String name) {
        for (Method method : operations.getMethods()) {
            if (method.getName().equals(name)) return method;
        }
        throw new IllegalStateException(name);
    }

    // ---------------------------------------------------------------- echo

    private void echoes() {
        for (String[] echo : Operations.ECHOES) {
            String type = echo[1];
            check("echo/" + echo[0], () -> {
                if (Operations.isWide(type)) needWide();
                for (int k = 0; k < ROUNDS; k++) {
                    echo("k = " + k + ", ", echo[0], type, Samples.sample(type, k), Samples.sample(type, k + 1));
                }
            });
        }
    }

    private void echo(String at, String name, String type, Object a, Object old) throws ReflectiveOperationException {
        echo(every, operation("echo_" + name), at, type, a, old);
    }

    private static void echo(Object target, Method method, String at, String type, Object a, Object old) throws ReflectiveOperationException {
        String wantedA = Samples.text(type, a);
        String wantedOld = Samples.text(type, old);
        Object b = Holders.create(method.getParameterTypes()[1], null);
        Object c = Holders.create(method.getParameterTypes()[2], old);
        Object result = method.invoke(target, a, b, c);
        expect(at + "b", Samples.text(type, Holders.get(b)), wantedA);
        expect(at + "c", Samples.text(type, Holders.get(c)), wantedA);
        expect(at + "return", Samples.text(type, result), wantedOld);
    }

    // --------------------------------------------------------------- phases

    private void phases() {
        for (String[] phase : Operations.PHASES) {
            Method method = operation("phase_" + phase[0]);
            for (int lead = 0; lead < 8; lead++) {
                byte[] front = new byte[lead];
                for (int i = 0; i < lead; i++) front[i] = (byte) i;
                check("phase/" + phase[0] + "/" + lead, () -> {
                    for (int k = 0; k < 7; k++) {
                        Object a = Samples.sample(phase[1], k);
                        Object back = Holders.create(method.getParameterTypes()[2], null);
                        Object b = Holders.create(method.getParameterTypes()[3], null);
                        method.invoke(every, front, a, back, b);
                        same("k = " + k + ", b", phase[1], Holders.get(b), a);
                        expect("k = " + k + ", back", Arrays.equals((byte[]) Holders.get(back), front));
                    }
                });
            }
        }
        for (int lead = 1; lead < 8; lead++) {
            Method method = operation("lead_" + lead);
            int octets = lead;
            check("lead/" + lead, () -> {
                for (int k = 0; k < 7; k++) {
                    Object[] arguments = new Object[octets + 1];
                    for (int i = 0; i < octets; i++) arguments[i] = (byte) (i + 1);
                    arguments[octets] = Samples.sample("BinStructSeq", k);
                    same("k = " + k, "BinStructSeq", method.invoke(every, arguments), arguments[octets]);
                }
            });
        }
    }

    // ----------------------------------------------------- fragments and bulk

    private static byte[] counted(int n) {
        byte[] octets = new byte[n];
        for (int i = 0; i < n; i++) octets[i] = (byte) (i % 251);
        return octets;
    }

    private static Object samplesOf(String type, int n) throws Exception {
        org.omg.CORBA.TypeCode sequence = Samples.type(type);
        return Samples.elements(sequence.content_type().content_type(), 0, n);
    }

    private void bulk(String operation, String type, int n) throws Exception {
        Object sent = samplesOf(type, n);
        same("length " + n, type, operation("bulk_" + operation).invoke(every, sent), sent);
    }

    private void fragments() {
        check("fragment/octets", () -> {
            for (int n = 8000; n <= 8400; n++) {
                expect("echo of " + n, Arrays.equals(every.bulk_octets(counted(n)), counted(n)));
                expect("make of " + n, Arrays.equals(every.make_octets(n), counted(n)));
            }
        });
        check("fragment/odd_doubles", () -> { for (int n = 300; n <= 400; n++) bulk("odd_doubles", "OddDoubleSeq", n); });
        check("fragment/strings", () -> { for (int n = 200; n <= 300; n++) bulk("strings", "StringSeq", n); });
        check("fragment/records", () -> { for (int n = 1; n <= 120; n++) bulk("records", "RecordSeq", n); });
    }

    private void bulk() {
        check("bulk/octets", () -> expect("octets", Arrays.equals(every.bulk_octets(counted(3145729)), counted(3145729))));
        check("bulk/shorts", () -> bulk("shorts", "ShortSeq", 1600001));
        check("bulk/doubles", () -> bulk("doubles", "DoubleSeq", 400001));
        check("bulk/bin_structs", () -> bulk("bin_structs", "BinStructSeq", 150001));
        check("bulk/odd_doubles", () -> bulk("odd_doubles", "OddDoubleSeq", 150001));
        check("bulk/strings", () -> bulk("strings", "StringSeq", 60000));
        check("bulk/records", () -> bulk("records", "RecordSeq", 20000));
        check("bulk/sum", () -> {
            byte[] sent = counted(3145729);
            int sum = 0;
            for (byte octet : sent) sum += octet & 0xff;
            expect("sum", every.sum_octets(sent) == sum);
        });
        check("bulk/make", () -> expect("octets", Arrays.equals(every.make_octets(3145729), counted(3145729))));
    }

    // ----------------------------------------------------------------- text

    private boolean utf8() { return options.getOrDefault("text", "latin1").equals("utf8"); }

    private void texts() {
        check("text/string-latin1", () -> echo("", "string", "string", "Gr\u00fc\u00dfe, \u00c6r\u00f8, \u00ff", "Gr\u00fc\u00dfe, \u00c6r\u00f8, \u00ff"));
        check("text/string-all-latin1", () -> {
            StringBuilder all = new StringBuilder();
            for (char c = 0xa0; c <= 0xff; c++) all.append(c);
            echo("", "string", "string", all.toString(), all.toString());
        });
        check("text/string-beyond-latin1", () -> {
            if (!utf8()) throw new Skip("only with --text utf8");
            echo("", "string", "string", "\u65e5\u672c\u8a9e \u20ac", "\u65e5\u672c\u8a9e \u20ac");
        });
        check("text/string-long", () -> echo("", "string", "string", "y".repeat(100000), "y".repeat(100000)));
        check("text/char-latin1", () -> {
            if (utf8()) throw new Skip("only with --text latin1");
            CharHolder b = new CharHolder();
            CharHolder c = new CharHolder('\u00e9');
            char r = every.echo_char('\u00e9', b, c);
            expect("all", r == '\u00e9' && b.value == '\u00e9' && c.value == '\u00e9');
        });
        check("text/seq-latin1", () -> {
            String[] words = {"\u00e9", "", "\u00f1and\u00fa"};
            echo("", "string_seq", "StringSeq", words, words);
        });
        check("text/wchar-nul", () -> wide("wchar", '\0'));
        check("text/wstring-long", () -> wide("wstring", "\u0436".repeat(100000)));
        check("text/wstring-surrogates", () -> wide("wstring", "\ud834\udd1e clef"));
        check("text/wstring-bom", () -> wide("wstring", "\ufeffx"));
        check("text/wstring-swapped-bom", () -> wide("wstring", "\ufffex"));
    }

    private void wide(String type, Object value) throws ReflectiveOperationException {
        needWide();
        echo("", type, type, value, value);
    }

    /** Labels that select a default arm, or none, beside the one that a compiler would choose for it. */
    private void defaultLabels() {
        String[][] labels = {
            {"by_short", "ByShort", "9", "-"}, {"by_ushort", "ByUShort", "65535", "other"},
            {"by_long", "ByLong", "-2147483648", "scalar"}, {"by_ulong", "ByULong", "77", "value"},
            {"by_ulonglong", "ByULongLong", "9223372036854775808", "other"}, {"by_char", "ByChar", "z", "-"},
            {"wide_choice", "WideChoice", "-1", "short_code"}};
        for (String[] label : labels) {
            check("union/" + label[0], () -> {
                if (Operations.isWide(label[1])) needWide();
                Object a = Samples.union(Samples.type(label[1]), 1, label[2], label[3]);
                echo("", label[0], label[1], a, Samples.sample(label[1], 0));
            });
        }
    }

    private void bits() {
        check("bits/float", () -> {
            for (int bits : new int[] {0x7fc12345, 0xffc00001, 0x7f800001}) {
                echo("", "float", "float", Float.intBitsToFloat(bits), Float.intBitsToFloat(bits));
            }
        });
        check("bits/double", () -> {
            for (long bits : new long[] {0x7ff8000000abcdefL, 0xfff8000000000001L, 0x7ff0000000000001L}) {
                echo("", "double", "double", Double.longBitsToDouble(bits), Double.longBitsToDouble(bits));
            }
        });
    }

    // ---------------------------------------------------------------- calls

    /** What was noted, once there are {@code count} notes or five seconds have passed. */
    private int[] noted(int count) throws InterruptedException {
        int[] notes = every.noted();
        for (int i = 0; i < 500 && notes.length < count; i++) {
            Thread.sleep(10);
            notes = every.noted();
        }
        return notes;
    }

    private static void fifth(String what, String type, Object got) {
        same(what, type, got, Samples.sample(type, 5));
    }

    private void calls() {
        check("call/nothing", () -> every.nothing());
        check("call/consume", () -> every.consume((Integer) Samples.sample("long", 3), (String) Samples.sample("string", 3),
            (BinStruct) Samples.sample("BinStruct", 3), (String[]) Samples.sample("StringSeq", 3)));
        check("call/produce", () -> {
            IntHolder a = new IntHolder();
            StringHolder b = new StringHolder();
            BinStructHolder c = new BinStructHolder();
            StringSeqHolder d = new StringSeqHolder();
            LongArrayHolder f = new LongArrayHolder();
            every.produce(a, b, c, d, f);
            fifth("a", "long", a.value);
            fifth("b", "string", b.value);
            fifth("c", "BinStruct", c.value);
            fifth("d", "StringSeq", d.value);
            fifth("f", "LongArray", f.value);
        });
        check("call/change", () -> {
            IntHolder a = new IntHolder((Integer) Samples.sample("long", 2));
            StringHolder b = new StringHolder((String) Samples.sample("string", 2));
            BinStructHolder c = new BinStructHolder((BinStruct) Samples.sample("BinStruct", 2));
            StringSeqHolder d = new StringSeqHolder((String[]) Samples.sample("StringSeq", 2));
            ByUShortHolder f = new ByUShortHolder((ByUShort) Samples.sample("ByUShort", 2));
            every.change(a, b, c, d, f);
            fifth("a", "long", a.value);
            fifth("b", "string", b.value);
            fifth("c", "BinStruct", c.value);
            fifth("d", "StringSeq", d.value);
            fifth("f", "ByUShort", f.value);
        });
        check("call/mixed", () -> {
            ShortHolder b = new ShortHolder((short) 300);
            DoubleHolder c = new DoubleHolder();
            StringHolder g = new StringHolder();
            OctetSeqHolder f = new OctetSeqHolder(new byte[] {1, 2, 3});
            int r = every.mixed((byte) 7, b, c, "text", g, f);
            expect("b, c, return", b.value == -300 && c.value == 7.0 && r == 3);
            expect("g", g.value, "text");
            expect("f", Arrays.equals(f.value, new byte[] {3, 2, 1}));
        });
        check("call/escaped", () -> expect("return", every._interface((short) 41) == 42));
        check("call/long-name", () -> expect("return",
            every.operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones("long"), "long"));
        check("call/oneway", () -> {
            every.forget();
            every.note(1);
            every.note_all(new int[] {2, 3}, "four");
            int[] notes = noted(4);
            Arrays.sort(notes);
            expect("notes", Arrays.toString(notes), "[1, 2, 3, 4]");
        });
        check("call/oneway-order", () -> {
            every.forget();
            int[] wanted = new int[100];
            for (int i = 0; i < 100; i++) {
                wanted[i] = i;
                every.note(i);
            }
            expect("notes", Arrays.toString(noted(100)), Arrays.toString(wanted));
        });
        check("call/concurrent", () -> {
            boolean[] met = new boolean[4];
            Thread[] threads = new Thread[4];
            for (int i = 0; i < 4; i++) {
                int which = i;
                threads[i] = new Thread(() -> met[which] = every.meet(4, 5000));
                threads[i].start();
            }
            for (Thread thread : threads) thread.join();
            expect("met", met[0] && met[1] && met[2] && met[3]);
        });
        check("call/slow", () -> {
            long start = System.nanoTime();
            every.nap(50);
            expect("50 ms", System.nanoTime() - start >= 50_000_000L);
        });
    }

    private void attributes() {
        check("attribute/answer", () -> expect("answer", every.answer() == 42));
        check("attribute/title", () -> {
            for (int k = 0; k < 7; k++) {
                String value = (String) Samples.sample("string", k);
                every.title(value);
                expect("title", every.title(), value);
            }
        });
        check("attribute/setting", () -> {
            for (int k = 0; k < 7; k++) {
                BinStruct value = (BinStruct) Samples.sample("BinStruct", k);
                every.setting(value);
                same("setting", "BinStruct", every.setting(), value);
            }
        });
        check("attribute/choice", () -> {
            for (int k = 0; k < 7; k++) {
                ByUShort value = (ByUShort) Samples.sample("ByUShort", k);
                every.choice(value);
                same("choice", "ByUShort", every.choice(), value);
            }
        });
        check("attribute/lists", () -> {
            for (int k = 0; k < 7; k++) {
                int[] first = (int[]) Samples.sample("LongSeq", k);
                int[] second = (int[]) Samples.sample("LongSeq", k + 1);
                every.first_list(first);
                every.second_list(second);
                same("first_list", "LongSeq", every.first_list(), first);
                same("second_list", "LongSeq", every.second_list(), second);
            }
        });
    }

    // ----------------------------------------------------------- exceptions

    /** Runs {@code body}, which must raise exactly an E, and returns that. */
    private static <E extends Exception> E raised(Class<E> kind, Body body) throws Exception {
        try {
            body.run();
        } catch (Exception e) {
            if (kind.isInstance(e)) return kind.cast(e);
            throw e;
        }
        throw new Failure("expected " + kind.getSimpleName() + " got a result");
    }

    private void exceptions() {
        check("exception/empty", () -> raised(Empty.class, () -> every.raise_empty()));
        check("exception/refused", () -> {
            for (int code : new int[] {-7, 2147483647}) {
                String why = code < 0 ? "no" : "";
                Refused e = raised(Refused.class, () -> every.raise_refused(why, code));
                expect("members", e.why.equals(why) && e.code == code);
            }
        });
        check("exception/loaded", () -> {
            for (int k = 0; k < 13; k++) {
                int which = k;
                Loaded e = raised(Loaded.class, () -> every.raise_loaded(which));
                same("k = " + k, "Loaded", e, Samples.sample("Loaded", k));
            }
        });
        check("exception/wide", () -> {
            needWide();
            for (int k = 0; k < 6; k++) {
                int which = k;
                WideError e = raised(WideError.class, () -> every.raise_wide(which));
                same("k = " + k, "WideError", e, Samples.sample("WideError", k));
            }
        });
        check("exception/one-of", () -> {
            StringHolder b = new StringHolder();
            IntHolder c = new IntHolder(9);
            expect("return", every.raise_one_of(0, b, c) == 7);
            expect("b", b.value, "fine");
            expect("c", c.value == -9);
            raised(Empty.class, () -> every.raise_one_of(1, b, c));
            Refused refused = raised(Refused.class, () -> every.raise_one_of(2, b, c));
            expect("refused", refused.why.equals("two") && refused.code == 2);
            same("loaded", "Loaded", raised(Loaded.class, () -> every.raise_one_of(3, b, c)), Samples.sample("Loaded", 3));
        });
        check("exception/undeclared", () -> raised(org.omg.CORBA.UNKNOWN.class, () -> every.raise_undeclared()));
        check("exception/bad-operation", () -> {
            Left left = LeftHelper.unchecked_narrow(every.make(Kind.a_base));
            raised(org.omg.CORBA.BAD_OPERATION.class, () -> left.left_op(1));
        });
        String[] names = {
            "UNKNOWN", "BAD_PARAM", "NO_MEMORY", "IMP_LIMIT", "COMM_FAILURE", "INV_OBJREF", "OBJECT_NOT_EXIST",
            "NO_PERMISSION", "INTERNAL", "MARSHAL", "INITIALIZE", "NO_IMPLEMENT", "BAD_TYPECODE", "BAD_OPERATION",
            "NO_RESOURCES", "NO_RESPONSE", "PERSIST_STORE", "BAD_INV_ORDER", "TRANSIENT", "FREE_MEM", "INV_IDENT",
            "INV_FLAG", "INTF_REPOS", "BAD_CONTEXT", "OBJ_ADAPTER", "DATA_CONVERSION", "INV_POLICY", "REBIND",
            "TIMEOUT", "TRANSACTION_REQUIRED", "TRANSACTION_ROLLEDBACK", "INVALID_TRANSACTION",
            "TRANSACTION_UNAVAILABLE", "TRANSACTION_MODE", "BAD_QOS", "CODESET_INCOMPATIBLE"};
        for (int n = 0; n < names.length; n++) {
            String name = names[n];
            int minor = 0x5a4f0000 + n;
            int completed = n % 3;
            check("system/" + name, () -> {
                SystemException e = raised(SystemException.class, () -> every.raise_system(name, minor, completed));
                expect("kind", e.getClass().getSimpleName(), name);
                expect("minor, completed", describe(e), name + " minor 0x" + Integer.toHexString(minor) + " completed " + completed);
            });
        }
    }

    // ------------------------------------------------- objects and references

    private void objects() {
        check("object/is_a", () -> {
            // The stub knows what it was narrowed to; an untyped reference has to ask.
            org.omg.CORBA.Object object = world.orb.string_to_object(options.get(""));
            expect("Every", object._is_a("IDL:zorb.test/interop/Every:1.0"));
            expect("Scalars", object._is_a("IDL:zorb.test/interop/Scalars:1.0"));
            expect("Object", object._is_a("IDL:omg.org/CORBA/Object:1.0"));
            expect("not Left", !object._is_a("IDL:zorb.test/interop/Left:1.0"));
            expect("not empty", !object._is_a(""));
        });
        check("object/non_existent", () -> {
            expect("Every exists", !every._non_existent());
            Base gone = every.gone();
            try {
                expect("gone does not", gone._non_existent());
            } catch (org.omg.CORBA.OBJECT_NOT_EXIST e) {
                // the other permitted answer
            }
        });
        check("object/stringify", () -> {
            Base left = every.make(Kind.a_left);
            org.omg.CORBA.Object object = world.orb.string_to_object(world.orb.object_to_string(left));
            expect("equivalent", object._is_equivalent(left));
            expect("callable", BaseHelper.narrow(object).base_op(1) == 2);
        });
        check("object/part-nil", () -> expect("nil", every.part("None") == null));
    }

    private static boolean same(org.omg.CORBA.Object x, org.omg.CORBA.Object y) {
        return x == null || y == null ? x == y : x._is_equivalent(y);
    }

    private static boolean same(org.omg.CORBA.Object[] x, org.omg.CORBA.Object[] y) {
        if (x.length != y.length) return false;
        for (int i = 0; i < x.length; i++) {
            if (!same(x[i], y[i])) return false;
        }
        return true;
    }

    private void echoBase(Base a, Base old) {
        BaseHolder b = new BaseHolder();
        BaseHolder c = new BaseHolder(old);
        Base r = every.echo_base(a, b, c);
        expect("b, c, return", same(b.value, a) && same(c.value, a) && same(r, old));
    }

    private void forwarded(int hops) {
        Base base = every.forwarded(hops);
        for (int i = 0; i < 2; i++) {
            expect("base_op", base.base_op(1) == 2);
            expect("name", base.name(), "base");
        }
    }

    private void references() {
        check("reference/make", () -> {
            String[] names = {"base", "left", "right", "diamond"};
            for (int kind = 0; kind < 4; kind++) {
                Base made = every.make(Kind.from_int(kind));
                expect("name", made.name(), names[kind]);
                expect("base_op", made.base_op(1) == 2);
            }
            expect("nil", every.make(Kind.a_nil) == null && every.make_object(Kind.a_nil) == null);
        });
        check("reference/narrow", () -> {
            Base diamond = every.make(Kind.a_diamond);
            expect("diamond", DiamondHelper.narrow(diamond) != null && LeftHelper.narrow(diamond) != null && RightHelper.narrow(diamond) != null);
            raised(org.omg.CORBA.BAD_PARAM.class, () -> EveryHelper.narrow(diamond));
            raised(org.omg.CORBA.BAD_PARAM.class, () -> RightHelper.narrow(every.make(Kind.a_left)));
        });
        check("reference/diamond", () -> {
            Diamond d = DiamondHelper.narrow(every.make(Kind.a_diamond));
            expect("ops", d.base_op(10) == 11 && d.left_op(10) == 12 && d.right_op(10) == 13 && d.diamond_op(10) == 14);
            d.shared(5);
            expect("shared", d.shared() == 5);
        });
        check("reference/echo-base", () -> {
            Base left = every.make(Kind.a_left);
            Base right = every.make(Kind.a_right);
            echoBase(left, right);
            echoBase(null, left);
            echoBase(left, null);
            echoBase(null, null);
        });
        check("reference/echo-diamond", () -> {
            Diamond a = DiamondHelper.narrow(every.make(Kind.a_diamond));
            DiamondHolder b = new DiamondHolder();
            DiamondHolder c = new DiamondHolder();
            Diamond r = every.echo_diamond(a, b, c);
            expect("b, c, return", same(b.value, a) && same(c.value, a) && r == null);
            expect("diamond_op", b.value.diamond_op(1) == 5);
        });
        check("reference/echo-object", () -> {
            org.omg.CORBA.Object a = every.make_object(Kind.a_diamond);
            org.omg.CORBA.ObjectHolder b = new org.omg.CORBA.ObjectHolder();
            org.omg.CORBA.ObjectHolder c = new org.omg.CORBA.ObjectHolder();
            org.omg.CORBA.Object r = every.echo_object(a, b, c);
            expect("b, c, return", same(b.value, a) && same(c.value, a) && r == null);
            expect("diamond_op", DiamondHelper.narrow(b.value).diamond_op(1) == 5);
        });
        check("reference/echo-own", () -> {
            Base own = BaseHelper.narrow(world.activate(new Servants.BaseServant(100)));
            BaseHolder b = new BaseHolder();
            BaseHolder c = new BaseHolder();
            Base r = every.echo_base(own, b, c);
            expect("b, c, return", same(b.value, own) && same(c.value, own) && r == null);
            expect("base_op", b.value.base_op(1) == 101);
        });
        check("reference/seq", () -> {
            Base[] a = {every.make(Kind.a_left), null, every.make(Kind.a_right)};
            BaseSeqHolder b = new BaseSeqHolder();
            BaseSeqHolder c = new BaseSeqHolder(new Base[0]);
            Base[] r = every.echo_base_seq(a, b, c);
            expect("b, c, return", same(b.value, a) && same(c.value, a) && r.length == 0);
        });
        check("reference/array", () -> {
            Base[] a = {null, every.make(Kind.a_left)};
            Base[] old = {every.make(Kind.a_base), null};
            BaseArrayHolder b = new BaseArrayHolder();
            BaseArrayHolder c = new BaseArrayHolder(old);
            Base[] r = every.echo_base_array(a, b, c);
            expect("b, c, return", same(b.value, a) && same(c.value, a) && same(r, old));
        });
        check("reference/object-seq", () -> {
            org.omg.CORBA.Object[] a = {every, null};
            ObjectSeqHolder b = new ObjectSeqHolder();
            ObjectSeqHolder c = new ObjectSeqHolder(new org.omg.CORBA.Object[0]);
            org.omg.CORBA.Object[] r = every.echo_object_seq(a, b, c);
            expect("b, c, return", same(b.value, a) && same(c.value, a) && r.length == 0);
        });
        check("reference/record", () -> {
            RefRecord a = new RefRecord("label", every.make(Kind.a_diamond), null, new Base[] {null, every.make(Kind.a_left)});
            RefRecordHolder b = new RefRecordHolder();
            RefRecordHolder c = new RefRecordHolder(new RefRecord("", null, null, new Base[0]));
            RefRecord r = every.echo_ref_record(a, b, c);
            for (RefRecord x : new RefRecord[] {b.value, c.value}) {
                expect("label", x.label, "label");
                expect("references", same(x.typed, a.typed) && x.untyped == null && same(x.more, a.more));
            }
            expect("return", r.typed == null && r.more.length == 0);
        });
        check("reference/choice", () -> {
            for (Kind kind : new Kind[] {Kind.a_base, Kind.a_diamond, Kind.a_nil}) {
                Base made = every.make(kind);
                RefChoice a = new RefChoice();
                if (kind == Kind.a_base) a.typed(made);
                else if (kind == Kind.a_diamond) a.deep(DiamondHelper.narrow(made));
                else a.untyped(null);
                RefChoice old = new RefChoice();
                old.untyped(every);
                RefChoiceHolder b = new RefChoiceHolder();
                RefChoiceHolder c = new RefChoiceHolder(old);
                RefChoice r = every.echo_ref_choice(a, b, c);
                expect("labels", b.value.discriminator() == kind && c.value.discriminator() == kind && r.discriminator() == Kind.a_nil);
                expect("value", same(kind == Kind.a_base ? b.value.typed() : kind == Kind.a_diamond ? b.value.deep() : b.value.untyped(), made));
                expect("return", same(r.untyped(), every));
            }
        });
        check("reference/exception", () -> {
            Base left = every.make(Kind.a_left);
            Base right = every.make(Kind.a_right);
            RefError e = raised(RefError.class, () -> every.raise_ref(left, null));
            expect("members", same(e.culprit, left) && e.witness == null);
            e = raised(RefError.class, () -> every.raise_ref(null, right));
            expect("members", e.culprit == null && same(e.witness, right));
        });
        check("reference/gone", () -> raised(org.omg.CORBA.OBJECT_NOT_EXIST.class, () -> every.gone().base_op(1)));
        for (int hops : new int[] {0, 1, 2, 5}) check("reference/forward-" + hops, () -> forwarded(hops));
        check("reference/forward-bulk", () -> {
            Base base = every.forwarded(1);
            expect("base_op", base.base_op(1) == 2);
            BaseHolder b = new BaseHolder();
            every.echo_base(base, b, new BaseHolder());
            expect("base_op of b", b.value.base_op(1) == 2);
        });
    }

    private void callbacks() throws org.omg.CORBA.UserException {
        boolean list = options.containsKey("list");
        Servants.ListenerServant ear = new Servants.ListenerServant();
        Listener listener = list ? null : ListenerHelper.narrow(world.activate(ear));
        Peer mine = list ? null : PeerHelper.narrow(world.activate(new Servants.PeerServant()));
        check("callback/ask", () -> expect("answer", every.ask(listener, "why"), "whywhy"));
        check("callback/ask-refused", () -> {
            Refused e = raised(Refused.class, () -> every.ask(listener, "refuse"));
            expect("members", e.why.equals("asked to") && e.code == 13);
        });
        check("callback/ask-system", () -> {
            SystemException e = raised(org.omg.CORBA.NO_PERMISSION.class, () -> every.ask(listener, "system"));
            expect("minor, completed", e.minor == 13 && e.completed == CompletionStatus.COMPLETED_YES);
        });
        check("callback/tell", () -> {
            every.tell(listener, 5);
            for (int i = 0; i < 500 && ear.all().size() < 5; i++) Thread.sleep(10);
            List<Integer> heard = new ArrayList<>(ear.all());
            heard.sort(null);
            expect("heard", heard.equals(List.of(0, 1, 2, 3, 4)));
        });
        for (int depth : new int[] {1, 8}) {
            check("callback/bounce-" + depth, () -> expect("depth", every.bounce_with(mine, depth) == depth));
        }
        check("callback/partner", () -> expect("depth", every.partner().bounce(mine, 3) == 3));
    }

    private void constants() {
        check("constant/values", () -> {
            expect("integers", SHORT_LEAST.value == -32768 && (USHORT_MOST.value & 0xffff) == 65535 && LONG_LEAST.value == -2147483647
                && Integer.toUnsignedLong(ULONG_MOST.value) == 4294967295L && LONGLONG_LEAST.value == -9223372036854775807L
                && LONGLONG_MOST.value == 9223372036854775807L && ULONGLONG_MOST.value == -1L
                && (OCTET_MOST.value & 0xff) == 255 && BOUND.value == 5 && MASK.value == 248);
            expect("others", HALF.value == 0.5f && LARGE.value == 1048576.5 && YES.value && LETTER.value == 'z'
                && WIDE_LETTER.value == 'z' && FAVOURITE.value == Color.green);
            expect("texts", GREETING.value.equals("hello, \"world\"\n") && WIDE_GREETING.value.equals("hello"));
        });
    }

    private void extras() {
        Decimals[] decimals = new Decimals[1];
        if (!options.containsKey("list")) decimals[0] = DecimalsHelper.narrow(every.part("Decimals"));
        for (String[] echo : Operations.DECIMALS) {
            check("decimal/" + echo[0], () -> decimals(decimals[0], echo, 0, ROUNDS));
        }
        check("decimal/all_digits", () -> {
            for (int i = 0; i < 3; i++) decimals(decimals[0], Operations.DECIMALS[i], 3, 5);
        });
        for (String name : new String[] {"long_double", "long_double_seq", "long_double_array", "long_double_record"}) {
            check("long_double/" + name, () -> { throw new Skip("JacORB has no long double"); });
        }
        Guarded[] found = new Guarded[1];
        if (!options.containsKey("list")) found[0] = GuardedHelper.narrow(every.part("Guarded"));
        check("guarded/strict", () -> raised(Empty.class, () -> need(found[0]).strict()));
        check("guarded/set", () -> {
            need(found[0]).watched(3);
            expect("watched", found[0].watched() == 3);
        });
        check("guarded/refused", () -> {
            Refused e = raised(Refused.class, () -> need(found[0]).watched(-4));
            expect("members", e.why.equals("negative") && e.code == -4);
        });
        check("guarded/empty", () -> {
            need(found[0]).watched(0);
            raised(Empty.class, () -> found[0].watched());
        });
    }

    private static void decimals(Decimals decimals, String[] echo, int from, int to) throws ReflectiveOperationException {
        if (decimals == null) throw new Skip("the server has no decimals");
        Method method = operation(DecimalsOperations.class, "echo_" + echo[0]);
        for (int k = from; k < to; k++) {
            echo(decimals, method, "k = " + k + ", ", echo[1], Samples.sample(echo[1], k), Samples.sample(echo[1], k + 1));
        }
    }

    private static Guarded need(Guarded guarded) {
        if (guarded == null) throw new Skip("the server has no attributes that raise");
        return guarded;
    }

    // ---------------------------------------------------------------- samples

    private int samples() {
        for (String[] echo : Operations.ECHOES) print(echo[0], echo[1]);
        print("Loaded", "Loaded");
        print("WideError", "WideError");
        return 0;
    }

    private static void print(String name, String type) {
        for (int k = 0; k < ROUNDS; k++) System.out.println(name + " " + k + " " + Samples.text(type, Samples.sample(type, k)));
    }
}

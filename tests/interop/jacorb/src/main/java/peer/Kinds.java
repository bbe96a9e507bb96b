package peer;

import beyond.*;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;

/** The anys of ../cases.md by name: made, and extracted as text. */
final class Kinds {
    static final String[] NAMES = {
        "null", "void", "short", "ushort", "long", "ulong", "longlong", "ulonglong", "float", "double", "char", "octet", "boolean",
        "string", "brief", "wchar", "wstring", "wide_brief", "colour", "pair", "tree", "expression", "oops", "longs", "briefs", "grid",
        "height", "money", "any", "any_seq", "type", "object", "nil", "leaf", "null_value", "shared", "ring", "marked", "derived",
        "holder", "box_text", "box_longs", "box_pair", "box_long", "named_value", "named_object", "choice", "tangle", "mixture"
    };
    static final String[] TYPES = {"heavier", "firm", "circle", "square", "shape", "values", "tangled", "distance"};

    private Kinds() {}

    static boolean isWide(String name) { return name.startsWith("w"); }

    /** What not every peer can put in an any, or take out of one: any/sequence does without. */
    static boolean isApart(String name) {
        return name.equals("oops") || name.equals("nil") || name.equals("null_value") || name.equals("holder") || name.equals("marked") || name.equals("tangle") || name.equals("named_object") || name.startsWith("box_");
    }

    private static Tree tree() {
        Tree four = new Tree(4, new Tree[0]);
        return new Tree(1, new Tree[] {new Tree(2, new Tree[0]), new Tree(3, new Tree[] {four})});
    }

    private static Expression expression() {
        Expression number = new Expression();
        number.number(0.5);
        Expression name = new Expression();
        name.name("x");
        Expression none = new Expression();
        none.parts(new Expression[0]);
        Expression all = new Expression();
        all.parts(new Expression[] {number, name, none});
        return all;
    }

    /** The any of that name; {@code object} is what "object" and "named_object" hold. */
    static Any make(ORB orb, String name, NamedObject object) {
        Any a = orb.create_any();
        switch (name) {
            case "null": break;
            case "void": a.type(orb.get_primitive_tc(TCKind.tk_void)); break;
            case "short": a.insert_short((short) -2); break;
            case "ushort": a.insert_ushort((short) 65535); break;
            case "long": a.insert_long(-70000); break;
            case "ulong": a.insert_ulong((int) 4000000000L); break;
            case "longlong": a.insert_longlong(-5000000000L); break;
            case "ulonglong": a.insert_ulonglong(-1); break;
            case "float": a.insert_float(1.5f); break;
            case "double": a.insert_double(-2.25); break;
            case "char": a.insert_char('z'); break;
            case "octet": a.insert_octet((byte) 200); break;
            case "boolean": a.insert_boolean(true); break;
            case "string": a.insert_string("text"); break;
            case "brief": BriefHelper.insert(a, "brief"); break;
            case "wchar": a.insert_wchar('\u0436'); break;
            case "wstring": a.insert_wstring("\u0436\u0416"); break;
            case "wide_brief": WideBriefHelper.insert(a, "A\u20ac"); break;
            case "colour": ColourHelper.insert(a, Colour.green); break;
            case "pair": PairHelper.insert(a, new Pair((short) 1, (short) -1)); break;
            case "tree": TreeHelper.insert(a, tree()); break;
            case "expression": ExpressionHelper.insert(a, expression()); break;
            case "oops": OopsHelper.insert(a, new Oops("why", 9)); break;
            case "longs": LongSeqHelper.insert(a, new int[] {1, 2, 3}); break;
            case "briefs": BriefsHelper.insert(a, new String[] {"a", "bcdef"}); break;
            case "grid": GridHelper.insert(a, new short[][] {{1, 2, 3}, {4, 5, 6}}); break;
            case "height": HeightHelper.insert(a, 180); break;
            case "money": MoneyHelper.insert(a, new BigDecimal("1234567.89")); break;
            case "any": {
                Any one = orb.create_any();
                one.insert_long(5);
                Any two = orb.create_any();
                two.insert_any(one);
                a.insert_any(two);
                break;
            }
            case "any_seq": {
                Any one = orb.create_any();
                one.insert_long(1);
                Any two = orb.create_any();
                two.insert_string("two");
                AnySeqHelper.insert(a, new Any[] {one, two, orb.create_any()});
                break;
            }
            case "type": a.insert_TypeCode(TreeHelper.type()); break;
            case "object": a.insert_Object(object, orb.create_interface_tc("IDL:omg.org/CORBA/Object:1.0", "Object")); break;
            case "nil": a.insert_Object(null, orb.create_interface_tc("IDL:omg.org/CORBA/Object:1.0", "Object")); break;
            case "leaf": LeafHelper.insert(a, Graphs.leaf(7, "leaf")); break;
            case "null_value": a.insert_Value(null, NodeHelper.type()); break;
            case "shared": NodeHelper.insert(a, Graphs.graph(2)); break;
            case "ring": NodeHelper.insert(a, Graphs.graph(4)); break;
            case "marked": MarkedHelper.insert(a, (Marked) Graphs.graph(6)); break;
            case "derived": a.insert_Value(Graphs.graph(6), NodeHelper.type()); break;
            case "holder": HolderHelper.insert(a, Graphs.holder()); break;
            case "box_text": BoxedTextHelper.insert(a, "boxed"); break;
            case "box_longs": BoxedLongsHelper.insert(a, new int[] {5, -6}); break;
            case "box_pair": BoxedPairHelper.insert(a, new Pair((short) 7, (short) -8)); break;
            case "box_long": BoxedLongHelper.insert(a, new BoxedLong(9)); break;
            case "named_value": {
                NamedValue value = new Graphs.NamedText();
                value.text = "valued";
                a.insert_Value(value, NamedHelper.type());
                break;
            }
            case "named_object": a.insert_Object(object, NamedHelper.type()); break;
            case "choice": {
                Choice choice = new Choice();
                choice.thing(Graphs.leaf(7, "leaf"));
                ChoiceHelper.insert(a, choice);
                break;
            }
            case "tangle": TangleHelper.insert(a, Graphs.tangle()); break;
            case "mixture": {
                Any inner = orb.create_any();
                inner.insert_long(5);
                MixtureHelper.insert(a, new Mixture((byte) 1, tree(), expression(), inner, 180, new String[] {"a", "bcdef"}));
                break;
            }
            default: throw new org.omg.CORBA.BAD_PARAM(name + ": no such any");
        }
        return a;
    }

    static TypeCode type(ORB orb, String name) {
        switch (name) {
            case "brief": return BriefHelper.type();
            case "wide_brief": return WideBriefHelper.type();
            case "longs": return LongSeqHelper.type();
            case "briefs": return BriefsHelper.type();
            case "grid": return GridHelper.type();
            case "height": return HeightHelper.type();
            case "money": return MoneyHelper.type();
            case "any_seq": return AnySeqHelper.type();
            case "marked": return MarkedHelper.type();
            case "holder": return HolderHelper.type();
            case "named_value": case "named_object": return NamedHelper.type();
            case "heavier": return HeavierHelper.type();
            case "firm": return FirmHelper.type();
            case "circle": return CircleHelper.type();
            case "square": return SquareHelper.type();
            case "shape": return ShapeHolder.type();
            case "values": return ValuesHelper.type();
            case "tangled": return TangledHelper.type();
            case "distance": return DistanceHelper.type();
            default: return make(orb, name, null).type();
        }
    }

    private static String list(String... all) { return "[" + String.join(", ", all) + "]"; }

    private static String show(Tree x) {
        return "{" + x.number + ", " + list(Arrays.stream(x.children).map(Kinds::show).toArray(String[]::new)) + "}";
    }

    private static String show(Expression x) {
        switch (x.discriminator().value()) {
            case Colour._red: return Graphs.quarters(x.number());
            case Colour._green: return x.name();
            default: return list(Arrays.stream(x.parts()).map(Kinds::show).toArray(String[]::new));
        }
    }

    private static String units(String text) {
        return text.chars().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    private static String show(Object value) { return Graphs.text(value); }

    /** What the any of that name holds, extracted as its own type; an exception where it holds something else. */
    static String text(String name, Any a) throws Exception {
        switch (name) {
            case "null": case "void":
                if (a.type().kind().value() != (name.equals("null") ? TCKind._tk_null : TCKind._tk_void)) {
                    throw new org.omg.CORBA.BAD_PARAM("it is of kind " + a.type().kind().value());
                }
                return name;
            case "short": return "" + a.extract_short();
            case "ushort": return "" + (a.extract_ushort() & 0xffff);
            case "long": return "" + a.extract_long();
            case "ulong": return Integer.toUnsignedString(a.extract_ulong());
            case "longlong": return "" + a.extract_longlong();
            case "ulonglong": return Long.toUnsignedString(a.extract_ulonglong());
            case "float": return Graphs.quarters(a.extract_float());
            case "double": return Graphs.quarters(a.extract_double());
            case "char": return "" + a.extract_char();
            case "octet": return "" + (a.extract_octet() & 0xff);
            case "boolean": return a.extract_boolean() ? "TRUE" : "FALSE";
            case "string": return a.extract_string();
            case "brief": return BriefHelper.extract(a);
            case "wchar": return "" + (int) a.extract_wchar();
            case "wstring": return units(a.extract_wstring());
            case "wide_brief": return units(WideBriefHelper.extract(a));
            case "colour": {
                Colour colour = ColourHelper.extract(a);
                return colour == Colour.red ? "red" : colour == Colour.green ? "green" : "blue";
            }
            case "pair": {
                Pair pair = PairHelper.extract(a);
                return "{" + pair.left + ", " + pair.right + "}";
            }
            case "tree": return show(TreeHelper.extract(a));
            case "expression": return show(ExpressionHelper.extract(a));
            case "oops": {
                Oops oops = OopsHelper.extract(a);
                return "{" + oops.why + ", " + oops.code + "}";
            }
            case "longs": return Arrays.toString(LongSeqHelper.extract(a));
            case "briefs": return list(BriefsHelper.extract(a));
            case "grid": return list(Arrays.stream(GridHelper.extract(a)).map(Arrays::toString).toArray(String[]::new));
            case "height": return "" + HeightHelper.extract(a);
            case "money": return MoneyHelper.extract(a).toPlainString();
            case "any": return text("long", a.extract_any().extract_any());
            case "any_seq": {
                Any[] all = AnySeqHelper.extract(a);
                return list(text("long", all[0]), text("string", all[1]), text("null", all[2]));
            }
            case "type": {
                TypeCode type = a.extract_TypeCode();
                return type.id() + " " + type.member_count();
            }
            case "object": return NamedObjectHelper.narrow(a.extract_Object()).name();
            case "nil": {
                if (a.extract_Object() != null) throw new org.omg.CORBA.BAD_PARAM("it is not nil");
                return "nil";
            }
            case "leaf": return show(LeafHelper.extract(a));
            case "null_value": case "shared": case "ring": case "derived": return show(NodeHelper.extract(a));
            case "marked": return show(MarkedHelper.extract(a));
            case "holder": return show(HolderHelper.extract(a));
            case "box_text": return show((Object) BoxedTextHelper.extract(a));
            case "box_longs": return show(BoxedLongsHelper.extract(a));
            case "box_pair": return show(BoxedPairHelper.extract(a));
            case "box_long": return show(BoxedLongHelper.extract(a));
            case "named_value": case "named_object": return NamedHelper.extract(a).name();
            case "choice": return Graphs.text(ChoiceHelper.extract(a));
            case "tangle": return Graphs.text(TangleHelper.extract(a));
            case "mixture": {
                Mixture x = MixtureHelper.extract(a);
                return "{" + (x.lead & 0xff) + ", " + show(x.wood) + ", " + show(x.sum) + ", " + text("long", x.inner) + ", " + x.high
                    + ", " + list(x.texts) + "}";
            }
            default: throw new org.omg.CORBA.BAD_PARAM(name + ": no such any");
        }
    }
}

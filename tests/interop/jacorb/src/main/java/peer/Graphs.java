package peer;

import beyond.*;
import hidden.*;
import java.io.Serializable;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.omg.CORBA.DataInputStream;
import org.omg.CORBA.DataOutputStream;

/** Values of the valuetypes of beyond.idl and hidden.idl: the graphs of ../cases.md, their text, and the factories. */
final class Graphs {
    static final int GRAPHS = 11;

    private Graphs() {}

    // JacORB's compiler leaves the classes abstract.
    static final class LeafValue extends Leaf {}
    static final class NodeValue extends Node {}
    static final class MarkedValue extends Marked {}
    static final class HeavierValue extends Heavier {}
    static final class FirmValue extends Firm {}
    static final class CircleValue extends Circle {}
    static final class SquareValue extends Square {}
    static final class HolderValue extends beyond.Holder {}
    static final class NamedText extends NamedValue {
        public String name() { return text; }
    }
    static final class TrackValue extends Track {
        public void marshal(DataOutputStream out) {
            out.write_long(number);
            out.write_string(title);
            out.write_long(number);
        }
        public void unmarshal(DataInputStream in) {
            number = in.read_long();
            title = in.read_string();
            in.read_long();
        }
    }
    static final class PlainlyValue extends Plainly {}
    static final class TwiceValue extends Twice {}
    static final class DeeplyValue extends Deeply {}
    static final class FirmlyValue extends Firmly {}

    /** All types but those of hidden.idl. */
    static void registerFactories(org.omg.CORBA.ORB orb) {
        know(orb, "Leaf", LeafValue::new);
        know(orb, "Node", NodeValue::new);
        know(orb, "Marked", MarkedValue::new);
        know(orb, "Heavier", HeavierValue::new);
        know(orb, "Firm", FirmValue::new);
        know(orb, "Circle", CircleValue::new);
        know(orb, "Square", SquareValue::new);
        know(orb, "Holder", HolderValue::new);
        know(orb, "NamedValue", NamedText::new);
        know(orb, "Track", TrackValue::new);
    }

    private static void know(org.omg.CORBA.ORB orb, String name, Supplier<Serializable> make) {
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory("IDL:zorb.test/beyond/" + name + ":1.0",
            in -> {
                Serializable made = make.get();
                return ((org.omg.CORBA_2_3.portable.InputStream) in).read_value(made);
            });
    }

    // ------------------------------------------------------------------- making

    static <N extends Node> N link(N made, int number, Node left, Node right) {
        made.number = number;
        made.left = left;
        made.right = right;
        return made;
    }

    static Node node(int number, Node left, Node right) { return link(new NodeValue(), number, left, right); }

    static <M extends Marked> M mark(M made, String text, Node... others) {
        made.mark = text;
        made.others = others;
        return made;
    }

    private static Node tree(int number) { return number < 16 ? node(number, tree(2 * number), tree(2 * number + 1)) : null; }

    static Node graph(int k) {
        switch (k) {
            case 0: return null;
            case 1: return node(1, null, null);
            case 2: {
                Node twice = node(20, null, null);
                return node(2, twice, twice);
            }
            case 3: {
                Node self = node(3, null, null);
                self.left = self;
                return self;
            }
            case 4: {
                Node last = node(44, null, null);
                Node first = last;
                for (int number = 43; number >= 40; number--) first = node(number, first, null);
                last.left = first;
                return first;
            }
            case 5: return tree(1);
            case 6: {
                Marked made = new MarkedValue();
                Node left = node(60, null, null);
                link(made, 6, left, null);
                return mark(made, "marked", made, null, left, left);
            }
            case 7: {
                Heavier made = new HeavierValue();
                Marked left = mark(link(new MarkedValue(), 70, made, null), "inner");
                link(made, 7, left, left);
                mark(made, "heavy", left, null);
                made.weight = 2.5;
                return made;
            }
            case 8: {
                Node made = null;
                for (int number = 91; number >= 80; number--) made = node(number, made, made);
                return made;
            }
            case 9: {
                Node made = null;
                for (int number = 159; number >= 100; number--) {
                    made = number % 3 != 0 ? node(number, null, made)
                        : mark(link(new MarkedValue(), number, null, made), "m" + number, made);
                }
                return made;
            }
            default: {
                Firm made = link(new FirmValue(), 10, node(100, null, null), null);
                made.hardness = -7;
                return made;
            }
        }
    }

    static Leaf leaf(int number, String text) {
        Leaf made = new LeafValue();
        made.number = number;
        made.text = text;
        return made;
    }

    /** Values of types that their receiver does not know. */
    static Node hiddenValue(int k) {
        Node left = node(30, null, null);
        switch (k) {
            case 0: {
                Plainly made = link(new PlainlyValue(), 300, left, node(35, null, null));
                made.depth = 1;
                made.more = "more";
                return made;
            }
            case 1: {
                Twice made = link(new TwiceValue(), 301, left, left);
                made.depth = 2;
                made.more = "twice";
                made.others = new Node[] {node(31, null, null), node(32, null, null)};
                return made;
            }
            case 2: {
                Deeply made = mark(link(new DeeplyValue(), 302, left, null), "deep", left, node(33, null, null));
                made.weight = 0.5;
                made.thing = leaf(34, "gone");
                made.depth = 3;
                return made;
            }
            case 3: {
                Marked made = new MarkedValue();
                Node within = hiddenValue(1);
                link(made, 303, within, within);
                return mark(made, "around", within, made);
            }
            default: {
                Firmly made = link(new FirmlyValue(), 304, left, null);
                made.depth = 4;
                return made;
            }
        }
    }

    /** What a receiver who does not know the types of hidden.idl is left with. */
    static String cut(int k) {
        switch (k) {
            case 0: return "Node#1{300, Node#2{30, null, null}, Node#3{35, null, null}}";
            case 1: return "Node#1{301, Node#2{30, null, null}, #2}";
            case 2: return "Heavier#1{302, Node#2{30, null, null}, null, deep, [#2, Node#3{33, null, null}], 2/4}";
            default: return "Marked#1{303, Node#2{301, Node#3{30, null, null}, #3}, #2, around, [#2, #1]}";
        }
    }

    static beyond.Holder holder() {
        beyond.Holder made = new HolderValue();
        made.text = "boxed";
        made.numbers = new int[] {5, -6};
        made.both = new Pair((short) 7, (short) -8);
        made.single = new BoxedLong(9);
        made.link = graph(6);
        made.thing = leaf(7, "leaf");
        Square square = new SquareValue();
        square.corner = made.thing;
        square.side = 4;
        made.figure = square;
        return made;
    }

    static Tangle tangle() {
        Node shared = node(1, null, null);
        Node first = node(2, shared, null);
        return new Tangle((byte) 1, first, "text", shared, new Node[] {shared, null, first});
    }

    // ----------------------------------------------------------------- as text

    static String quarters(double value) { return (long) (value * 4) + "/4"; }

    static final class Walk {
        final StringBuilder out = new StringBuilder();
        private final Map<Object, Integer> seen = new IdentityHashMap<>();

        void value(Object v) {
            if (v == null) { out.append("null"); return; }
            Integer known = seen.get(v);
            if (known != null) { out.append('#').append(known); return; }
            seen.put(v, seen.size() + 1);
            String number = "#" + seen.size() + "{";
            if (v instanceof Heavier) {
                out.append("Heavier").append(number);
                marked((Marked) v);
                out.append(", ").append(quarters(((Heavier) v).weight));
            } else if (v instanceof Marked) {
                out.append("Marked").append(number);
                marked((Marked) v);
            } else if (v instanceof Firm) {
                out.append("Firm").append(number);
                links((Node) v);
                out.append(", ").append(((Firm) v).hardness);
            } else if (v instanceof Node) {
                out.append("Node").append(number);
                links((Node) v);
            } else if (v instanceof Leaf) {
                out.append("Leaf").append(number).append(((Leaf) v).number).append(", ").append(((Leaf) v).text);
            } else if (v instanceof Circle) {
                out.append("Circle").append(number).append(quarters(((Circle) v).radius));
            } else if (v instanceof Square) {
                out.append("Square").append(number);
                value(((Square) v).corner);
                out.append(", ").append(((Square) v).side);
            } else if (v instanceof String) {
                out.append("BoxedText").append(number).append(v);
            } else if (v instanceof int[]) {
                out.append("BoxedLongs").append(number);
                String longs = java.util.Arrays.toString((int[]) v);
                out.append(longs, 1, longs.length() - 1);
            } else if (v instanceof Pair) {
                out.append("BoxedPair").append(number).append(((Pair) v).left).append(", ").append(((Pair) v).right);
            } else if (v instanceof BoxedLong) {
                out.append("BoxedLong").append(number).append(((BoxedLong) v).value);
            } else if (v instanceof NamedValue) {
                out.append("NamedValue").append(number).append(((NamedValue) v).text);
            } else if (v instanceof beyond.Holder) {
                beyond.Holder h = (beyond.Holder) v;
                out.append("Holder").append(number);
                Object[] all = {h.text, h.numbers, h.both, h.single, h.link, h.figure, h.thing};
                for (int i = 0; i < all.length; i++) {
                    if (i > 0) out.append(", ");
                    value(all[i]);
                }
            } else {
                out.append("?").append(number);
            }
            out.append('}');
        }

        private void links(Node x) {
            out.append(x.number).append(", ");
            value(x.left);
            out.append(", ");
            value(x.right);
        }

        private void marked(Marked x) {
            links(x);
            out.append(", ").append(x.mark).append(", [");
            for (int i = 0; i < x.others.length; i++) {
                if (i > 0) out.append(", ");
                value(x.others[i]);
            }
            out.append(']');
        }
    }

    /** All of them together, so that what they share is seen. */
    static String text(Object... values) {
        Walk walk = new Walk();
        for (int i = 0; i < values.length; i++) {
            if (i > 0) walk.out.append("; ");
            walk.value(values[i]);
        }
        return walk.out.toString();
    }

    static String text(Tangle x) {
        Walk walk = new Walk();
        walk.out.append(x.lead & 0xff).append("; ");
        walk.value(x.first);
        walk.out.append("; ").append(x.text).append("; ");
        walk.value(x.second);
        for (Node each : x.rest) {
            walk.out.append("; ");
            walk.value(each);
        }
        return walk.out.toString();
    }

    static String text(Choice x) { return x.discriminator() ? text((Object) x.link()) : text((Object) x.thing()); }
}

package peer;

import beyond.*;
import interop.Every;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.omg.CORBA.Any;
import org.omg.CORBA.AnyHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.NVList;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Request;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.TypeCodeHolder;
import org.omg.CORBA.UnknownUserException;

/** The client's cases of beyond.idl. */
final class BeyondCases {
    interface Body { void run() throws Exception; }

    /** What the client's own harness does for each case. */
    interface Harness {
        void check(String name, Body body);
        void needWide();
        RuntimeException failure(String reason);
        RuntimeException skip(String reason);
        void same(String what, String got, String wanted);
    }

    private final Harness harness;
    private final ORB orb;
    private final Every every;
    private NamedObject object;
    private Traced ownTraced;

    /** {@code world} and {@code every} are null where the cases are only listed. */
    BeyondCases(Harness harness, World world, Every every) throws org.omg.CORBA.UserException {
        this.harness = harness;
        this.orb = world == null ? null : world.orb;
        this.every = every;
        if (world != null) {
            Beyond own = new Beyond(world);
            object = NamedObjectHelper.narrow(own.part("NamedObject"));
            ownTraced = TracedHelper.narrow(own.part("Traced"));
        }
    }

    private void check(String name, Body body) { harness.check(name, body); }

    private void expect(String what, String got, String wanted) { harness.same(what, got, wanted); }

    private void expect(String what, boolean holds) {
        if (!holds) throw harness.failure(what + ": expected it to hold");
    }

    private org.omg.CORBA.Object part(String name) {
        org.omg.CORBA.Object found = every.part(name);
        if (found == null) throw harness.skip("the server does not have " + name);
        return found;
    }
    private Values values() { return ValuesHelper.unchecked_narrow(part("Values")); }
    private Anys anys() { return AnysHelper.unchecked_narrow(part("Anys")); }
    private Types types() { return TypesHelper.unchecked_narrow(part("Types")); }
    private Traced traced() { return TracedHelper.unchecked_narrow(part("Traced")); }
    private Dynamic dynamic() { return DynamicHelper.unchecked_narrow(part("Dynamic")); }
    private beyond.Scripted scripted() { return ScriptedHelper.unchecked_narrow(part("Scripted")); }

    private void raisesMarshal(Body body) throws Exception {
        try {
            body.run();
        } catch (org.omg.CORBA.MARSHAL wanted) {
            return;
        }
        throw harness.failure("expected MARSHAL got a result");
    }

    void run() {
        graphs();
        values_();
        hidden();
        spanning();
        custom();
        abstracts();
        anys_();
        types_();
        contexts();
        traced_();
        dynamic_();
        scripted_();
        later();
    }

    // ------------------------------------------------------------------- values

    private void graphs() {
        for (int i = 0; i < Graphs.GRAPHS; i++) {
            int k = i;
            check("value/echo-" + k, () -> {
                Node a = Graphs.graph(k);
                Node old = Graphs.graph((k + 1) % Graphs.GRAPHS);
                NodeHolder b = new NodeHolder();
                NodeHolder c = new NodeHolder(old);
                Node r = values().echo_node(a, b, c);
                expect("b and c", Graphs.text(b.value, c.value), Graphs.text(a, a));
                expect("return", Graphs.text((Object) r), Graphs.text((Object) old));
            });
            check("value/describe-" + k, () -> {
                Node a = Graphs.graph(k);
                expect("as the server sees it", values().describe(a, null), Graphs.text(a, null));
            });
            check("value/make-" + k, () ->
                expect("made", Graphs.text((Object) values().make(k)), Graphs.text((Object) Graphs.graph(k))));
        }
    }

    private interface Echo { Object call(Object a, Object b, Object c); }

    /** Echoes: {@code b} and {@code c} are one value, and the result is the old one. */
    private void echo(Class<?> holder, Object a, Object old, Echo call) {
        Object b = Holders.create(holder, null);
        Object c = Holders.create(holder, old);
        Object r = call.call(a, b, c);
        expect("b and c", Graphs.text(Holders.get(b), Holders.get(c)), Graphs.text(a, a));
        expect("return", Graphs.text(r), Graphs.text(old));
    }

    private void values_() {
        check("value/shared-parameters", () -> {
            Node a = Graphs.graph(2);
            expect("as the server sees them", values().describe(a, a.left), Graphs.text(a, a.left));
            Node within = Graphs.graph(6);
            expect("as the server sees them", values().describe(within.left, within), Graphs.text(within.left, within));
        });
        check("value/shared-results", () -> {
            Node a = Graphs.graph(6);
            NodeHolder b = new NodeHolder();
            NodeHolder c = new NodeHolder(a);
            Node r = values().echo_node(a, b, c);
            expect("return, b and c", Graphs.text(r, b.value, c.value), Graphs.text(a, a, a));
        });
        check("value/sequence", () -> {
            Node a = Graphs.graph(6);
            Node[] nodes = {a, a, null, a.left, Graphs.graph(7)};
            NodeSeqHolder b = new NodeSeqHolder();
            NodeSeqHolder c = new NodeSeqHolder(new Node[] {Graphs.graph(2)});
            Node[] r = values().echo_node_seq(nodes, b, c);
            expect("b", Graphs.text((Object[]) b.value), Graphs.text((Object[]) nodes));
            expect("c", Graphs.text((Object[]) c.value), Graphs.text((Object[]) nodes));
            expect("return", Graphs.text((Object[]) r), Graphs.text((Object) Graphs.graph(2)));
        });
        check("value/array", () -> {
            Node x = Graphs.graph(4);
            NodeArrayHolder b = new NodeArrayHolder();
            NodeArrayHolder c = new NodeArrayHolder(new Node[] {Graphs.graph(1), null});
            Node[] r = values().echo_node_array(new Node[] {x, x}, b, c);
            expect("b and c", Graphs.text(b.value[0], b.value[1], c.value[0], c.value[1]), Graphs.text(x, x, x, x));
            expect("return", Graphs.text(r[0], r[1]), Graphs.text(Graphs.graph(1), null));
        });
        check("value/leaf", () -> {
            Echo call = (a, b, c) -> values().echo_leaf((Leaf) a, (LeafHolder) b, (LeafHolder) c);
            echo(LeafHolder.class, Graphs.leaf(-7, "leaf"), null, call);
            echo(LeafHolder.class, null, Graphs.leaf(8, ""), call);
        });
        check("value/shape", () -> {
            Circle circle = new Graphs.CircleValue();
            circle.radius = 1.5;
            Square square = new Graphs.SquareValue();
            square.corner = Graphs.leaf(1, "corner");
            square.side = 2;
            Echo call = (a, b, c) -> values().echo_shape((Shape) a, (ShapeHolder) b, (ShapeHolder) c);
            echo(ShapeHolder.class, circle, square, call);
            echo(ShapeHolder.class, square, null, call);
        });
        check("value/boxed-text", () -> {
            Echo call = (a, b, c) -> values().echo_boxed_text((String) a, (BoxedTextHolder) b, (BoxedTextHolder) c);
            echo(BoxedTextHolder.class, "text", null, call);
            echo(BoxedTextHolder.class, null, "", call);
        });
        check("value/boxed-longs", () -> {
            Echo call = (a, b, c) -> values().echo_boxed_longs((int[]) a, (BoxedLongsHolder) b, (BoxedLongsHolder) c);
            echo(BoxedLongsHolder.class, new int[] {-1, 0, 1}, null, call);
            echo(BoxedLongsHolder.class, null, new int[0], call);
        });
        check("value/boxed-pair", () -> {
            Echo call = (a, b, c) -> values().echo_boxed_pair((Pair) a, (BoxedPairHolder) b, (BoxedPairHolder) c);
            echo(BoxedPairHolder.class, new Pair((short) 1, (short) -2), null, call);
        });
        check("value/boxed-long", () -> {
            Echo call = (a, b, c) -> values().echo_boxed_long((BoxedLong) a, (BoxedLongHolder) b, (BoxedLongHolder) c);
            echo(BoxedLongHolder.class, new BoxedLong(-3), null, call);
        });
        check("value/holder", () -> {
            beyond.Holder empty = new Graphs.HolderValue();
            empty.text = null;
            echo(HolderHolder.class, Graphs.holder(), empty,
                (a, b, c) -> values().echo_holder((beyond.Holder) a, (HolderHolder) b, (HolderHolder) c));
        });
        check("value/keep-leaf", () -> kept(Graphs.leaf(5, "kept")));
        check("value/keep-graph", () -> kept(Graphs.graph(7)));
        check("value/keep-box", () -> kept(new BoxedLong(6)));
        check("value/keep-null", () -> kept(null));
        check("value/tangle", () -> {
            Tangle a = Graphs.tangle();
            TangleHolder b = new TangleHolder();
            TangleHolder c = new TangleHolder(new Tangle((byte) 0, null, "", null, new Node[0]));
            Tangle r = values().echo_tangle(a, b, c);
            expect("b", Graphs.text(b.value), Graphs.text(a));
            expect("c", Graphs.text(c.value), Graphs.text(a));
            expect("return", r.first == null && r.rest.length == 0);
        });
        check("value/choice", () -> {
            Choice a = new Choice();
            a.link(Graphs.graph(3));
            Choice old = new Choice();
            old.thing(Graphs.leaf(1, "old"));
            ChoiceHolder b = new ChoiceHolder();
            ChoiceHolder c = new ChoiceHolder(old);
            Choice r = values().echo_choice(a, b, c);
            expect("b", Graphs.text(b.value), Graphs.text(a));
            expect("c", Graphs.text(c.value), Graphs.text(a));
            expect("return", Graphs.text(r), "Leaf#1{1, old}");
        });
        check("value/exception", () -> {
            Node culprit = Graphs.graph(6);
            try {
                values().raise_tangled(culprit, culprit.left);
            } catch (Tangled e) {
                expect("members", Graphs.text(e.culprit, e.witness), Graphs.text(culprit, culprit.left));
                expect("why", e.why, "tangled");
                return;
            }
            throw harness.failure("expected an exception got a result");
        });
        check("value/no-factory", () -> raisesMarshal(() -> values().keep(Graphs.hiddenValue(4))));
    }

    private void kept(java.io.Serializable a) { expect("return", Graphs.text((Object) values().keep(a)), Graphs.text((Object) a)); }

    private void hidden() {
        for (int i = 0; i < 4; i++) {
            int k = i;
            check("hidden/describe-" + k, () -> {
                Node a = Graphs.hiddenValue(k);
                expect("as the server sees it", values().describe(a, a), Graphs.cut(k) + "; #1");
            });
            check("hidden/make-" + k, () -> expect("made", Graphs.text((Object) values().make_hidden(k)), Graphs.cut(k)));
        }
        check("hidden/describe-firm", () -> raisesMarshal(() -> values().describe(Graphs.hiddenValue(4), null)));
        check("hidden/make-firm", () -> raisesMarshal(() -> values().make_hidden(4)));
    }

    private void spanned(int from, int to, int step) {
        for (int size = from; size < to; size += step) {
            Marked a = new Graphs.MarkedValue();
            Graphs.link(a, size, Graphs.graph(2), a);
            Graphs.mark(a, "m".repeat(size), Graphs.graph(6));
            echo(NodeHolder.class, a, null, (x, b, c) -> values().echo_node((Node) x, (NodeHolder) b, (NodeHolder) c));
        }
    }

    private void spanning() {
        check("span/value-small", () -> spanned(700, 1100, 9));
        check("span/value-large", () -> spanned(7700, 8300, 13));
        check("span/values", () -> {
            for (int count = 1; count < 200; count += 9) {
                Node[] nodes = new Node[count];
                for (int i = 0; i < count; i++) nodes[i] = i % 7 == 6 ? nodes[i - 3] : Graphs.graph(i % Graphs.GRAPHS);
                NodeSeqHolder b = new NodeSeqHolder();
                NodeSeqHolder c = new NodeSeqHolder(new Node[0]);
                values().echo_node_seq(nodes, b, c);
                expect("b of " + count, Graphs.text((Object[]) b.value), Graphs.text((Object[]) nodes));
            }
        });
        check("span/any", () -> {
            for (int size = 700; size < 8300; size += size == 1096 ? 6604 : 12) {
                Any a = orb.create_any();
                a.insert_string("a".repeat(size));
                AnyHolder b = new AnyHolder();
                anys().echo_any(a, b, new AnyHolder(orb.create_any()));
                expect("b", b.value.extract_string(), "a".repeat(size));
            }
        });
        check("span/anys", () -> {
            for (int count = 1; count < 60; count += 4) {
                Any[] a = new Any[count];
                for (int i = 0; i < count; i++) a[i] = Kinds.make(orb, i % 2 == 1 ? "mixture" : "derived", object);
                AnySeqHolder b = new AnySeqHolder();
                AnySeqHolder c = new AnySeqHolder(new Any[0]);
                anys().echo_any_seq(a, b, c);
                expect("lengths", b.value.length == count && c.value.length == count);
                for (int i = 0; i < count; i++) {
                    String name = i % 2 == 1 ? "mixture" : "derived";
                    expect("element", Kinds.text(name, b.value[i]), Kinds.text(name, a[i]));
                }
            }
        });
    }

    private void custom() {
        Supplier<Track> track = () -> {
            Track made = new Graphs.TrackValue();
            made.number = 7;
            made.title = "a track";
            return made;
        };
        check("custom/echo", () -> {
            Customs customs = CustomsHelper.unchecked_narrow(part("Customs"));
            TrackHolder b = new TrackHolder();
            TrackHolder c = new TrackHolder();
            Track r = customs.echo_track(track.get(), b, c);
            expect("b and c are one, and nothing was returned", b.value != null && b.value == c.value && r == null);
            expect("b", b.value.number + ", " + b.value.title, "7, a track");
        });
        check("custom/describe", () ->
            expect("seen", CustomsHelper.unchecked_narrow(part("Customs")).describe_track(track.get()), "7, a track"));
    }

    // ---------------------------------------------------------------- abstracts

    private static String name(Named x) { return x == null ? "nil" : x.name(); }

    private static Named named(String text) {
        NamedValue made = new Graphs.NamedText();
        made.text = text;
        return made;
    }

    private void abstracts() {
        Supplier<Abstracts> target = () -> AbstractsHelper.unchecked_narrow(part("Abstracts"));
        check("abstract/object", () -> {
            NamedHolder b = new NamedHolder();
            NamedHolder c = new NamedHolder();
            Named r = target.get().echo_named(object, b, c);
            expect("names", name(b.value) + name(c.value) + name(r), "objectobjectnil");
        });
        check("abstract/value", () -> {
            NamedHolder b = new NamedHolder();
            NamedHolder c = new NamedHolder(object);
            Named r = target.get().echo_named(named("of a value"), b, c);
            expect("names", name(b.value) + name(c.value) + name(r), "of a valueof a valueobject");
            expect("one value", b.value == c.value);
        });
        check("abstract/nil", () -> {
            NamedHolder b = new NamedHolder();
            NamedHolder c = new NamedHolder(named("old"));
            Named r = target.get().echo_named(null, b, c);
            expect("names", name(b.value) + name(c.value) + name(r), "nilnilold");
        });
        check("abstract/name-of", () -> {
            expect("of a value", target.get().name_of(named("sent")), "sent");
            expect("of an object", target.get().name_of(object), "object");
            expect("of nil", target.get().name_of(null), "nil");
        });
        check("abstract/make", () -> {
            for (String which : new String[] {"object", "made", "nil"}) expect("name", name(target.get().make_named(which)), which);
        });
    }

    // --------------------------------------------------------------------- anys

    private Any make(String name) { return Kinds.make(orb, name, object); }

    private void anys_() {
        for (String name : Kinds.NAMES) {
            Body wide = () -> { if (Kinds.isWide(name)) harness.needWide(); };
            check("any/echo-" + name, () -> {
                wide.run();
                Any a = make(name);
                AnyHolder b = new AnyHolder();
                AnyHolder c = new AnyHolder(make("pair"));
                Any r = anys().echo_any(a, b, c);
                expect("b", Kinds.text(name, b.value), Kinds.text(name, a));
                expect("c", Kinds.text(name, c.value), Kinds.text(name, a));
                expect("return", Kinds.text("pair", r), Kinds.text("pair", make("pair")));
            });
            check("any/describe-" + name, () -> {
                wide.run();
                Any a = make(name);
                expect("as the server sees it", anys().describe_any(name, a), Kinds.text(name, a));
            });
            check("any/make-" + name, () -> {
                wide.run();
                expect("made", Kinds.text(name, anys().make_any(name)), Kinds.text(name, make(name)));
            });
        }
        check("any/sequence", () -> {
            String[] names = Arrays.stream(Kinds.NAMES).filter(name -> !Kinds.isWide(name) && !Kinds.isApart(name)).toArray(String[]::new);
            Any[] a = Arrays.stream(names).map(this::make).toArray(Any[]::new);
            AnySeqHolder b = new AnySeqHolder();
            AnySeqHolder c = new AnySeqHolder(new Any[0]);
            Any[] r = anys().echo_any_seq(a, b, c);
            expect("lengths", b.value.length == a.length && c.value.length == a.length && r.length == 0);
            for (int i = 0; i < names.length; i++) {
                expect("b, " + names[i], Kinds.text(names[i], b.value[i]), Kinds.text(names[i], a[i]));
                expect("c, " + names[i], Kinds.text(names[i], c.value[i]), Kinds.text(names[i], a[i]));
            }
        });
        check("any/exception", () -> {
            Any a = make("tree");
            try {
                anys().raise_any(a, "tree");
            } catch (Oops e) {
                expect("why", e.why, Kinds.text("tree", a));
                expect("code", e.code == 1);
                return;
            }
            throw harness.failure("expected an exception got a result");
        });
    }

    private void types_() {
        List<String> names = new ArrayList<>(Arrays.asList(Kinds.NAMES));
        names.addAll(Arrays.asList(Kinds.TYPES));
        for (String name : names) {
            check("type/echo-" + name, () -> {
                TypeCode a = Kinds.type(orb, name);
                TypeCode pair = Kinds.type(orb, "pair");
                TypeCodeHolder b = new TypeCodeHolder();
                TypeCodeHolder c = new TypeCodeHolder(pair);
                TypeCode r = types().echo_type(a, b, c);
                expect("b is equal", b.value.equal(a));
                expect("c is equal", c.value.equal(a));
                expect("the result is equal", r.equal(pair));
            });
            check("type/equal-" + name, () -> {
                TypeCode a = Kinds.type(orb, name);
                expect("the server's is equal", types().make_type(name).equal(a));
                expect("ours is equal for the server", types().is_equal(name, a));
            });
            check("type/equivalent-" + name, () -> {
                TypeCode a = Kinds.type(orb, name);
                expect("the server's is equivalent", types().make_type(name).equivalent(a));
                expect("ours is equivalent for the server", types().is_equivalent(name, a));
            });
        }
        check("type/differ", () -> {
            Types target = types();
            TypeCode tree = Kinds.type(orb, "tree");
            TypeCode height = orb.get_primitive_tc(TCKind.tk_long);
            expect("tree is no pair", !target.is_equal("pair", tree) && !target.is_equivalent("pair", tree));
            expect("a height is a long", target.is_equivalent("height", height) && !target.is_equal("height", height));
            expect("a ring is no marked", !target.is_equivalent("ring", Kinds.type(orb, "marked")));
        });
    }

    // ----------------------------------------------- contexts, service contexts

    private void contexts() {
        Supplier<Contexts> target = () -> ContextsHelper.unchecked_narrow(part("Contexts"));
        check("context/given", () ->  // its stubs have no way to give any
            expect("properties", String.join(";", target.get().properties("text")), "zorb_more=2;zorb_moreover=;zorb_one=1"));
        check("context/none", () -> expect("properties", String.join(";", target.get().properties("text")), ""));
    }

    /** Calls with a context of these octets, and expects it reversed, or none for none. */
    private void answered(byte[] octets, Body call) throws Exception {
        Tracing.SENDS.set(octets);
        try {
            call.run();
        } finally {
            Tracing.SENDS.remove();
        }
        byte[] wanted = octets == null ? null : Tracing.reversed(octets);
        expect("the answer's context", Arrays.equals(Tracing.ANSWERED.get(), wanted));
    }

    private void traced_() {
        check("traced/reply", () -> {
            Traced target = traced();
            answered("123".getBytes(), target::plain);
        });
        check("traced/none", () -> {
            Traced target = traced();
            answered(null, target::plain);
        });
        check("traced/empty", () -> {
            Traced target = traced();
            answered(new byte[0], target::plain);
        });
        check("traced/large", () -> {
            Traced target = traced();
            byte[] octets = new byte[10000];
            Arrays.fill(octets, 1, octets.length, (byte) 'x');
            answered(octets, target::plain);
        });
        check("traced/user-exception", () -> {
            Traced target = traced();
            answered("user".getBytes(), () -> {
                try {
                    target.refused(8);
                } catch (Oops e) {
                    expect("code", e.code == 8);
                    return;
                }
                throw harness.failure("expected an exception got a result");
            });
        });
        check("traced/system-exception", () -> {
            Traced target = traced();
            answered("system".getBytes(), () -> {
                try {
                    target.denied();
                } catch (org.omg.CORBA.NO_PERMISSION e) {
                    expect("minor", e.minor == 7);
                    return;
                }
                throw harness.failure("expected an exception got a result");
            });
        });
        check("traced/implicit", () -> {
            Traced target = traced();
            answered("is it there".getBytes(), () -> expect("it is there", !target._non_existent()));
        });
        check("traced/oneway", () -> {
            Traced target = traced();
            int before = target.seen();
            Tracing.SENDS.set("oneway".getBytes());
            try {
                target.quiet();
            } finally {
                Tracing.SENDS.remove();
            }
            int now = before;
            for (int i = 0; i < 500 && now == before; i++) {
                now = target.seen();
                if (now == before) Thread.sleep(10);
            }
            expect("seen", now == before + 1);
        });
        check("traced/call-back", () -> traced().call_back(ownTraced));
    }

    // ------------------------------------------------------------- without stubs

    private Request change(org.omg.CORBA.Object target, String t, int c) {
        Request made = target._request("change");
        PairHelper.insert(made.add_named_in_arg("a"), new Pair((short) 1, (short) 2));
        made.add_named_in_arg("t").insert_string(t);
        made.add_named_out_arg("b").type(orb.create_string_tc(0));
        made.add_named_inout_arg("c").insert_long(c);
        made.set_return_type(PairHelper.type());
        made.exceptions().add(OopsHelper.type());
        return made;
    }

    private void raise(Request made) throws Exception {
        Exception raised = made.env().exception();
        if (raised != null) throw raised;
    }

    private void changed(Request made) throws Exception {
        raise(made);
        Pair pair = PairHelper.extract(made.return_value());
        expect("return", pair.left == 2 && pair.right == 1);
        NVList arguments = made.arguments();
        expect("b", arguments.item(2).value().extract_string(), "twicetwice");
        expect("c", arguments.item(3).value().extract_long() == 8);
    }

    private void changeDynamically(org.omg.CORBA.Object target) throws Exception {
        Request made = change(target, "twice", 7);
        made.invoke();
        changed(made);
    }

    private void raiseDynamically(org.omg.CORBA.Object target) throws Exception {
        Request made = change(target, "no", -7);
        try {
            made.invoke();
            raise(made);
        } catch (UnknownUserException e) {
            Oops oops = OopsHelper.extract(e.except);
            expect("members", oops.why.equals("no") && oops.code == -7);
            return;
        }
        throw harness.failure("expected an exception got a result");
    }

    private void unknown(org.omg.CORBA.Object target) throws Exception {
        Request made = target._request("nothing_such");
        made.set_return_type(orb.get_primitive_tc(TCKind.tk_void));
        try {
            made.invoke();
            raise(made);
        } catch (org.omg.CORBA.BAD_OPERATION wanted) {
            return;
        }
        throw harness.failure("expected an exception got a result");
    }

    private void poked(Dynamic target, int level) throws InterruptedException {
        for (int i = 0; i < 500 && target.level() != level; i++) Thread.sleep(10);
        expect("level", target.level() == level);
    }

    private void dynamic_() {
        check("dynamic/change", () -> changeDynamically(dynamic()));
        check("dynamic/deferred", () -> {
            Request made = change(dynamic(), "twice", 7);
            made.send_deferred();
            made.get_response();
            changed(made);
        });
        check("dynamic/exception", () -> raiseDynamically(dynamic()));
        check("dynamic/any", () -> {
            for (String name : new String[] {"mixture", "derived", "grid"}) {
                Any a = make(name);
                Request made = dynamic()._request("keep");
                made.add_named_in_arg("a").insert_any(a);
                made.set_return_type(orb.get_primitive_tc(TCKind.tk_any));
                made.invoke();
                raise(made);
                expect(name, Kinds.text(name, made.return_value().extract_any()), Kinds.text(name, a));
            }
        });
        check("dynamic/value", () -> {
            for (int k : new int[] {1, 2, 4, 6}) {
                Request made = dynamic()._request("link");
                made.add_named_in_arg("a").insert_Value(Graphs.graph(k), NodeHelper.type());
                made.set_return_type(NodeHelper.type());
                made.invoke();
                raise(made);
                expect("graph", Graphs.text((Object) made.return_value().extract_Value()), Graphs.text((Object) Graphs.graph(k)));
            }
        });
        check("dynamic/attribute", () -> {
            Request made = dynamic()._request("_set_level");
            made.add_named_in_arg("level").insert_long(17);
            made.set_return_type(orb.get_primitive_tc(TCKind.tk_void));
            made.invoke();
            raise(made);
            made = dynamic()._request("_get_level");
            made.set_return_type(orb.get_primitive_tc(TCKind.tk_long));
            made.invoke();
            raise(made);
            expect("level", made.return_value().extract_long() == 17);
        });
        check("dynamic/oneway", () -> {
            Request made = dynamic()._request("poke");
            made.add_named_in_arg("n").insert_long(18);
            made.send_oneway();
            poked(dynamic(), 18);
        });
        check("dynamic/reference", () -> {
            Request made = dynamic()._request("itself");
            made.set_return_type(DynamicHelper.type());
            made.invoke();
            raise(made);
            expect("the same", made.return_value().extract_Object()._is_equivalent(dynamic()));
        });
        check("dynamic/unknown", () -> unknown(dynamic()));
        check("dynamic/scripted", () -> {
            changeDynamically(scripted());
            raiseDynamically(scripted());
        });
    }

    private void scripted_() {
        check("scripted/narrow", () -> {
            // What the reference says is not asked for.
            org.omg.CORBA.Object plain = orb.string_to_object(orb.object_to_string(part("Scripted")));
            expect("is a Dynamic", plain._is_a(DynamicHelper.id()));
            expect("is no Values", !plain._is_a(ValuesHelper.id()));
        });
        check("scripted/change", () -> {
            StringHolder b = new StringHolder();
            IntHolder c = new IntHolder(7);
            Pair r = scripted().change(new Pair((short) 1, (short) 2), "twice", b, c);
            expect("return", r.left == 2 && r.right == 1);
            expect("b", b.value, "twicetwice");
            expect("c", c.value == 8);
        });
        check("scripted/exception", () -> {
            try {
                scripted().change(new Pair((short) 1, (short) 2), "no", new StringHolder(), new IntHolder(-7));
            } catch (Oops e) {
                expect("members", e.why.equals("no") && e.code == -7);
                return;
            }
            throw harness.failure("expected an exception got a result");
        });
        check("scripted/any", () -> {
            for (String name : new String[] {"mixture", "derived", "grid"}) {
                Any a = make(name);
                expect(name, Kinds.text(name, scripted().keep(a)), Kinds.text(name, a));
            }
        });
        check("scripted/value", () -> {
            for (int k : new int[] {0, 2, 4, 6}) {
                expect("graph", Graphs.text((Object) scripted().link(Graphs.graph(k))), Graphs.text((Object) Graphs.graph(k)));
            }
        });
        check("scripted/attribute", () -> {
            scripted().level(19);
            expect("level", scripted().level() == 19);
        });
        check("scripted/oneway", () -> {
            scripted().poke(20);
            poked(scripted(), 20);
        });
        check("scripted/reference", () -> expect("the same", scripted().itself()._is_equivalent(scripted())));
        check("scripted/unknown", () -> unknown(scripted()));
    }

    // --------------------------------------------------------------------- later

    private Later laterPart() { return LaterHelper.unchecked_narrow(part("Later")); }

    private void release(Later later, String key, boolean well) throws InterruptedException {
        for (int i = 0; i < 500; i++) {
            if (later.release(key, well)) return;
            Thread.sleep(10);
        }
        throw harness.failure("nobody holds " + key);
    }

    /** What a thread of its own gets for the key. */
    private static Thread holding(Later later, String key, String[] got, int at) {
        Thread holder = new Thread(() -> {
            try {
                got[at] = later.hold(key);
            } catch (Oops e) {
                got[at] = "Oops " + e.why;
            } catch (RuntimeException e) {
                got[at] = e.toString();
            }
        });
        holder.start();
        return holder;
    }

    private void later() {
        check("later/reply", () -> {
            Later later = laterPart();
            String[] got = new String[1];
            Thread holder = holding(later, "one", got, 0);
            release(later, "one", true);
            holder.join();
            expect("return", got[0], "oneone");
        });
        check("later/exception", () -> {
            Later later = laterPart();
            String[] got = new String[1];
            Thread holder = holding(later, "bad", got, 0);
            release(later, "bad", false);
            holder.join();
            expect("raised", got[0], "Oops bad");
        });
        check("later/reversed", () -> {
            Later later = laterPart();
            String[] got = new String[4];
            Thread[] holders = new Thread[4];
            for (int i = 0; i < 4; i++) holders[i] = holding(later, "k" + i, got, i);
            for (int i = 3; i >= 0; i--) release(later, "k" + i, true);
            for (Thread holder : holders) holder.join();
            expect("returns", String.join(" ", got), "k0k0 k1k1 k2k2 k3k3");
        });
    }
}

package peer;

import beyond.*;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.omg.CORBA.Any;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.TypeCode;

/** The objects of the interfaces of beyond.idl. Echoes follow one rule and are answered by reflection. */
public final class Beyond {
    private final Map<String, org.omg.CORBA.Object> parts = new HashMap<>();

    Beyond(World world) throws org.omg.CORBA.UserException {
        Graphs.registerFactories(world.orb);
        NamedObject object = NamedObjectHelper.narrow(world.activate(new NamedObjectPOATie(new NamedObjectOperations() {
            public String name() { return "object"; }
        })));
        parts.put("NamedObject", object);
        parts.put("Values", world.activate(new ValuesPOATie(served(ValuesOperations.class, new ValuesServant()))));
        parts.put("Customs", world.activate(new CustomsPOATie(served(CustomsOperations.class, new CustomsServant()))));
        parts.put("Abstracts", world.activate(new AbstractsPOATie(served(AbstractsOperations.class, new AbstractsServant(object)))));
        parts.put("Anys", world.activate(new AnysPOATie(served(AnysOperations.class, new AnysServant(world.orb, object)))));
        parts.put("Types", world.activate(new TypesPOATie(served(TypesOperations.class, new TypesServant(world.orb)))));
        parts.put("Contexts", world.activate(new ContextsPOATie(text -> new String[0])));
        parts.put("Traced", world.activate(new TracedServant()));
        parts.put("Dynamic", world.activate(new DynamicServant()));
        parts.put("Later", world.activate(new LaterServant()));
        parts.put("Scripted", world.activate(new Scripted(world.orb)));
    }

    /** The object of that interface; nil where there is none. */
    org.omg.CORBA.Object part(String name) { return parts.get(name); }

    private static <I> I served(Class<I> operations, Object servant) {
        return operations.cast(Proxy.newProxyInstance(Beyond.class.getClassLoader(), new Class<?>[] {operations},
            (proxy, method, arguments) -> answer(servant, method, arguments)));
    }

    private static Object answer(Object servant, Method method, Object[] arguments) throws Throwable {
        if (method.getName().startsWith("echo_")) {
            Object old = Holders.get(arguments[2]);
            Holders.set(arguments[1], arguments[0]);
            Holders.set(arguments[2], arguments[0]);
            return old;
        }
        try {
            return servant.getClass().getMethod(method.getName(), method.getParameterTypes()).invoke(servant, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    public static final class ValuesServant {
        public java.io.Serializable keep(java.io.Serializable a) { return a; }
        public void raise_tangled(Node culprit, Node witness) throws Tangled { throw new Tangled(culprit, "tangled", witness); }
        public String describe(Node a, Node b) { return Graphs.text(a, b); }
        public Node make(int k) { return Graphs.graph(k); }
        public Node make_hidden(int k) { return Graphs.hiddenValue(k); }
    }

    public static final class CustomsServant {
        public String describe_track(Track a) { return a == null ? "null" : a.number + ", " + a.title; }
    }

    public static final class AbstractsServant {
        private final NamedObject object;
        AbstractsServant(NamedObject object) { this.object = object; }
        public String name_of(Named a) { return a == null ? "nil" : a.name(); }
        public Named make_named(String name) {
            if (name.equals("nil")) return null;
            if (name.equals("object")) return object;
            NamedValue value = new Graphs.NamedText();
            value.text = name;
            return value;
        }
    }

    public static final class AnysServant {
        private final ORB orb;
        private final NamedObject object;
        AnysServant(ORB orb, NamedObject object) {
            this.orb = orb;
            this.object = object;
        }
        public Any make_any(String name) { return Kinds.make(orb, name, object); }
        public String describe_any(String name, Any a) throws Exception { return Kinds.text(name, a); }
        public void raise_any(Any a, String name) throws Exception { throw new Oops(Kinds.text(name, a), 1); }
    }

    public static final class TypesServant {
        private final ORB orb;
        TypesServant(ORB orb) { this.orb = orb; }
        public TypeCode make_type(String name) { return Kinds.type(orb, name); }
        public boolean is_equal(String name, TypeCode a) { return Kinds.type(orb, name).equal(a); }
        public boolean is_equivalent(String name, TypeCode a) { return Kinds.type(orb, name).equivalent(a); }
    }

    static final class TracedServant extends TracedPOA {
        public void plain() {}
        public int refused(int code) throws Oops { throw new Oops("refused", code); }
        public void denied() { throw new org.omg.CORBA.NO_PERMISSION(7, CompletionStatus.COMPLETED_NO); }
        public void quiet() {}
        public int seen() { return Tracing.SEEN.get(); }
        public void call_back(Traced whom) {
            Tracing.SENDS.set(new byte[] {1, 2, 3});
            try {
                whom.plain();
            } finally {
                Tracing.SENDS.remove();
            }
            if (!java.util.Arrays.equals(Tracing.ANSWERED.get(), new byte[] {3, 2, 1})) {
                throw new org.omg.CORBA.BAD_PARAM("call_back: not answered");
            }
        }
    }

    static final class DynamicServant extends DynamicPOA {
        private volatile int level;
        public int level() { return level; }
        public void level(int v) { level = v; }
        public Pair change(Pair a, String t, StringHolder b, IntHolder c) throws Oops {
            if (c.value < 0) throw new Oops(t, c.value);
            b.value = t + t;
            c.value++;
            return new Pair(a.right, a.left);
        }
        public Any keep(Any a) { return a; }
        public Node link(Node a) { return a; }
        public void poke(int n) { level = n; }
        public Dynamic itself() { return _this(); }
    }

    static final class LaterServant extends LaterPOA {
        private final Map<String, Integer> held = new HashMap<>();
        public synchronized String hold(String key) throws Oops {
            held.put(key, 0);
            long end = System.currentTimeMillis() + 20000;
            try {
                while (held.get(key) == 0 && System.currentTimeMillis() < end) wait(100);
            } catch (InterruptedException e) {
                throw new org.omg.CORBA.TIMEOUT();
            }
            int how = held.remove(key);
            if (how == 0) throw new org.omg.CORBA.TIMEOUT();
            if (how == 2) throw new Oops(key, 1);
            return key + key;
        }
        public synchronized boolean release(String key, boolean well) {
            Integer how = held.get(key);
            if (how == null || how != 0) return false;
            held.put(key, well ? 1 : 2);
            notifyAll();
            return true;
        }
    }
}

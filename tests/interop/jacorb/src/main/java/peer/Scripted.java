package peer;

import beyond.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.omg.CORBA.ARG_IN;
import org.omg.CORBA.ARG_INOUT;
import org.omg.CORBA.ARG_OUT;
import org.omg.CORBA.Any;
import org.omg.CORBA.NVList;
import org.omg.CORBA.ORB;
import org.omg.CORBA.ServerRequest;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.PortableServer.DynamicImplementation;
import org.omg.PortableServer.POA;

/** A Scripted that is served without its skeleton. */
final class Scripted extends DynamicImplementation {
    private final ORB orb;
    private final AtomicInteger level = new AtomicInteger();

    Scripted(ORB orb) { this.orb = orb; }

    public String[] _all_interfaces(POA poa, byte[] id) {
        return new String[] {"IDL:zorb.test/beyond/Scripted:1.0", "IDL:zorb.test/beyond/Dynamic:1.0"};
    }

    private void takes(NVList list, String name, TypeCode type, int flags) {
        Any any = orb.create_any();
        any.type(type);
        list.add_value(name, any, flags);
    }

    private TypeCode primitive(TCKind kind) { return orb.get_primitive_tc(kind); }

    public void invoke(ServerRequest request) {
        try {
            serve(request);
        } catch (org.omg.CORBA.Bounds e) {
            throw new org.omg.CORBA.INTERNAL(e.toString());
        }
    }

    private void serve(ServerRequest request) throws org.omg.CORBA.Bounds {
        NVList list = orb.create_list(0);
        Any result = orb.create_any();
        switch (request.operation()) {
            case "change": {
                takes(list, "a", PairHelper.type(), ARG_IN.value);
                takes(list, "t", orb.create_string_tc(0), ARG_IN.value);
                takes(list, "b", orb.create_string_tc(0), ARG_OUT.value);
                takes(list, "c", primitive(TCKind.tk_long), ARG_INOUT.value);
                request.arguments(list);
                Pair a = PairHelper.extract(list.item(0).value());
                String t = list.item(1).value().extract_string();
                int c = list.item(3).value().extract_long();
                if (c < 0) {
                    Any raised = orb.create_any();
                    OopsHelper.insert(raised, new Oops(t, c));
                    request.set_exception(raised);
                    return;
                }
                list.item(2).value().insert_string(t + t);
                list.item(3).value().insert_long(c + 1);
                PairHelper.insert(result, new Pair(a.right, a.left));
                break;
            }
            case "keep":
                takes(list, "a", primitive(TCKind.tk_any), ARG_IN.value);
                request.arguments(list);
                result.insert_any(list.item(0).value().extract_any());
                break;
            case "link":
                takes(list, "a", NodeHelper.type(), ARG_IN.value);
                request.arguments(list);
                result.insert_Value(list.item(0).value().extract_Value(), NodeHelper.type());
                break;
            case "poke": case "_set_level":
                takes(list, "n", primitive(TCKind.tk_long), ARG_IN.value);
                request.arguments(list);
                level.set(list.item(0).value().extract_long());
                result.type(primitive(TCKind.tk_void));
                break;
            case "_get_level":
                request.arguments(list);
                result.insert_long(level.get());
                break;
            case "itself":
                request.arguments(list);
                DynamicHelper.insert(result, DynamicHelper.unchecked_narrow(_this_object()));
                break;
            default: throw new org.omg.CORBA.BAD_OPERATION(request.operation());
        }
        request.set_result(result);
    }
}

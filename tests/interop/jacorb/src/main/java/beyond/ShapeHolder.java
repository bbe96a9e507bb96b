package beyond;

import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.Streamable;

/** JacORB's IDL compiler makes no holder for an abstract valuetype. */
public final class ShapeHolder implements Streamable {
    public Shape value;

    public ShapeHolder() {}
    public ShapeHolder(Shape initial) { value = initial; }
    public void _read(InputStream in) {
        value = (Shape) ((org.omg.CORBA_2_3.portable.InputStream) in).read_value("IDL:zorb.test/beyond/Shape:1.0");
    }
    public void _write(OutputStream out) { ((org.omg.CORBA_2_3.portable.OutputStream) out).write_value(value); }
    public org.omg.CORBA.TypeCode _type() { return type(); }

    /** The TypeCode of the valuetype, for which there is no helper either. */
    public static org.omg.CORBA.TypeCode type() {
        return org.omg.CORBA.ORB.init().create_value_tc("IDL:zorb.test/beyond/Shape:1.0", "Shape",
            org.omg.CORBA.VM_ABSTRACT.value, null, new org.omg.CORBA.ValueMember[0]);
    }
}

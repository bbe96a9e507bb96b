package peer;

import java.io.Serializable;
import java.rmi.Remote;
import java.rmi.RemoteException;
import javax.rmi.CORBA.Stub;
import javax.rmi.CORBA.Tie;
import javax.rmi.CORBA.UtilDelegate;
import javax.rmi.CORBA.ValueHandler;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;

/**
 * What JacORB asks of RMI where it writes a value whose type is not declared: the JDK's own classes went with Java 11. It needs no
 * more than that there is somebody to ask; values of classes that know how they are written do not depend on the answer.
 */
public final class Rmi implements UtilDelegate, ValueHandler {
    /** To be called before there is an ORB. */
    static void install() { System.setProperty("javax.rmi.CORBA.UtilClass", Rmi.class.getName()); }

    private static UnsupportedOperationException none(String what) {
        return new UnsupportedOperationException("there is no RMI: " + what);
    }

    public ValueHandler createValueHandler() { return this; }
    public String getRMIRepositoryID(Class<?> type) { return "RMI:" + type.getName() + ":0000000000000000"; }
    public String getCodebase(Class<?> type) { return null; }
    public Class<?> loadClass(String name, String codebase, ClassLoader loader) throws ClassNotFoundException {
        return Class.forName(name, true, loader == null ? Rmi.class.getClassLoader() : loader);
    }
    public boolean isCustomMarshaled(Class<?> type) { return false; }
    public org.omg.SendingContext.RunTime getRunTimeCodeBase() { return null; }
    public Serializable writeReplace(Serializable value) { return value; }

    public void writeValue(OutputStream out, Serializable value) { throw none("writeValue"); }
    public Serializable readValue(InputStream in, int offset, Class<?> type, String id, org.omg.SendingContext.RunTime sender) {
        throw none("readValue");
    }
    public RemoteException mapSystemException(SystemException exception) { throw none("mapSystemException"); }
    public void writeAny(OutputStream out, Object value) { throw none("writeAny"); }
    public Object readAny(InputStream in) { throw none("readAny"); }
    public void writeRemoteObject(OutputStream out, Object value) { throw none("writeRemoteObject"); }
    public void writeAbstractObject(OutputStream out, Object value) { throw none("writeAbstractObject"); }
    public void registerTarget(Tie tie, Remote target) { throw none("registerTarget"); }
    public void unexportObject(Remote target) { throw none("unexportObject"); }
    public Tie getTie(Remote target) { throw none("getTie"); }
    public boolean isLocal(Stub stub) { return false; }
    public RemoteException wrapException(Throwable thrown) { throw none("wrapException"); }
    public Object copyObject(Object value, org.omg.CORBA.ORB orb) { throw none("copyObject"); }
    public Object[] copyObjects(Object[] values, org.omg.CORBA.ORB orb) { throw none("copyObjects"); }
}

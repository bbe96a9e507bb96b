package peer;

/** The generated Holder classes have no common supertype, but all have a public field {@code value}. */
final class Holders {
    private Holders() {}

    static Object create(Class<?> holder, Object value) {
        try {
            Object made = holder.getDeclaredConstructor().newInstance();
            if (value != null) set(made, value);
            return made;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static Object get(Object holder) {
        try {
            return holder.getClass().getField("value").get(holder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void set(Object holder, Object value) {
        try {
            holder.getClass().getField("value").set(holder, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}

package peer;

/**
 * What the command line says.
 *
 * @param address where the server is, or null in the server itself
 * @param host where a server listens
 * @param port and at which port; 0: one that is free
 * @param queue octets of the sockets' queues; 0 leaves the system's
 */
record Settings(String address, String host, int port, int queue) {
    private static final String USAGE = "usage: peer serve [KEY=VALUE...] | peer drive ADDRESS [KEY=VALUE...]";

    /** Reads {@code serve [KEY=VALUE…]} or {@code drive ADDRESS [KEY=VALUE…]}. */
    static Settings read(String[] words) {
        boolean drive = words.length > 0 && words[0].equals("drive");
        if (!(drive ? words.length > 1 : words.length > 0 && words[0].equals("serve")))
            throw new IllegalArgumentException(USAGE);
        String address = drive ? words[1] : null, host = "127.0.0.1";
        int port = 0, queue = 0;
        for (int index = drive ? 2 : 1; index < words.length; index++) {
            String word = words[index];
            if (word.equals("transport=unix"))
                throw new IllegalArgumentException("transport=unix: JacORB has no transport over Unix sockets");
            if (word.matches("queue=[0-9]{1,9}")) queue = Integer.parseInt(word.substring("queue=".length()));
            else if (word.startsWith("host=") && !drive) host = word.substring("host=".length());
            else if (word.matches("port=[0-9]{1,5}") && !drive) port = Integer.parseInt(word.substring("port=".length()));
            else if (!word.equals("transport=tcp"))
                throw new IllegalArgumentException("cannot use " + word
                    + ": keys are transport=tcp, queue=OCTETS, and for serve host=ADDRESS, port=PORT");
        }
        return new Settings(address, host, port, queue);
    }
}

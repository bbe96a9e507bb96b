package peer;

/** The receiving end of a flood: counts buffers and remembers the first thing that was wrong. */
final class Receiver {
    private String expected = "";
    private int elements;
    private int buffers;
    private int count;
    private String fault = "";

    synchronized void expect(String type, int payload, int buffers) {
        expected = type;
        elements = Elements.count(type, payload);
        this.buffers = buffers;
        count = 0;
        fault = "";
    }

    synchronized void take(String type, Object buffer) {
        if (fault.isEmpty()) fault = faultOf(type, buffer);
        count++;
    }

    synchronized int received() {
        return count;
    }

    synchronized String fault() {
        return fault;
    }

    private String faultOf(String type, Object buffer) {
        String which = "buffer " + count;
        int length = Elements.length(buffer);
        if (!type.equals(expected)) return which + " is of " + type + ", not of " + expected;
        if (count >= buffers) return which + " is one too many";
        if (length != elements) return which + " has " + length + " elements, not " + elements;
        int first = count * Elements.STEP;
        for (int sample = 0; sample < 11; sample++) {
            int index = switch (sample) {
                case 8 -> 0;
                case 9 -> length / 2;
                case 10 -> length - 1;
                default -> (int) ((long) length * (2 * sample + 1) / 16);
            };
            if (!Elements.holds(buffer, index, first + index)) return which + " is wrong at element " + index;
        }
        return "";
    }
}

package peer;

import interop.*;
import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.CompletionStatus;

/** The small servants of every.idl: references to them are passed around, and the client lends some for callbacks. */
final class Servants {
    private Servants() {}

    static final class BaseServant extends BasePOA {
        private final int step;
        BaseServant(int step) { this.step = step; }
        public String name() { return "base"; }
        public int base_op(int a) { return a + step; }
    }

    static final class LeftServant extends LeftPOA {
        public String name() { return "left"; }
        public int base_op(int a) { return a + 1; }
        public int left_op(int a) { return a + 2; }
    }

    static final class RightServant extends RightPOA {
        private int value;
        public String name() { return "right"; }
        public int base_op(int a) { return a + 1; }
        public int right_op(int a) { return a + 3; }
        public int shared() { return value; }
        public void shared(int v) { value = v; }
    }

    static final class DiamondServant extends DiamondPOA {
        private int value;
        public String name() { return "diamond"; }
        public int base_op(int a) { return a + 1; }
        public int left_op(int a) { return a + 2; }
        public int right_op(int a) { return a + 3; }
        public int diamond_op(int a) { return a + 4; }
        public int shared() { return value; }
        public void shared(int v) { value = v; }
    }

    static final class PeerServant extends PeerPOA {
        public int bounce(Peer other, int depth) {
            return depth < 1 ? 0 : 1 + other.bounce(_this(), depth - 1);
        }
    }

    static final class ListenerServant extends ListenerPOA {
        private final List<Integer> heard = new ArrayList<>();
        public synchronized void told(int n) { heard.add(n); }
        public String asked(String question) throws Refused {
            if (question.equals("refuse")) throw new Refused("asked to", 13);
            if (question.equals("system")) throw new org.omg.CORBA.NO_PERMISSION(13, CompletionStatus.COMPLETED_YES);
            return question + question;
        }
        synchronized List<Integer> all() { return new ArrayList<>(heard); }
    }

    static final class GuardedServant extends GuardedPOA {
        private int value;
        public double strict() throws Empty { throw new Empty(); }
        public int watched() throws Empty {
            if (value == 0) throw new Empty();
            return value;
        }
        public void watched(int v) throws Refused {
            if (v < 0) throw new Refused("negative", v);
            value = v;
        }
    }
}

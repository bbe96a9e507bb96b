package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** The command loop of {@code drive}. */
final class Commands {
    private final Driver driver;
    private Call prepared;
    private long number;

    Commands(Driver driver) {
        this.driver = driver;
    }

    void run() throws IOException {
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null;) {
            String answer;
            try {
                answer = answer(List.of(line.trim().split("\\s+")).iterator());
            } catch (Exception failure) {
                answer = "error " + Main.describe(failure);
            }
            System.out.println(answer);
        }
    }

    private String answer(Iterator<String> words) throws Exception {
        String command = word(words, "a command");
        switch (command) {
            case "call":
                prepared = null;
                prepared = driver.call(word(words, "KIND"), count(words, "SIZE"));
                return "ok";
            case "burst":
                return burst(count(words, "N"));
            case "flood": {
                String type = word(words, "TYPE");
                int payload = count(words, "OCTETS");
                Elements.count(type, payload);
                Driver.Flooded flooded = driver.flood(type, payload, count(words, "COUNT"));
                return "flood " + flooded.executed() + " " + flooded.sent();
            }
            case "callers": {
                int callers = count(words, "N"), milliseconds = count(words, "MILLISECONDS");
                return callers(callers, milliseconds, word(words, "KIND"), count(words, "SIZE"));
            }
            case "collocated":
                return "ns " + driver.collocated(count(words, "N"));
            case "connect":
                return "ns " + driver.connect();
            case "idle":
                driver.idle(count(words, "N"));
                return "ok";
            default:
                throw new Failure("no command `" + command + "`: there are call burst flood callers collocated connect idle");
        }
    }

    private static String word(Iterator<String> words, String name) {
        if (!words.hasNext()) throw new Failure(name + " is missing");
        return words.next();
    }

    private static int count(Iterator<String> words, String name) {
        String word = word(words, name);
        if (!word.matches("[0-9]{1,9}")) throw new Failure(name + " cannot be " + word);
        return Integer.parseInt(word);
    }

    private String burst(int calls) {
        if (prepared == null) throw new Failure("burst comes after call");
        StringBuilder times = new StringBuilder("ns");
        for (int done = 0; done < calls; done++) {
            prepared.change(++number);
            long began = System.nanoTime();
            prepared.make();
            long ended = System.nanoTime();
            prepared.verify();
            times.append(' ').append(ended - began);
        }
        return times.toString();
    }

    private String callers(int callers, int milliseconds, String kind, int size) throws Exception {
        if (callers == 0) throw new Failure("N cannot be 0");
        AtomicLong began = new AtomicLong(), completed = new AtomicLong();
        AtomicReference<Exception> fault = new AtomicReference<>();
        // The clock starts when all are there; they share the connection, as JacORB has it.
        CyclicBarrier there = new CyclicBarrier(callers, () -> began.set(System.nanoTime()));
        Call[] calls = new Call[callers];
        for (int caller = 0; caller < callers; caller++) calls[caller] = driver.call(kind, size);
        Thread[] threads = new Thread[callers];
        for (int caller = 0; caller < callers; caller++) {
            Call call = calls[caller];
            threads[caller] = new Thread(() -> {
                long mine = 0;
                try {
                    there.await();
                    while (System.nanoTime() - began.get() < milliseconds * 1_000_000L) {
                        call.change(mine + 1);
                        call.make();
                        call.verify();
                        mine++;
                    }
                } catch (Exception failure) {
                    fault.set(failure);
                }
                completed.addAndGet(mine);
            });
            threads[caller].start();
        }
        for (Thread thread : threads) thread.join();
        long elapsed = System.nanoTime() - began.get();
        if (fault.get() != null) throw fault.get();
        return "callers " + completed + " " + elapsed;
    }
}

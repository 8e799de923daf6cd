package litepress;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Options of a database. Each method returns the options. */
public final class Options {
    private final List<String> pairs = new ArrayList<>();
    private Predicate<Progress> progress;

    /** Sets an option by its name in the program: set("sync", "off"), set("truncate", "true"). */
    public Options set(String name, String value) {
        pairs.add(name);
        pairs.add(value);
        return this;
    }

    /** Replaces an existing database when the new one is complete. */
    public Options overwrite() {
        return set("overwrite", "true");
    }

    /** Decides about rows whose key exists: "abort", "ignore", "replace" or "update". */
    public Options onConflict(String choice) {
        return set("on-conflict", choice);
    }

    /** Names the columns of the unique key that decides which row is updated. */
    public Options key(String... columns) {
        return set("key", String.join(",", columns));
    }

    /** Names the columns that an update changes. */
    public Options updateColumns(String... columns) {
        return set("update-columns", String.join(",", columns));
    }

    /** Sets the bytes of a page: 512 to 65536. */
    public Options pageSize(int bytes) {
        return set("page-size", String.valueOf(bytes));
    }

    /** Sets the number of threads that build pages. */
    public Options threads(int number) {
        return set("threads", String.valueOf(number));
    }

    /** Limits the memory for sorts and pages in flight: "512MiB". */
    public Options memory(String size) {
        return set("memory", size);
    }

    /**
     * Calls a function at most ten times a second, on the thread that uses the writer. {@code false} stops the writer. The function may not use the
     * writer itself.
     */
    public Options onProgress(Predicate<Progress> progress) {
        this.progress = progress;
        return this;
    }

    /** Returns whether rows update others. The last choice counts. */
    boolean isUpdating() {
        boolean isUpdating = false;
        for (int at = 0; at + 1 < pairs.size(); at += 2) {
            if (pairs.get(at).equals("on-conflict")) {
                isUpdating = "update".equals(pairs.get(at + 1));
            }
        }
        return isUpdating;
    }

    byte[][] pairs() {
        return Native.all(pairs.toArray(String[]::new));
    }

    Watch watch() {
        return new Watch(progress);
    }
}

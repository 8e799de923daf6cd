package litepress;

import java.util.function.Predicate;

/** Passes the progress on to the program. The library calls it. */
final class Watch {
    private final Predicate<Progress> progress;

    Watch(Predicate<Progress> progress) {
        this.progress = progress;
    }

    /** Returns whether to go on. An interrupted thread stops. */
    boolean look(long rows, long bytes, byte[] phase) {
        if (Thread.currentThread().isInterrupted()) {
            return false;
        }
        return progress == null || progress.test(new Progress(rows, bytes, Native.text(phase)));
    }
}

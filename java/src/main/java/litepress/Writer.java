package litepress;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/** A database whose rows come while the program runs. It is for one thread at a time; different writers are independent. */
public final class Writer implements AutoCloseable {
    final boolean isUpdating;
    private final Map<List<String>, Table> tables = new LinkedHashMap<>();
    private final Map<String, Turn> turns = new HashMap<>();
    private long handle;
    /** The library works: it calls the progress function, which may not free the writer. */
    private volatile boolean isBusy;
    /** The error after which rows may be missing. */
    private Throwable failure;

    /** What all tables of a name share: the one whose rows wait, and the layout of the first row. */
    static final class Turn {
        Table table;
        Layout updated;
    }

    Writer(boolean exists, Path path, String schema, Options options) {
        isUpdating = options.isUpdating();
        handle = Native.begin(exists, Native.utf8(path.toString()), Native.utf8(schema), options.pairs(), options.watch());
    }

    /**
     * Returns a table. Rows of values have one for each of these columns; without columns, for all that are not computed. Maps have values for some
     * of them. With the option truncate the table is emptied, even if no rows come.
     */
    public Table table(String name, String... columns) {
        List<String> key = new ArrayList<>(List.of(columns));
        key.add(0, name);
        Table table = tables.get(key);
        if (table == null) {
            table = new Table(this, name, columns.length == 0 ? null : List.of(columns));
            tables.put(key, table);
        }
        return table;
    }

    /** Completes the database, waits for the disk and gives the file its name. The writer is done, whatever the result. */
    public Summary finish() {
        handle();
        try {
            tables.values().forEach(Table::flush);
        } catch (Throwable error) {
            close();
            throw error;
        }
        long taken = handle();
        handle = 0;
        isBusy = true;
        long[] figures = new long[3];
        try {
            Native.finish(taken, figures);
        } finally {
            isBusy = false;
        }
        return new Summary(figures[0], figures[1], figures[2]);
    }

    /** Discards the rows, unless the database is finished: nothing is left of a new one. The progress function may not call it. */
    @Override
    public void close() {
        refuseBusy();
        if (handle != 0) {
            Native.abort(handle);
            handle = 0;
        }
    }

    /** Returns the writer of the library. */
    long handle() {
        refuseBusy();
        if (handle == 0) {
            throw LitepressException.usage("the database is finished or was discarded");
        }
        if (failure != null) {
            throw LitepressException.usage("the database was given up: " + failure.getMessage()).because(failure);
        }
        return handle;
    }

    private void refuseBusy() {
        if (isBusy) {
            throw LitepressException.usage("the writer is in use by the library: a progress function stops it by returning false");
        }
    }

    /** Calls the library. */
    <T> T call(LongFunction<T> function) {
        long given = handle();
        isBusy = true;
        try {
            return function.apply(given);
        } finally {
            isBusy = false;
        }
    }

    /** Gives rows to the library. After an error some of them may be missing, so the writer takes no others. */
    void give(LongConsumer function) {
        long given = handle();
        isBusy = true;
        try {
            function.accept(given);
        } catch (Throwable error) {
            failure = error;
            throw error;
        } finally {
            isBusy = false;
        }
    }

    /** Returns what all tables of a name share. */
    Turn turn(String name) {
        return turns.computeIfAbsent(Layout.lower(name), unused -> new Turn());
    }
}

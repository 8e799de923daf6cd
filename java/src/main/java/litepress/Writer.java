package litepress;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A database whose rows come while the program runs. It is for one thread at a time; different writers are independent. */
public final class Writer implements AutoCloseable {
    private final Map<List<String>, Table> tables = new LinkedHashMap<>();
    private long handle;

    Writer(boolean exists, Path path, String schema, Options options) {
        handle = Native.begin(exists, Native.utf8(path.toString()), Native.utf8(schema), options.pairs(), options.watch());
    }

    /**
     * Returns a table. Its rows have values for these columns; without columns, for the components or properties of its first row if that is
     * a record, a bean or a map, and for all columns otherwise.
     */
    public Table table(String name, String... columns) {
        List<String> key = new java.util.ArrayList<>(List.of(columns));
        key.add(0, name);
        return tables.computeIfAbsent(key, unused -> new Table(this, name, columns.length == 0 ? null : List.of(columns)));
    }

    /** Completes the database, waits for the disk and gives the file its name. The writer is done, whatever the result. */
    public Summary finish() {
        handle();
        tables.values().forEach(Table::flush);
        long taken = handle;
        handle = 0;
        long[] figures = new long[3];
        Native.finish(taken, figures);
        return new Summary(figures[0], figures[1], figures[2]);
    }

    /** Discards the rows, unless the database is finished: nothing is left of a new one. */
    @Override
    public void close() {
        if (handle != 0) {
            Native.abort(handle);
            handle = 0;
        }
    }

    /** Returns the writer of the library. */
    long handle() {
        if (handle == 0) {
            throw LitepressException.usage("the database is finished or was discarded");
        }
        return handle;
    }
}

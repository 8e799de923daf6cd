package litepress;

import java.nio.file.Path;

/**
 * Writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row.
 *
 * <pre>{@code
 * try (Writer db = Litepress.create(Path.of("metrics.db"), "CREATE TABLE metrics (name TEXT, value REAL)")) {
 *     db.table("metrics").insert("load", 0.5);
 *     db.finish();
 * }
 * }</pre>
 */
public final class Litepress {
    private Litepress() {}

    /** Begins a new database. The schema is the text of its CREATE statements. */
    public static Writer create(Path path, String schema) {
        return create(path, schema, new Options());
    }

    /** Begins a new database with options. */
    public static Writer create(Path path, String schema, Options options) {
        return new Writer(false, path, schema, options);
    }

    /** Begins to add rows to a database that exists: all of them in one transaction, by {@link Writer#finish}. */
    public static Writer open(Path path) {
        return open(path, null, new Options());
    }

    /** Begins to add rows to a database that exists. The schema makes tables that it lacks, or all of it if there is no file; or null. */
    public static Writer open(Path path, String schema, Options options) {
        return new Writer(true, path, schema, options);
    }

    /** Returns the version of the library. */
    public static String version() {
        return Native.text(Native.version());
    }
}

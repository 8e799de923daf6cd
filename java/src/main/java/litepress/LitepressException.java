package litepress;

/** An error: what is wrong, where, and what to do about it. Parts that do not apply are null. */
public final class LitepressException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Kinds of errors. */
    public enum Kind {
        /** The call itself is wrong: an argument, an option, a combination of them. */
        USAGE,
        /** SQLite refuses the schema, or it does more than define. */
        SCHEMA,
        /** litepress does not support this part of the schema. */
        UNSUPPORTED,
        /** A row breaks a rule of its table. */
        CONSTRAINT,
        /** A value has no form in SQLite. */
        DATA,
        /** A limit of the file format is exceeded. */
        LIMIT,
        /** The target exists, and replacing it was not allowed. */
        EXISTS,
        /** The target cannot be written. */
        TARGET,
        /** Not enough room on the disk. */
        NO_SPACE,
        /** The operating system failed a call. */
        IO,
        /** A database file is damaged. */
        CORRUPT,
        /** The progress asked to stop, or the thread was interrupted. */
        INTERRUPTED,
        /** A mistake of litepress itself. */
        INTERNAL
    }

    private final Kind kind;
    private final String advice;
    private final String file;
    private final String table;
    private final String column;
    private final String value;
    private final long record;

    private LitepressException(Kind kind, String message, String advice, String file, String table, String column, String value, long record) {
        super(advice == null ? message : message + "; " + advice);
        this.kind = kind;
        this.advice = advice;
        this.file = file;
        this.table = table;
        this.column = column;
        this.value = value;
        this.record = record;
    }

    /** Makes an error of the library. */
    static LitepressException of(int status, byte[] message, byte[] advice, byte[] file, byte[] table, byte[] column, byte[] value, long record) {
        Kind kind = status >= 1 && status <= 12 ? Kind.values()[status - 1] : Kind.INTERNAL;
        return new LitepressException(kind, Native.text(message), Native.text(advice), Native.text(file), Native.text(table), Native.text(column),
                Native.text(value), record);
    }

    static LitepressException usage(String message) {
        return new LitepressException(Kind.USAGE, message, null, null, null, null, null, 0);
    }

    /** Makes an error of a row, or of one of its values if a column is named. */
    static LitepressException row(String table, long record, String column, Object value, String why, String advice) {
        String shown = shown(value);
        shown = shown == null || shown.length() <= 60 ? shown : shown.substring(0, 60) + "...";
        String message = "table " + table + ": record " + record + (column == null ? "" : ", column " + column) + ": " + why
                + (shown == null ? "" : " (value " + shown + ")");
        return new LitepressException(Kind.DATA, message, advice, null, table, column, shown, record);
    }

    /** Returns a value as text, or the name of its class if it raises an error. */
    private static String shown(Object value) {
        try {
            return value == null ? null : String.valueOf(value);
        } catch (RuntimeException error) {
            return value.getClass().getName();
        }
    }

    /** Adds the cause. */
    LitepressException because(Throwable cause) {
        initCause(cause);
        return this;
    }

    /** Returns the kind. */
    public Kind kind() {
        return kind;
    }

    /** Returns what to do about it. */
    public String advice() {
        return advice;
    }

    /** Returns the file. */
    public String file() {
        return file;
    }

    /** Returns the table. */
    public String table() {
        return table;
    }

    /** Returns the column. */
    public String column() {
        return column;
    }

    /** Returns the value. */
    public String value() {
        return value;
    }

    /** Returns the number of the record in its table, from 1, or 0. */
    public long record() {
        return record;
    }
}

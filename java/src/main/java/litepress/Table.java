package litepress;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A table of a {@link Writer}, which takes rows. */
public final class Table {
    private final Writer writer;
    private final String name;
    /** The columns of the rows: named, or of the first row, or all when the table is asked for. */
    private List<String> columns;
    private long number = -1;
    private Batch batch;
    private long given;
    private Class<?> type;
    private Fields fields;
    /** For each column, the position of its field. */
    private int[] positions;

    Table(Writer writer, String name, List<String> columns) {
        this.writer = writer;
        this.name = name;
        this.columns = columns;
    }

    /**
     * Inserts a row: a value for every column, or a single record, bean or map. It is handed over with some thousand others; an error of it may
     * come with a later call.
     */
    public Table insert(Object... row) {
        if (row != null && row.length == 1 && isRow(row[0])) {
            insertRow(row[0]);
        } else {
            insertValues(row == null ? new Object[] {null} : row);
        }
        return this;
    }

    /** Inserts all rows: arrays, lists, records, beans or maps. */
    public Table insertAll(Iterable<?> rows) {
        return insertAll(rows.iterator());
    }

    /** Inserts all rows of a stream, in its order, and closes it. */
    public Table insertAll(Stream<?> rows) {
        try (rows) {
            return insertAll(rows.iterator());
        }
    }

    /** Inserts all rows of an iterator. */
    public Table insertAll(Iterator<?> rows) {
        while (rows.hasNext()) {
            insertRow(rows.next());
        }
        return this;
    }

    /** Appends rows column by column: the fastest way. There is an array for each column, all of one length. */
    public Table append(Values... all) {
        if (all.length == 0) {
            throw LitepressException.usage("table " + name + ": no columns were given");
        }
        flush();
        prepare();
        int rows = all[0].rows;
        int[] types = new int[all.length];
        Object[] values = new Object[all.length];
        byte[][] bytes = new byte[all.length][];
        byte[][] valid = new byte[all.length][];
        for (int at = 0; at < all.length; at++) {
            if (all[at].rows != rows) {
                throw LitepressException.usage("table " + name + ": column " + (at + 1) + " has " + all[at].rows + " rows, column 1 has " + rows);
            }
            types[at] = all[at].type;
            values[at] = all[at].values;
            bytes[at] = all[at].bytes;
            valid[at] = all[at].valid;
        }
        Native.append(writer.handle(), number, types, values, bytes, valid, rows);
        given += rows;
        return this;
    }

    /** Hands the waiting rows over. {@link Writer#finish} does so for all tables. */
    public void flush() {
        if (batch == null || batch.rows == 0) {
            return;
        }
        long handle = writer.handle();
        given += batch.rows;
        try {
            Native.insert(handle, number, batch.values, batch.bytes, batch.length, batch.width, batch.rows);
        } finally {
            batch.clear();
        }
    }

    private static boolean isRow(Object value) {
        if (value == null) {
            return false;
        }
        Class<?> type = value.getClass();
        return type.isRecord() || value instanceof Map || value instanceof List || !(type.isArray() || type.isEnum() || type.getName().startsWith("java."));
    }

    private void insertRow(Object row) {
        if (row instanceof Object[] values) {
            insertValues(values);
        } else if (row instanceof List<?> values) {
            insertValues(values.toArray());
        } else if (row instanceof Map<?, ?> map) {
            insertMap(map);
        } else if (isRow(row)) {
            insertFields(row);
        } else {
            insertValues(new Object[] {row});
        }
    }

    /** Asks the library for the table when the columns of its first row are known. */
    private void prepare() {
        long handle = writer.handle();
        if (number >= 0) {
            return;
        }
        number = Native.table(handle, Native.utf8(name), columns == null ? null : Native.all(columns.toArray(String[]::new)));
        columns = new ArrayList<>();
        for (byte[] column; (column = Native.column(handle, number, columns.size())) != null;) {
            columns.add(Native.text(column));
        }
        batch = new Batch(columns.size());
    }

    private void insertValues(Object[] row) {
        prepare();
        if (row.length != batch.width) {
            throw LitepressException.row(name, record(), null, null, "the row has " + row.length + " values for " + batch.width + " columns", null);
        }
        for (int at = 0; at < row.length; at++) {
            add(at, row[at]);
        }
        added();
    }

    private void insertMap(Map<?, ?> row) {
        if (columns == null && number < 0) {
            columns = new ArrayList<>();
            row.keySet().forEach(key -> columns.add(String.valueOf(key)));
        }
        prepare();
        int known = 0;
        for (int at = 0; at < batch.width; at++) {
            known += row.containsKey(columns.get(at)) ? 1 : 0;
            add(at, row.get(columns.get(at)));
        }
        if (known < row.size()) {
            batch.undo();
            List<Object> unknown = new ArrayList<>(row.keySet());
            unknown.removeAll(columns);
            String advice = "name all columns: db.table(\"" + name + "\", \"" + unknown.get(0) + "\", ...)";
            throw LitepressException.row(name, record(), null, null, "no column was named " + unknown, advice);
        }
        added();
    }

    private void insertFields(Object row) {
        if (row.getClass() != type) {
            fit(row.getClass());
        }
        writer.handle();
        for (int at = 0; at < positions.length; at++) {
            add(at, fields.value(positions[at], row));
        }
        added();
    }

    /** Finds the fields of a class for the columns. The first record or bean decides the columns if none were named. */
    private void fit(Class<?> newType) {
        Fields found = new Fields(newType);
        if (columns == null && number < 0) {
            columns = found.columns;
        }
        prepare();
        int[] fitting = columns.stream().mapToInt(found::position).toArray();
        int missing = Arrays.stream(fitting).boxed().toList().indexOf(-1);
        if (missing >= 0) {
            String message = "table " + name + ": " + newType.getName() + " has no field for column " + columns.get(missing);
            throw LitepressException.usage(message + "; annotate one with @Column(\"" + columns.get(missing) + "\")");
        }
        type = newType;
        fields = found;
        positions = fitting;
    }

    private void add(int at, Object value) {
        try {
            batch.add(value);
        } catch (Batch.NoForm error) {
            batch.undo();
            throw LitepressException.row(name, record(), columns.get(at), value, error.getMessage(), "convert it, for example to a String or a byte[]");
        }
    }

    private void added() {
        batch.rows++;
        if (batch.isFull()) {
            flush();
        }
    }

    private long record() {
        return given + (batch == null ? 0 : batch.rows) + 1;
    }
}

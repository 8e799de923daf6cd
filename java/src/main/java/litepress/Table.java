package litepress;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A table of a {@link Writer}, which takes rows.
 *
 * <p>The library takes rows by layouts. Values have the layout of the columns that were named, or of the whole table. A map, record or bean has
 * a layout of its keys or fields: columns that it lacks get their DEFAULT, or stay as they are in an update. Rows are handed over in the order of
 * the calls, also those of another {@code Table} of the same name.
 */
public final class Table {
    private final Writer writer;
    private final String name;
    /** The columns that the program has named, or null. */
    private final List<String> named;
    /** The layout of values. */
    private final Layout whole;
    /** Layouts of maps, records and beans by their sorted columns. */
    private final Map<List<String>, Layout> layouts = new HashMap<>();
    private final Map<Class<?>, Fit> fits = new HashMap<>();
    /** Shared by all tables of this name. */
    private final Writer.Turn turn;
    private final Batch batch = new Batch();
    /** The layout of the rows that wait. */
    private Layout layout;
    /** The layout of the last map. */
    private Layout last;
    private Fit fit;
    private long given;
    private boolean hasValues;

    /** The fields of a class, their layout, and the position of the field for each column. */
    private record Fit(Class<?> type, Fields fields, Layout layout, int[] positions) {}

    /** Asks the library for the table: the option truncate is for this one, even if no rows come. */
    Table(Writer writer, String name, List<String> named) {
        this.writer = writer;
        this.name = name;
        this.named = named;
        this.whole = layoutFor(named);
        this.turn = writer.turn(name);
    }

    /**
     * Inserts a row: a value for every column, or a single record, bean or map. A value without a form in SQLite is refused at once, and leaves
     * nothing of its row. The row is handed over with some thousand others: an error of its table may come with a later call, and ends the writer.
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
        writer.handle();
        refuseValuesAfterRows();
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
        use(whole);
        flush();
        writer.call(handle -> {
            Native.append(handle, whole.number, types, values, bytes, valid, rows);
            return null;
        });
        given += rows;
        used(whole);
        hasValues = true;
        return this;
    }

    /** Hands the waiting rows over. {@link Writer#finish} does so for all tables. */
    public void flush() {
        if (batch.rows == 0) {
            return;
        }
        // A progress function that calls this while the library works is refused, and the rows stay.
        writer.handle();
        try {
            writer.give(handle -> Native.insert(handle, layout.number, batch.values, batch.bytes, batch.length, batch.width, batch.rows));
        } finally {
            given += batch.rows;
            batch.clear();
        }
    }

    private static boolean isRow(Object value) {
        if (value == null || value instanceof Enum) {
            return false;
        }
        Class<?> type = value.getClass();
        return type.isRecord() || value instanceof Map || value instanceof List || !(type.isArray() || type.getName().startsWith("java."));
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

    private void insertValues(Object[] row) {
        writer.handle();
        if (row.length != whole.columns.size()) {
            throw wrong("the row has " + row.length + " values for " + whole.columns.size() + " columns", null);
        }
        refuseValuesAfterRows();
        add(whole, row);
        hasValues = true;
    }

    /** Refuses values after maps, records or beans with an order of their own: the program may mean that order. */
    private void refuseValuesAfterRows() {
        if (hasValues || named != null) {
            return;
        }
        for (Layout other : layouts.values()) {
            if (other.isUsed && !other.isSame(whole)) {
                String advice = "name the columns: db.table(\"" + name + "\", \"" + String.join("\", \"", whole.columns) + "\")";
                throw wrong("values after rows with the columns " + String.join(", ", other.columns), advice);
            }
        }
    }

    /** Inserts a map. All of it is read before: the program's map may insert rows of its own. */
    private void insertMap(Map<?, ?> row) {
        writer.handle();
        List<String> names = new ArrayList<>(row.size());
        List<Object> values = new ArrayList<>(row.size());
        for (Map.Entry<?, ?> entry : row.entrySet()) {
            names.add(String.valueOf(entry.getKey()));
            values.add(entry.getValue());
        }
        if (last == null || !names.equals(last.columns)) {
            last = layoutOf(names);
        }
        add(last, last.ordered(names, values));
    }

    /** Returns the layout of a map's keys. */
    private Layout layoutOf(List<String> names) {
        if (names.isEmpty()) {
            throw wrong("the map has no keys", "give a value for one column; the others get their DEFAULT");
        }
        List<String> sorted = Layout.sorted(names);
        Layout known = layouts.get(sorted);
        if (known != null) {
            return known;
        }
        List<String> unknown = names.stream().filter(column -> whole.position(column) < 0).toList();
        if (named != null && !unknown.isEmpty()) {
            throw wrong("no column was named " + unknown, "name all columns: db.table(\"" + name + "\", \"" + unknown.get(0) + "\", ...)");
        }
        Layout made = layoutFor(names);
        layouts.put(sorted, made);
        return made;
    }

    /** Inserts a record or a bean. Its getters are called before: one may insert rows, or throw. */
    private void insertFields(Object row) {
        writer.handle();
        if (fit == null || row.getClass() != fit.type) {
            fit = fits.computeIfAbsent(row.getClass(), this::fitOf);
        }
        Fit own = fit;
        Object[] values = new Object[own.positions.length];
        for (int at = 0; at < values.length; at++) {
            values[at] = own.fields.value(own.positions[at], row);
        }
        add(own.layout, values);
    }

    /** Finds the fields of a class for the columns that were named, or a layout for all of its fields. */
    private Fit fitOf(Class<?> type) {
        Fields fields = new Fields(type);
        Layout own = named == null ? layoutOf(fields.columns) : whole;
        int[] positions = own.columns.stream().mapToInt(fields::position).toArray();
        for (int at = 0; at < positions.length; at++) {
            if (positions[at] < 0) {
                String column = own.columns.get(at);
                String message = "table " + name + ": " + type.getName() + " has no field for column " + column;
                throw LitepressException.usage(message + "; annotate one with @Column(\"" + column + "\")");
            }
        }
        return new Fit(type, fields, own, positions);
    }

    /** Asks the library for the table with these columns, or with all of them. */
    private Layout layoutFor(List<String> given) {
        byte[][] names = given == null ? null : Native.all(given.toArray(String[]::new));
        return writer.call(handle -> {
            long number = Native.table(handle, Native.utf8(name), names);
            List<String> columns = new ArrayList<>();
            for (byte[] column; (column = Native.column(handle, number, columns.size())) != null;) {
                columns.add(Native.text(column));
            }
            return new Layout(number, columns);
        });
    }

    /** Adds a row: all of its values, or none if one of them is refused. */
    private void add(Layout own, Object[] row) {
        use(own);
        int at = 0;
        try {
            for (; at < row.length; at++) {
                batch.add(row[at]);
            }
        } catch (RuntimeException error) {
            batch.undo();
            String why = error instanceof Batch.NoForm ? error.getMessage() : "the value cannot be read: " + error;
            String advice = "convert it, for example to a String or a byte[]";
            LitepressException told = LitepressException.row(name, record(), own.columns.get(at), row[at], why, advice);
            throw error instanceof Batch.NoForm ? told : told.because(error);
        } catch (Throwable error) {
            batch.undo();
            throw error;
        }
        batch.end();
        used(own);
        if (batch.isFull()) {
            flush();
        }
    }

    /** Readies the batch for a row. Rows that may not be behind it are handed over. */
    private void use(Layout own) {
        if (turn.table != this) {
            if (turn.table != null) {
                turn.table.flush();
            }
            turn.table = this;
        }
        if (layout != own) {
            flush();
            refuseOtherUpdate(own);
            layout = own;
            batch.begin(own.columns.size());
        }
    }

    /** Refuses an update of other columns than those of the rows before: the library updates the same ones in all rows of a writer. */
    private void refuseOtherUpdate(Layout own) {
        if (writer.isUpdating && turn.updated != null && !turn.updated.sorted.equals(own.sorted)) {
            throw wrong("an update of " + own + " after one of " + turn.updated, "give these rows to a writer of their own, or give all columns");
        }
    }

    private void used(Layout own) {
        if (!own.isUsed) {
            own.isUsed = true;
            turn.updated = turn.updated == null ? own : turn.updated;
        }
    }

    private LitepressException wrong(String why, String advice) {
        return LitepressException.row(name, record(), null, null, why, advice);
    }

    private long record() {
        return given + batch.rows + 1;
    }
}

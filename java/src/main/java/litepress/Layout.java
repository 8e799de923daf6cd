package litepress;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A number of the library for columns of a table, and the places of the columns. SQLite compares names without case. */
final class Layout {
    final long number;
    final List<String> columns;
    /** The columns in alphabetical order. */
    final List<String> sorted;
    private final Map<String, Integer> positions = new HashMap<>();
    /** Whether rows of it were added. */
    boolean isUsed;

    Layout(long number, List<String> columns) {
        this.number = number;
        this.columns = columns;
        this.sorted = sorted(columns);
        for (String column : columns) {
            positions.put(lower(column), positions.size());
        }
    }

    static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    static List<String> sorted(List<String> columns) {
        return columns.stream().map(Layout::lower).sorted().toList();
    }

    /** Returns the position of a column, or -1. */
    int position(String column) {
        return positions.getOrDefault(lower(column), -1);
    }

    /** Returns whether another layout has the same columns in the same order. */
    boolean isSame(Layout other) {
        return columns.stream().map(Layout::lower).toList().equals(other.columns.stream().map(Layout::lower).toList());
    }

    /** Returns values in the order of the columns. REQUIRES: the names are those of the columns. */
    Object[] ordered(List<String> names, List<Object> values) {
        if (names.equals(columns)) {
            return values.toArray();
        }
        Object[] ordered = new Object[columns.size()];
        for (int at = 0; at < ordered.length; at++) {
            ordered[position(names.get(at))] = values.get(at);
        }
        return ordered;
    }

    @Override
    public String toString() {
        return String.join(", ", sorted);
    }
}

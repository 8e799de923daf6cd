package litepress;

import java.nio.charset.StandardCharsets;

/** A column of rows that are appended at once: {@link Table#append}. */
public final class Values {
    final int type;
    final int rows;
    /** long[], double[], or the ends of texts or blobs in {@link #bytes}. */
    final Object values;
    final byte[] bytes;
    final byte[] valid;

    private Values(int type, int rows, Object values, byte[] bytes, byte[] valid) {
        this.type = type;
        this.rows = rows;
        this.values = values;
        this.bytes = bytes;
        this.valid = valid;
    }

    /** Returns a column of integers. */
    public static Values of(long... integers) {
        return new Values(Batch.INTEGER, integers.length, integers, null, null);
    }

    /** Returns a column of numbers. */
    public static Values of(double... numbers) {
        return new Values(Batch.REAL, numbers.length, numbers, null, null);
    }

    /** Returns a column of texts. null is NULL. */
    public static Values of(String... texts) {
        byte[][] encoded = new byte[texts.length][];
        for (int row = 0; row < texts.length; row++) {
            encoded[row] = texts[row] == null ? null : texts[row].getBytes(StandardCharsets.UTF_8);
            if (encoded[row] != null && !new String(encoded[row], StandardCharsets.UTF_8).equals(texts[row])) {
                throw LitepressException.usage("text " + (row + 1) + " of the column has half of a surrogate pair");
            }
        }
        return joined(Batch.TEXT, encoded);
    }

    /** Returns a column of blobs. null is NULL. */
    public static Values of(byte[]... blobs) {
        return joined(Batch.BLOB, blobs);
    }

    /** Returns the column with NULL in all rows for which {@code valid} is false. */
    public Values valid(boolean... valid) {
        if (valid.length != rows) {
            throw LitepressException.usage("valid has " + valid.length + " rows, the column has " + rows);
        }
        byte[] bits = bits(valid);
        for (int at = 0; this.valid != null && at < bits.length; at++) {
            bits[at] &= this.valid[at];
        }
        return new Values(type, rows, values, bytes, bits);
    }

    private static Values joined(int type, byte[][] all) {
        long size = 0;
        boolean[] valid = new boolean[all.length];
        int[] ends = new int[all.length];
        for (int row = 0; row < all.length; row++) {
            valid[row] = all[row] != null;
            size += valid[row] ? all[row].length : 0;
            if (size > Integer.MAX_VALUE - 16) {
                throw LitepressException.usage("a column of more than 2 GiB: append fewer rows at a time");
            }
            ends[row] = (int) size;
        }
        byte[] bytes = new byte[(int) size];
        for (int row = 0; row < all.length; row++) {
            if (valid[row]) {
                System.arraycopy(all[row], 0, bytes, ends[row] - all[row].length, all[row].length);
            }
        }
        return new Values(type, all.length, ends, bytes, bits(valid));
    }

    /** Returns a bit for each row, the lowest of each byte first. */
    private static byte[] bits(boolean[] valid) {
        byte[] bits = new byte[(valid.length + 7) / 8];
        for (int row = 0; row < valid.length; row++) {
            bits[row / 8] |= (byte) (valid[row] ? 1 << row % 8 : 0);
        }
        return bits;
    }
}

package litepress;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.util.Arrays;
import java.util.Date;
import java.util.Optional;
import java.util.UUID;

/** Rows, one after another: three numbers for each value, and the bytes of texts and blobs. */
final class Batch {
    static final int INTEGER = 1;
    static final int REAL = 2;
    static final int TEXT = 3;
    static final int BLOB = 4;
    static final int NULL = 5;

    private static final int ROWS = 4096;
    private static final int BYTES = 1 << 20;
    private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss");
    private static final Instant YEAR_0 = Instant.parse("0000-01-01T00:00:00Z");
    private static final Instant YEAR_10000 = Instant.parse("+10000-01-01T00:00:00Z");
    private static final String YEARS = "the year is not 0 to 9999";
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

    int width;
    long[] values = {};
    byte[] bytes = new byte[1 << 16];
    int length;
    int rows;
    private int at;
    /** The length without the row that is not complete. */
    private int complete;

    /** A value that SQLite has no form for. */
    static final class NoForm extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoForm(String message) {
            super(message, null, false, false);
        }
    }

    /** Begins rows with this number of values. REQUIRES: no rows wait. */
    void begin(int width) {
        this.width = width;
        // Maps with other keys may come by turns: the array stays.
        if (values.length < 3 * width * ROWS) {
            values = new long[3 * width * ROWS];
        }
    }

    boolean isFull() {
        return rows == ROWS || length >= BYTES;
    }

    void clear() {
        rows = 0;
        at = 0;
        length = 0;
        complete = 0;
    }

    /** Completes a row. */
    void end() {
        rows++;
        complete = length;
    }

    /** Takes back the values of a row that is not complete. */
    void undo() {
        at = 3 * width * rows;
        length = complete;
    }

    private void put(int type, long number, long length) {
        values[at] = type;
        values[at + 1] = number;
        values[at + 2] = length;
        at += 3;
    }

    void add(Object value) {
        if (value == null) {
            put(NULL, 0, 0);
        } else if (value instanceof String text) {
            text(text);
        } else if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            put(INTEGER, ((Number) value).longValue(), 0);
        } else if (value instanceof Double || value instanceof Float) {
            real(((Number) value).doubleValue());
        } else if (value instanceof Boolean is) {
            put(INTEGER, is ? 1 : 0, 0);
        } else if (value instanceof byte[] blob) {
            put(BLOB, length, blob.length);
            bytes(blob, blob.length);
        } else {
            addOther(value);
        }
    }

    private void addOther(Object value) {
        if (value instanceof BigInteger integer) {
            if (integer.bitLength() > 63) {
                throw new NoForm("the integer is beyond the 64 bits of SQLite");
            }
            put(INTEGER, integer.longValue(), 0);
        } else if (value instanceof BigDecimal decimal) {
            text(decimal.toPlainString());
        } else if (value instanceof Optional<?> optional) {
            add(optional.orElse(null));
        } else if (value instanceof Enum<?> constant) {
            text(constant.name());
        } else if (value instanceof CharSequence || value instanceof Character || value instanceof UUID) {
            text(value.toString());
        } else {
            addTime(value);
        }
    }

    private void addTime(Object value) {
        if (value instanceof Instant instant) {
            // LocalDateTime has fewer years than Instant.
            if (instant.isBefore(YEAR_0) || !instant.isBefore(YEAR_10000)) {
                throw new NoForm(YEARS);
            }
            moment(LocalDateTime.ofInstant(instant, ZoneOffset.UTC));
        } else if (value instanceof OffsetDateTime moment) {
            addTime(moment.toInstant());
        } else if (value instanceof ZonedDateTime moment) {
            addTime(moment.toInstant());
        } else if (value instanceof Date date) {
            date(date);
        } else if (value instanceof LocalDateTime moment) {
            moment(moment);
        } else if (value instanceof LocalDate date) {
            refuseYear(date.getYear());
            text(date.toString());
        } else if (value instanceof LocalTime time) {
            text(time.format(TIME) + fraction(time.getNano()));
        } else {
            throw new NoForm(value.getClass().getName() + " has no form in SQLite");
        }
    }

    /** Adds a date: a moment, or what java.sql makes of it. */
    private void date(Date date) {
        if (date.getClass() == Date.class) {
            addTime(date.toInstant());
        } else {
            addTime(Sql.time(date));
        }
    }

    /** The subclasses of Date. A class of its own, because a runtime without the module java.sql has them not. */
    private static final class Sql {
        /** Returns a date or time of the local zone as such, and a moment with all digits that it has. */
        static Object time(Date date) {
            if (date instanceof java.sql.Date day) {
                return day.toLocalDate();
            }
            if (date instanceof java.sql.Time time) {
                return time.toLocalTime().with(ChronoField.MILLI_OF_SECOND, Math.floorMod(time.getTime(), 1000L));
            }
            return date.toInstant();
        }
    }

    private static void refuseYear(int year) {
        if (year < 0 || year > 9999) {
            throw new NoForm(YEARS);
        }
    }

    private void moment(LocalDateTime moment) {
        refuseYear(moment.getYear());
        text(moment.format(SECONDS) + fraction(moment.getNano()));
    }

    /** Returns no digits, six or nine: one moment has one text. */
    private static String fraction(int nanoseconds) {
        if (nanoseconds == 0) {
            return "";
        }
        return nanoseconds % 1000 == 0 ? String.format(".%06d", nanoseconds / 1000) : String.format(".%09d", nanoseconds);
    }

    /** Adds a number. NaN is NULL, as SQLite stores it. */
    private void real(double number) {
        if (Double.isNaN(number)) {
            put(NULL, 0, 0);
        } else {
            put(REAL, Double.doubleToRawLongBits(number), 0);
        }
    }

    private void text(String text) {
        int characters = text.length();
        reserve(characters);
        int end = length;
        for (int at = 0; at < characters; at++) {
            char character = text.charAt(at);
            if (character >= 0x80) {
                encode(text);
                return;
            }
            bytes[end++] = (byte) character;
        }
        put(TEXT, length, characters);
        length = end;
    }

    /** Adds a text with other characters than those of ASCII. Half of a surrogate pair is an error. */
    private void encode(String text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            put(TEXT, length, encoded.remaining());
            bytes(encoded.array(), encoded.remaining());
        } catch (CharacterCodingException error) {
            throw new NoForm("the text has half of a surrogate pair");
        }
    }

    private void bytes(byte[] added, int count) {
        reserve(count);
        System.arraycopy(added, 0, bytes, length, count);
        length += count;
    }

    private void reserve(int count) {
        if (count > Integer.MAX_VALUE - 16 - length) {
            throw new NoForm("the rows that wait have more than 2 GiB of texts and blobs: call flush() before");
        }
        if (length + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 16L, Math.max(length + (long) count, 2L * bytes.length)));
        }
    }
}

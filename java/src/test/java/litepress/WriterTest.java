package litepress;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import litepress.LitepressException.Kind;

/** Tests of the package: java -cp target/classes:target/tests litepress.WriterTest. The program sqlite3 reads what was written. */
public final class WriterTest {
    private static final String SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value)";

    private final Path folder;
    private final Path file;

    private WriterTest(Path folder) {
        this.folder = folder;
        this.file = folder.resolve("t.db");
    }

    enum Colour {
        RED,
        BLUE {
            @Override
            public String toString() {
                return "azure";
            }
        }
    }

    /** A bean with a getter that may throw. */
    public static final class Lazy {
        private final int id;

        Lazy(int id) {
            this.id = id;
        }

        public int getId() {
            return id;
        }

        public String getName() {
            return "name " + id;
        }

        public String getValue() {
            if (id % 3 == 2) {
                throw new IllegalStateException("lazy loading failed");
            }
            return "value " + id;
        }
    }

    record Named(int id, String name, @Column("value") Double reading) {}

    /** A bean. */
    public static final class Bean {
        public int getId() {
            return 7;
        }

        public String getName() {
            return "bean";
        }

        public boolean isValue() {
            return true;
        }
    }

    private List<String> query(String sql) {
        try {
            Process process = new ProcessBuilder("sqlite3", file.toString(), sql).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            expect(0, process.waitFor(), output);
            return output.lines().toList();
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void expect(Object expected, Object found, Object... more) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError(found + ", expected " + expected + " " + Arrays.toString(more));
        }
    }

    private Summary fill(Options options, Consumer<Writer> fill) {
        try (Writer db = Litepress.create(file, SCHEMA, options)) {
            fill.accept(db);
            return db.finish();
        }
    }

    private Summary fill(Consumer<Writer> fill) {
        return fill(new Options().overwrite(), fill);
    }

    private static LitepressException fails(Kind kind, String words, Runnable action) {
        try {
            action.run();
        } catch (LitepressException error) {
            expect(kind, error.kind(), error);
            expect(true, error.getMessage().contains(words), error, words);
            return error;
        }
        throw new AssertionError("no error of kind " + kind + " with " + words);
    }

    private void expectEmptyFolder() {
        try (Stream<Path> left = Files.list(folder)) {
            expect(List.of(), left.toList());
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static String hex(String text) {
        return HexFormat.of().withUpperCase().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    void valuesOfAllTypes() throws IOException {
        Instant instant = Instant.parse("2024-01-02T03:04:05Z");
        Object[] values = {
            0.5, null, true, Long.MIN_VALUE, (byte) 6, new BigInteger("9223372036854775807"), new BigDecimal("1.10"), Float.NaN, Colour.RED, 'x', instant,
            instant.plusMillis(250), instant.plusNanos(1), OffsetDateTime.parse("2024-01-02T03:04:05+01:00"), LocalDate.of(2024, 2, 29),
            LocalTime.of(3, 4), Optional.empty(), Optional.of(5), new byte[] {-1, 0}, new byte[0], "drei ß \uD83D\uDC26\0x", java.util.Date.from(instant),
        };
        Summary summary = fill(db -> {
            for (int id = 0; id < values.length; id++) {
                db.table("t").insert(id, "n", values[id]);
            }
        });
        expect((long) values.length, summary.rows());
        expect(Files.size(file), summary.bytes());
        expect(List.of("0.5", "NULL", "1", "-9223372036854775808", "6", "9223372036854775807", hex("1.10"), "NULL", hex("RED"), hex("x"),
                hex("2024-01-02 03:04:05"), hex("2024-01-02 03:04:05.250000"), hex("2024-01-02 03:04:05.000000001"), hex("2024-01-02 02:04:05"),
                hex("2024-02-29"), hex("03:04:00"), "NULL", "5", "X'FF00'", "X''", hex("drei ß \uD83D\uDC26\0x"), hex("2024-01-02 03:04:05")),
                query("SELECT CASE typeof(value) WHEN 'text' THEN hex(value) ELSE quote(value) END FROM t"));
        expect(List.of("ok"), query("PRAGMA integrity_check"));
    }

    void recordsBeansMapsAndStreams() {
        fill(db -> {
            Table t = db.table("t");
            t.insert(new Named(1, "a", 1.5)).insertAll(List.of(new Named(2, "b", null))).insertAll(Stream.of(new Named(3, "c", 2.5)));
            t.insert(new Bean());
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("name", "d");
            map.put("id", 4);
            t.insert(map);
            Map<Object, Object> keys = new LinkedHashMap<>();
            keys.put(new StringBuilder("VALUE"), Colour.BLUE);
            keys.put("Name", "keys");
            db.table("t").insert(keys);
            db.table("t", "id", "name", "value").insert(keys);
            // Records after values were refused: the columns had no names.
            db.table("t", "id", "name", "value").insert(19, "values", null).insert(new Named(20, "after", 0.5));
            db.table("t", "id", "name").insertAll(List.of(new Object[] {5, "e"}, List.of(6, "f")));
            db.table("t", "name").insert("last");
        });
        expect(List.of("1|a|1.5", "2|b|", "3|c|2.5", "4|d|", "5|e|", "6|f|", "7|bean|1", "8|keys|BLUE", "9|keys|BLUE",
                "19|values|", "20|after|0.5", "21|last|"), query("SELECT * FROM t"));
    }

    /** An exception of a getter, or of a value, left half a row in the batch. All later rows shifted by its values, without a word. */
    void aRowWhoseReadingThrowsLeavesNothing() {
        CharSequence failing = new CharSequence() {
            @Override
            public int length() {
                return 1;
            }

            @Override
            public char charAt(int index) {
                return 'x';
            }

            @Override
            public CharSequence subSequence(int start, int end) {
                return this;
            }

            @Override
            public String toString() {
                throw new UnsupportedOperationException("no text");
            }
        };
        fill(db -> {
            Table t = db.table("t");
            int thrown = 0;
            for (int id = 1; id <= 6; id++) {
                try {
                    t.insert(new Lazy(id));
                } catch (IllegalStateException error) {
                    expect("lazy loading failed", error.getMessage());
                    thrown++;
                }
            }
            expect(2, thrown);
            fails(Kind.DATA, "record 5, column value: the year is not 0 to 9999", () -> t.insert(9, "x", Instant.MAX));
            fails(Kind.DATA, "the year", () -> t.insert(9, "x", LocalDate.of(10_000, 1, 1)));
            LitepressException error = fails(Kind.DATA, "column value: the value cannot be read", () -> t.insert(9, "a text", failing));
            expect(UnsupportedOperationException.class, error.getCause().getClass());
            t.insert(7, "end", Instant.parse("0000-01-01T00:00:00Z"));
        });
        expect(List.of("1|name 1|value 1", "3|name 3|value 3", "4|name 4|value 4", "6|name 6|value 6", "7|end|0000-01-01 00:00:00"),
                query("SELECT * FROM t"));
    }

    /** The first map or bean decided the order of all later values: after a bean with age and name, a person had the age "Bob". */
    void valuesAfterBeansHaveNoOrderOfTheirOwn() {
        fill(db -> {
            Table t = db.table("t", "name", "id");
            t.insert(new Bean()).insert("values", 8);
            Table other = db.table("t").insert(Map.of("name", "map"));
            LitepressException error = fails(Kind.DATA, "values after rows with the columns name", () -> other.insert(10, "Bob", 44));
            expect(true, error.advice().contains("db.table(\"t\", \"id\", \"name\", \"value\")"), error);
            fails(Kind.DATA, "values after rows", () -> other.append(Values.of(1L), Values.of("a"), Values.of(1L)));
            db.table("T").insert(new Named(11, "record", 0.5)).insert(12, "values", null).insert(Map.of("name", "last"));
        });
        expect(List.of("7|bean|", "8|values|", "9|map|", "11|record|0.5", "12|values|", "13|last|"), query("SELECT * FROM t"));
    }

    /** Each table kept its rows until it was full or the database was finished: the order of db.table() decided which row won. */
    void rowsOfTwoTablesOfANameKeepTheirOrder() {
        fill(new Options().overwrite().onConflict("replace"), db -> {
            Table whole = db.table("t");
            Table part = db.table("T", "id", "name");
            whole.insert(1, "old", 1);
            part.insert(1, "new");
            part.insert(2, "old");
            whole.append(Values.of(2L), Values.of("new"), Values.of(2L));
            whole.insert(3, "old", 3);
            whole.insert(Map.of("id", 3, "name", "new"));
        });
        expect(List.of("1|new|", "2|new|2", "3|new|"), query("SELECT * FROM t"));
    }

    /** The package asked the library for a table with its first row. Without rows, the old ones stayed. */
    void truncateEmptiesATableWithoutRows() {
        fill(db -> db.table("t").insert(1, "a", 1));
        try (Writer db = Litepress.open(file, null, new Options().set("truncate", "true"))) {
            db.table("t").insertAll(List.of());
            db.finish();
        }
        expect(List.of("0"), query("SELECT count(*) FROM t"));
    }

    /** Maps that lacked keys of the first one got NULL there. An upsert of id and name deleted the value of the row that existed. */
    void columnsThatAMapLacksGetTheirDefaultAndStayInAnUpdate() {
        String schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'none', value)";
        try (Writer db = Litepress.create(file, schema)) {
            Table t = db.table("t").insert(Map.of("id", 1, "name", "a", "value", 1)).insert(Map.of("value", 2, "id", 2)).insert(Map.of("id", 3));
            db.table("t", "id", "name", "value").insert(Map.of("value", 4, "id", 4)).insert(5, null, 5);
            fails(Kind.DATA, "no keys", () -> t.insert(Map.of()));
            db.finish();
        }
        expect(List.of("1|a|1", "2|none|2", "3|none|", "4|none|4", "5||5"), query("SELECT * FROM t"));
        try (Writer db = Litepress.open(file, null, new Options().onConflict("update"))) {
            Table t = db.table("t").insert(Map.of("id", 1, "name", "A")).insert(Map.of("name", "new", "id", 6));
            fails(Kind.DATA, "record 3: an update of id, value after one of id, name", () -> t.insert(Map.of("id", 2, "value", 3)));
            fails(Kind.DATA, "a writer of their own", () -> db.table("t", "id", "value").insert(2, 3));
            db.finish();
        }
        expect(List.of("1|A|1", "2|none|2", "6|new|"), query("SELECT * FROM t WHERE id IN (1, 2, 6)"));
    }

    /** The columns of a first map that was refused stayed: all later maps failed. */
    void aRefusedFirstMapLeavesNothing() {
        fill(db -> {
            Table t = db.table("t");
            fails(Kind.SCHEMA, "colour", () -> t.insert(Map.of("colour", "red")));
            fails(Kind.DATA, "record 1", () -> t.insert(Map.of("name", new Object[] {1}, "id", 5)));
            t.insert(1, "values", 1).insert(Map.of("name", "map"));
        });
        expect(List.of("1|values|1", "2|map|"), query("SELECT * FROM t"));
    }

    /** flush() emptied the batch also if the library had refused a row in its middle. The rows behind that one got lost without a word. */
    void aWriterWhoseRowsTheLibraryRefusedTakesNoOthers() {
        fails(Kind.USAGE, "given up", () -> fill(db -> {
            Table t = db.table("t").insert(1, "a", 1).insert(2, null, 2).insert(3, "c", 3);
            fails(Kind.CONSTRAINT, "name", t::flush);
            fails(Kind.USAGE, "given up: ", () -> t.insert(4, "d", 4));
        }));
        expectEmptyFolder();
    }

    /** Timestamps lost their microseconds. A java.sql.Date east of Greenwich became the evening of the day before. */
    void datesOfSqlAreLocal() {
        java.util.TimeZone zone = java.util.TimeZone.getDefault();
        java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone("Europe/Zurich"));
        try {
            fill(db -> db.table("t").insert(1, "date", java.sql.Date.valueOf("2024-01-02")).insert(2, "time", java.sql.Time.valueOf("03:04:05"))
                    .insert(3, "time", new java.sql.Time(250)).insert(4, "timestamp", java.sql.Timestamp.valueOf("2024-01-02 03:04:05.123456"))
                    .insert(5, "timestamp", java.sql.Timestamp.from(Instant.parse("2024-01-02T03:04:05.000000001Z")))
                    .insert(6, "timestamp", new java.sql.Timestamp(1500)));
        } finally {
            java.util.TimeZone.setDefault(zone);
        }
        expect(List.of("2024-01-02", "03:04:05", "01:00:00.250000", "2024-01-02 02:04:05.123456", "2024-01-02 03:04:05.000000001",
                "1970-01-01 00:00:01.500000"), query("SELECT value FROM t"));
    }

    /** A progress function that closed its writer freed memory that the library was working with. */
    void progressMayNotUseItsWriter() {
        List<Consumer<Writer>> uses = List.of(Writer::close, Writer::finish, db -> db.table("t").insert(1, "a", 1), db -> db.table("t").flush());
        for (Consumer<Writer> use : uses) {
            Writer[] own = new Writer[1];
            Options options = new Options().onProgress(progress -> {
                use.accept(own[0]);
                return true;
            });
            fails(Kind.USAGE, "in use by the library", () -> {
                try (Writer db = Litepress.create(file, SCHEMA, options)) {
                    own[0] = db;
                    db.table("t").insertAll(Stream.iterate(0, id -> id + 1).map(id -> List.of(id, "a text of a row", id)));
                }
            });
        }
        expectEmptyFolder();
        // Within finish, too. It may be over before the progress is told.
        Writer[] own = new Writer[1];
        boolean[] isFinishing = new boolean[1];
        Options options = new Options().onProgress(progress -> {
            if (isFinishing[0]) {
                fails(Kind.USAGE, "in use by the library", own[0]::close);
                throw new IllegalStateException("too late or not");
            }
            return true;
        });
        try {
            fill(options, db -> {
                own[0] = db;
                db.table("t").insertAll(IntStream.range(0, 100_000).mapToObj(id -> List.of(id, "name " + id % 1000, id)));
                isFinishing[0] = true;
            });
            expect(List.of("100000"), query("SELECT count(*) FROM t"));
        } catch (IllegalStateException error) {
            expectEmptyFolder();
        }
    }

    /** C ends a text at its NUL: the tables behind it were missing without a word. */
    void aSchemaWithANulIsRefused() {
        fails(Kind.USAGE, "NUL", () -> Litepress.create(file, SCHEMA + ";\0 CREATE TABLE u (a)").close());
        fails(Kind.USAGE, "NUL", () -> fill(db -> db.table("t\0u").insert(1)));
        fails(Kind.USAGE, "schema", () -> Litepress.create(file, null).close());
        expectEmptyFolder();
    }

    void manyRowsInBatches() {
        Options options = new Options().overwrite().pageSize(8192).threads(2).memory("64MiB");
        fill(options, db -> db.table("t").insertAll(IntStream.range(0, 50_000).mapToObj(id -> List.of(id, "é".repeat(id % 100), id))));
        expect(List.of("50000|8192"), query("SELECT sum(id = value AND length(name) = id % 100), (SELECT page_size FROM pragma_page_size) FROM t"));
    }

    void columnsInBulk() {
        int rows = 10_000;
        long[] ids = new long[rows];
        String[] names = new String[rows];
        double[] values = new double[rows];
        boolean[] valid = new boolean[rows];
        for (int row = 0; row < rows; row++) {
            ids[row] = row + 1;
            names[row] = "nämë " + row;
            values[row] = row / 4.0;
            valid[row] = row % 7 != 0;
        }
        fill(db -> {
            Table t = db.table("t").append(Values.of(ids), Values.of(names), Values.of(values).valid(valid));
            t.append(Values.of(20_000L, 20_001L), Values.of("x", ""), Values.of(new byte[] {1}, null));
            fails(Kind.USAGE, "rows", () -> t.append(Values.of(1L), Values.of("a", "b"), Values.of(1L)));
        });
        expect(List.of("10000|8571|1"), query("SELECT count(*), count(value), min(name = 'nämë ' || (id - 1) AND (value = (id - 1) / 4.0) IS NOT 0) "
                + "FROM t WHERE id <= 10000"));
        expect(List.of("x|X'01'", "|NULL"), query("SELECT name, quote(value) FROM t WHERE id >= 20000"));
        fails(Kind.CONSTRAINT, "name", () -> fill(db -> db.table("t").append(Values.of(1L), Values.of((String) null).valid(true), Values.of(1L))));
    }

    void rowsAreAddedAndUpdated() {
        fill(db -> db.table("t").insert(1, "a", 1));
        try (Writer db = Litepress.open(file, null, new Options().onConflict("update"))) {
            db.table("t").insertAll(List.of(List.of(1, "b", 2), List.of(2, "c", 3)));
            expect(1L, db.finish().rows());
            fails(Kind.USAGE, "finished", db::finish);
            fails(Kind.USAGE, "finished", () -> db.table("t").insert(1, "a", 1));
        }
        expect(List.of("1|b|2", "2|c|3"), query("SELECT * FROM t"));
    }

    void errorsHaveAKindAndAPlace() {
        LitepressException error = fails(Kind.CONSTRAINT, "name", () -> fill(db -> db.table("t").insert(1, null, 2)));
        expect(List.of("t", "name", 1L), List.of(error.table(), error.column(), error.record()));
        error = fails(Kind.DATA, "record 1, column value", () -> fill(db -> db.table("t").insert(1, "a", new BigInteger("9223372036854775808"))));
        expect("9223372036854775808", error.value());
        fails(Kind.DATA, "surrogate", () -> fill(db -> db.table("t").insert(1, "half \uD83D", 2)));
        fails(Kind.USAGE, "surrogate", () -> Values.of("half \uD83D"));
        fails(Kind.DATA, "no form", () -> fill(db -> db.table("t").insert(1, "a", new Object[] {1})));
        fails(Kind.DATA, "2 values for 3 columns", () -> fill(db -> db.table("t").insert(1, "a", 2).insert(1, "a")));
        fails(Kind.SCHEMA, "other", () -> fill(db -> db.table("t").insert(Map.of("name", "a")).insert(Map.of("name", "b", "other", 1))));
        fails(Kind.DATA, "no column was named [other]", () -> fill(db -> db.table("t", "name").insert(Map.of("name", "b", "other", 1))));
        fails(Kind.USAGE, "no field for column id", () -> fill(db -> db.table("t", "name", "id").insert(new Object() {
            @SuppressWarnings("unused")
            public String getName() {
                return "a";
            }
        })));
        fails(Kind.SCHEMA, "colour", () -> fill(db -> db.table("t", "colour").insert("red")));
        fails(Kind.USAGE, "no table u", () -> fill(db -> db.table("u").insert(1)));
        fails(Kind.SCHEMA, "", () -> Litepress.create(file, "CREATE").close());
        fails(Kind.USAGE, "speed", () -> Litepress.create(file, SCHEMA, new Options().set("speed", "1")).close());
        expectEmptyFolder();
        fill(db -> db.table("t").insert(1, "a", 2));
        fails(Kind.EXISTS, "exists", () -> fill(new Options(), db -> { }));
    }

    void progressAndInterruptsStopTheRun() {
        List<Progress> seen = new ArrayList<>();
        Consumer<Writer> endless = db -> db.table("t").insertAll(Stream.iterate(0, id -> id + 1).map(id -> List.of(id, "a text of a row", id)));
        Options stopping = new Options().onProgress(progress -> {
            seen.add(progress);
            return seen.size() < 3 || progress.rows() == 0;
        });
        fails(Kind.INTERRUPTED, "", () -> fill(stopping, endless));
        expect(true, seen.size() >= 3 && !seen.get(seen.size() - 1).phase().isEmpty(), seen);
        try {
            fill(new Options().onProgress(progress -> {
                throw new IllegalStateException("of the progress");
            }), endless);
            throw new AssertionError("no exception");
        } catch (IllegalStateException error) {
            expect("of the progress", error.getMessage());
        }
        Thread.currentThread().interrupt();
        fails(Kind.INTERRUPTED, "", () -> fill(endless));
        expect(true, Thread.interrupted());
        expectEmptyFolder();
    }

    void threadsHaveWritersOfTheirOwn() {
        long rows = IntStream.range(0, 4).parallel().mapToLong(number -> {
            try (Writer db = Litepress.create(folder.resolve(number + ".db"), SCHEMA)) {
                db.table("t").insertAll(IntStream.range(0, 20_000).mapToObj(id -> List.of(id, "thread " + number, id)));
                return db.finish().rows();
            }
        }).sum();
        expect(80_000L, rows);
    }

    private interface Test {
        void run(WriterTest test) throws Exception;
    }

    /** Runs all tests, each in a folder of its own. */
    public static void main(String[] arguments) throws Exception {
        List<Test> tests = List.of(WriterTest::valuesOfAllTypes, WriterTest::recordsBeansMapsAndStreams, WriterTest::manyRowsInBatches,
                WriterTest::aRowWhoseReadingThrowsLeavesNothing, WriterTest::valuesAfterBeansHaveNoOrderOfTheirOwn,
                WriterTest::rowsOfTwoTablesOfANameKeepTheirOrder, WriterTest::truncateEmptiesATableWithoutRows,
                WriterTest::columnsThatAMapLacksGetTheirDefaultAndStayInAnUpdate, WriterTest::aRefusedFirstMapLeavesNothing,
                WriterTest::aWriterWhoseRowsTheLibraryRefusedTakesNoOthers, WriterTest::datesOfSqlAreLocal, WriterTest::progressMayNotUseItsWriter,
                WriterTest::aSchemaWithANulIsRefused,
                WriterTest::columnsInBulk, WriterTest::rowsAreAddedAndUpdated, WriterTest::errorsHaveAKindAndAPlace,
                WriterTest::progressAndInterruptsStopTheRun, WriterTest::threadsHaveWritersOfTheirOwn);
        for (Test test : tests) {
            Path folder = Files.createTempDirectory("litepress");
            test.run(new WriterTest(folder));
            try (Stream<Path> left = Files.list(folder)) {
                for (Path path : left.toList()) {
                    Files.delete(path);
                }
            }
            Files.delete(folder);
        }
        System.out.println(tests.size() + " tests passed");
    }
}

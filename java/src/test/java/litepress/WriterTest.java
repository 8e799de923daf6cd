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

    enum Colour { RED }

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
            // Records after values were refused: the columns had no names.
            db.table("t", "id", "name", "value").insert(9, "values", null).insert(new Named(10, "after", 0.5));
            db.table("t", "id", "name").insertAll(List.of(new Object[] {5, "e"}, List.of(6, "f")));
            db.table("t", "name").insert("last");
        });
        expect(List.of("1|a|1.5", "2|b|", "3|c|2.5", "4|d|", "5|e|", "6|f|", "7|bean|1", "9|values|", "10|after|0.5", "11|last|"), query("SELECT * FROM t"));
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
        fails(Kind.DATA, "other", () -> fill(db -> db.table("t").insert(Map.of("name", "a")).insert(Map.of("name", "b", "other", 1))));
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

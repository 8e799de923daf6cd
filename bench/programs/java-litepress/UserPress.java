import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import litepress.Litepress;
import litepress.Table;
import litepress.Values;
import litepress.Writer;

/**
 * Inserts rows of the table user, made while the clock runs, with the Java package of litepress.
 *
 * <p>java UserPress insert|records|columns TARGET ROWS
 */
public class UserPress {
    static final String SCHEMA =
            "CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL)";
    static final int BATCH = 10_000;

    record User(String area, int age, int active) {}

    /** Returns six digits as text. */
    static String area(SplittableRandom random) {
        return String.valueOf(1_000_000 + random.nextInt(1_000_000)).substring(1);
    }

    static void insert(Table table, long rows) {
        SplittableRandom random = new SplittableRandom();
        for (long row = 0; row < rows; row++) {
            table.insert(area(random), 5 * (1 + random.nextInt(3)), random.nextInt(2));
        }
    }

    static void records(Table table, long rows) {
        SplittableRandom random = new SplittableRandom();
        table.insertAll(LongStream.range(0, rows).mapToObj(row -> new User(area(random), 5 * (1 + random.nextInt(3)), random.nextInt(2))));
    }

    static void columns(Table table, long rows) {
        SplittableRandom random = new SplittableRandom();
        for (long left = rows; left > 0; left -= BATCH) {
            int count = (int) Math.min(left, BATCH);
            String[] areas = new String[count];
            long[] ages = new long[count];
            long[] actives = new long[count];
            for (int row = 0; row < count; row++) {
                areas[row] = area(random);
                ages[row] = 5 * (1 + random.nextInt(3));
                actives[row] = random.nextInt(2);
            }
            table.append(Values.of(areas), Values.of(ages), Values.of(actives));
        }
    }

    public static void main(String[] arguments) {
        long rows = Long.parseLong(arguments[2]);
        long started = System.nanoTime();
        try (Writer db = Litepress.create(Path.of(arguments[1]), SCHEMA)) {
            Table table = db.table("user", "area", "age", "active");
            switch (arguments[0]) {
                case "insert" -> insert(table, rows);
                case "records" -> records(table, rows);
                case "columns" -> columns(table, rows);
                default -> throw new IllegalArgumentException("no method " + arguments[0]);
            }
            db.finish();
        }
        System.out.println("{\"seconds\": " + (System.nanoTime() - started) / 1e9 + "}");
    }
}

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;
import java.util.StringJoiner;

/**
 * Inserts rows of the table user, made while the clock runs, with sqlite-jdbc: batches in one transaction.
 *
 * <p>java User batch TARGET ROWS [CHECK]
 */
public class User {
    static final String SCHEMA =
            "CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL)";
    static final String[] SETTINGS = {
        "journal_mode = OFF", "synchronous = 0", "cache_size = 1000000", "locking_mode = EXCLUSIVE", "temp_store = MEMORY"
    };
    static final int BATCH = 1000;

    static void prepare(Connection database) throws SQLException {
        try (Statement statement = database.createStatement()) {
            for (String setting : SETTINGS) {
                statement.execute("PRAGMA " + setting);
            }
            statement.execute(SCHEMA);
        }
        database.setAutoCommit(false);
    }

    /** Returns six digits as text. */
    static String area(SplittableRandom random) {
        return String.valueOf(1_000_000 + random.nextInt(1_000_000)).substring(1);
    }

    static void batch(Connection database, long rows) throws SQLException {
        SplittableRandom random = new SplittableRandom();
        try (PreparedStatement insert = database.prepareStatement("INSERT INTO user VALUES (NULL, ?, ?, ?)")) {
            for (long row = 1; row <= rows; row++) {
                insert.setString(1, area(random));
                insert.setInt(2, 5 * (1 + random.nextInt(3)));
                insert.setInt(3, random.nextInt(2));
                insert.addBatch();
                if (row % BATCH == 0) {
                    insert.executeBatch();
                }
            }
            insert.executeBatch();
        }
        database.commit();
    }

    /** Returns the only row of the answer as JSON. */
    static String ask(Connection database, String query) throws SQLException {
        try (Statement statement = database.createStatement(); ResultSet row = statement.executeQuery(query)) {
            StringJoiner values = new StringJoiner(", ", "[", "]");
            for (int column = 1; column <= row.getMetaData().getColumnCount(); column++) {
                Object value = row.getObject(column);
                values.add(value instanceof String text ? '"' + text + '"' : String.valueOf(value));
            }
            return values.toString();
        }
    }

    public static void main(String[] arguments) throws SQLException {
        if (!arguments[0].equals("batch")) {
            throw new IllegalArgumentException("no method " + arguments[0]);
        }
        boolean onDisk = !arguments[1].equals(":memory:");
        long started = System.nanoTime();
        Connection database = DriverManager.getConnection("jdbc:sqlite:" + arguments[1]);
        prepare(database);
        batch(database, Long.parseLong(arguments[2]));
        if (onDisk) {
            database.close();
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        String check = onDisk ? "" : ", \"check\": " + ask(database, arguments[3]);
        System.out.println("{\"seconds\": " + seconds + check + "}");
    }
}

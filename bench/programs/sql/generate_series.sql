-- Fills the table user in pure SQL with SQLite's own program, which includes the table-valued function generate_series.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = 0;
PRAGMA cache_size = 1000000;
PRAGMA locking_mode = EXCLUSIVE;

CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL);

INSERT INTO user
SELECT value, printf('%06d', abs(random() % 1000000)), 5 + 5 * abs(random() % 3), random() & 1
FROM generate_series(1, :rows);

-- Fills the table user in pure SQL with any SQLite: a recursive query counts.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = 0;
PRAGMA cache_size = 1000000;
PRAGMA locking_mode = EXCLUSIVE;

CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL);

WITH RECURSIVE counted(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM counted WHERE id < :rows)
INSERT INTO user
SELECT id, printf('%06d', abs(random() % 1000000)), 5 + 5 * abs(random() % 3), random() & 1
FROM counted;

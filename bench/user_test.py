"""The check of the benchmarks of `user` accepts right rows and refuses wrong ones."""

import contextlib
import sqlite3
import unittest

from suite.articles import user
from suite.benchmark import Wrong

ROWS = 3000
TABLE = "CREATE TABLE user (id INTEGER PRIMARY KEY, area CHAR(6), age INTEGER, active INTEGER)"
INSERT = f"""
    INSERT INTO user SELECT value, printf('%06d', value * 1000000 / {ROWS}), value % 3 * 5 + 5, value % 2
    FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT {ROWS - 1}) SELECT value FROM n)
    UNION ALL SELECT {ROWS}, '000000', 5, 0
"""


class Verified(unittest.TestCase):
    def facts(self, change=""):
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.execute(TABLE)
            database.execute(INSERT)
            database.execute(change)
            return database.execute(user.QUERY).fetchone()

    def test_right_rows_pass(self):
        user.verify(self.facts(), ROWS)

    def test_wrong_rows_are_refused(self):
        for change in (
            "DELETE FROM user WHERE id = 7",
            f"UPDATE user SET id = {ROWS + 1} WHERE id = {ROWS}",
            "UPDATE user SET area = '12345' WHERE id = 7",
            "UPDATE user SET area = '12345x' WHERE id = 7",
            "UPDATE user SET area = x'303030303030' WHERE id = 7",
            "UPDATE user SET area = NULL WHERE id = 7",
            "UPDATE user SET area = '500000' WHERE id > 1000",
            "UPDATE user SET area = '000000'",
            "UPDATE user SET age = 6 WHERE id = 7",
            "UPDATE user SET age = 10",
            "UPDATE user SET active = 2 WHERE id = 7",
            "UPDATE user SET active = 1",
        ):
            with self.subTest(change), self.assertRaises(Wrong):
                user.verify(self.facts(change), ROWS)


if __name__ == "__main__":
    unittest.main()

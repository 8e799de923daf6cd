"""Tests of the tools of today: the rows of the CSV are accepted, and others are refused."""

import contextlib
import csv
import pathlib
import sqlite3
import tempfile
import unittest

import data
from suite.articles import tools
from suite.benchmark import Setting, Wrong

ROWS = 500


def facts(rows):
    """Returns the aggregates of a table of these rows, as SQLite computes them."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute(data.USER.create())
        database.executemany("INSERT INTO user VALUES (?, ?, ?, ?)", rows)
        return database.execute(tools.QUERY).fetchone()


class Rows(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            setting = Setting("made.db", ROWS, tools.QUERY, pathlib.Path(folder), pathlib.Path(folder))
            with open(tools.source(setting), newline="", encoding="ascii") as file:
                header, *self.rows = csv.reader(file)
        self.assertEqual(header, list(data.USER.columns))

    def test_rows_of_the_csv_are_right(self):
        tools.verify(facts(self.rows), ROWS)

    def test_wrong_rows_are_refused(self):
        key, area, age, active = self.rows[0]
        others = self.rows[1:]
        wrong = {
            "one too few": others,
            "a number": [(key, area, int(age) + 5, active), *others],
            "a text": [(key, "x" + area[1:], age, active), *others],
            "a key": [(ROWS + 1, area, age, active), *others],
            "a column": [(key, area, active, age), *others],
        }
        for what, rows in wrong.items():
            with self.subTest(what), self.assertRaises(Wrong):
                tools.verify(facts(rows), ROWS)


if __name__ == "__main__":
    unittest.main()

"""Tests of the article about metrics: its rows, its figures, and wrong rows, which are refused."""

import contextlib
import random
import sqlite3
import unittest

import data
from suite.articles import metrics
from suite.benchmark import Wrong

ROWS = 2000


def facts(rows):
    """Returns the aggregates of a table of these rows, as SQLite computes them."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE metrics (name VARCHAR NOT NULL, value FLOAT NOT NULL)")
        database.executemany("INSERT INTO metrics VALUES (?, ?)", rows)
        return database.execute(metrics.QUERY).fetchone()


class Rows(unittest.TestCase):
    def test_they_are_those_of_ruby(self):
        # ruby -e 'r = Random.new(42); p %w[foo bar baz bad bleg].sample(random: r), r.rand', Ruby 3.1
        self.assertEqual(next(data.metrics(1)), ("bad", 0.9507143064099162))

    def test_the_articles_rows_are_right(self):
        for count in (1, 7, ROWS):
            metrics.verify(facts(data.metrics(count)), count)

    def test_wrong_rows_are_refused(self):
        right = list(data.metrics(ROWS))
        wrong = {
            "one too few": right[:-1],
            "one twice": [*right, right[0]],
            "the order": [*right[:1], *reversed(right[1:])],
            "a value": [*right[:-1], (right[-1][0], 0.5)],
            "a name": [*right[:-1], ("bar" if right[-1][0] == "foo" else "foo", right[-1][1])],
            "a type": [*right[:-1], (right[-1][0], "x")],
        }
        for what, rows in wrong.items():
            with self.subTest(what), self.assertRaises(Wrong):
                metrics.verify(facts(rows), ROWS)

    def test_other_rows_must_be_as_evenly_spread(self):
        made = random.Random(1)
        even = [(made.choice(data.METRICS), made.random()) for _ in range(ROWS)]
        metrics.verify_others(facts(even), ROWS)
        # Equally distributed rows are not the rows of the article.
        with self.assertRaises(Wrong):
            metrics.verify(facts(even), ROWS)
        for skewed in (
            [(name, value**2) for name, value in even],
            [(name, value + 0.01) for name, value in even],
            [("foo" if value < 0.2 else name, value) for name, value in even],
        ):
            with self.assertRaises(Wrong):
                metrics.verify_others(facts(skewed), ROWS)


class Figures(unittest.TestCase):
    def test_all_five_tables_are_there(self):
        figures = [figure for benchmark in metrics.BENCHMARKS for figure in benchmark.published]
        self.assertEqual(len(figures), 4 + 5 + 5 + 5 + 5)
        self.assertEqual(len({figure.label for figure in figures}), len(figures))
        self.assertAlmostEqual(sum(figure.seconds for figure in figures), 501.938723, places=6)


if __name__ == "__main__":
    unittest.main()

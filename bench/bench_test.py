"""The checks of the benches accept right results and refuse wrong ones; missing competitors are left out and named.

Wants the program litepress, as `cargo test` builds it; `smoke_tests.py` runs the benches themselves.
"""

import argparse
import contextlib
import dataclasses
import io
import pathlib
import sqlite3
import tempfile
import unittest

import cells
import data
import existing
import gen
import load
import measure
import press
import sorted as sorted_trees


class Numbers(unittest.TestCase):
    def test_people_write_numbers(self):
        cases = {"1b": 10**9, "100m": 10**8, "10k": 10**4, "1_000": 1000, "2.5k": 2500}
        for text, value in cases.items():
            self.assertEqual(measure.number(text), value)


class Press(unittest.TestCase):
    def test_wrong_rows_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "user.db"
            measure.gen(path, ["--preset", "user", "--rows", 1000])
            press.verify(path, 1000)
            with self.assertRaises(SystemExit):
                press.verify(path, 1001)


class SortedTrees(unittest.TestCase):
    def test_wrong_rows_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path, schema = pathlib.Path(folder) / "user.db", pathlib.Path(folder) / "user.sql"
            schema.write_text(sorted_trees.SCHEMAS["indexed"])
            measure.gen(path, [schema, "--rows", 1000])
            sorted_trees.verify(path, "user", 1000, "user_area")
            with self.assertRaises(SystemExit):
                sorted_trees.verify(path, "user", 1001, "user_area")


class Existing(unittest.TestCase):
    def test_an_index_that_lacks_an_entry_shows(self):
        with tempfile.TemporaryDirectory() as folder:
            path, schema = pathlib.Path(folder) / "user.db", pathlib.Path(folder) / "user.sql"
            schema.write_text(existing.SCHEMA.format(key="not null primary key", ids="sequence") + existing.INDEX)
            measure.gen(path, [schema, "--rows", 1000])
            before = existing.counted(path)
            self.assertEqual(before["INDEXED BY user_area"], before["NOT INDEXED"][:3])
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA writable_schema = ON")
                database.execute("UPDATE sqlite_schema SET sql = sql || ' WHERE id > 1' WHERE name = 'user_area'")
                database.commit()
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("INSERT INTO user VALUES (0, '000000', 5, 1)")
                database.commit()
                database.execute("PRAGMA writable_schema = ON")
                sql = "UPDATE sqlite_schema SET sql = 'CREATE INDEX user_area ON user (area)' WHERE name = 'user_area'"
                database.execute(sql)
                database.commit()
            after = existing.counted(path)
            self.assertEqual((after["NOT INDEXED"][0], after["INDEXED BY user_area"]), (1001, before["INDEXED BY user_area"]))


class Load(unittest.TestCase):
    def test_competitors_that_are_not_installed_are_left_out_aloud(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(said):
            options = argparse.Namespace(data=pathlib.Path(folder), rows=100, sample_rows=10, scale=0.001, only=None)
            engines = load.chosen(options, {})
        self.assertEqual({one.loader for one in engines}, {"litepress"})
        for name in ("sqlite3 .import", "DuckDB", "ADBC", "sqlite-utils", "inflate alone", "lineitem"):
            self.assertIn(f"skipped: {name}, ", said.getvalue())

    def test_wrong_results_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = data.user_database(pathlib.Path(folder), 1000)
            facts = data.facts(path, data.USER)
            load.verify(path, data.USER, 1000, facts)
            wrong = {
                "rows": (data.USER, 1001, None),
                "sums": (data.USER, 1000, (*facts[:-1], "integer")),
                "key": (dataclasses.replace(data.USER, key=("id", "area")), 1000, facts),
                "index": (dataclasses.replace(data.USER, indexes=(("area",),)), 1000, facts),
            }
            for what, arguments in wrong.items():
                with self.subTest(what), self.assertRaises(SystemExit):
                    load.verify(path, *arguments)


class Gen(unittest.TestCase):
    def test_competitors_that_are_not_installed_are_left_out_aloud(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(gen.chosen(argparse.Namespace(only=None), {"sqlite3": "3"}), ["shop"])
        for name in ("tpch, for want of tpchgen-cli", "people, for want of dbgen, faker"):
            self.assertIn(f"skipped: {name}", said.getvalue())

    def test_wrong_people_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            schema, path = pathlib.Path(folder) / "people.sql", pathlib.Path(folder) / "people.db"
            schema.write_text(gen.PEOPLE)
            measure.gen(path, [schema, "--rows", 1000])
            gen.check_people(path, 1000)
            with self.assertRaises(SystemExit):
                gen.check_people(path, 1001)
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("UPDATE people SET plan = 'none' WHERE id = 7")
                database.commit()
            with self.assertRaises(SystemExit):
                gen.check_people(path, 1000)


class Cells(unittest.TestCase):
    def test_times_are_read_out_of_the_document(self):
        found = cells.times(cells.DOCUMENT.read_text())
        self.assertGreater(len(found), 50)
        self.assertTrue(all(nanoseconds > 0 for nanoseconds in found.values()))


if __name__ == "__main__":
    unittest.main()

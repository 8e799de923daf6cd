"""The benches run tiny, so that they cannot rot: every contender, the checks, the ratios and the JSON line."""

import argparse
import contextlib
import dataclasses
import io
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import cells
import data
import gen
import load
import measure
import press
import rivals
import sorted as sorted_trees

BENCH = pathlib.Path(__file__).resolve().parent


def tiny(script, arguments):
    """One round of a bench; the line that it keeps."""
    with tempfile.TemporaryDirectory(dir=measure.TARGET) as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        command = [sys.executable, BENCH / script, *arguments, "--repeat", "1", "--dir", folder, "--results", results]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        return json.loads(results.read_text())


class Numbers(unittest.TestCase):
    def test_people_write_numbers(self):
        cases = {"1b": 10**9, "100m": 10**8, "10k": 10**4, "1_000": 1000, "2.5k": 2500}
        for text, value in cases.items():
            self.assertEqual(measure.number(text), value)


class Press(unittest.TestCase):
    def test_a_tiny_run_gives_every_figure(self):
        line = tiny("press.py", ["--rows", "200k", "--insert-rows", "100k"])
        self.assertEqual(line["rows"], 200_000)
        self.assertGreater(line["figures"]["insert time / litepress time"]["median"], 0)
        self.assertEqual(len(line["figures"]), 6)
        self.assertEqual(len(line["rounds"][0]), 7)

    def test_wrong_rows_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "user.db"
            measure.insert(path, [1000])
            press.verify(path, 1000)
            with self.assertRaises(SystemExit):
                press.verify(path, 1001)


class SortedTrees(unittest.TestCase):
    def test_a_tiny_run_gives_every_figure(self):
        line = tiny("sorted.py", ["--rows", "20k", "--spill-rows", "20k", "--keyed-rows", "20k"])
        self.assertEqual(len(line["sqlite_settings"]), 8)
        self.assertEqual(len(line["figures"]), 7)
        self.assertEqual(len(line["rounds"][0]), 10)

    def test_wrong_rows_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "user.db"
            measure.insert(path, [1000, "index"])
            sorted_trees.verify(path, "user", 1000, "user_area")
            with self.assertRaises(SystemExit):
                sorted_trees.verify(path, "user", 1001, "user_area")


class Python(unittest.TestCase):
    def test_a_tiny_run_gives_every_figure(self):
        python = measure.ROOT / "target" / "python-venv" / "bin" / "python"
        if not python.exists():
            self.skipTest("the package is not installed: make test-python does it")
        with tempfile.TemporaryDirectory() as folder:
            line = tiny("python.py", ["--rows", "5k", "--tuples", "1k", "--data", folder, "--python", python])
        self.assertEqual(len(line["figures"]), 6)
        self.assertEqual(len(line["rounds"][0]), 14)


class Load(unittest.TestCase):
    def test_a_tiny_run_gives_every_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            sizes = ["--rows", "5k", "--sample-rows", "1k", "--scale", "0.001"]
            line = tiny("load.py", [*sizes, "--data", folder, "--skip-missing"])
        found = line["versions"]
        figures = {
            f"{case}, times {rival}"
            for case, rival, _ in load.TARGETS
            if all(need in found for need in rivals.NEEDS[rival])
            and ("tpchgen-cli" in found or not case.startswith("lineitem"))
        }
        self.assertEqual(line["figures"].keys(), figures)
        self.assertIn("litepress, user NDJSON", line["rounds"][0])

    def test_rivals_that_are_not_installed_are_left_out_aloud(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(said):
            options = argparse.Namespace(data=pathlib.Path(folder), rows=100, sample_rows=10, scale=0.001, only=None)
            contenders = load.chosen(options, {})
        self.assertEqual({one.loader for one in contenders}, {"litepress"})
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
    def test_a_tiny_run_gives_every_figure(self):
        sizes = ["--shop", "0.001", "--tpch", "0.001", "--rows", "2k", "--faker-rows", "200"]
        line = tiny("gen.py", [*sizes, "--skip-missing"])
        cases = [case for case, needs in gen.NEEDS.items() if all(need in line["versions"] for need in needs)]
        self.assertIn("shop", cases)
        expected = {name for name in gen.TARGETS if name.partition(",")[0] in cases}
        self.assertEqual(line["figures"].keys(), expected)
        self.assertTrue(all(figure["median"] > 0 for figure in line["figures"].values()))

    def test_rivals_that_are_not_installed_are_left_out_aloud(self):
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

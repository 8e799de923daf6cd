"""The benches run tiny, so that they cannot rot: every contender, the checks, the ratios and the JSON line."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import measure
import press
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


if __name__ == "__main__":
    unittest.main()

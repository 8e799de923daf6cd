"""The bench runs tiny, so that it cannot rot: every contender, the checks, the ratios and the JSON line."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import press

BENCH = pathlib.Path(__file__).resolve().parent


class Numbers(unittest.TestCase):
    def test_people_write_numbers(self):
        cases = {"1b": 10**9, "100m": 10**8, "10k": 10**4, "1_000": 1000, "2.5k": 2500}
        for text, value in cases.items():
            self.assertEqual(press.number(text), value)


class Press(unittest.TestCase):
    def test_a_tiny_run_gives_every_figure(self):
        with tempfile.TemporaryDirectory(dir=press.TARGET) as folder:
            results = pathlib.Path(folder) / "press.jsonl"
            command = [sys.executable, BENCH / "press.py", "--rows", "200k", "--insert-rows", "100k"]
            command += ["--repeat", "1", "--dir", folder, "--results", results]
            subprocess.run([str(part) for part in command], check=True, capture_output=True)
            line = json.loads(results.read_text())
        self.assertEqual(line["rows"], 200_000)
        self.assertGreater(line["figures"]["insert time / litepress time"]["median"], 0)
        self.assertEqual(len(line["figures"]), 6)
        self.assertEqual(len(line["rounds"][0]), 7)

    def test_wrong_rows_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "user.db"
            subprocess.run([str(press.TARGET / "insert"), str(path), "1000"], check=True)
            press.verify(path, 1000)
            with self.assertRaises(SystemExit):
                press.verify(path, 1001)


if __name__ == "__main__":
    unittest.main()

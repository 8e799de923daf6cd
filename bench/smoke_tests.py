"""Runs every benchmark and every bench once, with few rows: each program works, and each figure is there.

It installs toolchains and builds every competitor, which takes minutes: `make test-bench` runs it, `make test` does not.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import competitors
import gen
import load
import measure
from suite import __main__ as command
from suite import articles, running, toolchains

BENCH = pathlib.Path(__file__).resolve().parent


def setUpModule():
    toolchains.ready("litepress")
    toolchains.ready("rust")


def tiny(script, arguments):
    """Runs one round of a bench, and returns the line that it keeps."""
    with tempfile.TemporaryDirectory(dir=measure.TARGET) as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        command = [sys.executable, BENCH / script, *arguments, "--repeat", "1", "--dir", folder, "--results", results]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        return json.loads(results.read_text())


class EveryBenchmark(unittest.TestCase):
    """Runs two benchmarks at a time: their times do not matter here."""

    ROWS = 1000
    """At most: benchmarks with fewer rows in a small run have large rows."""

    def test_every_benchmark_writes_what_it_should(self):
        collected = articles.collect()
        cases = {case.name: case for one in collected for case in one.cases}
        ready, skipped, _ = command.bring([benchmark for one in collected for benchmark in one.benchmarks])
        of_thread = threading.local()

        def attempt(benchmark):
            if not hasattr(of_thread, "plan"):
                of_thread.plan = running.Plan(pathlib.Path(tempfile.mkdtemp(dir=folder)), limit=120)
            measured = running.Measured(benchmark, min(self.ROWS, benchmark.rows))
            result = running.attempt(of_thread.plan, cases[benchmark.case], measured, measured.rows)
            return f"{benchmark.name}: {measured.why}" if measured.why else result["seconds"]

        with measure.scratch(measure.ROOT / "target") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(attempt, ready))
        failed = [outcome for outcome in outcomes if isinstance(outcome, str)]
        self.assertFalse(failed, "\n".join(failed))
        self.assertTrue(all(seconds > 0 for seconds in outcomes))
        reasons = collections.Counter(one["why"] for one in skipped)
        if os.environ.get("LITEPRESS_ALL_BENCHMARKS") == "1":
            self.assertEqual(reasons, {}, "LITEPRESS_ALL_BENCHMARKS=1 wants every toolchain")


class EveryFigure(unittest.TestCase):
    def test_jobs(self):
        line = tiny("jobs.py", ["--rows", "2k"])
        self.assertEqual([len(one["rounds"][0]) for one in line["jobs"]], [2] * 4)

    def test_press(self):
        line = tiny("press.py", ["--rows", "200k", "--insert-rows", "100k"])
        self.assertEqual(line["rows"], 200_000)
        self.assertGreater(line["figures"]["insert time / litepress time"]["median"], 0)
        self.assertEqual(len(line["figures"]), 6)
        self.assertEqual(len(line["rounds"][0]), 7)

    def test_sorted_trees(self):
        line = tiny("sorted.py", ["--rows", "20k", "--spill-rows", "20k", "--keyed-rows", "20k"])
        self.assertEqual(len(line["sqlite_settings"]), 8)
        self.assertEqual(len(line["figures"]), 7)
        self.assertEqual(len(line["rounds"][0]), 10)

    def test_objects(self):
        line = tiny("objects.py", ["--rows", "20k"])
        self.assertEqual(len(line["figures"]), 16)
        self.assertEqual(len(line["rounds"][0]), 20)

    def test_rtree(self):
        line = tiny("rtree.py", ["--rows", "20k", "--windows", "50"])
        self.assertGreater(line["figures"]["SQLite's bytes of nodes, times litepress'"]["median"], 1)

    def test_geopackages(self):
        if not shutil.which("ogr2ogr"):
            self.skipTest("there is no ogr2ogr: Debian has it in gdal-bin")
        line = tiny("geo.py", ["--rows", "3k"])
        self.assertEqual(len(line["figures"]), 3)
        self.assertEqual(len(line["rounds"][0]), 4)

    def test_mbtiles(self):
        python = toolchains.TESTED_PYTHON
        if not python.exists():
            self.skipTest("the package is not installed: make test-python does it")
        line = tiny("mbtiles.py", ["--tiles", "5k", "--python", python])
        self.assertEqual(len(line["figures"]), 3)
        self.assertEqual(len(line["rounds"][0]), 3)

    def test_full_text(self):
        with tempfile.TemporaryDirectory() as corpus:
            sources = pathlib.Path(measure.ROOT / "crates" / "fts5").rglob("*.rs")
            text = "\n\n".join(source.read_text(encoding="utf-8") for source in sources)
            (pathlib.Path(corpus) / "all.rs").write_text(text, encoding="utf-8")
            line = tiny("fts.py", ["--bytes", "40k", "--corpus", corpus])
        self.assertGreater(line["documents"], 10)
        self.assertEqual(len(line["figures"]), 8)
        self.assertEqual(len(line["rounds"][0]), 6)

    def test_check(self):
        line = tiny("check.py", ["--rows", "20k"])
        self.assertGreater(line["bytes"]["indexed"], line["bytes"]["plain"])

    def test_compact(self):
        line = tiny("compact.py", ["--rows", "20k"])
        self.assertEqual(len(line["figures"]), 4)
        self.assertEqual(len(line["rounds"][0]), 4)

    def test_merge(self):
        line = tiny("merge.py", ["--shards", "3", "--rows", "5k"])
        for name in ("own rowids, times SQLite", "own rowids, times cat", "without index, times cat", "load own rowids, times cat"):
            self.assertGreater(line["figures"][name]["median"], 0)

    def test_existing(self):
        line = tiny("existing.py", ["--rows", "80k", "--new", "20k"])
        cases = 8 + (2 if shutil.which("sqlite3") else 0)
        self.assertEqual(len(line["figures"]), cases + 2)
        self.assertEqual(len(line["rounds"][0]), 2 * cases + 1)

    def test_python(self):
        python = toolchains.TESTED_PYTHON
        if not python.exists():
            self.skipTest("the package is not installed: make test-python does it")
        with tempfile.TemporaryDirectory() as folder:
            line = tiny("python.py", ["--rows", "5k", "--tuples", "1k", "--data", folder, "--python", python])
        self.assertEqual(len(line["figures"]), 6)
        self.assertEqual(len(line["rounds"][0]), 14)

    def test_adbc(self):
        python = toolchains.TESTED_PYTHON
        if not python.exists():
            self.skipTest("the package is not installed: make test-python does it")
        with tempfile.TemporaryDirectory() as folder:
            line = tiny("adbc.py", ["--rows", "40k", "--data", folder, "--python", python])
        self.assertEqual(len(line["figures"]), 5)
        self.assertEqual(len(line["rounds"][0]), 10)

    def test_load(self):
        with tempfile.TemporaryDirectory() as folder:
            sizes = ["--rows", "5k", "--sample-rows", "1k", "--scale", "0.001"]
            line = tiny("load.py", [*sizes, "--data", folder, "--skip-missing"])
        found = line["versions"]
        figures = {
            f"{case}, times {competitor}"
            for case, competitor, _ in load.TARGETS
            if all(need in found for need in competitors.NEEDS[competitor])
            and ("tpchgen-cli" in found or not case.startswith("lineitem"))
        }
        self.assertEqual(line["figures"].keys(), figures)
        self.assertIn("litepress, user NDJSON", line["rounds"][0])

    def test_gen(self):
        sizes = ["--shop", "0.001", "--tpch", "0.001", "--rows", "2k", "--faker-rows", "200"]
        line = tiny("gen.py", [*sizes, "--skip-missing"])
        cases = [case for case, needs in gen.NEEDS.items() if all(need in line["versions"] for need in needs)]
        self.assertIn("shop", cases)
        expected = {name for name in gen.TARGETS if name.partition(",")[0] in cases}
        self.assertEqual(line["figures"].keys(), expected)
        self.assertTrue(all(figure["median"] > 0 for figure in line["figures"].values()))


if __name__ == "__main__":
    unittest.main()

"""Tests of the runner of the benchmark suite, with benchmarks that are small programs."""

import contextlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest
from unittest import mock

import measure
from suite import __main__ as command
from suite import articles, line, running, toolchains
from suite.benchmark import Absent, Case, Published, Benchmark, Wrong

FILL = """
import json, sqlite3, sys, time
target, rows, check = sys.argv[1], int(sys.argv[2]), sys.argv[3]
started = time.perf_counter()
with sqlite3.connect(target) as database:
    database.execute("CREATE TABLE fact(value INTEGER)")
    database.executemany("INSERT INTO fact VALUES (?)", ((value,) for value in range(rows)))
told = {"seconds": time.perf_counter() - started}
if target == ":memory:":
    told["check"] = database.execute(check).fetchone()
database.close()
print(json.dumps(told))
"""
ROWS = 100


def right(row, rows):
    if row != (rows, rows * (rows - 1) // 2):
        raise Wrong(f"{row} of {rows}")


CASE = Case("fake", "Facts", "SELECT count(*), sum(value) FROM fact", right)


def benchmark(method, program=FILL, place="disk", **more):
    def of(setting):
        return [sys.executable, "-c", program, setting.target, setting.rows, setting.check, setting.folder]

    more = {"needs": (), "rows": ROWS, "full_rows": 2 * ROWS, "safe": True} | more
    return Benchmark(more.pop("case", "fake"), more.pop("language", "CPython"), method, place, of, **more)


def article(*benchmarks, cases=(CASE,), absent=()):
    return articles.Article("fakes", "An article", "https://example.org", cases, benchmarks, absent)


@contextlib.contextmanager
def quiet():
    """Captures standard output and standard error."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as said:
        yield printed, said


class Runner(unittest.TestCase):
    """Runs fake benchmarks through the command line."""

    def run_suite(self, article, *given):
        """Returns the kept line, the status, standard output and standard error."""
        with tempfile.TemporaryDirectory(dir=measure.TARGET) as folder:
            results = pathlib.Path(folder) / "results.jsonl"
            given = [*given, "--dir", folder, "--results", str(results), "--no-report"]
            with quiet() as texts, mock.patch.object(articles, "collect", lambda: [article]):
                status = command.main(given)
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["results.jsonl"])
            [kept] = map(json.loads, results.read_text().splitlines())
        return kept, status, *(text.getvalue() for text in texts)

    def test_a_run_gives_every_figure(self):
        fakes = article(benchmark("plain", reference=True), benchmark("plain", place="memory"), benchmark("half", rows=50))
        kept, status, printed, _ = self.run_suite(fakes, "--repeat", "2")
        self.assertEqual(status, 0)
        self.assertEqual([one["place"] for one in kept["benchmarks"]], ["disk", "memory", "disk"])
        for one in kept["benchmarks"]:
            with self.subTest(one["name"]):
                disk = one["place"] == "disk"
                self.assertEqual(len(one["seconds"]), 2)
                self.assertEqual(one["rows_per_second"], one["rows"] / one["median"])
                self.assertGreater(one["wall_seconds"], one["median"])
                self.assertGreater(one["cpu_seconds"], 0)
                self.assertGreater(one["peak_memory_bytes"], 1 << 20)
                self.assertEqual(one["bytes"], 8192 if disk else None)
                self.assertEqual(one["sync_seconds"] is not None, disk)
                self.assertGreater(one["ceiling_seconds"], 0)
        self.assertEqual(kept["benchmarks"][0]["ratio"], {"median": 1, "min": 1, "max": 1})
        self.assertEqual(len(kept["ceilings"]["raw_write"]["fake"]["seconds"]), 2)
        self.assertIn("fake, disk: Facts", printed)
        self.assertIn("3 benchmarks measured", printed)

    def test_the_report_can_be_made_again_of_the_last_line(self):
        with tempfile.TemporaryDirectory(dir=measure.TARGET) as folder, quiet() as (printed, _):
            given = ["--dir", folder, "--results", f"{folder}/results.jsonl", "--report", f"{folder}/report"]
            with mock.patch.object(articles, "collect", lambda: [article(benchmark("plain", reference=True))]):
                command.main([*given, "--repeat", "1"])
            page = pathlib.Path(folder) / "report" / "benchmarks.html"
            made = page.read_text()
            page.unlink()
            command.main([*given, "--report-only"])
            self.assertEqual(page.read_text(), made)
        self.assertIn(str(page), printed.getvalue())

    def test_rows_and_rounds_are_those_of_the_scale_unless_given(self):
        fakes = article(benchmark("plain", reference=True))
        for given, rows in (["--scale", "small"], 100), (["--scale", "full"], 200), (["--rows", "300"], 300):
            with self.subTest(given):
                kept, *_ = self.run_suite(fakes, *given, "--repeat", "1")
                self.assertEqual(kept["benchmarks"][0]["rows"], rows)

    def test_a_benchmark_that_fails_costs_the_others_nothing(self):
        leaver = "import sys; sys.exit('no such pragma')"
        fewer = FILL.replace("range(rows)", "range(rows - 1)")
        broken = FILL + "\nwith open(target, 'r+b') as file: file.seek(4096); file.write(b'\\xff')\n"
        wrong = {
            "leaves": (leaver, "no such pragma"),
            "mute": ("pass", "no line with its seconds"),
            "chatty": (FILL + "\nprint('done')", "no line with its seconds"),
            "fast": (FILL.replace("perf_counter() - started", "perf_counter() * 1000"), "its clock says"),
            "fewer": (fewer, f"of {ROWS // running.WARM_UP}"),
            "fileless": ("print('{\"seconds\": 1e-9}')", "it made no file"),
            "broken": (broken, "malformed"),
        }
        benchmarks = [benchmark(name, program) for name, (program, _) in wrong.items()]
        benchmarks.append(benchmark("fewer", fewer, "memory"))
        kept, status, printed, said = self.run_suite(article(benchmark("plain", reference=True), *benchmarks), "--repeat", "1")
        self.assertEqual(status, 1)
        self.assertEqual([one["method"] for one in kept["benchmarks"]], ["plain"])
        self.assertEqual(len(kept["failed"]), len(benchmarks))
        for one in kept["failed"]:
            with self.subTest(one["name"]):
                self.assertIn(wrong[one["method"]][1], one["why"])
                self.assertIn(one["name"], printed)
                self.assertIn(one["name"], said)

    def test_a_program_that_does_not_start_or_cannot_be_prepared_fails(self):
        def unprepared(setting):
            raise SystemExit("no input file")

        lost = Benchmark("fake", "C", "lost", "disk", lambda setting: ["/nowhere/to/be/found"], (), 1, 1, True)
        unfed = Benchmark("fake", "C", "unfed", "disk", unprepared, (), 1, 1, True)
        kept, *_ = self.run_suite(article(benchmark("plain", reference=True), lost, unfed), "--repeat", "1")
        whys = {one["method"]: one["why"] for one in kept["failed"]}
        self.assertIn("it does not start", whys["lost"])
        self.assertIn("no input file", whys["unfed"])

    def test_a_benchmark_that_hangs_is_ended_with_all_that_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            note = pathlib.Path(folder) / "child"
            hangs = (
                "import pathlib, subprocess, time\n"
                "child = subprocess.Popen(['sleep', '600'])\n"
                f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
                "time.sleep(600)"
            )
            fakes = article(benchmark("plain", reference=True), benchmark("hangs", hangs))
            kept, *_ = self.run_suite(fakes, "--repeat", "1", "--limit", "3")
            self.assertEqual([one["why"] for one in kept["failed"]], ["it took longer than 3 s"])
            self.assertEqual(len(kept["benchmarks"]), 1)
            self.assertTrue(gone(int(note.read_text())))

    def test_a_missing_toolchain_skips_its_benchmarks_aloud(self):
        def bring():
            raise toolchains.Missing("brainfuck is not installed")

        absent = toolchains.Toolchain(bring, lambda: "none")
        fakes = article(benchmark("plain", reference=True), benchmark("odd", needs=("odd",)))
        with mock.patch.dict(toolchains.TOOLCHAINS, odd=absent):
            kept, status, printed, said = self.run_suite(fakes, "--repeat", "1")
        toolchains._outcome.cache_clear()
        self.assertEqual(status, 0)
        self.assertEqual([one["why"] for one in kept["skipped"]], ["brainfuck is not installed"])
        self.assertIn("skipped: fake/CPython/odd/disk: brainfuck is not installed", said)
        self.assertIn("brainfuck", printed)

    def test_ctrl_c_keeps_what_there_is(self):
        # Programs that a shell starts in the background ignore Ctrl-C.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        # In its second run, the second benchmark interrupts the runner, as a terminal does.
        interrupts = (
            "import os, pathlib, signal, sys, time\n"
            "seen = pathlib.Path(sys.argv[4]).parents[1] / 'prepared' / 'seen'\n"
            "if seen.exists():\n"
            "    os.kill(os.getppid(), signal.SIGINT)\n"
            "    time.sleep(600)\n"
            "seen.touch()\n"
        ) + FILL
        fakes = article(benchmark("plain", reference=True), benchmark("interrupts", interrupts), benchmark("last"))
        kept, status, _, said = self.run_suite(fakes, "--repeat", "3")
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertTrue(kept["interrupted"])
        self.assertEqual([(one["method"], len(one["seconds"])) for one in kept["benchmarks"]], [("plain", 1)])
        self.assertEqual(kept["failed"], [])
        self.assertIn("interrupted", said)

    def test_all_benchmarks_of_a_case_take_turns_there_and_back(self):
        order = []

        def once(plan, case, benchmark, rows):
            order.append((benchmark.method, rows))
            return {"seconds": 1, "bytes": 1, "peak_memory_bytes": 1}

        measured = [running.Measured(benchmark(name), ROWS) for name in "abc"]
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(running, "once", once):
            running.measure_case(running.Plan(pathlib.Path(folder), repeat=2), CASE, measured, [])
        warm, first, second = order[:3], order[3:6], order[6:]
        self.assertEqual(warm, [(name, ROWS // running.WARM_UP) for name in "abc"])
        self.assertEqual(first, [(name, ROWS) for name in "abc"])
        self.assertEqual(second, [(name, ROWS) for name in "cba"])

    def test_a_full_run_grows_as_far_as_there_is_room(self):
        def once(plan, case, benchmark, rows):
            if rows == 4000:
                raise running.Late("it took longer")
            return {"seconds": rows / 1000, "bytes": rows, "peak_memory_bytes": 1}

        one = running.Measured(benchmark("a", growth=(500, 2000, 4000, 10**6, 10**15)), 1000)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(running, "once", once), quiet() as (_, said):
            plan = running.Plan(pathlib.Path(folder), scale="full", repeat=1, limit=10**6)
            running.measure_case(plan, CASE, [one], [])
        self.assertIsNone(one.why)
        points = [{"rows": 500, "seconds": 0.5}, {"rows": 1000, "seconds": 1}, {"rows": 2000, "seconds": 2}]
        self.assertEqual(one.growth, [*points, {"rows": 10**6, "seconds": 1000}])
        self.assertIn(f"{10**15:,} rows: it would take", said.getvalue())

    def test_a_benchmark_without_room_is_skipped_and_not_failed(self):
        def once(plan, case, benchmark, rows):
            return {"seconds": 1, "bytes": 1 << 60, "peak_memory_bytes": 1}

        one = running.Measured(benchmark("huge"), ROWS)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(running, "once", once), quiet():
            running.measure_case(running.Plan(pathlib.Path(folder)), CASE, [one], [])
        benchmarks, _, failed, skipped = line.case_of([one], [], None)
        self.assertEqual((benchmarks, failed), ([], []))
        self.assertIn("GB of disk", skipped[0]["why"])


def gone(pid):
    """Returns whether a process has ended; init may take a moment to wait for it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


class Figures(unittest.TestCase):
    def test_ratios_are_of_the_same_round_and_by_row(self):
        def of(rows, seconds, **more):
            rounds = {turn: {"seconds": one} for turn, one in seconds.items()}
            return running.Measured(benchmark("a", **more), rows, rounds)

        reference = of(100, {0: 1.0, 1: 10.0, 2: 1.0}, reference=True)
        twice = of(200, {0: 1.0, 1: 10.0})
        self.assertEqual(line.ratio(twice, reference), {"median": 0.5, "min": 0.5, "max": 0.5})
        self.assertIsNone(line.ratio(twice, None))
        self.assertIsNone(line.ratio(of(1, {7: 1.0}), reference))


class Selection(unittest.TestCase):
    FAKES = article(
        benchmark("plain", reference=True),
        benchmark("generate", language="litepress"),
        benchmark("other", language="Ruby", case="metrics/other"),
        cases=(CASE, Case("metrics/other", "", "", right)),
    )

    def test_a_text_of_name_language_case_or_article_chooses(self):
        cases = {
            (): ["plain", "generate", "other"],
            ("RUBY",): ["other"],
            ("litepress", "metrics/"): ["generate", "other"],
            ("Fakes",): ["plain", "generate", "other"],
            ("cobol",): [],
        }
        for only, methods in cases.items():
            with self.subTest(only):
                self.assertEqual([one.method for one in command.choose([self.FAKES], only)], methods)

    def test_the_list_names_every_benchmark_and_runs_none(self):
        with quiet() as (printed, _), mock.patch.object(articles, "collect", lambda: [self.FAKES]):
            command.main(["--list"])
        for one in self.FAKES.benchmarks:
            self.assertIn(one.name, printed.getvalue())

    def test_a_part_of_the_suite_stays_out_of_the_figures_that_are_kept(self):
        kept = command.arguments(["--scale", "full"])
        self.assertEqual(kept.results, measure.ROOT / "bench" / "results" / "suite.jsonl")
        self.assertEqual(kept.report, measure.ROOT / "docs")
        for part in [], ["--scale", "full", "--only", "x"], ["--scale", "full", "--rows", "10"]:
            options = command.arguments(part)
            self.assertTrue(options.results.is_relative_to(measure.ROOT / "target"))
            self.assertTrue(options.report.is_relative_to(measure.ROOT / "target"))


class Collected(unittest.TestCase):
    def test_the_articles_fit_together(self):
        self.assertTrue([benchmark for one in articles.collect() for benchmark in one.benchmarks])

    def test_what_does_not_fit_together_is_named(self):
        figure = Published("fakes", "fastest", 10, 1.0)
        plain = benchmark("plain", reference=True)
        cases = {
            "benchmark fake/CPython/plain/disk stands there 2 times": article(plain, benchmark("plain")),
            "fake has no reference": article(benchmark("plain")),
            "reference of fake stands there 2 times": article(plain, benchmark("other", reference=True)),
            "which is no benchmark": article(plain, benchmark("next", after="fake/CPython/first/disk")),
            "no case lost": article(plain, benchmark("next", case="lost")),
            "no toolchain cobol": article(plain, benchmark("next", needs=("cobol",))),
            "no place tape": article(plain, benchmark("next", place="tape")),
            "no article fable": article(plain, benchmark("next", published=(Published("fable", "", 1, 1.0),))),
            "published figure ('fakes', 'fastest', 10) stands there 2 times": article(
                benchmark("plain", reference=True, published=(figure,)), absent=(Absent("fake", "x", figure, "why"),)
            ),
        }
        for wrong, fakes in cases.items():
            with self.subTest(wrong), self.assertRaises(ValueError) as raised:
                articles.check([fakes])
            self.assertIn(wrong, str(raised.exception))
        articles.check([article(plain)])


if __name__ == "__main__":
    unittest.main()

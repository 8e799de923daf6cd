"""Measures every way to fill SQLite that the articles tried, side by side, and writes a report.

In each round all benchmarks of a case take turns; a database is verified before its time counts. A benchmark is skipped
if its toolchain is missing, and named with the reason if it fails; the others go on. Ctrl-C keeps the results so far.
Appends one JSON line to the results.

    python3 bench/suite --only ruby --only litepress --repeat 1
"""

import argparse
import concurrent.futures
import json
import pathlib
import signal
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    # Python puts a folder that is run at the head of the path, so that its modules would hide others of the same name.
    sys.path[0] = str(BENCH)

import measure
from suite import articles, line, report, running, summary, toolchains
from suite.running import say

SECONDS = {"small": 1, "full": 6.5}
"""Mean time of one verified run of a benchmark, measured over runs of all benchmarks."""


def arguments(given=None):
    parser = argparse.ArgumentParser(
        prog="bench/suite", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", choices=SECONDS, default="small", help="half a second for each benchmark, or some seconds")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="benchmarks with TEXT in name or article")
    parser.add_argument("--rows", type=measure.number, help="instead of the benchmarks' own number")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--limit", type=float, help="seconds after which a benchmark is killed: 60, or 300 in a full run")
    parser.add_argument("--dir", type=pathlib.Path, default=measure.ROOT / "target", help="the disk to measure")
    parser.add_argument("--results", type=pathlib.Path, help="file of result lines: in bench/results for all of a full run, else target/suite")
    parser.add_argument("--report", type=pathlib.Path, help="folder of the report: docs for all of a full run, else target/suite")
    parser.add_argument("--list", action="store_true", help="print all benchmarks, and why some cannot run")
    parser.add_argument("--no-report", action="store_true", help="write only the result line")
    parser.add_argument("--report-only", action="store_true", help="write the report of the last line again")
    options = parser.parse_args(given)
    if options.repeat < 1 or (options.rows is not None and options.rows < 1):
        parser.error("at least one round and one row")
    kept = options.scale == "full" and not options.only and options.rows is None
    options.results = options.results or (BENCH / "results" if kept else toolchains.BUILT) / "suite.jsonl"
    options.report = options.report or (measure.ROOT / "docs" if kept else toolchains.BUILT)
    options.limit = options.limit or {"small": 60, "full": 300}[options.scale]
    return options


def choose(collected, only):
    """Returns the benchmarks whose name (case, language, method, place) or article contains one of the texts."""
    def wanted(article, benchmark):
        return not only or any(text.lower() in f"{article.name}/{benchmark.name}".lower() for text in only)

    return [benchmark for article in collected for benchmark in article.benchmarks if wanted(article, benchmark)]


def bring(chosen):
    """Installs toolchains; returns the benchmarks that can run, the skipped ones, and the versions."""
    ready, skipped, versions = [], [], {}
    needs = {need for benchmark in chosen for need in benchmark.needs}
    missing = {}

    def prepare(need):
        say(f"preparing {need}")
        try:
            toolchains.ready(need)
            return need, toolchains.version(need), None
        except toolchains.Missing as why:
            return need, None, str(why)

    # Two at a time: some steps download, and some compilers use one core.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for need, version, why in pool.map(prepare, [need for need in toolchains.TOOLCHAINS if need in needs]):
            if why is None:
                versions[need] = version
            else:
                missing[need] = why
    for benchmark in chosen:
        why = "; ".join(missing[need] for need in benchmark.needs if need in missing)
        if why:
            say(f"skipped: {benchmark.name}: {why}")
            skipped.append(benchmark.describe() | {"why": why})
        else:
            ready.append(benchmark)
    return ready, skipped, versions


def measure_all(plan, collected, ready, result):
    """Measures case by case, and adds the results to the line."""
    cases = [case for article in collected for case in article.cases if any(benchmark.case == case.name for benchmark in ready)]
    started, done = time.monotonic(), 0
    for case in cases:
        measured = [running.Measured(benchmark, plan.rows_of(benchmark)) for benchmark in ready if benchmark.case == case.name]
        say(f"{case.name}: {len(measured)} benchmarks{left(started, done, len(ready))}")
        done += len(measured)
        raw = []
        try:
            running.measure_case(plan, case, measured, raw)
        finally:
            copied = result["ceilings"]["memory_copy_bytes_per_second"]
            benchmarks, written, failed, skipped = line.case_of(measured, raw, copied)
            result["ceilings"]["raw_write"] |= {case.name: written} if written else {}
            result["benchmarks"] += benchmarks
            result["failed"] += failed
            result["skipped"] += skipped


def left(started, done, total):
    if not done:
        return ""
    passed = time.monotonic() - started
    return f", {passed / 60:.0f} min gone, about {passed / done * (total - done) / 60:.0f} left"


def run(options, collected, chosen):
    """Runs the chosen benchmarks, and returns the result line."""
    started = time.monotonic()
    ready, skipped, versions = bring(chosen)
    runs = len(ready) * (options.repeat + 1 / 4)
    say(f"{len(ready)} benchmarks, {options.repeat} rounds: about {runs * SECONDS[options.scale] / 60:.0f} minutes")
    result = {
        "scale": options.scale,
        "repeat": options.repeat,
        "interrupted": False,
        "versions": versions,
        "ceilings": {"memory_copy_bytes_per_second": None, "raw_write": {}},
        "benchmarks": [],
        "skipped": skipped,
        "failed": [],
        **line.static(collected, chosen),
    }
    try:
        with measure.scratch(options.dir) as folder:
            plan = running.Plan(folder, options.scale, options.rows, options.repeat, options.limit)
            result["ceilings"]["memory_copy_bytes_per_second"] = running.memory_copy()
            measure_all(plan, collected, ready, result)
    except KeyboardInterrupt:
        say("interrupted: what there is is kept")
        result["interrupted"] = True
    return result | {"elapsed_seconds": time.monotonic() - started}


def show(chosen):
    """Prints the benchmarks without installing or building anything."""
    for benchmark in chosen:
        why = "; ".join(lack for need in benchmark.needs if (lack := toolchains.lacking(need)))
        rows = f"{benchmark.rows:,} rows, {benchmark.full_rows:,} in a full run"
        print(f"{benchmark.name}: {rows}; needs {', '.join(benchmark.needs) or 'nothing'}{f'; skipped: {why}' if why else ''}")
    print(f"{len(chosen)} benchmarks")


def main(given=None):
    options = arguments(given)
    if options.report_only:
        last = options.results.read_text(encoding="utf-8").splitlines()[-1]
        return finish(options, json.loads(last))
    collected = articles.collect()
    chosen = choose(collected, options.only)
    if not chosen:
        raise SystemExit(f"no benchmark has {' or '.join(options.only)} in its name: --list prints them")
    if options.list:
        return show(chosen)
    result = run(options, collected, chosen)
    if result["interrupted"]:
        # Only complete runs belong to the results that the project keeps.
        if options.results.parent == BENCH / "results":
            options.results = toolchains.BUILT / options.results.name
        if options.report == measure.ROOT / "docs":
            options.report = toolchains.BUILT
    return finish(options, measure.keep(options.results, result))


def finish(options, result):
    """Prints the summary, writes the report, and returns the exit status."""
    summary.show(result)
    if not options.no_report:
        for path in report.write(result, options.report):
            print(path)
    if result["interrupted"]:
        return 128 + signal.SIGINT
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    # The programs run in their own process groups and get neither signal: the runner kills them.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())

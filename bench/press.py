#!/usr/bin/env python3
"""Measures the press: the challenge's table against the disk's own speed and against the best INSERT program.

Every round runs all contenders one after another, so that a machine whose speed drifts drifts for all of them. A
result is checked (rows, sums, litepress check) before its time counts. Prints medians with minimum and maximum, and
the ratios; appends one JSON line to results/press.jsonl.

    bench/press.py --rows 1b --insert-rows 100m --repeat 3 --dir /disk/to/measure
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
BYTES_PER_ROW = 20
BLOCK = 4 << 20


def number(text):
    """1b, 100m, 10k, 1_000."""
    text = text.replace("_", "").lower()
    factor = {"k": 10**3, "m": 10**6, "b": 10**9}.get(text[-1], 1)
    return int(float(text.rstrip("kmb")) * factor)


def run(command, **options):
    """Runs a command; its wall time in seconds, peak memory in bytes, CPU time in seconds and standard output."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen([str(part) for part in command], stdout=output, stderr=subprocess.PIPE, **options)
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        if child.returncode != 0:
            raise SystemExit(f"{command[0]} failed with {child.returncode}: {errors.decode()}")
        output.seek(0)
        text = output.read().decode()
    return {
        "seconds": wall,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_memory_bytes": usage.ru_maxrss * 1024,
        "output": text,
    }


def dd(folder, total, writers):
    """Raw sequential writes of `total` bytes past the page cache, by one or two writers, synced."""
    blocks = max(1, total // writers // BLOCK)
    files = [folder / f"raw-{writer}" for writer in range(writers)]
    commands = [
        ["dd", "if=/dev/zero", f"of={file}", f"bs={BLOCK}", f"count={blocks}", "oflag=direct", "conv=fsync"]
        for file in files
    ]
    started = time.perf_counter()
    children = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
    if any(child.wait() for child in children):
        raise SystemExit("dd failed: does the folder's file system take direct I/O?")
    seconds = time.perf_counter() - started
    for file in files:
        file.unlink()
    # Some file systems hand the blocks of a deleted file back to the disk some time later: not while the next one runs.
    os.sync()
    return {"seconds": seconds, "bytes": blocks * writers * BLOCK}


def verify(path, rows):
    """Counts and sums as SQLite reads them; raises where a value cannot be right."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        query = "SELECT count(*), min(id), max(id), count(distinct age), sum(age), sum(active), max(length(area)) FROM user"
        count, least, most, ages, age_sum, active_sum, area = database.execute(query).fetchone()
    right = (count, least, most, ages, area) == (rows, 1, rows, 3, 6)
    # Six standard deviations of a mean: 4.1 for an age, 0.5 for a flag, over the root of the rows.
    deviation = 6 / rows**0.5
    right = right and abs(age_sum / rows - 10) < 4.1 * deviation and abs(active_sum / rows - 0.5) < 0.5 * deviation
    if not right:
        raise SystemExit(f"{path}: wrong rows: {count, least, most, ages, age_sum, active_sum, area}")


def summarised(result):
    """The program's own summary in the place of its output; where the file lay is nobody's business."""
    result["summary"] = json.loads(result.pop("output"))
    result["summary"].pop("file", None)
    return result


def press(folder, rows, arguments):
    path = folder / "press.db"
    command = [TARGET / "litepress", "gen", path, "--preset", "user", "--rows", rows]
    result = run([*command, "--replace", "--progress", "none", "--json", *arguments])
    return summarised(result)


def discard(rows):
    command = [TARGET / "litepress", "gen", "--discard", "--preset", "user", "--rows", rows]
    result = run([*command, "--progress", "none", "--json"])
    return summarised(result)


def check(path):
    """The second of two runs: the file is in the page cache then, if it fits."""
    command = [TARGET / "litepress", "check", path, "--progress", "none", "--json"]
    run(command)
    return run(command)


def insert(folder, rows):
    path = folder / "insert.db"
    path.unlink(missing_ok=True)
    return run([TARGET / "insert", path, rows])


def one_round(folder, options):
    """All contenders once."""
    results = {}
    total = options.rows * BYTES_PER_ROW
    results["raw write, 1 writer"] = dd(folder, total, 1)
    results["raw write, 2 writers"] = dd(folder, total, 2)
    results["litepress"] = press(folder, options.rows, [])
    path = folder / "press.db"
    results["litepress"]["bytes"] = path.stat().st_size
    verify(path, options.rows)
    path.unlink()
    os.sync()
    results["litepress, pages dropped"] = discard(options.rows)
    results["litepress, insert size"] = press(folder, options.insert_rows, [])
    results["litepress, insert size"]["bytes"] = path.stat().st_size
    verify(path, options.insert_rows)
    results["check"] = check(path)
    results["check"]["bytes"] = path.stat().st_size
    path.unlink()
    results["insert"] = insert(folder, options.insert_rows)
    verify(folder / "insert.db", options.insert_rows)
    (folder / "insert.db").unlink()
    for result in results.values():
        result.pop("output", None)
    return results


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratios(rounds, options):
    """Pairs of the same round, so that drift cancels."""
    def ceiling(one):
        raw = [one["raw write, 1 writer"], one["raw write, 2 writers"]]
        return max(result["bytes"] / result["seconds"] for result in raw)

    def of(one, name, key="seconds"):
        return one[name][key]

    return {
        "litepress time / raw write time": spread(
            [of(r, "litepress") / (of(r, "litepress", "bytes") / ceiling(r)) for r in rounds]
        ),
        "insert time / litepress time": spread([of(r, "insert") / of(r, "litepress, insert size") for r in rounds]),
        "rows/s, pages dropped": spread([options.rows / of(r, "litepress, pages dropped") for r in rounds]),
        "check bytes/s": spread([of(r, "check", "bytes") / of(r, "check") for r in rounds]),
        "raw write bytes/s": spread([ceiling(r) for r in rounds]),
        "litepress peak memory, bytes": spread([of(r, "litepress", "peak_memory_bytes") for r in rounds]),
    }


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    memory = next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_bytes": memory, "kernel": platform.release()}


def report(rounds, figures, options):
    print(f"\n{options.rows:,} rows (insert and check: {options.insert_rows:,}), {len(rounds)} rounds")
    print(f"{'contender':28}{'median s':>10}{'min':>9}{'max':>9}{'CPU s':>9}{'peak MiB':>10}")
    for name in rounds[0]:
        seconds = spread([one[name]["seconds"] for one in rounds])
        cpu = statistics.median(one[name].get("cpu_seconds", 0) for one in rounds)
        peak = max(one[name].get("peak_memory_bytes", 0) for one in rounds) >> 20
        print(f"{name:28}{seconds['median']:10.2f}{seconds['min']:9.2f}{seconds['max']:9.2f}{cpu:9.2f}{peak:10}")
    print()
    for name, figure in figures.items():
        print(f"{name:34}{figure['median']:18,.2f}   [{figure['min']:,.2f} .. {figure['max']:,.2f}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("100m"))
    parser.add_argument("--insert-rows", type=number, default=number("10m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "press.jsonl")
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="litepress-bench-", dir=options.dir))
    try:
        needed = 2 * options.rows * BYTES_PER_ROW
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise SystemExit(f"{folder} has {free:,} bytes free; {options.rows:,} rows need {needed:,}")
        rounds = []
        for turn in range(options.repeat):
            print(f"round {turn + 1} of {options.repeat}", file=sys.stderr)
            rounds.append(one_round(folder, options))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = ratios(rounds, options)
    report(rounds, figures, options)
    line = {
        "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "rows": options.rows,
        "insert_rows": options.insert_rows,
        "machine": machine(),
        "figures": figures,
        "rounds": rounds,
    }
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with open(options.results, "a", encoding="utf-8") as results:
        results.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()

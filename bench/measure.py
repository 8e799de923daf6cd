"""Runs engines and keeps results, for all benches: time and memory, the disk's own speed, spreads, the machine."""

import contextlib
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
UNOPTIMIZED = os.environ.get("LITEPRESS_BENCH_UNOPTIMIZED") == "1"
"""Set for tests, where only the rows matter: programs in Rust are those of the dev profile, which `cargo test` has built."""
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / ("debug" if UNOPTIMIZED else "release")
BLOCK = 4 << 20
SMALL = 64 << 20


def number(text):
    """Reads 1b, 100m, 10k, 1_000."""
    text = text.replace("_", "").lower()
    factor = {"k": 10**3, "m": 10**6, "b": 10**9}.get(text[-1], 1)
    return int(float(text.rstrip("kmb")) * factor)


def run(command, **options):
    """Runs a command, and returns wall and CPU time in seconds, peak memory in bytes, and standard output."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen([str(part) for part in command], stdout=output, stderr=subprocess.PIPE, **options)
        with child.stderr:
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


def remove(path, patience=120):
    """Deletes a file, and waits until the file system has freed the blocks of a large one.

    Some file systems free them later, while the next engine runs and needs the room. The wait ends after `patience`
    seconds, because other programs may fill the disk meanwhile.
    """
    size = path.stat().st_size
    before = shutil.disk_usage(path.parent).free
    path.unlink()
    if size < SMALL:
        return
    os.sync()
    deadline = time.monotonic() + patience
    while shutil.disk_usage(path.parent).free < before + size // 2 and time.monotonic() < deadline:
        time.sleep(0.2)


@contextlib.contextmanager
def reading(path):
    """Opens a database read-only and closes it afterwards: an open file keeps its blocks when it is deleted."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        yield database


@contextlib.contextmanager
def scratch(parent):
    """Makes a folder for the databases of a bench, and removes it afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="litepress-bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def time_of(result):
    """Returns the time that counts, in seconds: SQLite's own where it is known, without that of its process."""
    return result.get("sqlite_seconds", result["seconds"])


def keep_best(results, name, result):
    """Keeps a result under a name, unless a faster one is there."""
    results[name] = min(results.get(name, result), result, key=time_of)


def repeat(times, one_round):
    """Runs a round several times, and returns the results."""
    rounds = []
    for turn in range(times):
        print(f"round {turn + 1} of {times}", file=sys.stderr)
        rounds.append(one_round())
    return rounds


def dd(folder, total, writers):
    """Writes `total` bytes sequentially past the page cache with one or two writers, synced."""
    blocks = max(1, total // writers // BLOCK)
    files = [folder / f"raw-{writer}" for writer in range(writers)]
    commands = [
        ["dd", "if=/dev/zero", f"of={file}", f"bs={BLOCK}", f"count={blocks}", "oflag=direct", "conv=fsync"]
        for file in files
    ]
    started = time.perf_counter()
    children = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
    try:
        failed = any([child.wait() for child in children])
        seconds = time.perf_counter() - started
    finally:
        for file in files:
            if file.exists():
                remove(file)
    if failed:
        raise SystemExit("dd failed: does the folder's file system take direct I/O?")
    return {"seconds": seconds, "bytes": blocks * writers * BLOCK}


def gen(path, arguments):
    """Runs `litepress generate`, and returns its summary, without the path, instead of its output."""
    command = [TARGET / "litepress", "generate", *([path, "--overwrite"] if path else ["--discard"])]
    result = run([*command, *arguments, "--progress", "none", "--json"])
    result["summary"] = json.loads(result.pop("output"))
    result["summary"].pop("file", None)
    if path:
        result["bytes"] = path.stat().st_size
    return result


def insert(path, arguments):
    """Runs the best INSERT program; `sqlite_seconds` is the time of SQLite alone, without choosing the order of rows."""
    path.unlink(missing_ok=True)
    result = run([TARGET / "insert", path, *arguments])
    result |= json.loads(result.pop("output"))
    result["sqlite_seconds"] = result["insert_seconds"] + result["index_seconds"]
    result["bytes"] = path.stat().st_size
    return result


def check(path):
    """Runs litepress check twice, and returns the second run: the file is in the page cache then, if it fits."""
    command = [TARGET / "litepress", "check", path, "--progress", "none", "--json"]
    run(command)
    result = run(command)
    del result["output"]
    result["bytes"] = path.stat().st_size
    return result


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    memory = next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_bytes": memory, "kernel": platform.release()}


def report(rounds, figures):
    """Prints engines and figures over all rounds."""
    print(f"{'engine':36}{'median s':>10}{'min':>9}{'max':>9}{'CPU s':>9}{'peak MiB':>10}")
    for name in rounds[0]:
        results = [one[name] for one in rounds if name in one]
        seconds = spread([result["seconds"] for result in results])
        cpu = statistics.median(result.get("cpu_seconds", 0) for result in results)
        peak = max(result.get("peak_memory_bytes", 0) for result in results) >> 20
        print(f"{name:36}{seconds['median']:10.2f}{seconds['min']:9.2f}{seconds['max']:9.2f}{cpu:9.2f}{peak:10}")
    print()
    for name, figure in figures.items():
        print(f"{name:48}{figure['median']:18,.2f}   [{figure['min']:,.2f} .. {figure['max']:,.2f}]")


def keep(results, line):
    """Appends a run to a file of results as one JSON line, and returns the line."""
    line = {"when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": machine()} | line
    results.parent.mkdir(parents=True, exist_ok=True)
    with open(results, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return line

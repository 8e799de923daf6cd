"""Runs benchmarks in rounds, in which all of a case take turns: each run is a process, verified before its time counts.

A benchmark that fails is left out with the reason; the others go on. ../README.md describes the result.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import measure
from suite.benchmark import Benchmark, Setting, Wrong

WARM_UP = 20
"""Divides the rows of a run that warms up."""
CHECKED = 8 << 20
"""Largest file whose structure SQLite checks: the same program writes larger ones."""
START = 64 << 20
"""Memory of a program that does not depend on its rows."""
RAW = 32 << 20
"""Least number of bytes to measure the disk's speed with."""
MEMORY_COPY = """
import time
size, best = 256 << 20, 0
source, target = memoryview(bytearray(size)), memoryview(bytearray(size))
for _ in range(8):
    started = time.perf_counter()
    target[:] = source
    best = max(best, size / (time.perf_counter() - started))
print(best)
"""


class Failed(Exception):
    """A run does not count; the message is the reason."""


class Late(Failed):
    """A run exceeded the time limit."""


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Plan:
    """The options for all benchmarks of a run."""

    folder: pathlib.Path
    scale: str = "small"
    rows: int | None = None
    """Replaces the benchmarks' own number of rows."""
    repeat: int = 3
    limit: float = 60
    """Seconds after which a benchmark is killed."""

    def rows_of(self, benchmark):
        return self.rows or (benchmark.rows if self.scale == "small" else benchmark.full_rows)


@dataclasses.dataclass
class Measured:
    """A benchmark and its measurements."""

    benchmark: Benchmark
    rows: int
    rounds: dict[int, dict] = dataclasses.field(default_factory=dict)
    growth: list[dict] = dataclasses.field(default_factory=list)
    why: str | None = None
    too_large: bool = False

    @property
    def seconds(self):
        return [one["seconds"] for one in self.rounds.values()]


def process(command, limit):
    """Runs a program in its own process group, and kills the rest of the group when it ends or exceeds its time.

    The numbers of process and group cannot be reused until the program is waited for.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        try:
            command = [str(part) for part in command]
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)
        except OSError as error:
            raise Failed(f"it does not start: {error}") from None
        late = threading.Timer(limit, os.killpg, (child.pid, signal.SIGKILL))
        late.start()
        try:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - started
        finally:
            late.cancel()
            late.join()
            os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        said, complaint = (file.seek(0) or file.read().decode(errors="replace").strip() for file in (output, errors))
    if child.returncode == -signal.SIGKILL and wall >= limit:
        raise Late(f"it took longer than {limit:g} s")
    if child.returncode:
        raise Failed(f"it left with {child.returncode}: {complaint[-500:]}")
    return said, {
        "wall_seconds": wall,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_memory_bytes": usage.ru_maxrss * 1024,
    }


def setting(plan, case, benchmark, rows):
    work, prepared = plan.folder / "work", plan.folder / "prepared"
    target = ":memory:" if benchmark.place == "memory" else str(work / "made.db")
    return Setting(target, rows, case.query, work / "spare", prepared)


@contextlib.contextmanager
def emptied(plan):
    """Makes the folder of one run, and removes it afterwards; the folder of input files stays."""
    (plan.folder / "prepared").mkdir(parents=True, exist_ok=True)
    (plan.folder / "work" / "spare").mkdir(parents=True)
    try:
        yield
    finally:
        empty(plan.folder / "work")


def once(plan, case, benchmark, rows):
    """Runs a benchmark once, verifies it, and returns its measurements."""
    with emptied(plan):
        given = setting(plan, case, benchmark, rows)
        said, result = process(benchmark.command(given), plan.limit)
        result["seconds"], check = answer(said, result["wall_seconds"])
        if benchmark.place == "disk":
            result |= on_disk(pathlib.Path(given.target), case, benchmark, rows)
        if benchmark.place == "memory":
            verify(case, benchmark, check, rows)
    return result


def prepare(plan, case, benchmark, rows):
    """Makes the input files before the first round, so that no benchmark runs while they are written to the disk."""
    with emptied(plan):
        benchmark.command(setting(plan, case, benchmark, rows))
    return True


def answer(said, wall):
    """Returns the seconds that a program printed, and the facts of a database in memory."""
    try:
        told = json.loads(said)
        seconds, check = told["seconds"], told.get("check")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Failed(f"it printed no line with its seconds: {said[:200]!r}") from None
    if not 0 < seconds <= wall:
        raise Wrong(f"its clock says {seconds} s, ours {wall} s")
    return seconds, check


def on_disk(path, case, benchmark, rows):
    """Syncs the file, which times the bytes left in the system's cache, then verifies it with SQLite."""
    if not path.is_file():
        raise Wrong("it made no file")
    started = time.perf_counter()
    with open(path, "rb") as file:
        os.fsync(file)
    took = time.perf_counter() - started
    size = path.stat().st_size
    with measure.reading(path) as database:
        verify(case, benchmark, database.execute(case.query).fetchone(), rows)
        if size <= CHECKED:
            [found] = database.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise Wrong(f"PRAGMA integrity_check: {found}")
    return {"sync_seconds": took, "bytes": size}


def verify(case, benchmark, row, rows):
    if row is None:
        raise Wrong("no row answers the case's query")
    (benchmark.verify or case.verify)(tuple(row), rows)


def empty(folder):
    """Empties a folder; `measure.remove` waits for the blocks of large files."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            measure.remove(path, patience=10)
    shutil.rmtree(folder)


def attempt(plan, case, one, rows, what=None, late_is_failed=True):
    """Runs a benchmark or its preparation; returns its result, or `None` and keeps the reason.

    The code of a benchmark may raise anything; the other benches' code, which makes its input files, raises `SystemExit`.
    """
    try:
        return (what or once)(plan, case, one.benchmark, rows)
    except Late as why:
        if not late_is_failed:
            say(f"left out: {one.benchmark.name}, {rows:,} rows: {why}")
            return None
        one.why = str(why)
    except (Failed, Wrong) as why:
        one.why = str(why)
    except (Exception, SystemExit) as why:
        one.why = f"{type(why).__name__}: {why}"
    one.why = one.why.replace(f"{measure.ROOT}/", "")
    say(f"failed: {one.benchmark.name}, {rows:,} rows: {one.why}")
    return None


def measure_case(plan, case, measured, raw):
    """Warms up, then runs all rounds; adds to `measured` and `raw` after each run, so that Ctrl-C loses nothing."""
    going = [one for one in measured if warm(plan, case, one)]
    os.sync()
    for turn in range(plan.repeat):
        # Alternates the direction, so that no benchmark always follows the same one.
        for one in going[:: -1 if turn % 2 else 1]:
            if result := attempt(plan, case, one, one.rows):
                one.rounds[turn] = result
        going = [one for one in going if not one.why]
        written = [one.rounds[turn]["bytes"] for one in going if one.benchmark.place == "disk"]
        if written:
            raw.append(raw_write(plan.folder, max(written)))
    if plan.scale == "full":
        for one in going:
            grow(plan, case, one)


def warm(plan, case, one):
    """Runs with few rows, which reads the program from the disk, and estimates memory and disk of all rows."""
    rows = max(1, one.rows // WARM_UP)
    result = attempt(plan, case, one, rows)
    if not result:
        return False
    if why := too_large(plan, result, one.rows / rows):
        one.why, one.too_large = why, True
        say(f"skipped: {one.benchmark.name}: {why}")
        return False
    return attempt(plan, case, one, one.rows, prepare)


def too_large(plan, sample, times):
    """Returns why `times` times the sample has no room, or `None`. A database and its making take twice its size."""
    disk, free_disk = 2 * times * sample.get("bytes", 0), shutil.disk_usage(plan.folder).free
    memory, free_memory = times * max(0, sample["peak_memory_bytes"] - START), available_memory()
    if disk > free_disk:
        return f"it wants {disk / 1e9:.0f} GB of disk, and {free_disk / 1e9:.0f} GB are free"
    if memory > 0.8 * free_memory:
        return f"it wants {memory / 1e9:.0f} GB of memory, and {free_memory / 1e9:.0f} GB are free"
    return None


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def grow(plan, case, one):
    """Measures the curve of cost by rows, once for each size. Points that take too long are left out and not failures."""
    if not one.benchmark.growth:
        return
    sample = one.rounds[max(one.rounds)]
    one.growth.append({"rows": one.rows, "seconds": statistics.median(one.seconds)})
    for rows in one.benchmark.growth:
        if rows == one.rows:
            continue
        times = rows / one.rows
        seconds = sample["seconds"] * times
        why = f"it would take {seconds:.0f} s" if seconds > plan.limit else too_large(plan, sample, times)
        if why:
            say(f"left out: {one.benchmark.name}, {rows:,} rows: {why}")
        elif result := attempt(plan, case, one, rows, late_is_failed=False):
            one.growth.append({"rows": rows, "seconds": result["seconds"]})
    one.growth.sort(key=lambda point: point["rows"])


def raw_write(folder, size):
    """Returns the fastest raw write of `size` bytes, with one writer or two; `None` without direct I/O."""
    try:
        return min((measure.dd(folder, max(size, RAW), writers) for writers in (1, 2)), key=lambda one: one["seconds"])
    except SystemExit as why:
        say(f"no speed of the disk: {why}")
        return None


def memory_copy():
    """Returns bytes a second, measured in a separate process: Linux counts this process's peak memory for its children."""
    return float(process([sys.executable, "-c", MEMORY_COPY], 60)[0])

"""Runs benchmarks: each run a process of its own, verified before its time counts, in rounds in which all of a case take turns.

A benchmark that fails is left out, with the reason, and costs the others nothing. What a run leaves is described in
../README.md.
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
"""A warming run has so many times fewer rows."""
CHECKED = 8 << 20
"""SQLite checks the structure of files up to this size: that of larger ones comes from the same program."""
START = 64 << 20
"""What a program has in memory, whatever the rows."""
RAW = 32 << 20
"""The disk's speed is measured with no less."""
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
    """Why a run of a benchmark does not count."""


class Late(Failed):
    """The time limit ended it."""


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What holds for all benchmarks of a run."""

    folder: pathlib.Path
    scale: str = "small"
    rows: int | None = None
    """In the place of the benchmarks' own."""
    repeat: int = 3
    limit: float = 60
    """Seconds after which a benchmark is ended."""

    def rows_of(self, benchmark):
        return self.rows or (benchmark.rows if self.scale == "small" else benchmark.full_rows)


@dataclasses.dataclass
class Measured:
    """A benchmark, and what has been measured of it."""

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
    """Runs a program in a process group of its own, of which nothing is left when it ends, or when its time is over.

    Until the program is waited for, its number is nobody else's, and neither is the group's.
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
    """A folder for one run, and one that stays."""
    (plan.folder / "prepared").mkdir(parents=True, exist_ok=True)
    (plan.folder / "work" / "spare").mkdir(parents=True)
    try:
        yield
    finally:
        empty(plan.folder / "work")


def once(plan, case, benchmark, rows):
    """One run: what it took, and what the program said."""
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
    """Makes the input files of the rounds, that no round's first benchmark has them on the way to the disk while it runs."""
    with emptied(plan):
        benchmark.command(setting(plan, case, benchmark, rows))
    return True


def answer(said, wall):
    """Of the line that a program has printed the seconds, and the facts of a database in memory."""
    try:
        told = json.loads(said)
        seconds, check = told["seconds"], told.get("check")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Failed(f"it printed no line with its seconds: {said[:200]!r}") from None
    if not 0 < seconds <= wall:
        raise Wrong(f"its clock says {seconds} s, ours {wall} s")
    return seconds, check


def on_disk(path, case, benchmark, rows):
    """Synced first, while the system has what the program left to it; then read by SQLite."""
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
    """Large files first, as `measure.remove` does it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            measure.remove(path, patience=10)
    shutil.rmtree(folder)


def attempt(plan, case, one, rows, what=None, late_is_failed=True):
    """One run (or its preparation), whatever becomes of it: its result, or None and the reason kept.

    What a benchmark's own code may raise is anything, and what it prepares with the other benches' code ends those.
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
    """Warms up, then so many rounds; `measured` and `raw` fill up as it goes, so that Ctrl-C loses nothing."""
    going = [one for one in measured if warm(plan, case, one)]
    os.sync()
    for turn in range(plan.repeat):
        # Forwards and backwards, so that no benchmark always follows the same one.
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
    """Runs with few rows: the first run reads the program from the disk, and shows what the rest will take."""
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
    """What so many times the rows want and is not there, or None. A database and what makes it want twice its size."""
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
    """The curve of cost by rows, once a size. What takes too long is a point that is left out, no failure."""
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
    """As fast as the disk takes so many bytes, from one writer or two; None where its file system has no direct I/O."""
    try:
        return min((measure.dd(folder, max(size, RAW), writers) for writers in (1, 2)), key=lambda one: one["seconds"])
    except SystemExit as why:
        say(f"no speed of the disk: {why}")
        return None


def memory_copy():
    """Bytes a second, in a process of its own: Linux counts what this one ever had among what its children had."""
    return float(process([sys.executable, "-c", MEMORY_COPY], 60)[0])

"""Works for hours on the same databases, beside a reader and a writer, and fails if memory, open files or folders grow.

    tests/soak.py PROGRAM --hours 6

A round generates, loads, appends, updates, indexes, compacts and merges. Its databases are verified by `litepress check` and by
SQLite. At the end of a round nothing may be left but the databases. The highest memory of each command must stay as it was in the
first rounds, and so must the open files and the memory of this process, whose reader and writer use SQLite all the time.
"""

import argparse
import os
import pathlib
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

WARM_UP = 5
"""Rounds whose highest memory is the measure of all later ones."""
GROWTH = 1.3
"""Growth of the highest memory that is noise: threads meet in another order each time."""
PEAK = "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; \
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(code)"


class Client(threading.Thread):
    """Reads, or writes, one database until it is stopped."""

    def __init__(self, path, writes):
        super().__init__(daemon=True)
        self.path, self.writes, self.done, self.failed, self.is_over = path, writes, 0, None, threading.Event()

    def run(self):
        try:
            while not self.is_over.wait(0.05):
                database = sqlite3.connect(self.path, timeout=60)
                try:
                    self.use(database)
                finally:
                    database.close()
                self.done += 1
        except Exception as error:  # The main thread reports it.
            self.failed = error

    def use(self, database):
        if self.writes:
            with database:
                database.execute("INSERT INTO note (text) VALUES (?)", (f"note {self.done}",))
            return
        with database:
            database.execute("BEGIN")
            first = database.execute("SELECT count(*), sum(area) FROM event").fetchone()
            assert first == database.execute("SELECT count(*), sum(area) FROM event NOT INDEXED").fetchone(), "a reader sees a change"


class Soak:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.random = os.path.abspath(program), folder, random.Random(seed)
        self.peaks, self.round = {}, 0

    def litepress(self, *arguments):
        """Runs a command, which must succeed, and keeps its highest memory."""
        run = subprocess.run(
            [sys.executable, "-c", PEAK, self.program, *map(str, arguments), "--threads", "2"],
            cwd=self.folder, capture_output=True, text=True, timeout=1800,
        )  # fmt: skip
        if run.returncode:
            raise SystemExit(f"round {self.round}: litepress {' '.join(map(str, arguments))}: {run.stdout}{run.stderr}")
        name = " ".join(word for word in arguments[:1] + arguments[4:] if str(word).startswith("--") or word is arguments[0])
        self.peaks.setdefault(name, []).append(int(run.stderr.split()[-1]))

    def csv(self, name, first, rows):
        lines = (f"{first + row},{self.random.randrange(1000)},text {self.random.randrange(10**6)}\n" for row in range(rows))
        (self.folder / name).write_text("id,area,note\n" + "".join(lines))

    def work(self):
        """Makes a round. The rows of each are of another number, from the same range."""
        rows = self.random.randrange(20_000, 40_000)
        self.csv("event.csv", 1, rows)
        self.litepress("load", "app.db", "event.csv", "--overwrite", "--primary-key", "id", "--index", "area")
        with sqlite3.connect(self.folder / "app.db") as database:
            database.execute(f"PRAGMA journal_mode = {self.random.choice(['wal', 'delete'])}")
            database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
        database.close()
        clients = [Client(self.folder / "app.db", writes) for writes in (False, True)]
        for client in clients:
            client.start()
        self.csv("more.csv", rows + 1, rows)
        self.litepress("load", "app.db", "more.csv", "--table", "event", "--append")
        self.csv("change.csv", rows // 2, rows)
        self.litepress("load", "app.db", "change.csv", "--table", "event", "--append", "--on-conflict", "update")
        self.litepress("index", "app.db", "CREATE INDEX notes ON event (note, area)")
        self.litepress("reindex", "app.db")
        for client in clients:
            client.is_over.set()
        for client in clients:
            client.join()
            if client.failed or not client.done:
                raise SystemExit(f"round {self.round}: a client: {client.failed or 'it came to nothing'}")
        self.litepress("compact", "app.db")
        self.litepress("generate", "made.db", "--preset", "shop", "--scale", "0.02", "--seed", self.round, "--overwrite")
        self.litepress("compact", "app.db", "copy.db", "--overwrite")
        self.litepress("merge", "all.db", "app.db", "copy.db", "--rowids", "renumber", "--overwrite")
        self.verify(clients[1].done, 2 * rows)

    def verify(self, notes, events):
        for name in ("app.db", "copy.db", "all.db", "made.db"):
            self.litepress("check", name)
            database = sqlite3.connect(self.folder / name)
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], name
            if name == "app.db":
                found = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("note", "event")]
                assert found == [notes, events], (found, notes, events)
            database.close()
        left = sorted(path.name for path in self.folder.iterdir())
        expected = ["all.db", "app.db", "change.csv", "copy.db", "event.csv", "made.db", "more.csv"]
        assert left == expected, f"round {self.round} leaves {set(left) - set(expected)}"

    def check_growth(self):
        for name, peaks in self.peaks.items():
            before, now = max(peaks[: WARM_UP * 4]), peaks[-1]
            if now > before * GROWTH + 10_000:
                raise SystemExit(f"round {self.round}: {name} took {now} KiB, and {before} KiB at first")


def own_use():
    """Returns the open files and the highest memory of this process, in KiB."""
    return len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--hours", type=float, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    end = time.monotonic() + options.hours * 3600
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as spills:
        os.environ["TMPDIR"] = spills
        soak, first = Soak(options.program, pathlib.Path(folder), options.seed), None
        while time.monotonic() < end or soak.round < 1:
            soak.round += 1
            soak.work()
            soak.check_growth()
            assert not os.listdir(spills), "temporary files are left"
            files, memory = own_use()
            if soak.round == WARM_UP:
                first = (files, memory)
            if first and (files > first[0] or memory > first[1] * GROWTH):
                raise SystemExit(f"round {soak.round}: {files} open files and {memory} KiB of this process, at first {first}")
        peak = max(map(max, soak.peaks.values()))
        runs = sum(map(len, soak.peaks.values()))
        print(f"{soak.round} rounds, {runs} runs of the program, all verified; highest memory of a run {peak / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

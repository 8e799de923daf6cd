"""Works for hours on the same databases, beside a reader and a writer, and fails if memory, open files, folders or databases grow.

    tests/soak.py PROGRAM --hours 6 --folder FOLDER

A round generates, loads, appends, updates, indexes, compacts and merges. Its databases are verified by `litepress check` and by
SQLite. One database is kept through all rounds: it gets new rows, old ones are deleted, and its size must stay. At the end of a
round nothing may be left but the databases. The highest memory of each command must stay as it was in the first rounds, and so must
the open files and the memory of this process, whose reader and writer use SQLite all the time.

With `--folder`, a run that was stopped goes on: the hours, the kept database and the first measures are in the folder.
"""

import argparse
import contextlib
import json
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

WARM_UP = 100
"""Rounds whose highest memory, and sizes, are the measure of all later ones: a full-text table joins its parts every 16 rounds, or more."""
GROWTH = 1.3
"""Growth that is noise: threads meet in another order each time, and rounds differ in their rows."""
KEPT_ROWS = 100_000
"""Rows that stay in the kept database after a round."""
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
        self.program, self.folder, self.seed = os.path.abspath(program), folder, seed
        self.account = {"seconds": 0.0, "rounds": 0, "runs": 0, "first": {}, "last": {}}
        self.account_file = folder / "soak.json"
        if self.account_file.exists():
            self.account = json.loads(self.account_file.read_text())
        self.random = random.Random(f"{seed} {self.account['rounds']}")

    def fail(self, text):
        raise SystemExit(f"round {self.account['rounds']}: {text}")

    def measure(self, name, value):
        """Fails if a measure is higher than the highest of the first rounds and noise."""
        first, last = self.account["first"], self.account["last"]
        if self.account["rounds"] <= WARM_UP:
            first[name] = max(first.get(name, 0), value)
        elif value > first[name] * GROWTH + 10_000:
            self.fail(f"{name} took {value} KiB, and {first[name]} KiB at first")
        last[name] = value

    def litepress(self, *arguments):
        """Runs a command, which must succeed, and measures its highest memory."""
        run = subprocess.run(
            [sys.executable, "-c", PEAK, self.program, *map(str, arguments), "--threads", "2"],
            cwd=self.folder, capture_output=True, text=True, timeout=1800,
        )  # fmt: skip
        if run.returncode:
            self.fail(f"litepress {' '.join(map(str, arguments))}: {run.stdout}{run.stderr}")
        options = [str(word) for word in arguments[4:] if str(word).startswith("--")]
        self.measure(" ".join([arguments[0], *(["kept.db"] if "kept.db" in arguments else []), *options]), int(run.stderr.split()[-1]))
        self.account["runs"] += 1

    @contextlib.contextmanager
    def clients(self, name):
        """Reads and writes a database meanwhile. Gives a list that holds the number of notes written, at the end."""
        clients, notes = [Client(self.folder / name, writes) for writes in (False, True)], []
        for client in clients:
            client.start()
        yield notes
        for client in clients:
            client.is_over.set()
        for client in clients:
            client.join()
            if client.failed or not client.done:
                self.fail(f"a client of {name}: {client.failed or 'it came to nothing'}")
        notes.append(clients[1].done)

    def csv(self, name, first, rows):
        lines = (f"{first + row},{self.random.randrange(1000)},text {self.random.randrange(10**6)}\n" for row in range(rows))
        (self.folder / name).write_text("id,area,note\n" + "".join(lines))

    def sql(self, name, *statements):
        """Returns the first value of the last statement."""
        database = sqlite3.connect(self.folder / name, timeout=60)
        try:
            with database:
                for statement in statements:
                    row = database.execute(statement).fetchone()
            return row[0] if row else None
        finally:
            database.close()

    def work(self):
        """Makes a round. The rows of each are of another number, from the same range."""
        self.account["rounds"] += 1
        rows = self.random.randrange(20_000, 40_000)
        self.csv("event.csv", 1, rows)
        self.litepress("load", "app.db", "event.csv", "--overwrite", "--primary-key", "id", "--index", "area")
        self.sql("app.db", f"PRAGMA journal_mode = {self.random.choice(['wal', 'delete'])}")
        self.sql("app.db", "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
        with self.clients("app.db") as notes:
            self.csv("more.csv", rows + 1, rows)
            self.litepress("load", "app.db", "more.csv", "--table", "event", "--append")
            self.csv("change.csv", rows // 2, rows)
            self.litepress("load", "app.db", "change.csv", "--table", "event", "--append", "--on-conflict", "update")
            self.litepress("index", "app.db", "CREATE INDEX notes ON event (note, area)")
            self.litepress("reindex", "app.db")
        self.litepress("compact", "app.db")
        self.litepress("generate", "made.db", "--preset", "shop", "--scale", "0.02", "--seed", self.account["rounds"], "--overwrite")
        self.litepress("compact", "app.db", "copy.db", "--overwrite")
        self.litepress("merge", "all.db", "app.db", "copy.db", "--rowids", "renumber", "--overwrite")
        self.keep(rows)
        self.verify({"note": notes[0], "event": 2 * rows})

    def keep(self, rows):
        """Adds rows to the kept database, changes some, and deletes the oldest."""
        if not (self.folder / "kept.db").exists():
            self.csv("event.csv", 1, KEPT_ROWS)
            self.litepress("load", "kept.db", "event.csv", "--primary-key", "id", "--index", "area", "--fts", "note")
            self.sql("kept.db", "PRAGMA journal_mode = wal")
        self.sql("kept.db", "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT)")
        last = self.sql("kept.db", "SELECT max(id) FROM event")
        with self.clients("kept.db"):
            self.csv("more.csv", last + 1, rows)
            self.litepress("load", "kept.db", "more.csv", "--table", "event", "--append")
            self.csv("change.csv", last - rows // 2, rows)
            self.litepress("load", "kept.db", "change.csv", "--table", "event", "--append", "--on-conflict", "update")
            last += rows
            self.sql("kept.db", f"DELETE FROM event WHERE id <= {last - KEPT_ROWS}", "DELETE FROM note")
        self.measure("the file kept.db", (self.folder / "kept.db").stat().st_size // 1024)

    def verify(self, counts):
        for name in ("app.db", "copy.db", "all.db", "made.db", "kept.db"):
            # Clients that close a database at one moment leave its log, which the next one to open it empties.
            if (found := self.sql(name, "PRAGMA integrity_check")) != "ok":
                self.fail(f"{name}: {found}")
            self.litepress("check", name)
        for table, count in counts.items():
            if (found := self.sql("app.db", f"SELECT count(*) FROM {table}")) != count:
                self.fail(f"app.db has {found} rows of {table}, not {count}")
        if (found := self.sql("kept.db", "SELECT count(*) FROM event")) != KEPT_ROWS:
            self.fail(f"kept.db has {found} rows, not {KEPT_ROWS}")
        left = {path.name for path in self.folder.iterdir()} - {self.account_file.name}
        expected = {"all.db", "app.db", "change.csv", "copy.db", "event.csv", "kept.db", "made.db", "more.csv"}
        if left != expected:
            self.fail(f"these files are left: {left - expected}")

    def save(self):
        new = self.account_file.with_suffix(".new")
        new.write_text(json.dumps(self.account, indent=1))
        new.replace(self.account_file)


def own_use():
    """Returns the open files and the highest memory of this process, in KiB."""
    return len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--hours", type=float, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, help="keep the databases here, and go on where an earlier run stopped")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own_folder, tempfile.TemporaryDirectory() as spills:
        os.environ["TMPDIR"] = spills
        folder = options.folder or pathlib.Path(own_folder)
        folder.mkdir(exist_ok=True)
        soak = Soak(options.program, folder, options.seed)
        account, rounds, first = soak.account, 0, None
        while account["seconds"] < options.hours * 3600 or account["rounds"] < 1:
            started = time.monotonic()
            soak.work()
            if os.listdir(spills):
                soak.fail("temporary files are left")
            rounds, (files, memory) = rounds + 1, own_use()
            if rounds == WARM_UP:
                first = (files, memory)
            if first and (files > first[0] or memory > first[1] * GROWTH):
                soak.fail(f"{files} open files and {memory} KiB of this process, at first {first}")
            account["seconds"] += time.monotonic() - started
            soak.save()
    kept = account["last"].pop("the file kept.db")
    print(
        f"{account['seconds'] / 3600:.1f} hours, {account['rounds']} rounds, {account['runs']} runs of the program, all verified; "
        f"the database that was kept through all rounds has {kept / 1024:.0f} MiB"
    )
    for name, value in account["last"].items():
        print(f"{name}: {account['first'][name] / 1024:.0f} MiB at first, {value / 1024:.0f} MiB at last")


if __name__ == "__main__":
    main()

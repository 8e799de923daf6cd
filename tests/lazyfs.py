"""Loses what was not synced: LazyFS is a file system that forgets all written bytes that no sync has asked for.

    tests/lazyfs.py PROGRAM --lazyfs BINARY [--rounds 100]

A round makes databases on such a file system, starts a change, kills it at a random moment or lets it end, and cuts the power. Then
SQLite must find the database as it was before or as it would be after; and as after, if the program had ended well.
"""

import argparse
import collections
import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

# A name, the database that it makes or changes, and its arguments.
OPERATIONS = [
    ("generate", "new.db", ["generate", "new.db", "shop.sql", "--rows", "3k"]),
    ("generate --overwrite", "app.db", ["generate", "app.db", "shop.sql", "--rows", "3k", "--overwrite"]),
    ("load", "new.db", ["load", "new.db", "event.csv", "--primary-key", "id", "--index", "area"]),
    ("append", "app.db", ["load", "app.db", "event.csv", "--append", "--table", "event"]),
    ("update", "app.db", ["load", "app.db", "event.csv", "--append", "--table", "event", "--on-conflict", "update"]),
    ("index", "app.db", ["index", "app.db", "CREATE INDEX notes ON event (note, area)"]),
    ("compact", "app.db", ["compact", "app.db"]),
    ("merge", "new.db", ["merge", "new.db", "app.db", "old.db", "--rowids", "renumber"]),
]
SHOP = """
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, price REAL);
    CREATE INDEX purchases ON purchase (customer_id, price);"""
ROWS = 4000


def fill(folder):
    """Writes the files that operations read and change, and syncs them."""
    (folder / "shop.sql").write_text(SHOP)
    lines = (f"{ROWS // 2 + row},{row % 17},new note {row}\n" if row % 2 else f"{2 * ROWS + row},{row % 17},new\n" for row in range(ROWS))
    (folder / "event.csv").write_text("id,area,note\n" + "".join(lines))
    for name in ("app.db", "old.db"):
        with contextlib.closing(sqlite3.connect(folder / name)) as database, database:
            database.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, area INTEGER, note TEXT)")
            database.executemany("INSERT INTO event VALUES (?, ?, ?)", ((2 * row, row % 9, f"note {row}") for row in range(ROWS)))
            database.execute("CREATE INDEX areas ON event (area)")
            database.execute("CREATE TABLE filler (x)")
            database.execute("INSERT INTO filler SELECT zeroblob(900) FROM event")
            database.execute("DELETE FROM filler")
    for path in [*folder.iterdir(), folder]:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def content(path):
    """A digest of all rows and definitions, `None` if there is no database. Fails if SQLite finds a fault."""
    if not path.exists():
        return None
    with contextlib.closing(sqlite3.connect(path)) as database:
        verdict = database.execute("PRAGMA integrity_check").fetchall()
        assert verdict == [("ok",)], verdict
        # The next run of litepress counts on it, too.
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        return pages, hashlib.sha256("\n".join(database.iterdump()).encode()).hexdigest()


def run(program, arguments, folder, seconds=None):
    """Runs the program, and kills it after some seconds. Returns the exit code and the time."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [program, *arguments, "--threads", "2"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)
    process.send_signal(signal.SIGKILL)
    told, _ = process.communicate()
    if process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"litepress {' '.join(arguments)}: {told}")
    return process.returncode, time.monotonic() - begun


class LazyFs:
    """A mounted file system, whose power can be cut."""

    def __init__(self, binary, folder):
        self.mount, self.root = folder / "mount", folder / "root"
        self.mount.mkdir()
        self.root.mkdir()
        self.faults, done = folder / "faults", folder / "done"
        os.mkfifo(self.faults)
        os.mkfifo(done)
        config = folder / "lazyfs.toml"
        config.write_text(
            f'[faults]\nfifo_path="{self.faults}"\nfifo_path_completed="{done}"\n[cache]\napply_eviction=false\n'
            '[cache.simple]\ncustom_size="1gb"\nblocks_per_page=1\n[filesystem]\nlog_all_operations=false\nlogfile=""\n'
        )
        command = [binary, self.mount, "--config-path", config, "-o", "modules=subdir", "-o", f"subdir={self.root}", "-f"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        while not os.path.ismount(self.mount):
            if self.process.poll() is not None:
                raise SystemExit("LazyFS cannot be mounted here: it needs /dev/fuse")
            time.sleep(0.01)
        # Open as long as LazyFS runs, or an answer is lost.
        self.answers = os.open(done, os.O_RDONLY)

    def cut_power(self):
        """Forgets all that no sync has written."""
        self.faults.write_text("lazyfs::clear-cache\n")
        assert b"finished" in os.read(self.answers, 100), "LazyFS does not answer"

    def check_itself(self):
        """Fails if bytes survive that no sync has written."""
        (self.mount / "unsynced").write_bytes(b"x" * 10_000)
        self.cut_power()
        assert b"x" not in (self.mount / "unsynced").read_bytes(), "LazyFS keeps everything"
        (self.mount / "unsynced").unlink()

    def end(self):
        subprocess.run(["fusermount3", "-u", "-z", self.mount], check=False)
        self.process.kill()
        self.process.wait()
        os.close(self.answers)


def expected(program, operation, folder):
    """Runs an operation on a usual file system. Returns the content before and after, and its time."""
    name, target, arguments = operation
    work = folder / name.replace(" ", "_")
    work.mkdir()
    fill(work)
    before = content(work / target)
    _, seconds = run(program, arguments, work)
    return before, content(work / target), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--lazyfs", default="lazyfs")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not shutil.which(options.lazyfs):
        print("SKIPPED: there is no LazyFS")
        return
    program, chance, states = os.path.abspath(options.program), random.Random(options.seed), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        contents = {operation[0]: expected(program, operation, folder) for operation in OPERATIONS}
        for number in range(options.rounds):
            operation = OPERATIONS[number % len(OPERATIONS)]
            name, target, arguments = operation
            before, after, seconds = contents[name]
            place = folder / f"round{number}"
            place.mkdir()
            lazy = LazyFs(options.lazyfs, place)
            try:
                lazy.check_itself()
                fill(lazy.mount)
                # Some runs end before.
                code, _ = run(program, arguments, lazy.mount, chance.uniform(0, 3 * seconds) + 0.005)
                lazy.cut_power()
                found = content(lazy.mount / target)
                if found not in (before, after) or (code == 0 and found != after):
                    raise SystemExit(f"round {number}, {name}, exit code {code}: {found} is not {before} or {after}")
                states[name, "killed" if code else "ended", "after" if found == after else "before"] += 1
            finally:
                lazy.end()
            shutil.rmtree(place)
    for (name, end, state), times in sorted(states.items()):
        print(f"{name:22} {end:7} {state:7} {times}")
    print(f"{options.rounds} power cuts, none bad")


if __name__ == "__main__":
    sys.exit(main())

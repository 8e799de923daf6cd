#!/usr/bin/env python3
"""Generates the challenge's table and shows its rate, the disk's own speed, a few rows read by SQLite, and the check.

The database is kept for you to try: target/demo/user.db.
"""

import argparse
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time

import measure

FOLDER = measure.ROOT / "target" / "demo"
PROGRAM = measure.TARGET / "litepress"


def raw_write(total):
    """Returns the bytes a second of raw writes, the better of one and two writers; None if they cannot be measured."""
    folder = FOLDER / "raw"
    folder.mkdir(exist_ok=True)
    try:
        if shutil.disk_usage(folder).free < total + total // 10:
            return None
        results = [measure.dd(folder, total, writers) for writers in (1, 2)]
        return max(result["bytes"] / result["seconds"] for result in results)
    except SystemExit:
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show_rows(path):
    with measure.reading(path) as database:
        last = database.execute("SELECT max(id) FROM user").fetchone()[0] or 0
        print(f"\nSQLite {sqlite3.sqlite_version} reads it:")
        print("  id           area    age  active")
        for row in sorted({row for row in (1, 2, last // 2, last - 1, last) if row >= 1}):
            found = database.execute("SELECT id, area, age, active FROM user WHERE id = ?", (row,)).fetchone()
            print("  {:<12} {:<7} {:<4} {}".format(*found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=measure.number, default=measure.number("100m"))
    rows = parser.parse_args().rows
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "user.db"
    command = [PROGRAM, "generate", path, "--preset", "user", "--rows", rows, "--overwrite"]
    print("litepress generate", path.relative_to(measure.ROOT), "--preset user --overwrite --rows", rows)
    started = time.perf_counter()
    if subprocess.run([str(part) for part in command]).returncode != 0:
        sys.exit(1)
    speed = path.stat().st_size / (time.perf_counter() - started)
    # Smaller files are written through the page cache, so that raw writes are no comparison.
    disk = raw_write(path.stat().st_size) if path.stat().st_size > 256 << 20 else None
    if disk is not None:
        print(f"\nthe disk itself: {disk / 1e6:,.0f} MB/s; litepress: {speed / 1e6:,.0f} MB/s, {speed / disk:.2f} of it")
    show_rows(path)
    print("\nlitepress check:")
    verdict = subprocess.run([str(PROGRAM), "check", str(path)]).returncode
    print(f"\nthe database is {path}")
    sys.exit(verdict)


if __name__ == "__main__":
    main()

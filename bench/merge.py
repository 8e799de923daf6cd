#!/usr/bin/env python3
"""Measures `litepress merge` against SQLite's ATTACH, INSERT ... SELECT and CREATE INDEX, at its best settings.

The shards have one table with an index, and rowids of their own; in a second case all of them have the same rowids, and
are renumbered; in a third case they have no index. SQLite copies rows without a journal and without syncs, into a table
without its index, which it makes afterwards. The times of litepress are the whole run, sync included. The ceiling is `cat`
of the same files into one, synced. `load` reads the shards as `merge` does, but makes the index anew.

    bench/merge.py --shards 100 --rows 1m --repeat 3
"""

import argparse
import pathlib
import sys

from measure import ROOT, TARGET, dd, gen, keep, number, reading, remove, repeat, report, run, scratch, spread

SCHEMA = """CREATE TABLE user (
    id INTEGER not null primary key, -- gen: sequence
    area CHAR(6), -- gen: digits(6)
    age INTEGER not null, -- gen: choice(5, 10, 15)
    active INTEGER not null -- gen: bool
);
"""
INDEX = "CREATE INDEX user_area ON user (area);\n"
BY_SQLITE = """
import pathlib, sqlite3, sys
target, folder, columns, index = sys.argv[1:]
database = sqlite3.connect(target, isolation_level=None)
for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -1000000", "temp_store = MEMORY"):
    database.execute("PRAGMA " + pragma)
database.execute("CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, active INTEGER not null)")
for shard in sorted(pathlib.Path(folder).iterdir()):
    database.execute("ATTACH ? AS shard", [str(shard)])
    database.execute(f"INSERT INTO main.user SELECT {columns} FROM shard.user")
    database.execute("DETACH shard")
database.execute(index)
database.close()
"""


def verify(path, rows):
    """Has litepress check the file, and SQLite count the rows of the table and of its index."""
    run([TARGET / "litepress", "check", path, "--progress", "none", "--json"])
    with reading(path) as database:
        counts = [database.execute(f"SELECT count(*) FROM user {one}").fetchone()[0] for one in ("", "INDEXED BY user_area")]
    if counts != [rows, rows]:
        raise SystemExit(f"{path}: {counts} rows, not {rows}")


def make_shards(folder, options, same_ids=False, index=INDEX):
    """Makes the shards, with disjoint rowids or with the same ones."""
    folder.mkdir()
    sql = folder.parent / "shards.sql"
    sql.write_text(SCHEMA + index)
    rows = options.rows if same_ids else options.rows * options.shards
    for shard in range(options.shards):
        which = ["--seed", shard] if same_ids else ["--shard", f"{shard + 1}/{options.shards}"]
        gen(folder / f"{shard:05}.db", [sql, "--rows", f"user={rows}", *which, "--sync", "off"])


def cat(folder, path):
    """Copies the files of a folder into one, and syncs it."""
    result = run(["sh", "-c", 'cat "$1"/* > "$2" && sync "$2"', "sh", folder, path])
    del result["output"]
    remove(path)
    return result


def one_round(folder, options):
    """Runs every engine once."""
    results, path, rows = {}, folder / "merged.db", options.shards * options.rows
    for name, command, shards in [
        ("litepress, without index", "merge", [folder / "plain"]),
        ("litepress load, without index", "load", sorted((folder / "plain").iterdir())),
        ("litepress load, own rowids", "load", sorted((folder / "own").iterdir())),
    ]:
        results[name] = run([TARGET / "litepress", command, path, *shards, "--progress", "none", "--json"])
        del results[name]["output"]
        with reading(path) as database:
            found = database.execute("SELECT count(*) FROM user NOT INDEXED").fetchone()[0]
        if found != rows:
            raise SystemExit(f"{path}: {found} rows, not {rows}")
        remove(path)
    results["cat, without index"] = cat(folder / "plain", path)
    results["cat, own rowids"] = cat(folder / "own", path)
    for name, shards, arguments, columns in [
        ("own rowids", "own", [], "id, area, age, active"),
        ("same rowids", "same", ["--rowids", "renumber"], "NULL, area, age, active"),
    ]:
        merge = [TARGET / "litepress", "merge", path, folder / shards, *arguments, "--progress", "none", "--json"]
        result = run(merge)
        del result["output"]
        result["bytes"] = path.stat().st_size
        result["input_bytes"] = sum(file.stat().st_size for file in (folder / shards).iterdir())
        results[f"litepress, {name}"] = result
        verify(path, rows)
        remove(path)
        if options.without_sqlite:
            continue
        result = run([sys.executable, "-c", BY_SQLITE, path, folder / shards, columns, INDEX])
        del result["output"]
        results[f"sqlite, {name}"] = result
        verify(path, rows)
        remove(path)
    written = results["litepress, own rowids"]["bytes"]
    results["disk, two writers"] = dd(folder, written, 2)
    return results


def ratios(rounds):
    """Returns the ratios of the times of each round, and the bytes that litepress writes in a second."""
    def times(slow, fast):
        return spread([one[slow]["seconds"] / one[fast]["seconds"] for one in rounds])

    def rate(name):
        return spread([one[name]["bytes"] / one[name]["seconds"] / 1e6 for one in rounds])

    figures = {}
    for name in ("own rowids", "same rowids"):
        if f"sqlite, {name}" in rounds[0]:
            figures[f"{name}, times SQLite"] = times(f"sqlite, {name}", f"litepress, {name}")
        figures[f"{name}, MB/s written"] = rate(f"litepress, {name}")
    figures["without index, times cat"] = times("litepress, without index", "cat, without index")
    figures["own rowids, times cat"] = times("litepress, own rowids", "cat, own rowids")
    figures["load without index, times cat"] = times("litepress load, without index", "cat, without index")
    figures["load own rowids, times cat"] = times("litepress load, own rowids", "cat, own rowids")
    return figures | {"disk, MB/s": rate("disk, two writers")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--rows", type=number, default=number("100k"), help="of each shard")
    parser.add_argument("--without-sqlite", action="store_true", help="which takes minutes for 100 million rows")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "merge.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        make_shards(folder / "own", options)
        make_shards(folder / "plain", options, index="")
        make_shards(folder / "same", options, same_ids=True)
        rounds = repeat(options.repeat, lambda: one_round(folder, options))
        figures = ratios(rounds)
        print(f"\n{options.shards:,} shards of {options.rows:,} rows")
        report(rounds, figures)
        keep(options.results, {"shards": options.shards, "rows": options.rows, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()

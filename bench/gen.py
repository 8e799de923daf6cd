#!/usr/bin/env python3
"""Measures `litepress generate`: a mixed schema on one core, TPC-H against its generator and `.import`, and one table of people
against kennytm's dbgen and Faker.

Every round runs all engines one after another and checks each result before its time counts: the rows are equal for
TPC-H, and the values are of the same kind for people. litepress writes a finished and synced database. dbgen and
tpchgen-cli write text, so their time is given alone and with the `.import` that makes a database of it. Prints medians
and the ratios beside their targets; appends one JSON line to results/gen.jsonl. Installs missing competitors from PyPI
and crates.io first.

    bench/gen.py --shop 1 --tpch 0.1 --rows 1m --repeat 3
    bench/gen.py --tpch 10 --only tpch         25 GB of disk
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import sys
import time

import competitors
from measure import ROOT, TARGET, gen, keep, number, reading, remove, repeat, report, run, scratch, spread

PRESETS = ROOT / "crates" / "gen" / "src" / "presets"

CELLS = "shop, million cells a second of one core"
# Figures and their minimum targets.
TARGETS = {
    CELLS: 15,
    "tpch, times tpchgen-cli CSV, then .import": 3,
    "tpch, times tpchgen-cli CSV alone": None,
    "tpch, times tpchgen-cli CSV, dropped": None,
    "people, times dbgen, then .import": 20,
    "people, times dbgen alone": None,
    "people, times Faker": 500,
}
# The competitors that each case needs.
NEEDS = {"shop": [], "tpch": ["tpchgen-cli", "sqlite3"], "people": ["dbgen", "faker", "sqlite3"]}

PEOPLE = """CREATE TABLE people (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,     -- gen: full_name
  email   TEXT NOT NULL,     -- gen: email
  street  TEXT NOT NULL,     -- gen: street
  city    TEXT NOT NULL,     -- gen: city
  age     INTEGER NOT NULL,  -- gen: int(18, 99)
  balance REAL NOT NULL,     -- gen: real(0, 5000, 2)
  born    DATE NOT NULL,     -- gen: date('1940-01-01', '2007-01-01')
  plan    TEXT NOT NULL,     -- gen: choice('free': 70, 'basic': 25, 'pro': 5)
  note    TEXT NOT NULL      -- gen: text(30, 60)
)"""
# Conditions that hold for every row of every engine.
PEOPLE_RULES = [
    "id > 0",
    "name GLOB '?* ?*'",
    "email GLOB '?*@example.*'",
    "street GLOB '?* ?*'",
    "length(city) > 2",
    "age BETWEEN 18 AND 99",
    "balance BETWEEN 0 AND 5000",
    "typeof(balance) = 'real'",
    "born BETWEEN '1940-01-01' AND '2007-01-01'",
    "plan IN ('free', 'basic', 'pro')",
    "length(note) BETWEEN 10 AND 120",
]


def names_of(path, kind="table"):
    with reading(path) as database:
        found = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY name", [kind]
        )
        return [name for (name,) in found]


def statements(preset):
    """Returns the CREATE statements of a preset: of tables, and of indexes."""
    sql = re.sub(r"--.*", "", (PRESETS / f"{preset}.sql").read_text())
    found = [statement.strip() for statement in sql.split(";") if statement.strip()]
    tables = [statement for statement in found if statement.startswith("CREATE TABLE")]
    return tables, [statement for statement in found if statement not in tables]


def check(path):
    run([TARGET / "litepress", "check", path, "--progress", "none", "--json"])


def synced(path, result):
    """Adds an fsync to the time: engines run with synchronous = off leave it out."""
    started = time.perf_counter()
    with open(path, "rb") as file:
        os.fsync(file)
    result["seconds"] += time.perf_counter() - started
    result["bytes"] = path.stat().st_size
    result.pop("output", None)
    return result


def dropped(command):
    """Runs a command and discards its output."""
    result = run(["sh", "-c", 'exec "$0" "$@" > /dev/null', *command])
    del result["output"]
    return result


def sum_of(first, then):
    """Adds the results of two programs that run one after the other."""
    both = {name: first[name] + then[name] for name in ("seconds", "cpu_seconds")}
    both["peak_memory_bytes"] = max(first["peak_memory_bytes"], then["peak_memory_bytes"])
    return both | {"bytes": then["bytes"]}


def shop(folder, options):
    """Generates the shop on one core without a file, then on all cores into a file whose rows and keys are checked."""
    arguments = ["--preset", "shop", "--scale", options.shop]
    path = folder / "shop.db"
    on_one_core = gen(None, [*arguments, "--threads", 1])
    kept = gen(path, arguments)
    check(path)
    tables = {table["name"]: table["rows"] for table in on_one_core["summary"]["tables"]}
    with reading(path) as database:
        rows, widths = (
            {name: database.execute(query.format(name)).fetchone()[0] for name in tables}
            for query in ("SELECT count(*) FROM {}", "SELECT count(*) FROM pragma_table_info('{}')")
        )
        orphans = database.execute("PRAGMA foreign_key_check").fetchall()
    if rows != tables or orphans:
        raise SystemExit(f"{path}: {rows} rows where {tables} were made, {len(orphans)} of them refer to nothing")
    remove(path)
    on_one_core["cells"] = sum(rows[name] * widths[name] for name in tables)
    return {"litepress, shop, one core, dropped": on_one_core, "litepress, shop": kept}


def facts(path):
    """Returns aggregates of every column of every table; money is summed in cents, because sums of doubles depend on order."""
    found = {}
    with reading(path) as database:
        for table in names_of(path):
            columns = database.execute("SELECT name, type FROM pragma_table_info(?)", [table]).fetchall()
            sums = [
                f"sum({name})" if declared == "INTEGER"
                else f"sum(CAST(round({name} * 100) AS INTEGER))" if declared.startswith("DECIMAL")
                else f"sum(length({name})), min({name}), max({name})"
                for name, declared in columns
            ]
            found[table] = database.execute(f"SELECT count(*), {', '.join(sums)} FROM {table}").fetchone()
    return found


def tpch(folder, options):
    """Runs litepress, and tpchgen-cli with the `.import` that makes a database of its text."""
    ours, theirs, text = folder / "tpch.db", folder / "imported.db", folder / "text"
    scale = ["--scale-factor", options.tpch, "--quiet"]
    results = {"litepress, tpch": gen(ours, ["--preset", "tpch", "--scale", options.tpch])}
    results["tpchgen-cli CSV, dropped, tpch"] = dropped([competitors.TPCHGEN, "csv", *scale, "--stdout"])
    made = run([competitors.TPCHGEN, "csv", *scale, "--output-dir", text])
    made["bytes"] = sum(file.stat().st_size for file in text.iterdir())
    made.pop("output")
    tables, indexes = statements("tpch")
    sources = {table: [text / f"{table}.csv"] for table in names_of(ours)}
    imported = synced(theirs, competitors.sqlite3_imports(theirs, tables, sources, indexes, skip=1))
    results["tpchgen-cli CSV alone, tpch"] = made
    results["tpchgen-cli CSV, then .import, tpch"] = sum_of(made, imported)
    shutil.rmtree(text)
    check(ours)
    if facts(ours) != facts(theirs) or names_of(ours, "index") != names_of(theirs, "index"):
        raise SystemExit(f"{ours} and {theirs} differ")
    remove(ours)
    remove(theirs)
    return results


def check_people(path, rows):
    rules = ", ".join(f"count(*) FILTER (WHERE {rule})" for rule in PEOPLE_RULES)
    with reading(path) as database:
        all_rows, ids, *kept = database.execute(f"SELECT count(*), count(DISTINCT id), {rules} FROM people").fetchone()
    broken = [rule for rule, count in zip(PEOPLE_RULES, kept) if count != rows]
    if all_rows != rows or ids != rows or broken:
        raise SystemExit(f"{path}: {all_rows} rows and {ids} ids where there are {rows}, not all have {broken}")


def people(folder, options):
    """Runs litepress, dbgen with the `.import` that makes a database of its text, and Faker for a sample of the rows."""
    path, schema, text = folder / "people.db", folder / "people.sql", folder / "text"
    schema.write_text(PEOPLE)
    create = re.sub(r"--.*", "", PEOPLE)
    results = {"litepress, people": gen(path, [schema, "--rows", options.rows])}
    check_people(path, options.rows)
    remove(path)
    made = competitors.dbgen(text, options.rows)
    made.pop("output")
    imported = synced(path, competitors.sqlite3_imports(path, [create], {"people": sorted(text.iterdir())}, []))
    check_people(path, options.rows)
    results["dbgen alone, people"] = made
    results["dbgen, then .import, people"] = sum_of(made, imported)
    shutil.rmtree(text)
    remove(path)
    faked = synced(path, competitors.faker(path, create, options.faker_rows))
    check_people(path, options.faker_rows)
    remove(path)
    results["Faker, people"] = faked | {"scaled_by": options.rows / options.faker_rows}
    return results


CASES = {"shop": shop, "tpch": tpch, "people": people}


def one_round(folder, options, cases):
    """Runs every engine once."""
    results = {}
    for case in cases:
        print(case, file=sys.stderr)
        results |= CASES[case](folder, options)
    return results


def seconds(result):
    return result["seconds"] * result.get("scaled_by", 1)


def figure(name, results):
    """Returns one figure of a round, or `None` if its case did not run."""
    if name == CELLS:
        ours = results.get("litepress, shop, one core, dropped")
        return ours and ours["cells"] / ours["cpu_seconds"] / 1e6
    case, _, competitor = name.partition(", times ")
    if f"{competitor}, {case}" not in results:
        return None
    return seconds(results[f"{competitor}, {case}"]) / seconds(results[f"litepress, {case}"])


def figures_of(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    names = [name for name in TARGETS if figure(name, rounds[0]) is not None]
    return {name: spread([figure(name, results) for results in rounds]) for name in names}


def compare(figures):
    print(f"\n{'figure':46}{'median':>9}   {'of all rounds':20}{'target':>7}")
    for name, found in figures.items():
        bounds = f"[{found['min']:.2f} .. {found['max']:.2f}]"
        print(f"{name:46}{found['median']:9.2f}   {bounds:20}{TARGETS[name] or '-':>7}")


def chosen(options, found):
    """Returns the cases to run, and prints those whose competitors are missing."""
    cases = []
    for case, needs in NEEDS.items():
        missing = [need for need in needs if need not in found]
        if missing:
            print(f"skipped: {case}, for want of {', '.join(missing)}", file=sys.stderr)
        elif not options.only or case in options.only:
            cases.append(case)
    return cases


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shop", type=float, default=1, help="scale of the preset: 1 is 4.3 million rows")
    parser.add_argument("--tpch", type=float, default=0.1, help="scale of TPC-H: 1 is 8.7 million rows")
    parser.add_argument("--rows", type=number, default=number("1m"), help="of people")
    parser.add_argument("--faker-rows", type=number, default=number("20k"), help="of people, for Faker")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", choices=CASES, help="may be repeated")
    parser.add_argument("--skip-missing", action="store_true", help="leave out cases whose competitors are not installed")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "gen.jsonl")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.skip_missing:
        competitors.install()
        competitors.install_dbgen()
    versions = competitors.versions()
    cases = chosen(options, versions)
    with scratch(options.dir) as folder:
        rounds = repeat(options.repeat, lambda: one_round(folder, options, cases))
    figures = figures_of(rounds)
    print(f"\nshop of scale {options.shop:g}, TPC-H of scale {options.tpch:g}, {options.rows:,} people")
    print(f"Faker makes {options.faker_rows:,} rows; its time is scaled to all where it is compared")
    report(rounds, {})
    compare(figures)
    sizes = {"shop": options.shop, "tpch": options.tpch, "rows": options.rows, "faker_rows": options.faker_rows}
    keep(options.results, sizes | {"versions": versions, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()

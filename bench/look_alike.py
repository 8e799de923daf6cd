"""Scores look-alikes with the quality report of SDMetrics, and keeps one JSON line.

    python3 bench/look_alike.py --source FOLDER/Chinook.sqlite --source FOLDER/Chinook.sqlite:Album,Track [--scale 1] [--sdv]

The databases: those at --source, or some of their tables; a trading company like Northwind, and three tables of it; and a wide table. The
bench makes the last three, and Northwind once more with another seed: by chance alone, a database can hardly be more alike. Each is
profiled with `--keep-values`, because SDMetrics compares texts by name, and made anew by `litepress generate`, also a hundred times as
large. SDV's `HMASynthesizer` gets the same tables, if it is installed (--sdv installs it where 10 GB are free: it needs torch). It refuses
more than five tables, and references to tables that refer to others: parts of a database are for it. Both are scored by the same report
with the same metadata, by the rules that SDV itself detects columns by: numbers and times are compared, and texts with a fifth as many
different values as rows at most; keys are keys; addresses, phone numbers and other texts are left out. A copy of an address in a child is
left out like the address. A foreign key to the own table is left out, which SDMetrics cannot read.

The score is the mean of four: shapes of columns, trends of pairs of columns, numbers of children, and trends between tables.
"""

import argparse
import contextlib
import datetime
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings

import competitors
import measure

PACKAGES = ["sdmetrics", "pandas"]
SDV_BYTES = 10 << 30
# Names of columns that hold a way to reach someone: SDV takes them for personal data, which no report compares.
CONTACT = "address|street|post_?code|postal|zip|phone|fax|mail"
TARGET = 0.9
REFERENCE = re.compile(
    r"(,\s*FOREIGN KEY\s*\([^)]*\)\s*)?REFERENCES\s+(?P<table>\[[^]]+\]|\"[^\"]+\"|\w+)\s*\([^)]*\)(\s*ON (DELETE|UPDATE) (NO ACTION|CASCADE))*",
    re.IGNORECASE,
)
WIDE_ROWS = 20_000
NORTHWIND = measure.ROOT / "crates" / "gen" / "tests" / "schemas" / "northwind.sql"
# With 3,000 rows, the shares of 200 cities differ so much by chance that the report gives 0.79 to the same schema with another seed.
NORTHWIND_ROWS = 10_000
# Tables of it that SDV takes.
ORDERS = "Customers,Employees,Orders"


def wide(path, rows):
    """A wide table: ages, incomes, heights and weights, places with their countries, times in order, prices by kind."""
    random.seed(1)
    places = [(f"Town {n}", f"Land {n % 7}") for n in range(40)]
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, age INT, income INT, height REAL, weight REAL, town TEXT, country TEXT,"
            " joined DATE, seen TEXT, kind TEXT, price REAL, visits INT, score REAL, active INT)"
        )
        for row in range(rows):
            age = min(90, max(18, round(random.gauss(44, 15))))
            height = round(random.gauss(171, 9), 1)
            town, country = places[min(39, int(random.expovariate(0.12)))]
            joined = datetime.date(2015, 1, 1) + datetime.timedelta(days=row * 3650 // rows)
            seen = datetime.datetime.combine(joined, datetime.time()) + datetime.timedelta(minutes=int(random.expovariate(1 / 90_000)))
            kind = random.choices(["free", "basic", "pro"], [6, 3, 1])[0]
            price = {"free": 0.0, "basic": 9.99, "pro": random.choice([29.99, 49.99])}[kind]
            visits = int(random.expovariate({"free": 0.5, "basic": 0.1, "pro": 0.02}[kind]))
            income = None if random.random() < 0.1 else int(age * 800 * random.lognormvariate(0, 0.35))
            values = (
                row + 1, age, income, height, round((height - 100) * random.gauss(0.95, 0.1), 1), town, country, joined.isoformat(),
                seen.isoformat(sep=" "), kind, price, visits, random.betavariate(2, 5), int(random.random() < 0.9),
            )  # fmt: skip
            db.execute(f"INSERT INTO person VALUES ({', '.join('?' * len(values))})", values)


def northwind(path, program, seed=0):
    """A trading company: eleven tables, whose rows `litepress generate` infers."""
    command = [program, "generate", path, NORTHWIND, "--rows", NORTHWIND_ROWS, "--seed", seed]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def part(source, names, folder):
    """A copy of a database with some of its tables."""
    path = folder / f"{source.stem} ({', '.join(names)}).db"
    shutil.copyfile(source, path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
            if name not in names:
                db.execute(f'DROP TABLE "{name}"')
        # A column that refers to a table that is not there refers to nothing.
        db.execute("PRAGMA writable_schema = 1")
        for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall():
            kept = REFERENCE.sub(lambda found: found[0] if found["table"].strip('"[]') in names else "", sql)
            db.execute("UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?", (kept, name))
        db.execute("PRAGMA writable_schema = RESET")
        db.execute("VACUUM")
    return path


def tables(path):
    """The tables of a database as frames, without blobs."""
    import pandas

    with contextlib.closing(sqlite3.connect(path)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        return {name: pandas.read_sql_query(f'SELECT * FROM "{name}"', db) for name in names}


def time_format(values):
    """The format of texts that are all days or times, or `None`."""
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S"):
        try:
            for value in values:
                datetime.datetime.strptime(value, form)
        except ValueError:
            continue
        return form
    return None


def kind_of(name, values):
    """What SDMetrics should take a column for, by the rules that SDV detects it by; it leaves places out, too."""
    filled = values.dropna()
    if filled.empty or re.search(CONTACT, name, re.IGNORECASE):
        return {"sdtype": "unknown"}
    if filled.dtype.kind in "iuf":
        is_count = (filled == filled.round()).all() and (filled >= 0).all()
        return {"sdtype": "categorical" if is_count and filled.nunique() <= min(round(len(values) / 10), 10) else "numerical"}
    if form := time_format([str(value) for value in filled]):
        return {"sdtype": "datetime", "datetime_format": form}
    return {"sdtype": "categorical" if filled.nunique() <= round(len(filled) / 5) else "unknown"}


def metadata(path, frames):
    """The description of the tables for SDMetrics and SDV."""
    found, relationships = {}, []
    with contextlib.closing(sqlite3.connect(path)) as db:
        for name, frame in frames.items():
            columns = {column: kind_of(column, frame[column]) for column in frame}
            keys = [column for _, column, _, _, _, place in db.execute(f'PRAGMA table_info("{name}")') if place]
            table = {"columns": columns}
            for _, _, parent, own, target, *_ in db.execute(f'PRAGMA foreign_key_list("{name}")'):
                columns[own] = {"sdtype": "id"}
                if parent != name:
                    key = target or next(c for _, c, _, _, _, place in db.execute(f'PRAGMA table_info("{parent}")') if place)
                    relationships.append(
                        {"parent_table_name": parent, "child_table_name": name, "parent_primary_key": key, "child_foreign_key": own}
                    )
            for key in keys:
                columns[key] = {"sdtype": "id"}
            if len(keys) == 1:
                table["primary_key"] = keys[0]
            found[name] = table
    return {"tables": found, "relationships": relationships}


def score(real, made, description):
    """The quality report's score, and the scores of its properties."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sdmetrics.reports.multi_table import QualityReport as OfTables
        from sdmetrics.reports.single_table import QualityReport as OfTable

        if len(real) == 1:
            (name,) = real
            report = OfTable()
            report.generate(real[name], made[name], description["tables"][name], verbose=False)
        else:
            report = OfTables()
            report.generate(real, made, description, verbose=False)
        parts = report.get_properties()
    # A property of which the report found nothing to compare is not a number.
    known = {name: found for name, found in zip(parts["Property"], parts["Score"], strict=True) if found == found}
    return {"overall": report.get_score(), **known}


def of_litepress(program, source, folder, scale):
    """The look-alike, and the seconds that its profile and its rows took, and those of a hundred times as many rows."""
    recipe, made, large = (folder / name for name in ("recipe.toml", "made.db", "large.db"))
    started = time.perf_counter()
    recipe.write_bytes(subprocess.run([program, "profile", source, "--keep-values"], check=True, stdout=subprocess.PIPE).stdout)
    seconds = {"profile": time.perf_counter() - started}
    for name, path, factor in (("hundredfold", large, 100), ("generate", made, 1)):
        command = [program, "generate", path, "--recipe", recipe, "--scale", scale * factor, "--overwrite"]
        started = time.perf_counter()
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        seconds[name] = time.perf_counter() - started
    return made, seconds


def of_sdv(frames, description, scale):
    """The tables of SDV's synthesizer, and the seconds that it learnt and sampled."""
    from sdv.metadata import Metadata
    from sdv.multi_table import HMASynthesizer

    described = {**description, "METADATA_SPEC_VERSION": "V1"}
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        synthesizer = HMASynthesizer(Metadata.load_from_dict(described), verbose=False)
        synthesizer.fit(frames)
        learnt = time.perf_counter()
        main = max(frames, key=lambda name: len(frames[name]))
        made = synthesizer.sample(num_rows=round(len(frames[main]) * scale), main_table_name=main)
    return made, {"profile": learnt - started, "generate": time.perf_counter() - learnt}


def has_sdv(wanted):
    """Whether SDV can be asked; says why not."""
    if importlib.util.find_spec("sdv"):
        return True
    if not wanted:
        print("SDV is skipped: it is not installed (--sdv installs it)", file=sys.stderr)
        return False
    free = shutil.disk_usage(measure.TARGET).free
    if free < SDV_BYTES:
        print(f"SDV is skipped: it needs {SDV_BYTES >> 30} GB of disk, and {free >> 30} GB are free", file=sys.stderr)
        return False
    competitors.install(["sdv"])
    return bool(importlib.util.find_spec("sdv"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", action="append", default=[], help="FILE or FILE:TABLE,TABLE,...; may be given several times")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rows", type=int, default=WIDE_ROWS, help="rows of the wide table")
    parser.add_argument("--sdv", action="store_true", help="install SDV, and score it beside litepress")
    parser.add_argument("--litepress", default=measure.TARGET / "litepress", help="the program")
    parser.add_argument("--results", type=pathlib.Path, default=measure.ROOT / "bench" / "results" / "look_alike.jsonl")
    return parser.parse_args()


def main():
    given = arguments()
    beside = has_sdv(given.sdv)
    scores, failed = {}, []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        wide(folder / "wide.db", given.rows)
        northwind(folder / "northwind.db", given.litepress)
        made_here = [folder / "northwind.db", f"{folder / 'northwind.db'}:{ORDERS}", folder / "wide.db"]
        for source in [*given.source, *made_here]:
            path, _, names = str(source).partition(":")
            source = part(pathlib.Path(path), names.split(","), folder) if names else pathlib.Path(path)
            frames = tables(source)
            description = metadata(source, frames)
            made, seconds = of_litepress(given.litepress, source.resolve(), folder, given.scale)
            scores[source.stem] = {"litepress": score(frames, tables(made), description) | {"seconds": seconds}}
            if source == folder / "northwind.db":
                northwind(folder / "other.db", given.litepress, seed=1)
                scores[source.stem]["another seed"] = score(frames, tables(folder / "other.db"), description) | {"seconds": {}}
            if beside:
                try:
                    made, seconds = of_sdv(frames, description, given.scale)
                    scores[source.stem]["SDV"] = score(frames, made, description) | {"seconds": seconds}
                except Exception as error:  # noqa: BLE001: what a competitor cannot do is a result
                    print(f"SDV fails on {source.name}: {str(error).splitlines()[0]}", file=sys.stderr)
            # A part of a database is there for the comparison.
            least = max(0 if names else TARGET, scores[source.stem].get("SDV", {"overall": 0})["overall"])
            if scores[source.stem]["litepress"]["overall"] < least:
                failed.append(f"{source.stem} is below {least:.3f}")
            for system, found in scores[source.stem].items():
                parts = ", ".join(f"{part} {value:.3f}" for part, value in found.items() if part not in ("overall", "seconds"))
                seconds = ", ".join(f"{step} {value:.2f} s" for step, value in found["seconds"].items())
                print(f"{source.stem}: {system} {found['overall']:.3f} ({parts}); {seconds}", flush=True)
    versions = competitors.versions([*PACKAGES, "sdv"], sys.executable)
    measure.keep(given.results, {"versions": versions, "scale": given.scale, "scores": scores})
    if failed:
        sys.exit("; ".join(failed))


if __name__ == "__main__":
    if not all(importlib.util.find_spec(package) for package in PACKAGES):
        competitors.install(PACKAGES)
        if pathlib.Path(sys.executable) == competitors.PYTHON:
            sys.exit(f"{' and '.join(PACKAGES)} cannot be imported")
        os.execv(competitors.PYTHON, [str(competitors.PYTHON), __file__, *sys.argv[1:]])
    main()

#!/usr/bin/env python3
"""Measures jobs that projects report to take hours: the same tables and indexes, from files, by litepress and by sqlite3's `.import`.

Each job has the columns, key and indexes of the project's own schema. Rows are made by `litepress generate` and exported by the
sqlite3 shell, once. The competitor is the shell without journal and syncs, and CREATE INDEX after the rows. Both files are compared
before a time counts. With `--write` the table of docs/jobs.md is made from the last line of the results.

    bench/jobs.py --rows 4m --repeat 3 --write
"""

import argparse
import dataclasses
import json
import os
import pathlib
import sys

from measure import ROOT, TARGET, gen, keep, number, reading, remove, repeat, report, run, scratch, spread

PAGE = ROOT / "docs" / "jobs.md"
MARK = "<!-- figures: made by bench/jobs.py --write, do not edit -->"


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    schema: str
    """CREATE TABLE with annotations of generators."""
    indexes: tuple
    published_rows: int
    published: str
    published_seconds: float
    sums: str
    """An aggregate that identifies the rows."""

    @property
    def table(self):
        return self.schema.split()[2]

    def sql(self):
        return ";\n".join([self.schema, *self.indexes]) + ";\n"


JOBS = [
    Job(
        "sample index of a training set",
        """CREATE TABLE samples (
    id INTEGER PRIMARY KEY,
    tar_file_id INTEGER, -- gen: repeat(0, 5028, each=400)
    sample_key TEXT, -- gen: hex(24)
    sample_index INTEGER, -- gen: repeat(0, 399)
    byte_offset INTEGER, -- gen: int(0, 2_000_000_000)
    byte_size INTEGER -- gen: int(2_000, 400_000)
)""",
        (
            "CREATE INDEX samples_by_tar ON samples(tar_file_id)",
            "CREATE INDEX samples_by_tar_and_index ON samples(tar_file_id, sample_index)",
            "CREATE INDEX samples_by_key ON samples(sample_key)",
            "CREATE INDEX samples_by_offset ON samples(tar_file_id, byte_offset)",
        ),
        244_000_000, "13 hours, then a timeout", 13 * 3600, "count(*), sum(id), sum(byte_offset), min(sample_key), max(sample_key)",
    ),
    Job(
        "accession numbers to taxa",
        """CREATE TABLE accession2taxid (
    accession TEXT NOT NULL, -- gen: unique_regex('[A-Z]{2}[0-9]{8}')
    version TEXT NOT NULL, -- gen: pattern('??########.#')
    taxid INTEGER NOT NULL, -- gen: int(1, 3_000_000)
    gi INTEGER NOT NULL -- gen: int(0, 2_000_000_000)
)""",
        ("CREATE UNIQUE INDEX by_accession ON accession2taxid(accession)",),
        570_000_000, "287 minutes", 287 * 60, "count(*), sum(taxid), sum(gi), min(accession), max(accession)",
    ),
    Job(
        "stop times of a timetable (GTFS)",
        """CREATE TABLE stop_times (
    trip_id TEXT NOT NULL, -- gen: pattern('T-######')
    arrival_time TEXT, -- gen: pattern('1#:##:##')
    departure_time TEXT, -- gen: pattern('1#:##:##')
    stop_id TEXT, -- gen: pattern('S####')
    stop_sequence INTEGER, -- gen: repeat(1, 40)
    pickup_type INTEGER, -- gen: int(0, 3)
    drop_off_type INTEGER -- gen: int(0, 3)
)""",
        (
            "CREATE INDEX stop_times_trip ON stop_times(trip_id)",
            "CREATE INDEX stop_times_stop ON stop_times(stop_id)",
            "CREATE INDEX stop_times_sequence ON stop_times(stop_sequence)",
        ),
        13_000_000, "382 to 1,168 seconds", 382, "count(*), sum(stop_sequence), min(trip_id), max(arrival_time), sum(pickup_type)",
    ),
    Job(
        "a table of hourly measurements (PUDL)",
        """CREATE TABLE emissions (
    plant_id INTEGER NOT NULL, -- gen: int(1, 70_000)
    unit_id TEXT NOT NULL, -- gen: pattern('U##')
    at TEXT NOT NULL, -- gen: events('1995-01-01', '2024-01-01')
    state TEXT, -- gen: pattern('??')
    hours REAL, -- gen: real(0, 1, 2)
    load_mw REAL, -- gen: real(0, 900, 1)
    steam REAL, -- gen: null(0.6, real(0, 2000, 1))
    so2 REAL, -- gen: real(0, 3000, 2)
    nox REAL, -- gen: real(0, 800, 3)
    co2 REAL -- gen: real(0, 900, 2)
)""",
        (),
        0, "800 seconds for one table", 800, "count(*), sum(plant_id), min(at), max(at), min(so2), max(nox)",
    ),
]  # fmt: skip


def exported(job, folder, rows):
    """Makes the rows of a job and returns the CSV file, and what every engine must have."""
    made, sql, csv = folder / "made.db", folder / "made.sql", folder / f"{job.table}.csv"
    sql.write_text(job.schema + ";\n")
    gen(made, [sql, "--rows", f"{job.table}={rows}"])
    run(["sqlite3", made, ".headers on", ".mode csv", f".once {csv}", f"SELECT * FROM {job.table};"])
    with reading(made) as database:
        expected = database.execute(f"SELECT {job.sums} FROM {job.table}").fetchone()
    remove(made)
    return csv, expected


def by_import(job, csv, target):
    lines = ["PRAGMA journal_mode=OFF;", "PRAGMA synchronous=OFF;", job.schema + ";", ".mode csv"]
    lines += [f".import --skip 1 {csv} {job.table}", *(f"{index};" for index in job.indexes)]
    return run(["sqlite3", target, *lines])


def by_litepress(job, csv, target):
    sql = target.with_suffix(".sql")
    sql.write_text(job.sql())
    return run([TARGET / "litepress", "load", target, csv, "--schema", sql, "--quiet"])


def one_round(job, csv, expected, folder):
    """Runs both engines, and checks their files."""
    results = {}
    for name, engine in (("sqlite3 .import", by_import), ("litepress load", by_litepress)):
        target = folder / "target.db"
        os.sync()
        result = engine(job, csv, target)
        result.pop("output")
        result["bytes"] = target.stat().st_size
        with reading(target) as database:
            found = database.execute(f"SELECT {job.sums} FROM {job.table}").fetchone()
            indexes = database.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'index'").fetchone()[0]
        if found != expected or indexes != len(job.indexes):
            raise SystemExit(f"{job.name}: {name}: other rows or indexes: {found}, not {expected}")
        results[name] = result
        remove(target)
    return results


def measured(job, folder, options):
    csv, expected = exported(job, folder, options.rows)
    rounds = repeat(options.repeat, lambda: one_round(job, csv, expected, folder))
    input_bytes = csv.stat().st_size
    remove(csv)
    figures = {
        ".import time / litepress time": spread([one["sqlite3 .import"]["seconds"] / one["litepress load"]["seconds"] for one in rounds]),
        "litepress rows/s": spread([options.rows / one["litepress load"]["seconds"] for one in rounds]),
    }
    print(f"\n{job.name}: {options.rows:,} rows, {input_bytes:,} bytes of CSV")
    report(rounds, figures)
    return {"job": job.name, "input_bytes": input_bytes, "figures": figures, "rounds": rounds}


def table(line):
    """Returns the figures of a line as a table in Markdown."""
    by_name = {job.name: job for job in JOBS}
    rows = []
    for one in line["jobs"]:
        job, rate = by_name[one["job"]], one["figures"]["litepress rows/s"]["median"]
        ratio = one["figures"][".import time / litepress time"]
        seconds = job.published_rows / rate
        scaled = "" if not seconds else f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:,.1f} min"
        rows.append(
            f"| {job.name} | {f'{job.published_rows:,}' if job.published_rows else 'not said'} | {job.published} | {rate / 1e6:.2f} M | "
            f"{scaled} | {ratio['median']:.1f} ({ratio['min']:.1f} to {ratio['max']:.1f}) |"
        )
    machine = line["machine"]
    return "\n".join(
        [
            f"Measured on {line['when'][:10]} with {line['rows']:,} rows a job ({machine['cpu']}, {machine['cores']} cores):",
            "",
            "| job | rows in the report | reported | litepress here, rows/s | the reported rows at that rate | times as fast as `.import` here |",
            "|---|---:|---|---:|---:|---:|",
            *rows,
        ]
    )


def write(line):
    """Puts the table of a line between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    _, _, after = rest.partition(MARK)
    PAGE.write_text(f"{before}{MARK}\n\n{table(line)}\n\n{MARK}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("4m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the table of docs/jobs.md")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "jobs.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        jobs = [measured(job, folder, options) for job in JOBS]
    line = keep(options.results, {"rows": options.rows, "jobs": jobs})
    if options.write:
        write(json.loads(json.dumps(line)))
    print(table(line), file=sys.stderr)


if __name__ == "__main__":
    main()

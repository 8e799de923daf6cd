"""Scores CSV readers on Pollock, the benchmark of polluted CSV files (Vitagliano et al., VLDB 2023), and keeps one JSON line.

    python3 bench/pollock.py --corpus FOLDER

FOLDER has the files of HPI-Information-Systems/Pollock (github.com): `csv/`, `clean/`, `parameters/`, and
`pollock_weights.json` in it or beside it. They are not part of this repository.

Each system reads all files. A file gives up to ten points: one if it is read, and precision, recall and F1 of header cells,
records and cells, against its clean form. The simple score is the mean over all files; the weighted score counts a file as
often as real files have its pollution. Litepress is run twice with the same policies for wrong records: with the dialect that the
corpus states, and without.

One file has no header, and its clean form begins with the first record. The published adapters of databases and data frames write
the names of the columns in front of the rows all the same, also those that the system made up. So do all systems here, which costs
those points that see that there is no header: a system that takes the first record for a header gets all of them. The scores
"not invented" leave made-up names out, for all systems alike.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import csv
import datetime
import functools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

import competitors
import measure
from pollock_readers import SYSTEMS, Parameters

PACKAGES = ["duckdb", "pandas", "polars", "price-parser", "python-dateutil", "sqlite-utils"]
READERS = pathlib.Path(__file__).with_name("pollock_readers.py")
POLICIES = ["--on-error", "reject", "--ragged", "fit", "--stray-quotes", "text", "--repeated-header", "stop"]
MEASURES = ["success"] + [f"{part} {measure}" for part in ("header", "record", "cell") for measure in ("precision", "recall", "F1")]
BOOLEANS = {"False": "0", "false": "0", "0": "0", "True": "1", "true": "1", "1": "1"}
TIME = re.compile(r"\s*(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?\s*(am|pm)?\s*", re.IGNORECASE)


@functools.cache
def normal(cell):
    """Returns the cell as the benchmark compares it: numbers, times, dates and prices in one spelling, texts in lower case."""
    if not cell.strip():
        return "" if not cell else cell.lower()
    if cell in BOOLEANS:
        return BOOLEANS[cell]
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return str(number(cell))
    if (time := TIME.fullmatch(cell)) and int(time[1]) < 24 and int(time[2]) < 60:
        return f"{int(time[1]):02}:{time[2]}:{time[3] or '00'}{(time[4] or '').lower()}"
    return date(cell) or price(cell) or cell.lower()


def date(cell):
    import dateutil.parser

    class Information(dateutil.parser.parserinfo):
        JUMP = [" ", ".", ",", ";", "-", "/", "'"]

    if len(cell) > 60:
        return None
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        return str(dateutil.parser.parse(cell, parserinfo=Information()))
    return None


def price(cell):
    from price_parser import Price

    found = Price.fromstring(cell)
    if found.currency is None or found.amount is None:
        return None
    return found.currency + str(found.amount_float)


def agreement(clean, read):
    """Returns precision, recall and F1 of a multiset as the benchmark defines them."""
    if not clean:
        return [1.0] * 3
    common = sum((collections.Counter(clean) & collections.Counter(read)).values())
    if not common:
        return [0.0] * 3
    precision, recall = common / len(clean), common / len(read)
    return [precision, recall, 2 * precision * recall / (precision + recall)]


def points(clean, read):
    """Returns the ten measures of a file. `read` is None if it was not read."""
    if read is None:
        return [0.0] * 10
    if not clean:
        return [1.0] * 10
    header = agreement(list(map(normal, clean[0])), list(map(normal, read[0] if read else [])))
    records = [["".join(map(normal, row)) for row in rows[1:]] for rows in (clean, read)]
    cells = [[cell for row in rows for cell in row] for rows in (clean, read)]
    return [1.0, *header, *agreement(*records), *agreement(*cells)]


def rows_of(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


def dialect(given):
    """Returns the options for the dialect that the corpus states."""
    options = ["--delimiter", given.delimiter, "--quote", given.quote]
    if given.escape not in (given.quote, "\0"):
        options += ["--escape", given.escape]
    options += ["--skip", str(given.preamble_lines + given.header_lines), "--no-header"]
    # Several header lines are one header, whose names the corpus states.
    return [*options, "--columns", ",".join(given.names)] if given.header_lines else options


def litepress(options, path, folder):
    """Returns the rows that `litepress load` makes of a file, below the names of the columns. None if it refuses it."""
    database = folder / f"{path.name}.db"
    command = [measure.TARGET / "litepress", "load", database, path, "--table", "t", "--json", *POLICIES, *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        return {"file": path.name, "error": done.stderr[:300]}
    summary = json.loads(done.stdout)
    if not summary["tables"]:
        return {"file": path.name, "rows": []}
    with contextlib.closing(sqlite3.connect(database)) as connection:
        cursor = connection.execute("SELECT * FROM t")
        names = [column[0] for column in cursor.description]
        rows = [["" if cell is None else str(cell) for cell in row] for row in cursor]
    database.unlink()
    has_header = "--columns" in options or any(file.get("header") for file in summary["files"])
    return {"file": path.name, "rows": [names, *rows], "invented": not has_header}


def litepress_rows(corpus, with_parameters):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:

        def read(path):
            given = Parameters(corpus / "parameters" / f"{path.name}_parameters.json")
            return litepress(dialect(given) if with_parameters else [], path, pathlib.Path(folder))

        return list(pool.map(read, sorted((corpus / "csv").iterdir())))


def competitor_rows(system, corpus):
    command = [competitors.PYTHON, READERS, system, corpus]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def score(results, corpus, weights):
    """Returns the scores of a system, the mean of each measure, the score of each class of files, and refused files."""
    read = {result["file"]: result.get("rows") for result in results}
    invented = {result["file"]: result["rows"][1:] for result in results if result.get("invented")}
    files = sorted(path.name for path in (corpus / "csv").iterdir())
    clean = {name: rows_of(corpus / "clean" / name) for name in files}
    measured = {name: points(clean[name], read.get(name)) for name in files}
    without = measured | {name: points(clean[name], rows) for name, rows in invented.items()}
    total = sum(weights.get(name, 0) for name in files)

    def means(measured):
        weighted = sum(sum(values) * weights.get(name, 0) for name, values in measured.items()) / total
        return sum(map(sum, measured.values())) / len(files), weighted

    classes = collections.defaultdict(list)
    for name, values in measured.items():
        classes[re.sub(r"^(row_[a-z_]+?)_?\d.*|\.csv$", r"\1", name)].append(sum(values))
    return {
        **dict(zip(("simple", "weighted"), means(measured), strict=True)),
        "not invented": dict(zip(("simple", "weighted"), means(without), strict=True)),
        "measures": {name: sum(each[at] for each in measured.values()) / len(files) for at, name in enumerate(MEASURES)},
        "classes": {name: sum(values) / len(values) for name, values in sorted(classes.items())},
        "refused": {result["file"]: result["error"] for result in results if "error" in result},
        "files": {name: sum(values) for name, values in measured.items() if sum(values) < 10},
    }


def table(scores):
    heads = {"simple": 8, "weighted": 10, "not invented": 18, "read": 7, "header F1": 11, "record F1": 11, "cell F1": 9}
    lines = [" " * 24 + "".join(f"{head:>{width}}" for head, width in heads.items())]
    for system, one in sorted(scores.items(), key=lambda item: -item[1]["simple"]):
        without = "{simple:.3f} {weighted:.3f}".format(**one["not invented"])
        means = [f"{one['measures'][name]:.3f}" for name in ("success", "header F1", "record F1", "cell F1")]
        cells = [f"{one['simple']:.3f}", f"{one['weighted']:.3f}", without, *means]
        lines.append(f"{system:24}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, heads.values(), strict=True)))
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=pathlib.Path, required=True, help="folder with csv, clean and parameters")
    parser.add_argument("--only", default="", help="a part of a system's name")
    parser.add_argument("--details", action="store_true", help="print classes, refused files and files that lost points, too")
    parser.add_argument("--results", type=pathlib.Path, default=measure.ROOT / "bench" / "results" / "pollock.jsonl")
    return parser.parse_args()


def main():
    given = arguments()
    corpus = given.corpus.resolve()
    weights = next(folder / "pollock_weights.json" for folder in (corpus, corpus.parent) if (folder / "pollock_weights.json").exists())
    weights = json.loads(weights.read_text())
    readers = {"litepress, parameters": lambda: litepress_rows(corpus, True), "litepress alone": lambda: litepress_rows(corpus, False)}
    readers |= {system: functools.partial(competitor_rows, system, corpus) for system in SYSTEMS}
    scores = {}
    for system, reader in readers.items():
        if given.only in system:
            scores[system] = score(reader(), corpus, weights)
            print(system, f"{scores[system]['simple']:.3f} {scores[system]['weighted']:.3f}", file=sys.stderr, flush=True)
    print(table(scores))
    if given.details:
        print(json.dumps(scores, indent=1))
    if not given.only:
        kept = {system: {name: one[name] for name in ("simple", "weighted", "not invented", "measures", "classes")} for system, one in scores.items()}
        line = {"when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "versions": competitors.versions(PACKAGES), "scores": kept}
        with open(given.results, "a", encoding="utf-8") as results:
            results.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    try:
        import dateutil.parser  # noqa: F401
        import price_parser  # noqa: F401
    except ImportError:
        competitors.install(PACKAGES)
        if pathlib.Path(sys.executable) == competitors.PYTHON:
            raise
        os.execv(competitors.PYTHON, [str(competitors.PYTHON), __file__, *sys.argv[1:]])
    main()

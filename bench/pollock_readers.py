"""The systems of `pollock.py`: each reads CSV files and prints their rows, a JSON line a file.

The first row is the names of the table's columns, `invented` if the system says that the file has none.

Runs in the virtualenv of the competitors: `python pollock_readers.py SYSTEM FOLDER`. Parameters are those of the corpus, and the
calls are those of its published adapters where there is one.
"""

import csv
import io
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import warnings


class Parameters:
    """The parameters of one file, with the defaults of the corpus for those that are empty."""

    def __init__(self, path):
        given = json.loads(path.read_text())
        self.delimiter = given["delimiter"] or ","
        self.quote = given["quotechar"] or '"'
        self.escape = given["escapechar"] or '"'
        self.line_end = given["row_delimiter"]
        self.header_lines = int(given["header_lines"])
        self.preamble_lines = int(given["preamble_lines"])
        fallback = [f"col_{number}" for number in range(int(given["n_columns"]))] or ["col_0"]
        self.names = [name.strip() for name in given["column_names"]] or fallback


def texts(rows):
    """Writes rows as the adapters do, with pandas-like spellings: None and NaN are empty."""
    return [["" if cell is None or cell != cell else str(cell) for cell in row] for row in rows]


def csv_text(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def duckdb_parameters(path, given):
    import duckdb

    relation = duckdb.connect().read_csv(
        str(path),
        delimiter=given.delimiter,
        quotechar=given.quote,
        escapechar=given.escape,
        skiprows=given.preamble_lines + given.header_lines,
        header=False,
        columns=dict.fromkeys(given.names, "VARCHAR"),
        auto_detect=False,
        parallel=False,
        strict_mode=False,
        ignore_errors=True,
        null_padding=True,
    )
    return csv_text(relation.df().to_csv(index=False))


def duckdb_alone(path, _given):
    import duckdb

    relation = duckdb.connect().read_csv(
        str(path), parallel=False, strict_mode=False, ignore_errors=True, null_padding=True
    )
    return csv_text(relation.df().to_csv(index=False))


def pandas(path, given):
    import pandas

    options = {"header": "infer", "encoding": "ascii"}
    if given.quote != '"':
        options["quotechar"] = given.quote
    if given.escape != given.quote:
        options |= {"escapechar": given.escape, "doublequote": False}
    if given.line_end != "\r\n":
        options["lineterminator"] = given.line_end[:1] or None
    if given.preamble_lines:
        options["skiprows"] = given.preamble_lines
    frame = pandas.read_csv(path, dtype=object, on_bad_lines="skip", engine="c", **options)
    return csv_text(frame.to_csv(index=False))


def polars(path, _given):
    import polars

    frame = polars.read_csv(path, truncate_ragged_lines=True, ignore_errors=True, infer_schema=False)
    return [frame.columns, *texts(frame.rows())]


def sqlite_utils(path, _given):
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / "out.db"
        program = pathlib.Path(sys.executable).with_name("sqlite-utils")
        command = [program, "insert", database, "t", path, "--csv", "--sniff", "--no-detect-types"]
        subprocess.run(command, check=True, capture_output=True)
        return table_of(database, "t")


def sqlite3_import(path, given):
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / "out.db"
        ends = {"\r\n": "\\r\\n", "\n": "\\n", "\r": "\\r"}.get(given.line_end, "\\n")
        separator = f'.separator "{given.delimiter}" "{ends}"'
        skip = f".import --skip {given.preamble_lines} '{path}' t"
        subprocess.run(["sqlite3", database, ".mode csv", separator, skip], capture_output=True, check=False)
        return table_of(database, "t")


def python_csv(path, _given):
    with open(path, newline="", encoding="ascii") as file:
        dialect = csv.Sniffer().sniff(file.read())
        file.seek(0)
        return list(csv.reader(file, dialect))


def table_of(database, table):
    connection = sqlite3.connect(database)
    cursor = connection.execute(f"SELECT * FROM {table}")
    return [[column[0] for column in cursor.description], *texts(cursor)]


SYSTEMS = {
    "DuckDB, parameters": duckdb_parameters,
    "DuckDB alone": duckdb_alone,
    "pandas": pandas,
    "polars": polars,
    "sqlite-utils": sqlite_utils,
    "sqlite3 .import": sqlite3_import,
    "Python csv": python_csv,
}


def has_invented_names(system, rows, given):
    """Returns whether the system was told, or found, that no record names the columns. All others take the first record."""
    if system == "DuckDB, parameters":
        return given.header_lines == 0
    return system == "DuckDB alone" and bool(rows) and all(name == f"column{at}" for at, name in enumerate(rows[0]))


def main():
    system, folder = SYSTEMS[sys.argv[1]], pathlib.Path(sys.argv[2])
    warnings.simplefilter("ignore")
    for path in sorted((folder / "csv").iterdir()):
        given = Parameters(folder / "parameters" / f"{path.name}_parameters.json")
        try:
            rows = system(path, given)
        except Exception as error:  # Each system has its own exceptions: any of them is a file that it does not read.
            print(json.dumps({"file": path.name, "error": str(error)[:200]}), flush=True)
        else:
            invented = has_invented_names(sys.argv[1], rows, given)
            print(json.dumps({"file": path.name, "rows": rows, "invented": invented}), flush=True)


if __name__ == "__main__":
    main()

"""Compares the types that litepress finds in real CSV files with those that DuckDB, pandas and polars find.

    columns_child.py PROGRAM FOLDER MOST_BYTES PART

Prints one line of JSON for each file that all four read alike: {"name", "columns", "values", "changed"}.
"""

import csv
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import sysconfig
import tarfile
import warnings

import duckdb
import pandas
import polars

DUCKDB_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL")


def files(folder, most_bytes, part):
    """Yields names and paths of the CSV files in installed packages."""
    packages = pathlib.Path(sysconfig.get_path("purelib"))
    for path in sorted(packages.rglob("*.csv*")):
        name = str(path.relative_to(packages))
        if part not in name or path.suffix not in (".csv", ".gz"):
            continue
        if path.suffix == ".gz":
            text = gzip.decompress(path.read_bytes())
            path = folder / "unpacked.csv"
            path.write_bytes(text)
        if 0 < path.stat().st_size <= most_bytes:
            yield name, path
    archive = packages / "pydataset" / "resources.tar.gz"
    if part in str(archive) and archive.exists():
        with tarfile.open(archive) as opened:
            for member in opened.getmembers():
                if member.name.endswith(".csv") and "/." not in member.name and 0 < member.size <= most_bytes:
                    path = folder / "unpacked.csv"
                    path.write_bytes(opened.extractfile(member).read())
                    yield f"pydataset/{member.name}", path


def with_duckdb(path):
    described = duckdb.execute(f"DESCRIBE SELECT * FROM read_csv('{path}', sample_size = -1)").fetchall()
    return [column[1].startswith(DUCKDB_NUMBERS) or column[1] in ("BIGINT", "HUGEINT") for column in described]


def with_pandas(path):
    read = pandas.read_csv(path, low_memory=False)
    kinds = [read.iloc[:, column].dtype.kind for column in range(read.shape[1])]
    has_values = [bool(read.iloc[:, column].notna().any()) for column in range(read.shape[1])]
    return [kind in "iuf" and filled for kind, filled in zip(kinds, has_values)], [kind == "f" for kind in kinds]


def with_polars(path):
    read = polars.read_csv(path, infer_schema_length=None)
    return [kind.is_numeric() for kind in read.dtypes], [kind.is_float() for kind in read.dtypes]


def plan(program, folder, path, *options):
    """Returns the columns of litepress's plan, or None if it refuses the file."""
    command = [program, "plan", folder / "made.db", path, "--table", "t", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["tables"][0]["columns"] if done.returncode == 0 else None


def changed(program, folder, path, positions, types):
    """Loads a file. Returns the number of compared values, and those that are not the numbers of the texts.

    Returns nothing compared if litepress and Python's csv module read other records.
    """
    made = folder / "made.db"
    command = [program, "load", made, path, "--table", "t", "--overwrite", "--progress", "none", "--json"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    with open(path, encoding="utf-8-sig", newline="") as file:
        records = [record for record in csv.reader(file) if record][1:]
    connection = sqlite3.connect(made)
    rows = connection.execute("SELECT * FROM t ORDER BY rowid").fetchall()
    connection.close()
    os.remove(made)
    if len(rows) != len(records):
        return 0, []
    compared, wrong = 0, []
    for number, (row, record) in enumerate(zip(rows, records), 1):
        if len(row) != len(record):
            return 0, []
        for position in positions:
            text, value = record[position], row[position]
            compared += 1
            if types[position] == "TEXT":
                is_same = value == text
            elif text == "":
                is_same = value is None
            elif isinstance(value, int):
                is_same = int(text) == value if text.lstrip("-").isdigit() else float(text) == value
            else:
                is_same = float(text) == value
            if not is_same:
                wrong.append(f"record {number}, column {position + 1}: {text!r} is {value!r}")
    return compared, wrong


def compare(program, folder, name, path):
    """Returns the columns of numbers of a file, or None if the readers differ in its columns."""
    try:
        by_pandas, pandas_floats = with_pandas(path)
        by_polars, polars_floats = with_polars(path)
        by_duckdb = with_duckdb(path)
    except Exception as error:
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    found, lenient = plan(program, folder, path), plan(program, folder, path, "--numbers", "lenient")
    if found is None or not len(found) == len(by_pandas) == len(by_polars) == len(by_duckdb):
        print(f"{name}: the readers differ in its columns", file=sys.stderr)
        return None
    columns, positions = [], []
    for position, votes in enumerate(zip(by_duckdb, by_pandas, by_polars)):
        if sum(votes) >= 2:
            positions.append(position)
            column = {key: found[position][key] for key in ("name", "type", "because")}
            column["lenient_type"] = lenient[position]["type"]
            column["is_float"] = pandas_floats[position] or polars_floats[position]
            columns.append(column)
    loaded = changed(program, folder, path, positions, [column["type"] for column in found])
    if loaded is None:
        print(f"{name}: litepress refuses a record", file=sys.stderr)
        return None
    values, wrong = loaded
    return {"name": name, "columns": columns, "values": values, "changed": wrong}


def main():
    program, folder, most_bytes, part = sys.argv[1:]
    warnings.simplefilter("ignore")
    csv.field_size_limit(1 << 30)
    for name, path in files(pathlib.Path(folder), int(most_bytes), part):
        result = compare(program, pathlib.Path(folder), name, path)
        if result:
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()

"""Tools of today that fill SQLite with the rows of `user`: from a CSV, from memory, or generated."""

import sys

import data
from suite import toolchains
from suite.benchmark import Case, Benchmark, Wrong

TITLE = "Tools of today"
SOURCE = "Programs and packages as their registries have them: SQLite's own, Python's, Node.js's, Java's"

QUERY = f"SELECT {data.USER.facts} FROM user"
FACTS = {}
"""The facts of the rows of each CSV, by number of rows; filled when the file is made."""


def verify(row, rows):
    if row != FACTS[rows]:
        raise Wrong(f"{row}, not {FACTS[rows]}")


CASES = [
    Case("tools/csv", "A CSV into a typed table: user(id, area, age, active)", QUERY, verify),
    Case("tools/frames", "Rows in the memory of a Python program into the table user", QUERY, verify),
]
KEYLESS = "Into a table without the key."


def source(setting):
    """Makes the CSV before the clock starts, and returns its path."""
    if setting.rows not in FACTS:
        FACTS[setting.rows] = data.facts(data.user_database(setting.prepared, setting.rows), data.USER)
    return data.user_text(setting.prepared, setting.rows, ".csv")


def program(name):
    return toolchains.PROGRAMS / "python" / name


# Whole programs.


def tool(word, given):
    return lambda setting: [sys.executable, program("tools.py"), word, setting.target, given(setting)]


def from_csv(language, method, word, needs, rows, full_rows, *, safe=False, **more):
    return Benchmark(
        "tools/csv", language, method, "disk", tool(word, source), ("litepress", *needs), rows, full_rows, safe, **more
    )


SHORT = "With the start of the program, which is short."
CURVE = (10**4, 10**5, 10**6, 10**7)
CSV = [
    from_csv(
        "SQL", "sqlite3 .import, journal and sync off", "sqlite3-import", ["sqlite3"], 500_000, 5_000_000, reference=True,
        growth=CURVE, note=SHORT,
    ),
    from_csv(
        "CPython", "sqlite-utils insert_all, journal and sync off", "sqlite-utils", ["python-competitors"], 50_000, 500_000,
        note="With the start of Python, as of a program.",
    ),
    from_csv(
        "CPython", "ADBC adbc_ingest of pyarrow's reader", "adbc", ["python-competitors"], 1_000_000, 10_000_000, safe=True,
        growth=CURVE, note=f"{KEYLESS} With the start of Python, as of a program.",
    ),
    from_csv(
        "CPython", "DuckDB's sqlite extension, journal off", "duckdb", ["python-competitors"], 1_000_000, 10_000_000,
        note=f"{KEYLESS} With the start of Python, as of a program.",
    ),
    from_csv("litepress", "load", "litepress-load", [], 5_000_000, 10_000_000, safe=True, growth=CURVE, note=SHORT),
]  # fmt: skip


# Rows in memory.


def from_memory(language, method, engine, rows, full_rows, *, safe=False, **more):
    """Returns a benchmark of an engine of python_child.py."""
    def command(setting):
        check = [setting.check] if setting.target == ":memory:" else []
        return [toolchains.package_python(), program("frames.py"), engine, setting.target, source(setting), *check]

    place = "memory" if engine.endswith("in memory") else "disk"
    needs = ("litepress", "python-package")
    return Benchmark("tools/frames", language, method, place, command, needs, rows, full_rows, safe, **more)


UNSAFE = "journal and sync off"
FRAMES = [
    from_memory(
        "CPython", f"pandas to_sql, {UNSAFE}", "to_sql, pandas", 500_000, 5_000_000, reference=True, note=KEYLESS
    ),
    from_memory(
        "CPython", "polars write_database by ADBC", "polars with ADBC, polars", 1_000_000, 10_000_000, safe=True, note=KEYLESS
    ),
    from_memory(
        "CPython", "ADBC adbc_ingest of a pyarrow table", "ADBC, pyarrow", 1_000_000, 10_000_000, safe=True, note=KEYLESS
    ),
    from_memory("CPython", f"executemany of tuples, {UNSAFE}", "executemany, tuples", 500_000, 5_000_000),
    from_memory("CPython", f"executemany of dicts, {UNSAFE}", "executemany, dicts", 500_000, 5_000_000),
    from_memory("CPython", "executemany of tuples", "executemany, in memory", 500_000, 5_000_000),
    from_memory("litepress", "write, pandas frame", "litepress, pandas", 2_000_000, 10_000_000, safe=True),
    from_memory("litepress", "write, polars frame", "litepress, polars", 2_000_000, 10_000_000, safe=True),
    from_memory("litepress", "write, pyarrow table", "litepress, pyarrow", 2_000_000, 10_000_000, safe=True),
    from_memory("litepress", "write, tuples", "litepress, tuples", 1_000_000, 5_000_000, safe=True),
    from_memory("litepress", "write, dicts", "litepress, dicts", 1_000_000, 5_000_000, safe=True),
    from_memory("litepress", "connect, pyarrow table", "litepress, in memory", 2_000_000, 10_000_000),
]  # fmt: skip


# Rows that are generated while the clock runs, as in the article about `user`.


def made_up(language, method, command, need, rows, full_rows, place="disk", note="", **more):
    note = f"Journal and sync off, a cache of 1,000,000 pages, one transaction.{note}"
    return Benchmark("user", language, method, place, command, (need,), rows, full_rows, safe=False, note=note, **more)


def arguments(setting):
    return [setting.target, setting.rows, *([setting.check] if setting.target == ":memory:" else [])]


def node(word):
    return lambda setting: ["node", toolchains.BUILT / "node" / "user.mjs", word, *arguments(setting)]


def java(setting):
    built = toolchains.BUILT / "java"
    return ["java", "-cp", f"{built / 'classes'}:{built / 'lib' / '*'}", "User", "batch", *arguments(setting)]


def rows_of(setting):
    return setting.rows


MADE_UP = [
    made_up("SQL", "generate_series", tool("generate-series", rows_of), "sqlite3", 1_000_000, 10_000_000, note=f" {SHORT}"),
    made_up("SQL", "recursive query", tool("recursive", rows_of), "sqlite3", 500_000, 5_000_000, note=f" {SHORT}"),
]
for place in ("disk", "memory"):
    one = f"user/Node.js/better-sqlite3, prepared/{place}"
    many = "better-sqlite3, prepared, 50 rows a statement"
    MADE_UP += [
        made_up("Node.js", "better-sqlite3, prepared", node("prepared"), "node", 500_000, 5_000_000, place),
        made_up("Node.js", many, node("prepared-50"), "node", 500_000, 5_000_000, place, after=one),
        made_up("Java", "sqlite-jdbc, batches of 1,000 rows", java, "java", 300_000, 3_000_000, place),
    ]

BENCHMARKS = CSV + FRAMES + MADE_UP

"""Ruby hashes in memory, inserted with the gem sqlite3: from one INSERT after another to many rows a statement."""

import functools
import math
import sys

import data
from suite import toolchains
from suite.generated import generate
from suite.benchmark import Case, Published, Benchmark, Wrong, expect_near

TITLE = "Metrics: hashes in memory, 500,000 rows, in Ruby"
SOURCE = "Maximum Speed SQLite Inserts: the metrics of a simulator, from Ruby hashes, on disk and in memory"
ROWS = 500_000
"""The number of rows of all figures of the article."""

FACTS = "count(*), sum(rowid), " + ", ".join(f"sum(name = '{name}')" for name in data.METRICS)
FACTS += ", sum(CAST(value * 1000000 AS INTEGER) * (1 + rowid % 100)), min(typeof(value)), max(typeof(value))"
QUERY = f"SELECT {FACTS}, min(value), max(value), sum(value) FROM metrics"


@functools.lru_cache
def article(rows):
    """Returns the facts of the article's rows."""
    names, weighted, low, high = dict.fromkeys(data.METRICS, 0), 0, math.inf, -math.inf
    for rowid, (name, value) in enumerate(data.metrics(rows), 1):
        names[name] += 1
        weighted += int(value * 1_000_000) * (1 + rowid % 100)
        low, high = min(low, value), max(high, value)
    return rows, rows * (rows + 1) // 2, *names.values(), weighted, "real", "real", low, high


def verify(row, rows):
    """Compares with the article's rows, which are known to the last bit."""
    if row[:-1] != article(rows):
        raise Wrong(f"{row[:-1]}, not {article(rows)}")


def verify_others(row, rows):
    """Checks that the rows of `litepress generate` have the same number and distribution."""
    *facts, total = row
    count, rowids, *names, _, least_type, most_type, low, high = facts
    if (count, rowids, least_type, most_type) != (rows, rows * (rows + 1) // 2, "real", "real") or not 0 <= low <= high < 1:
        raise Wrong(f"{facts} is not of {rows} rows with values between 0 and 1")
    for name, found in zip(data.METRICS, names):
        expect_near(f"rows of {name}", found, rows / 5, math.sqrt(rows * 0.16))
    expect_near("sum of values", total, rows / 2, math.sqrt(rows / 12))


CASES = [Case("metrics", "Rows that a program has in memory: metrics(name, value)", QUERY, verify)]


# The article's five tables: its name of a method, and the seconds.

NAIVE, PREPARED, TRANSACTION = "Naive", "With a prepared statement", "With transaction"
BOTH = "With transaction and prepared statement"
PRAGMAS = "With pragmas, transaction and prepared statement"
MULTIROW = "With multirow inserts, pragmas, transaction and prepared statement"

ONE_BY_ONE = {NAIVE: 2.306505, TRANSACTION: 1.889884, BOTH: 0.64563, PRAGMAS: 0.621914}
TOGETHER = {NAIVE: 2.704865, TRANSACTION: 2.360064, BOTH: 0.637084, PRAGMAS: 0.640616, MULTIROW: 0.314159}
BACKUP = {NAIVE: 2.706573, PREPARED: 0.990192, BOTH: 0.627656, PRAGMAS: 0.62778, MULTIROW: 0.313596}
DISK = {NAIVE: 474.504963, TRANSACTION: 2.388236, BOTH: 0.770683, PRAGMAS: 0.738647, MULTIROW: 0.356504}
MEMORY = {NAIVE: 2.306505, TRANSACTION: 1.889884, BOTH: 0.64563, PRAGMAS: 0.634888, MULTIROW: 0.316265}


def published(title, tables):
    """Returns the figures of a method, each with the name of its table."""
    return tuple(
        Published("metrics", f"{title} ({table})", ROWS, seconds[title])
        for table, seconds in tables.items()
        if title in seconds
    )


# In Ruby.

METHODS = [
    # The program's word, our name, the article's name, the previous step, rows of a small run, is the file safe in a crash.
    ("naive", "a statement a row", NAIVE, None, 40_000, True),
    ("prepared", "prepared", PREPARED, "a statement a row", 100_000, True),
    ("transaction", "one transaction", TRANSACTION, "a statement a row", 50_000, True),
    ("transaction-prepared", "one transaction, prepared", BOTH, "one transaction", 150_000, True),
    ("pragmas", "one transaction, prepared, journal and sync off", PRAGMAS, "one transaction, prepared", 150_000, False),
    ("stuffing-999", "499 rows a statement", MULTIROW, "one transaction, prepared, journal and sync off", 400_000, False),
    ("stuffing-32766", "16,383 rows a statement", None, "499 rows a statement", 400_000, False),
]
SYNCS = ("naive", "prepared")
NOTES = {
    "naive": "Each statement is closed, which the article leaves to the garbage collector.",
    "stuffing-32766": "In one transaction, prepared, journal and sync off. SQLite takes 32,766 parameters since 3.32.",
}
NOTES |= {"transaction": NOTES["naive"], "stuffing-999": "In one transaction, prepared, journal and sync off."}
PLACES = [
    # The suffix of the program's word, the place, the suffix of the method, the article's tables.
    ("", "memory", "", {"one by one": ONE_BY_ONE, "all together": TOGETHER, "memory DBs": MEMORY}),
    ("+backup", "disk", ", in memory, then backup", {"memory databases to disk": BACKUP}),
    ("", "disk", "", {"disk DBs": DISK}),
]


def ruby(word, suffix):
    def command(setting):
        check = [setting.check] if setting.target == ":memory:" else []
        return ["ruby", toolchains.PROGRAMS / "ruby" / "metrics.rb", word + suffix, setting.target, setting.rows, *check]

    return command


def in_ruby():
    for suffix, place, added, tables in PLACES:
        for word, method, title, after, rows, safe in METHODS:
            note = NOTES.get(word, "")
            syncs = place == "disk" and not suffix and word in SYNCS
            if syncs:
                rows, note = 100, f"Each row is a transaction, which waits for the disk: few rows. {note}".strip()
            yield Benchmark(
                "metrics", "Ruby", method + added, place, ruby(word, suffix), ("ruby",), rows, rows * (10 if syncs else 6),
                safe=place == "disk" and (safe or bool(suffix)), reference=place == "memory" and word == "naive",
                after=after and f"metrics/Ruby/{after}{added}/{place}", published=published(title, tables), note=note,
            )  # fmt: skip


# In Python, with its standard library and with litepress; and rows that litepress generates.


def python(interpreter, word):
    def command(setting):
        check = [setting.check] if setting.target == ":memory:" else []
        program = toolchains.PROGRAMS / "python" / "metrics.py"
        return [interpreter(), program, word, setting.target, setting.rows, *check]

    return command


def in_python():
    unsafe = "executemany, journal and sync off"
    for word, method, place, after in (
        ("executemany", "executemany", "memory", None),
        ("executemany", "executemany", "disk", None),
        ("unsafe-executemany", unsafe, "disk", "metrics/CPython/executemany/disk"),
    ):
        yield Benchmark(
            "metrics", "CPython", method, place, python(lambda: sys.executable, word), ("cpython",), 400_000, 4_800_000,
            safe=place == "disk" and method != unsafe, after=after, note="Rows are dicts.",
        )  # fmt: skip
    for word, method, place in (
        ("append", "append, row by row", "disk"),
        ("extend", "extend", "disk"),
        ("write", "write", "disk"),
        ("connect", "connect", "memory"),
    ):
        yield Benchmark(
            "metrics", "litepress", f"Python, {method}", place, python(toolchains.package_python, word), ("python-package",),
            1_200_000, 4_800_000, safe=place == "disk", note="Rows are dicts.",
        )  # fmt: skip


# In Ruby with litepress: the article's loop, and all at once.


def ruby_package(word, setting):
    library = toolchains.C_LIBRARY / "liblitepress.so.0"
    program = toolchains.PROGRAMS / "ruby" / "metrics_litepress.rb"
    return ["env", f"LITEPRESS_LIBRARY={library}", "ruby", program, word, setting.target, setting.rows]


def in_ruby_with_litepress():
    for word, method in (("insert", "<<, row by row"), ("insert-all", "insert_all")):
        yield Benchmark(
            "metrics", "litepress", f"Ruby, {method}", "disk", functools.partial(ruby_package, word), ("ruby-litepress",), 400_000,
            2_400_000, safe=True, note="Rows are hashes. An fsync of file and folder is in the time.",
        )  # fmt: skip


def gen(setting):
    """Returns the command for an annotated schema with the distribution of the article's rows."""
    return generate(setting, toolchains.PROGRAMS / "litepress" / "metrics.sql")


BENCHMARKS = [
    *in_ruby(),
    *in_python(),
    *in_ruby_with_litepress(),
    Benchmark(
        "metrics", "litepress", "generate", "disk", gen, ("litepress",), 5_000_000, 50_000_000, safe=True,
        verify=verify_others, note="Generates other rows of the same distribution while the clock runs.",
    ),  # fmt: skip
]

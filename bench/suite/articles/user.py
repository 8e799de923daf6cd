"""A billion rows in a minute: the table `user`, filled from Python, Rust and Go, and by litepress.

Two texts have its figures: the author's own article, and a report of it in Chinese with a later leaderboard of the author.
Figures of both are listed once. All figures except the first two are of 100 million rows, on a laptop of 2019 with four
cores.
"""

import functools
import math

from suite import toolchains
from suite.generated import IN_MEMORY, MADE_IN_MEMORY, generate, generate_in_memory
from suite.benchmark import Absent, Case, Published, Benchmark, Wrong, expect_near

TITLE = "Towards a billion rows in a minute: the table user, made up while it is filled"
SOURCE = "avinassh, Towards Inserting One Billion Rows in SQLite Under A Minute (2021), and a report of it in Chinese"

MILLION = 10**6
CURVE = (10**4, 10**5, 10**6, 10**7)
LONG_CURVE = (*CURVE, 10**8)
MINUTE = 60


def published(label, seconds, rows=100 * MILLION):
    return Published("user", label, rows, seconds)


# Checks.

DIGITS = "typeof(area) = 'text' AND area GLOB '[0-9][0-9][0-9][0-9][0-9][0-9]'"
CHOICES = {"age": (5, 10, 15), "active": (0, 1)}
COUNTED = [f"{column} = {value}" for column, values in CHOICES.items() for value in values]
QUERY = f"""
    SELECT count(*), min(id), max(id), sum({DIGITS}), sum(CAST(area AS INTEGER)), {", ".join(f"sum({one})" for one in COUNTED)}
    FROM user
"""


def verify(row, rows):
    """Checks that each row has permitted values, and that they are uniformly distributed."""
    count, first, last, areas, area_sum, *counts = row
    ages, actives = counts[:3], counts[3:]
    if (count, first, last, areas, sum(ages), sum(actives)) != (rows, 1, rows, rows, rows, rows):
        raise Wrong(f"{row} is not of {rows} rows of user")
    expect_near("sum of areas", area_sum, rows * (MILLION - 1) / 2, math.sqrt(rows * (MILLION**2 - 1) / 12))
    for values in (ages, actives):
        share = 1 / len(values)
        for found in values:
            expect_near("rows with one value", found, rows * share, math.sqrt(rows * share * (1 - share)))


def nothing_to_verify(_row, _rows):
    """Accepts anything, for a loop that writes nothing."""


CASES = [
    Case("user", "Rows made up while they are inserted: user(id, area, age, active)", QUERY, verify),
    Case("user/rows", "The same rows made, and not inserted", QUERY, nothing_to_verify),
]


# Programs.


def program(command, method, setting):
    """Returns the command line; a program queries a database in memory itself."""
    check = [setting.check] if setting.target == ":memory:" else []
    return [*command, method, setting.target, setting.rows, *check]


COMMANDS = {
    "CPython": (["python3", toolchains.PROGRAMS / "python" / "user.py"], ("cpython",)),
    "PyPy": (["pypy3", toolchains.PROGRAMS / "python" / "user.py"], ("pypy",)),
    "Rust": ([toolchains.binary("user")], ("rust",)),
    "Rust, sqlx": ([toolchains.built_apart("litepress-bench-sqlx")], ("sqlx",)),
    "Go, cgo": ([toolchains.BUILT / "go-cgo"], ("go-cgo",)),
    "Go, pure": ([toolchains.BUILT / "go-pure"], ("go-pure",)),
}


UNSAFE = "Journal and sync off, a cache of 1,000,000 pages, one transaction."


def benchmark(title, word, by, rows, full_rows, *, place="disk", safe=False, **more):
    """Returns a benchmark; `by` is a key of `COMMANDS`, which begins with the language."""
    command, needs = COMMANDS[by]
    case = "user/rows" if place == "none" else "user"
    command = functools.partial(program, command, word)
    if by.split(",")[0] in ("Rust", "Go") and place != "none":
        more["note"] = " ".join(filter(None, [UNSAFE, more.get("note")]))
    return Benchmark(case, by.split(",")[0], title, place, command, needs, rows, full_rows, safe, **more)


def both(
    title, word, by, rows, full_rows, *, after=None, figures=(), in_memory=(), growth=(), safe=False, reference=False, note=""
):
    """Yields a pair of benchmarks, on disk and in memory; `after` is language and title of another pair.

    The options behind `in_memory` apply on disk only.
    """
    before = after and f"user/{after}"
    here = functools.partial(benchmark, title, word, by, rows, full_rows)
    yield here(after=before and f"{before}/disk", published=figures, growth=growth, safe=safe, reference=reference, note=note)
    yield here(place="memory", after=before and f"{before}/memory", published=in_memory)


# Python. In the author's programs without PRAGMAs the connection begins no transaction: each row of a batch is one.

LOOP, BATCHES = "execute in a loop", "executemany of 100,000"
EACH = "a commit a row, WAL"
PRAGMAS = "journal and sync off"
CHEAP = "random numbers made cheaply"
BY_BATCH = "A crash leaves the batches that were committed before it."
EACH_NOTE = (
    "So is the author's program, whose connection begins no transaction by itself. Each commit waits for the disk here; at 90 µs "
    "a row, the author's system can hardly have waited for it."
)


def cpython():
    yield benchmark(
        f"{LOOP}, {EACH}", "autocommit-row-by-row", "CPython", 100, 1_000, safe=True,
        published=(published("Python, naive", 15 * MINUTE, 10 * MILLION),), note=EACH_NOTE,
    )  # fmt: skip
    yield benchmark(
        f"{BATCHES}, {EACH}", "autocommit-batched", "CPython", 100, 1_000, safe=True,
        after=f"user/CPython/{LOOP}, {EACH}/disk", note=EACH_NOTE,
        published=(published("Python, batched", 10 * MINUTE, 10 * MILLION),),
    )  # fmt: skip
    yield from both(LOOP, "row-by-row", "CPython", 150_000, MILLION, safe=True, note="One commit at the end.")
    yield from both(
        BATCHES, "batched", "CPython", 250_000, 2 * MILLION, safe=True, after=f"CPython/{LOOP}", note=BY_BATCH
    )
    yield from both(
        f"{LOOP}, {PRAGMAS}", "pragmas-row-by-row", "CPython", 150_000, MILLION, after=f"CPython/{LOOP}",
        figures=(published("Python, naive, with PRAGMAs", 10 * MINUTE),),
    )  # fmt: skip
    yield from both(
        f"{BATCHES}, {PRAGMAS}", "pragmas-batched", "CPython", 250_000, 2 * MILLION, after=f"CPython/{BATCHES}", growth=CURVE,
        figures=(published("Python, batched, with PRAGMAs", 8.5 * MINUTE), published("Leaderboard: CPython", 510)),
    )  # fmt: skip
    yield from both(
        f"{BATCHES}, {PRAGMAS}, {CHEAP}", "pragmas-batched-cheap", "CPython", 300_000, 2 * MILLION,
        after=f"CPython/{BATCHES}, {PRAGMAS}", figures=(published("Later leaderboard (Chinese report): CPython", 210),),
        note="The author's later program also makes random numbers cheaply, in another way.",
    )  # fmt: skip


def pypy():
    """Yields the programs of CPython, each as a step from the run with CPython."""
    for title, word, rows, full_rows, more in (
        (LOOP, "row-by-row", 150_000, MILLION, {"safe": True, "note": "One commit at the end."}),
        (BATCHES, "batched", 400_000, 3 * MILLION, {"safe": True, "note": BY_BATCH}),
        (f"{LOOP}, {PRAGMAS}", "pragmas-row-by-row", 150_000, MILLION, {}),
        (
            f"{BATCHES}, {PRAGMAS}", "pragmas-batched", 400_000, 3 * MILLION,
            {"figures": (published("PyPy, batched, with PRAGMAs", 2.5 * MINUTE), published("Leaderboard: PyPy", 150))},
        ),
        (
            f"{BATCHES}, {PRAGMAS}, {CHEAP}", "pragmas-batched-cheap", 400_000, 3 * MILLION,
            {"figures": (published("Later leaderboard (Chinese report): PyPy", 126),)},
        ),
    ):  # fmt: skip
        yield from both(title, word, "PyPy", rows, full_rows, after=f"CPython/{title}", **more)


# Rust, with the PRAGMAs throughout.

ONE, FIFTY = "prepared", "prepared, 50 rows a statement"
NAIVE, TEXT = "statement compiled for each row", "text of 50 rows a statement"


def rust():
    yield from both(
        NAIVE, "row-by-row", "Rust", 250_000, 2 * MILLION, figures=(published("Rust, naive", 3 * MINUTE),)
    )
    yield from both(
        "sqlx, prepared, each row awaited", "row-by-row", "Rust, sqlx", 40_000, 200_000, after=f"Rust/{NAIVE}",
        figures=(published("Rust, sqlx", 14 * MINUTE),),
    )  # fmt: skip
    yield from both(
        ONE, "prepared", "Rust", MILLION, 10 * MILLION, after=f"Rust/{NAIVE}",
        figures=(published("Rust, prepared statement", 1 * MINUTE),),
    )  # fmt: skip
    yield from both(
        FIFTY, "prepared-50", "Rust", 2 * MILLION, 10 * MILLION, after=f"Rust/{ONE}", growth=LONG_CURVE, reference=True,
        figures=(published("Rust, batched", 34.3),),
    )  # fmt: skip
    yield from both(TEXT, "text-50", "Rust", 600_000, 4 * MILLION, after=f"Rust/{NAIVE}")
    yield from both("text of 10,000 rows a statement", "text-10000", "Rust", 600_000, 4 * MILLION, after=f"Rust/{TEXT}")
    yield from both(
        "prepared, 50 rows a statement, made by four threads", "threaded", "Rust", 2 * MILLION, 10 * MILLION,
        after=f"Rust/{FIFTY}", in_memory=(published("Rust, threaded, in memory", 29),),
        figures=(
            published("Rust, batched, threaded", 32.37), published("Leaderboard: Rust", 33),
            published("Later leaderboard (Chinese report): Rust", 33),
        ),
    )  # fmt: skip
    yield from both(
        "text of 50 rows a statement, made by four threads", "threaded-text", "Rust", MILLION, 8 * MILLION,
        after=f"Rust/{TEXT}",
    )  # fmt: skip
    yield benchmark(
        "a process a core, databases merged", "processes", "Rust", 2 * MILLION, 10 * MILLION,
        after=f"user/Rust/{FIFTY}/disk", note="The author's next plan. The time includes merging.",
    )  # fmt: skip


# Go, as the author planned it: PRAGMAs, one transaction, and no garbage collector.

DRIVERS = {"Go, cgo": "mattn/go-sqlite3", "Go, pure": "modernc.org/sqlite"}
OFF = "garbage collector off"


def go():
    for by, driver in DRIVERS.items():
        one, fifty = f"{driver}, {ONE}", f"{driver}, {FIFTY}"
        yield from both(one, "prepared", by, 300_000, 2 * MILLION)
        yield from both(f"{one}, {OFF}", "prepared-nogc", by, 300_000, 2 * MILLION, after=f"Go/{one}")
        yield from both(fifty, "prepared-50", by, 600_000, 4 * MILLION, after=f"Go/{one}", growth=CURVE)
        yield from both(f"{fifty}, {OFF}", "prepared-50-nogc", by, 600_000, 4 * MILLION, after=f"Go/{fifty}")


# litepress: the author's "crazy idea" of writing pages without SQLite.


def generate_file(setting):
    return generate(setting, "--preset", "user")


def generate_memory(setting):
    return generate_in_memory(setting, "user")


LITEPRESS = [
    Benchmark(
        "user", "litepress", "generate", "disk", generate_file, ("litepress",), 5 * MILLION, 10 * MILLION, safe=True,
        growth=LONG_CURVE, note="An fsync of file and folder is in its time.",
    ),
    Benchmark(
        "user", "litepress", IN_MEMORY, "memory", generate_memory, ("rust",), 5 * MILLION, 10 * MILLION, safe=False,
        note=MADE_IN_MEMORY,
    ),
]  # fmt: skip


# The packages of litepress for Go, Node.js, Java and R; and R's own way.


def go_package(word, setting):
    return [toolchains.BUILT / "go-litepress", word, setting.target, setting.rows]


def node_package(word, setting):
    native = toolchains.TARGET / "liblitepress_node.so"
    script = toolchains.PROGRAMS / "node" / "litepress.mjs"
    return ["env", f"LITEPRESS_NODE={native}", "node", script, word, setting.target, setting.rows]


def java_package(word, setting):
    built = toolchains.BUILT / "java-litepress"
    return ["java", "-cp", f"{built / 'litepress.jar'}:{built}", "UserPress", word, setting.target, setting.rows]


def r_program(word, setting):
    library = toolchains.BUILT / "r-litepress" / "library"
    return ["env", f"R_LIBS={library}", "Rscript", toolchains.PROGRAMS / "r" / "user.R", word, setting.target, setting.rows]


def in_r():
    note = "The rows are made as vectors, before they are inserted, while the clock runs."
    yield Benchmark(
        "user", "R", "RSQLite, dbAppendTable", "disk", functools.partial(r_program, "rsqlite"), ("r",), 300_000, 3 * MILLION, safe=False,
        note=f"Journal and sync off. {note}",
    )  # fmt: skip
    yield Benchmark(
        "user", "litepress", "R, write_sqlite", "disk", functools.partial(r_program, "litepress"), ("r-litepress",), MILLION, 3 * MILLION,
        safe=True, note=f"{note} An fsync of file and folder is in the time.",
    )  # fmt: skip


def packages():
    for language, command, need, methods in (
        ("Go", go_package, "go-litepress", {"insert": "Insert", "structs": "InsertAll of structs", "columns": "Append"}),
        ("Node.js", node_package, "node-litepress", {"insert": "insert of arrays", "insertAll": "insertAll of objects"}),
        ("Java", java_package, "java-litepress", {"insert": "insert", "records": "insertAll of records", "columns": "append"}),
    ):
        for word, method in methods.items():
            yield Benchmark(
                "user", "litepress", f"{language}, {method}", "disk", functools.partial(command, word), (need,), MILLION, 10 * MILLION,
                safe=True, note="The program makes the rows on one core. An fsync of file and folder is in the time.",
            )  # fmt: skip


# The rows alone.

BUSY = "in a loop"
BUSY_BATCHES = "in lists of 100,000"


def busy():
    yield benchmark(BUSY, "busy-row-by-row", "CPython", 400_000, 3 * MILLION, place="none", safe=True)
    yield benchmark(
        BUSY_BATCHES, "busy-batched", "CPython", 400_000, 3 * MILLION, place="none", safe=True,
        published=(published("Busy loop, batched: CPython", 5.5 * MINUTE),),
    )  # fmt: skip
    for title, word, figures in (
        (BUSY, "busy-row-by-row", ()),
        (BUSY_BATCHES, "busy-batched", (published("Busy loop, batched: PyPy", 1.5 * MINUTE),)),
    ):
        after = f"user/rows/CPython/{title}/none"
        yield benchmark(title, word, "PyPy", MILLION, 10 * MILLION, place="none", safe=True, after=after, published=figures)
    alone = benchmark(
        BUSY_BATCHES, "busy", "Rust", 10 * MILLION, 10 * MILLION, place="none", safe=True, reference=True,
        after=f"user/rows/CPython/{BUSY_BATCHES}/none", published=(published("Busy loop: Rust", 17),),
        note="The author's rows had a string each on the heap. Here `black_box` keeps the compiler from removing the work.",
    )  # fmt: skip
    yield alone
    yield benchmark(
        "in lists of 100,000, four threads", "busy-threaded", "Rust", 10 * MILLION, 10 * MILLION, place="none", safe=True,
        after=alone.name,
    )  # fmt: skip


BENCHMARKS = [*LITEPRESS, *packages(), *in_r(), *rust(), *cpython(), *pypy(), *go(), *busy()]

ABSENT = [
    Absent(
        "user", "The goal", published("A billion rows under a minute", MINUTE, 1000 * MILLION),
        "A goal that no program of the article reached. `make demo ROWS=1b` generates a billion rows; a benchmark has 100 million at most.",
    ),
    Absent(
        "user", "Four processes on four cores", published("800M rows under a minute", MINUTE, 800 * MILLION),
        "An estimate: the author did not try it. The benchmark `a process a core, databases merged` does.",
    ),
    Absent(
        "user", "Writing to the disk alone", published("100M rows flushed to disk", 2),
        "The author's guess from the difference of two runs; compare the benchmarks on disk and in memory here.",
    ),
]  # fmt: skip

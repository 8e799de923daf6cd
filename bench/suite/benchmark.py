"""What a benchmark is: one method of filling SQLite, as a program that is run, verified and timed.

A module of `articles/` lists the benchmarks of one article: `TITLE`, `SOURCE`, `CASES` (each with the query that verifies it)
and `BENCHMARKS`. The runner knows no method and no language; the report knows nothing but what `describe` says of a benchmark.
"""

import dataclasses
import pathlib
from collections.abc import Callable


class Wrong(Exception):
    """What a benchmark has written is not what it was to write."""


def expect(found, right):
    if tuple(found) != tuple(right):
        raise Wrong(f"{tuple(found)} where {tuple(right)} is right")


def expect_near(what, found, expected, deviation):
    """Chance gives more than six standard deviations once in 500 million times."""
    if abs(found - expected) > 6 * deviation:
        raise Wrong(f"{what}: {found}, {expected:g} expected")


def verify_and(last, verify, row, rows):
    """What stands last in the row (the kind of table, the size of a page), and the rest by `verify`."""
    expect(row[-1:], [last])
    verify(row[:-1], rows)


@dataclasses.dataclass(frozen=True)
class Case:
    """Benchmarks that do the same work, and can be compared: same rows, same table."""

    name: str
    """As in `--only`: `user`, `metrics`, `integers/key-order`."""
    title: str
    query: str
    """One row of facts (counts, sums), asked of SQLite after the clock has stopped."""
    verify: Callable[[tuple, int], None]
    """Raises `Wrong` unless that row is right for so many rows."""
    axis: str = ""
    """What the case varies, where it varies one thing: `characters of a text`. Its benchmarks have their place there in `at`."""


@dataclasses.dataclass(frozen=True)
class Published:
    """An article's figure, in the article's own unit."""

    article: str
    """The module of the article that has it: it may be another's that repeats it."""
    label: str
    """What the article calls it."""
    rows: int
    seconds: float
    bytes: int | None = None
    """Size of the file, where the article has one."""


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """One method in one language, on disk or in memory."""

    case: str
    """Name of its `Case`."""
    language: str
    """As people filter by it: `CPython`, `PyPy`, `Rust`, `Go`, `Ruby`, `C`, `Node.js`, `Java`, `SQL`, `litepress`."""
    method: str
    """In a few words for people, unique beside case, language and place: `prepared, 50 rows a statement`."""
    place: str
    """`disk`, `memory`, or `none` for a loop that writes nothing."""
    command: Callable[["Setting"], list]
    """The command line, for a target and a number of rows."""
    needs: tuple[str, ...]
    """Toolchains by name (`toolchains.py`): a benchmark is skipped, and says so, where one cannot be had."""
    rows: int
    """In a small run: what takes it about half a second."""
    full_rows: int
    """In a full run: what takes it some seconds."""
    safe: bool
    """Whether a crash in the middle leaves the database whole, as it was or as it should be."""
    reference: bool = False
    """What the others of its case are compared to: one a case."""
    after: str | None = None
    """Name of the benchmark that this one goes one step beyond; the report says what the step brought."""
    at: float | None = None
    """Where the case varies one thing (length of a text, pages of cache, columns): its value, the place on the axis."""
    growth: tuple[int, ...] = ()
    """Numbers of rows at which a full run measures it, too, for the curve of cost by rows."""
    published: tuple[Published, ...] = ()
    verify: Callable[[tuple, int], None] | None = None
    """In the place of its case's, where benchmarks of the case do not make the same rows, or tables."""
    note: str = ""
    """A sentence that a reader of its figure must know: what differs from the article, what is not timed."""

    @property
    def name(self):
        return f"{self.case}/{self.language}/{self.method}/{self.place}"

    def describe(self):
        """What is known of it before it is run, for the line of results."""
        kept = ("name", "case", "language", "method", "place", "safe", "reference", "after", "at", "note", "needs")
        figures = [dataclasses.asdict(figure) for figure in self.published]
        return {key: getattr(self, key) for key in kept} | {"published": figures}


@dataclasses.dataclass(frozen=True)
class Absent:
    """An article's figure that cannot be measured here, and why."""

    case: str
    method: str
    published: Published
    why: str


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a benchmark is run with."""

    target: str
    """Path of the database to make, or `:memory:`."""
    rows: int
    check: str
    """The case's query, for a program whose database is in memory."""
    folder: pathlib.Path
    """Scratch for what a benchmark needs beside its target; emptied before each run."""
    prepared: pathlib.Path
    """Kept for the whole run: input files that some benchmarks share. Made by `command` where it is missing, before the clock."""

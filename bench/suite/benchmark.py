"""A benchmark: one method of filling SQLite, as a program that is run, verified and timed.

A module of `articles/` lists the benchmarks of one article: `TITLE`, `SOURCE`, `CASES` (each with the query that verifies it)
and `BENCHMARKS`. The runner knows no method and no language; the report knows only the output of `describe`.
"""

import dataclasses
import pathlib
from collections.abc import Callable


class Wrong(Exception):
    """A benchmark wrote wrong rows."""


def expect(found, right):
    if tuple(found) != tuple(right):
        raise Wrong(f"{tuple(found)}, expected {tuple(right)}")


def expect_near(what, found, expected, deviation):
    """Raises `Wrong` beyond six standard deviations, which random rows reach once in 500 million times."""
    if abs(found - expected) > 6 * deviation:
        raise Wrong(f"{what}: {found}, {expected:g} expected")


def verify_and(last, verify, row, rows):
    """Checks the last value of the row (the kind of table, the size of a page), and the rest with `verify`."""
    expect(row[-1:], [last])
    verify(row[:-1], rows)


@dataclasses.dataclass(frozen=True)
class Case:
    """A group of benchmarks that do the same work and can be compared: same rows, same table."""

    name: str
    """The name, as used by `--only`: `user`, `metrics`, `integers/key-order`."""
    title: str
    query: str
    """A query for one row of facts (counts, sums), which runs after the clock has stopped."""
    verify: Callable[[tuple, int], None]
    """Raises `Wrong` unless that row is right for the number of rows."""
    axis: str = ""
    """The one quantity that the case varies, if any: `characters of a text`. Its values are in `at` of the benchmarks."""


@dataclasses.dataclass(frozen=True)
class Published:
    """A figure of an article."""

    article: str
    """The module of the article; another article may repeat the benchmark."""
    label: str
    """The article's name for it."""
    rows: int
    seconds: float
    bytes: int | None = None
    """Size of the file, if the article has one."""


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """One method in one language, on disk or in memory."""

    case: str
    """Name of its `Case`."""
    language: str
    """The language: `CPython`, `PyPy`, `Rust`, `Go`, `Ruby`, `C`, `Node.js`, `Java`, `SQL`, `litepress`."""
    method: str
    """A short description, unique within case, language and place: `prepared, 50 rows a statement`."""
    place: str
    """`disk`, `memory`, or `none` for a loop that writes nothing."""
    command: Callable[["Setting"], list]
    """Returns the command line for a setting."""
    needs: tuple[str, ...]
    """Toolchains by name (`toolchains.py`): without one of them the benchmark is skipped, with a message."""
    rows: int
    """Rows in a small run: about half a second."""
    full_rows: int
    """Rows in a full run: some seconds."""
    safe: bool
    """Whether a crash leaves the database whole: as it was before, or complete."""
    reference: bool = False
    """Whether the other benchmarks of the case are compared to it: one in each case."""
    after: str | None = None
    """Name of the benchmark that this one improves by one step; the report has the step's factor."""
    at: float | None = None
    """Value on the axis of the case (length of a text, pages of cache, columns), if it has one."""
    growth: tuple[int, ...] = ()
    """Further numbers of rows in a full run, for the curve of cost by rows."""
    published: tuple[Published, ...] = ()
    verify: Callable[[tuple, int], None] | None = None
    """Replaces the check of the case for benchmarks that make other rows or tables."""
    note: str = ""
    """A sentence that readers of the figure must know: differences from the article, work that is not timed."""

    @property
    def name(self):
        return f"{self.case}/{self.language}/{self.method}/{self.place}"

    def describe(self):
        """Returns its properties for the result line."""
        kept = ("name", "case", "language", "method", "place", "safe", "reference", "after", "at", "note", "needs")
        figures = [dataclasses.asdict(figure) for figure in self.published]
        return {key: getattr(self, key) for key in kept} | {"published": figures}


@dataclasses.dataclass(frozen=True)
class Absent:
    """A figure of an article that cannot be measured here, and why."""

    case: str
    method: str
    published: Published
    why: str


@dataclasses.dataclass(frozen=True)
class Setting:
    """The parameters of one run."""

    target: str
    """Path of the database to make, or `:memory:`."""
    rows: int
    check: str
    """Query of the case, for a program whose database is in memory."""
    folder: pathlib.Path
    """Folder for further files of a benchmark; emptied before each run."""
    prepared: pathlib.Path
    """Folder of input files that benchmarks share, kept for the whole run; `command` makes missing ones before the clock."""

"""The blocks of a report, which are rendered as Markdown or HTML.

Text is a string, or a tuple of strings, `Code`, `Strong` and `Link`. Strings are raw data: the renderer escapes them.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Code:
    text: str


@dataclasses.dataclass(frozen=True)
class Strong:
    text: str


@dataclasses.dataclass(frozen=True)
class Link:
    text: str
    address: str


@dataclasses.dataclass(frozen=True)
class Bar:
    """A cell that shows a share from 0 to 1 as a length."""

    share: float


@dataclasses.dataclass(frozen=True)
class Section:
    title: str
    anchor: str
    blocks: list


@dataclasses.dataclass(frozen=True)
class Paragraph:
    text: object


@dataclasses.dataclass(frozen=True)
class Items:
    items: list


@dataclasses.dataclass(frozen=True)
class Table:
    caption: str
    columns: tuple
    """Titles; `>` in front of one aligns its cells right, for numbers."""
    rows: list
    anchor: str = ""
    names: tuple = ()
    """Names of benchmarks, one for each row, by which the page finds its rows."""


@dataclasses.dataclass(frozen=True)
class Fold:
    """Details that a page opens on demand."""

    title: str
    blocks: list
    group: str = ""
    """Name of its case, if the page shows one case at a time."""


@dataclasses.dataclass(frozen=True)
class Ranking:
    """The chart of one case with its filters."""


@dataclasses.dataclass(frozen=True)
class Curves:
    """A line chart with two logarithmic axes, which a page draws; the table below it has the same figures."""

    title: str
    x: str
    y: str
    series: list
    """List of `facts.Series`."""


@dataclasses.dataclass(frozen=True)
class Overview:
    """A picture of all methods of some cases on one logarithmic axis, with litepress and the disk's limit marked."""

    title: str
    cases: tuple
    """Names of the cases, one a row."""
    has_filters: bool = False
    """Whether the filters of the page stand above it."""

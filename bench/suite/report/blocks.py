"""What a report consists of, before it becomes Markdown or HTML.

Text is a string, or a tuple of strings, `Code`, `Strong` and `Link`. Strings come from data as they are: whoever renders
them escapes them.
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
    """A cell that shows a share of 1 as a length."""

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
    """Titles; `>` in front of one puts its cells to the right, as numbers are."""
    rows: list
    anchor: str = ""
    names: tuple = ()
    """Of benchmarks, one a row, by which a page finds its rows."""


@dataclasses.dataclass(frozen=True)
class Fold:
    """Detail that a page opens on demand."""

    title: str
    blocks: list
    group: str = ""
    """Name of the case that it belongs to, where a page shows one case at a time."""


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Where a page draws the benchmark suite and puts its filters."""


@dataclasses.dataclass(frozen=True)
class Curves:
    """A chart of lines with two logarithmic axes, which a page draws; the table below it tells the same."""

    title: str
    x: str
    y: str
    series: list
    """Of `facts.Series`."""

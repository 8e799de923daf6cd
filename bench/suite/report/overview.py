"""Draws all methods of some cases on one logarithmic axis, as SVG: a row for each case, a mark for each method.

litepress is a diamond, a method whose crash may corrupt the file is hollow, the disk's limit is a line. The page has a wide and a
narrow drawing and shows the one that fits. `alone` makes a file for pages that have no style for it.
"""

import dataclasses
import math
import statistics
from html import escape

from . import facts
from .formats import rate

STYLE = """
svg { background: #fcfbf8; --ground: #fcfbf8; --ink: #1c1d1f; --quiet: #5b5d62; --rule: #dcd8ce; --c0: #c2410c; --c1: #2b66a8; }
@media (prefers-color-scheme: dark) {
  svg { background: #15171a; --ground: #15171a; --ink: #e7e4dd; --quiet: #a3a5aa; --rule: #34383e; --c0: #f58a4b; --c1: #6ea8e6; }
}
text { font: 13px ui-sans-serif, system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; fill: var(--ink); }
.axis { fill: var(--quiet); font-size: 12px; } .grid { stroke: var(--rule); fill: none; }
.mark { fill: var(--c1); fill-opacity: .55; stroke: var(--c1); } .mark.hollow { fill: var(--ground); }
.mark.litepress { fill: var(--c0); fill-opacity: 1; stroke: var(--ground); } .limit { stroke: var(--ink); stroke-width: 2; fill: none; }
"""


@dataclasses.dataclass(frozen=True)
class Layout:
    width: int
    left: int
    """Where the axis begins. Titles of cases stand left of it, or above the row if it begins at the edge."""
    pitch: int
    letter: float
    """Pixels of a letter, roughly: titles are cut to fit."""

    @property
    def is_wide(self):
        return self.left > 100


WIDE, NARROW = Layout(1000, 350, 24, 6.6), Layout(340, 8, 42, 6.6)
TOP, RIGHT = 24, 16


def limit(benchmarks):
    """Returns rows a second at the disk's own speed: the median for the methods of litepress, or for all."""
    limits = [(one["language"], one["rows"] / one["ceiling_seconds"]) for one in benchmarks if one["place"] == "disk" and one["ceiling_seconds"]]
    ours = [speed for language, speed in limits if language == facts.LITEPRESS]
    return statistics.median(ours or [speed for _, speed in limits]) if limits else None


def cases_alone(line):
    """Returns the names of the cases for the picture of the README: on disk, without an axis, with litepress and another."""
    found = [one for one in facts.standings(line) if one.place == "disk" and not one.case["axis"]]
    return tuple(dict.fromkeys(one.case["name"] for one in found if one.ours and one.competitor()))


def alone(line, cases):
    """Returns a file with the methods on disk, readable in light and in dark, with its legend."""
    on_disk = line | {"benchmarks": [one for one in line["benchmarks"] if one["place"] == "disk"]}
    return drawing(on_disk, cases, WIDE, f"<style>{STYLE}</style>{_legend(WIDE)}", 30)


def drawing(line, cases, layout, inside="", above=0):
    """Returns an SVG element. `above` is the room for what stands `inside` before the rows."""
    rows = [(case, facts.ranking(line, case["name"])) for case in line["cases"] if case["name"] in cases]
    rows = [(case, benchmarks) for case, benchmarks in rows if benchmarks]
    if not rows:
        return ""
    speeds = [one["rows_per_second"] for _, benchmarks in rows for one in benchmarks]
    speeds += [speed for _, benchmarks in rows if (speed := limit(benchmarks))]
    low, high = math.floor(math.log10(min(speeds))), math.ceil(math.log10(max(speeds)))
    high = max(high, low + 1)

    def at(speed):
        return round(layout.left + (layout.width - RIGHT - layout.left) * (math.log10(speed) - low) / (high - low), 1)

    top = TOP + above
    bottom = top + len(rows) * layout.pitch
    parts = [_tick(at(10**power), 10**power, top, bottom) for power in range(low, high + 1)]
    for place, (case, benchmarks) in enumerate(rows):
        parts.append(_row(case, benchmarks, at, top + place * layout.pitch, layout))
    title = f"Rows a second of {len([1 for _, some in rows for _ in some])} methods in {len(rows)} cases, on a logarithmic axis"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width} {bottom + 8}" role="img" aria-label="{title}">'
    return "\n".join([head, inside, *parts, "</svg>"])


def _tick(x, speed, top, bottom):
    words = rate(speed).replace(".00", "").replace(".0", "")
    return f'<path class="grid" d="M{x} {top - 4}V{bottom}"/><text class="axis" x="{x}" y="{top - 10}" text-anchor="middle">{words}</text>'


def _row(case, benchmarks, at, y, layout):
    """Draws the title of a case, the limit, and its methods, those of litepress last and on top."""
    middle = y + (layout.pitch / 2 if layout.is_wide else 29)
    room = layout.left - 24 if layout.is_wide else layout.width - 12
    title = case["title"]
    shown = title if len(title) * layout.letter <= room else title[: int(room / layout.letter) - 1].rstrip(" :,") + "…"
    where = (0, middle + 4) if layout.is_wide else (layout.left, y + 14)
    parts = [f'<text x="{where[0]}" y="{where[1]}">{escape(shown)}<title>{escape(title)}</title></text>']
    parts.append(f'<path class="grid" d="M{layout.left} {middle}H{layout.width - RIGHT}"/>')
    if speed := limit(benchmarks):
        parts.append(f'<path class="limit" d="M{at(speed)} {middle - 9}v18"><title>the disk: {rate(speed)} rows/s</title></path>')
    for one in sorted(benchmarks, key=lambda one: one["language"] == facts.LITEPRESS):
        parts.append(_mark(one, at(one["rows_per_second"]), middle))
    return "".join(parts)


def _mark(one, x, y):
    kinds = ["mark"] + ["litepress"] * (one["language"] == facts.LITEPRESS) + ["hollow"] * (facts.crash(one) == "may corrupt")
    return f'<path class="{" ".join(kinds)}" data-mark="{escape(one["name"])}" d="{_shape(one, x, y)}"/>'


def _shape(one, x, y):
    if one["language"] == facts.LITEPRESS:
        return f"M{x} {y - 7}l7 7l-7 7l-7 -7z"
    if one["place"] == "disk":
        return f"M{x - 4} {y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"
    return f"M{x - 3} {y - 3}h6v6h-6z"


def _legend(layout):
    """Draws the meaning of the marks in a line above the axis."""
    words = [("litepress", "M7 0l7 7l-7 7l-7 -7z", "mark litepress", 0), ("another method", "M3 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "mark", 100)]
    words += [("a crash may corrupt the file", "M3 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "mark hollow", 240), ("the disk's limit", "M7 -2v18", "limit", 460)]
    drawn = "".join(f'<g transform="translate({x} 6)"><path class="{kind}" d="{d}"/><text x="20" y="12">{text}</text></g>' for text, d, kind, x in words)
    return f'{drawn}<text class="axis" x="{layout.width - RIGHT}" y="18" text-anchor="end">rows a second, more is better</text>'

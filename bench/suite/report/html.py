"""Renders blocks as one HTML file that loads nothing: style, script and data of the charts are part of it."""

import json
import pathlib
import string
from html import escape

from . import code, facts, overview
from .blocks import Bar, Code, Curves, Fold, Items, Link, Overview, Paragraph, Ranking, Strong, Table
from .formats import count, factor, rate, seconds, size

FOLDER = pathlib.Path(__file__).parent
COLOURS = 12
CRASH = {
    "whole": "leaves the database whole",
    "may corrupt": "may corrupt the file",
    "lost": "loses the database",
    None: None,
}


def page(title, sections, line):
    curves = []
    main = "\n".join(_section(section, line, curves) for section in sections)
    parts = {name: (FOLDER / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    return string.Template(parts["html"]).substitute(
        title=escape(title),
        css=parts["css"],
        js=parts["js"],
        main=main,
        nav="\n".join(f'<li><a href="#{section.anchor}">{escape(section.title)}</a></li>' for section in sections),
        data=_json(data(line) | {"curves": curves}),
    )


def _json(value):
    """Writes JSON for a script element: nothing in it ends the element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def data(line):
    """Returns the data of the charts: numbers for lengths, words for readers."""
    programs, sources = code.sources(line)
    names = facts.languages(line)
    colours = {name: index % COLOURS for index, name in enumerate(names)}
    return {
        "cases": [case for case in line["cases"] if facts.ranking(line, case["name"])],
        "languages": colours,
        "sources": sources,
        "benchmarks": [_benchmark(benchmark, programs) for case in line["cases"] for benchmark in facts.ranking(line, case["name"])],
    }


def _benchmark(benchmark, programs):
    low, high = facts.slowest_and_fastest(benchmark)
    kept = ("name", "case", "language", "method", "place", "reference")
    ceiling = benchmark["rows"] / benchmark["ceiling_seconds"] if benchmark["ceiling_seconds"] else None
    found = {
        "safe": facts.survives(benchmark),
        "rate": benchmark["rows_per_second"],
        "low": low,
        "high": high,
        "ceiling": ceiling,
        "words": _words(benchmark),
        "code": programs[benchmark["name"]],
    }
    return {name: benchmark[name] for name in kept} | found


def _words(benchmark):
    """Returns the measured figures of a benchmark as pairs of a name and a text."""
    ratio = benchmark["ratio"]
    distance = facts.distance(benchmark)
    raw = "Copying these bytes once" if benchmark["place"] == "memory" else "Raw write of these bytes"
    pairs = {
        "Rows a second": rate(benchmark["rows_per_second"]),
        "Seconds": f"{seconds(benchmark['median'])} for {count(benchmark['rows'])} rows",
        "Fastest to slowest": f"{seconds(benchmark['min'])} to {seconds(benchmark['max'])}",
        "Speed of the reference": ratio and f"{factor(1 / ratio['median'])} times",
        "CPU": seconds(benchmark["cpu_seconds"]),
        "Peak memory": size(benchmark["peak_memory_bytes"]),
        "File": benchmark["bytes"] and size(benchmark["bytes"]),
        "Sync after": None if benchmark["sync_seconds"] is None else seconds(benchmark["sync_seconds"]),
        raw: distance and f"{seconds(benchmark['ceiling_seconds'])}; the benchmark takes {factor(distance)} times that",
        "A crash": CRASH[facts.crash(benchmark)],
        "Note": benchmark["note"] or None,
    }
    return [[name, text] for name, text in pairs.items() if text]


def _section(section, line, curves):
    inner = "\n".join(_block(block, line, curves) for block in section.blocks)
    title = f'<h2 id="{section.anchor}-title">{escape(section.title)}</h2>'
    return f'<section id="{section.anchor}" aria-labelledby="{section.anchor}-title">\n{title}\n{inner}\n</section>'


def _block(block, line, curves):
    match block:
        case Paragraph(text):
            return f"<p>{inline(text)}</p>"
        case Items(items):
            return "<ul>\n" + "\n".join(f"<li>{inline(item)}</li>" for item in items) + "\n</ul>"
        case Table():
            return table(block)
        case Fold(title, blocks, group):
            inner = "\n".join(_block(one, line, curves) for one in blocks)
            case = f' data-case="{escape(group)}"' if group else ""
            summary = f"All figures: {title}" if group else title
            return f"<details{case}>\n<summary>{escape(summary)}</summary>\n{inner}\n</details>"
        case Ranking():
            return _ranking(line)
        case Overview():
            return (_filters(line) if block.has_filters else "") + _overview(block, line)
        case Curves():
            return _curves(block, curves)


def table(block):
    """Renders a table in a container that scrolls sideways, by keyboard, too. Bars are left out if a chart shows them."""
    columns = list(zip(block.columns, zip(*block.rows)))
    if block.names:
        columns = [column for column in columns if not isinstance(column[1][0], Bar)]
    kinds = [_kind(title, cells) for title, cells in columns]
    heads = "".join(
        f'<th scope="col"{kind}>{escape(title.removeprefix(">"))}</th>' for kind, (title, _) in zip(kinds, columns)
    )
    names = block.names or [None] * len(block.rows)
    rows = "\n".join(_row(row, kinds, name) for row, name in zip(zip(*(cells for _, cells in columns)), names))
    anchor = f' id="{escape(block.anchor)}"' if block.anchor else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(block.caption)}"{anchor}>\n<table>\n'
        f"<caption><span>{escape(block.caption)}</span></caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n"
        "</table>\n</div>"
    )


def _kind(title, cells):
    """Aligns numbers right, and gives long texts room before the table scrolls."""
    if title.startswith(">"):
        return ' class="number"'
    return ' class="long"' if any(isinstance(cell, str) and len(cell) > 25 for cell in cells) else ""


def _row(row, kinds, name):
    cells = "".join(f"<td{kind}>{_cell(cell)}</td>" for cell, kind in zip(row, kinds))
    benchmark = f' data-benchmark="{escape(name)}"' if name else ""
    return f"<tr{benchmark}>{cells}</tr>"


def _cell(cell):
    if isinstance(cell, Bar):
        box = f'<rect width="{max(1, round(cell.share * 100))}" height="8"/>'
        return f'<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{box}</svg>'
    return inline(cell)


def inline(text):
    match text:
        case str():
            return escape(text)
        case Code(code):
            return f"<code>{escape(code)}</code>"
        case Strong(strong):
            return f"<strong>{escape(strong)}</strong>"
        case Link(name, address):
            return f'<a href="{escape(address)}">{escape(name)}</a>'
    return "".join(inline(part) for part in text)


def _ranking(line):
    cases = [case for case in line["cases"] if facts.ranking(line, case["name"])]
    options = "".join(f'<option value="{escape(case["name"])}">{escape(case["title"])}</option>' for case in cases)
    return string.Template((FOLDER / "ranking.html").read_text(encoding="utf-8")).substitute(options=options)


def _filters(line):
    shown = data(line)
    languages = "".join(_language(name, colour) for name, colour in shown["languages"].items())
    here = {benchmark["place"] for benchmark in shown["benchmarks"]}
    names = {"disk": "disk", "memory": "memory", "none": "writes nothing"}
    places = "".join(_checkbox("place", place, name) for place, name in names.items() if place in here)
    return string.Template((FOLDER / "filters.html").read_text(encoding="utf-8")).substitute(
        languages=languages, places=places
    )


def _overview(block, line):
    """Renders the picture of some cases twice, for wide and for narrow pages: the style shows one."""
    drawings = {"wide": overview.WIDE, "narrow": overview.NARROW}
    inner = "\n".join(
        f'<div class="drawing {name}">{overview.drawing(line, block.cases, layout)}</div>' for name, layout in drawings.items()
    )
    caption = f"<strong>{escape(block.title)}</strong>, rows a second, logarithmic"
    return f'<figure class="overview">\n<figcaption>{caption}</figcaption>\n{inner}\n{LEGEND}\n</figure>'


LEGEND = """<ul class="legend">
<li><svg width="16" height="16" aria-hidden="true"><path class="mark litepress" d="M8 1l7 7l-7 7l-7 -7z"/></svg>litepress</li>
<li><svg width="16" height="16" aria-hidden="true"><path class="mark" d="M4 8a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"/></svg>another method, on disk</li>
<li><svg width="16" height="16" aria-hidden="true"><path class="mark" d="M5 5h6v6h-6z"/></svg>in memory, or a loop that writes nothing</li>
<li><svg width="16" height="16" aria-hidden="true"><path class="mark hollow" d="M4 8a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"/></svg>a crash may corrupt the file</li>
<li><svg width="16" height="16" aria-hidden="true"><path class="limit" d="M8 0v16"/></svg>the disk's limit: the same bytes, written raw</li>
</ul>"""


def _checkbox(field, value, label, before=""):
    box = f'<input type="checkbox" name="{field}" value="{escape(value)}" checked>'
    return f"<label>{box}{before}{escape(label)}</label>"


def _language(name, colour):
    return _checkbox("language", name, name, f'<i class="swatch c{colour}"></i>')


def _curves(block, curves):
    """Renders the frame of a line chart. Points at 0 have no place on a logarithmic scale; the table has them."""
    series = [{"name": one.name, "language": one.benchmark["language"], "points": _positive(one)} for one in block.series]
    curves.append({"title": block.title, "x": block.x, "y": block.y, "series": series})
    scales = "logarithmic" + ("" if all(_positive(one) == one.points for one in block.series) else "; 0 is left out")
    caption = f"{block.title} ({scales})"
    return (
        f'<figure class="curves" data-curves="{len(curves) - 1}">\n<figcaption>{escape(caption)}</figcaption>\n'
        '<div class="drawing"></div>\n<ul class="legend"></ul>\n</figure>'
    )


def _positive(series):
    return [point for point in series.points if point[0] > 0]

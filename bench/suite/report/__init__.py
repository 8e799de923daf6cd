"""The report of a run of the benchmark suite: `write` makes benchmarks.md, benchmarks.html and ladder.svg from the result line.

`facts` computes, `headline` and `sections` write words and tables, `overview` draws, `code` finds programs, `markdown` and `html` render these. If the folder has
the guide `which-way.md`, its block of figures is updated, too.
"""

import pathlib

from . import guide, html, markdown, overview, sections
from .blocks import Code, Link

TITLE = "Benchmarks: every way to fill SQLite"
INTRODUCTION = (
    "Made by ",
    Code("make bench"),
    ". ",
    Link("benchmarks.html", "benchmarks.html"),
    " has the same figures, with charts and filters.",
)


def write(line, folder):
    """Writes the report of a line into a folder, and returns the paths."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    told = sections.report(line)
    texts = {
        "benchmarks.md": markdown.page(TITLE, INTRODUCTION, told),
        "benchmarks.html": html.page(TITLE, told, line),
        "ladder.svg": overview.alone(line, overview.cases_alone(line)) + "\n",
    }
    paths = [folder / name for name in texts]
    for path, text in zip(paths, texts.values()):
        path.write_text(text, encoding="utf-8")
    return paths + guide.renew(folder / "which-way.md", line)

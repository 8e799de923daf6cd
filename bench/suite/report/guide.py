"""Makes the block of figures in the guide docs/which-way.md from a result line; the prose around it stays."""

import re

from . import facts, headline, markdown
from .blocks import Table
from .formats import count, factor, optional, rate

BEGIN = "<!-- figures of the benchmarks: made by `make bench SCALE=full`, do not edit -->"
END = "<!-- end of the figures -->"


def renew(path, line):
    """Replaces the figures between the two marks of the guide, if it exists; returns the paths that were written."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if len(marked.findall(text)) != 1:
        raise ValueError(f"{path} wants one block between {BEGIN!r} and {END!r}")
    path.write_text(marked.sub(lambda _: f"{BEGIN}\n\n{figures(line)}\n\n{END}", text), encoding="utf-8")
    return [path]


def figures(line):
    """Returns the figures behind the advice: the fastest ways, the gain of each setting, and the cost by rows."""
    machine = line["machine"]
    source = (
        f"From the {line['scale']} run of {line['when'][:10]} ({machine['cpu']}, {machine['cores']} cores; "
        "[benchmarks.md](benchmarks.md) has all benchmarks, and how they were measured)."
    )
    tables = [_first(line), _steps(line), _by_rows(line)]
    parts = [source]
    for table in tables:
        if table.rows:
            parts += [f"**{table.caption}**", markdown.table(table)]
    return "\n\n".join(parts)


def _first(line):
    """Returns the fastest ways on disk; cases that vary one quantity have curves in the report instead."""
    columns = ("Case", "Fastest INSERT that survives a crash", ">Rows/s", ">If a crash may corrupt", ">litepress, rows/s")
    rows = [_standing(one) for one in facts.standings(line) if one.place == "disk" and one.at is None]
    return Table("The fastest ways, on disk", columns, rows)


def _standing(standing):
    safe, ours = standing.competitor(safe_only=True), standing.ours
    risky = standing.competitor() if standing.competitor() is not safe else None
    cells = [optional(lambda benchmark: rate(benchmark["rows_per_second"]), benchmark) for benchmark in (safe, risky, ours)]
    return (standing.case["title"], optional(facts.title, safe), *cells)


def _steps(line):
    """Returns the gain of each step on disk, the largest first; equal steps of several languages and cases are one row."""
    by_name = {benchmark["name"]: benchmark for benchmark in line["benchmarks"]}
    taken = {}
    for step in (step for case in line["cases"] for step in facts.steps(line, case["name"])):
        if step.brought and step.benchmark["place"] == "disk":
            pair = (by_name[step.benchmark["after"]], step.benchmark)
            named = (one["method"] for one in pair) if pair[0]["language"] == pair[1]["language"] else map(facts.title, pair)
            taken.setdefault((*named, facts.crash(step.benchmark)), []).append(step)
    rows = []
    for (before, after, crash), steps in sorted(taken.items(), key=lambda pair: -_most(pair[1])):
        languages = ", ".join(dict.fromkeys(step.benchmark["language"] for step in steps))
        rows.append((before, after, languages, headline.range_of([step.brought for step in steps]), crash))
    return Table("What a step brings, on disk", ("From", "To", "In", ">Times as fast", "A crash leaves the file"), rows)


def _most(steps):
    return max(step.brought for step in steps)


def _by_rows(line):
    columns = ("Case", ">Rows", "Fastest", ">litepress takes, times as long")
    rows = [
        (case["title"], count(number), facts.title(best[1]), _as_long(best, ours))
        for case in line["cases"]
        for number, best, ours in facts.first_by_rows(facts.growth(line, case["name"]))
    ]
    return Table("From how many rows on", columns, rows)


def _as_long(best, ours):
    return optional(factor, ours and ours[0] / best[0])

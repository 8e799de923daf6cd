"""Writes the report of a run, section by section, as blocks for Markdown and HTML."""

import math
import re
import statistics

from . import facts, headline
from .blocks import Bar, Code, Curves, Fold, Items, Link, Overview, Paragraph, Ranking, Section, Strong, Table
from .formats import count, digits, duration, factor, optional, rate, size

PLACES = {"disk": "On disk", "memory": "In memory", "none": "Loops that write nothing"}


def report(line):
    return [
        _standing(line),
        _ranking(line),
        _articles(line),
        _steps(line),
        _growth(line),
        _distances(line),
        _missing(line),
        _method(line),
    ]


def _standing(line):
    machine = line["machine"]
    what = (
        f"Measured on {line['when'][:10]}: {machine['cpu']}, {machine['cores']} cores, {size(machine['memory_bytes'])} of "
        f"memory, Linux {machine['kernel']}. A {line['scale']} run: {_counted(line['repeat'], 'round')}, "
        f"{_counted(len(line['benchmarks']), 'benchmark')} in {_counted(len(line['cases']), 'case')}, "
        f"{duration(line['elapsed_seconds'])}."
    )
    cases = tuple(case["name"] for case in line["cases"])
    blocks = [Overview("All methods of all cases", cases, has_filters=True), Paragraph(what)]
    if line["interrupted"]:
        blocks.append(Paragraph((Strong("The run was interrupted:"), " the remaining benchmarks are missing here.")))
    if line["scale"] != "full":
        blocks.append(
            Paragraph("Benchmarks of a small run take about half a second each: enough for the order, not for close results.")
        )
    rows = [(toolchain, optional(str, version)) for toolchain, version in line["versions"].items()]
    if rows:
        blocks.append(Fold("Versions", [Table("Versions of the toolchains", ("Toolchain", "Version"), rows)]))
    return Section("Where litepress stands", "standing", blocks)


def _folded(table):
    """Returns a table that a page opens on demand; in Markdown it is always open."""
    return Fold(table.caption, [table])


BENCHMARKS = (
    "Language", "Method", "Crash leaves the file", ">Rows/s", "On a logarithmic scale", ">Times the reference's speed",
    ">Seconds", ">Fastest to slowest", ">Rows", ">CPU s", ">Peak memory", ">File", ">Sync after, s",
)  # fmt: skip


def _ranking(line):
    about = Paragraph(
        "The benchmarks of one case, by rows a second in the median of the rounds. A click or Enter shows the code of a bar. A crash of those that “may corrupt” can leave a "
        "damaged file. The other benchmarks of a case are compared to its reference, within the same round."
    )
    blocks = [about, Ranking()]
    for case in line["cases"]:
        tables = [_benchmarks(line, case, place) for place in PLACES if facts.ranking(line, case["name"], place)]
        if tables:
            blocks.append(Fold(case["title"], tables + _notes(line, case["name"]), case["name"]))
    return Section("All benchmarks, case by case", "ranking", blocks)


def _benchmarks(line, case, place):
    benchmarks = facts.ranking(line, case["name"], place)
    rates = [benchmark["rows_per_second"] for benchmark in facts.ranking(line, case["name"])]
    share = _logarithmic(min(rates), max(rates))
    rows = [_benchmark(benchmark, share) for benchmark in benchmarks]
    caption = f"{case['title']}: {PLACES[place].lower()}"
    return Table(caption, BENCHMARKS, rows, names=tuple(benchmark["name"] for benchmark in benchmarks))


def _logarithmic(low, high):
    """Returns the share of a bar: the scale starts a decade below the slowest, so that it has a length, too."""
    start = math.floor(math.log10(low * 0.999))
    return lambda value: (math.log10(value) - start) / (math.log10(high) - start)


def _benchmark(benchmark, share):
    method = benchmark["method"] + (" (reference)" if benchmark["reference"] else "")
    return (
        benchmark["language"], method, facts.crash(benchmark) or "–", rate(benchmark["rows_per_second"]),
        Bar(share(benchmark["rows_per_second"])),
        optional(lambda ratio: factor(1 / ratio["median"]), benchmark["ratio"]), digits(benchmark["median"]),
        f"{digits(benchmark['min'])} to {digits(benchmark['max'])}", count(benchmark["rows"]), digits(benchmark["cpu_seconds"]),
        size(benchmark["peak_memory_bytes"]), optional(size, benchmark["bytes"]), optional(digits, benchmark["sync_seconds"]),
    )  # fmt: skip


def _notes(line, case):
    """Returns the notes that readers of the figures must know."""
    noted = [benchmark for benchmark in facts.ranking(line, case) if benchmark["note"]]
    items = [(Strong(f"{facts.title(one)}, {PLACES[one['place']].lower()}"), f": {one['note']}") for one in noted]
    return [Items(items)] if items else []


ARTICLE = (
    "Name in the article", "Benchmark here", ">Rows", ">Seconds published", ">Seconds here", ">Rows/s published",
    ">Rows/s here", ">Times as fast here",
)  # fmt: skip
SIZES = (">Bytes a row published", ">Bytes a row here")


def _articles(line):
    found = [(article, facts.comparisons(line, article["name"])) for article in facts.articles(line)]
    blocks = [
        Paragraph(
            "Seconds here are scaled to the article's number of rows. An article's machine, disk, SQLite and compilers are "
            f"not those of this run ({line['machine']['cpu']}, {line['machine']['cores']} cores): the last column holds "
            "that difference and the method's own. If it is far from the article's median, the method itself performs "
            "differently here."
        )
    ]
    for article, comparisons in found:
        if comparisons or any(case["article"] == article["name"] for case in line["cases"]):
            blocks += _article(line, article, comparisons)
    return Section("Published and measured figures", "articles", blocks)


def _article(line, article, comparisons):
    measured = [one for one in comparisons if one.benchmark]
    missing = [one for one in comparisons if not one.benchmark]
    cases = tuple(case["name"] for case in line["cases"] if case["article"] == article["name"])
    blocks = [Paragraph((*_source(article), _in_all(measured)))]
    if cases:
        blocks.append(Overview(article["title"], cases))
    if said := list(headline.sentences(line, cases)):
        blocks.append(Items(said))
    if measured:
        with_sizes = any(one.published["bytes"] for one in measured)
        rows = [_comparison(one) + (_sizes(one) if with_sizes else ()) for one in measured]
        columns = ARTICLE + (SIZES if with_sizes else ())
        blocks.append(_folded(Table(f"{article['title']}: published and here", columns, rows, anchor=f"article-{article['name']}")))
    if missing:
        rows = [(one.published["label"], one.method, _published(one), one.why) for one in missing]
        columns = ("Name in the article", "Benchmark", ">Rows/s published", "Why it was not run")
        blocks.append(_folded(Table(f"{article['title']}: not run here", columns, rows, anchor=f"article-{article['name']}-absent")))
    return blocks


def _source(article):
    """Returns a link to the article, or its title and source."""
    title, source = article["title"], article["source"]
    if source.startswith(("http://", "https://")):
        return (Link(title, source),)
    return (Strong(title), f" ({source})") if source else (Strong(title),)


def _in_all(measured):
    if not measured:
        return ": none of its figures was measured in this run."
    middle = statistics.median(one.times_as_fast for one in measured)
    if middle >= 1:
        words = f"{factor(middle)} times as fast here as published"
    else:
        words = f"published {factor(1 / middle)} times as fast as here"
    return f": {_counted(len(measured), 'figure')}, in the median {words}."


def _counted(number, noun):
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _comparison(one):
    published = one.published
    where = "" if one.benchmark["place"] == "disk" else f", {PLACES[one.benchmark['place']].lower()}"
    return (
        published["label"], one.method + where, count(published["rows"]), digits(published["seconds"]), digits(one.seconds),
        _published(one), rate(one.benchmark["rows_per_second"]), factor(one.times_as_fast),
    )  # fmt: skip


def _sizes(one):
    published, benchmark = one.published, one.benchmark
    return (
        optional(lambda size: digits(size / published["rows"]), published["bytes"]),
        optional(lambda size: digits(size / benchmark["rows"]), published["bytes"] and benchmark["bytes"]),
    )


def _published(one):
    return rate(one.published_rate)


def _steps(line):
    about = Paragraph(
        "Benchmarks that improve another one by one step. The factor of a step is its speed relative to the previous benchmark, by "
        "the medians; “in all” compares it to the first of its chain. A factor below 1 is a loss."
    )
    blocks = [about]
    columns = ("Step", "Place", "Crash leaves the file", ">Rows/s", ">Step, times as fast", ">In all")
    for case in line["cases"]:
        if found := facts.steps(line, case["name"]):
            rows = [_step(step) for step in found]
            blocks.append(_folded(Table(case["title"], columns, rows, anchor=f"steps-{case['name']}")))
    if len(blocks) == 1:
        blocks = [Paragraph("This run has no steps.")]
    return Section("Gain of each step", "steps", blocks)


def _step(step):
    arrow = "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}" * step.depth + ("→ " if step.depth else "")
    benchmark = step.benchmark
    return (
        arrow + facts.title(benchmark), benchmark["place"], facts.crash(benchmark) or "–", rate(benchmark["rows_per_second"]),
        optional(factor, step.brought), optional(factor, step.in_all),
    )  # fmt: skip


def _growth(line):
    blocks = []
    for case in line["cases"]:
        blocks += _by_rows(line, case) + _by_axis(line, case)
    blocks += [block for case in line["cases"] if _about_keys(case) for block in _key_cost(line, case)]
    if not blocks:
        blocks = [Paragraph("This run has no curves: a full run measures some benchmarks at several numbers of rows.")]
    return Section("How cost grows", "growth", blocks)


def _by_rows(line, case):
    series = facts.growth(line, case["name"])
    if not series:
        return []
    first = [
        f"{count(rows)} rows: {facts.title(best[1])} ({digits(best[0])} ns a row)" + _behind(best, ours)
        for rows, best, ours in facts.first_by_rows(series)
    ]
    name = f"{case['title']}: cost by the number of rows"
    at = sorted({rows for one in series for rows, _ in one.points})
    columns = ("Nanoseconds a row, by number of rows", *(">" + count(rows) for rows in at))
    rows = [(one.name, *(optional(digits, dict(one.points).get(number)) for number in at)) for one in series]
    chart = Curves(f"{case['title']}: nanoseconds a row, by the number of rows", "rows", "nanoseconds a row", series)
    blocks = [chart, _folded(Table(name, columns, rows, anchor=f"growth-{case['name']}"))]
    return [*blocks, Paragraph("The fastest at each number of rows:"), Items(first)] if first else blocks


def _behind(best, ours):
    if ours is None or ours[1] is best[1]:
        return ""
    return f"; litepress takes {factor(ours[0] / best[0])} times as long"


def _by_axis(line, case):
    series = facts.axis(line, case["name"])
    if not series:
        return []
    name = case["axis"]
    columns = (
        f">{name[0].upper()}{name[1:]}", "Benchmark", "Place", ">Rows/s", ">Bytes a row in the file", ">Bytes of file a second",
    )  # fmt: skip
    benchmarks = [benchmark for benchmark in facts.ranking(line, case["name"]) if benchmark["at"] is not None]
    rows = [_at(benchmark) for benchmark in sorted(benchmarks, key=lambda benchmark: benchmark["at"])]
    chart = Curves(f"{case['title']}: rows a second, by {name}", name, "rows/s", series)
    return [chart, _folded(Table(f"{case['title']}: by {name}", columns, rows, anchor=f"axis-{case['name']}"))]


def _at(benchmark):
    a_row = benchmark["bytes"] and benchmark["bytes"] / benchmark["rows"]
    a_second = benchmark["bytes"] and benchmark["bytes"] / benchmark["median"]
    rows_per_second = rate(benchmark["rows_per_second"])
    return (
        count(benchmark["at"]),
        facts.title(benchmark),
        benchmark["place"],
        rows_per_second,
        optional(digits, a_row),
        optional(size, a_second),
    )


def _about_keys(case):
    """Returns whether the subject of a case, by its title, is the cost of an index or of the order of keys."""
    return re.search(r"\b(index|indexes|indices|keys?|rowid)\b", f"{case['title']} {case['name']}", re.IGNORECASE)


def _key_cost(line, case):
    benchmarks = [benchmark for benchmark in facts.ranking(line, case["name"]) if benchmark["at"] is None]
    if len(benchmarks) < 2:
        return []
    cheapest = benchmarks[0]
    rows = [
        (
            facts.title(benchmark),
            benchmark["place"],
            digits(1e9 / benchmark["rows_per_second"]),
            factor(facts.times_as_fast(cheapest, benchmark)),
        )
        for benchmark in benchmarks
    ]
    columns = ("Benchmark", "Place", ">Nanoseconds a row", ">Times the cheapest")
    return [_folded(Table(f"{case['title']}: cost of a row", columns, rows, anchor=f"keys-{case['name']}"))]


def _distances(line):
    ceilings = line["ceilings"]
    about = (
        "The time of a benchmark, divided by the time of a raw write of as many bytes on this disk (direct I/O, synced, measured "
        "in every round). In memory: divided by the time of one copy of as many bytes. Raw writes ran at "
        f"{_raw(ceilings)}; memory is copied at {optional(size, ceilings['memory_copy_bytes_per_second'])} a second. A benchmark "
        "below 1 left bytes in the operating system's cache: the tables above have the time of its sync."
    )
    blocks = [Paragraph(about)]
    columns = ("Benchmark", "Place", ">Times the ceiling's time", "On a logarithmic scale")
    for case in line["cases"]:
        benchmarks = facts.distances(line, case["name"])
        if not benchmarks:
            continue
        share = _distance_share(benchmarks)
        rows = [(facts.title(one), one["place"], factor(facts.distance(one)), share(one)) for one in benchmarks]
        table = Table(f"{case['title']}: distance to the ceiling", columns, rows, anchor=f"ceiling-{case['name']}")
        blocks.append(Fold(case["title"], [table]))
    return Section("Distance to the ceiling", "ceiling", blocks)


def _raw(ceilings):
    speeds = sorted(one["bytes_per_second"] for one in ceilings["raw_write"].values())
    if not speeds:
        return "an unknown speed"
    low, high = size(speeds[0]), size(speeds[-1])
    return f"{low} a second" if low == high else f"{low} to {high} a second"


def _distance_share(benchmarks):
    share = _logarithmic(facts.distance(benchmarks[0]), facts.distance(benchmarks[-1]))
    return lambda benchmark: Bar(share(facts.distance(benchmark)))


def _missing(line):
    rows = [(kind, facts.title(one), one["case"], one["place"], one["why"]) for kind, one in facts.not_measured(line)]
    blocks = [Paragraph("All chosen benchmarks were measured.")]
    if rows:
        blocks = [
            Paragraph(f"{len(line['skipped'])} skipped, {len(line['failed'])} failed, each for the reason beside it."),
            _folded(
                Table("Benchmarks that were not measured", ("", "Benchmark", "Case", "Place", "Why"), rows, anchor="missing-benchmarks")
            ),
        ]
    return Section("What was skipped or failed", "missing", blocks)


def _method(line):
    items = [
        "Every benchmark is a separate program in its own language. Its clock starts before the database is opened, and stops "
        "when the last row is committed and, on disk, the connection is closed. The start of an interpreter is "
        "not timed, except for whole tools, whose notes say so.",
        "Benchmarks alternate: a round runs all of a case once, forwards or, the next time, backwards, so that a busy minute of the "
        "machine affects all of them. Before the first round, each runs once with a twentieth of the rows to warm up. A figure is "
        f"the median of {_counted(line['repeat'], 'round')}, shown with the fastest and the slowest one.",
        "Ratios to a reference are taken within a round, and their median is shown.",
        "After each run, SQLite counts and sums the rows; a benchmark that wrote other rows fails and has no figure. The structure "
        "of small files is checked, too.",
        "Benchmarks write as many rows as fit their speed, so that rows a second are compared, not seconds; the section on growth "
        "shows the effect of that.",
        "Bytes that a program leaves in the operating system's cache are not in its time; the column “sync after” is the time of "
        "an fsync afterwards. litepress syncs within its time.",
        "Peak memory and CPU time are those of the whole process: with its interpreter, with the rows made before the clock starts, "
        "and, for a database in memory, with the query that verifies it. On Linux, peak memory is never below that of the "
        "runner itself.",
        _spread(line),
    ]
    again = Paragraph(
        ("Again, on your machine: ", Code("make bench"), "; ", Code("make bench SCALE=full"), " for all rows.")
    )
    return Section("How it was measured", "method", [Items(items), again])


def _spread(line):
    found = facts.spreads(line)
    if found is None:
        return "One round was run: there is no spread, so that the precision of the figures is unknown."
    middle, (widest, benchmark) = found
    return (
        f"The slowest round took {factor(middle)} times the fastest in the median of all benchmarks, and {factor(widest)} times at "
        f"the widest ({facts.title(benchmark)}). Ratios within these spreads are not significant."
    )

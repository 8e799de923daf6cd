"""What follows from the line of a run: order, standings, steps, ratios, curves, distances. No words and no layout.

The line is described in bench/README.md. Nothing here knows a method, a case or an article by name.
"""

import dataclasses
import itertools
import re
import statistics

LITEPRESS = "litepress"
PLACES = ("disk", "memory", "none")


def ranking(line, case, place=None):
    """The measured benchmarks of a case, the fastest first."""
    benchmarks = [benchmark for benchmark in line["benchmarks"] if benchmark["case"] == case and place in (None, benchmark["place"])]
    return sorted(benchmarks, key=lambda benchmark: -benchmark["rows_per_second"])


def languages(line):
    """litepress first, the others as they come."""
    found = dict.fromkeys(benchmark["language"] for benchmark in line["benchmarks"])
    return sorted(found, key=lambda language: language != LITEPRESS)


def slowest_and_fastest(benchmark):
    """Rows a second in the slowest and in the fastest round."""
    return benchmark["rows"] / benchmark["max"], benchmark["rows"] / benchmark["min"]


def crash(benchmark):
    """What a crash in the middle does to the database; None where there is none."""
    if benchmark["place"] == "disk":
        return "whole" if benchmark["safe"] else "may corrupt"
    return "lost" if benchmark["place"] == "memory" else None


def survives(benchmark):
    return crash(benchmark) in ("whole", None)


def times_as_fast(benchmark, other):
    return benchmark["rows_per_second"] / other["rows_per_second"]


@dataclasses.dataclass(frozen=True)
class Standing:
    """Benchmarks that do the same work in the same place, and where litepress stands among them."""

    case: dict
    place: str
    at: float | None
    benchmarks: list
    """The fastest first."""

    @property
    def ours(self):
        return next((benchmark for benchmark in self.benchmarks if benchmark["language"] == LITEPRESS), None)

    def competitor(self, safe_only=False):
        """The fastest that is not litepress."""
        others = (benchmark for benchmark in self.benchmarks if benchmark["language"] != LITEPRESS)
        return next((benchmark for benchmark in others if survives(benchmark) or not safe_only), None)

    @property
    def position(self):
        return 1 + self.benchmarks.index(self.ours)

    @property
    def tie(self):
        """The ranges of litepress and its competitor overlap."""
        ours, competitor = slowest_and_fastest(self.ours), slowest_and_fastest(self.competitor())
        return ours[0] <= competitor[1] and competitor[0] <= ours[1]


def standings(line):
    """For each case, place and point of its axis. A benchmark without a point is compared to those of all points."""
    found = []
    for case, place in itertools.product(line["cases"], PLACES[:2]):
        benchmarks = ranking(line, case["name"], place)
        points = sorted({benchmark["at"] for benchmark in benchmarks} - {None})
        for at in points or [None]:
            same = [benchmark for benchmark in benchmarks if benchmark["at"] in (None, at)]
            if same:
                found.append(Standing(case, place, at, same))
    return found


@dataclasses.dataclass(frozen=True)
class Step:
    """One benchmark of a chain that `after` makes."""

    benchmark: dict
    depth: int
    brought: float | None
    """Times as fast as the benchmark before; None for the first of a chain."""
    in_all: float | None


def steps(line, case):
    """The chains of a case, depth first."""
    by_name = {benchmark["name"]: benchmark for benchmark in line["benchmarks"]}
    following = {}
    for benchmark in line["benchmarks"]:
        if benchmark["after"] in by_name:
            following.setdefault(benchmark["after"], []).append(benchmark)

    def walk(benchmark, first, depth):
        before = by_name.get(benchmark["after"])
        factors = (times_as_fast(benchmark, before), times_as_fast(benchmark, first)) if depth else (None, None)
        yield Step(benchmark, depth, *factors)
        for after in following.get(benchmark["name"], ()):
            yield from walk(after, first, depth + 1)

    firsts = [benchmark for benchmark in line["benchmarks"] if benchmark["case"] == case]
    firsts = [benchmark for benchmark in firsts if benchmark["after"] not in by_name and benchmark["name"] in following]
    return [step for first in firsts for step in walk(first, first, 0)]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A published figure, and ours for as many rows; or why there is none."""

    published: dict
    method: str
    benchmark: dict | None
    why: str | None

    @property
    def seconds(self):
        """Ours, scaled to the published number of rows."""
        return self.published["rows"] / self.benchmark["rows_per_second"]

    @property
    def published_rate(self):
        return self.published["rows"] / self.published["seconds"]

    @property
    def times_as_fast(self):
        return self.published["seconds"] / self.seconds


def comparisons(line, article):
    """All figures of an article, those that were measured here first."""
    found = [Comparison(figure, title(benchmark), benchmark, None) for benchmark in line["benchmarks"] for figure in benchmark["published"]]
    for benchmark in line["skipped"] + line["failed"]:
        found += [Comparison(figure, title(benchmark), None, benchmark["why"]) for figure in benchmark["published"]]
    found += [Comparison(one["published"], one["method"], None, one["why"]) for one in line["absent"]]
    return [one for one in found if one.published["article"] == article]


def articles(line):
    """Those of the run, and those that only a figure names: its module was not asked for."""
    known = {article["name"]: article for article in line["articles"]}
    benchmarks = line["benchmarks"] + line["skipped"] + line["failed"]
    figures = [figure for benchmark in benchmarks for figure in benchmark["published"]] + [one["published"] for one in line["absent"]]
    for figure in figures:
        name = figure["article"]
        known.setdefault(name, {"name": name, "title": name, "source": ""})
    return list(known.values())


def title(benchmark):
    return f"{benchmark['language']}: {benchmark['method']}"


@dataclasses.dataclass(frozen=True)
class Series:
    """One line of a chart."""

    benchmark: dict
    """The one that names it: of several, the first."""
    name: str
    points: list
    """Of (x, y), by x."""


def growth(line, case):
    """Nanoseconds a row by the number of rows, for the benchmarks that were measured at several."""
    grown = [benchmark for benchmark in ranking(line, case) if len(benchmark["growth"]) > 1]
    return [Series(benchmark, title(benchmark) + _elsewhere(benchmark["place"]), _by_rows(benchmark)) for benchmark in grown]


def _by_rows(benchmark):
    return sorted((point["rows"], point["seconds"] / point["rows"] * 1e9) for point in benchmark["growth"])


def first_by_rows(series):
    """At each number of rows: the fastest, and litepress's fastest or None; only where two or more were measured, and
    litepress was, if it was anywhere."""
    has_ours = any(one.benchmark["language"] == LITEPRESS for one in series)
    at = {}
    for one in series:
        for rows, cost in one.points:
            at.setdefault(rows, []).append((cost, one.benchmark))
    for rows in sorted(rows for rows, found in at.items() if len(found) > 1):
        found = sorted(at[rows], key=lambda pair: pair[0])
        ours = next((pair for pair in found if pair[1]["language"] == LITEPRESS), None)
        if ours or not has_ours:
            yield rows, found[0], ours


def axis(line, case):
    """Rows a second along the axis of a case, a series for each language; for each method where a language has several at
    one point: methods that are alike before their first comma, but for numbers, are one."""
    found = []
    points = [benchmark for benchmark in line["benchmarks"] if benchmark["case"] == case and benchmark["at"] is not None]
    for place, language in dict.fromkeys((benchmark["place"], benchmark["language"]) for benchmark in points):
        same = [benchmark for benchmark in points if (benchmark["place"], benchmark["language"]) == (place, language)]
        alone = len({benchmark["at"] for benchmark in same}) == len(same)
        groups = {}
        for benchmark in same:
            method = re.sub(r"[\d._]+", "…", benchmark["method"].partition(",")[0])
            groups.setdefault("" if alone else method, []).append(benchmark)
        for method, benchmarks in groups.items():
            benchmarks.sort(key=lambda benchmark: benchmark["at"])
            name = ": ".join(filter(None, [language, method])) + _elsewhere(place)
            found.append(Series(benchmarks[0], name, [(benchmark["at"], benchmark["rows_per_second"]) for benchmark in benchmarks]))
    return [series for series in found if len(series.points) > 1]


def _elsewhere(place):
    return "" if place == "disk" else f", {place}"


def distance(benchmark):
    """Times the time that the same bytes take, written raw (in memory: copied once)."""
    return benchmark["median"] / benchmark["ceiling_seconds"] if benchmark["ceiling_seconds"] else None


def distances(line, case):
    """The benchmarks of a case that have a ceiling, nearest first."""
    return sorted((benchmark for benchmark in ranking(line, case) if distance(benchmark)), key=distance)


def spreads(line):
    """Slowest round by fastest of each benchmark: the median, and the widest with its benchmark. None where one round was run."""
    found = [(benchmark["max"] / benchmark["min"], benchmark) for benchmark in line["benchmarks"] if len(benchmark["seconds"]) > 1]
    if not found:
        return None
    return statistics.median(spread for spread, _ in found), max(found, key=lambda pair: pair[0])


def not_measured(line):
    """What was skipped, and what failed: benchmarks with one reason are told together."""
    for kind in ("skipped", "failed"):
        for benchmark in line[kind]:
            yield kind, benchmark

"""Computes facts from a result line: order, standings, steps, ratios, curves, distances. No words and no layout.

The line is described in bench/README.md. Nothing here knows a method, a case or an article by name.
"""

import dataclasses
import itertools
import re
import statistics

LITEPRESS = "litepress"
PLACES = ("disk", "memory", "none")


def ranking(line, case, place=None):
    """Returns the measured benchmarks of a case, the fastest first."""
    benchmarks = [one for one in line["benchmarks"] if one["case"] == case and place in (None, one["place"])]
    return sorted(benchmarks, key=lambda benchmark: -benchmark["rows_per_second"])


def languages(line):
    """Returns the languages: litepress first, the others in the order of the line."""
    found = dict.fromkeys(benchmark["language"] for benchmark in line["benchmarks"])
    return sorted(found, key=lambda language: language != LITEPRESS)


def slowest_and_fastest(benchmark):
    """Returns rows a second in the slowest and in the fastest round."""
    return benchmark["rows"] / benchmark["max"], benchmark["rows"] / benchmark["min"]


def crash(benchmark):
    """Returns the effect of a crash on the database, or `None` without a database."""
    if benchmark["place"] == "disk":
        return "whole" if benchmark["safe"] else "may corrupt"
    return "lost" if benchmark["place"] == "memory" else None


def survives(benchmark):
    return crash(benchmark) in ("whole", None)


def times_as_fast(benchmark, other):
    return benchmark["rows_per_second"] / other["rows_per_second"]


@dataclasses.dataclass(frozen=True)
class Standing:
    """Benchmarks that do the same work in the same place, and the position of litepress among them."""

    case: dict
    place: str
    at: float | None
    benchmarks: list
    """The fastest first."""

    @property
    def ours(self):
        return next((benchmark for benchmark in self.benchmarks if benchmark["language"] == LITEPRESS), None)

    def competitor(self, safe_only=False):
        """Returns the fastest benchmark of another engine."""
        others = (benchmark for benchmark in self.benchmarks if benchmark["language"] != LITEPRESS)
        return next((benchmark for benchmark in others if survives(benchmark) or not safe_only), None)

    @property
    def position(self):
        return 1 + self.benchmarks.index(self.ours)

    @property
    def tie(self):
        """Returns whether the ranges of litepress and its competitor overlap."""
        ours, competitor = slowest_and_fastest(self.ours), slowest_and_fastest(self.competitor())
        return ours[0] <= competitor[1] and competitor[0] <= ours[1]


def standings(line):
    """Returns a standing for each case, place and point of the axis. Benchmarks without a point belong to all points."""
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
    """Speed relative to the previous benchmark; `None` for the first of a chain."""
    in_all: float | None


def steps(line, case):
    """Returns the chains of a case, depth first."""
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
    """A published figure, and the measured one for as many rows, or the reason why there is none."""

    published: dict
    method: str
    benchmark: dict | None
    why: str | None

    @property
    def seconds(self):
        """Returns the measured seconds, scaled to the published number of rows."""
        return self.published["rows"] / self.benchmark["rows_per_second"]

    @property
    def published_rate(self):
        return self.published["rows"] / self.published["seconds"]

    @property
    def times_as_fast(self):
        return self.published["seconds"] / self.seconds


def comparisons(line, article):
    """Returns all figures of an article, the measured ones first."""
    found = [Comparison(figure, title(one), one, None) for one in line["benchmarks"] for figure in one["published"]]
    for benchmark in line["skipped"] + line["failed"]:
        found += [Comparison(figure, title(benchmark), None, benchmark["why"]) for figure in benchmark["published"]]
    found += [Comparison(one["published"], one["method"], None, one["why"]) for one in line["absent"]]
    return [one for one in found if one.published["article"] == article]


def articles(line):
    """Returns the articles of the run, and those that only a figure refers to."""
    known = {article["name"]: article for article in line["articles"]}
    benchmarks = line["benchmarks"] + line["skipped"] + line["failed"]
    figures = [figure for one in benchmarks for figure in one["published"]] + [one["published"] for one in line["absent"]]
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
    """The benchmark that names it: the first of several."""
    name: str
    points: list
    """Pairs (x, y), sorted by x."""


def growth(line, case):
    """Returns nanoseconds a row by number of rows, for benchmarks that were measured at several numbers."""
    grown = [benchmark for benchmark in ranking(line, case) if len(benchmark["growth"]) > 1]
    return [Series(benchmark, title(benchmark) + _elsewhere(benchmark["place"]), _by_rows(benchmark)) for benchmark in grown]


def _by_rows(benchmark):
    return sorted((point["rows"], point["seconds"] / point["rows"] * 1e9) for point in benchmark["growth"])


def first_by_rows(series):
    """Yields the number of rows, the fastest, and litepress's fastest or `None`.

    Numbers of rows with a single measurement are left out, and, if litepress was measured at all, those without it.
    """
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
    """Returns rows a second along the axis of a case: a series for each language, or for each of its methods.

    A language with several methods at one point has a series for each. Methods count as one if they are equal up to
    the first comma, apart from numbers.
    """
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
            found.append(Series(benchmarks[0], name, [(one["at"], one["rows_per_second"]) for one in benchmarks]))
    return [series for series in found if len(series.points) > 1]


def _elsewhere(place):
    return "" if place == "disk" else f", {place}"


def distance(benchmark):
    """Returns the time divided by that of a raw write of the same bytes (in memory: of one copy)."""
    return benchmark["median"] / benchmark["ceiling_seconds"] if benchmark["ceiling_seconds"] else None


def distances(line, case):
    """Returns the benchmarks of a case that have a ceiling, nearest first."""
    return sorted((benchmark for benchmark in ranking(line, case) if distance(benchmark)), key=distance)


def spreads(line):
    """Returns the ratios of slowest to fastest round: the median, and the largest with its benchmark.

    Returns `None` after a single round.
    """
    found = [(one["max"] / one["min"], one) for one in line["benchmarks"] if len(one["seconds"]) > 1]
    if not found:
        return None
    return statistics.median(spread for spread, _ in found), max(found, key=lambda pair: pair[0])


def not_measured(line):
    """Yields skipped and failed benchmarks, each with its kind."""
    for kind in ("skipped", "failed"):
        for benchmark in line[kind]:
            yield kind, benchmark

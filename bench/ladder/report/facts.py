"""What follows from the line of a run: order, standings, steps, ratios, curves, distances. No words and no layout.

The line is described in bench/README.md. Nothing here knows a method, a case or an article by name.
"""

import dataclasses
import itertools
import re
import statistics

LITEPRESS = "litepress"
PLACES = ("disk", "memory", "none")


def ladder(line, case, place=None):
    """The measured rungs of a case, the fastest first."""
    rungs = [rung for rung in line["rungs"] if rung["case"] == case and place in (None, rung["place"])]
    return sorted(rungs, key=lambda rung: -rung["rows_per_second"])


def languages(line):
    """litepress first, the others as they come."""
    found = dict.fromkeys(rung["language"] for rung in line["rungs"])
    return sorted(found, key=lambda language: language != LITEPRESS)


def slowest_and_fastest(rung):
    """Rows a second in the slowest and in the fastest round."""
    return rung["rows"] / rung["max"], rung["rows"] / rung["min"]


def crash(rung):
    """What a crash in the middle does to the database; None where there is none."""
    if rung["place"] == "disk":
        return "whole" if rung["safe"] else "may corrupt"
    return "lost" if rung["place"] == "memory" else None


def survives(rung):
    return crash(rung) in ("whole", None)


def times_as_fast(rung, other):
    return rung["rows_per_second"] / other["rows_per_second"]


@dataclasses.dataclass(frozen=True)
class Standing:
    """Rungs that do the same work in the same place, and where litepress stands among them."""

    case: dict
    place: str
    at: float | None
    rungs: list
    """The fastest first."""

    @property
    def ours(self):
        return next((rung for rung in self.rungs if rung["language"] == LITEPRESS), None)

    def rival(self, safe_only=False):
        """The fastest that is not litepress."""
        others = (rung for rung in self.rungs if rung["language"] != LITEPRESS)
        return next((rung for rung in others if survives(rung) or not safe_only), None)

    @property
    def position(self):
        return 1 + self.rungs.index(self.ours)

    @property
    def tie(self):
        """The ranges of litepress and its rival overlap."""
        ours, rival = slowest_and_fastest(self.ours), slowest_and_fastest(self.rival())
        return ours[0] <= rival[1] and rival[0] <= ours[1]


def standings(line):
    """For each case, place and point of its axis. A rung without a point is compared to those of all points."""
    found = []
    for case, place in itertools.product(line["cases"], PLACES[:2]):
        rungs = ladder(line, case["name"], place)
        points = sorted({rung["at"] for rung in rungs} - {None})
        for at in points or [None]:
            same = [rung for rung in rungs if rung["at"] in (None, at)]
            if same:
                found.append(Standing(case, place, at, same))
    return found


@dataclasses.dataclass(frozen=True)
class Step:
    """One rung of a chain that `after` makes."""

    rung: dict
    depth: int
    brought: float | None
    """Times as fast as the rung before; None for the first of a chain."""
    in_all: float | None


def steps(line, case):
    """The chains of a case, depth first."""
    by_name = {rung["name"]: rung for rung in line["rungs"]}
    following = {}
    for rung in line["rungs"]:
        if rung["after"] in by_name:
            following.setdefault(rung["after"], []).append(rung)

    def walk(rung, first, depth):
        before = by_name.get(rung["after"])
        factors = (times_as_fast(rung, before), times_as_fast(rung, first)) if depth else (None, None)
        yield Step(rung, depth, *factors)
        for after in following.get(rung["name"], ()):
            yield from walk(after, first, depth + 1)

    firsts = [rung for rung in line["rungs"] if rung["case"] == case]
    firsts = [rung for rung in firsts if rung["after"] not in by_name and rung["name"] in following]
    return [step for first in firsts for step in walk(first, first, 0)]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A published figure, and ours for as many rows; or why there is none."""

    published: dict
    method: str
    rung: dict | None
    why: str | None

    @property
    def seconds(self):
        """Ours, scaled to the published number of rows."""
        return self.published["rows"] / self.rung["rows_per_second"]

    @property
    def published_rate(self):
        return self.published["rows"] / self.published["seconds"]

    @property
    def times_as_fast(self):
        return self.published["seconds"] / self.seconds


def comparisons(line, article):
    """All figures of an article, those that were measured here first."""
    found = [Comparison(figure, title(rung), rung, None) for rung in line["rungs"] for figure in rung["published"]]
    for rung in line["skipped"] + line["failed"]:
        found += [Comparison(figure, title(rung), None, rung["why"]) for figure in rung["published"]]
    found += [Comparison(one["published"], one["method"], None, one["why"]) for one in line["absent"]]
    return [one for one in found if one.published["article"] == article]


def articles(line):
    """Those of the run, and those that only a figure names: its module was not asked for."""
    known = {article["name"]: article for article in line["articles"]}
    rungs = line["rungs"] + line["skipped"] + line["failed"]
    figures = [figure for rung in rungs for figure in rung["published"]] + [one["published"] for one in line["absent"]]
    for figure in figures:
        name = figure["article"]
        known.setdefault(name, {"name": name, "title": name, "source": ""})
    return list(known.values())


def title(rung):
    return f"{rung['language']}: {rung['method']}"


@dataclasses.dataclass(frozen=True)
class Series:
    """One line of a chart."""

    rung: dict
    """The one that names it: of several, the first."""
    name: str
    points: list
    """Of (x, y), by x."""


def growth(line, case):
    """Nanoseconds a row by the number of rows, for the rungs that were measured at several."""
    grown = [rung for rung in ladder(line, case) if len(rung["growth"]) > 1]
    return [Series(rung, title(rung) + _elsewhere(rung["place"]), _by_rows(rung)) for rung in grown]


def _by_rows(rung):
    return sorted((point["rows"], point["seconds"] / point["rows"] * 1e9) for point in rung["growth"])


def first_by_rows(series):
    """At each number of rows: the fastest, and litepress's fastest or None; only where two or more were measured, and
    litepress was, if it was anywhere."""
    has_ours = any(one.rung["language"] == LITEPRESS for one in series)
    at = {}
    for one in series:
        for rows, cost in one.points:
            at.setdefault(rows, []).append((cost, one.rung))
    for rows in sorted(rows for rows, found in at.items() if len(found) > 1):
        found = sorted(at[rows], key=lambda pair: pair[0])
        ours = next((pair for pair in found if pair[1]["language"] == LITEPRESS), None)
        if ours or not has_ours:
            yield rows, found[0], ours


def axis(line, case):
    """Rows a second along the axis of a case, a series for each language; for each method where a language has several at
    one point: methods that are alike before their first comma, but for numbers, are one."""
    found = []
    points = [rung for rung in line["rungs"] if rung["case"] == case and rung["at"] is not None]
    for place, language in dict.fromkeys((rung["place"], rung["language"]) for rung in points):
        same = [rung for rung in points if (rung["place"], rung["language"]) == (place, language)]
        alone = len({rung["at"] for rung in same}) == len(same)
        groups = {}
        for rung in same:
            method = re.sub(r"[\d._]+", "…", rung["method"].partition(",")[0])
            groups.setdefault("" if alone else method, []).append(rung)
        for method, rungs in groups.items():
            rungs.sort(key=lambda rung: rung["at"])
            name = ": ".join(filter(None, [language, method])) + _elsewhere(place)
            found.append(Series(rungs[0], name, [(rung["at"], rung["rows_per_second"]) for rung in rungs]))
    return [series for series in found if len(series.points) > 1]


def _elsewhere(place):
    return "" if place == "disk" else f", {place}"


def distance(rung):
    """Times the time that the same bytes take, written raw (in memory: copied once)."""
    return rung["median"] / rung["ceiling_seconds"] if rung["ceiling_seconds"] else None


def distances(line, case):
    """The rungs of a case that have a ceiling, nearest first."""
    return sorted((rung for rung in ladder(line, case) if distance(rung)), key=distance)


def spreads(line):
    """Slowest round by fastest of each rung: the median, and the widest with its rung. None where one round was run."""
    found = [(rung["max"] / rung["min"], rung) for rung in line["rungs"] if len(rung["seconds"]) > 1]
    if not found:
        return None
    return statistics.median(spread for spread, _ in found), max(found, key=lambda pair: pair[0])


def not_measured(line):
    """What was skipped, and what failed: rungs with one reason are told together."""
    for kind in ("skipped", "failed"):
        for rung in line[kind]:
            yield kind, rung

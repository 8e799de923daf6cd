"""Writes the standing of litepress in sentences: if it is not the fastest, the fastest is named first."""

import itertools

from .blocks import Strong
from .facts import LITEPRESS, crash, standings, survives, times_as_fast, title
from .formats import count, factor, rate

WHERE = {"disk": "on disk", "memory": "in memory", "none": "without a database"}


def sentences(line, cases=None):
    """Yields a sentence for each case and place, in the order of the cases. `cases` chooses some by name."""
    chosen = [one for one in standings(line) if cases is None or one.case["name"] in cases]
    by_place = itertools.groupby(chosen, key=lambda one: (one.case["title"], one.place))
    for (case, place), group in by_place:
        group = list(group)
        said = _along_axis(group) if len(group) > 1 else _one(group[0])
        yield (Strong(f"{case}, {WHERE[place]}."), " " + said)


def _one(standing):
    ours, competitor = standing.ours, standing.competitor()
    if ours is None:
        return f"litepress has no benchmark here. The fastest is {_with_rate(competitor)}."
    if competitor is None:
        return f"Only litepress was measured: {_ours(ours)}."
    ahead = times_as_fast(ours, competitor)
    if standing.tie:
        return (
            f"A tie: the rounds of {_ours(ours)} and of {_with_rate(competitor)} overlap; "
            f"by the medians {LITEPRESS if ahead >= 1 else title(competitor)} is {factor(max(ahead, 1 / ahead))} times as fast."
            + _of_the_safe(standing)
        )
    if ahead > 1:
        return (
            f"litepress is the fastest: {_ours(ours)} is {factor(ahead)} times as fast as the next, "
            f"{_with_rate(competitor)}{_risk(competitor).rstrip(',')}." + _of_the_safe(standing)
        )
    return (
        f"litepress is not the fastest: {_with_rate(competitor)}{_risk(competitor)} is {factor(1 / ahead)} times as fast as "
        f"{_ours(ours)}, which comes {_ordinal(standing.position)} of {len(standing.benchmarks)}." + _of_the_safe(standing)
    )


def _of_the_safe(standing):
    """Compares litepress with the fastest safe engine, if litepress is safe and its competitor is not."""
    ours, competitor, safe = standing.ours, standing.competitor(), standing.competitor(safe_only=True)
    if survives(competitor) or not survives(ours) or safe is None:
        return ""
    ahead = times_as_fast(ours, safe)
    words = f"{factor(ahead)} times as fast as" if ahead >= 1 else f"slower than, by {factor(1 / ahead)} times,"
    return f" Of those that survive a crash, it is {words} the fastest other, {_with_rate(safe)}."


def _along_axis(group):
    """Describes a case with an axis: the number of points at which litepress is the fastest, and each of the others."""
    compared = [one for one in group if one.ours and one.competitor()]
    if not compared:
        return " ".join(_one(one) for one in group[-1:])
    first = [one for one in compared if times_as_fast(one.ours, one.competitor()) > 1]
    factors = [times_as_fast(one.ours, one.competitor()) for one in first]
    said = f"litepress is the fastest at {len(first)} of {len(compared)} points"
    said += f", {range_of(factors)} times as fast as the next." if first else "."
    for one in compared:
        if one not in first:
            competitor = one.competitor()
            ahead = factor(times_as_fast(competitor, one.ours))
            said += f" It is not at {count(one.at)}: {_with_rate(competitor)}{_risk(competitor)} is {ahead} times as fast."
    return said


def range_of(factors):
    low, high = factor(min(factors)), factor(max(factors))
    return low if low == high else f"{low} to {high}"


def _with_rate(benchmark):
    return f"{title(benchmark)} ({rate(benchmark['rows_per_second'])} rows/s)"


def _ours(benchmark):
    return f"“{benchmark['method']}” ({rate(benchmark['rows_per_second'])} rows/s)"


def _risk(benchmark):
    return ", whose settings let a crash corrupt the file," if crash(benchmark) == "may corrupt" else ""


def _ordinal(number):
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"

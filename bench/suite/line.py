"""Builds the result line of a run, the JSON described in ../README.md, from measurements."""

import statistics

from measure import spread


def static(articles, chosen):
    """Returns the articles, the cases that have chosen benchmarks, and the absent figures."""
    cases = {benchmark.case for benchmark in chosen}
    return {
        "articles": [{"name": one.name, "title": one.title, "source": one.source} for one in articles],
        "cases": [
            {"name": case.name, "title": case.title, "article": article.name, "axis": case.axis}
            for article in articles
            for case in article.cases
            if case.name in cases
        ],
        "absent": [
            {"article": article.name, "case": one.case, "method": one.method, "published": vars(one.published), "why": one.why}
            for article in articles
            for one in article.absent
            if one.case in cases
        ],
    }


def case_of(measured, raw, memory_copy):
    """Returns the measured benchmarks of a case, its raw writes, the failed benchmarks, and those that were too large."""
    good = [one for one in measured if one.rounds and not one.why]
    raw = [one for one in raw if one]
    speed = statistics.median(one["bytes"] / one["seconds"] for one in raw) if raw else None
    reference = next((one for one in good if one.benchmark.reference), None)
    row_bytes = max((last(one, "bytes") / one.rows for one in good if one.benchmark.place == "disk"), default=None)
    benchmarks = [figures(one, reference) | {"ceiling_seconds": ceiling(one, speed, row_bytes, memory_copy)} for one in good]
    failed = [one.benchmark.describe() | {"why": one.why} for one in measured if one.why and not one.too_large]
    skipped = [one.benchmark.describe() | {"why": one.why} for one in measured if one.too_large]
    written = None
    if raw:
        seconds = [one["seconds"] for one in raw]
        written = {"bytes": raw[-1]["bytes"], "seconds": seconds, "bytes_per_second": speed}
    return benchmarks, written, failed, skipped


def figures(one, reference):
    """Returns the measurements of a benchmark."""
    median = statistics.median(one.seconds)
    disk = one.benchmark.place == "disk"
    return one.benchmark.describe() | {
        "rows": one.rows,
        "seconds": one.seconds,
        **spread(one.seconds),
        "rows_per_second": one.rows / median,
        "ratio": ratio(one, reference),
        "cpu_seconds": middle(one, "cpu_seconds"),
        "wall_seconds": middle(one, "wall_seconds"),
        "peak_memory_bytes": max(result["peak_memory_bytes"] for result in one.rounds.values()),
        "sync_seconds": middle(one, "sync_seconds") if disk else None,
        "bytes": last(one, "bytes") if disk else None,
        "growth": one.growth,
    }


def middle(one, key):
    return statistics.median(result[key] for result in one.rounds.values())


def last(one, key):
    return one.rounds[max(one.rounds)][key]


def ratio(one, reference):
    """Returns seconds a row divided by the reference's of the same round, so that drift of the machine cancels."""
    turns = one.rounds.keys() & reference.rounds.keys() if reference else ()
    if not turns:
        return None
    return spread(
        [
            (one.rounds[turn]["seconds"] / one.rows) / (reference.rounds[turn]["seconds"] / reference.rows)
            for turn in sorted(turns)
        ]
    )


def ceiling(one, speed, row_bytes, memory_copy):
    """Returns the machine's own time for as many bytes. A database in memory counts as large as one on disk."""
    if one.benchmark.place == "disk" and speed:
        return last(one, "bytes") / speed
    if one.benchmark.place == "memory" and row_bytes and memory_copy:
        return row_bytes * one.rows / memory_copy
    return None

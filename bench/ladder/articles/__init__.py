"""The articles whose rungs are measured: every module of this folder, in the order in which they are reported.

A module has `TITLE`, `SOURCE`, `CASES` and `RUNGS`, and `ABSENT` where a figure of its article cannot be measured here.
A rung may belong to another article's case: it does the same work.
"""

import collections
import dataclasses
import importlib
import pkgutil

from ladder import toolchains
from ladder.rungs import Absent, Case, Rung

ORDER = ("user", "metrics", "integers", "composite", "tools")


@dataclasses.dataclass(frozen=True)
class Article:
    name: str
    title: str
    source: str
    cases: tuple[Case, ...]
    rungs: tuple[Rung, ...]
    absent: tuple[Absent, ...] = ()


def collect():
    """All articles, checked."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    articles = [article(name, importlib.import_module(f"{__name__}.{name}")) for name in names]
    check(articles)
    return articles


def article(name, module):
    absent = tuple(getattr(module, "ABSENT", ()))
    return Article(name, module.TITLE, module.SOURCE, tuple(module.CASES), tuple(module.RUNGS), absent)


def check(articles):
    """Raises `ValueError` with all that does not fit together."""
    if wrong := list(mistakes(articles)):
        raise ValueError("; ".join(wrong))


def mistakes(articles):
    rungs = [rung for article in articles for rung in article.rungs]
    absent = [one for article in articles for one in article.absent]
    cases = {case.name for article in articles for case in article.cases}
    names = {rung.name for rung in rungs}
    yield from twice("case", (case.name for article in articles for case in article.cases))
    yield from twice("rung", (rung.name for rung in rungs))
    yield from twice("reference of", (rung.case for rung in rungs if rung.reference))
    published = [figure for rung in rungs for figure in rung.published] + [one.published for one in absent]
    yield from twice("published figure", ((one.article, one.label, one.rows) for one in published))
    for case in sorted(cases - {rung.case for rung in rungs if rung.reference}):
        yield f"{case} has no reference"
    for case in (case for article in articles for case in article.cases):
        if bool(case.axis) != any(rung.case == case.name and rung.at is not None for rung in rungs):
            yield f"{case.name}: a name of the axis, and rungs that lie on it: only one of both"
    for one in (*rungs, *absent):
        if one.case not in cases:
            yield f"{one.method}: no case {one.case}"
    for figure in published:
        if figure.article not in {article.name for article in articles}:
            yield f"{figure.label}: no article {figure.article}"
    for rung in rungs:
        yield from unknown(rung, names)


def unknown(rung, names):
    """What a rung names that is not there."""
    if rung.after and rung.after not in names:
        yield f"{rung.name} is after {rung.after}, which is no rung"
    if rung.place not in ("disk", "memory", "none"):
        yield f"{rung.name}: no place {rung.place}"
    for need in rung.needs:
        if need not in toolchains.TOOLCHAINS:
            yield f"{rung.name}: no toolchain {need}"


def twice(what, names):
    for name, count in collections.Counter(names).items():
        if count > 1:
            yield f"{what} {name} stands there {count} times"

"""The articles whose benchmarks are measured: every module of this folder, in the order of the report.

A module has `TITLE`, `SOURCE`, `CASES` and `BENCHMARKS`, and `ABSENT` for figures that cannot be measured here. A
benchmark may belong to a case of another article if it does the same work.
"""

import collections
import dataclasses
import importlib
import pkgutil

from suite import toolchains
from suite.benchmark import Absent, Case, Benchmark

ORDER = ("user", "metrics", "integers", "composite", "tools")


@dataclasses.dataclass(frozen=True)
class Article:
    name: str
    title: str
    source: str
    cases: tuple[Case, ...]
    benchmarks: tuple[Benchmark, ...]
    absent: tuple[Absent, ...] = ()


def collect():
    """Imports all articles and checks them."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    articles = [article(name, importlib.import_module(f"{__name__}.{name}")) for name in names]
    check(articles)
    return articles


def article(name, module):
    absent = tuple(getattr(module, "ABSENT", ()))
    return Article(name, module.TITLE, module.SOURCE, tuple(module.CASES), tuple(module.BENCHMARKS), absent)


def check(articles):
    """Raises `ValueError` with all inconsistencies."""
    if wrong := list(mistakes(articles)):
        raise ValueError("; ".join(wrong))


def mistakes(articles):
    benchmarks = [benchmark for article in articles for benchmark in article.benchmarks]
    absent = [one for article in articles for one in article.absent]
    cases = {case.name for article in articles for case in article.cases}
    names = {benchmark.name for benchmark in benchmarks}
    yield from twice("case", (case.name for article in articles for case in article.cases))
    yield from twice("benchmark", (benchmark.name for benchmark in benchmarks))
    yield from twice("reference of", (benchmark.case for benchmark in benchmarks if benchmark.reference))
    published = [figure for benchmark in benchmarks for figure in benchmark.published] + [one.published for one in absent]
    yield from twice("published figure", ((one.article, one.label, one.rows) for one in published))
    for case in sorted(cases - {benchmark.case for benchmark in benchmarks if benchmark.reference}):
        yield f"{case} has no reference"
    for case in (case for article in articles for case in article.cases):
        if bool(case.axis) != any(benchmark.case == case.name and benchmark.at is not None for benchmark in benchmarks):
            yield f"{case.name}: a name of the axis, and benchmarks that lie on it: only one of both"
    for one in (*benchmarks, *absent):
        if one.case not in cases:
            yield f"{one.method}: no case {one.case}"
    for figure in published:
        if figure.article not in {article.name for article in articles}:
            yield f"{figure.label}: no article {figure.article}"
    for benchmark in benchmarks:
        yield from unknown(benchmark, names)


def unknown(benchmark, names):
    """Yields the unknown names that a benchmark refers to."""
    if benchmark.after and benchmark.after not in names:
        yield f"{benchmark.name} is after {benchmark.after}, which is no benchmark"
    if benchmark.place not in ("disk", "memory", "none"):
        yield f"{benchmark.name}: no place {benchmark.place}"
    for need in benchmark.needs:
        if need not in toolchains.TOOLCHAINS:
            yield f"{benchmark.name}: no toolchain {need}"


def twice(what, names):
    for name, count in collections.Counter(names).items():
        if count > 1:
            yield f"{what} {name} stands there {count} times"

"""Tests of the report: its figures, its Markdown, its page, and the page in a browser."""

import contextlib
import html.parser
import itertools
import json
import math
import pathlib
import re
import tempfile
import unittest

import page_test
import webdriver
from suite import report
from suite.report import code, facts, formats, guide, html as page, markdown, overview, sections

ODD = 'rows of "user" | <b>&amp; more'


def benchmark(case, language, method, seconds, place="disk", rows=1_000_000, **more):
    """Returns a measured benchmark of three rounds, which differ by a twentieth."""
    disk = place == "disk"
    described = {
        "name": f"{case}/{language}/{method}/{place}", "case": case, "language": language, "method": method, "place": place,
        "safe": True, "reference": False, "after": None, "at": None, "note": "", "needs": [language.lower()], "published": [],
    }  # fmt: skip
    measured = {
        "rows": rows, "seconds": [seconds * 1.05, seconds * 0.95, seconds], "median": seconds, "min": seconds * 0.95,
        "max": seconds * 1.05, "rows_per_second": rows / seconds, "ratio": None, "cpu_seconds": seconds * 0.9,
        "wall_seconds": seconds + 0.02, "peak_memory_bytes": 42_000_000, "sync_seconds": 0.01 if disk else None,
        "bytes": 20 * rows if disk else None, "ceiling_seconds": 0.01 if disk else None, "growth": [],
    }  # fmt: skip
    return described | measured | more


def figure(label, seconds, rows=100_000_000, article="user", size=None):
    return {"article": article, "label": label, "rows": rows, "seconds": seconds, "bytes": size}


def grown(*nanoseconds):
    return [{"rows": 10 ** (4 + power), "seconds": cost * 10 ** (4 + power) / 1e9} for power, cost in enumerate(nanoseconds)]


NAIVE = benchmark(
    "user", "CPython", "row by row", 10.0, reference=True, ratio={"median": 1, "min": 1, "max": 1},
    published=[figure("naive", 600), figure("again", 700, article="metrics")],
)  # fmt: skip
PREPARED = benchmark(
    "user", "Rust", "prepared, 50 rows a statement", 0.5, after=NAIVE["name"], published=[figure("batched", 33)],
    growth=grown(900, 600, 500, 500, 500), ratio={"median": 0.05, "min": 0.04, "max": 0.06},
)  # fmt: skip
UNSAFE = benchmark(
    "user", "Rust", ODD, 0.4, after=PREPARED["name"], safe=False, note="No journal <at all> & no sync",
    published=[figure('threads & "channels" <b>', 32.37)],
)  # fmt: skip
GENERATED = benchmark("user", "litepress", "generate", 0.02, growth=grown(2000, 300, 20, 10, 9), bytes=19_000_000)
MEMORY = benchmark("user", "Ruby", "prepared", 0.6, "memory", safe=False)
METRICS = [
    benchmark("metrics", "C", "carray", 0.10, published=[figure("carray", 0.05, 500_000, "metrics")]),
    benchmark("metrics", "litepress", "load", 0.20, rows=1_000_000),
    benchmark("metrics", "Go", "prepared", 0.195),
]
WIDTHS = [
    benchmark("integers/widths", language, f"{method}, {name}", seconds * (8 + at), at=at)
    for language, method, seconds in (("C", "carray", 0.02), ("litepress", "generate", 0.001))
    for name, at in (("all zeros", 0), ("all ones", 0), ("int8", 1), ("int16", 2), ("int64", 8))
]
DESCRIBED = ("name", "case", "language", "method", "place", "safe", "reference", "after", "at", "note", "needs", "published")


def not_run(why, *arguments, **more):
    return {key: value for key, value in benchmark(*arguments, 1, **more).items() if key in DESCRIBED} | {"why": why}


def run_line():
    """Returns the result line of a run with everything that a report must handle."""
    benchmarks = [NAIVE, PREPARED, UNSAFE, GENERATED, MEMORY, *METRICS, *WIDTHS]
    benchmarks.append(benchmark("user", "CPython", "loop alone", 0.3, "none", published=[figure("busy loop", 330)]))
    return {
        "when": "2025-01-31T12:00:00+00:00",
        "machine": {"cpu": "AMD EPYC", "cores": 2, "memory_bytes": 25274793984, "kernel": "6.18"},
        "scale": "full", "repeat": 3, "interrupted": False, "elapsed_seconds": 754.0,
        "versions": {"cpython": "Python 3.11.7", "python-competitors": "pyarrow 26.0.1, duckdb 1.5.5", "java": None},
        "ceilings": {
            "memory_copy_bytes_per_second": 9.9e9,
            "raw_write": {"user": {"bytes": 2e7, "seconds": [0.01] * 3, "bytes_per_second": 2e9}},
        },
        "articles": [
            {"name": "user", "title": "A billion <rows>", "source": "https://example.org/user?a=1&b=2"},
            {"name": "metrics", "title": "Maximum speed", "source": "an article (2023)"},
        ],
        "cases": [
            {"name": "user", "title": 'The table "user" & its rows', "article": "user", "axis": ""},
            {"name": "metrics", "title": "Metrics", "article": "metrics", "axis": ""},
            {"name": "integers/widths", "title": "Widths of a key", "article": "metrics", "axis": "bytes of a key"},
        ],
        "benchmarks": benchmarks,
        "skipped": [
            not_run("pypy3 is not installed", "user", "PyPy", "batched", published=[figure("PyPy, batched", 150)]),
        ],
        "failed": [not_run("wrote 3 rows | where 4 are right", "metrics", "Ruby", "naïve", place="memory")],
        "absent": [
            {"article": "user", "case": "user", "method": "four processes", "published": figure("800M a minute", 60, 8 * 10**8),
             "why": "the article did not try it"},
        ],
    }  # fmt: skip


def markdown_tables(text):
    """Returns the cells of all tables, by the heading above each one."""
    tables, heading = {}, None
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            tables.setdefault(heading, []).append(cells)
    return {heading: rows[2:] for heading, rows in tables.items()}


class Numbers(unittest.TestCase):
    def test_three_significant_digits(self):
        written = {0.01234: "0.0123", 9.806: "9.81", 1234.5: "1,234", 0: "0", 45: "45.0"}
        self.assertEqual({value: formats.digits(value) for value in written}, written)

    def test_units(self):
        self.assertEqual([formats.rate(value) for value in (429, 522_000, 98.1e6)], ["429", "522 k", "98.1 M"])
        self.assertEqual([formats.size(value) for value in (12, 19.9e9)], ["12.0 bytes", "19.9 GB"])
        self.assertEqual([formats.factor(value) for value in (1.234, 2.34, 42.4, 1234)], ["1.23", "2.3", "42", "1,234"])
        self.assertEqual([formats.factor(value) for value in (0.123, 0.0345)], ["0.12", "0.035"])
        self.assertEqual([formats.duration(value) for value in (90, 754)], ["90.0 s", "13 minutes"])
        self.assertEqual([formats.seconds(value) for value in (0.0123, 1.5)], ["12.3 ms", "1.50 s"])


class Facts(unittest.TestCase):
    def setUp(self):
        self.line = run_line()

    def test_order_and_standing(self):
        names = [one["method"] for one in facts.ranking(self.line, "user", "disk")]
        self.assertEqual(names, ["generate", ODD, "prepared, 50 rows a statement", "row by row"])
        standing = facts.standings(self.line)[0]
        self.assertIs(standing.ours, GENERATED)
        self.assertIs(standing.competitor(), UNSAFE)
        self.assertIs(standing.competitor(safe_only=True), PREPARED)
        self.assertFalse(standing.tie)

    def test_what_a_crash_does(self):
        alone = self.line["benchmarks"][-1]
        crashes = [facts.crash(one) for one in (PREPARED, UNSAFE, MEMORY, alone)]
        self.assertEqual(crashes, ["whole", "may corrupt", "lost", None])
        self.assertEqual([facts.survives(one) for one in (PREPARED, UNSAFE, MEMORY, alone)], [True, False, False, True])

    def test_points_of_an_axis_are_compared_with_their_like(self):
        widths = [one for one in facts.standings(self.line) if one.case["name"] == "integers/widths"]
        self.assertEqual([one.at for one in widths], [0, 1, 2, 8])
        self.assertEqual([len(one.benchmarks) for one in widths], [4, 2, 2, 2])

    def test_steps(self):
        steps = facts.steps(self.line, "user")
        self.assertEqual([step.depth for step in steps], [0, 1, 2])
        self.assertAlmostEqual(steps[1].brought, 20)
        self.assertAlmostEqual(steps[2].brought, 1.25)
        self.assertAlmostEqual(steps[2].in_all, 25)

    def test_a_step_from_a_benchmark_that_was_not_measured_begins_a_chain(self):
        self.line["benchmarks"].remove(NAIVE)
        self.assertEqual([step.benchmark["name"] for step in facts.steps(self.line, "user")], [PREPARED["name"], UNSAFE["name"]])

    def test_published_figures_are_scaled_to_their_rows(self):
        naive = facts.comparisons(self.line, "user")[0]
        self.assertAlmostEqual(naive.seconds, 1000)
        self.assertAlmostEqual(naive.times_as_fast, 0.6)
        self.assertAlmostEqual(naive.published_rate, 1e8 / 600)

    def test_first_by_rows(self):
        first = list(facts.first_by_rows(facts.growth(self.line, "user")))
        self.assertEqual(
            [best[1]["language"] for _, best, _ in first], ["Rust", "litepress", "litepress", "litepress", "litepress"]
        )
        self.assertAlmostEqual(first[0][2][0] / first[0][1][0], 2000 / 900)

    def test_distance_and_spread(self):
        self.assertAlmostEqual(facts.distance(GENERATED), 2)
        self.assertIsNone(facts.distance(MEMORY))
        middle, _ = facts.spreads(self.line)
        self.assertAlmostEqual(middle, 1.05 / 0.95)

    def test_one_round_has_no_spread(self):
        self.assertIsNone(facts.spreads(self.line | {"benchmarks": [NAIVE | {"seconds": [1.0]}]}))


class Sentences(unittest.TestCase):
    def said(self, line=None):
        return [strong.text + rest for strong, rest in sections.headline.sentences(line or run_line())]

    def test_where_litepress_is_the_fastest(self):
        self.assertEqual(
            self.said()[0],
            'The table "user" & its rows, on disk. litepress is the fastest: “generate” (50.0 M rows/s) is 20 times as fast as '
            f"the next, Rust: {ODD} (2.50 M rows/s), whose settings let a crash corrupt the file. Of those that survive a "
            "crash, it is 25 times as fast as the fastest other, Rust: prepared, 50 rows a statement (2.00 M rows/s).",
        )

    def test_where_it_is_not(self):
        self.assertIn(
            "Metrics, on disk. litepress is not the fastest: C: carray (10.0 M rows/s) is 2.0 times as fast as “load” "
            "(5.00 M rows/s), which comes 3rd of 3.",
            self.said(),
        )

    def test_a_tie_is_no_victory(self):
        line = run_line()
        line["benchmarks"] = METRICS[1:]
        self.assertIn(
            "A tie: the rounds of “load” (5.00 M rows/s) and of Go: prepared (5.13 M rows/s) overlap", self.said(line)[0]
        )
        self.assertIn("by the medians Go: prepared is 1.03 times as fast", self.said(line)[0])

    def test_where_it_has_no_benchmark_or_no_competitor(self):
        self.assertIn("litepress has no benchmark here. The fastest is Ruby: prepared (1.67 M rows/s).", self.said()[1])
        self.assertIn("Only litepress was measured", self.said(run_line() | {"benchmarks": [GENERATED]})[0])

    def test_along_an_axis(self):
        self.assertIn("litepress is the fastest at 4 of 4 points, 20 times as fast as the next.", self.said()[3])
        line = run_line()
        slow = benchmark("integers/widths", "C", "copy", 0.001, at=8)
        self.assertIn(
            "at 3 of 4 points, 20 times as fast as the next. It is not at 8: C: copy (1.00 G rows/s) is 16 times as fast.",
            self.said(line | {"benchmarks": [*line["benchmarks"], slow]})[3],
        )


class Markdown(unittest.TestCase):
    def setUp(self):
        self.line = run_line()
        self.text = markdown.page(report.TITLE, report.INTRODUCTION, sections.report(self.line))
        self.tables = markdown_tables(self.text)

    def test_every_benchmark_is_once_in_the_tables_of_its_case(self):
        for case in self.line["cases"]:
            heading = markdown.escaped(case["title"]) + ": "
            rows = [row for place in sections.PLACES.values() for row in self.tables.get(heading + place.lower(), [])]
            found = sorted((row[0], row[1].removesuffix(" (reference)")) for row in rows)
            wanted = [one for one in self.line["benchmarks"] if one["case"] == case["name"]]
            self.assertEqual(found, sorted((one["language"], markdown.escaped(one["method"])) for one in wanted))

    def test_every_published_figure_is_once_in_the_tables_of_its_article(self):
        known = self.line["benchmarks"] + self.line["skipped"] + self.line["failed"]
        figures = [one for known_benchmark in known for one in known_benchmark["published"]]
        figures += [one["published"] for one in self.line["absent"]]
        for article in self.line["articles"]:
            heading = markdown.escaped(article["title"])
            rows = self.tables.get(heading + ": published and here", []) + self.tables.get(heading + ": not run here", [])
            wanted = [markdown.escaped(one["label"]) for one in figures if one["article"] == article["name"]]
            self.assertEqual(sorted(row[0] for row in rows), sorted(wanted))

    def test_ratios_of_a_published_figure(self):
        [row] = [row for row in self.tables["A billion &lt;rows&gt;: published and here"] if row[0] == "batched"]
        self.assertEqual(row[2:], ["100,000,000", "33.0", "50.0", "3.03 M", "2.00 M", "0.66"])

    def test_sizes_of_files_stand_beside_where_an_article_has_them(self):
        sized = benchmark("metrics", "C", "sized", 0.1, published=[figure("sized", 1, 100, "metrics", size=1234)])
        lost = benchmark("metrics", "C", "sized", 0.1, "memory", published=[figure("lost", 1, 100, "metrics", size=1234)])
        line = self.line | {"benchmarks": [*METRICS, sized, lost]}
        tables = markdown_tables(markdown.page(report.TITLE, report.INTRODUCTION, sections.report(line)))
        rows = {row[0]: row[-2:] for row in tables["Maximum speed: published and here"]}
        self.assertEqual(rows, {"carray": ["–", "–"], "sized": ["12.3", "20.0"], "lost": ["12.3", "–"]})

    def test_an_axis_has_its_name(self):
        self.assertIn("| Bytes of a key | Benchmark |", self.text)
        self.assertEqual(len(self.tables["Widths of a key: by bytes of a key"]), 10)

    def test_what_was_not_measured_says_why(self):
        why = {row[1]: row[4] for row in self.tables["Benchmarks that were not measured"]}
        self.assertEqual(
            why, {"PyPy: batched": "pypy3 is not installed", "Ruby: naïve": "wrote 3 rows \\| where 4 are right"}
        )

    def test_every_section_is_there_with_nothing_measured(self):
        empty = run_line() | {"benchmarks": [], "skipped": [], "failed": [], "absent": [], "versions": {}}
        empty["ceilings"] = {"memory_copy_bytes_per_second": None, "raw_write": {}}
        text = markdown.page(report.TITLE, report.INTRODUCTION, sections.report(empty))
        self.assertEqual(text.count("\n## "), 8)
        Elements(page.page(report.TITLE, sections.report(empty), empty))
        self.assertIn("All chosen benchmarks were measured.", text)

    def test_an_interrupted_run_says_so(self):
        text = markdown.page(
            report.TITLE, report.INTRODUCTION, sections.report(self.line | {"interrupted": True, "scale": "small"})
        )
        self.assertIn("The run was interrupted", text)
        self.assertIn("half a second", text)

    def test_cells_stay_in_their_table(self):
        for heading, rows in self.tables.items():
            self.assertEqual(len({len(row) for row in rows}), 1, heading)


class Guide(unittest.TestCase):
    def test_only_the_block_is_made_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "which-way.md"
            path.write_text(f"before\n\n{guide.BEGIN}\nold\n{guide.END}\n\nafter\n", encoding="utf-8")
            paths = report.write(run_line(), folder)
            text = path.read_text(encoding="utf-8")
        self.assertEqual([one.name for one in paths], ["benchmarks.md", "benchmarks.html", "ladder.svg", "which-way.md"])
        self.assertTrue(text.startswith("before\n\n") and text.endswith("\n\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("Rust: prepared, 50 rows a statement | 2.00 M | 2.50 M | 50.0 M |", text)

    def test_a_guide_without_its_marks_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "which-way.md"
            path.write_text("no marks\n", encoding="utf-8")
            self.assertRaises(ValueError, report.write, run_line(), folder)

    def test_ours_has_them(self):
        text = (pathlib.Path(__file__).parent.parent / "docs" / "which-way.md").read_text(encoding="utf-8")
        self.assertLess(text.index(guide.BEGIN), text.index(guide.END))


class Pictures(unittest.TestCase):
    def setUp(self):
        self.line = run_line()
        self.cases = tuple(case["name"] for case in self.line["cases"])

    def marks(self, layout):
        """Returns the classes and the middle of each mark by the name of its benchmark."""
        drawn = Elements(overview.drawing(self.line, self.cases, layout))
        found = {}
        for tag, name, value in drawn.attributes:
            kept = dict(found.get(tag, {}))
            if name in ("class", "data-mark", "d"):
                kept[name] = value
            found[tag] = kept
            if tag == "path" and name == "d" and kept["class"].startswith("mark"):
                yield kept["data-mark"], kept["class"], float(re.match(r"M([\d.]+)", value)[1])

    def test_a_mark_for_each_benchmark(self):
        for layout in (overview.WIDE, overview.NARROW):
            marks = list(self.marks(layout))
            self.assertEqual(sorted(name for name, _, _ in marks), sorted(one["name"] for one in self.line["benchmarks"]))
            self.assertTrue(all(0 <= x <= layout.width for _, _, x in marks))

    def test_marks_tell_litepress_and_a_risk(self):
        kinds = {name: kind for name, kind, _ in self.marks(overview.WIDE)}
        self.assertEqual(kinds[GENERATED["name"]], "mark litepress")
        self.assertEqual(kinds[UNSAFE["name"]], "mark hollow")
        self.assertEqual(kinds[NAIVE["name"]], "mark")
        # A database in memory is lost in any case.
        self.assertEqual(kinds[MEMORY["name"]], "mark")

    def test_ten_times_as_fast_is_as_far_everywhere(self):
        at = {name: x for name, _, x in self.marks(overview.WIDE)}
        # The outline of a circle begins 4 left of its middle, that of a diamond in it.
        decades = math.log10(PREPARED["rows_per_second"] / NAIVE["rows_per_second"])
        ours = math.log10(GENERATED["rows_per_second"] / PREPARED["rows_per_second"])
        one, other = at[PREPARED["name"]] - at[NAIVE["name"]], at[GENERATED["name"]] - 4 - at[PREPARED["name"]]
        self.assertAlmostEqual(one / decades, other / ours, 0)

    def test_the_limit_is_that_of_the_bytes_of_litepress(self):
        self.assertAlmostEqual(overview.limit([NAIVE, GENERATED]), 1e8)
        self.assertIsNone(overview.limit([MEMORY]))

    def test_the_picture_of_the_readme(self):
        self.assertEqual(overview.cases_alone(self.line), ("user", "metrics"))
        text = overview.alone(self.line, overview.cases_alone(self.line))
        Elements(text)
        self.assertNotIn(MEMORY["name"].replace("&", "&amp;"), text)
        self.assertIn("prefers-color-scheme: dark", text)

    def test_ours_is_that_of_the_results(self):
        """`bench/suite --report-only` writes it anew."""
        root = pathlib.Path(__file__).parent.parent
        line = json.loads((root / "bench" / "results" / "suite.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        written = (root / "docs" / "ladder.svg").read_text(encoding="utf-8")
        self.assertEqual(written, overview.alone(line, overview.cases_alone(line)) + "\n")
        self.assertIn("](docs/ladder.svg)", (root / "README.md").read_text(encoding="utf-8"))
        by_name, sources = code.sources(line)
        self.assertEqual([name for name, paths in by_name.items() if not paths], [], "no code is found for a benchmark")
        self.assertTrue(all(sources.values()))


VOID = {"meta", "link", "input", "br", "hr", "img"}
SVG_VOID = {"path", "rect"}


class Elements(html.parser.HTMLParser):
    """Checks that elements are closed in order, and collects all attributes and data."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.text = [], [], {}
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


class Page(unittest.TestCase):
    def setUp(self):
        self.line = run_line()
        self.text = page.page(report.TITLE, sections.report(self.line), self.line)
        self.elements = Elements(self.text)

    def test_it_loads_nothing(self):
        loads = [one for one in self.elements.attributes if one[1] in ("src", "srcset", "action", "data", "poster")]
        self.assertEqual(loads, [])
        self.assertEqual(
            [value for tag, name, value in self.elements.attributes if tag == "link" and name == "href"], ["data:,"]
        )
        self.assertNotRegex("".join(self.elements.text["style"]), r"@import|url\((?!#)")
        self.assertNotRegex("".join(self.elements.text["script"][1:]), r"\bfetch\(|XMLHttpRequest|import\(")

    def test_names_are_text(self):
        self.assertIn(ODD, self.elements.text["td"])
        self.assertNotIn("<b>", self.text)
        data = json.loads(self.elements.text["script"][0])
        self.assertEqual(len(data["benchmarks"]), len(self.line["benchmarks"]))
        self.assertIn(ODD, [one["method"] for one in data["benchmarks"]])

    def test_every_colour_can_be_told_from_its_ground(self):
        light, dark = [
            dict(re.findall(r"--(\w+): (#\w{6})", block))
            for block in re.findall(r":root \{(.*?)\n *\}", self.text, re.DOTALL)
        ]
        self.assertEqual(len([name for name in light if re.fullmatch(r"c\d+", name)]), page.COLOURS)
        self.assertEqual(light.keys(), dark.keys())
        for scheme in (light, dark):
            colours = {name: [int(value[place : place + 2], 16) for place in (1, 3, 5)] for name, value in scheme.items()}
            grounds = [colours.pop("ground"), colours.pop("raised")]
            for name in colours.keys() - {"rule", "stripe"}:
                least = 3 if re.fullmatch(r"c[1-9]\d*", name) else 4.5
                self.assertGreaterEqual(min(contrast(colours[name], ground) for ground in grounds), least, name)

    def test_links_lead_somewhere(self):
        anchors = [value for _, name, value in self.elements.attributes if name == "id"]
        self.assertEqual(len(anchors), len(set(anchors)))
        for _, name, value in self.elements.attributes:
            if name == "href" and value.startswith("#"):
                self.assertIn(value[1:], anchors)


@unittest.skipUnless(webdriver.found(), "no chromium with its chromedriver here: Debian's chromium-driver has both")
class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        cls.browser = stack.enter_context(webdriver.browser())
        _, cls.path, _ = report.write(run_line(), folder)

    def setUp(self):
        self.browser.size(1200, 900)
        self.browser.colour_scheme("light")
        self.browser.open(self.path)

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])

    def bars(self):
        return self.browser.run("return document.querySelectorAll('#ranking-drawing .bar').length")

    def rows(self):
        """Returns the number of visible rows of the tables beside the chart."""
        return self.browser.run(
            "return document.querySelectorAll('details[data-case]:not([hidden]) tr[data-benchmark]:not([hidden])').length"
        )

    def choose(self, case):
        self.browser.run(
            "const box = document.getElementById('case'); box.value = arguments[0];"
            "box.dispatchEvent(new Event('input', {bubbles: true}))",
            case,
        )

    def click(self, name, value=None):
        chosen = f"input[name={name}]" + (f'[value="{value}"]' if value else "")
        self.browser.run("document.querySelector(arguments[0]).click()", chosen)

    def test_a_bar_for_each_benchmark_of_a_case(self):
        for case, benchmarks in (("user", 6), ("metrics", 3), ("integers/widths", 10)):
            self.choose(case)
            self.assertEqual((self.bars(), self.rows()), (benchmarks, benchmarks))

    def test_bars_are_as_long_as_benchmarks_are_fast(self):
        widths = self.browser.run(
            "return [...document.querySelectorAll('#ranking-drawing .bar')].map(bar => +bar.getAttribute('width')).slice(0, 4)"
        )
        self.assertEqual(widths, sorted(widths, reverse=True))
        rates = [math.log10(one["rows_per_second"]) for one in (GENERATED, UNSAFE, PREPARED, NAIVE)]
        self.assertAlmostEqual(
            (widths[0] - widths[1]) / (rates[0] - rates[1]), (widths[2] - widths[3]) / (rates[2] - rates[3]), 3
        )

    def test_filters(self):
        self.click("language", "Rust")
        self.assertEqual((self.bars(), self.rows()), (4, 4))
        self.click("language", "Rust")
        self.click("place", "memory")
        self.assertEqual((self.bars(), self.rows()), (5, 5))
        self.click("safe")
        self.assertEqual((self.bars(), self.rows()), (4, 4))
        self.browser.run("document.querySelector('[data-check=none]').click()")
        self.assertEqual((self.bars(), self.rows()), (0, 0))
        self.assertIn("No benchmark passes", self.browser.run("return document.getElementById('ranking-drawing').textContent"))
        self.browser.run("document.querySelector('[data-check=all]').click()")
        self.assertEqual(self.bars(), 4)

    def test_the_picture_of_all_methods(self):
        seen = "return document.querySelectorAll('#standing .wide .mark:not(.out)').length"
        self.assertEqual(self.browser.run(seen), 19)
        self.click("place", "memory")
        self.assertEqual(self.browser.run(seen), 18)
        self.click("safe")
        self.assertEqual(self.browser.run(seen), 17)
        self.browser.run("document.querySelector('[data-check=none]').click()")
        self.assertEqual(self.browser.run(seen), 0)
        boxes = "return ['.wide', '.narrow'].map(one => document.querySelector('#standing ' + one).offsetHeight > 0)"
        self.assertEqual(self.browser.run(boxes), [True, False])
        self.browser.size(360, 740, mobile=True)
        self.assertEqual(self.browser.run(boxes), [False, True])

    def test_a_mark_shows_its_code(self):
        self.browser.run(
            "document.querySelector(`.wide [data-mark=\"${CSS.escape(arguments[0])}\"]`).dispatchEvent(new MouseEvent('click'))",
            PREPARED["name"],
        )
        shown = "const one = document.getElementById('code'); return one.open ? one.textContent : ''"
        self.assertIn("bench/src/bin/user/", self.browser.run(shown))
        self.assertIn("fn main", self.browser.run(shown))
        self.assertIn("Rust: prepared, 50 rows a statement", self.browser.run(shown))
        self.browser.press("\ue00c")
        self.assertEqual(self.browser.run(shown), "")
        self.browser.run("document.querySelector('#ranking-drawing [tabindex=\"0\"]').focus()")
        self.browser.press("\ue007")
        self.assertIn("litepress: generate", self.browser.run(shown))

    def test_every_width_and_scheme(self):
        script = page_test.axe()
        for width, scheme in itertools.product(page_test.WIDTHS, page_test.SCHEMES):
            with self.subTest(width=width, scheme=scheme):
                self.browser.size(width, 900, mobile=width < 500)
                self.browser.colour_scheme(scheme)
                self.browser.open(self.path)
                wide, seen = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
                self.assertLessEqual(wide, seen, "the page scrolls sideways")
                if script:
                    self.assertEqual(page_test.violations(self.browser, script), [])

    def test_marks(self):
        def count(selector):
            return self.browser.run("return document.querySelectorAll('#ranking-drawing ' + arguments[0]).length", selector)

        self.assertEqual(count(".unsafe"), 1)
        self.assertEqual(count(".reference"), 1)
        self.assertEqual(count(".ceiling"), 4)
        self.assertEqual(count(".range"), 6)

    def test_curves(self):
        lines = "return [...document.querySelectorAll('.curves')].map(one => one.querySelectorAll('.drawing .line').length)"
        dots = "return [...document.querySelectorAll('.curves')].map(one => one.querySelectorAll('.drawing .dot').length)"
        self.assertEqual(self.browser.run(lines), [2, 2])
        self.assertEqual(self.browser.run(dots), [10, 6])

    def test_hovering_tells_all_figures(self):
        self.browser.hover("#ranking-drawing [role=listitem]:nth-of-type(3) .bar")
        card = self.browser.run(
            "return document.getElementById('card').hidden ? '' : document.getElementById('card').innerText"
        )
        for word in (
            ODD,
            "2.50 M",
            "0.400 s for 1,000,000 rows",
            "0.380 s",
            "42.0 MB",
            "20.0 MB",
            "10.0 ms",
            "may corrupt",
            "No journal <at all>",
        ):
            self.assertIn(word, card)

    def test_by_keyboard(self):
        focused = "return document.activeElement.getAttribute('aria-label') ?? ''"
        self.browser.run("document.querySelector('#ranking-drawing [tabindex=\"0\"]').focus()")
        self.assertIn("litepress: generate, On disk. Rows a second: 50.0 M", self.browser.run(focused))
        self.browser.press("\ue015")
        self.assertIn(f"Rust: {ODD}", self.browser.run(focused))
        self.assertFalse(self.browser.run("return document.getElementById('card').hidden"))
        self.browser.press("\ue00c")
        self.assertTrue(self.browser.run("return document.getElementById('card').hidden"))
        self.browser.press("\ue010")
        self.assertIn("loop alone", self.browser.run(focused))
        self.assertEqual(self.browser.run("return document.querySelectorAll('#ranking-drawing [tabindex=\"0\"]').length"), 1)
        self.browser.run("document.querySelector('input[name=safe]').focus()")
        self.browser.press(" ")
        self.assertEqual(self.bars(), 4)
        self.browser.run("document.getElementById('case').focus()")
        self.browser.keys("M")
        self.assertEqual(self.bars(), 3)

    def test_a_phone_scrolls_only_downwards(self):
        self.browser.size(360, 740, mobile=True)
        self.browser.open(self.path)
        self.browser.run("document.querySelectorAll('details').forEach(one => { one.open = true })")
        self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)
        wide = "return [...document.querySelectorAll('.scroll')].some(one => one.scrollWidth > one.clientWidth)"
        self.assertTrue(self.browser.run(wide))
        ends = "return [...document.querySelectorAll('#ranking-drawing text')].map(one => one.getBoundingClientRect().right)"
        self.assertLessEqual(max(self.browser.run(ends)), 360)

    def test_light_and_dark_can_be_read(self):
        grounds = {}
        for scheme in ("light", "dark"):
            self.browser.colour_scheme(scheme)
            grounds[scheme] = self.browser.run(f"return {COLOUR}(document.documentElement, 'backgroundColor')")
            for selector, least in TEXTS:
                colour = self.browser.run(f"return {COLOUR}(document.querySelector(arguments[0]), arguments[1])", *selector)
                self.assertGreaterEqual(contrast(colour, grounds[scheme]), least, (scheme, selector))
        self.assertGreater(luminance(grounds["light"]), 0.8)
        self.assertLess(luminance(grounds["dark"]), 0.05)


COLOUR = "((one, name) => getComputedStyle(one)[name].match(/[\\d.]+/g).slice(0, 3).map(Number))"
TEXTS = [
    (("body", "color"), 7), (("th", "color"), 4.5), (("nav a", "color"), 4.5), ((".hint", "color"), 4.5), ((".name", "color"), 4.5),
    (("#ranking-drawing text.axis", "fill"), 4.5), ((".ceiling", "stroke"), 3),
    (("#ranking-drawing .c0", "fill"), 3), *(((f".swatch.c{number}", "backgroundColor"), 3) for number in range(1, 6)),
]  # fmt: skip


def luminance(colour):
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    """Returns the contrast ratio of two colours, as WCAG defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    unittest.main()

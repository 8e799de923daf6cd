"""The pages of `--html` in a browser: at three widths, in both colour schemes, by pointer and keys."""

import contextlib
import itertools
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

import webdriver
from measure import ROOT, TARGET

LITEPRESS = TARGET / "litepress"
AXE = ROOT / "target" / "axe"
WIDTHS = (360, 800, 1400)
SCHEMES = ("light", "dark")


def axe():
    """Returns the script of axe-core, from the registry of npm, or None with a message."""
    script = AXE / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists() and shutil.which("npm"):
        AXE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", AXE, "axe-core@4"]
        with contextlib.suppress(subprocess.SubprocessError):
            subprocess.run(command, timeout=60, capture_output=True, check=False)
    if script.exists():
        return script.read_text(encoding="utf-8")
    print("skipped: npm does not give axe-core, so accessibility is not looked at")
    return None


def violations(browser, script):
    """Returns the rules of axe-core that the open page breaks, with the elements that do so."""
    browser.run(f"{script}; window.found = null; axe.run({{preload: false}}).then((result) => {{ window.found = result; }})")
    for _ in range(100):
        found = browser.run(
            "return window.found && window.found.violations.map((rule) => rule.id + ': ' + rule.nodes.map((node) => node.html).join(' '))"
        )
        if found is not None:
            return found
        time.sleep(0.05)
    return ["axe-core does not end"]


def database(path):
    """Makes a database with an index in random order, deleted rows, long texts and a foreign key."""
    numbers = random.Random(7)
    with contextlib.closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        made.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, owner INT REFERENCES owner(id), code TEXT, note TEXT)")
        made.execute("CREATE INDEX thing_code ON thing(code)")
        made.execute("CREATE INDEX thing_owner ON thing(owner)")
        made.executemany("INSERT INTO owner VALUES (?, ?)", ((number, f"owner {number}") for number in range(500)))
        for number in range(20_000):
            note = "long " * 3000 if number % 900 == 0 else ""
            made.execute("INSERT INTO thing VALUES (?, ?, ?, ?)", (number, number % 500, f"{numbers.getrandbits(64):016x}", note))
        made.execute("DELETE FROM thing WHERE id > 15000")


class Pages(unittest.TestCase):
    """What holds for every page. Each subclass makes its pages in `make`."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pages = cls.make(pathlib.Path(folder.name))
        cls.browser = cls.enterClassContext(webdriver.browser())

    def opened(self, width=1400, scheme="light", page=0):
        self.browser.size(width, 900, mobile=width < 500)
        self.browser.colour_scheme(scheme)
        self.browser.open(self.pages[page])
        for _ in range(100):
            if self.browser.run("return document.body.dataset.ready"):
                return
            time.sleep(0.05)
        self.fail(f"the page does not get ready: {self.browser.console()}")

    def text(self, name):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", name)

    def look_at_every_width_and_scheme(self):
        script = axe()
        for page, width, scheme in itertools.product(range(len(self.pages)), WIDTHS, SCHEMES):
            with self.subTest(page=page, width=width, scheme=scheme):
                self.opened(width, scheme, page)
                self.assertEqual(self.browser.console(), [])
                self.assertEqual(self.browser.run("return document.documentElement.dataset.scheme"), scheme)
                wide, seen = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
                self.assertLessEqual(wide, seen, "the page scrolls sideways")
                if script:
                    self.assertEqual(violations(self.browser, script), [])


@unittest.skipUnless(webdriver.found(), "chromium and chromium-driver are not installed")
@unittest.skipUnless(LITEPRESS.exists(), "the program is not built")
class DatabasePage(Pages):
    @classmethod
    def make(cls, folder):
        path = folder / "things.db"
        database(path)
        page = path.with_suffix(".html")
        subprocess.run([LITEPRESS, "inspect", path, "--html", page], check=True, capture_output=True)
        return [page]

    def test_every_width_and_scheme(self):
        self.look_at_every_width_and_scheme()

    def test_the_picture_shows_what_the_file_holds(self):
        self.opened()
        colours = """
            const map = document.getElementById("map"), context = map.getContext("2d"), seen = new Map();
            const pixels = context.getImageData(0, 0, map.width, map.height).data;
            for (let at = 0; at < pixels.length; at += 4) {
                const key = pixels.slice(at, at + 3).join();
                seen.set(key, (seen.get(key) || 0) + 1);
            }
            return [...seen].filter(([, number]) => number > map.width * map.height / 500).length"""
        choose = "const list = document.getElementById(arguments[0]); list.value = arguments[1]; list.dispatchEvent(new Event('change'))"
        # The table, its two indexes, the free pages, and the ground.
        by_tree = self.browser.run(colours)
        self.assertGreaterEqual(by_tree, 5)
        for colour in ("use", "order", "fill", "level", "tree"):
            self.browser.run(choose, "colour", colour)
            self.assertGreaterEqual(self.browser.run(colours), 3, colour)
        self.browser.run(choose, "order", "curve")
        self.assertGreaterEqual(self.browser.run(colours), 5)

    def test_keys_move_and_explain(self):
        self.opened()
        self.browser.run("document.getElementById('map').focus()")
        self.assertIn("Page 1; leaf; table sqlite_schema", self.text("at"))
        self.browser.press("\ue014")
        self.assertIn("Page 2; ", self.text("at"))
        self.browser.press("+")
        self.browser.press("\ue012")
        self.browser.press("\ue007")
        self.assertEqual(self.text("bytes-caption"), "Page 1")
        self.assertIn("SQLite format 3", self.text("bytes-text"))

    def test_a_page_is_found_by_its_number(self):
        self.opened()
        show = "document.getElementById('page').value = arguments[0]; document.getElementById('go').requestSubmit()"
        self.browser.run(show, "3")
        self.assertIn("Page 3; ", self.text("at"))
        self.assertIn("page 3, b-tree page", self.text("bytes-text"))
        self.browser.run(show, "1000000")
        self.assertIn("The file has pages 1 to", self.text("at"))

    def test_the_pointer_tells_what_is_below(self):
        self.opened()
        self.browser.hover("#map")
        self.assertRegex(self.text("hover"), r"^Page [\d,]+\n")

    def test_advice_and_tables(self):
        self.opened()
        self.assertRegex(self.text("advice"), r"jumps: thing_code \(\d+ %\)")
        self.assertIn("of the pages are free", self.text("advice"))
        rows = self.browser.run("return [...document.querySelectorAll('#trees tbody th')].map((cell) => cell.textContent)")
        self.assertEqual(sorted(rows), ["index thing_code", "index thing_owner", "table owner", "table sqlite_schema", "table thing"])
        self.assertEqual(self.browser.run("return document.querySelectorAll('#schema path').length"), 1)
        self.assertGreaterEqual(self.browser.run("return document.querySelectorAll('#treemap g').length"), 5)


@unittest.skipUnless(webdriver.found(), "chromium and chromium-driver are not installed")
@unittest.skipUnless(LITEPRESS.exists(), "the program is not built")
class ValuesPages(Pages):
    """The page of a profile, and that of a comparison."""

    @classmethod
    def make(cls, folder):
        paths = [folder / "things.db", folder / "others.db"]
        for path in paths:
            database(path)
        with contextlib.closing(sqlite3.connect(paths[1])) as other, other:
            other.execute("UPDATE thing SET code = substr(code, 1, 4)")
        pages = [folder / "profile.html", folder / "comparison.html"]
        for page, command in zip(pages, (["profile", paths[0]], ["compare", *paths]), strict=True):
            subprocess.run([LITEPRESS, *command, "--html", page], check=True, capture_output=True)
        return pages

    def rows(self, name):
        script = "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map((row) => [...row.cells].map((cell) => cell.textContent))"
        return self.browser.run(script, name)

    def test_every_width_and_scheme(self):
        self.look_at_every_width_and_scheme()

    def test_histograms_and_relations(self):
        self.opened()
        self.assertEqual(self.rows("relations"), [["thing.owner", "owner.id", "15,001", "0.0 %"]])
        self.assertEqual(self.browser.run("return document.querySelectorAll('.column').length"), 6)
        bars = "return [...document.querySelectorAll('.column')].map((column) => column.querySelectorAll('.bar').length)"
        self.assertTrue(all(number > 0 for number in self.browser.run(bars)), self.browser.run(bars))
        owners = "return document.querySelectorAll('.column')[3].textContent"
        self.assertIn("500 different; 0 to 499; refers to owner.id", self.browser.run(owners))
        self.assertTrue(self.browser.run("return document.getElementById('farthest-section').hidden"))

    def test_columns_are_found_by_name(self):
        self.opened()
        wanted = "const input = document.getElementById('wanted'); input.value = arguments[0]; input.dispatchEvent(new Event('input'))"
        self.browser.run(wanted, "OWNER.n")
        self.assertEqual(self.text("found"), "1 of 6 columns")
        shown = "return [...document.querySelectorAll('.column')].filter((column) => column.offsetParent).map((column) => column.querySelector('h3').textContent)"
        self.assertEqual(self.browser.run(shown), ["name TEXT"])
        self.browser.run(wanted, "")
        self.assertEqual(len(self.browser.run(shown)), 6)

    def test_the_farthest_column_comes_first(self):
        self.opened(page=1)
        first, second, *_ = self.rows("farthest")
        self.assertEqual(first, ["thing.code", "1.000", "Lengths"])
        self.assertLess(float(second[1]), 0.05)
        self.browser.run("document.querySelector('#farthest a').click()")
        target = "const found = document.querySelector('.column:target'); return [found.querySelector('h3').textContent, found.querySelectorAll('.bar').length % 2]"
        self.assertEqual(self.browser.run(target), ["code TEXT", 0])
        sides = "return [...document.querySelectorAll('#sides span')].map((side) => side.textContent)"
        self.assertEqual(self.browser.run(sides), ["things.db", "others.db"])


if __name__ == "__main__":
    unittest.main()

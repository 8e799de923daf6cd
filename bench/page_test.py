"""The page that `litepress inspect --html` writes, in a browser: at three widths, in both colour schemes, by pointer and keys."""

import contextlib
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


@unittest.skipUnless(webdriver.found(), "chromium and chromium-driver are not installed")
@unittest.skipUnless(LITEPRESS.exists(), "the program is not built")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "things.db"
        database(path)
        cls.page = path.with_suffix(".html")
        subprocess.run([LITEPRESS, "inspect", path, "--html", cls.page], check=True, capture_output=True)
        cls.browser = cls.enterClassContext(webdriver.browser())

    def opened(self, width=1400, scheme="light"):
        self.browser.size(width, 900, mobile=width < 500)
        self.browser.colour_scheme(scheme)
        self.browser.open(self.page)
        for _ in range(100):
            if self.browser.run("return document.body.dataset.ready"):
                return
            time.sleep(0.05)
        self.fail(f"the page does not get ready: {self.browser.console()}")

    def text(self, name):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", name)

    def test_every_width_and_scheme(self):
        script = axe()
        for width in WIDTHS:
            for scheme in SCHEMES:
                with self.subTest(width=width, scheme=scheme):
                    self.opened(width, scheme)
                    self.assertEqual(self.browser.console(), [])
                    self.assertEqual(self.browser.run("return document.documentElement.dataset.scheme"), scheme)
                    wide, seen = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
                    self.assertLessEqual(wide, seen, "the page scrolls sideways")
                    if script:
                        self.assertEqual(self.violations(script), [])

    def violations(self, script):
        self.browser.run(f"{script}; window.found = null; axe.run().then((result) => {{ window.found = result; }})")
        for _ in range(100):
            found = self.browser.run(
                "return window.found && window.found.violations.map((rule) => rule.id + ': ' + rule.nodes.map((node) => node.html).join(' '))"
            )
            if found is not None:
                return found
            time.sleep(0.05)
        return ["axe-core does not end"]

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


if __name__ == "__main__":
    unittest.main()

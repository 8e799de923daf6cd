"""The docs site in a browser, opened as files: at three widths, in both colour schemes, with its search. `make docs` builds it.

The checker of links has tests of its own here, because a checker that finds nothing is of no use.
"""

import importlib.util
import itertools
import pathlib
import tempfile
import time
import unittest

import page_test
import webdriver
from measure import ROOT

SITE = ROOT / "target" / "docs"
PAGES = ("index.html", "tutorials/test-database.html", "reference/commands.html", "explanation/row-to-page.html", "tasks.html")


def links():
    """Imports the checker of links, which is a script."""
    spec = importlib.util.spec_from_file_location("links", ROOT / "docs" / "site" / "links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Links(unittest.TestCase):
    def faults(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                (pathlib.Path(folder) / f"{name}.html").write_text(text, encoding="utf-8")
            return list(links().faults(pathlib.Path(folder)))

    def test_links_that_lead_nowhere(self):
        good = '<h1 id="top-of-it">a</h1><a href="other.html#here">b</a><a href="https://example.org/gone">c</a>'
        self.assertEqual(self.faults(page=good, other='<p id="here"></p><a href="#here">a</a>'), [])
        self.assertEqual(self.faults(page='<a href="gone.html">a</a>'), ["page.html: gone.html: there is no such file"])
        self.assertEqual(self.faults(page='<a href="#gone">a</a>'), ["page.html: #gone: the page has no such anchor"])
        self.assertEqual(self.faults(page='<img src="gone.png">'), ["page.html: gone.png: there is no such file"])

    def test_pages_that_need_a_network(self):
        """The theme loaded a script from a host on the network, and the search did not work without it."""
        for text in ('<script src="https://example.org/a.js"></script>', '<link rel="stylesheet" href="//example.org/a.css">'):
            self.assertTrue(any(fault.startswith("page.html: loads ") for fault in self.faults(page=text)), text)


@unittest.skipUnless(webdriver.found(), "chromium and chromium-driver are not installed")
@unittest.skipUnless((SITE / "index.html").exists(), "the docs site is not built: make docs")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(webdriver.browser())

    def opened(self, page, width=1400, scheme="light"):
        self.browser.size(width, 900, mobile=width < 500)
        self.browser.colour_scheme(scheme)
        self.browser.open(SITE / page)
        # The theme remembers the scheme of the first page. A reader who comes anew has none.
        self.browser.run("localStorage.clear()")
        self.browser.open(SITE / page)
        for _ in range(100):
            if self.browser.run("return document.readyState === 'complete'"):
                return
            time.sleep(0.05)

    def test_every_width_and_scheme(self):
        script = page_test.axe()
        for page, width, scheme in itertools.product(PAGES, page_test.WIDTHS, page_test.SCHEMES):
            with self.subTest(page=page, width=width, scheme=scheme):
                self.opened(page, width, scheme)
                self.assertEqual(self.browser.console(), [])
                dark = self.browser.run("return document.body.dataset.mdColorScheme") == "slate"
                self.assertEqual(dark, scheme == "dark")
                wide, seen = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
                self.assertLessEqual(wide, seen, "the page scrolls sideways")
                broken = "return [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
                self.assertEqual(self.browser.run(broken), [])
                if script:
                    self.assertEqual(page_test.violations(self.browser, script), [])

    def test_the_search_needs_no_server(self):
        self.opened("index.html")
        self.browser.run("document.querySelector('.md-search__input').focus()")
        self.browser.keys("rejects")
        found = "return [...document.querySelectorAll('.md-search-result__link')].map(one => one.getAttribute('href'))"
        for _ in range(100):
            links_found = self.browser.run(found)
            if links_found:
                break
            time.sleep(0.1)
        self.assertTrue(any("reference/commands.html" in link for link in links_found), links_found)

    def test_a_picture_is_as_wide_as_its_page(self):
        self.opened("explanation/row-to-page.html", 360)
        widths = self.browser.run("return [...document.querySelectorAll('article img')].map(one => one.getBoundingClientRect().width)")
        self.assertGreaterEqual(len(widths), 5)
        self.assertTrue(all(200 < width <= 360 for width in widths), widths)


if __name__ == "__main__":
    unittest.main()

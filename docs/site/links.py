#!/usr/bin/env python3
"""Checks every link of a folder of HTML pages: the file is there, the anchor is there, and nothing is loaded from a network.

    docs/site/links.py target/docs
"""

import re
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

# An element with one of these attributes makes the browser load something.
LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("object", "data")}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = set(), set(), {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif (tag, name) in LOADED and value and ("rel", "canonical") not in attributes:
                self.loaded.add(value)
            elif name == "href" and tag == "a" and value is not None:
                self.links.add(value)


def faults(folder):
    """Yields a sentence for each link that leads nowhere, and for each address that a page loads."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(folder)
        for address in sorted(page.loaded):
            if re.match(r"(https?:)?//", address):
                yield f"{here}: loads {address}"
        for link in sorted(page.links | page.loaded):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            # The page of errors is served at any depth and has absolute links.
            if here.name == "404.html":
                continue
            name = urllib.parse.unquote(parts.path)
            target = (path.parent / name).resolve() if name else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{here}: {link}: there is no such file"
            elif parts.fragment and target.suffix == ".html":
                anchors = pages[folder / target.relative_to(folder.resolve())].anchors
                if urllib.parse.unquote(parts.fragment) not in anchors:
                    yield f"{here}: {link}: the page has no such anchor"
    for path in sorted(folder.rglob("*.css")):
        for address in re.findall(r"(?:url\(|@import\s)[\"']?((?:https?:)?//[^)\"']*)", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(folder)}: loads {address}"


def main():
    folder = Path(sys.argv[1])
    found = list(faults(folder))
    pages = len(list(folder.rglob("*.html")))
    print("\n".join(found) or f"{folder}: {pages} pages, every link leads somewhere, nothing is loaded from a network")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())

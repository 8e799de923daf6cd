#!/usr/bin/env python3
"""Draws the pictures of row-to-page.md as SVG files beside it: `docs/explanation/drawings.py`."""

import itertools
from html import escape
from pathlib import Path

STYLE = """
svg { background: #fcfbf8; font: 15px ui-sans-serif, system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
text { fill: #1c1d1f; } .quiet { fill: #5b5d62; font-size: 13px; } .code { font-family: ui-monospace, "Liberation Mono", monospace; }
.box { fill: #f3f1eb; stroke: #8b867a; } .a { fill: #cfe0f2; stroke: #2b66a8; } .b { fill: #f6d9c8; stroke: #c2410c; }
.c { fill: #d9e8cb; stroke: #50812b; } .line { stroke: #5b5d62; stroke-width: 1.5; fill: none; } marker path { fill: #5b5d62; }
@media (prefers-color-scheme: dark) {
  svg { background: #15171a; } text { fill: #e7e4dd; } .quiet { fill: #a3a5aa; }
  .box { fill: #1e2125; stroke: #7d8087; } .a { fill: #1d3a57; stroke: #6ea8e6; } .b { fill: #5a2a12; stroke: #f58a4b; }
  .c { fill: #2c431c; stroke: #8fbf5f; } .line { stroke: #a3a5aa; } marker path { fill: #a3a5aa; }
}
"""
ARROW = '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'


class Drawing:
    def __init__(self, width, height, title):
        self.head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{escape(title)}">'
        self.parts = []

    def text(self, x, y, text, style="", anchor="middle"):
        self.parts.append(f'<text x="{x}" y="{y}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x, y, width, height, text="", style="box", below="", font=""):
        """Draws a box with a text in it, and a smaller one below the text."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" class="{style}"/>')
        middle = y + height / 2 + (5 if not below else -3)
        self.text(x + width / 2, middle, text, font)
        if below:
            self.text(x + width / 2, middle + 18, below, "quiet")

    def line(self, *points, arrow=True):
        path = "M" + "L".join(f"{x} {y}" for x, y in points)
        end = ' marker-end="url(#arrow)"' if arrow else ""
        self.parts.append(f'<path d="{path}" class="line"{end}/>')

    def save(self, name):
        text = "\n".join([self.head, f"<style>{STYLE}</style><defs>{ARROW}</defs>", *self.parts, "</svg>"])
        Path(__file__).with_name(name).write_text(text + "\n", encoding="utf-8")


def flow():
    one = Drawing(900, 300, "Parts of a source become leaf pages on all cores, are placed in order, written once, and the file gets its name")
    one.box(10, 110, 130, 80, "source", "a", "numbered parts")
    for worker in range(3):
        y = 20 + worker * 95
        one.box(210, y, 220, 70, f"worker {worker + 1}", "c", "rows to records to leaf pages")
        one.line((140, 150), (175, 150), (175, y + 35), (208, y + 35))
        one.line((430, y + 35), (465, y + 35), (465, 150), (498, 150))
    one.box(500, 105, 150, 90, "assembler", "b", "numbers, parents")
    one.box(710, 30, 180, 70, "temporary file", "box", "each page once")
    one.box(710, 200, 180, 70, "app.db", "b", "whole or absent")
    one.line((650, 150), (680, 150), (680, 65), (708, 65))
    one.line((800, 100), (800, 198))
    one.text(792, 155, "sync, rename", "quiet", "end")
    one.save("flow.svg")


def record():
    one = Drawing(900, 330, "A row of user becomes a cell of 14 bytes")
    one.text(10, 30, "The row", "quiet", "start")
    for place, (name, value) in enumerate([("id", "1"), ("area", "'105004'"), ("age", "41"), ("active", "1")]):
        one.box(110 + place * 130, 10, 120, 55, value, "a", name, "code")
    cells = [
        ("0c", "box"), ("01", "a"), ("05", "box"), ("00", "c"), ("19", "c"), ("01", "c"), ("09", "c"),
        ("31", "b"), ("30", "b"), ("35", "b"), ("30", "b"), ("30", "b"), ("34", "b"), ("29", "b"),
    ]  # fmt: skip
    one.text(10, 155, "The cell", "quiet", "start")
    for place, (byte, style) in enumerate(cells):
        one.box(110 + place * 55, 130, 50, 40, byte, style, font="code")
    # The words of a byte on the left stand below those on the right, so that no line meets a text.
    for place, width, y, words in [
        (0, 1, 295, "12 bytes of payload"), (1, 1, 265, "rowid 1: the id"), (2, 1, 235, "a header of 5 bytes"),
        (3, 4, 205, "a type for each column"), (7, 6, 205, "'105004'"), (13, 1, 205, "41"),
    ]:  # fmt: skip
        left, middle = 110 + place * 55, 110 + place * 55 + (width * 55 - 5) / 2
        one.line((left, 176), (left + width * 55 - 5, 176), arrow=False)
        one.line((middle, 176), (middle, y - 14), arrow=False)
        anchor = "middle" if place >= 7 else "start"
        one.text(middle - (0 if anchor == "middle" else 6), y, words, "", anchor)
    one.text(10, 322, "Types: 00 is NULL (the id is the rowid), 19 a text of 6 bytes, 01 an integer of 1 byte, 09 the integer 1, which needs no byte more.", "quiet", "start")
    one.save("record.svg")


def page():
    one = Drawing(900, 190, "A leaf page: header, pointers to cells, a gap, and cells from the end backwards")
    for x, width, text, style, below in [
        (10, 110, "header", "box", "8 bytes"), (120, 170, "cell pointers", "a", "2 bytes each"), (290, 220, "gap", "box", "becomes smaller"),
        (510, 95, "cell 3", "c", ""), (605, 95, "cell 2", "c", ""), (700, 95, "cell 1", "c", ""), (795, 95, "cell 0", "c", ""),
    ]:  # fmt: skip
        one.box(x, 50, width, 70, text, style, below)
    one.line((120, 30), (285, 30))
    one.text(200, 22, "pointers grow", "quiet")
    one.line((890, 30), (515, 30))
    one.text(700, 22, "cells grow", "quiet")
    one.text(10, 150, "byte 0", "quiet", "start")
    one.text(890, 150, "byte 4095", "quiet", "end")
    one.text(450, 175, "The page is full when the next pointer and the next cell no longer fit in the gap.", "quiet")
    one.save("page.svg")


def tree():
    one = Drawing(900, 330, "Leaves are written from left to right, and their parents above them")
    one.box(390, 15, 120, 50, "root", "b", "page 13")
    parents = [(190, "page 6"), (590, "page 12")]
    for x, number in parents:
        one.box(x, 120, 120, 50, "interior", "a", number)
        one.line((450, 65), (x + 60, 118))
    leaves = [2, 3, 4, 5, 7, 8, 9, 10, 11]
    for place, number in enumerate(leaves):
        x = 15 + place * 98
        one.box(x, 225, 86, 50, "leaf", "c", f"page {number}")
        parent = parents[0 if place < 4 else 1][0]
        one.line((parent + 60, 170), (x + 43, 223))
    for left, right, words in [(0, 2, "part 0"), (3, 5, "part 1"), (6, 8, "part 2")]:
        one.line((15 + left * 98, 290), (101 + right * 98, 290), arrow=False)
        one.text((15 + left * 98 + 101 + right * 98) / 2, 312, words, "quiet")
    one.save("tree.svg")


def publish():
    one = Drawing(900, 190, "A reader finds the old file until the rename, and the new one after it")
    steps = [("write pages", "box"), ("sync the file", "box"), ("rename", "b"), ("sync the folder", "box")]
    for place, (text, style) in enumerate(steps):
        one.box(110 + place * 200, 20, 170, 50, text, style)
    for place in itertools.pairwise(range(4)):
        one.line((280 + place[0] * 200, 45), (308 + place[0] * 200, 45))
    one.text(10, 125, "app.db is", "quiet", "start")
    one.box(110, 100, 485, 40, "the old file, or none", "a")
    one.box(600, 100, 280, 40, "the new file", "c")
    one.line((597, 72), (597, 98))
    one.text(450, 172, "A crash at any moment leaves one of the two. A part of a file never has the name.", "quiet")
    one.save("publish.svg")


if __name__ == "__main__":
    for draw in (flow, record, page, tree, publish):
        draw()

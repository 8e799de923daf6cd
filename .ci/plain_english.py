#!/usr/bin/env python3
"""Fails if comments are further from plain English than the limit of their folder allows.

How it counts: every non-blank comment line of Rust (`//`, `///`, `//!`) and Python (`#`, docstrings) is one line. A line is
a finding if one of its sentences opens with a relative clause instead of a verb or a noun (OPENINGS), or if it contains
a phrase of PHRASES. A line counts once. The figure of a folder is findings divided by lines, in percent. Comments behind
code on the same line do not count, nor do strings that are data.

Limits only go down: after you rewrite comments, lower the limit of their folder to the new figure. The goal is 1 %.

    .ci/plain_english.py                  check all folders
    .ci/plain_english.py --list tests     print the findings of one folder
"""

import argparse
import ast
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent

LIMITS = {
    ".ci": 1,
    "bench": 1,
    "crates/adbc": 0,
    "crates/c": 0,
    "crates/check": 1,
    "crates/cli": 1.0,
    "crates/crashlab": 1,
    "crates/engine": 1,
    "crates/extension": 0,
    "crates/format": 1,
    "crates/fts5": 0,
    "crates/gen": 1,
    "crates/geo": 1,
    "crates/html": 0,
    "crates/litepress": 1,
    "crates/load": 1,
    "crates/merge": 1,
    "crates/profile": 1,
    "crates/rows": 1,
    "crates/rtree": 1,
    "crates/scan": 1,
    "crates/tpch": 1,
    "dist": 1,
    "docs": 1,
    "fuzz": 1,
    "node": 1,
    "python": 1,
    "tests": 1,
}
"""Percent of comment lines that may be findings, by folder. A folder with sources that is missing here fails the check."""
GENERATED = {"target", "node_modules"}
"""Names of folders, at any depth, whose files are not checked."""

OPENINGS = (
    "What", "Whatever", "Which", "Those", "That of", "That which", "Where", "Wherever", "Whoever", "Of", "As many as", "So many",
    "How many", "How much", "The same",
)  # fmt: skip
PHRASES = ("so many", "nobody", "whoever", "at hand", "as it lies", "how manieth")

OPENS = re.compile(rf"(?:^|[.:;!?]\s+)(?:{'|'.join(OPENINGS)})\b")
CONTAINS = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.IGNORECASE)
RUST = re.compile(r"\s*//[/!]?(?P<text>.*)")
BULLET = re.compile(r"^(?:[-*]|\d+\.)\s+")


def rust_comments(text):
    """Yields line number and text of each comment line."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := RUST.fullmatch(line):
            yield number, found["text"]


def python_comments(text):
    """Yields line number and text of each line of a comment or a docstring."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            yield token.start[0], token.string.lstrip("#!")
    for node in ast.walk(ast.parse(text)):
        # A docstring, or a string below a field that documents it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for offset, line in enumerate(node.value.value.splitlines()):
                yield node.lineno + offset, line


COMMENTS = {".rs": rust_comments, ".py": python_comments, ".pyi": python_comments}


def is_finding(text):
    text = BULLET.sub("", text.strip())
    return bool(OPENS.search(text) or CONTAINS.search(text))


def count(suffix, text):
    """Returns the number of comment lines, and the findings as pairs of line number and text."""
    lines = [(number, line.strip()) for number, line in COMMENTS[suffix](text) if line.strip()]
    return len(lines), [(number, line) for number, line in sorted(lines) if is_finding(line)]


def sources(folder):
    for path in sorted(folder.rglob("*")):
        if path.suffix in COMMENTS and not GENERATED & set(path.relative_to(ROOT).parts):
            yield path


def unlisted():
    """Returns the folders that have sources but no limit: each crate, and each folder beside `crates`.

    Hidden folders belong to tools; `.ci` is in LIMITS.
    """
    beside = [path for path in ROOT.glob("[!.]*") if path.name != "crates" and path.name not in GENERATED]
    names = {path: path.relative_to(ROOT).as_posix() for path in [*beside, *ROOT.glob("crates/*")] if path.is_dir()}
    return sorted(name for path, name in names.items() if name not in LIMITS and any(sources(path)))


def count_folder(folder):
    """Returns the number of comment lines of a folder, and its findings as lines to print."""
    lines, findings = 0, []
    for path in sources(ROOT / folder):
        here, found = count(path.suffix, path.read_text(encoding="utf-8"))
        lines += here
        findings += [f"{path.relative_to(ROOT)}:{number}: {text}" for number, text in found]
    return lines, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="FOLDER", choices=LIMITS, help="print the findings of a folder")
    options = parser.parse_args()
    if options.list:
        print("\n".join(count_folder(options.list)[1]))
        return 0
    too_many = []
    print(f"{'comments':16}{'lines':>8}{'findings':>10}{'percent':>9}{'limit':>8}")
    for folder, limit in LIMITS.items():
        lines, findings = count_folder(folder)
        percent = 100 * len(findings) / max(lines, 1)
        print(f"{folder:16}{lines:8}{len(findings):10}{percent:9.2f}{limit:8.1f}")
        if percent > limit:
            too_many.append(folder)
    for folder in too_many:
        print(f"{folder}: too many comments that are not plain English; {sys.argv[0]} --list {folder} prints them", file=sys.stderr)
    missing = unlisted()
    for folder in missing:
        print(f"{folder}: the folder has sources and no limit; add it to LIMITS in {sys.argv[0]}", file=sys.stderr)
    return 1 if too_many or missing else 0


if __name__ == "__main__":
    sys.exit(main())

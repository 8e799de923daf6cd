"""Measures the cost of a cell for each generator: writes docs/generators.md and adds a line to bench/results/cells.jsonl.

    python bench/cells.py            measure all, write both
    python bench/cells.py --dry-run  measure and print

A figure is the best of several short rounds on one core, for the example of the generator. The time of the encoder, which
turns cells into records, is not included.
"""

import argparse
import re
import subprocess

import measure

DOCUMENT = measure.ROOT / "docs" / "generators.md"
RESULTS = measure.ROOT / "bench" / "results" / "cells.jsonl"
# The part of the document behind this heading is written by hand.
GUIDE = "\n## Expressions and references\n"
ROW = re.compile(r"^\| `.*` \| .* \| `(?P<example>.*)` \| (?P<ns>[0-9.]+|-) \|$")


def markdown():
    """Returns the document, made from the catalogue and new measurements."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "litepress-gen", "--example", "cells", "--", "--markdown"]
    # Files in examples are relative to the crate.
    folder = measure.ROOT / "crates" / "gen"
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def times(text):
    """Returns nanoseconds by example."""
    rows = (ROW.match(line) for line in text.splitlines())
    return {row["example"].replace("\\|", "|"): float(row["ns"]) for row in rows if row and row["ns"] != "-"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    text = markdown()
    found = times(text)
    for example, nanoseconds in sorted(found.items(), key=lambda item: item[1]):
        print(f"{nanoseconds:8.1f}  {example}")
    if not options.dry_run:
        guide = DOCUMENT.read_text().partition(GUIDE)
        DOCUMENT.write_text(text + "".join(guide[1:]))
        measure.keep(RESULTS, {"nanoseconds_a_cell": found})


if __name__ == "__main__":
    main()

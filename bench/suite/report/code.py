"""Finds the programs of benchmarks, so that the page can show the code behind a bar."""

import pathlib

SUITE = pathlib.Path(__file__).resolve().parents[1]
BENCH = SUITE.parent
PROGRAMS = BENCH / "programs"
# Where programs of a toolchain stand: those that are named like the article, or else all.
FOLDERS = {
    "c": [PROGRAMS / "c"], "cpython": [PROGRAMS / "python"], "pypy": [PROGRAMS / "python"], "ruby": [PROGRAMS / "ruby"],
    "python-package": [PROGRAMS / "python"], "python-competitors": [PROGRAMS / "python"], "node": [PROGRAMS / "node"],
    "go-cgo": [PROGRAMS / "go" / "user", PROGRAMS / "go" / "cgo"], "go-pure": [PROGRAMS / "go" / "user", PROGRAMS / "go" / "pure"],
    "java": [PROGRAMS / "java"], "sqlx": [PROGRAMS / "sqlx"], "turso": [PROGRAMS / "turso"], "sqlite3": [PROGRAMS / "sql"],
    "rust": [BENCH / "src" / "bin"], "litepress": [SUITE / "articles"],
}  # fmt: skip
ENDINGS = {".c", ".py", ".rb", ".go", ".rs", ".java", ".mjs", ".sql"}


def sources(line):
    """Returns the paths of the programs of each benchmark by its name, and the text of each path."""
    articles = {case["name"]: case["article"] for case in line["cases"]}
    by_name = {one["name"]: _paths(articles.get(one["case"], ""), one["needs"]) for one in line["benchmarks"]}
    used = sorted({path for paths in by_name.values() for path in paths})
    return by_name, {path: (BENCH.parent / path).read_text(encoding="utf-8") for path in used}


def _paths(article, needs):
    # A program that is not litepress's own may need files that litepress makes: its own code says more.
    needs = [need for need in needs if need != "litepress"] or needs
    return [path for need in needs for folder in FOLDERS.get(need, ()) for path in _of(folder, article)]


def _of(folder, article):
    files = sorted(file for file in folder.rglob("*") if file.suffix in ENDINGS and "_test" not in file.stem)
    named = [file for file in files if article in (file.stem.split("_")[0], file.relative_to(folder).parts[0])]
    if folder.name == "bin":
        # Databases in memory, of any article, are made by one program.
        named = named or [folder / "press.rs"]
    return [file.relative_to(BENCH.parent).as_posix() for file in named or files]

#!/usr/bin/env python3
"""Measures full-text tables of FTS5, against SQLite at its best: one transaction, a large `hashsize`, then `optimize`.

The texts are the sources of crates, cut at blank lines; if they are too few, they come again. Every round runs all engines one
after another, and compares the index of litepress with that of SQLite, byte for byte, before its time counts. SQLite gets rows that
are in memory, and its time excludes syncs and the reading of the file; that of litepress is the whole run.

    bench/fts.py --bytes 200m --repeat 3
"""

import argparse
import contextlib
import csv
import itertools
import pathlib
import resource
import sqlite3
import sys
import time

from measure import ROOT, TARGET, keep, number, remove, repeat, report, run, scratch, spread

CRATES = pathlib.Path.home() / ".cargo" / "registry" / "src"
TOKENIZERS = ("unicode61", "porter")
DOCUMENT = 1000
"""Fewest characters of a document; it ends at the next blank line."""


def documents(corpus, size):
    """Yields documents of `size` bytes in all: pieces of the sources in the order of their paths, from the first again at the end."""
    left = size
    for path in itertools.cycle(sorted(corpus.rglob("*.rs"))):
        text = path.read_text(encoding="utf-8", errors="replace").replace("\0", "").replace("\r", "")
        start = 0
        while start < len(text):
            end = text.find("\n\n", start + DOCUMENT)
            document = text[start:] if end < 0 else text[start:end]
            start = len(text) if end < 0 else end + 2
            left -= len(document.encode())
            if left < 0:
                return
            yield document


def schema(tokenizer):
    return f"CREATE VIRTUAL TABLE docs USING fts5(body, tokenize='{tokenizer}')"


def by_sqlite(path, texts, tokenizer):
    """Inserts the texts with SQLite. Returns its times."""
    path.unlink(missing_ok=True)
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144")
        database.execute(schema(tokenizer))
        database.execute("INSERT INTO docs(docs, rank) VALUES ('hashsize', 1000000000)")
        database.execute("BEGIN")
        database.executemany("INSERT INTO docs(rowid, body) VALUES (?, ?)", enumerate(texts, 1))
        database.execute("COMMIT")
        database.execute("INSERT INTO docs(docs) VALUES ('optimize')")
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "cpu_seconds": cpu, "bytes": path.stat().st_size}


def by_litepress(path, source, sql, threads):
    """Loads the file. Returns its times."""
    command = [TARGET / "litepress", "load", path, source, "--table", "docs", "--schema", sql, "--threads", threads]
    result = run([*command, "--overwrite", "--progress", "none", "--json"])
    del result["output"]
    return result | {"bytes": path.stat().st_size}


def verify(ours, theirs, texts):
    """Compares the indexes, and has SQLite check the one that litepress made."""
    with contextlib.closing(sqlite3.connect(ours)) as database:
        database.execute("ATTACH ? AS other", (str(theirs),))
        # The structure has the number of changed settings in front.
        block = "CASE id WHEN 10 THEN substr(block, 5) ELSE block END"
        for columns, table in ((f"id, {block}", "docs_data"), ("*", "docs_idx"), ("*", "docs_docsize"), ("*", "docs_content")):
            for one, two in (("main", "other"), ("other", "main")):
                query = f"SELECT {columns} FROM {one}.{table} EXCEPT SELECT {columns} FROM {two}.{table}"
                if database.execute(query).fetchone():
                    raise SystemExit(f"{table} differs from SQLite's")
        database.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
        found = database.execute("SELECT count(*) FROM docs_docsize").fetchone()[0]
        if found != len(texts):
            raise SystemExit(f"{found} rows, not {len(texts)}")


def one_round(folder, source, texts):
    """Runs every engine once."""
    results = {}
    for tokenizer in TOKENIZERS:
        ours, theirs, sql = folder / "press.db", folder / "sqlite.db", folder / "schema.sql"
        sql.write_text(schema(tokenizer))
        results[f"sqlite, {tokenizer}"] = by_sqlite(theirs, texts, tokenizer)
        for threads in (1, 2):
            name = f"litepress, {tokenizer}, {threads} thread{'s' if threads > 1 else ''}"
            results[name] = by_litepress(ours, source, sql, threads)
            verify(ours, theirs, texts)
        remove(ours)
        remove(theirs)
    return results


def ratios(rounds, size):
    """Returns ratios within each round, so that drift of the machine cancels."""
    figures = {}
    for tokenizer in TOKENIZERS:
        for threads in ("1 thread", "2 threads"):
            ours = f"litepress, {tokenizer}, {threads}"
            times = [one[f"sqlite, {tokenizer}"]["seconds"] / one[ours]["seconds"] for one in rounds]
            figures[f"{tokenizer}, {threads}, times SQLite"] = spread(times)
            figures[f"{tokenizer}, {threads}, MB of text/s"] = spread([size / 1e6 / one[ours]["seconds"] for one in rounds])
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=number, default=number("20m"))
    parser.add_argument("--corpus", type=pathlib.Path, default=CRATES)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "fts.jsonl")
    options = parser.parse_args()
    texts = list(documents(options.corpus, options.bytes))
    size = sum(len(text.encode()) for text in texts)
    if not texts:
        raise SystemExit(f"{options.corpus}: no sources")
    with scratch(options.dir) as folder:
        source = folder / "docs.csv"
        with open(source, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["body"])
            writer.writerows([text] for text in texts)
        print(f"{len(texts):,} documents, {size:,} bytes, SQLite {sqlite3.sqlite_version}", file=sys.stderr)
        rounds = repeat(options.repeat, lambda: one_round(folder, source, texts))
        figures = ratios(rounds, size)
        report(rounds, figures)
        line = {"documents": len(texts), "bytes": size, "sqlite": sqlite3.sqlite_version}
        keep(options.results, line | {"figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes the seed corpora of the fuzz targets: `seeds/TARGET/`. They are committed; it needs pyarrow and pyogrio.

Most targets take one or two bytes in front of the file that choose options: see `fuzzing.rs` of each crate.
"""

import gzip
import pathlib
import random
import re
import sqlite3
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent
CSV = [
    b"a,b,c\n1,2,3\n",
    'a,b\r\n"x,""y""","two\nlines"\r\n\r\n3,\u00e9\U0001f600'.encode(),
    b'a;b\n"";\n;""\n#c\n1;2;3\n4\n',
    b'a\tb\n"q\\"q"\t\'x\'\n1"2\t"3"4\n',
]
JSON = [
    b'{"a":1,"b":"x"}\n{"a":-0.5e3,"id":12}\n',
    b'[{"a":"\\u00e9\\ud83d\\ude00"},\n {"b":[1,{"c":null}]}]',
    b'  \n{"a":true,"a":2}\r\n{"id":99999999999999999999}\n[1,2]\n',
]
DATABASES = [
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX i ON t(b);"
    "INSERT INTO t SELECT value, 'text ' || value, zeroblob(value * 9) FROM {numbers}",
    "PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE k(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID;"
    "CREATE TABLE g(a, b AS (a + 1)); INSERT INTO g VALUES(1.5), (x'ff'), (CAST(x'ff' AS TEXT));"
    "INSERT INTO k SELECT value, zeroblob(value * 20) FROM {numbers}; DELETE FROM k WHERE a % 3 = 0",
    "PRAGMA encoding = 'UTF-16be'; CREATE TABLE u(a TEXT COLLATE NOCASE UNIQUE, b REAL); INSERT INTO u SELECT 'x' || value, value / 4.0 "
    "FROM {numbers}",
    "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f SELECT 'some words ' || value FROM {numbers}",
]


def databases():
    numbers = "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 40) SELECT value FROM n)"
    for sql in DATABASES:
        connection = sqlite3.connect(":memory:")
        connection.executescript("PRAGMA page_size = 512;" + sql.format(numbers=numbers))
        yield connection.serialize()


def arrow_files():
    import pyarrow
    from pyarrow import ipc, parquet

    table = pyarrow.table({
        "i": range(20),
        "t": [f"text \u00e9 {row}" if row % 5 else None for row in range(20)],
        "d": pyarrow.array(["yes", "no"] * 10).dictionary_encode(),
        "f": [row / 3 for row in range(20)],
        "l": [list(range(row % 4)) for row in range(20)],
    })
    files, streams = [], []
    for codec in ("none", "snappy"):
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(table, sink, compression=codec, row_group_size=8, store_schema=False)
        files.append(sink.getvalue().to_pybytes())
    for codec in (None, "lz4", "zstd"):
        for writer in (ipc.new_file, ipc.new_stream):
            sink = pyarrow.BufferOutputStream()
            with writer(sink, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as out:
                out.write_table(table)
            streams.append(sink.getvalue().to_pybytes())
    return files, streams


def flatgeobuf():
    import numpy
    import pyogrio
    import tempfile

    point = bytes.fromhex("0101000000000000000000f03f0000000000000040")
    line = bytes.fromhex("01020000000200000000000000000000000000000000000000000000000000f03f000000000000f03f")
    for geometry, kind in ((point, "Point"), (line, "LineString")):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/made.fgb"
            geometries = numpy.array([geometry, geometry], dtype=object)
            fields = [numpy.array(["a name", None], dtype=object), numpy.array([7, -9], dtype="int16")]
            pyogrio.raw.write(path, geometries, fields, ["name", "number"], geometry_type=kind, crs="EPSG:4326")
            yield pathlib.Path(path).read_bytes()


def encoded():
    text = "name,price\n\u00e9t\u00e9,12.50\n\u65e5\u672c,\U0001f600\n" * 4
    utf16 = b"\xff\xfe" + text.encode("utf-16le")
    return [text.encode(), utf16, gzip.compress(utf16, mtime=0), gzip.compress(text.encode(), mtime=0) + gzip.compress(b"more", mtime=0)]


def records(*records):
    """Returns records of an .xlsb: kind and data, with lengths of seven bits a byte."""
    made = b""
    for kind, data in records:
        made += bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
        made += bytes([len(data)]) + data
    return made


def workbooks():
    """Yields workbooks behind the byte that says what they are."""
    import struct

    yield b"\0" + (ROOT / "crates/load/tests/data/cities.xls").read_bytes()
    cell = '<table:table-cell office:value-type="{}" {}>{}</table:table-cell>'
    row = "<table:table-row{}>{}</table:table-row>"
    rows = [
        row.format("", cell.format("string", "", "<text:p>a</text:p>") + cell.format("string", 'office:string-value="b"', "")),
        row.format(' table:number-rows-repeated="3"', cell.format("float", 'office:value="1.5" table:number-columns-repeated="2"', "")),
        row.format("", "<table:table-cell/>" + cell.format("date", 'office:date-value="2024-03-01T12:30:00"', "")),
        row.format("", cell.format("time", 'office:time-value="PT36H00M05.500S"', "") + cell.format("boolean", 'office:boolean-value="true"', "")),
    ]
    yield b"\1" + f'<a><table:table table:name="t">{"".join(rows)}</table:table></a>'.encode()
    strings = b"<sst><si><t>a</t></si><si><r><t>b</t></r><r><t> c</t></r></si></sst>"
    styles = (
        b'<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[h]:mm:ss"/></numFmts>'
        b'<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="164"/></cellXfs></styleSheet>'
    )
    cells = (
        b'<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c t="inlineStr"><is><t>x</t></is></c></row>'
        b'<row r="3"><c r="A3" s="1"><v>45352.5</v></c><c r="B3" s="2"><v>1.5</v></c><c r="C3" t="e"><v>#N/A</v></c><c t="b"><v>1</v></c></row>'
        b'</sheetData></worksheet>'
    )
    part = lambda data: struct.pack(">H", len(data)) + data
    yield b"\2" + part(strings) + part(styles) + cells
    wide = lambda text: struct.pack("<I", len(text)) + text.encode("utf-16le")
    book = records((0x83, b""), (0x8F, b""), (0x9C, struct.pack("<II", 0, 1) + wide("r1") + wide("s")), (0x90, b""), (0x84, b""))
    strings = records((0x9F, struct.pack("<II", 1, 1)), (0x13, b"\0" + wide("a")), (0xA0, b""))
    place = lambda column: struct.pack("<II", column, 0)
    cells = records(
        (0x81, b""), (0x94, struct.pack("<IIII", 0, 1, 0, 3)), (0x91, b""), (0x00, struct.pack("<I", 0) + bytes(13)),
        (0x07, place(0) + struct.pack("<I", 0)), (0x06, place(1) + wide("b")), (0x00, struct.pack("<I", 1) + bytes(13)),
        (0x05, place(0) + struct.pack("<d", 1.5)), (0x02, place(1) + struct.pack("<I", 0x0100)), (0x04, place(2) + b"\1"), (0x92, b""), (0x82, b""),
    )
    yield b"\3" + part(book) + part(strings) + cells


def recipes():
    schema = "CREATE TABLE t (\n  id INTEGER PRIMARY KEY, -- gen: sequence\n  area TEXT -- gen: digits(6)\n);\n"
    yield f"algorithm_version = 1\nschema = '''\n{schema}'''\n"
    yield (
        f"algorithm_version = 1\nseed = 7\nscale = 2.5\nschema = '''\n{schema}'''\n\n[tables.t]\nrows = 100\nseed = 9\nfixed = true\n\n"
        "[tables.t.columns]\narea = \"choice('x', 'y')\"\n"
    )


def annotations():
    """Yields the examples of all generators, behind the letter of a column."""
    catalogue = (ROOT / "docs" / "generators.md").read_text()
    examples = re.findall(r"`(?:-- gen: )?([a-z_0-9]+\([^`]*\))`", catalogue)
    for number, example in enumerate(sorted(set(examples))):
        yield "bacp"[number % 4] + example


def choices():
    """Yields choices of mutations for `check_mutated` and `profile`."""
    source = random.Random(42)
    for _ in range(32):
        yield bytes(source.randrange(256) for _ in range(source.randrange(4, 40)))


def main():
    parquet, ipc = arrow_files()
    corpora = {
        "csv_split": [bytes([choice, 3]) + file for choice, file in enumerate(CSV)],
        "json": [b"\0\3" + file for file in JSON],
        "parquet": [b"\0\3" + file for file in parquet],
        "arrow_ipc": [b"\0\3" + file for file in ipc],
        "flatgeobuf": [b"\0\3" + file for file in flatgeobuf()],
        "encoded": [bytes([choice, 3]) + file for choice, file in zip((7, 0, 0, 7), encoded())],
        "sqlite": [b"\0" + file for file in databases()],
        "workbook": list(workbooks()),
        "check": [b"\0" + file for file in databases()],
        "check_mutated": list(choices()),
        "profile": list(choices()),
        "recipe": [text.encode() for text in recipes()],
        "annotation": [text.encode() for text in annotations()],
        "extension": [b"delimiter=,", b"format=csv", b"columns=a,b", b"header=false"],
    }
    total = 0
    for target, seeds in corpora.items():
        folder = FOLDER / "seeds" / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number, seed in enumerate(seeds):
            (folder / f"{number:03}").write_bytes(seed)
            total += len(seed)
    print(f"{sum(map(len, corpora.values()))} seeds, {total:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()

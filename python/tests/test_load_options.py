"""Options of ``load``: each one on a small file, with the rows that it makes; ``plan`` takes the same options."""

from __future__ import annotations

import math
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import litepress
import pytest

Query = Callable[[Path, str], list[tuple[Any, ...]]]
Rows = list[tuple[Any, ...]]
INFINITY = math.inf

# Options, text of the file, names of the columns, rows.
CSV: list[tuple[dict[str, Any], str, list[str], Rows]] = [
    ({"skip": 1}, "a,b\nid,n\n1,2\n", ["id", "n"], [(1, 2)]),
    ({"header": False}, "id,n\nx,2\n", ["c1", "c2"], [("id", "n"), ("x", "2")]),
    ({"header": True}, "Ada,1.5\nBob,2.5\n", ["Ada", "1.5"], [("Bob", 2.5)]),
    ({"header": None}, "Ada,1.5\nBob,2.5\n", ["c1", "c2"], [("Ada", 1.5), ("Bob", 2.5)]),
    ({"trim": True}, "a,b\n x , 2 \n", ["a", "b"], [("x", 2)]),
    ({"trim": False}, "a,b\n x , 2 \n", ["a", "b"], [(" x ", 2)]),
    ({"skip_empty": True}, "a;b\n1;x\n;\n3;y\n", ["a", "b"], [(1, "x"), (3, "y")]),
    ({"skip_empty": False}, "a;b\n1;x\n;\n3;y\n", ["a", "b"], [(1, "x"), (None, ""), (3, "y")]),
    ({"ragged": "pad"}, "a,b\n1\n3,4\n", ["a", "b"], [(1, None), (3, 4)]),
    ({"ragged": "fit"}, "a,b\n1\n2,3,4\n5,6\n", ["a", "b"], [(1, None), (2, 3), (5, 6)]),
    ({"ragged": "reject"}, "a,b\n1\n2,3,4\n5,6\n", ["a", "b"], [(5, 6)]),
    ({"stray_quotes": "text"}, 'a,b\n"x"y,1\n"z",2\n', ["a", "b"], [('"x"y', 1), ("z", 2)]),
    ({"decimal": ","}, "a;b\n1,5;x\n2,25;y\n", ["a", "b"], [(1.5, "x"), (2.25, "y")]),
    ({"decimal": ",", "thousands": "."}, "a;b\n1.234,5;x\n7;y\n", ["a", "b"], [(1234.5, "x"), (7.0, "y")]),
    ({"currency": "€"}, "a,b\n€5,x\n7 €,y\n", ["a", "b"], [(5, "x"), (7, "y")]),
    ({"currency": ["€", "$"]}, "a,b\n€5,x\n$7,y\n", ["a", "b"], [(5, "x"), (7, "y")]),
    ({"true": "ja", "false": ["nein", "nie"]}, "a,b\nja,1\nnein,2\nnie,3\n", ["a", "b"], [(1, 1), (0, 2), (0, 3)]),
    ({"date_format": {"born": "%d.%m.%Y"}}, "born,n\n31.01.2024,1\n", ["born", "n"], [("2024-01-31", 1)]),
    (
        {"date_format": {"born": "%d.%m.%Y"}, "store_as": {"born": "unixepoch"}},
        "born,n\n02.01.1970,1\n",
        ["born", "n"],
        [(86_400, 1)],
    ),
    ({"limit": 2}, "a,b\n1,x\n2,y\n3,z\n", ["a", "b"], [(1, "x"), (2, "y")]),
    ({"limit": "1"}, "a,b\n1,x\n2,y\n", ["a", "b"], [(1, "x")]),
    ({"select": ["b", "a"]}, "a,b,c\n1,x,7\n", ["b", "a"], [("x", 1)]),
    ({"select": "t.c"}, "a,b,c\n1,x,7\n", ["c"], [(7,)]),
    ({"numbers": "exact"}, "a,b\n1e5,2\n.5,3\n", ["a", "b"], [("1e5", 2), (".5", 3)]),
    ({"numbers": "digits"}, "a,b\n1e5,2\n.5,3\n", ["a", "b"], [(1e5, 2), (0.5, 3)]),
    ({"numbers": {"a": "lenient"}}, f"a,b\n0.{'3' * 20},0.{'3' * 20}\n", ["a", "b"], [(1 / 3, f"0.{'3' * 20}")]),
    ({"missing": ["NA", "-999"]}, "a,b\n1.5,NA\nna,x\n-999,y\n", ["a", "b"], [(1.5, "NA"), (None, "x"), (None, "y")]),
    ({"infinity": "inf"}, "a,b\n1.5,x\nInf,y\n-INF,z\n", ["a", "b"], [(1.5, "x"), (INFINITY, "y"), (-INFINITY, "z")]),
]


@pytest.mark.parametrize(("options", "text", "names", "rows"), CSV, ids=[str(case[0]) for case in CSV])
def test_options_of_csv(
    db: Path, tmp_path: Path, query: Query, options: dict[str, Any], text: str, names: list[str], rows: Rows
) -> None:
    check(db, written(tmp_path / "t.csv", text), query, options, names, rows)


NUMBERS = '{"x": 1.5}\n{"x": NaN}\n{"x": Infinity}\n{"x": -Infinity}\n'
NESTED = '{"id": 1, "at": {"x": 1.5, "y": {"z": 2}}}\n'
ITEMS = '{"page": 1, "data": {"my.items": [{"id": 1}, {"id": 2}]}}'

JSON: list[tuple[dict[str, Any], str, list[str], Rows]] = [
    ({"json_path": 'data."my.items"'}, ITEMS, ["id"], [(1,), (2,)]),
    ({"flatten": True}, NESTED, ["id", "at_x", "at_y_z"], [(1, 1.5, 2)]),
    ({"flatten": False}, NESTED, ["id", "at"], [(1, '{"x": 1.5, "y": {"z": 2}}')]),
    ({"nan": "null"}, NUMBERS, ["x"], [(1.5,), (None,), (None,), (None,)]),
    ({"nan": "text"}, NUMBERS, ["x"], [(1.5,), ("NaN",), ("Infinity",), ("-Infinity",)]),
    ({"missing": "nan", "infinity": "infinity"}, NUMBERS, ["x"], [(1.5,), (None,), (INFINITY,), (-INFINITY,)]),
    ({"nan": "null", "infinity": "Infinity"}, NUMBERS, ["x"], [(1.5,), (None,), (INFINITY,), (-INFINITY,)]),
    ({"missing": ["-999", "NA"]}, '{"x":1,"y":"NA"}\n{"x":"na","y":"b"}\n{"x":-999}', ["x", "y"],
     [(1, "NA"), (None, "b"), (None, None)]),
    ({"select": "b", "limit": 1}, '[{"a": 1, "b": 2}, {"a": 3, "b": 4}]', ["b"], [(2,)]),
]


@pytest.mark.parametrize(("options", "text", "names", "rows"), JSON, ids=[str(case[0]) for case in JSON])
def test_options_of_json(
    db: Path, tmp_path: Path, query: Query, options: dict[str, Any], text: str, names: list[str], rows: Rows
) -> None:
    check(db, written(tmp_path / "t.json", text), query, options, names, rows)


def test_a_record_that_updates_a_row_has_all_keys(db: Path, tmp_path: Path, query: Query) -> None:
    file = written(tmp_path / "t.ndjson", '{"id": 1, "a": 5}\n{"id": 2}\n')
    litepress.write(db, {"t": [(1, 3), (2, 4)]}, schema="CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    arguments = {"if_exists": "append", "on_conflict": "update"}
    with pytest.raises(litepress.DataError) as raised:
        litepress.load(db, file, **arguments)
    assert 'lacks the key "a"' in str(raised.value) and "absent_as_null=True" in str(raised.value)
    assert query(db, "SELECT * FROM t") == [(1, 3), (2, 4)]
    litepress.load(db, file, absent_as_null=True, **arguments)
    assert query(db, "SELECT * FROM t") == [(1, 5), (2, None)]


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def check(db: Path, file: Path, query: Query, options: dict[str, Any], names: list[str], rows: Rows) -> None:
    """Checks the rows of a load, and that a plan has the same columns."""
    planned = litepress.plan(file, **options)
    summary = litepress.load(db, file, **options)
    assert [name for (name,) in query(db, "SELECT name FROM pragma_table_info('t')")] == names
    found = query(db, "SELECT * FROM t")
    assert found == rows
    assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in rows]
    columns = [(column["name"], column["type"]) for column in summary.details["columns"]]
    assert [(column["name"], column["type"]) for column in planned["tables"][0]["columns"]] == columns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n"x"y,1\n', 'stray_quotes="text"'),
        ("a,b\n1,2\n3\n", 'ragged="pad"'),
        ("a,b\n1,2\n3,4,5\n", 'ragged="fit"'),
        ('{"x": NaN}\n', 'nan="null"'),
    ],
)
def test_wrong_records_name_the_option(db: Path, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(litepress.DataError) as raised:
        litepress.load(db, written(tmp_path / "t.txt", text), format="json" if text.startswith("{") else "csv")
    assert message in str(raised.value)
    assert not db.exists()


def test_a_column_holds_the_name_of_the_file(db: Path, tmp_path: Path, query: Query) -> None:
    files = [written(tmp_path / name, f"n\n{n}\n") for n, name in enumerate(("a.csv", "b.csv"))]
    litepress.load(db, files, table="t", source_column="file")
    assert query(db, "SELECT * FROM t") == [(0, str(files[0])), (1, str(files[1]))]
    columns = litepress.plan(files, table="t", source_column="file")["tables"][0]["columns"]
    assert [(column["name"], column["type"]) for column in columns] == [("n", "INTEGER"), ("file", "TEXT")]


def test_sheets_are_chosen(db: Path, tmp_path: Path, query: Query) -> None:
    book = workbook(
        tmp_path / "book.xlsx",
        {
            "One": '<row><c t="str"><v>n</v></c></row><row><c><v>1.5</v></c></row><row><c t="str"><v>NA</v></c></row>',
            "Two": '<row><c t="str"><v>s</v></c></row><row><c t="str"><v>x</v></c></row>',
        },
    )
    litepress.load(db, book)
    assert query(db, "SELECT name FROM sqlite_schema") == [("One",), ("Two",)]
    for sheet in ("Two", ["Two"]):
        litepress.load(db, book, sheet=sheet, if_exists="overwrite")
        assert query(db, "SELECT name FROM sqlite_schema") == [("Two",)]
        assert query(db, "SELECT * FROM Two") == [("x",)]
        assert [table["name"] for table in litepress.plan(book, sheet=sheet)["tables"]] == ["Two"]
    # Words in columns of numbers count in sheets, too.
    litepress.load(db, book, sheet="One", table="t", missing="NA", if_exists="overwrite")
    assert query(db, "SELECT n, typeof(n) FROM t") == [(1.5, "real"), (None, "null")]
    with pytest.raises(litepress.Error, match="Three"):
        litepress.load(db, book, sheet="Three", if_exists="overwrite")


def workbook(path: Path, sheets: dict[str, str]) -> Path:
    """Writes a workbook of Excel with these sheets, given as XML of their rows."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    numbered = list(enumerate(sheets.items(), 1))
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, (name, _) in numbered)
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n, _ in numbered
    )
    with zipfile.ZipFile(path, "w") as archive:
        root = f'<Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{package}">{root}</Relationships>')
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}">{links}</Relationships>')
        for n, (_, rows) in numbered:
            sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
            archive.writestr(f"xl/worksheets/sheet{n}.xml", sheet)
    return path


def test_tables_are_replaced_and_others_kept(db: Path, tmp_path: Path, query: Query) -> None:
    """``missing`` made NULL of numbers in tables that were kept."""
    with sqlite3.connect(db) as connection:
        connection.executescript("CREATE TABLE kept (n INTEGER); INSERT INTO kept VALUES (-999); CREATE TABLE t (old);")
    connection.close()
    file = written(tmp_path / "t.csv", "n\n1\n-999\n")
    with pytest.raises(litepress.TargetExistsError):
        litepress.load(db, file)
    litepress.load(db, file, if_exists="replace", missing="-999", verify="full")
    assert query(db, "SELECT n FROM t") == [(1,), (None,)]
    assert query(db, "SELECT n FROM kept") == [(-999,)]


def test_forms_of_typed_columns(db: Path, tmp_path: Path, query: Query) -> None:
    pa = pytest.importorskip("pyarrow")
    import datetime

    import pyarrow.feather
    import pyarrow.parquet

    day = datetime.date(1970, 1, 3)
    columns = {"d": pa.array([day]), "b": pa.array([b"\x01\xff"]), "f": pa.array([2.0]), "u": pa.array([5], pa.uint64())}
    table = pa.table(columns)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "t.arrow")
    forms = {"d": "unixepoch", "b": "hex", "f": "integer", "t.u": "text"}
    for name in ("t.parquet", "t.arrow"):
        litepress.load(db, tmp_path / name, if_exists="overwrite")
        assert query(db, "SELECT * FROM t") == [("1970-01-03", b"\x01\xff", 2.0, 5)]
        litepress.load(db, tmp_path / name, store_as=forms, if_exists="overwrite")
        assert query(db, "SELECT * FROM t") == [(172_800, "01FF", 2, "5")]
        assert query(db, "SELECT group_concat(type) FROM pragma_table_info('t')") == [("INTEGER,TEXT,INTEGER,TEXT",)]


def test_wide_decimals_of_files_are_numbers_if_they_fit(db: Path, tmp_path: Path, query: Query) -> None:
    """Decimals of 38 digits, as polars and DuckDB write them, became texts: '10' sorted before '9'."""
    pa = pytest.importorskip("pyarrow")
    from decimal import Decimal

    import pyarrow.feather
    import pyarrow.parquet

    columns = {
        "whole": pa.array([Decimal(10), Decimal(9), None], pa.decimal128(38, 0)),
        "money": pa.array([Decimal("9.50"), Decimal("-10.25"), None], pa.decimal128(38, 2)),
        "long": pa.array([Decimal("1.5"), Decimal("12345678901234567890.5"), None], pa.decimal128(38, 1)),
        "wide": pa.array([Decimal(10), Decimal(9), None], pa.decimal256(76, 0)),
    }
    table = pa.table(columns)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    pyarrow.parquet.write_table(table, tmp_path / "b.parquet", write_statistics=False)
    pyarrow.feather.write_feather(table, tmp_path / "c.arrow")
    for name in ("a.parquet", "b.parquet", "c.arrow"):
        summary = litepress.load(db, tmp_path / name, table="t", if_exists="overwrite")
        types = [column["type"] for column in summary.details["columns"]]
        assert types == ["INTEGER", "REAL", "TEXT", "INTEGER"], name
        assert "by its values" in summary.details["columns"][0]["because"]
        assert query(db, "SELECT * FROM t") == [
            (10, 9.5, "1.5", 10),
            (9, -10.25, "12345678901234567890.5", 9),
            (None, None, None, None),
        ]
        assert query(db, "SELECT group_concat(typeof(whole) || typeof(money)) FROM t") == [
            ("integerreal,integerreal,nullnull",)
        ]
    # One file with more digits makes texts of all: no value is rounded.
    longer = pa.table({**columns, "money": pa.array([Decimal("12345678901234567890.25")] * 3, pa.decimal128(38, 2))})
    pyarrow.parquet.write_table(longer, tmp_path / "d.parquet")
    litepress.load(db, [tmp_path / "a.parquet", tmp_path / "d.parquet"], table="t", if_exists="overwrite")
    money = query(db, "SELECT DISTINCT money FROM t WHERE money IS NOT NULL")
    assert money == [("9.50",), ("-10.25",), ("12345678901234567890.25",)]
    litepress.load(db, tmp_path / "a.parquet", table="t", types={"money": "TEXT"}, if_exists="overwrite")
    assert query(db, "SELECT money FROM t LIMIT 1") == [("9.50",)]


def test_columns_of_one_name_get_numbers(db: Path, tmp_path: Path, query: Query) -> None:
    """Files with two columns of one name were refused, except CSV."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.Table.from_arrays([pa.array([1]), pa.array(["a"])], names=["x", "x"])
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    written(tmp_path / "t.csv", "x,x\n1,a\n")
    for name in ("t.parquet", "t.arrow", "t.csv"):
        summary = litepress.load(db, tmp_path / name, if_exists="overwrite")
        assert query(db, "SELECT x, x_2 FROM t") == [(1, "a")], name
        assert "x_2, because x is taken" in str(summary.details), name


def test_each_value_gets_a_database(tmp_path: Path, query: Query) -> None:
    csv, out = written(tmp_path / "orders.csv", "tenant,amount\nacme,5\nDE,7\nacme,9\n"), tmp_path / "out"
    summary = litepress.load(out, csv, split_by="tenant")
    assert (summary.rows, summary.details["split"]["databases"]) == (3, 2)
    assert sorted(file.name for file in out.iterdir()) == ["+d+e.db", "acme.db"]
    assert query(out / "acme.db", "SELECT amount FROM orders") == [(5,), (9,)]
    with pytest.raises(litepress.TargetExistsError, match="if_exists"):
        litepress.load(out, csv, split_by="tenant")
    summary = litepress.load(out, csv, split_by="amount", if_exists="overwrite")
    assert summary.details["split"]["largest_rows"] == 1
    with pytest.raises(litepress.Error, match="split_by"):
        litepress.load(out, csv, split_by="amount", if_exists="append")

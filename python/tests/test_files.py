"""``load``, ``generate``, ``plan``, ``profile``, ``check``, and the program ``litepress``."""

from __future__ import annotations

import csv
import math
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import litepress
import pytest

USERS = "id,area,age,active\n1,000123,5,0\n2,000124,10,1\n3,,15,1\n"
Query = Callable[[Path, str], list[tuple[Any, ...]]]


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return written(tmp_path / "user.csv", USERS)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def sql_of(query: Query, db: Path) -> str:
    return "\n".join(sql for (sql,) in query(db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"))


# ----------------------------------------------------------------------------------------------------------------- load


def test_a_file_becomes_a_table(db: Path, users: Path, query: Query) -> None:
    summary = litepress.load(db, users)
    assert query(db, "SELECT * FROM user") == [(1, "000123", 5, 0), (2, "000124", 10, 1), (3, "", 15, 1)]
    assert (summary.path, summary.rows, summary.tables) == (str(db), 3, {"user": 3})
    assert summary.bytes == db.stat().st_size == summary.pages * 4096
    assert [column["type"] for column in summary.details["columns"]] == ["INTEGER", "TEXT", "INTEGER", "INTEGER"]


def test_paths_are_texts_paths_and_patterns_of_them(tmp_path: Path, db: Path, query: Query) -> None:
    one, two = written(tmp_path / "a.csv", "x\n1\n"), written(tmp_path / "b.csv", "x\n2\n")
    several: list[Any] = [str(tmp_path / "*.csv"), [one, str(two)], (one, two), iter([one, two])]
    for files in several:
        litepress.load(str(db), files, table="t", if_exists="overwrite")
        assert query(db, "SELECT x FROM t") == [(1,), (2,)]


def test_options_of_tables(db: Path, users: Path, tmp_path: Path, query: Query) -> None:
    orders = written(tmp_path / "order.csv", "no,customer\n1,2\n2,2\n")
    litepress.load(
        db,
        [users, orders],
        primary_key={"user": "id", "order": ("no", "customer")},
        types={"area": "TEXT", "user": {"age": "REAL"}},
        not_null={"user": ["area", "age"]},
        indexes={"user": ["area", ("age", "active")]},
        unique={"order": ("customer", "no")},
        foreign_keys={"order.customer": "user.id"},
        null_value=[],
        strict=True,
    )
    assert sql_of(query, db).splitlines() == [
        "CREATE TABLE user (",
        "  id INTEGER PRIMARY KEY,",
        "  area TEXT NOT NULL,",
        "  age REAL NOT NULL,",
        "  active INTEGER",
        ") STRICT",
        'CREATE TABLE "order" (',
        '  "no" INTEGER,',
        "  customer INTEGER REFERENCES user (id),",
        '  PRIMARY KEY ("no", customer),',
        '  UNIQUE (customer, "no")',
        ") STRICT",
        "CREATE INDEX idx_user_area ON user (area)",
        "CREATE INDEX idx_user_age_active ON user (age, active)",
    ]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("id", [["id"]]),
        (("a", "b"), [["a", "b"]]),
        (["a", "b"], [["a", "b"]]),
        ({"t": "a,b"}, [["t.a,b"]]),
        ({"t": ("a", "b"), "u": "c"}, [["t.a", "t.b"], ["u.c"]]),
        (None, []),
    ],
)
def test_forms_of_a_primary_key(given: Any, wanted: list[list[str]]) -> None:
    from litepress._options import table_options

    assert table_options(primary_key=given)["primary_key"] == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("a", [["a"]]),
        (("a", "b"), [["a", "b"]]),
        (["a", "b"], [["a"], ["b"]]),
        (["a", ("b", "c"), ["d", "e"]], [["a"], ["b", "c"], ["d", "e"]]),
        ({"t": "a", "u": ["b", ("c", "d")]}, [["t.a"], ["u.b"], ["u.c", "u.d"]]),
        (None, []),
    ],
)
def test_forms_of_indexes(given: Any, wanted: list[list[str]]) -> None:
    from litepress._options import table_options

    assert table_options(indexes=given)["indexes"] == wanted
    assert table_options(unique=given)["unique"] == wanted
    assert table_options(not_null=given)["not_null"] == [name for names in wanted for name in names]


def test_names_with_commas_and_dots(db: Path, tmp_path: Path, query: Query) -> None:
    file = written(tmp_path / "odd.csv", '"a,b",c.d,e=f\n1,2,3\n')
    litepress.load(db, file, primary_key="a,b", indexes=[("c.d", "a,b")], types={"e=f": "TEXT"}, not_null="c.d")
    assert '"a,b" INTEGER PRIMARY KEY' in sql_of(query, db)
    assert '("c.d", "a,b")' in sql_of(query, db)
    assert query(db, 'SELECT typeof("e=f") FROM odd') == [("text",)]


def test_a_schema_is_text_or_a_file(db: Path, users: Path, tmp_path: Path, query: Query) -> None:
    sql = "CREATE TABLE person (id INTEGER PRIMARY KEY, area TEXT, age INT);\n"
    file = written(tmp_path / "person.sql", sql)
    for schema in (sql, file, str(file)):
        litepress.load(db, users, schema=schema, table="person", map={"active": None}, if_exists="overwrite")
        assert query(db, "SELECT id, age FROM person") == [(1, 5), (2, 10), (3, 15)]


def test_columns_are_mapped(db: Path, users: Path, query: Query) -> None:
    schema = "CREATE TABLE user (number INTEGER PRIMARY KEY, area)"
    litepress.load(db, users, schema=schema, map={"id": "number", "age": None, "active": None})
    assert query(db, "SELECT number FROM user") == [(1,), (2,), (3,)]


def test_how_csv_is_read(db: Path, tmp_path: Path, query: Query) -> None:
    file = written(tmp_path / "t.txt", "# c\n1;'a;\\'b';NA\n2;'\xe4';\n".encode("latin1"))
    litepress.load(
        db,
        file,
        format="csv",
        delimiter=";",
        quote="'",
        escape="\\",
        header=False,
        columns=["n", "s", "v"],
        comment="#",
        encoding="latin1",
        null_value=["NA", ""],
    )
    assert query(db, "SELECT * FROM t") == [(1, "a;'b", None), (2, "ä", None)]


def test_columns_of_numbers(db: Path, tmp_path: Path, query: Query) -> None:
    """Columns of doubles were TEXT if their texts do not come back byte for byte from every SQLite."""
    file = written(tmp_path / "t.csv", "a,b,c_at,d\n1e-05,0.12345678901234567890,5,NA\n0.30000000000000004,.5,6,-inf\n")
    types = "SELECT group_concat(type) FROM pragma_table_info('t')"
    summary = litepress.load(db, file, types={"*_at": "TEXT"}, missing="NA", infinity="inf")
    assert query(db, types) == [("REAL,TEXT,TEXT,REAL",)]
    assert query(db, "SELECT a, d FROM t") == [(1e-05, None), (0.1 + 0.2, -math.inf)]
    [note] = summary.details["notes"]
    assert "t.b ('0.12345678901234567890' in record 1)" in note and 'numbers="lenient"' in note
    for numbers in ("lenient", {"t": {"b": "lenient"}}):
        litepress.load(db, file, numbers=numbers, if_exists="overwrite", missing="NA", infinity="inf")
        assert query(db, "SELECT b FROM t") == [(0.12345678901234567890,), (0.5,)]
    litepress.load(db, file, numbers="exact", if_exists="overwrite")
    assert query(db, types) == [("TEXT,TEXT,INTEGER,TEXT",)]


def test_quotes_are_text_where_there_are_none(db: Path, tmp_path: Path, query: Query) -> None:
    file = written(tmp_path / "t.csv", 'a,b\n"x,y\n')
    litepress.load(db, file, quote=None)
    assert query(db, "SELECT * FROM t") == [('"x', "y")]


def test_typed_files(db: Path, tmp_path: Path, query: Query) -> None:
    pa = pytest.importorskip("pyarrow")
    import datetime

    import pyarrow.parquet

    moment = datetime.datetime(2024, 1, 2, 3, 4, 5)
    table = pa.table({"n": pa.array([1, None]), "at": pa.array([moment, moment], pa.timestamp("s"))})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    litepress.load(db, tmp_path / "t.parquet", store_as={"at": "unixepoch"})
    seconds = int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())
    assert query(db, "SELECT * FROM t") == [(1, seconds), (None, seconds)]


def test_wrong_records_are_left_out_and_written_down(db: Path, tmp_path: Path, query: Query) -> None:
    file, rejects = written(tmp_path / "t.csv", "id,n\n1,1\n2\n3,3\n"), tmp_path / "wrong.csv"
    for arguments in ({"on_error": "reject"}, {"rejects": rejects}, {"max_rejects": 1}, {"ragged": "reject"}):
        summary = litepress.load(db, file, if_exists="overwrite", **arguments)
        assert (summary.rows, summary.details["rejected"]) == (2, 1)
    with rejects.open() as lines:
        [wrong] = csv.DictReader(lines)
    assert (wrong["record"], wrong["line"]) == ("2", "3")
    with pytest.raises(litepress.DataError):
        litepress.load(db, file, max_rejects=0, if_exists="overwrite")
    litepress.load(db, file, ragged="pad", if_exists="overwrite")
    assert query(db, "SELECT n FROM t") == [(1,), (None,), (3,)]


def test_making_options(db: Path, users: Path, tmp_path: Path, query: Query) -> None:
    summary = litepress.load(
        db,
        users,
        primary_key="id",
        without_rowid=True,
        indexes="age",
        page_size=1024,
        threads=1,
        memory="64MiB",
        temp_dir=tmp_path,
        analyze=True,
        sync="off",
        verify="full",
        sample="1k",
    )
    assert query(db, "PRAGMA page_size") == [(1024,)]
    assert query(db, "SELECT tbl, stat FROM sqlite_stat1 WHERE idx = 'idx_user_age'") == [("user", "3 1")]
    details = summary.details
    assert (details["threads"], details["memory_budget_bytes"], details["sync"]) == (1, 64 << 20, "off")
    assert details["verify"]["ok"] is True


def test_rows_of_one_key(db: Path, tmp_path: Path, query: Query) -> None:
    file = written(tmp_path / "t.csv", "id,v\n1,a\n1,b\n")
    with pytest.raises(litepress.ConstraintError) as raised:
        litepress.load(db, file, primary_key="id")
    assert 'on_conflict="ignore"' in str(raised.value)
    assert (raised.value.table, raised.value.constraint, raised.value.file) == ("t", "UNIQUE", str(file))
    assert not db.exists()
    for on_conflict, kept in (("ignore", "a"), ("replace", "b")):
        litepress.load(db, file, primary_key="id", on_conflict=on_conflict, if_exists="overwrite")
        assert query(db, "SELECT v FROM t") == [(kept,)]


def test_progress_is_told(db: Path, users: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[litepress.Progress] = []
    litepress.load(db, users, progress=told.append)
    assert told[-1].rows == 3
    litepress.load(db, users, progress=True, if_exists="overwrite")
    assert "3 rows" in capsys.readouterr().err
    litepress.load(db, users, if_exists="overwrite")
    assert capsys.readouterr() == ("", "")


def test_what_a_progress_function_raises_ends_the_run(db: Path, users: Path) -> None:
    def fail(_: litepress.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        litepress.generate(db, "user", "20m", progress=fail)
    assert not db.exists()


# --------------------------------------------------------------------------------------------------------------- errors


def test_errors_say_where(db: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "t.csv", "id,n\n1,1\n2,x\n")
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER) STRICT"
    with pytest.raises(litepress.DataError) as raised:
        litepress.load(db, file, schema=schema)
    error = raised.value
    assert (error.file, error.record, error.column, error.value) == (str(file), 2, "n", "'x'")
    ragged = written(tmp_path / "r.csv", "id,n\n1,1\n2\n")
    with pytest.raises(litepress.DataError) as raised:
        litepress.load(db, ragged)
    assert (raised.value.file, raised.value.record, raised.value.line) == (str(ragged), 2, 3)
    assert not db.exists()


def test_a_mistake_in_a_schema_is_shown(db: Path, users: Path) -> None:
    with pytest.raises(litepress.SchemaError) as raised:
        litepress.load(db, users, schema="CREATE TABL user (id)")
    assert (raised.value.file, raised.value.line, raised.value.character) == ("<schema>", 1, 8)
    assert "1 | CREATE TABL user (id)\n  |        ^" in str(raised.value)
    with pytest.raises(litepress.GeneratorError) as raised_by_set:
        litepress.generate(db, "user", 1, set={"user.area": "hex(6"})
    assert "1 | hex(6\n  |      ^" in str(raised_by_set.value)


def test_files_that_cannot_be_had(db: Path, users: Path, tmp_path: Path) -> None:
    with pytest.raises(litepress.FileError) as raised:
        litepress.load(db, tmp_path / "none.csv")
    assert raised.value.file == str(tmp_path / "none.csv") and isinstance(raised.value, OSError)
    with pytest.raises(litepress.FileError):
        litepress.load(db, users, schema=tmp_path / "none.sql")
    with pytest.raises(litepress.FileError):
        litepress.load(tmp_path / "none" / "x.db", users)
    litepress.load(db, users)
    before = db.read_bytes()
    with pytest.raises(litepress.TargetExistsError, match='with if_exists="overwrite"'):
        litepress.load(db, users)
    assert db.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"nonsense": 1}, TypeError, "unexpected keyword argument 'nonsense'"),
        ({"primary_key": 1}, TypeError, "primary_key must be a str or several of them, not int"),
        ({"primary_key": ("a", 1)}, TypeError, "each of primary_key must be a str, not int"),
        ({"primary_key": b"id"}, TypeError, "primary_key must be"),
        ({"indexes": {1: "a"}}, TypeError, "a key of indexes must be a str, not int"),
        ({"types": ["a"]}, TypeError, "types must be a dict of str, not list"),
        ({"types": {"a": int}}, TypeError, r"types\['a'\] must be a str, not type"),
        ({"map": {"a": 1}}, TypeError, r"map\['a'\] must be a str, not int"),
        ({"strict": 1}, TypeError, "strict must be True or False, not int"),
        ({"threads": "2"}, TypeError, "threads must be a whole number, not str"),
        ({"threads": True}, TypeError, "threads must be a whole number, not bool"),
        ({"threads": 0}, ValueError, "threads: a number of threads is 1 to 1024"),
        ({"memory": "much"}, ValueError, "memory: a size is a number of bytes"),
        ({"memory": 1.5}, TypeError, "memory must be a whole number, or one in words"),
        ({"page_size": 1000}, ValueError, "page_size: a page size is a power of two"),
        ({"sample": -1}, ValueError, "sample: a count is a whole number"),
        ({"numbers": "loose"}, ValueError, "numbers: 'loose' is not one of 'exact', 'digits', 'lenient'"),
        ({"numbers": 5}, TypeError, "numbers must be a dict of str, not int"),
        ({"format": "excel"}, ValueError, "format: 'excel' is not one of 'csv', 'tsv', "),
        ({"if_exists": "add"}, ValueError, "if_exists: 'add' is not one of 'fail', 'append', 'replace', 'overwrite'"),
        ({"on_conflict": "retry"}, ValueError, "on_conflict: 'retry' is not one of 'abort', 'ignore', 'replace'"),
        ({"on_error": 1}, TypeError, "on_error must be a str, not int"),
        ({"sync": "half"}, ValueError, "sync: 'half' is not one of 'full', 'off'"),
        ({"quote": "ab"}, ValueError, "quote: this is one ASCII character"),
        ({"delimiter": ""}, ValueError, "delimiter: this is one character or more"),
        ({"schema": 1}, TypeError, "schema must be CREATE statements, or a path to a file of them, not int"),
        ({"progress": 1}, TypeError, "progress must be"),
    ],
)
def test_wrong_arguments(db: Path, users: Path, arguments: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        litepress.load(db, users, **arguments)
    assert not db.exists()


@pytest.mark.parametrize("files", [1, None, b"a.csv", {"a": "a.csv"}, [1]])
def test_files_that_are_no_paths(db: Path, files: Any) -> None:
    with pytest.raises(TypeError, match="must be a path"):
        litepress.load(db, files)
    with pytest.raises(ValueError, match="no file is named"):
        litepress.load(db, [])
    with pytest.raises(TypeError, match="path must be a path, not int"):
        litepress.load(1, "a.csv")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"map": {"x": "b"}}, 'map={"x": "b"}: no file has a column x'),
        ({"types": {"id": "TEXT, x"}}, "types: 'TEXT, x' is not a type"),
        ({"primary_key": "x"}, "primary_key: no column is named x"),
        ({"primary_key": ("id", "id")}, 'primary_key=("id", "id"): a column is named twice'),
        ({"indexes": "x"}, "indexes: no column is named x"),
        ({"without_rowid": True}, 'say which columns it has: primary_key=("A", "B")'),
        ({"foreign_keys": {"id": "age"}}, 'add primary_key="user.age" or unique="user.age"'),
        ({"encoding": "utf-32"}, 'encoding="utf-32": no such encoding'),
        ({"format": "tsv", "delimiter": ","}, 'format="tsv" has tabs between fields, and delimiter another one'),
        ({"schema": "CREATE TABLE user (id)", "strict": True}, "strict has no effect: schema defines the tables"),
        ({"schema": "CREATE TABLE user (id)"}, 'map={"area": "COLUMN"}, or leave them out: map={"area": None}'),
        ({"schema": "CREATE TABLE a (x); CREATE TABLE b (x)"}, "table= says which one the files go to"),
        ({"rejects": "r.csv", "on_error": "abort"}, 'rejects and max_rejects are for records that are left out, and on_error="abort"'),
    ],
)
def test_messages_are_in_words_of_python(db: Path, users: Path, arguments: Any, message: str) -> None:
    with pytest.raises(litepress.Error) as raised:
        litepress.load(db, users, **arguments)
    assert message in str(raised.value)
    assert "--" not in str(raised.value)


def test_advice_is_in_words_of_python(db: Path, tmp_path: Path) -> None:
    twice = written(tmp_path / "t.csv", "id\n1\n1\n")
    with pytest.raises(litepress.ConstraintError, match='with on_conflict="ignore", or the last with "replace"'):
        litepress.load(db, twice, primary_key="id")
    schema = "CREATE TABLE a (x); CREATE TABLE b (x)"
    with pytest.raises(litepress.UsageError) as raised:
        litepress.generate(db, schema)
    assert 'rows={"a": N} rows={"b": N}, or rows=N for all of them' in str(raised.value)
    with pytest.raises(litepress.UsageError, match='write set={"TABLE.x": "GENERATOR"}'):
        litepress.generate(db, schema, 1, set={"x": "uuid"})
    with pytest.raises(litepress.GeneratorError) as raised_by_set:
        litepress.generate(db, "user", 1, set={"user.area": "hex(6"})
    assert raised_by_set.value.file == "<set user.area>"
    plan = litepress.plan(written(tmp_path / "a.csv", "x\n1\n"), types={"x": "TEXT"})
    assert plan["tables"][0]["columns"][0]["because"] == "types= says so"


# ------------------------------------------------------------------------------------------------------------- generate


def test_rows_are_invented(db: Path, query: Query) -> None:
    summary = litepress.generate(db, "user", 1000)
    assert (summary.rows, query(db, "SELECT count(*), max(length(area)) FROM user")) == (1000, [(1000, 6)])


def test_a_schema_to_invent_rows_for(db: Path, tmp_path: Path, query: Query) -> None:
    sql = "CREATE TABLE a (id INTEGER PRIMARY KEY, -- gen: sequence\n v TEXT); CREATE TABLE b (x INT);"
    file = written(tmp_path / "my tables.sql", sql)
    for schema in (sql, file, str(file)):
        summary = litepress.generate(
            db, schema, {"a": 5, "b": "1k"}, set={"a": {"v": "hex(4)"}, "b.x": "int(1, 2)"}, seed=7, if_exists="overwrite"
        )
        assert summary.tables == {"a": 5, "b": 1000}
    assert query(db, "SELECT max(length(v)) FROM a UNION ALL SELECT max(x) FROM b") == [(4,), (2,)]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    def made(**arguments: Any) -> bytes:
        litepress.generate(tmp_path / "x.db", "user", 5000, if_exists="overwrite", **arguments)
        return (tmp_path / "x.db").read_bytes()

    assert made(seed=1) == made(seed=1, threads=1) != made(seed=2)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("nobody", 1), litepress.UsageError, "there is no preset 'nobody'; presets are .*user"),
        (("user", -1), ValueError, "rows: a count is a whole number"),
        (("user", 1.5), TypeError, "rows must be a whole number"),
        (("user", {"user": None}), TypeError, r"rows\['user'\] must be a whole number, not NoneType"),
        (("user", {"nobody": 1}), litepress.UsageError, "nobody"),
        (("CREATE TABLE t (a); CREATE TABLE u (a)", {"t": 5}), litepress.UsageError, "no number of rows"),
        ((1, 1), TypeError, "schema must be CREATE statements"),
        (("-- create nothing", 1), litepress.SchemaError, "defines nothing"),
    ],
)
def test_what_cannot_be_invented(db: Path, arguments: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        litepress.generate(db, *arguments)
    assert not db.exists()


# -------------------------------------------------------------------------------------------------- profiles and recipes

SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, city TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INT NOT NULL REFERENCES customer, total REAL NOT NULL, at DATE);
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SHOP)
        customers = [(n, f"ada{n}@lovelace.org", ("Paris", "Rome")[n % 5 == 0]) for n in range(1, 101)]
        connection.executemany("INSERT INTO customer VALUES (?, ?, ?)", customers)
        purchases = [(n, 1 + n * n % 37, n % 700 / 100, f"2024-05-{1 + n % 28:02}") for n in range(1, 1001)]
        connection.executemany("INSERT INTO purchase VALUES (?, ?, ?, ?)", purchases)
    return path


def children(query: Query, db: Path) -> list[tuple[Any, ...]]:
    counts = "SELECT (SELECT count(*) FROM purchase WHERE customer = customer.id) AS n FROM customer"
    return query(db, f"SELECT n, count(*) FROM ({counts}) GROUP BY n ORDER BY n")


def test_a_profile_is_a_plan_for_a_larger_look_alike(db: Path, shop: Path, query: Query) -> None:
    before = shop.read_bytes()
    recipe = litepress.profile(shop)
    assert recipe == litepress.profile(str(shop), threads=1)
    assert "lovelace" not in recipe and "Paris" not in recipe and "Paris" in litepress.profile(shop, keep_values=True)
    summary = litepress.generate(db, recipe=recipe, scale=3, verify="full")
    assert summary.tables == {"customer": 300, "purchase": 3000}
    assert query(db, "SELECT count(*) FROM pragma_foreign_key_check") == [(0,)]
    assert query(db, "SELECT count(*) FROM purchase WHERE round(total, 2) <> total OR date(at) IS NOT at") == [(0,)]
    assert children(query, db) == [(n, 3 * parents) for n, parents in children(query, shop)]
    assert shop.read_bytes() == before


def test_plans_are_texts_and_files(db: Path, shop: Path, tmp_path: Path, query: Query) -> None:
    text = litepress.profile(shop)
    file = written(tmp_path / "shop.toml", text)
    made = set()
    for recipe in (text, file, str(file)):
        litepress.generate(db, recipe=recipe, if_exists="overwrite", seed=4)
        made.add(db.read_bytes())
        told = litepress.plan(recipe, scale=2)
        assert told["rows"] == 2200
    assert len(made) == 1
    litepress.generate(db, None, {"customer": 10, "purchase": 20}, recipe=text, scale=7, if_exists="overwrite")
    assert query(db, "SELECT count(*), (SELECT count(*) FROM purchase) FROM customer") == [(10, 20)]


def test_parts_joined_are_the_whole(shop: Path, tmp_path: Path, query: Query) -> None:
    recipe = litepress.profile(shop)
    whole = tmp_path / "whole.db"
    litepress.generate(whole, recipe=recipe, scale=1.5, seed=9)
    rows: dict[str, list[tuple[Any, ...]]] = {"customer": [], "purchase": []}
    parts: list[Any] = [(1, 3), "2/3", (3, 3)]
    for part in parts:
        db = tmp_path / "part.db"
        litepress.generate(db, recipe=recipe, scale=1.5, seed=9, shard=part, if_exists="overwrite")
        for table, found in rows.items():
            found += query(db, f"SELECT * FROM {table} ORDER BY id")
    for table, found in rows.items():
        assert found == query(whole, f"SELECT * FROM {table} ORDER BY id")


def test_presets_have_scales(db: Path) -> None:
    assert litepress.generate(db, "log", scale=0.001).rows == 1000


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, TypeError, "either a schema or a recipe is given"),
        ({"schema": "user", "recipe": "algorithm_version = 1"}, TypeError, "either a schema or a recipe is given"),
        ({"recipe": 5}, TypeError, "recipe must be the text of a recipe, or a path to one"),
        ({"recipe": "nowhere.toml"}, litepress.FileError, "nowhere.toml"),
        ({"recipe": "algorithm_version = 999\nschema = ''"}, litepress.GeneratorError, "algorithm version 999"),
        ({"schema": "user", "rows": 5, "scale": "2"}, TypeError, "scale must be a number"),
        ({"schema": "user", "rows": 5, "scale": -1}, ValueError, "scale: a scale is a number above 0"),
        ({"schema": "user", "rows": 5, "shard": 3}, TypeError, "shard must be a pair"),
        ({"schema": "user", "rows": 5, "shard": (3, 2)}, ValueError, "shard: a shard is written I/N"),
    ],
)
def test_arguments_of_recipes(db: Path, arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        litepress.generate(db, **arguments)
    assert not db.exists()


def test_a_mistake_in_a_plan_has_its_table_and_column(db: Path, shop: Path, tmp_path: Path) -> None:
    recipe = litepress.profile(shop).replace('id = "sequence"', 'id = "sequense"', 1)
    with pytest.raises(litepress.GeneratorError, match="sequense") as caught:
        litepress.generate(db, recipe=recipe)
    assert (caught.value.table, caught.value.column) == ("customer", "id")
    with pytest.raises(litepress.DataError, match="not a database"):
        litepress.profile(written(tmp_path / "no.db", "this is not a database, and long enough to be seen as none"))
    with pytest.raises(litepress.FileError):
        litepress.profile(tmp_path / "nowhere.db")


# ----------------------------------------------------------------------------------------------------------------- plan


def test_plans(db: Path, users: Path) -> None:
    generated = litepress.plan("user", rows="1b", seed=7)
    assert (generated["rows"], generated["target"], generated["tables"][0]["seed"]) == (1_000_000_000, None, 7)
    text = litepress.plan("CREATE TABLE t (a INT UNIQUE)", db, rows=10)
    assert text["target"] == str(db) and [step["method"] for step in text["steps"]] == ["direct", "direct"]
    loaded = litepress.plan(users, db, primary_key="id", types={"age": "REAL"}, page_size=512)
    assert (loaded["rows"], loaded["page_size_bytes"]) == (3, 512)
    columns = loaded["tables"][0]["columns"]
    assert [column["type"] for column in columns] == ["INTEGER", "TEXT", "REAL", "INTEGER"]
    assert columns[2]["because"] == "types= says so"
    assert litepress.plan([users], schema="CREATE TABLE user (id, area, age, active)")["tables"][0]["name"] == "user"
    assert not db.exists()


def test_arguments_of_plans(users: Path) -> None:
    with pytest.raises(TypeError, match=r"plan\(\) of a schema takes no argument 'delimiter'"):
        litepress.plan("user", delimiter=",")
    with pytest.raises(TypeError, match=r"plan\(\) of files takes no argument 'seed'"):
        litepress.plan(users, seed=1)


# ---------------------------------------------------------------------------------------------------------------- check


def test_a_good_database(db: Path) -> None:
    litepress.generate(db, "user", 1000)
    report = litepress.check(db, full=True, threads=1)
    assert report and report.ok and str(report) == "ok"
    assert (report.faults, report.faults_total, report.sqlite) == ([], 0, [])
    assert (report.bytes, report.page_size) == (db.stat().st_size, 4096)
    assert report.pages * report.page_size == report.bytes
    assert [tree["rows"] for tree in report.details["btrees"]] == [1, 1000]
    assert litepress.check(db).sqlite is None


def test_a_damaged_database_is_no_exception(db: Path, tmp_path: Path) -> None:
    litepress.generate(db, "user", 1000)
    damaged = bytearray(db.read_bytes())
    damaged[4096 + 3 : 4096 + 5] = b"\xff\xff"
    report = litepress.check(written(tmp_path / "damaged.db", bytes(damaged)), full=True)
    assert not report and report.faults and report.sqlite
    assert report.faults[0].page == 2 and str(report.faults[0]) in str(report)
    assert litepress.check(db).sample is None
    look = litepress.check(db, sample=100)
    assert look.ok and look.sample == 1.0 and any("no proof" in note for note in look.notes)
    few = litepress.check(tmp_path / "damaged.db", max_faults=1, memory="64MiB")
    assert len(few.faults) == 1 and few.faults_total == report.faults_total
    report = litepress.check(written(tmp_path / "text.db", "no database" * 100))
    assert not report.ok and "not a SQLite database" in str(report)
    with pytest.raises(AttributeError):
        report.ok = True  # type: ignore[misc]


def test_what_cannot_be_checked(tmp_path: Path) -> None:
    with pytest.raises(litepress.FileError):
        litepress.check(tmp_path / "none.db")
    with pytest.raises(TypeError):
        litepress.check(1)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        litepress.check(tmp_path, threads=0)


# --------------------------------------------------------------------------------------------------------------- Ctrl-C


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Sends SIGINT to this process after this time, as Ctrl-C does."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def test_ctrl_c_while_rows_are_invented(db: Path) -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.3):
        litepress.generate(db, "user", "300m")
    assert not db.exists() and time.monotonic() - started < 10


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes seconds to load."""
    file = tmp_path_factory.mktemp("large") / "large.csv"
    block = "".join(f"{number},{number * 7919 % 1_000_003},some text {number}\n" for number in range(100_000))
    with file.open("w") as lines:
        lines.write("a,b,c\n")
        for _ in range(40):
            lines.write(block)
    return file


@pytest.mark.parametrize("schema", [None, "CREATE TABLE large (a INTEGER, b INTEGER, c TEXT); CREATE INDEX i ON large (c)"])
def test_ctrl_c_while_a_file_is_loaded(db: Path, large: Path, schema: str | None) -> None:
    """Without a schema all records are read first to find the types; with one the load begins at once."""
    litepress.generate(db, "user", 10)
    before = db.read_bytes()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.1):
        litepress.load(db, large, schema=schema, threads=1, if_exists="overwrite")
    assert db.read_bytes() == before
    assert [path.name for path in db.parent.iterdir()] == [db.name]


# -------------------------------------------------------------------------------------------------------------- program


def program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "litepress", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def test_the_program(db: Path) -> None:
    ended = program("--version")
    assert ended.returncode == 0 and ended.stdout.startswith(f"litepress {litepress.__version__} (SQLite ")
    assert program("generate", str(db), "--preset", "user", "--rows", "10").returncode == 0
    ended = program("check", str(db))
    assert ended.returncode == 0 and "ok (2 pages" in ended.stdout
    ended = program("check", str(db.with_name("none.db")))
    assert ended.returncode == 1 and ended.stderr.startswith("error: ")
    ended = program("generate", str(db), "--nonsense")
    assert ended.returncode == 2 and "--nonsense" in ended.stderr


def test_the_program_is_installed() -> None:
    script = Path(sys.executable).with_name("litepress")
    if not script.exists():
        pytest.skip("the package is not installed here")
    assert subprocess.run([script, "--help"], capture_output=True, timeout=60).returncode == 0


def test_ctrl_c_ends_the_program(db: Path) -> None:
    command = [sys.executable, "-m", "litepress", "generate", str(db), "--preset", "user", "--rows", "300m", "--progress", "json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr
        running.stderr.readline()
        running.send_signal(signal.SIGINT)
        assert "stopping" in running.stderr.read()
        assert running.wait(timeout=60) == 130
    assert list(db.parent.iterdir()) == []


def test_the_database_is_one_for_sqlite(db: Path, users: Path) -> None:
    litepress.load(db, users, primary_key="id")
    with closing(sqlite3.connect(db)) as database:
        database.execute("INSERT INTO user VALUES (4, '000125', 5, 0)")
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

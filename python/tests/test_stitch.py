"""Parts that are stitched: the file of one process, whatever made the parts, and the plan of an upload."""

from __future__ import annotations

import io
import random
import sqlite3
from pathlib import Path

import pytest

import litepress
from litepress._multipart import LEAST, MOST_COPIED, Piece, is_copied, pieces_of, plan_upload

SCHEMA = "CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT, age INTEGER); CREATE INDEX by_area ON user (area);"


def rows(path: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found = connection.execute("SELECT * FROM user ORDER BY id").fetchall()
    connection.close()
    return found


def test_generated_parts_are_the_database_of_one_process(tmp_path: Path) -> None:
    litepress.generate(tmp_path / "whole.db", SCHEMA, 300_000)
    parts = [tmp_path / f"{number}.part" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        litepress.generate(part, SCHEMA, 300_000, shard=(number, 3), part=True)
    made = litepress.stitch(tmp_path / "one.db", reversed(parts), verify="full")
    assert (made.rows, made.details["parts"]) == (300_000, 3)
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "whole.db").read_bytes()


def test_parts_of_rows_and_of_files(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("id,area,age\n" + "".join(f"{number},a{number % 7},{number % 90}\n" for number in range(500, 900)))
    litepress.write(tmp_path / "a.part", {"user": [(number, f"a{number % 7}", number % 90) for number in range(500)]}, schema=SCHEMA, part=True)
    litepress.load(tmp_path / "b.part", tmp_path / "b.csv", table="user", schema=SCHEMA, part=True)
    litepress.stitch(tmp_path / "one.db", [tmp_path / "b.part", tmp_path / "a.part"])
    assert rows(tmp_path / "one.db") == [(number, f"a{number % 7}", number % 90) for number in range(900)]


def test_databases_become_parts(tmp_path: Path) -> None:
    litepress.write(tmp_path / "a.db", {"user": [(number, "x" * 5000, 1) for number in range(300)]}, schema=SCHEMA)
    litepress.merge(tmp_path / "a.part", tmp_path / "a.db", part=True)
    litepress.stitch(tmp_path / "one.db", tmp_path / "a.part")
    assert rows(tmp_path / "one.db") == rows(tmp_path / "a.db")


def test_wrong_parts_leave_nothing(tmp_path: Path) -> None:
    write = {"schema": SCHEMA, "part": True}
    litepress.write(tmp_path / "a.part", {"user": [(1, "a", 1), (5, "b", 2)]}, **write)
    litepress.write(tmp_path / "b.part", {"user": [(5, "a", 1)]}, **write)
    with pytest.raises(litepress.ConstraintError, match="rowids overlap"):
        litepress.stitch(tmp_path / "one.db", [tmp_path / "a.part", tmp_path / "b.part"])
    with pytest.raises(litepress.DataError, match="no part of a database"):
        litepress.stitch(tmp_path / "one.db", [tmp_path / "a.part", __file__])
    with pytest.raises(litepress.UsageError, match="must all be files"):
        litepress.stitch("s3://bucket/one.db", [tmp_path / "a.part"])
    with pytest.raises(litepress.UsageError, match="a part cannot be written"):
        litepress.load(tmp_path / "folder", io.BytesIO(b"a,b\n1,2\n"), table="t", split_by="a", part=True)
    for options in ({"analyze": True}, {"verify": "quick"}, {"on_conflict": "ignore"}):
        with pytest.raises(litepress.UsageError):
            litepress.write(tmp_path / "c.part", {"user": []}, **write, **options)
    with pytest.raises(litepress.TargetExistsError):
        litepress.write(tmp_path / "a.part", {"user": []}, **write)
    litepress.write(tmp_path / "a.part", {"user": [(7, "a", 1)]}, **write, if_exists="overwrite")
    assert litepress.stitch(tmp_path / "two.db", [tmp_path / "a.part", tmp_path / "b.part"]).rows == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.part", "b.part", "two.db"]


@pytest.mark.parametrize("seed", range(200))
def test_an_upload_keeps_the_limits_of_the_store(seed: int) -> None:
    """A part of an upload has 5 MiB to 5 GiB, the last one may be smaller: whatever lies between two copies."""
    chosen = random.Random(seed)
    lengths = [4096, 3 << 20, LEAST - 4096, LEAST, LEAST + 4096, 70 << 20, 6 << 30, 17 << 30]
    copies, to, start = [], 4096, 4096
    for _ in range(chosen.randrange(9)):
        length = chosen.choice(lengths)
        copies.append([chosen.randrange(3), start, to, length])
        to += length + chosen.choice([0, 0, 4096, *lengths[:6]])
        start += length + chosen.choice([0, 8192])
    size = to + chosen.choice([0, *lengths[:6]])
    whole = list(pieces_of(copies, size))
    assert sum(piece.bytes for piece in whole) == size
    planned = plan_upload(iter(whole), size)
    assert len(planned) <= 10_000
    for pieces in planned[:-1]:
        assert sum(piece.bytes for piece in pieces) >= LEAST
    for pieces in planned:
        sent = sum(piece.bytes for piece in pieces)
        assert sent <= MOST_COPIED if is_copied(pieces) else sent <= 64 << 20
    # The bytes come in their order, each once.
    joined: list[Piece] = []
    for piece in (piece for pieces in planned for piece in pieces):
        last = joined[-1] if joined else None
        if last is not None and last.part == piece.part and last.start + last.bytes == piece.start:
            joined[-1] = Piece(last.part, last.start, last.bytes + piece.bytes)
        else:
            joined.append(piece)
    assert joined == whole
    copied = sum(pieces[0].bytes for pieces in planned if is_copied(pieces))
    long = sum(max(piece.bytes - 2 * LEAST, 0) for piece in whole if piece.part is not None)
    assert copied >= long, "all but the ends of long pieces are copied"

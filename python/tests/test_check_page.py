"""``html=``: pages that show a database or its values."""

from __future__ import annotations

from pathlib import Path

import litepress
import pytest


def test_a_page_is_written_and_replaced_if_asked_to(tmp_path: Path) -> None:
    litepress.write(tmp_path / "t.db", {"t": {"a": [1, 2], "b": ["x", "y"]}})
    page = tmp_path / "t.html"
    assert litepress.check(tmp_path / "t.db", html=page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(litepress.TargetExistsError, match='if_exists="overwrite"'):
        litepress.check(tmp_path / "t.db", html=page)
    old = "<!doctype html>old"
    page.write_text(old, encoding="utf-8")
    assert litepress.check(tmp_path / "t.db", html=str(page), if_exists="overwrite")
    assert page.read_text(encoding="utf-8") != old


def test_a_page_replaces_nothing_but_a_page(tmp_path: Path) -> None:
    """A page replaced any file, among them the database that it was about."""
    database = tmp_path / "t.db"
    litepress.write(database, {"t": {"a": [1, 2]}})
    text = tmp_path / "notes.txt"
    text.write_text("notes", encoding="utf-8")
    for page in (database, text):
        before = page.read_bytes()
        with pytest.raises(litepress.Error):
            litepress.check(database, html=page, if_exists="overwrite")
        assert page.read_bytes() == before


def test_the_way_of_writing_a_page_is_checked(tmp_path: Path) -> None:
    page = tmp_path / "t.html"
    litepress.write(tmp_path / "t.db", {"t": {"a": [1, 2]}})
    with pytest.raises(ValueError, match="'replace' is not one of 'fail', 'overwrite'"):
        litepress.check(tmp_path / "t.db", html=page, if_exists="replace")  # type: ignore[arg-type]


def test_pages_of_values(tmp_path: Path) -> None:
    one, other = (tmp_path / name for name in ("one.db", "other.db"))
    litepress.write(one, {"t": {"a": list(range(100)), "b": ["x"] * 100}})
    litepress.write(other, {"t": {"a": list(range(50, 150)), "b": ["y"] * 100}})
    page = tmp_path / "page.html"
    assert "[tables.t]" in litepress.profile(one, html=page)
    alone = page.read_text(encoding="utf-8")
    with pytest.raises(litepress.TargetExistsError, match='if_exists="overwrite"'):
        litepress.compare(one, other, html=page)
    result = litepress.compare(one, other, html=page, if_exists="overwrite", threads=1)
    assert [column["distance"] for column in result["tables"][0]["columns"]] == [0.5, 0.0]
    assert page.read_text(encoding="utf-8") != alone
    with pytest.raises(litepress.DataError, match="there is no table t"):
        litepress.write(tmp_path / "third.db", {"u": {"a": [1]}})
        litepress.compare(one, tmp_path / "third.db")

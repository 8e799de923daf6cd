"""``check(html=...)``: a page that shows a database."""

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
    page.write_text("old", encoding="utf-8")
    assert litepress.check(tmp_path / "t.db", html=str(page), if_exists="overwrite")
    assert page.read_text(encoding="utf-8") != "old"
    with pytest.raises(ValueError, match="'replace' is not one of 'fail', 'overwrite'"):
        litepress.check(tmp_path / "t.db", html=page, if_exists="replace")  # type: ignore[arg-type]

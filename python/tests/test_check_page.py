"""``check(html=...)``: a page that shows a database."""

from __future__ import annotations

from pathlib import Path

import litepress
import pytest


def test_a_page_is_written_and_replaced_if_asked_to(tmp_path: Path) -> None:
    litepress.write(tmp_path / "t.db", {"t": [(1, "a"), (2, "b")]})
    page = tmp_path / "t.html"
    assert litepress.check(tmp_path / "t.db", html=page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(litepress.Error, match="overwrite=True"):
        litepress.check(tmp_path / "t.db", html=page)
    page.write_text("old", encoding="utf-8")
    assert litepress.check(tmp_path / "t.db", html=str(page), overwrite=True)
    assert page.read_text(encoding="utf-8") != "old"

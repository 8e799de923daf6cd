"""Notebooks: results as HTML, and progress below a cell."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import litepress
import pytest
from litepress import _notebook
from litepress._progress import ProgressCallback

VOID = {"br", "img"}


class Text(HTMLParser):
    """The text of HTML whose elements are closed in their order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def test_results_are_shown_as_html(tmp_path: Path) -> None:
    path = tmp_path / "<shop>.db"
    summary = litepress.write(path, {"user": {"id": [1, 2, 3], "city": ["a", "b", "c"]}}, primary_key="id")
    shown = Text(summary._repr_html_()).text
    assert "<shop>.db: 3 rows, " in shown
    assert "user 3" in shown
    report = litepress.check(path)
    assert Text(report._repr_html_()).text.startswith("ok ")
    indexes = litepress.index(path, "CREATE INDEX by_city ON user(city)")
    assert "1 indexes in" in Text(indexes._repr_html_()).text
    assert "by_city user" in Text(indexes._repr_html_()).text


def test_faults_are_shown_as_html(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    litepress.write(path, {"t": {"a": list(range(5000))}})
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff")
    shown = Text(litepress.check(path)._repr_html_()).text
    assert "fault" in shown
    assert not shown.startswith("ok")


def test_plans_are_shown_as_html(tmp_path: Path) -> None:
    data = tmp_path / "user.csv"
    data.write_text("id,name\n1,Ada & Grace\n")
    plan = litepress.plan(data, primary_key="id")
    assert isinstance(plan, dict)
    assert json.loads(json.dumps(plan)) == plan
    assert "id INTEGER" in Text(plan._repr_html_()).text
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)"
    assert "phrase" in Text(litepress.plan(schema, rows=10)._repr_html_()).text


def test_a_report_has_phases_and_memory(tmp_path: Path) -> None:
    told: list[litepress.Progress] = []
    data = {"t": {"a": list(range(100_000))}}
    litepress.write(tmp_path / "t.db", data, indexes=["a"], progress=told.append)
    last = told[-1]
    assert last.phases >= last.phase >= 2
    assert last.memory is None or last.memory > 1 << 20
    # Programs made reports of three fields for their own tests.
    assert litepress.Progress(1, 2, "rows of t").phases == 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any], str]]:
    """IPython's own display machinery in a shell with a kernel. Returns the messages that a notebook would get."""
    shells = pytest.importorskip("IPython.core.interactiveshell")
    displays = pytest.importorskip("IPython.core.displaypub")
    sent: list[tuple[str, dict[str, Any], str]] = []

    class Publisher(displays.DisplayPublisher):  # type: ignore[misc, name-defined]
        def publish(self, data: dict[str, Any], *_: Any, transient: dict[str, Any] | None = None, update: bool = False, **__: Any) -> None:
            sent.append(("update" if update else "display", data, (transient or {}).get("display_id", "")))

    class Shell(shells.InteractiveShell):  # type: ignore[misc, name-defined]
        display_pub_class = Publisher
        kernel = object()

    Shell.clear_instance()
    shell = Shell.instance()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    yield sent  # type: ignore[misc]
    Shell.clear_instance()


def test_progress_is_a_bar_below_the_cell(kernel: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    litepress.write(tmp_path / "t.db", {"t": {"a": list(range(100_000))}}, indexes=["a"], progress=True)
    assert capsys.readouterr().err == ""
    kinds, contents, places = zip(*kernel, strict=True)
    assert kinds[0] == "display"
    assert set(kinds[1:]) == {"update"}
    assert len(set(places)) == 1
    end = contents[-1]
    assert end["text/plain"].startswith("done in ")
    assert "100,000 rows" in Text(end["text/html"]).text
    bar = end["text/html"].split("<progress ")[1]
    value, most = (bar.split(f'{name}="')[1].split('"')[0] for name in ("value", "max"))
    assert value == most


def test_a_bar_tells_that_the_run_failed(kernel: list[Any], tmp_path: Path) -> None:
    with pytest.raises(litepress.ConstraintError):
        litepress.write(tmp_path / "t.db", {"t": {"a": [1, 1]}}, primary_key="a", progress=True)
    assert kernel[-1][1]["text/plain"].startswith("failed after ")


def test_a_terminal_gets_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert not _notebook.is_here()
    with ProgressCallback(True) as callback:
        assert callback.call is not None
        callback.call(1_000_000, 20_000_000, "index i", 2, 3, 71 << 20)
    line = capsys.readouterr().err
    assert line.startswith("\rphase 2 of 3: index i, 1,000,000 rows, 20.0 MB, ")
    assert line.endswith("71 MiB of memory\n")


def test_nothing_is_imported_without_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not _notebook.is_here()
    assert "IPython" not in sys.modules

"""Results and progress as HTML, for notebooks. Colours are those of the notebook, light or dark."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_CELL = "padding:.15em .8em .15em 0;text-align:left;vertical-align:top"
_NUMBER = "padding:.15em .8em .15em 0;text-align:right;font-variant-numeric:tabular-nums"


def is_here() -> bool:
    """Returns whether the program runs in a kernel of a notebook, whose cells show HTML."""
    # IPython is loaded in each notebook. Nothing is imported elsewhere.
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    return shell is not None and hasattr(shell, "kernel")


class Output:
    """A place below a notebook's cell, whose content is replaced."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, html: str, text: str) -> None:
        """Shows HTML, or a text where HTML cannot be shown."""
        content = {"text/html": html, "text/plain": text}
        if self._handle is None:
            display: Any = importlib.import_module("IPython.display").display
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def bar(done: int, phases: int, words: str) -> str:
    """Returns a bar of steps with words beside it."""
    label = f"{done} of {phases} steps done"
    progress = f'<progress value="{done}" max="{phases}" aria-label="{label}" style="width:12em;vertical-align:middle"></progress>'
    return f'<div>{progress} <span style="font-variant-numeric:tabular-nums">{escape(words)}</span></div>'


def size(count: float) -> str:
    """Formats bytes: ``1.93 GB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:,.2f} {name}"
    return f"{count:,.0f} bytes"


def duration(seconds: float) -> str:
    """Formats a duration: ``12 ms``, ``3.20 s``."""
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def heading(text: str, below: str = "") -> str:
    """Returns a bold line, and a smaller one below it."""
    small = f'<div style="opacity:.75">{escape(below)}</div>' if below else ""
    return f"<div><strong>{escape(text)}</strong></div>{small}"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """Returns a table. Numbers are aligned right, with commas."""
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    if not body:
        return ""
    return f'<table><caption style="text-align:left">{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td style="{_NUMBER}">{value:,}</td>'
    return f'<td style="{_CELL}">{escape("" if value is None else str(value))}</td>'


def page(*parts: str) -> str:
    """Joins parts to what a notebook shows."""
    return f"<div>{''.join(parts)}</div>"

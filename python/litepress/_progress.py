"""Progress reports of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from . import _notebook


@dataclass(frozen=True)
class Progress:
    """The state of a run."""

    rows: int
    """Rows read from their sources so far, of all tables."""
    bytes: int
    """Bytes written so far."""
    stage: str
    """The current step: ``rows of user``, ``index user_area``."""
    phase: int = 0
    """The number of the step, from 1; 0 before the first."""
    phases: int = 0
    """The number of all steps; 0 if it is not known yet."""
    memory: int | None = None
    """Memory of this process now, in bytes; ``None`` if the system does not tell."""


ProgressFunction = Callable[[Progress], object]


class _Display(Protocol):
    """A display of reports. It is closed at the end of the run, also after an error."""

    def __call__(self, progress: Progress) -> object: ...
    def close(self, *, failed: bool) -> None: ...


def _words(progress: Progress, seconds: float) -> str:
    """Describes a report in a line."""
    rate = progress.rows / seconds if seconds > 0 else 0.0
    phase = f"phase {progress.phase} of {max(progress.phases, progress.phase)}: " if progress.phases > 1 and progress.phase else ""
    memory = "" if progress.memory is None else f", {progress.memory / 2**20:,.0f} MiB of memory"
    text = f"{progress.rows:,} rows, {progress.bytes / 1e6:,.1f} MB, {rate:,.0f} rows/s{memory}"
    return f"{phase}{progress.stage}, {text}" if progress.stage else text


class _Line:
    """A line on standard error that each report overwrites."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        text = _words(progress, time.monotonic() - self._started)
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self, *, failed: bool) -> None:
        """Ends the line, if one was written."""
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()


class _NotebookBar:
    """A bar below a notebook's cell. Its segments are the steps of the run."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._last = Progress(0, 0, "")
        self._output = _notebook.Output()

    def __call__(self, progress: Progress) -> None:
        self._last = progress
        self._show(max(progress.phase - 1, 0), _words(progress, time.monotonic() - self._started))

    def close(self, *, failed: bool) -> None:
        """Shows the end: a full bar, or the step that failed."""
        seconds = time.monotonic() - self._started
        last = self._last
        end = f"failed after {seconds:,.1f} s" if failed else f"done in {seconds:,.1f} s"
        self._show(max(last.phase - 1, 0) if failed else None, f"{end}: {_words(last, seconds)}")

    def _show(self, done: int | None, words: str) -> None:
        phases = max(self._last.phases, self._last.phase, 1)
        self._output.show(_notebook.bar(phases if done is None else done, phases, words), words)


def _display() -> _Display:
    return _NotebookBar() if _notebook.is_here() else _Line()


class ProgressCallback:
    """The reports that ``progress=`` asks for. The extension calls ``call``, unless it is ``None``, with the fields of a report."""

    def __init__(self, progress: bool | ProgressFunction) -> None:
        if not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress must be True, False or a function, not {type(progress).__name__}")
        self._display = _display() if progress is True else None
        function = self._display if isinstance(progress, bool) else progress
        self.call: Callable[[int, int, str, int, int, int | None], object] | None = None
        if function is not None:
            self.call = lambda *fields: function(Progress(*fields))

    def __enter__(self) -> ProgressCallback:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._display:
            self._display.close(failed=kind is not None)

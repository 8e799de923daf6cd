"""How far a run is, told while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    rows: int
    """Rows that were taken from their sources, of all tables so far."""
    bytes: int
    """Bytes that were written."""
    stage: str
    """What is being done: ``rows of user``, ``index user_area``."""


ProgressFunction = Callable[[Progress], object]


class _Line:
    """One line on standard error, written over and over."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        seconds = time.monotonic() - self._started
        rate = progress.rows / seconds if seconds > 0 else 0.0
        text = f"{progress.rows:,} rows, {progress.bytes / 1e6:,.1f} MB, {rate:,.0f} rows/s, {progress.stage}"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        """Ends the line, where there is one."""
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()


class ProgressCallback:
    """The function that the extension calls with rows, bytes and stage; ``call`` is ``None`` without ``progress=``."""

    def __init__(self, progress: bool | ProgressFunction) -> None:
        if not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress must be True, False or a function, not {type(progress).__name__}")
        self._line = _Line() if progress is True else None
        function = self._line if isinstance(progress, bool) else progress
        self.call: Callable[[int, int, str], object] | None = None
        if function is not None:
            self.call = lambda rows, bytes, stage: function(Progress(rows, bytes, stage))

    def __enter__(self) -> ProgressCallback:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line:
            self._line.close()

"""Progress reports of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state of a run."""

    rows: int
    """Rows read from their sources so far, of all tables."""
    bytes: int
    """Bytes written so far."""
    stage: str
    """The current step: ``rows of user``, ``index user_area``."""


ProgressFunction = Callable[[Progress], object]


class _Line:
    """A line on standard error that each report overwrites."""

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
        """Ends the line, if one was written."""
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()


class ProgressCallback:
    """The reports that ``progress=`` asks for. The extension calls ``call``, unless it is ``None``, with rows, bytes, stage."""

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

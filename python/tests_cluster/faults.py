"""Faults of tasks: a worker fails, or kills itself, once or always."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from litepress.shards import Job


def once(marker: str, action: Callable[[], Any]) -> None:
    """Runs an action in the first process that comes here."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    action()


def fail(word: str) -> NoReturn:
    raise RuntimeError(f"a fault of the test: {word}")


def install(fault: str, marker: str, number: int) -> None:
    """Wraps ``Job.write`` of this process, so that part 1 fails when its file is there."""
    original = getattr(Job.write, "original", Job.write)

    def write(self: Job, part: int, batches: Any) -> Any:
        made = original(self, part, batches)
        if part == 1 and number == 1:
            assert made.shards and Path(self.path, made.shards[0].file).exists()
            if fault == "raise after":
                once(marker, lambda: fail("after"))
            if fault == "kill after":
                once(marker, lambda: os.kill(os.getpid(), signal.SIGKILL))
            if fault == "raise always":
                fail("always")
        return made

    write.original = original  # type: ignore[attr-defined]
    Job.write = write  # type: ignore[method-assign]

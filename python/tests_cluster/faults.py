"""Faults of tasks: a worker fails, or kills itself, once or always."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from pyspark_litepress import DefaultSource
from pyspark_litepress._options import Options
from pyspark_litepress._writing import ShardsWriter


def once(marker: str, action: Callable[[], Any]) -> None:
    """Runs an action in the first process that comes here."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    action()


def fail(word: str) -> NoReturn:
    raise RuntimeError(f"a fault of the test: {word}")


def kill_executor() -> None:
    """Kills the process of Spark that runs this task, and waits for the end of this one."""
    process = os.getpid()
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)
    time.sleep(60)


class FaultySource(DefaultSource):
    """The data source, with a task 1 that fails."""

    @classmethod
    def name(cls) -> str:
        return "faulty"

    def writer(self, schema: Any, overwrite: bool) -> Any:
        options = dict(self.options)
        fault, marker = options.pop("fault"), options.pop("marker")
        return FaultyWriter(fault, marker, Options.of(options, writes=True), schema, overwrite)


class FaultyWriter(ShardsWriter):
    def __init__(self, fault: str, marker: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.fault, self.marker = fault, marker

    def write(self, iterator: Iterator[Any]) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None or context.partitionId() != 1:
            return super().write(iterator)
        made = super().write(self._half(iterator))
        assert Path(self.job.path, made.part.shards[0].file).exists()
        if self.fault == "slow":
            Path(f"{self.marker}-{context.attemptNumber()}").touch()
            once(self.marker, lambda: time.sleep(60))
        if self.fault == "kill executor":
            once(self.marker, kill_executor)
        if self.fault == "raise after":
            once(self.marker, lambda: fail("after"))
        if self.fault == "kill after":
            once(self.marker, lambda: os.kill(os.getpid(), signal.SIGKILL))
        if self.fault == "raise always":
            fail("always")
        return made

    def commit(self, messages: list[Any]) -> None:
        if self.fault == "commit":
            fail("commit")
        if self.fault == "kill driver":
            Path(self.marker).touch()
            time.sleep(60)
        super().commit(messages)

    def _half(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            if self.fault == "raise half-way":
                once(self.marker, lambda: fail("half-way"))

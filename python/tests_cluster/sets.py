"""What tests of all engines ask of a set of shards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from litepress import shards

ROWS = 40_000


def once(marker: str | Path, action: Callable[[], Any]) -> None:
    """Runs an action in the first process that comes here."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    action()


def files(path: Path) -> set[str]:
    return {str(one.relative_to(path)) for one in path.rglob("*") if one.is_file()}


def assert_whole(path: Path, first: int = 0, rows: int = ROWS, *, may_have_others: bool = False) -> None:
    """Asserts that the set has each row once. There is no file beside those of the manifest, unless tasks of a failed job go on."""
    made = shards.open(path)
    assert sorted(row[0] for row in made.read(["id"])) == list(range(first, first + rows))
    named = {"_manifest.json", *(shard.file for shard in made.shards)}
    assert named <= files(path) if may_have_others else files(path) == named
    report = made.check(full=True)
    assert report, str(report)

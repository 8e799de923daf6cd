"""The result of functions that make a database."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Summary:
    """A database that was made. Equal summaries have equal hashes: it can be a key, or a member of a set."""

    path: str | None
    """The file; ``None`` for a database in memory."""
    rows: int
    """Rows of all tables."""
    pages: int
    """Pages of the database."""
    bytes: int
    """Bytes of the database."""
    seconds: float
    """Duration of the whole run, syncs included."""
    tables: dict[str, int] = field(hash=False)
    """Rows by table, in the order of the schema."""
    details: dict[str, Any] = field(repr=False, hash=False)
    """The whole report, as ``litepress --json`` prints it: times by stage, memory, threads, column types with reasons."""

    @classmethod
    def of(cls, report: str, path: str | os.PathLike[str] | None) -> Summary:
        """Reads the summary of a file, or of a database in memory if ``path`` is ``None``, from a report in JSON."""
        details = json.loads(report)
        return cls(
            # JSON cannot hold names that are not UTF-8.
            path=None if path is None else os.fspath(path),
            rows=details["rows"],
            pages=details["pages"],
            bytes=details["bytes"],
            seconds=details["seconds"],
            tables={table["name"]: table["rows"] for table in details["tables"]},
            details=details,
        )

"""The result of functions that make a database."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from . import _notebook


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

    def _repr_html_(self) -> str:
        """Returns what a notebook shows."""
        rate = f", {self.rows / self.seconds:,.0f} rows/s" if self.seconds > 0.1 else ""
        peak = self.details.get("peak_memory_bytes")
        memory = f", {peak / 2**20:,.0f} MiB of memory at its peak" if peak else ""
        return _notebook.page(
            _notebook.heading(
                f"{self.path or 'a database in memory'}: {self.rows:,} rows, {_notebook.size(self.bytes)}",
                f"{_notebook.duration(self.seconds)}{rate}{memory}",
            ),
            _notebook.table(("table", "rows"), self.tables.items(), "Tables"),
        )


class Plan(dict[str, Any]):
    """The result of :func:`plan`: a dict that notebooks show as tables."""

    def _repr_html_(self) -> str:
        """Returns what a notebook shows."""
        rows, size = self["rows"], self["expected_bytes"]
        known = [f"{rows:,} rows" if rows is not None else "", f"about {_notebook.size(size)}" if size is not None else ""]
        parts = [_notebook.heading(f"Plan of {self['target'] or 'a database'}", ", ".join(filter(None, known)))]
        for table in self["tables"]:
            columns = table["columns"]
            names = [name for name in ("name", "type", "generator", "because") if any(column.get(name) for column in columns)]
            parts.append(_notebook.table(names, ([column.get(name) for name in names] for column in columns), f"Table {table['name']}"))
        names = ["kind", "name", "method", "why"]
        steps = ([step[name] for name in names] for step in self["steps"])
        return _notebook.page(*parts, _notebook.table(names, steps, "How each object is made"))

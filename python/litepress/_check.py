"""``check``: whether every page of a database is as it should be."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _litepress, _notebook
from ._options import IfExists, PathLike, checked_path, flag, number, page_options, refuse_own_locks_in, suggests


@dataclass(frozen=True)
class Fault:
    """A place in a database that violates the file format."""

    page: int
    """The page, counted from 1."""
    offset: int | None
    """Offset in the page, in bytes."""
    object: str | None
    """The table or index that the page belongs to."""
    what: str
    """Description of the fault."""

    def __str__(self) -> str:
        offset = "" if self.offset is None else f" at {self.offset}"
        owner = "" if self.object is None else f" ({self.object})"
        return f"page {self.page}{offset}{owner}: {self.what}"


@dataclass(frozen=True)
class CheckReport:
    """The result of :func:`check`, true if no fault was found."""

    ok: bool
    """Whether no fault was found."""
    faults: list[Fault]
    """The first faults, at most ``max_faults``."""
    faults_total: int
    """Number of all faults."""
    notes: list[str]
    """Parts that were not checked, and oddities that are no faults."""
    sample: float | None
    """Share of the leaf pages that a sample read, from 0 to 1; ``None`` if all were read."""
    sqlite: list[str] | None
    """Complaints of SQLite's ``integrity_check`` and ``foreign_key_check``; ``None`` if SQLite was not asked."""
    pages: int
    """Pages of the database."""
    page_size: int
    """Bytes of a page."""
    bytes: int
    """Bytes of the file."""
    seconds: float
    """Duration of the check."""
    details: dict[str, Any] = field(repr=False)
    """The whole report, as ``litepress check --json`` prints it: each b-tree with its rows and pages."""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        more = self.faults_total - len(self.faults)
        lines = [str(fault) for fault in self.faults] + ([f"and {more:,} more"] if more else [])
        return "ok" if self.ok else "\n".join(lines + [f"SQLite: {line}" for line in self.sqlite or []])

    def _repr_html_(self) -> str:
        """Returns what a notebook shows."""
        said = "ok" if self.ok else f"{self.faults_total:,} faults" if self.faults_total else "SQLite complains"
        below = f"{self.pages:,} pages, {_notebook.size(self.bytes)}, {_notebook.duration(self.seconds)}"
        trees = [
            (one["kind"], one["name"], one["rows"], one["leaf_pages"] + one["interior_pages"] + one["overflow_pages"], one["depth"])
            for one in self.details["btrees"]
        ]
        return _notebook.page(
            _notebook.heading(said, below),
            _notebook.table(("page", "of", "fault"), ((one.page, one.object, one.what) for one in self.faults), "Faults"),
            _notebook.table(("said by SQLite",), ((line,) for line in self.sqlite or ()), "SQLite"),
            _notebook.table(("kind", "name", "entries", "pages", "levels"), trees, "B-trees"),
            "".join(_notebook.heading("", note) for note in self.notes),
        )


def sample_share(sample: dict[str, int] | None) -> float | None:
    """Return the share of leaves that a sample read."""
    if sample is None:
        return None
    return sample["leaves_read"] / sample["leaves"] if sample["leaves"] else 1.0


@suggests
def check(
    path: PathLike,
    *,
    full: bool = False,
    sample: int | str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    max_faults: int | str | None = None,
    html: PathLike | None = None,
    if_exists: IfExists = "fail",
) -> CheckReport:
    """Check every page of a database, made by litepress or not.

    Parameters
    ----------
    path
        The database. No program may change it meanwhile.
    full
        Whether SQLite checks it too: ``integrity_check`` and ``foreign_key_check``.
    sample
        About how many leaf pages of each b-tree to read, such as 1000: a quick look that is no proof. By default all.
    threads
        Number of threads that read pages; by default one a core.
    memory
        Bytes for long records, or ``"512MiB"``; by default 256 MiB.
    max_faults
        Number of faults in the report; further ones are counted. By default 100.
    html
        File for a page that shows the database: its pages, b-trees, schema, and advice.
    if_exists
        ``"fail"``, or ``"overwrite"``: replace the file of the page if it exists.

    Returns
    -------
    CheckReport
        The faults of the database: they are a result, not an exception.

    Raises
    ------
    FileError
        The file cannot be read, or the page not be written.
    TargetExistsError
        The file of the page exists, and ``if_exists="overwrite"`` is not given.
    """
    options = {
        "sample": number("sample", sample, words=True),
        "threads": number("threads", threads),
        "memory": number("memory", memory, words=True),
        "max_faults": number("max_faults", max_faults, words=True),
    }
    overwrite, options = page_options(html, if_exists, options)
    database = checked_path(path)
    # A folder of shards.
    refuse_own_locks_in(database)
    details = json.loads(_litepress.check(database, flag("full", full), overwrite, options))
    return CheckReport(
        ok=details["ok"],
        faults=[Fault(**fault) for fault in details["faults"]],
        faults_total=details["faults_total"],
        notes=details["notes"],
        sample=sample_share(details["sample"]),
        sqlite=details["sqlite"],
        pages=details["pages"],
        page_size=details["page_size_bytes"],
        bytes=details["bytes"],
        seconds=details["seconds"],
        details=details,
    )

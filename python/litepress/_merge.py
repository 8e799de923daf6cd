"""``merge``: databases of one schema become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Union

from . import _litepress
from ._options import (
    IfExists,
    PathLike,
    Sync,
    Verify,
    checked_path,
    flag,
    making_options,
    names,
    optional_text,
    pairs,
    pick_options,
    suggests,
)
from ._progress import ProgressCallback, ProgressFunction
from ._result import Summary

Rowids = Union[Literal["keep"], Literal["renumber"]]
MergeConflict = Union[Literal["abort"], Literal["ignore"], Literal["replace"]]


@suggests
def merge(
    path: PathLike,
    databases: PathLike | Iterable[PathLike],
    *,
    rowids: Rowids | Mapping[str, Rowids] | None = None,
    source_column: str | None = None,
    union: bool = False,
    skip_tables: str | Sequence[str] | None = None,
    if_exists: IfExists = "fail",
    on_conflict: MergeConflict = "abort",
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: PathLike | None = None,
    analyze: bool = False,
    part: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
    progress: bool | ProgressFunction = False,
) -> Summary:
    """Merge databases of one schema into a new one. They are only read, and may be in use.

    Parameters
    ----------
    path
        The file to make.
    databases
        Databases, patterns of databases, or folders with databases.
    rowids
        ``"keep"`` (rows with equal ones conflict; the default) or ``"renumber"`` (those of each database are shifted above
        those before it, and foreign keys follow), or by table: ``{"user": "renumber"}``.
    source_column
        A column that is added to every table, with the path of each row's database.
    union
        Whether tables and other objects are merged that some databases lack.
    skip_tables
        Tables that are left out, with their indexes and triggers.
    on_conflict
        What becomes of a row whose key exists: ``"abort"`` fails, ``"ignore"`` keeps the first, ``"replace"`` the last.
    if_exists, page_size, threads, memory, temp_dir, analyze, part, sync, verify, progress
        As of :func:`write`.

    Raises
    ------
    TypeError, ValueError
        Arguments that are wrong by themselves.
    SchemaError
        Two databases have different schemas.
    ConstraintError
        Rows of two databases have the same key, or a foreign key cannot follow its row.
    UnsupportedError
        A virtual table cannot be merged.

    After any exception, also Ctrl-C, ``path`` is as it was.
    """
    arguments = merge_arguments(locals())
    with ProgressCallback(progress) as callback:
        target = checked_path(path)
        return Summary.of(_litepress.merge(target, *arguments, callback.call), target)


def merge_arguments(given: dict[str, Any]) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Convert the arguments of :func:`merge` to the list and the two dicts that the extension's ``merge`` takes."""
    databases, rowids = given["databases"], given["rowids"]
    files = [databases] if isinstance(databases, str) or not isinstance(databases, Iterable) else list(databases)
    of_tables: Any = {} if rowids is None or isinstance(rowids, str) else rowids
    merging = {
        "rowids": rowids if isinstance(rowids, str) else None,
        "table_rowids": pairs("rowids", of_tables),
        "source_column": optional_text("source_column", given["source_column"]),
        "union": flag("union", given["union"]),
        "skip_tables": names("skip_tables", given["skip_tables"]),
    }
    return [checked_path(file) for file in files], merging, pick_options(making_options, given)

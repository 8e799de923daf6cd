"""``compact``: a database without its free space."""

from __future__ import annotations

from collections.abc import Sequence

from . import _litepress
from ._options import IfExists, PathLike, Sync, Verify, checked_path, flag, making_options, names, suggests
from ._progress import ProgressCallback, ProgressFunction
from ._result import Summary


@suggests
def compact(
    path: PathLike,
    copy: PathLike | None = None,
    *,
    only: str | Sequence[str] = (),
    drop_index: str | Sequence[str] = (),
    without_rowid: str | Sequence[str] = (),
    allow_incomplete: bool = False,
    if_exists: IfExists = "fail",
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: PathLike | None = None,
    sync: Sync = "full",
    verify: Verify = "none",
    progress: bool | ProgressFunction = False,
) -> Summary:
    """Copy a database without its free space, on all cores, or replace it by such a copy.

    Rows keep their rowids, and every object stays: views, triggers, virtual tables, statistics.

    Parameters
    ----------
    path
        The database.
    copy
        The file to make. Without it, the copy replaces the database, which no program may have open then.
    only
        Tables and views to keep, with the indexes and triggers of these; by default all.
    drop_index
        Indexes that the copy lacks.
    without_rowid
        Rowid tables with a primary key that the copy has WITHOUT ROWID.
    allow_incomplete
        Whether the copy may lack reserved bytes, which it cannot have.
    if_exists
        What becomes of a file that has the name of the copy: ``"fail"`` or ``"overwrite"``.
    page_size
        Bytes of a page; by default those of the database.
    threads, memory, temp_dir, sync, verify, progress
        As of :func:`write`.

    Returns
    -------
    Summary
        The copy. ``details`` has ``bytes_before``, the number of ``indexes``, and ``left_out``: what chosen tables would need.

    Raises
    ------
    FileError, CorruptError
        The database cannot be read, or a page of it breaks a rule of the file format.
    UnsupportedError
        The copy cannot have a setting of the database.
    TargetError
        The database is to be replaced and in use, or the copy exists.

    After any exception, also Ctrl-C, all files are as they were.
    """
    chosen = {
        "only": names("only", only),
        "drop_index": names("drop_index", drop_index),
        "without_rowid": names("without_rowid", without_rowid),
        "allow_incomplete": flag("allow_incomplete", allow_incomplete),
    }
    making = making_options(
        if_exists=if_exists,
        page_size=page_size,
        threads=threads,
        memory=memory,
        temp_dir=temp_dir,
        sync=sync,
        verify=verify,
    )
    with ProgressCallback(progress) as callback:
        database = checked_path(path)
        target = None if copy is None else checked_path(copy)
        report = _litepress.compact(database, target, chosen, making, callback.call)
        return Summary.of(report, database if target is None else target)

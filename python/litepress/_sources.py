"""Files of :func:`load`: paths, open files, and URLs.

The extension reads paths, and URLs of local files are paths. Everything else is copied to a temporary file first, and its own name takes
the place of that file's in errors and reports.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Union

from ._errors import DataError, Error, FileError, UsageError
from ._options import expanded, raise_type_error, refuse_own_lock

if TYPE_CHECKING:
    import tempfile

_CHUNK = 1 << 20
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Readable(Protocol):
    """An open file, of bytes or of text."""

    def read(self, size: int = ..., /) -> bytes | str: ...


FileLike = Union[str, "os.PathLike[str]", Readable]
"""A path, a pattern of paths, a URL, or an open file."""


class LocalFiles:
    """The paths of files for one run. Copies are removed at its end."""

    def __init__(
        self,
        files: Any,
        temp_dir: str | os.PathLike[str] | None,
        table: Callable[[], str | None],
        keeps_position: bool = False,
    ) -> None:
        """``table()`` names the table of open files without a name. ``keeps_position`` leaves open files where they were."""
        self._files = _listed(files)
        self._temp_dir = temp_dir
        self._table = table
        self._keeps_position = keeps_position
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._names: dict[str, str] = {}
        self._has_text = False
        self._notes: list[str] = []
        self.paths: list[str] = []

    def __enter__(self) -> LocalFiles:
        try:
            for file in self._files:
                self.paths += self._of(file)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._remove()
        if isinstance(error, Error) and self._names:
            error.message = self.renamed(error.message)
            error.advice = None if error.advice is None else self.renamed(error.advice)
            error.file = None if error.file is None else self.renamed(error.file)
            if isinstance(error, FileError):
                error.filename = error.file

    def checked(self, encoding: str | None) -> list[str]:
        """Returns the paths. Refuses an encoding for files that are open as text."""
        if encoding is not None and self._has_text:
            raise ValueError("encoding= is for bytes, and a file is open as text: open it in binary mode")
        return self.paths

    def renamed(self, text: str) -> str:
        """Returns a text with the names that the user knows."""
        for path, name in self._names.items():
            text = text.replace(path, name)
        return text

    def renamed_report(self, report: str) -> str:
        """Returns a report in JSON with the names that the user knows, and with notes about copies."""
        for path, name in self._names.items():
            report = report.replace(_in_json(path), _in_json(name))
        if self._notes:
            details = json.loads(report)
            details["notes"] = [*details.get("notes", ()), *self._notes]
            report = json.dumps(details)
        return report

    def _of(self, file: Any) -> list[str]:
        local = _local_path(file)
        if local is not None:
            refuse_own_lock(local)
            return [local]
        if isinstance(file, str):
            return [self._copied(*opened) for opened in _opened_url(file)]
        if callable(getattr(file, "read", None)):
            return [self._of_open_file(file)]
        # OpenFile of fsspec, and paths of other file systems.
        name = str(getattr(file, "full_name", None) or getattr(file, "path", None) or file)
        return [self._copied(name, lambda: file.open() if hasattr(file, "fs") else file.open("rb"), file)]

    def _of_open_file(self, file: Any) -> str:
        path = _path_of(file)
        if path is not None:
            refuse_own_lock(path)
            return path
        name = getattr(file, "name", None)
        if not isinstance(name, str) or name.startswith("<"):
            if self._table() is None:
                raise ValueError("an open file without a name does not name its table: say it with table=")
            name = None
        position = file.tell() if self._keeps_position and _is_seekable(file) else None
        try:
            return self._copied(name, lambda: _Borrowed(file), file)
        finally:
            if position is not None:
                file.seek(position)

    def _copied(self, name: str | None, open_: Callable[[], Any], file: Any = None) -> str:
        """Copies what is opened to a temporary file that is called like it, and returns the path. ``file`` is what the user gave."""
        if self._folder is None:
            import tempfile

            self._folder = tempfile.TemporaryDirectory(prefix="litepress-", dir=self._temp_dir)
        folder = Path(self._folder.name, str(len(self._names)))
        folder.mkdir()
        shown = name or f"<open file {len(self._names) + 1}>"
        base = re.split(r"[?#]", name, maxsplit=1)[0].rstrip("/").rpartition("/")[2] if name else self._table()
        copy = folder / ((base or "").replace("\0", "") or "data")
        self._names[str(copy)] = shown
        try:
            with open_() as source, open(copy, "wb") as target:
                while chunk := source.read(_CHUNK):
                    self._has_text |= isinstance(chunk, str)
                    target.write(chunk.encode() if isinstance(chunk, str) else chunk)
        except OSError as error:
            raise FileError(f"{shown}: cannot read: {error}", file=shown, errno=error.errno or errno.EIO) from error
        except UnicodeEncodeError as error:
            raise ValueError(f"{shown}: the text has lone surrogates: open the file in binary mode") from error
        if _is_in_wal_mode(copy):
            self._look_for_log(shown, file)
        return str(copy)

    def _look_for_log(self, shown: str, file: Any) -> None:
        """Refuses a copy of a database whose log is known to have rows. Notes that there may be one."""
        advice = "run PRAGMA wal_checkpoint(TRUNCATE) on the database, and close it, before it is read from there"
        size = _size_of_log(file)
        if size:
            message = f"{shown}: the database is in WAL mode, and rows in the log beside it ({size} bytes) would be missing"
            raise DataError(message, file=shown, advice=advice)
        if size is None:
            self._notes.append(f"{shown}: the database is in WAL mode; rows that are only in its log are not read: {advice}")

    def _remove(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _is_in_wal_mode(path: Path) -> bool:
    """Returns whether a file is a database in WAL mode. If it was not closed, rows may be in its log alone."""
    with open(path, "rb") as file:
        head = file.read(20)
    return head.startswith(b"SQLite format 3\0") and 2 in head[18:20]


def _size_of_log(file: Any) -> int | None:
    """Returns the bytes of the log beside a database of fsspec, 0 if there is none, or ``None`` if nobody can tell."""
    path, info = getattr(file, "path", None), getattr(getattr(file, "fs", None), "info", None)
    if not isinstance(path, str) or not callable(info):
        return None
    try:
        size = info(path + "-wal").get("size")
        return size if isinstance(size, int) else None
    except FileNotFoundError:
        return 0
    except Exception:
        # Servers of the web, among others, tell of no other file.
        return None


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


class _Borrowed:
    """An open file of the user in a ``with`` block, which does not close it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, *_: object) -> None:
        pass


def _listed(files: Any) -> list[Any]:
    if isinstance(files, (str, os.PathLike)) or callable(getattr(files, "read", None)) or _is_remote(files):
        return [files]
    if hasattr(files, "__arrow_c_stream__") or hasattr(files, "columns"):
        raise TypeError(f"load() reads files: write() makes a database of a {type(files).__name__}")
    if not isinstance(files, Iterable) or isinstance(files, (bytes, bytearray, Mapping)):
        raise_type_error("files", "a path, an open file, a URL, or several of them", files)
    listed = list(files)
    if not listed:
        raise ValueError("files: no file is named")
    for file in listed:
        if not isinstance(file, (str, os.PathLike)) and not callable(getattr(file, "read", None)) and not _is_remote(file):
            raise_type_error("each of files", "a path, an open file or a URL", file)
    return listed


def _is_remote(file: Any) -> bool:
    """Returns whether this is a file of fsspec that is not open, or a path of another file system."""
    if isinstance(file, (str, Path)):
        return False
    is_of_fsspec = hasattr(file, "fs") and hasattr(file, "path")
    return callable(getattr(file, "open", None)) and (is_of_fsspec or hasattr(file, "protocol"))


def _local_path(file: Any) -> str | None:
    """Returns the path that a path, a ``file://`` URL or a file of fsspec means, or ``None`` if it is not of this machine.

    SQLite reads a database by its path: beside it may be a log with rows.
    """
    if isinstance(file, str) and _URL.match(file):
        return _path_of_url(file)
    if not _is_remote(file):
        return expanded(file) if isinstance(file, (str, os.PathLike)) else None
    if type(getattr(file, "fs", None)).__name__ != "LocalFileSystem":
        return None
    is_as_stored = getattr(file, "mode", "rb") == "rb" and getattr(file, "compression", None) is None
    if not is_as_stored:
        refuse_own_lock(file.path)
    return os.fspath(file.path) if is_as_stored else None


def _path_of_url(url: str) -> str | None:
    """Returns the path of a URL of this machine's files. ``file:///a%20b`` may be written with a space, too."""
    scheme, _, path = url.partition("://")
    if scheme.lower() not in ("file", "local"):
        return None
    path = path.removeprefix("localhost") if path.startswith("localhost/") else path
    return path if os.path.exists(path) else urllib.parse.unquote(path)


def _path_of(file: Any) -> str | None:
    """Returns the path of a file that is open for reading bytes, and was not read yet: it need not be copied."""
    name = getattr(file, "name", None)
    if not isinstance(file, (io.BufferedReader, io.FileIO)) or not isinstance(name, str):
        return None
    try:
        opened, named = os.fstat(file.fileno()), os.stat(name)
        is_same = (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
        return name if stat.S_ISREG(opened.st_mode) and is_same and file.tell() == 0 else None
    except (OSError, ValueError):
        return None


def _is_seekable(file: Any) -> bool:
    try:
        return bool(file.seekable())
    except AttributeError:
        return False


def _opened_url(url: str) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Yields the names of the files of a URL, each with a function that opens it, and the file of fsspec. Patterns are for fsspec, which the standard library lacks."""
    is_of_web = url.startswith(("http://", "https://"))
    try:
        import fsspec  # type: ignore[import-untyped, unused-ignore]

        files = fsspec.open_files(url, "rb")
    except ImportError as error:
        if is_of_web:
            yield url, lambda: _opened_by_urllib(url), None
            return
        advice = f"pip install {error.name}" if error.name else "pip install fsspec"
        raise UsageError(f"{url}: URLs are read with fsspec: {error}", file=url, advice=advice) from error
    except (OSError, ValueError) as error:
        raise FileError(f"{url}: cannot open: {error}", file=url, errno=getattr(error, "errno", None)) from error
    if not files:
        raise FileError(f"{url}: no file matches this pattern", file=url, errno=errno.ENOENT)
    is_one = len(files) == 1
    for file in files:
        yield url if is_one and "*" not in url else file.full_name, file.open, file


def _opened_by_urllib(url: str) -> Any:
    import urllib.request

    return urllib.request.urlopen(url)

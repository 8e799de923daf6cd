"""Places of shards: folders, and object stores through fsspec."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from .._errors import FileError
from .._multipart import SCHEMES
from ._manifest import NAME

_OWN = re.compile(rf"v-[0-9a-f]{{32}}/[^/]+|{re.escape(NAME)}\.[0-9a-f]{{32}}")
"""Names of files that jobs made: nothing else is ever removed."""


class Store(Protocol):
    """A place of shards. Names of files are relative to it, with slashes."""

    def name(self, file: str) -> str:
        """Returns the whole name of a file, for errors."""

    def begin(self, generation: str) -> None:
        """Makes room for the files of a generation."""

    def end(self, generation: str) -> None:
        """Removes the room of a generation without files."""

    def room(self, generation: str) -> Path | None:
        """Returns a folder for temporary files of a generation; ``None`` for that of the system."""

    @contextlib.contextmanager
    def new_file(self, file: str) -> Iterator[Path]:
        """Yields a path to make a file at. The file is in the store when the context ends without an exception."""
        yield Path()  # pragma: no cover

    @contextlib.contextmanager
    def local(self, file: str) -> Iterator[Path]:
        """Yields a path to read a file from."""
        yield Path()  # pragma: no cover

    def sizes(self, generation: str) -> dict[str, int]:
        """Returns the bytes of each file of a generation."""

    def files(self) -> list[str]:
        """Returns all files of generations, and manifests that were never published."""

    def remove(self, files: list[str]) -> None:
        """Removes files, and folders that become empty. Absent files are no error."""

    def sync(self, generation: str) -> None:
        """Waits until the files of a generation survive a power cut."""

    def manifest(self) -> str | None:
        """Returns the text of the manifest, or ``None`` if there is none."""

    def publish(self, text: str, job: str) -> None:
        """Replaces the manifest: readers see the old one or the new one."""

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keeps other processes from publishing meanwhile, if the place can."""
        yield


def store_at(path: str, storage_options: dict[str, Any] | None) -> Store:
    """Returns the store at a path: a folder, or a URL such as ``s3://bucket/user``."""
    if path.startswith("file:"):
        path = "/" + path[len("file:") :].lstrip("/")
    if "://" in path:
        return ObjectStore(path, storage_options or {})
    return Folder(Path(os.path.expanduser(path)))


class Folder:
    """A folder of a local or a network file system."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def name(self, file: str) -> str:
        return str(self.root / file)

    def begin(self, generation: str) -> None:
        (self.root / generation).mkdir(parents=True, exist_ok=True)
        _sync_folder(self.root)

    def end(self, generation: str) -> None:
        for folder in (self.root / generation, self.root):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def room(self, generation: str) -> Path:
        folder = self.root / generation
        if not folder.is_dir():
            raise FileError(
                f"{folder}: the folder of the job is absent",
                file=str(folder),
                advice="if the job was not ended meanwhile, write to a folder that all machines share, or to an object store",
            )
        return folder

    @contextlib.contextmanager
    def new_file(self, file: str) -> Iterator[Path]:
        generation, _, name = file.partition("/")
        yield self.room(generation) / name

    @contextlib.contextmanager
    def local(self, file: str) -> Iterator[Path]:
        yield self.root / file

    def sizes(self, generation: str) -> dict[str, int]:
        folder = self.root / generation
        return {f"{generation}/{entry.name}": entry.stat().st_size for entry in os.scandir(folder)} if folder.is_dir() else {}

    def files(self) -> list[str]:
        if not self.root.is_dir():
            return []
        files = [f"{folder.name}/{path.name}" for folder in self.root.glob("v-*") if folder.is_dir() for path in folder.iterdir()]
        files += [path.name for path in self.root.glob(f"{NAME}.*")]
        return sorted(file for file in files if _OWN.fullmatch(file))

    def remove(self, files: list[str]) -> None:
        for file in files:
            path = self.root / file
            if path.is_dir() and not path.is_symlink():
                # A task was killed in the middle of its databases.
                shutil.rmtree(path, ignore_errors=True)
                continue
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        for folder in {file.partition("/")[0] for file in files if "/" in file}:
            with contextlib.suppress(OSError):
                (self.root / folder).rmdir()

    def sync(self, generation: str) -> None:
        _sync_folder(self.root / generation)
        _sync_folder(self.root)

    def manifest(self) -> str | None:
        try:
            return (self.root / NAME).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def publish(self, text: str, job: str) -> None:
        new = self.root / f"{NAME}.{job}"
        try:
            with new.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.root / NAME)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        _sync_folder(self.root)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        import fcntl

        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            # Some network file systems cannot lock a folder.
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class ObjectStore:
    """A bucket, or another place that fsspec knows. Files are made in a local folder and uploaded whole."""

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        try:
            from fsspec.core import url_to_fs  # type: ignore[import-untyped, unused-ignore]
        except ImportError as error:
            message = f"{url}: places other than folders are written with fsspec, which is not installed"
            raise FileError(message, file=url, advice="pip install fsspec, and the package of the place, such as s3fs") from error
        self.url = url.rstrip("/")
        self.system, root = url_to_fs(self.url, **options)
        self.root: str = root.rstrip("/")

    @property
    def copies_pieces(self) -> bool:
        """Whether the place makes objects of pieces of others: S3 does."""
        return self.url.partition("://")[0] in SCHEMES

    def name(self, file: str) -> str:
        return f"{self.url}/{file}"

    def begin(self, generation: str) -> None:
        """Does nothing: object stores have no folders."""

    def end(self, generation: str) -> None:
        """Does nothing: object stores have no folders."""

    def room(self, generation: str) -> None:
        """Returns ``None``: files are made on this machine."""

    @contextlib.contextmanager
    def new_file(self, file: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="litepress-shard-") as folder:
            path = Path(folder) / "shard.db"
            yield path
            if path.exists():
                self.system.makedirs(f"{self.root}/{file.rpartition('/')[0]}", exist_ok=True)
                self.system.put_file(str(path), f"{self.root}/{file}")

    @contextlib.contextmanager
    def local(self, file: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="litepress-shard-") as folder:
            path = Path(folder) / "shard.db"
            self.system.get_file(f"{self.root}/{file}", str(path))
            yield path

    def sizes(self, generation: str) -> dict[str, int]:
        self.system.invalidate_cache()
        try:
            found = self.system.find(f"{self.root}/{generation}", detail=True)
        except FileNotFoundError:
            return {}
        return {name[len(self.root) + 1 :]: int(facts["size"]) for name, facts in found.items()}

    def files(self) -> list[str]:
        self.system.invalidate_cache()
        try:
            found = self.system.find(self.root)
        except FileNotFoundError:
            return []
        names = [name[len(self.root) + 1 :] for name in found]
        return sorted(name for name in names if _OWN.fullmatch(name))

    def remove(self, files: list[str]) -> None:
        for start in range(0, len(files), 1000):
            with contextlib.suppress(FileNotFoundError):
                self.system.rm([f"{self.root}/{file}" for file in files[start : start + 1000]])

    def sync(self, generation: str) -> None:
        """Does nothing: an upload that has ended is safe."""

    def manifest(self) -> str | None:
        self.system.invalidate_cache()
        try:
            text: str = self.system.cat_file(f"{self.root}/{NAME}").decode()
        except FileNotFoundError:
            return None
        return text

    def publish(self, text: str, job: str) -> None:
        self.system.makedirs(self.root, exist_ok=True)
        self.system.pipe_file(f"{self.root}/{NAME}", text.encode())

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        yield


def sync_files(paths: list[Path]) -> None:
    """Waits until files of one folder survive a power cut: with one call of the system if it has it."""
    if not paths:
        return
    import ctypes

    descriptor = os.open(paths[0].parent, os.O_RDONLY)
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if call is not None and call(descriptor) == 0:
            return
    finally:
        os.close(descriptor)
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems cannot sync a folder.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

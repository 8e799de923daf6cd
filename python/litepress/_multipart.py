"""Databases in an object store: a multipart upload, most of whose parts the store copies from objects that it has.

A multipart upload has up to 10,000 parts of 5 MiB to 5 GiB; only the last one may be smaller. So a piece between two long copies takes
some bytes of its neighbours, which are downloaded.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _litepress
from ._errors import FileError, TargetExistsError, UsageError
from ._result import Summary

SCHEMES = frozenset({"s3", "s3a"})
"""Stores that copy pieces of objects, by the scheme of their URLs."""
HEADER_BYTES = 4096
"""Bytes of a part that are enough to find its directory."""
LEAST = 5 << 20
"""Fewest bytes of a part of an upload."""
MOST_COPIED = 5 << 30
"""Most bytes that the store copies at once."""
MOST_PARTS = 10_000
MOST_BYTES = MOST_COPIED * MOST_PARTS
FETCHED = 64 << 20
"""Bytes that are downloaded or uploaded at once."""
COPIED = 512 << 20
"""Bytes that the store copies at once, unless these would be too many requests."""
SENT_AT_ONCE = 8
"""Uploads at a time: each takes its bytes of memory, and they share the link of this machine."""
COPIED_AT_ONCE = 64
"""Copies at a time: the store works on them, and a single one is slow."""


@dataclass(frozen=True)
class Piece:
    """Consecutive bytes of the database: of a part, or of the local file if ``part`` is ``None``."""

    part: int | None
    start: int
    """Offset in the part or in the local file."""
    bytes: int

    def cut(self, at: int) -> tuple[Piece, Piece]:
        """Divides the piece behind its first ``at`` bytes."""
        return Piece(self.part, self.start, at), Piece(self.part, self.start + at, self.bytes - at)


def pieces_of(copies: list[list[int]], size: int) -> Iterator[Piece]:
    """Yields the pieces of a database of ``size`` bytes. Copies are part, offset there, offset in the database, and bytes."""
    end = 0
    last: Piece | None = None
    for part, start, to, count in copies:
        gap = to - end
        if last is not None and gap == 0 and last.part == part and last.start + last.bytes == start:
            last = Piece(part, last.start, last.bytes + count)
        else:
            if last is not None:
                yield last
            if gap:
                yield Piece(None, end, gap)
            last = Piece(part, start, count)
        end = to + count
    if last is not None:
        yield last
    if size > end:
        yield Piece(None, end, size - end)


def plan_upload(pieces: Iterator[Piece], size: int) -> list[list[Piece]]:
    """Divides pieces between the parts of an upload. A part of one piece of another object is copied by the store, all others are sent."""
    copied_at_most = min(MOST_COPIED, max(COPIED, -(-size // (MOST_PARTS // 4))))
    sent_at_most = max(FETCHED, -(-size // (MOST_PARTS // 5 * 4)))
    planned: list[list[Piece]] = []
    waiting: list[Piece] = []
    held = 0
    for piece in pieces:
        rest = piece
        if piece.part is not None:
            if waiting and held < LEAST:
                taken, rest = rest.cut(min(LEAST - held, rest.bytes))
                waiting.append(taken)
                held += taken.bytes
            if rest.bytes >= LEAST:
                if waiting:
                    planned.append(waiting)
                    waiting, held = [], 0
                count = -(-rest.bytes // copied_at_most)
                for left in range(count, 0, -1):
                    taken, rest = rest.cut(rest.bytes // left)
                    planned.append([taken])
                continue
        while rest.bytes:
            taken, rest = rest.cut(min(sent_at_most - held, rest.bytes))
            waiting.append(taken)
            held += taken.bytes
            if held == sent_at_most:
                planned.append(waiting)
                waiting, held = [], 0
    if waiting:
        planned.append(waiting)
    return planned


def is_copied(pieces: list[Piece]) -> bool:
    """Returns whether the store copies a part of an upload."""
    return len(pieces) == 1 and pieces[0].part is not None and pieces[0].bytes >= LEAST


def refuse_verify(verify: str) -> None:
    """Refuses to verify a database in a store."""
    if verify != "none":
        raise UsageError("verify: an object in a store cannot be verified before it is whole", advice="download it, and check it")


def stitch_in_store(url: str, parts: list[str], making: dict[str, Any], options: dict[str, Any], tell: Callable[..., Any] | None) -> Summary:
    """Makes a database of parts that lie in the same store."""
    store = _Store(url, parts, options)
    if making["if_exists"] == "fail" and store.system.exists(store.target):
        raise TargetExistsError(f"{url}: the target exists", file=url, advice='choose another name, or allow its replacement with if_exists="overwrite"')
    refuse_verify(making["verify"])
    with tempfile.TemporaryDirectory(prefix="litepress-stitch-", dir=making["temp_dir"]) as folder:
        local = [store.fetch(number, Path(folder) / f"{number}.part") for number in range(len(parts))]
        path = Path(folder) / "database"
        making = {**making, "temp_dir": making["temp_dir"] or folder, "sync": "off"}
        summary = Summary.of(_litepress.stitch(path, local, making, True, tell), url)
        copies = summary.details.pop("copies")
        if summary.bytes > MOST_BYTES:
            raise FileError(f"{url}: {summary.bytes} bytes are more than an object can have", file=url)
        for file in local:
            file.unlink()
        planned = plan_upload(pieces_of(copies, summary.bytes), summary.bytes)
        if len(planned) > MOST_PARTS:
            raise FileError(f"{url}: the upload would take {len(planned)} requests, more than a store allows", file=url, advice="print larger parts")
        store.upload(planned, path)
    details = {**summary.details, "file": url, "store": store.counts}
    return Summary(url, summary.rows, summary.pages, summary.bytes, summary.seconds, summary.tables, details)


class _Store:
    """A bucket, the parts in it, and the object to make."""

    def __init__(self, url: str, parts: list[str], options: dict[str, Any]) -> None:
        schemes = {name.partition("://")[0] for name in (url, *parts)}
        if not schemes <= SCHEMES:
            found = sorted(schemes - SCHEMES)[0]
            raise UsageError(f"{found}://: only S3 stores copy pieces of objects", advice="stitch a file, and upload it")
        try:
            from s3fs import S3FileSystem  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError as error:
            raise FileError(f"{url}: s3fs is not installed", file=url, advice="pip install s3fs") from error
        self.url, self.urls = url, parts
        config = {"max_pool_connections": COPIED_AT_ONCE + SENT_AT_ONCE, **options.get("config_kwargs", {})}
        self.system: Any = S3FileSystem(**{**options, "config_kwargs": config})
        self.target: str = self.system._strip_protocol(url)
        self.parts: list[str] = [self.system._strip_protocol(part) for part in parts]
        self.facts: list[dict[str, Any]] = []
        self.counts = {"copied_bytes": 0, "uploaded_bytes": 0, "downloaded_bytes": 0}
        self.lock = threading.Lock()

    def fetch(self, number: int, path: Path) -> Path:
        """Makes a local copy of a part that lacks the pages which are only copied."""
        try:
            facts = self.system.info(self.parts[number])
        except FileNotFoundError:
            raise FileError(f"{self.urls[number]}: there is no such object", file=self.urls[number]) from None
        self.facts.append(facts)
        with path.open("wb") as file:
            file.truncate(facts["size"])
            header = self.read(number, 0, min(HEADER_BYTES, facts["size"]))
            file.write(header)
            self._add(number, file, *_litepress.part_directory(header))
        with path.open("r+b") as file:
            for start, end in _litepress.part_needs(path):
                self._add(number, file, start, end)
        return path

    def _add(self, number: int, file: Any, start: int, end: int) -> None:
        file.seek(start)
        for at in range(start, end, FETCHED):
            file.write(self.read(number, at, min(end, at + FETCHED)))

    def read(self, number: int, start: int, end: int) -> bytes:
        """Downloads a range of a part."""
        found: bytes = self.system.cat_file(self.parts[number], start=start, end=end)
        if len(found) != end - start:
            raise FileError(f"{self.urls[number]}: the part is cut off", file=self.urls[number], advice="print it again")
        self._count("downloaded_bytes", len(found))
        return found

    def _count(self, what: str, bytes: int) -> None:
        with self.lock:
            self.counts[what] += bytes

    def upload(self, planned: list[list[Piece]], local: Path) -> None:
        """Makes the object. It is whole or absent."""
        bucket, _, key = self.target.partition("/")
        place = {"Bucket": bucket, "Key": key}
        upload = self.system.call_s3("create_multipart_upload", **place)["UploadId"]
        file = os.open(local, os.O_RDONLY)

        def send(number: int, pieces: list[Piece]) -> dict[str, Any]:
            into = {**place, "UploadId": upload, "PartNumber": number}
            if is_copied(pieces):
                return {"PartNumber": number, "ETag": self._copy(pieces[0], into)}
            body = b"".join(self._bytes(piece, file) for piece in pieces)
            self._count("uploaded_bytes", len(body))
            return {"PartNumber": number, "ETag": self.system.call_s3("upload_part", **into, Body=body)["ETag"]}

        try:
            with ThreadPoolExecutor(COPIED_AT_ONCE) as copying, ThreadPoolExecutor(SENT_AT_ONCE) as sending:
                numbered = enumerate(planned, 1)
                jobs = [(copying if is_copied(pieces) else sending).submit(send, number, pieces) for number, pieces in numbered]
                try:
                    sent = [job.result() for job in jobs]
                except BaseException:
                    for job in jobs:
                        job.cancel()
                    raise
            self.system.call_s3("complete_multipart_upload", **place, UploadId=upload, MultipartUpload={"Parts": sent})
        except BaseException:
            self.system.call_s3("abort_multipart_upload", **place, UploadId=upload)
            raise
        finally:
            os.close(file)
            self.system.invalidate_cache()

    def _copy(self, piece: Piece, into: dict[str, Any]) -> str:
        """Lets the store copy a piece of a part, if it is still the one whose directory was read."""
        assert piece.part is not None
        bucket, _, key = self.parts[piece.part].partition("/")
        copied: dict[str, Any] = self.system.call_s3(
            "upload_part_copy",
            **into,
            CopySource={"Bucket": bucket, "Key": key},
            CopySourceRange=f"bytes={piece.start}-{piece.start + piece.bytes - 1}",
            CopySourceIfMatch=self.facts[piece.part]["ETag"],
        )
        self._count("copied_bytes", piece.bytes)
        tag: str = copied["CopyPartResult"]["ETag"]
        return tag

    def _bytes(self, piece: Piece, local: int) -> bytes:
        if piece.part is not None:
            return self.read(piece.part, piece.start, piece.start + piece.bytes)
        return os.pread(local, piece.bytes, piece.start)

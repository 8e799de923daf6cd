"""The manifest: the file that names the databases of a set of shards."""

from __future__ import annotations

import bisect
import json
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from .._errors import DataError, UnsupportedError
from ._keys import Key, Value, from_json, key_order, order, show, to_json

NAME = "_manifest.json"
FORMAT = "litepress.shards"
VERSION = 1


@dataclass(frozen=True)
class Shard:
    """A database of a set of shards."""

    file: str
    """The file, below the folder of the set."""
    rows: int
    """Rows of the table."""
    bytes: int
    """Bytes of the file."""
    pages: int
    """Pages of the file."""
    checksum: str | None
    """The CRC-32 of the file: ``crc32:`` and eight hexadecimal digits; ``None`` for a part, and if an object store made the file of parts."""
    smallest: Key | None = None
    """The smallest primary key; ``None`` without a key, or if a collation other than BINARY orders it."""
    largest: Key | None = None
    """The largest primary key."""
    value: Value = None
    """The value of the column in all rows, if there is a database for each value."""

    def to_json(self, has_value: bool) -> dict[str, Any]:
        """Returns the shard as the manifest holds it."""
        keys = {
            name: None if key is None else [to_json(value) for value in key]
            for name, key in (("smallest", self.smallest), ("largest", self.largest))
        }
        counts = {"file": self.file, "rows": self.rows, "bytes": self.bytes, "pages": self.pages, "checksum": self.checksum}
        return counts | keys | ({"value": to_json(self.value)} if has_value else {})

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Shard:
        """Reads a shard of a manifest."""

        def key(name: str) -> Key | None:
            return None if read[name] is None else tuple(from_json(value) for value in read[name])

        counts = {name: read[name] for name in ("file", "rows", "bytes", "pages", "checksum")}
        return cls(**counts, smallest=key("smallest"), largest=key("largest"), value=from_json(read.get("value")))


Partitioning = Union[Literal["range"], Literal["values"], Literal["none"]]


@dataclass(frozen=True)
class Manifest:
    """The databases of a set of shards, and all that they have in common."""

    job: str
    """The job that published this manifest."""
    generation: int
    """Number of the manifest, counted from 1: each commit adds one."""
    table: str
    """The table that all shards have."""
    schema: tuple[str, ...]
    """The CREATE statements of each shard, as SQLite keeps them."""
    primary_key: tuple[str, ...]
    """The columns of the primary key; empty if the table has none."""
    partitioning: Partitioning
    """``range``: the keys of each shard lie above those of the shard before; ``values``: a shard for each value of ``column``."""
    column: str | None
    """The column whose values have a shard each."""
    shards: tuple[Shard, ...]
    """The databases; in the order of their keys if ``partitioning`` is ``range``."""
    origin: dict[str, Any] = field(default_factory=dict, hash=False)
    """Facts for readers: ``arrow_schema`` (the schema's IPC message in base64), ``spark_schema``, ``streams``."""

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return sum(shard.rows for shard in self.shards)

    @property
    def bytes(self) -> int:
        """Bytes of all shards."""
        return sum(shard.bytes for shard in self.shards)

    def to_json(self) -> str:
        """Returns the text of the manifest."""
        has_value = self.partitioning == "values"
        head = {
            "format": FORMAT,
            "version": VERSION,
            "job": self.job,
            "generation": self.generation,
            "table": self.table,
            "schema": self.schema,
            "primary_key": self.primary_key,
            "partitioning": self.partitioning,
            "column": self.column,
            "rows": self.rows,
            "bytes": self.bytes,
            "origin": self.origin,
        }
        lines = ",\n".join(f"  {json.dumps(shard.to_json(has_value), ensure_ascii=False)}" for shard in self.shards)
        return f'{json.dumps(head, ensure_ascii=False, indent=1)[:-2]},\n "shards": [\n{lines}\n ]\n}}\n'

    @classmethod
    def from_json(cls, text: str, file: str) -> Manifest:
        """Reads the text of a manifest. ``file`` names it in errors."""
        try:
            read = json.loads(text)
            known = isinstance(read, dict) and read["format"] == FORMAT
            if not known:
                raise KeyError("format")
            if read["version"] != VERSION:
                message = f"{file}: the manifest has version {read['version']}, this litepress reads version {VERSION}"
                raise UnsupportedError(message, file=file, advice="use the version of litepress that wrote it, or a later one")
            words = ("job", "generation", "table", "partitioning", "column", "origin")
            return cls(
                **{name: read[name] for name in words},
                schema=tuple(read["schema"]),
                primary_key=tuple(read["primary_key"]),
                shards=tuple(Shard.from_json(shard) for shard in read["shards"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, UnsupportedError):
                raise
            message = f"{file}: this is no manifest of shards: {type(error).__name__} {error}"
            raise DataError(message, file=file, advice="write the shards again") from error

    def shard_of(self, key: Any) -> Shard | None:
        """Returns the shard that has a key, or the value of ``column``; ``None`` if no shard can have it."""
        if self.partitioning == "values":
            return next((shard for shard in self.shards if order(shard.value) == order(key)), None)
        if self.partitioning == "none":
            raise UnsupportedError(
                "the keys of the shards overlap, or the table has no primary key, so every shard may have the row",
                table=self.table,
                advice="partition the rows by ranges of the primary key, or with one_file_per=, when they are written",
            )
        whole = key if isinstance(key, tuple) else (key,)
        if len(whole) != len(self.primary_key):
            raise ValueError(f"the primary key of {self.table} is ({', '.join(self.primary_key)}): {key!r} has another number of values")
        largest = [key_order(shard.largest or ()) for shard in self.shards]
        place = bisect.bisect_left(largest, key_order(whole))
        found = self.shards[place] if place < len(self.shards) else None
        return found if found is not None and found.smallest is not None and key_order(found.smallest) <= key_order(whole) else None


def partitioning_of(shards: list[Shard], column: str | None) -> tuple[Partitioning, list[Shard]]:
    """Returns how shards divide the rows, and the shards in order."""
    if column is not None:
        return "values", sorted(shards, key=lambda shard: order(shard.value))
    if not shards or any(shard.smallest is None for shard in shards):
        return "none", shards
    by_key = sorted(shards, key=lambda shard: key_order(shard.smallest or ()))
    pairs = zip(by_key, by_key[1:])
    if all(key_order(left.largest or ()) < key_order(right.smallest or ()) for left, right in pairs):
        return "range", by_key
    return "none", shards


def refuse_overlap(old: Manifest, new: list[Shard]) -> None:
    """Refuses new shards whose keys or values may be among the old ones."""
    if old.column is not None:
        values = {order(shard.value): shard for shard in old.shards}
        for shard in new:
            if order(shard.value) in values:
                raise DataError(
                    f"{old.column} = {show((shard.value,))} has a shard already: {values[order(shard.value)].file}",
                    table=old.table,
                    column=old.column,
                    advice="append other values, or overwrite the whole set",
                )
        return
    for shard in new:
        for there in old.shards:
            if shard.smallest is None or there.smallest is None or shard.largest is None or there.largest is None:
                continue
            apart = key_order(shard.largest) < key_order(there.smallest) or key_order(there.largest) < key_order(shard.smallest)
            if not apart:
                raise DataError(
                    f"the new keys {show(shard.smallest)} to {show(shard.largest)} overlap those of {there.file}, "
                    f"{show(there.smallest)} to {show(there.largest)}",
                    table=old.table,
                    advice="append keys of other ranges, overwrite the whole set, or write without a primary key",
                )

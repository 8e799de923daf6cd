"""Options of Spark, which are texts, and their values for ``litepress.shards``."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from litepress import UsageError
from pyspark.sql.types import StructType


def _names(text: str) -> list[str]:
    """Returns the names of columns in a text: ``a, b``, or a JSON array if names have commas."""
    if text.lstrip().startswith("["):
        return [str(name) for name in json.loads(text)]
    return [name.strip() for name in text.split(",") if name.strip()]


def _lists(text: str) -> list[tuple[str, ...]]:
    """Returns lists of names: ``area; age, active``, or a JSON array of arrays."""
    if text.lstrip().startswith("["):
        return [(one,) if isinstance(one, str) else tuple(one) for one in json.loads(text)]
    return [tuple(_names(one)) for one in text.split(";") if one.strip()]


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("expected true or false")
    return text.lower() == "true"


def _column(text: str) -> str:
    return text.strip()


def _nan(text: str) -> str:
    if text not in ("error", "null"):
        raise ValueError("expected error or null")
    return text


_WRITING: dict[str, tuple[str, Callable[[str], Any]]] = {
    "table": ("table", str),
    "primaryKey": ("primary_key", lambda text: tuple(_names(text))),
    "indexes": ("indexes", _lists),
    "unique": ("unique", _lists),
    "withoutRowid": ("without_rowid", _flag),
    "strict": ("strict", _flag),
    "oneFilePer": ("one_file_per", _column),
    "oneFile": ("one_file", _flag),
    "pageSize": ("page_size", int),
    "threads": ("threads", int),
    "memory": ("memory", str),
    "tempDir": ("temp_dir", str),
    "sync": ("sync", str),
    "analyze": ("analyze", _flag),
    "verify": ("verify", str),
}
"""Options of writers: the argument of ``litepress.shards.begin``, and how its text is read."""
_OWN: dict[str, Callable[[str], Any]] = {"path": str, "nan": _nan, "columns": _names, "where": str, "storageOptions": json.loads}
_OF_SPARK = {"checkpointlocation", "queryname"}
"""Options that Spark itself reads and passes on."""
TABLE_ARGUMENTS = frozenset({"primary_key", "indexes", "unique", "without_rowid", "strict"})
"""Arguments that make the schema of a table."""


@dataclass(frozen=True)
class Options:
    """The options of a reader or a writer."""

    path: str
    """The folder, or the URL."""
    storage_options: dict[str, Any] | None = None
    """Arguments for fsspec."""
    columns: list[str] | None = None
    """The columns to read."""
    where: str | None = None
    """A condition of SQL for the rows to read."""
    is_nan_null: bool = False
    """Whether NaN is stored as NULL. By default it is an error."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Arguments of ``litepress.shards.begin``."""

    @classmethod
    def of(cls, options: Mapping[str, str], *, writes: bool) -> Options:
        """Reads the options of Spark, whose names have no case."""
        known = {name.lower(): name for name in (*_OWN, *_WRITING)}
        own: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        for given, text in options.items():
            name = known.get(given.lower())
            if name is None:
                if given.lower() not in _OF_SPARK:
                    raise _unknown(given, list(known.values()))
                continue
            argument, read = _WRITING.get(name, (name, _OWN.get(name, str)))
            try:
                value = read(text)
            except ValueError as error:
                raise UsageError(f"option {name}: {text!r} cannot be read: {error}") from None
            (arguments if name in _WRITING else own)[argument] = value
        if "path" not in own:
            raise UsageError("no path is given", advice='name a folder that all machines share: .save("/data/user"), .load("/data/user")')
        if writes and own.keys() & {"columns", "where"}:
            raise UsageError("the options columns and where are for readers", advice="use df.select(...).where(...) to write some rows")
        return cls(own["path"], own.get("storageOptions"), own.get("columns"), own.get("where"), own.get("nan") == "null", arguments)

    def columns_of(self, schema: StructType) -> list[str]:
        """Returns the columns to read. Refuses names that the set lacks."""
        names = schema.fieldNames()
        for name in self.columns or ():
            if name not in names:
                raise UsageError(f"the set of shards has no column {name}", column=name, advice=f"name some of {', '.join(names)}")
        return names if self.columns is None else self.columns


def _unknown(given: str, known: list[str]) -> UsageError:
    close = difflib.get_close_matches(given.lower(), [name.lower() for name in known], 1)
    name = next((name for name in known if close and name.lower() == close[0]), None)
    return UsageError(f"there is no option {given}", advice=f"did you mean {name}?" if name else f"there are {', '.join(known)}")

"""The exceptions of the package.

``Error`` is the base of all. Most also derive from the built-in exception for that kind of error.
"""

from __future__ import annotations

import errno
import os
from typing import Any

_FIELDS = ("advice", "file", "record", "line", "character", "table", "column", "value", "constraint")


class Error(Exception):
    """The base of all errors of litepress.

    ``str(error)`` names the mistake, its place and the remedy. The parts are attributes, each ``None`` if it does not
    apply.
    """

    message: str
    """The mistake and its place, without the advice."""
    advice: str | None
    """The remedy."""
    file: str | None
    """The file that was read or written."""
    record: int | None
    """Number of the record or row, counted from 1."""
    line: int | None
    """Line in ``file``, counted from 1."""
    character: int | None
    """Character in the line, counted from 1."""
    table: str | None
    """Name of the table."""
    column: str | None
    """Name of the column."""
    value: str | None
    """The offending value as SQL writes it, cut if it is long."""
    constraint: str | None
    """The kind of constraint that a row violates: ``UNIQUE``, ``NOT NULL``, ``CHECK``, ``FOREIGN KEY``, ``PRIMARY KEY``."""

    def __init__(self, message: str = "", **fields: Any) -> None:
        unknown = fields.keys() - set(_FIELDS)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        super().__init__(message)
        self.message = message
        for name in _FIELDS:
            setattr(self, name, fields.get(name))

    def __str__(self) -> str:
        if not self.advice:
            return self.message
        # A message with several lines ends in an excerpt of the input: the advice goes on the next line.
        return f"{self.message}{chr(10) if chr(10) in self.message else '; '}{self.advice}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.message, {name: getattr(self, name) for name in _FIELDS})


def _rebuilt(kind: type[Error], message: str, fields: dict[str, Any]) -> Error:
    """Rebuilds a pickled error with all its fields: errors cross process borders whole."""
    return kind(message, **fields)


class UsageError(Error, ValueError):
    """An argument, or a combination of them, that makes no sense for this schema or these data."""


class SchemaError(Error, ValueError):
    """SQLite refuses the schema, or the schema does more than define."""


class UnsupportedError(Error, NotImplementedError):
    """A part of the schema that cannot be made in this way."""


class GeneratorError(Error, ValueError):
    """An annotation or an argument of a generator is wrong."""


class DataError(Error, ValueError):
    """Input that cannot be read, or a value that cannot be stored as it is."""


class ConstraintError(DataError):
    """A row violates a constraint of its table, whose kind is ``constraint``."""


class LimitError(Error, ValueError):
    """A limit of SQLite's file format is exceeded."""


class FileError(Error, OSError):
    """The operating system failed a read, a write or a sync.

    ``errno``, ``strerror`` and ``filename`` are those of the failed call, as of every ``OSError``; ``None`` if no call failed.
    """

    _errno: int | None = None
    """The number of the error if the operating system has given none."""

    def __init__(self, message: str = "", **fields: Any) -> None:
        number = fields.pop("errno", None) or self._errno
        super().__init__(message, **fields)
        self.errno = number
        self.strerror = None if number is None else os.strerror(number)
        self.filename = self.file

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild, (kind, message, fields) = super().__reduce__()
        return rebuild, (kind, message, {**fields, "errno": self.errno})


class NoSpaceError(FileError):
    """There is not enough room on the disk."""

    _errno = errno.ENOSPC


class TargetError(FileError):
    """The target cannot be made or replaced: it is in use, or not a file that may be replaced."""


class TargetExistsError(TargetError, FileExistsError):
    """The target exists. ``if_exists="replace"`` replaces tables of it, and ``if_exists="overwrite"`` the whole file."""

    _errno = errno.EEXIST


class CorruptError(Error, ValueError):
    """A database breaks the rules of the file format."""

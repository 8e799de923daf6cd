"""What goes wrong, as exceptions.

``Error`` is the base of all. Each also is the built-in exception that Python has for its like, where there is one.
"""

from __future__ import annotations

from typing import Any

_FIELDS = ("advice", "file", "record", "line", "character", "table", "column", "value", "constraint")


class Error(Exception):
    """Anything that litepress refuses or fails with.

    ``str(error)`` says what is wrong, where, and what to do about it. The parts are attributes, each ``None`` where it
    does not apply.
    """

    message: str
    """What is wrong and where, without the advice."""
    advice: str | None
    """What to do about it."""
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
    """The offending value as SQL writes it, cut where it is long."""
    constraint: str | None
    """The sort of constraint that a row breaks: ``UNIQUE``, ``NOT NULL``, ``CHECK``, ``FOREIGN KEY``."""

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
        # Behind a line of the user's text, with a caret below it, advice has a line of its own.
        return f"{self.message}{chr(10) if chr(10) in self.message else '; '}{self.advice}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.message, {name: getattr(self, name) for name in _FIELDS})


def _rebuilt(kind: type[Error], message: str, fields: dict[str, Any]) -> Error:
    """Errors cross processes whole."""
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
    """A row breaks a rule of its table: ``constraint`` says which."""


class LimitError(Error, ValueError):
    """A limit of SQLite's file format is exceeded."""


class FileError(Error, OSError):
    """The operating system failed a read, a write or a sync."""


class NoSpaceError(FileError):
    """There is not enough room on the disk."""


class TargetError(FileError):
    """The target cannot be had: it is in use, or not what may be replaced."""


class TargetExistsError(TargetError, FileExistsError):
    """The target exists and nobody allowed its replacement: ``if_exists="replace"``."""


class CorruptError(Error, ValueError):
    """A database breaks the rules of the file format."""

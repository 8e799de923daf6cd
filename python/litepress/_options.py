"""Checks the types of keyword arguments that functions share, and expands their short forms.

The extension interprets the values: sizes, choices, names of columns.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeVar, Union

from . import _litepress

# Unions are written out: aliases are evaluated, and Python 3.10 knows no "|" of strings. Each word is a Literal of its own, because
# stubtest takes a Literal of several words for a union.
SchemaLike = Union[str, "os.PathLike[str]"]
"""CREATE statements, or a path to a file of them."""
Columns = Union[str, Sequence[str], Mapping[str, Union[str, Sequence[str]]]]
"""One column, several columns, or columns by table."""
Lists = Union[str, Sequence[Union[str, Sequence[str]]], Mapping[str, Union[str, Sequence[Union[str, Sequence[str]]]]]]
"""Several lists of columns, or such lists by table. In a ``list`` each item is one; a tuple is one list of several columns."""
PathLike = Union[str, "os.PathLike[str]"]
IfExists = Union[Literal["fail"], Literal["overwrite"]]
IfDatabaseExists = Union[Literal["fail"], Literal["append"], Literal["overwrite"]]
IfTableExists = Union[Literal["fail"], Literal["append"], Literal["replace"], Literal["overwrite"]]
OnConflict = Union[Literal["abort"], Literal["ignore"], Literal["replace"], Literal["update"]]
Sync = Union[Literal["full"], Literal["off"]]
Verify = Union[Literal["none"], Literal["quick"], Literal["full"]]
Format = Union[Literal["csv"], Literal["tsv"], Literal["ndjson"], Literal["json"], Literal["parquet"], Literal["arrow"], Literal["flatgeobuf"], Literal["sqlite"]]
OnError = Union[Literal["abort"], Literal["reject"], Literal["null"]]
Ragged = Union[Literal["error"], Literal["pad"], Literal["fit"], Literal["reject"]]
StrayQuotes = Union[Literal["error"], Literal["text"]]
RepeatedHeader = Union[Literal["keep"], Literal["skip"], Literal["stop"]]
InvalidUtf8 = Union[Literal["error"], Literal["replace"], Literal["blob"]]
Nan = Union[Literal["error"], Literal["null"], Literal["text"]]
FtsContent = Union[Literal["table"], Literal["own"]]
Numbers = Union[Literal["exact"], Literal["digits"], Literal["lenient"]]
Pairs = Mapping[str, Union[str, Mapping[str, str]]]
"""A text for each column, keyed by ``"column"``, by ``"table.column"``, or by table and then column."""


def table_options(
    *,
    primary_key: Columns | None = None,
    without_rowid: bool = False,
    strict: bool = False,
    types: Pairs | None = None,
    not_null: Columns | None = None,
    indexes: Lists | None = None,
    fts: Columns | None = None,
    fts_content: FtsContent | None = None,
    fts_tokenizer: str | None = None,
    unique: Lists | None = None,
    foreign_keys: Pairs | None = None,
) -> dict[str, Any]:
    """Returns the keys, types, indexes and constraints for the extension's ``options::table_options``."""
    return {
        "primary_key": _by_table("primary_key", primary_key, lambda key: [_names("primary_key", key)]),
        "without_rowid": flag("without_rowid", without_rowid),
        "strict": flag("strict", strict),
        "types": pairs("types", types),
        "not_null": [name for names in _by_table("not_null", not_null, _each("not_null")) for name in names],
        "indexes": _by_table("indexes", indexes, _each("indexes")),
        "full_text": _by_table("fts", fts, lambda columns: [_names("fts", columns)]),
        "fts_content": None if fts_content is None else text("fts_content", fts_content),
        "tokenizer": None if fts_tokenizer is None else text("fts_tokenizer", fts_tokenizer),
        "unique": _by_table("unique", unique, _each("unique")),
        "foreign_keys": pairs("foreign_keys", foreign_keys),
    }


def making_options(
    *,
    if_exists: IfTableExists = "fail",
    on_conflict: OnConflict = "abort",
    key: str | Sequence[str] | None = None,
    update_columns: str | Sequence[str] | None = None,
    truncate: bool = False,
    add_columns: bool = False,
    enforce_foreign_keys: bool = False,
    through_wal: bool = False,
    busy_timeout: float | None = None,
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    analyze: bool = False,
    part: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
) -> dict[str, Any]:
    """Returns the build options for the extension's ``options::making_options``."""
    return {
        "if_exists": text("if_exists", if_exists),
        "on_conflict": text("on_conflict", on_conflict),
        "key": names("key", key),
        "update_columns": names("update_columns", update_columns),
        "truncate": flag("truncate", truncate),
        "add_columns": flag("add_columns", add_columns),
        "enforce_foreign_keys": flag("enforce_foreign_keys", enforce_foreign_keys),
        "through_wal": flag("through_wal", through_wal),
        "busy_timeout": _seconds("busy_timeout", busy_timeout),
        "page_size": number("page_size", page_size),
        "threads": number("threads", threads),
        "memory": number("memory", memory, words=True),
        "temp_dir": None if temp_dir is None else os.fspath(temp_dir),
        "analyze": flag("analyze", analyze),
        "part": flag("part", part),
        "sync": text("sync", sync),
        "verify": text("verify", verify),
    }


Function = TypeVar("Function", bound=Callable[..., Any])

_OF_OTHERS = {
    "chunksize": "memory", "dtype": "types", "dtypes": "types", "type": "types", "column_types": "types", "schema_overrides": "types",
    "forms": "store_as", "as_": "store_as", "null": "null_value", "nulls": "null_value", "na_values": "null_value",
    "null_values": "null_value", "nullstr": "null_value", "sep": "delimiter", "delim": "delimiter", "separator": "delimiter",
    "quotechar": "quote", "quote_char": "quote", "escapechar": "escape", "names": "columns", "column_names": "columns",
    "has_header": "header", "comment_prefix": "comment", "replace": "if_exists", "overwrite": "if_exists", "append": "if_exists",
    "if_table_exists": "if_exists", "mode": "if_exists", "pk": "primary_key", "key": "primary_key", "index": "indexes",
    "foreign_key": "foreign_keys", "recipe_file": "recipe", "plan": "recipe", "sqlite": "full",
}  # fmt: skip
"""Words of the program and of other libraries, and the keyword that stands for them here."""


def suggests(function: Function) -> Function:
    """Wraps a function: for an unknown keyword, its TypeError names the one that was probably meant."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in known:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'{meant(name, known)}")
        return function(*args, **given)

    return call  # type: ignore[return-value]


def meant(name: str, known: Sequence[str]) -> str:
    """Returns the end of a message about an unknown keyword: the known one that was probably meant."""
    plain = name.lower().replace("-", "_")
    word = plain if plain in known else _OF_OTHERS.get(plain)
    if word not in known:
        import difflib

        word = next(iter(difflib.get_close_matches(plain, known, 1, 0.7)), None)
    return "" if word is None else f". Did you mean '{word}'?"


def keyword_defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the defaults of a function's keyword arguments."""
    return dict(inspect.unwrap(function).__kwdefaults__ or {})


def expanded(path: str | os.PathLike[str]) -> str:
    """Returns a path as a text. In a text, ``~`` in front is the home of the user, as for pandas."""
    return os.path.expanduser(path) if isinstance(path, str) else os.fspath(path)


def pick_options(function: Callable[..., dict[str, Any]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Calls a function with those of the given arguments that it takes. The others keep the function's defaults."""
    return function(**{name: given[name] for name in function.__kwdefaults__ or {} if name in given})


def schema_text(schema: SchemaLike) -> tuple[str, str]:
    """Returns CREATE statements, from a file or ``schema`` itself, and their name in errors."""
    if isinstance(schema, str) and not is_schema_file(schema):
        return schema, "<schema>"
    if not isinstance(schema, (str, os.PathLike)):
        raise_type_error("schema", "CREATE statements, or a path to a file of them", schema)
    refuse_own_lock(schema)
    read: tuple[str, str] = _litepress.schema_file(os.fspath(schema))
    return read


def is_recipe(source: object) -> bool:
    """Returns whether this is the text of a recipe, or names one."""
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    return isinstance(source, str) and ("algorithm_version" in source or source.lower().endswith(".toml"))


def recipe_text(recipe: SchemaLike) -> tuple[str, str]:
    """Returns the text of a recipe, and its name in errors."""
    if isinstance(recipe, str) and "algorithm_version" in recipe:
        return recipe, "<recipe>"
    if not isinstance(recipe, (str, os.PathLike)):
        raise_type_error("recipe", "the text of a recipe, or a path to one", recipe)
    refuse_own_lock(recipe)
    read: tuple[str, str] = _litepress.schema_file(os.fspath(recipe))
    return read


def refuse_own_lock(path: str | os.PathLike[str]) -> None:
    """Refuses a database on which this process holds a lock, such as an open transaction of ``sqlite3``.

    Closing any descriptor of a file drops all POSIX locks that the process has on it. Another process could then write
    into the middle of that transaction. Locks of this package end within moments: they are waited for.
    """
    _litepress.refuse_own_lock(path)


def refuse_own_locks_in(folder: str | os.PathLike[str]) -> None:
    """Refuses a folder with a database on which this process holds a lock. Anything else is no folder, and passes."""
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            refuse_own_lock(os.path.join(folder, name))


def checked_path(path: PathLike) -> str:
    """Returns the path of a database as a text. Refuses one on which this process holds a lock."""
    if not isinstance(path, (str, os.PathLike)):
        raise_type_error("path", "a path", path)
    file = expanded(path)
    refuse_own_lock(file)
    return file


def is_sql(source: str) -> bool:
    """Returns whether this text is CREATE statements, and not the name of a file."""
    return re.search(r"\bcreate\s", source, re.IGNORECASE) is not None


def is_schema_file(source: object) -> bool:
    """Returns whether this names a file of CREATE statements."""
    if isinstance(source, str):
        return source.lower().endswith(".sql") and not is_sql(source)
    return isinstance(source, os.PathLike)


def text(name: str, value: str) -> str:
    """Returns an argument that must be a text."""
    return value if isinstance(value, str) else raise_type_error(name, "a str", value)


def optional_text(name: str, value: str | None) -> str | None:
    """Returns an argument that must be a text or ``None``."""
    return None if value is None else text(name, value)


def flag(name: str, value: bool) -> bool:
    """Returns an argument that must be True or False."""
    return value if isinstance(value, bool) else raise_type_error(name, "True or False", value)


def page_options(html: PathLike | None, if_exists: IfExists, options: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Returns whether the file of a page is replaced, and the options with the page."""
    if if_exists not in ("fail", "overwrite"):
        raise ValueError(f"if_exists: {if_exists!r} is not one of 'fail', 'overwrite'")
    if html is not None:
        refuse_own_lock(html)
    return if_exists == "overwrite", {**options, "html": None if html is None else os.fspath(html)}


def optional_flag(name: str, value: bool | None) -> bool | None:
    """Returns an argument that must be True, False or ``None``."""
    return None if value is None else flag(name, value)


def checked_adapters(adapters: Any) -> dict[type, Callable[[Any], Any]]:
    """Returns the user's functions by type."""
    if adapters is None:
        return {}
    if not isinstance(adapters, Mapping):
        raise_type_error("adapters", "a dict of functions by type", adapters)
    for kind, function in adapters.items():
        if not isinstance(kind, type) or not callable(function):
            raise TypeError(f"adapters: {{type: function}} is expected, and not {{{kind!r}: {function!r}}}")
    return dict(adapters)


def number(name: str, value: Any, words: bool = False) -> int | str | None:
    """Returns an argument that must be a whole number, ``None``, or one in words ("1m", "512MiB") if ``words`` allows these."""
    if value is None or (words and isinstance(value, str)):
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise_type_error(name, 'a whole number, or one in words ("1m", "512MiB")' if words else "a whole number", value)


def _seconds(name: str, value: Any) -> str | None:
    """Returns an argument that must be a number of seconds or ``None``, as a text."""
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return None if value is None else str(value)
    raise_type_error(name, "a number of seconds", value)


def names(name: str, value: Any) -> list[str]:
    """Returns the texts of an argument that must be one text, several, or ``None``."""
    return [] if value is None else _names(name, value)


def pairs(name: str, value: Any) -> list[tuple[str, str]]:
    """Returns the pairs of ``{"column": text}`` or ``{"table": {"column": text}}``, the latter as ``table.column``."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise_type_error(name, "a dict of str", value)
    spread: list[tuple[str, str]] = []
    for key, of_key in value.items():
        if isinstance(of_key, Mapping):
            spread += [(f"{text(name, key)}.{column}", told) for column, told in pairs(name, of_key)]
        else:
            spread.append((text(f"a key of {name}", key), text(f"{name}[{key!r}]", of_key)))
    return spread


def raise_type_error(name: str, wanted: str, value: object) -> NoReturn:
    """Raises the error for an argument of a wrong type."""
    raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")


def _names(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, (bytes, bytearray)):
        raise_type_error(name, "a str or several of them", value)
    return [text(f"each of {name}", one) for one in value]


Spread = Callable[[Any], list[list[str]]]


def _each(name: str) -> Spread:
    """Returns a function that expands lists of columns: in a ``list`` each item is one, everything else is one list."""

    def each(value: Any) -> list[list[str]]:
        return [_names(name, one) for one in value] if isinstance(value, list) else [_names(name, value)]

    return each


def _by_table(name: str, value: Any, spread: Spread) -> list[list[str]]:
    """Returns lists of columns. If they are given by table, each column gets its table's name in front."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        tables = [(text(f"a key of {name}", table), spread(of_table)) for table, of_table in value.items()]
        return [[f"{table}.{column}" for column in columns] for table, lists in tables for columns in lists]
    return spread(value)

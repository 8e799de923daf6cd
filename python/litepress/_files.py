"""``load``, ``generate``, ``plan``, ``profile`` and ``compare``: commands of the program ``litepress`` as functions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

from . import _litepress
from ._merge import Rowids, merge, merge_arguments
from ._options import (
    Columns,
    Format,
    FtsContent,
    IfExists,
    IfTableExists,
    InvalidUtf8,
    Lists,
    Nan,
    Numbers,
    OnConflict,
    OnError,
    Pairs,
    PathLike,
    Ragged,
    RepeatedHeader,
    SchemaLike,
    StrayQuotes,
    Sync,
    Verify,
    checked_path,
    flag,
    is_recipe,
    is_schema_file,
    is_sql,
    keyword_defaults,
    making_options,
    meant,
    names,
    number,
    optional_text,
    page_options,
    pairs,
    pick_options,
    raise_type_error,
    recipe_text,
    refuse_own_lock,
    refuse_own_locks_in,
    schema_text,
    suggests,
    table_options,
    text,
)
from ._progress import ProgressCallback, ProgressFunction
from ._result import Plan, Summary
from ._sources import FileLike, LocalFiles

if TYPE_CHECKING:
    from typing_extensions import Unpack

Rows = Union[int, str, Mapping[str, Union[int, str]]]


class PlanArguments(TypedDict, total=False):
    """Arguments of :func:`load`, :func:`generate` and :func:`merge` that :func:`plan` takes."""

    merge: bool
    rowids: Rowids | Mapping[str, Rowids] | None
    union: bool
    skip_tables: str | Sequence[str] | None
    rows: Rows | None
    scale: float | None
    until: str | None
    shard: str | tuple[int, int] | None
    set: Pairs | None
    seed: int | None
    table: str | None
    schema: SchemaLike | None
    map: Mapping[str, str | None] | None
    primary_key: Columns | None
    without_rowid: bool
    strict: bool
    types: Pairs | None
    numbers: Numbers | Mapping[str, Numbers | Mapping[str, Numbers]] | None
    not_null: Columns | None
    indexes: Lists | None
    fts: Columns | None
    fts_content: FtsContent | None
    fts_tokenizer: str | None
    unique: Lists | None
    foreign_keys: Pairs | None
    geometry: str | tuple[str, str] | None
    crs: str | None
    format: Format | None
    delimiter: str | None
    quote: str | None
    escape: str | None
    header: bool | None
    skip: int
    trim: bool
    sheet: str | Sequence[str] | None
    select: str | Sequence[str] | None
    limit: int | str | None
    source_column: str | None
    split_by: str | None
    skip_empty: bool
    decimal: str | None
    thousands: str | None
    currency: str | Sequence[str] | None
    true: str | Sequence[str] | None
    false: str | Sequence[str] | None
    date_format: Pairs | None
    columns: Sequence[str] | None
    comment: str | None
    encoding: str | None
    null_value: str | Sequence[str] | None
    missing: str | Sequence[str] | None
    infinity: str | Sequence[str] | None
    store_as: Pairs | None
    sample: int | str | None
    on_error: OnError | None
    rejects: PathLike | None
    max_rejects: int | str | None
    ragged: Ragged
    stray_quotes: StrayQuotes
    repeated_header: RepeatedHeader
    invalid_utf8: InvalidUtf8
    json_path: str | None
    flatten: bool
    nan: Nan
    absent_as_null: bool
    allow_incomplete: bool
    if_exists: IfTableExists
    on_conflict: OnConflict
    key: str | Sequence[str] | None
    update_columns: str | Sequence[str] | None
    truncate: bool
    add_columns: bool
    enforce_foreign_keys: bool
    through_wal: bool
    busy_timeout: float | None
    page_size: int | None
    threads: int | None
    memory: int | str | None
    temp_dir: PathLike | None
    analyze: bool
    part: bool
    sync: Sync
    verify: Verify



@suggests
def load(
    path: PathLike,
    files: FileLike | Iterable[FileLike],
    *,
    table: str | None = None,
    schema: SchemaLike | None = None,
    map: Mapping[str, str | None] | None = None,
    primary_key: Columns | None = None,
    without_rowid: bool = False,
    strict: bool = False,
    types: Pairs | None = None,
    numbers: Numbers | Mapping[str, Numbers | Mapping[str, Numbers]] | None = None,
    not_null: Columns | None = None,
    indexes: Lists | None = None,
    fts: Columns | None = None,
    fts_content: FtsContent | None = None,
    fts_tokenizer: str | None = None,
    unique: Lists | None = None,
    foreign_keys: Pairs | None = None,
    geometry: str | tuple[str, str] | None = None,
    crs: str | None = None,
    format: Format | None = None,
    delimiter: str | None = None,
    quote: str | None = "auto",
    escape: str | None = None,
    header: bool | None = None,
    skip: int = 0,
    trim: bool = False,
    skip_empty: bool = False,
    decimal: str | None = None,
    thousands: str | None = None,
    currency: str | Sequence[str] | None = None,
    true: str | Sequence[str] | None = None,
    false: str | Sequence[str] | None = None,
    date_format: Pairs | None = None,
    columns: Sequence[str] | None = None,
    comment: str | None = None,
    json_path: str | None = None,
    flatten: bool = False,
    nan: Nan = "error",
    absent_as_null: bool = False,
    sheet: str | Sequence[str] | None = None,
    select: str | Sequence[str] | None = None,
    limit: int | str | None = None,
    source_column: str | None = None,
    split_by: str | None = None,
    encoding: str | None = None,
    null_value: str | Sequence[str] | None = None,
    missing: str | Sequence[str] | None = None,
    infinity: str | Sequence[str] | None = None,
    store_as: Pairs | None = None,
    sample: int | str | None = None,
    on_error: OnError | None = None,
    rejects: PathLike | None = None,
    max_rejects: int | str | None = None,
    ragged: Ragged = "error",
    stray_quotes: StrayQuotes = "error",
    repeated_header: RepeatedHeader = "keep",
    invalid_utf8: InvalidUtf8 = "error",
    allow_incomplete: bool = False,
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
    temp_dir: PathLike | None = None,
    analyze: bool = False,
    part: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
    progress: bool | ProgressFunction = False,
) -> Summary:
    """Make a SQLite database of files: CSV, TSV, NDJSON, JSON, Parquet, Arrow IPC, FlatGeobuf, SQLite, spreadsheets.

    They may be compressed by gzip, zstd, bzip2, xz or LZ4, or lie in ZIP archives.

    Each file becomes a table of its name, with types that hold all of its values; or all become one ``table``.

    Parameters
    ----------
    path
        The file to make.
    files
        A path, an open file or a URL, or several; a pattern (``"logs/*.csv"``) or a folder stands for the files in it, sorted by
        name. URLs and files of ``fsspec`` (``"s3://bucket/*.parquet"``) are what it opens; ``https:`` works without it. Open files
        are read from where they are, and stay open. These are copied to ``temp_dir`` first. URLs of local files (``file:``) are
        paths. The copy of a database lacks the rows of its log: it is refused if there is one, and a note tells that there may be one.
    table
        One table for all files.
    schema
        ``CREATE`` statements for the tables, or a path to a file of them; columns are matched by name.
    map
        Columns of files and the table's columns that they go to: ``{"Id": "id", "junk": None}``. ``None`` leaves one out.
    primary_key, without_rowid, strict, types, not_null, indexes, fts, fts_content, fts_tokenizer, unique, foreign_keys
        As of :func:`write`.
    geometry, crs
        Makes a GeoPackage: the column of geometries (WKB, WKT or GeoJSON), or a pair of columns of coordinates; and their reference
        system, ``"EPSG:25832"``, by default what the files say.
    numbers
        Which columns of texts are numbers: ``"exact"`` where each text comes back byte for byte, ``"digits"`` (the default) where
        each digit does, ``"lenient"`` where each is a number; also by column, ``{"price": "lenient", "*_rate": "exact"}``.
    format
        ``"csv"``, ``"tsv"``, ``"ndjson"``, ``"json"``, ``"parquet"``, ``"arrow"``, ``"flatgeobuf"``, ``"sqlite"``; by default found from the
        content.
    delimiter, quote, escape, comment
        Characters of CSV; the delimiter may be longer. By default delimiter and quote are found from the first records;
        ``quote=None`` for files without quotes.
    header, columns
        Whether the first record of CSV names its columns, and names in place of these. By default it does, unless it looks like
        the records below it.
    skip, trim, skip_empty
        Number of first lines of CSV to skip; whether to drop spaces around fields, and records whose fields are all empty.
    decimal, thousands, currency
        Marks and signs of numbers in CSV: ``decimal=",", thousands=".", currency="€"`` reads ``1.234,50 €``.
    true, false
        Words of CSV that mean 1 and 0, in columns of nothing else: ``true="ja", false="nein"``.
    date_format
        Formats of dates in columns of CSV: ``{"born": "%d.%m.%Y"}``; stored as ``2024-01-31``, or with
        ``store_as={"born": "unixepoch"}`` as seconds.
    json_path
        Keys that lead to the records of JSON, with dots between them: ``"data.items"``.
    flatten
        Whether nested objects of JSON become columns: ``{"a": {"b": 1}}`` has a column ``a_b``.
    nan
        NaN and Infinity in JSON that ``missing`` and ``infinity`` do not name: ``"error"``, ``"null"``, ``"text"``.
    absent_as_null
        With ``on_conflict="update"``: whether a key that a record of JSON lacks, and other records have, is NULL; by default an error.
        The same holds for a column that some of the files of a table lack.
    sheet
        Sheets of workbooks; by default all that have a value.
    select
        Columns of the files to read; by default all.
    limit
        Load the first records of each table only.
    source_column
        A column that holds the name of each record's file.
    split_by
        A column of all tables: each of its values gets a database of its own, in the folder that ``path`` names. The folder is
        absent or empty, or replaced as a whole with ``if_exists="overwrite"``.
    encoding
        Encoding of text: ``"latin1"``; by default that of the byte-order mark, or UTF-8.
    null_value
        Fields without quotes that mean NULL: ``""``, or ``["", "NA"]``.
    missing, infinity
        Words in columns of numbers, in any case: for a number that is missing (``["NaN", "NA", "-999"]``, stored as NULL), and
        for infinity (``"inf"``, also with a sign in front). JSON's NaN and Infinity without quotes are such words, too.
    store_as
        Other forms for typed columns of Parquet and Arrow: ``{"created": "unixepoch"}``.
    sample
        Find out types from this many records instead of all.
    on_error
        Wrong records: ``"abort"`` fails, ``"reject"`` leaves them out, ``"null"`` stores NULL in place of a wrong value.
        By default ``"abort"``; ``"reject"`` if ``rejects`` or ``max_rejects`` is given.
    rejects, max_rejects
        A CSV file for the records that are left out, and their greatest number.
    ragged
        CSV records with too many or too few fields: ``"error"``, ``"pad"``, ``"fit"``, ``"reject"``.
    stray_quotes
        Quotes of CSV in the wrong place: ``"error"``, ``"text"``.
    repeated_header
        CSV records that repeat the header: ``"keep"``, ``"skip"`` (files one after another), ``"stop"`` (the table ends there).
    invalid_utf8
        Text that is not UTF-8: ``"error"``, ``"replace"``, ``"blob"``.
    allow_incomplete
        Copy a database even if something of it cannot be copied; ``details["left_out"]`` lists it.
    if_exists, on_conflict, key, update_columns, truncate, add_columns, enforce_foreign_keys, through_wal, busy_timeout
        As of :func:`write`.
    page_size, threads, memory, temp_dir, analyze, part, sync, verify, progress
        As of :func:`write`.

    Returns
    -------
    Summary
        Rows, bytes, seconds; in ``details`` also each column's type with its reason, and the records left out.

    Raises
    ------
    TypeError, ValueError
        Arguments that are wrong by themselves.
    DataError, ConstraintError
        A record that cannot be read, or that its table refuses: with ``file``, ``record``, ``line``, ``column``, ``value``.
    TargetExistsError, FileError
        The file exists, or a file cannot be read or written.

    After any exception, also Ctrl-C, ``path`` is as it was.
    """
    given = locals()
    target = checked_path(path)
    if split_by is not None:
        refuse_own_locks_in(target)
    with ProgressCallback(progress) as callback, _local_files(files, given) as local:
        arguments = _load_arguments({**given, "files": local.checked(encoding)})
        return Summary.of(local.renamed_report(_litepress.load(target, *arguments, callback.call)), target)


@suggests
def generate(
    path: PathLike,
    schema: SchemaLike | None = None,
    rows: Rows | None = None,
    *,
    recipe: SchemaLike | None = None,
    scale: float | None = None,
    until: str | None = None,
    shard: str | tuple[int, int] | None = None,
    set: Pairs | None = None,
    seed: int | None = None,
    if_exists: IfExists = "fail",
    on_conflict: OnConflict = "abort",
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
    """Make a SQLite database of generated rows: the same for the same schema and seed, on every machine.

    Parameters
    ----------
    path
        The file to make.
    schema
        The name of a built-in schema (``"user"``), ``CREATE`` statements with annotations (``-- gen: digits(6)``), or a
        path to a file of them.
    rows
        Rows of each table without a number of its own (``1_000_000`` or ``"1m"``), or by table:
        ``{"user": 1000, "order": "1m"}``.
    recipe
        A recipe instead of a schema: its text, such as :func:`profile` returns, or a path to one.
    scale
        Factor for the numbers of rows in the recipe, the schema or the built-in schema; those of ``rows`` stay.
    until
        The day at which the times of columns without a generator end, such as ``"2026-12-31"``; ``"2026-01-01"`` if ``None``.
    shard
        One of several equal shards of every table, counted from 1: ``(1, 4)`` or ``"1/4"`` makes the first quarter. With ``part``
        they are nearly equal.
    set
        Generators of columns, which override those of the schema: ``{"user.area": "hex(6)"}``.
    seed
        Seed of the rows: another seed makes other rows.
    if_exists, on_conflict, page_size, threads, memory, temp_dir, analyze, part, sync, verify, progress
        As of :func:`write`.

    Raises
    ------
    TypeError, ValueError
        Arguments that are wrong by themselves.
    SchemaError, GeneratorError
        Mistakes in the schema, the recipe and their annotations: with ``table``, ``column``, ``line`` and ``character``.

    After any exception, also Ctrl-C, ``path`` is as it was.
    """
    arguments = _generate_arguments(locals())
    with ProgressCallback(progress) as callback:
        target = checked_path(path)
        return Summary.of(_litepress.generate(target, *arguments, callback.call), target)


def plan(
    source: FileLike | Iterable[FileLike],
    path: PathLike | None = None,
    **arguments: Unpack[PlanArguments],
) -> Plan:
    """Predict the work of :func:`generate`, :func:`load` or :func:`merge` for the same arguments, without making a database.

    ``source`` is a schema or a recipe as for :func:`generate`, or files as for :func:`load`; with ``merge=True``, databases as for
    :func:`merge`. ``path`` is the file that would be made; further arguments are those of the function. The result has the expected
    bytes and memory, the tables with their columns, and the method of each table, index and constraint with its reason.
    """
    target = None if path is None else checked_path(path)
    rest = {name: value for name, value in arguments.items() if name != "merge"}
    if flag("merge", arguments.get("merge", False)):
        given = _given("databases to merge", _defaults(merge), rest)
        told = _litepress.plan_merge(target, *merge_arguments({"databases": source, **given}))
    elif _is_generated(source, arguments):
        given = _given("a schema", {"rows": None, **_defaults(generate)}, rest)
        if given["recipe"] is not None:
            raise TypeError("plan() takes a recipe as its first argument")
        named = {"recipe": source, "schema": None} if is_recipe(source) else {"schema": source}
        told = _litepress.plan_generate(target, *_generate_arguments({**given, **named}))
    else:
        given = _given("files", _defaults(load), rest)
        with _local_files(source, given, keeps_position=True) as local:
            paths = local.checked(given["encoding"])
            told = local.renamed_report(_litepress.plan_load(target, *_load_arguments({"files": paths, **given})))
    return Plan(json.loads(told))


@suggests
def profile(
    path: PathLike,
    *,
    keep_values: bool = False,
    threads: int | None = None,
    html: PathLike | None = None,
    if_exists: IfExists = "fail",
) -> str:
    """Read all rows of a database and return a recipe for one that looks alike: for ``generate(recipe=)``.

    Parameters
    ----------
    path
        The database, which is only read.
    keep_values
        Whether the recipe keeps the texts of columns with few distinct ones: states and countries, but also names. Without it
        the recipe has no text of the rows; it has numbers and days as bounds of ranges and bins.
    threads
        Number of threads that read; by default one a core.
    html
        File for a page that shows the values of every column: histograms, shares, NULL, and the relations of tables.
    if_exists
        ``"fail"``, or ``"overwrite"``: replace the file of the page if it exists.

    Returns
    -------
    str
        A recipe (TOML), to be looked at, changed and kept.

    Raises
    ------
    FileError, DataError
        The file cannot be read, or is no database.
    TargetExistsError
        The file of the page exists, and ``if_exists="overwrite"`` is not given.
    """
    overwrite, options = page_options(html, if_exists, {"threads": number("threads", threads)})
    return _litepress.profile(checked_path(path), flag("keep_values", keep_values), overwrite, options)


@suggests
def compare(
    path: PathLike,
    other: PathLike,
    *,
    threads: int | None = None,
    html: PathLike | None = None,
    if_exists: IfExists = "fail",
) -> dict[str, Any]:
    """Compare the values of two databases with the same tables: the histograms of every column, and how far apart they are.

    Parameters
    ----------
    path, other
        The databases, which are only read.
    threads
        Number of threads that read; by default one a core.
    html
        File for a page that shows both histograms of every column side by side, and the columns that are farthest apart.
    if_exists
        ``"fail"``, or ``"overwrite"``: replace the file of the page if it exists.

    Returns
    -------
    dict
        The comparison, as ``litepress compare --json`` prints it: ``score`` (1 is alike), and ``tables``, each with ``columns``,
        each with ``distance`` (0 is alike, 1 has nothing in common) and ``buckets``, and with ``relations`` between columns,
        each with ``relation``, ``values`` and ``distance``. ``only_in_other`` names the tables and columns that the other one alone
        has: they are not compared.

    Raises
    ------
    FileError, DataError
        A file cannot be read, is no database, or lacks a table or a column of the first.
    TargetExistsError
        The file of the page exists, and ``if_exists="overwrite"`` is not given.
    """
    overwrite, options = page_options(html, if_exists, {"threads": number("threads", threads)})
    result: dict[str, Any] = json.loads(_litepress.compare(checked_path(path), checked_path(other), overwrite, options))
    return result


Arguments = dict[str, Any]


def _load_arguments(given: Arguments) -> tuple[Arguments, Arguments, Arguments]:
    """Convert the arguments of :func:`load` to the three dicts that the extension's ``load`` takes."""
    schema, quote, rejects = given["schema"], given["quote"], given["rejects"]
    if rejects is not None:
        refuse_own_lock(rejects)
    reading: Arguments = {
        "files": given["files"],
        "schema": None if schema is None else schema_text(schema),
        "map": _map(given["map"]),
        "quote": "none" if quote is None else None if quote == "auto" else text("quote", quote),
        "header": None if given["header"] is None else flag("header", given["header"]),
        "trim": flag("trim", given["trim"]),
        "skip_empty": flag("skip_empty", given["skip_empty"]),
        "date_format": pairs("date_format", given["date_format"]),
        "flatten": flag("flatten", given["flatten"]),
        "absent_as_null": flag("absent_as_null", given["absent_as_null"]),
        "allow_incomplete": flag("allow_incomplete", given["allow_incomplete"]),
        "store_as": pairs("store_as", given["store_as"]),
        "rejects": None if rejects is None else os.fspath(rejects),
    }
    words = ("columns", "null_value", "missing", "infinity", "sheet", "select", "currency", "true", "false")
    for name in words:
        reading[name] = names(name, given[name])
    for name in ("sample", "max_rejects", "skip", "limit"):
        reading[name] = number(name, given[name], words=True)
    texts = ("table", "format", "delimiter", "escape", "comment", "encoding", "decimal", "thousands", "json_path", "nan")
    for name in (*texts, "on_error", "ragged", "stray_quotes", "repeated_header", "invalid_utf8", "source_column", "split_by", "crs"):
        reading[name] = optional_text(name, given[name])
    geometry = given["geometry"]
    reading["geometry"] = ",".join(geometry) if isinstance(geometry, tuple) else optional_text("geometry", geometry)
    numbers = given["numbers"]
    rules = {"*": numbers} if isinstance(numbers, str) else numbers
    tables = pick_options(table_options, given) | {"numbers": pairs("numbers", rules)}
    return reading, tables, pick_options(making_options, given)


def _local_files(files: Any, given: Arguments, keeps_position: bool = False) -> LocalFiles:
    """Return the files of a run as paths. Files without a name are called like the only table."""

    def table() -> str | None:
        named: str | None = given["table"]
        if named is None and given["schema"] is not None:
            return _litepress.only_table(*schema_text(given["schema"]))
        return named

    return LocalFiles(files, given["temp_dir"], table, keeps_position)


def _generate_arguments(given: Arguments) -> tuple[tuple[str, str], Arguments, Arguments]:
    """Convert the arguments of :func:`generate` to the schema and the two dicts that the extension's ``generate`` takes."""
    schema, recipe = given["schema"], given["recipe"]
    if (schema is None) == (recipe is None):
        raise TypeError("either a schema or a recipe is given")
    is_preset = recipe is None and isinstance(schema, str) and not is_sql(schema) and not is_schema_file(schema)
    if recipe is not None:
        read = recipe_text(recipe)
    else:
        read = _litepress.preset(schema) if is_preset else schema_text(schema)
    rows = {
        "rows": _rows(given["rows"]),
        "set": pairs("set", given["set"]),
        "seed": number("seed", given["seed"]),
        "is_recipe": recipe is not None,
        "scale": _scale(given["scale"]),
        "until": _until(given["until"]),
        "shard": _shard(given["shard"]),
    }
    return read, rows, pick_options(making_options, given)


def _defaults(function: Callable[..., Any]) -> Arguments:
    """Return the defaults of a function's keyword arguments."""
    return keyword_defaults(function)


def _given(what: str, defaults: Arguments, arguments: Arguments) -> Arguments:
    """Complete the arguments of a plan with the defaults. Refuse unknown ones, and ``progress``."""
    for name in arguments:
        if name not in defaults or name == "progress":
            raise TypeError(f"plan() of {what} takes no argument '{name}'{meant(name, list(defaults))}")
    return {**defaults, **arguments}


def _is_generated(source: object, arguments: Mapping[str, Any]) -> bool:
    """Return whether a plan is about generated rows, not loaded ones."""
    if arguments.keys() & {"format", "schema", "table"}:
        return False
    if is_recipe(source):
        return True
    is_schema = isinstance(source, str) and (is_sql(source) or source in _litepress.presets())
    return is_schema or (isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith(".sql"))


def _map(value: Mapping[str, str | None] | None) -> list[tuple[str, str]]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise_type_error("map", "a dict of str", value)
    return pairs("map", {key: "" if column is None else column for key, column in value.items()})


def _rows(rows: Rows | None) -> list[tuple[str | None, str]]:
    if rows is None:
        return []
    if isinstance(rows, Mapping):
        return [(text("a key of rows", table), _count(f"rows[{table!r}]", count)) for table, count in rows.items()]
    return [(None, _count("rows", rows))]


def _until(day: str | None) -> str | None:
    if day is None or isinstance(day, str):
        return day
    raise_type_error("until", "a day as text", day)


def _scale(scale: float | None) -> str | None:
    if scale is None or (isinstance(scale, (int, float)) and not isinstance(scale, bool)):
        return None if scale is None else str(scale)
    raise_type_error("scale", "a number", scale)


def _shard(shard: str | tuple[int, int] | None) -> str | None:
    if isinstance(shard, tuple) and len(shard) == 2:
        return f"{number('shard', shard[0])}/{number('shard', shard[1])}"
    if shard is None or isinstance(shard, str):
        return shard
    raise_type_error("shard", 'a pair such as (1, 4), or "1/4"', shard)


def _count(name: str, count: int | str) -> str:
    given = number(name, count, words=True)
    return raise_type_error(name, "a whole number", count) if given is None else str(given)

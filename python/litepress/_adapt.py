"""The stored forms of Python values.

The extension stores values whose type is exactly ``int``, ``float``, ``str``, ``bool``, ``bytes`` or ``None`` by itself, unless
an adapter is given for that type. All others are converted by this table; a subclass is treated as its class.

=============================================== ==========================================================================
Python value                                    stored as
=============================================== ==========================================================================
``None``, ``pandas.NA``, ``NaT``,
``numpy.ma.masked``                             NULL
``bool``, ``numpy.bool``                        INTEGER 0 or 1
``int``, NumPy integers                         INTEGER; beyond 64 bits they are refused
``float``, NumPy floats                         REAL; NaN becomes NULL, since SQLite has none
``str``                                         TEXT; lone surrogates are refused, since UTF-8 has none
``bytes``, ``bytearray``, ``memoryview``,
arrays of numbers, other buffers                BLOB, as ``sqlite3`` has it
``datetime``                                    TEXT ``YYYY-MM-DD HH:MM:SS``, ``.ffffff`` behind it unless the second is
                                                whole; of a time zone: in UTC with ``+00:00`` behind. Nanoseconds of pandas are
                                                kept: nine digits
``date``                                        TEXT ``YYYY-MM-DD``
``time``                                        TEXT ``HH:MM:SS``, a fraction as ``datetime``; those of a time zone are refused
``timedelta``                                   INTEGER, microseconds; parts of one are refused
``numpy.datetime64``                            TEXT as ``datetime``, whatever its unit; days, weeks, months, years as ``date``
``numpy.timedelta64``                           INTEGER, microseconds, whatever its unit
``pandas.Period``, ``Interval``                 TEXT, as pandas writes them
``Decimal``                                     exact text, of which a REAL column makes the nearest double; NaN becomes NULL
``UUID``                                        TEXT of 36 characters
``os.PathLike``                                 TEXT
``Enum``                                        as its value
``list``, ``tuple``, ``dict``, other sequences
and mappings                                    TEXT: JSON, in which dates and the like are strings
=============================================== ==========================================================================

A moment has one text, whatever its type, its unit and its library: datetimes in rows, in Arrow, in frames, and in files that
:func:`litepress.load` reads. Such texts sort by time, and SQLite's date functions read them. It reads the years 0 to 9999 only:
others are refused. Columns of objects of a frame are stored by this table, too. Columns with a type follow it as far as it goes;
types of Arrow that have no Python value stand in ``docs/load.md``.

Everything else is refused, also sets, which have no order. ``adapters={type: function}`` converts the values of a type and its
subclasses. It comes before the table, and the table then converts the function's result.
"""

from __future__ import annotations

import array
import collections
import collections.abc
import datetime
import decimal
import enum
import json
import math
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any

Stored = None | int | float | str | bytes
Adapters = Mapping[type, Callable[[Any], object]]

#: Types that the extension stores without a call to this module.
PLAIN_TYPES = (type(None), bool, int, float, str, bytes)


class Refused(Exception):
    """A value that cannot be stored. The extension adds its table, row and column."""

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class DecimalText(str):
    """The digits of a decimal: the type of the column decides between number and text."""

    __slots__ = ()


class Adapter:
    """The conversion of values of any type, with the adapters of the user."""

    def __init__(self, adapters: Adapters | None = None) -> None:
        self._given = dict(adapters or {})
        #: No adapter is for a plain type: the extension may store plain values by itself.
        self.passes_plain = not any(issubclass(plain, kind) for plain in PLAIN_TYPES for kind in self._given)
        #: The functions of all types seen so far. The extension looks here first, which saves a call.
        self.known: dict[type, Callable[[Any], object]] = {}

    def __call__(self, value: object) -> Stored | DecimalText:
        kind = type(value)
        function = self.known.get(kind)
        if function is None:
            function = self.known[kind] = self._find(kind)
        return function(value)  # type: ignore[return-value]

    def _find(self, kind: type) -> Callable[[Any], object]:
        for base in kind.__mro__:
            given = self._given.get(base)
            if given is not None:
                return lambda value: adapt(given(value))
        return built_in(kind, self)


def adapt(value: object) -> Stored | DecimalText:
    """Returns the stored form of a value by the table above, without adapters of the user."""
    return built_in(type(value), adapt)(value)  # type: ignore[return-value]


def built_in(kind: type, adapt: Callable[[Any], object]) -> Callable[[Any], object]:
    """Returns the function for values of a type, without adapters of the user. ``adapt`` converts the value of an ``Enum``."""
    if issubclass(kind, enum.Enum):
        return lambda value: adapt(value.value)
    for base in kind.__mro__:
        function = BY_TYPE.get(base)
        if function is not None:
            return function
        module = base.__module__
        function = BY_NAME.get((module.partition(".")[0], base.__name__))
        if function is not None:
            return function
    if issubclass(kind, (collections.abc.Mapping, collections.abc.Sequence)) and kind not in BUFFERS:
        return json_text
    if hasattr(kind, "__fspath__"):
        return path
    return buffer


def real(value: float) -> float | None:
    return None if math.isnan(value) else float.__float__(value)


UTC = "+00:00"
"""The end of the text of an instant. Behind a ``Z``, texts with a fraction would sort before those without."""


def moment(value: datetime.datetime) -> str:
    if value.tzinfo is None and type(value) is datetime.datetime:
        return value.isoformat(" ")
    nanoseconds = getattr(value, "nanosecond", 0)
    zone = ""
    if value.utcoffset() is not None:
        try:
            value = value.astimezone(datetime.timezone.utc)
        except OverflowError:
            raise Refused("the time is beyond the years 1 to 9999 in UTC") from None
        zone = UTC
    if not 0 <= value.year <= 9999:
        raise Refused(NO_YEAR)
    digits = f"{nanoseconds:03}" if nanoseconds else ""
    fraction = f".{value.microsecond:06}{digits}" if digits or value.microsecond else ""
    return (
        f"{value.year:04}-{value.month:02}-{value.day:02} "
        f"{value.hour:02}:{value.minute:02}:{value.second:02}{fraction}{zone}"
    )


NO_YEAR = "SQLite's date functions read the years 0 to 9999 only"


def day(value: datetime.date) -> str:
    return datetime.date.isoformat(value)


def time_of_day(value: datetime.time) -> str:
    if value.tzinfo is not None:
        raise Refused("a time of day with a time zone is not a time in UTC", "give a datetime, or a time without tzinfo")
    return datetime.time.isoformat(value)


def span(value: datetime.timedelta) -> int:
    if getattr(value, "nanoseconds", 0):
        raise Refused("the duration is not a whole number of microseconds")
    return (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds


def decimal_text(value: decimal.Decimal) -> DecimalText | float | None:
    if value.is_nan():
        return None
    if value.is_infinite():
        return math.inf if value > 0 else -math.inf
    return DecimalText(format(value, "f") if -40 <= value.adjusted() <= 40 else str(value))


def path(value: os.PathLike[Any]) -> str:
    return os.fsdecode(os.fspath(value))


def nothing(_value: object) -> None:
    return None


def buffer(value: object) -> bytes:
    try:
        view = memoryview(value)  # type: ignore[arg-type]
        # A buffer of objects holds their addresses, not their values.
        if "O" not in view.format:
            return view.tobytes()
    except (TypeError, ValueError, BufferError, NotImplementedError):
        pass
    raise Refused(
        f"a value of type {type_name(type(value))} has no form in SQLite",
        f"say what to store for it: adapters={{{type(value).__name__}: function}}",
    )


def numpy_moment(value: Any) -> str | None:
    import numpy

    if numpy.isnat(value):
        return None
    unit, count = numpy.datetime_data(value.dtype)
    if unit in ("Y", "M", "W", "D"):
        return readable(str(value.astype("datetime64[D]")))
    if unit not in ("h", "m", "s", "ms", "us", "ns"):
        raise Refused(f"times in {unit} have more digits than 9", "convert them to datetime64[ns]")
    if unit in ("h", "m") or count != 1:
        value = value.astype(f"datetime64[{'s' if unit in 'hm' else unit}]")
    second, _, fraction = str(value).replace("T", " ").partition(".")
    fraction = fraction.ljust(9, "0")
    digits = 0 if not int(fraction) else 6 if fraction.endswith("000") else 9
    return readable(f"{second}.{fraction[:digits]}" if digits else second)


def readable(moment: str) -> str:
    """Returns the text of a moment. Refuses years that SQLite cannot read."""
    if not moment[:4].isdigit() or moment[4] != "-":
        raise Refused(NO_YEAR)
    return moment


def numpy_span(value: Any) -> int | None:
    import numpy

    if numpy.isnat(value):
        return None
    unit, count = numpy.datetime_data(value.dtype)
    if unit not in MICROSECONDS:
        raise Refused("a duration in months, years or no unit is not a number of microseconds", "convert it first")
    factor, divisor = MICROSECONDS[unit]
    microseconds, rest = divmod(int(value.astype("i8")) * count * factor, divisor)
    if rest:
        raise Refused("the duration is not a whole number of microseconds")
    return microseconds


MICROSECONDS = {
    "W": (604_800_000_000, 1), "D": (86_400_000_000, 1), "h": (3_600_000_000, 1), "m": (60_000_000, 1),
    "s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 10**3), "ps": (1, 10**6),
    "fs": (1, 10**9), "as": (1, 10**12),
}  # fmt: skip
"""Microseconds of each unit of ``numpy.timedelta64``, as a fraction."""


def numpy_scalar(value: Any) -> object:
    if value.dtype.kind not in "?biuf" or value.dtype.itemsize > 8:
        if value.dtype.names is None:
            raise Refused(f"a value of type {type_name(type(value))} has no form in SQLite", "convert it first")
        return json_text(value.item())
    return adapt(value.item())


def numpy_array(value: Any) -> bytes | str:
    return value.tobytes() if value.dtype.kind in "biufc" else json_text(value.tolist())


def masked_array(value: Any) -> bytes | str:
    if value.dtype.kind in "biufc" and value.mask.any():
        raise Refused("an array with masked values has no form in SQLite", "fill it first, with filled(), or pass a list of it")
    return numpy_array(value)


def json_text(value: object) -> str:
    """Returns compact JSON, with texts as they are. Values that JSON has no form for become strings of their stored form."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return json_of(value)
    except RecursionError:
        raise Refused("the value is nested too deeply, or holds itself") from None


def json_of(value: object) -> str:
    """Returns the JSON of values that ``json`` refuses."""
    if isinstance(value, enum.Enum):
        return json_of(value.value)
    if isinstance(value, (str, bool, int)) or value is None or (isinstance(value, float) and math.isfinite(value)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return '"NaN"' if math.isnan(value) else f'"{float(value)}"'
    if isinstance(value, decimal.Decimal):
        return str(decimal_text(value)) if value.is_finite() else f'"{value}"'
    if isinstance(value, collections.abc.Mapping):
        return "{" + ",".join(f"{json_key(key)}:{json_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, collections.abc.Sequence) and not isinstance(value, BYTES):
        return "[" + ",".join(map(json_of, value)) + "]"
    if hasattr(value, "dtype") and isinstance(listed := getattr(value, "tolist")(), list):
        return json_of(listed)
    stored = adapt(value)
    return json.dumps(stored.hex().upper() if isinstance(stored, bytes) else stored, ensure_ascii=False)


def json_key(key: object) -> str:
    text = json_of(key)
    return text if text.startswith('"') else json.dumps(text, ensure_ascii=False)


def type_name(kind: type) -> str:
    """Returns the name of a type with its module (``decimal.Decimal``), or the name alone of a built-in type."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


BYTES = (bytes, bytearray, memoryview)
BUFFERS = (array.array,)

BY_TYPE: dict[type, Callable[[Any], object]] = {
    type(None): nothing,
    bool: int.__int__,
    int: int.__int__,
    float: real,
    str: str.__str__,
    bytes: bytes,
    bytearray: bytes,
    memoryview: memoryview.tobytes,
    datetime.datetime: moment,
    datetime.date: day,
    datetime.time: time_of_day,
    datetime.timedelta: span,
    decimal.Decimal: decimal_text,
    uuid.UUID: str,
    collections.UserString: str,
    list: json_text,
    tuple: json_text,
    dict: json_text,
}

#: Types of packages that are not imported here: package, class.
BY_NAME: dict[tuple[str, str], Callable[[Any], object]] = {
    ("pandas", "NAType"): nothing,
    ("pandas", "NaTType"): nothing,
    ("numpy", "MaskedConstant"): nothing,
    ("numpy", "MaskedArray"): masked_array,
    ("pandas", "Period"): str,
    ("pandas", "Interval"): str,
    ("numpy", "datetime64"): numpy_moment,
    ("numpy", "timedelta64"): numpy_span,
    ("numpy", "ndarray"): numpy_array,
    ("numpy", "str_"): str.__str__,
    ("numpy", "bytes_"): bytes,
    ("numpy", "generic"): numpy_scalar,
}

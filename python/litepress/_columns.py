"""Columns that are lists, buffers, or arrays of NumPy."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

from ._data import Column, Refused, Wishes


def values_column(values: Sequence[Any], origin: str, declared: str = "") -> Column:
    """Describes a column of Python values."""
    return Column("values", origin, lambda start, stop: list(values[start:stop]), declared=declared)


def buffer_column(name: str, view: memoryview, wishes: Wishes) -> Column:
    """Describes a buffer of numbers."""
    if view.ndim != 1:
        raise ValueError(f"column {name!r} has {view.ndim} dimensions: a column has one")
    order, code = ("@", view.format) if len(view.format) == 1 else (view.format[0], view.format[1:])
    kind = next((kind for kind, codes in _CODES.items() if len(code) == 1 and code in codes), None)
    origin = f"buffer of {view.format!r}"
    if kind is None:
        raise TypeError(f"column {name!r} is a {origin}, which has no form in SQLite: convert it first")
    if wishes.adapts(float if kind == "real" else bool if code == "?" else int):
        return values_column(view.tolist(), origin)
    is_swapped = order in (">", "!")
    return Column(
        kind, origin, lambda start, stop: view[start:stop].tobytes(), size=view.itemsize, is_swapped=is_swapped
    )


_CODES = {"int": "bhilqn", "uint": "BHILQN?", "real": "fd"}


def is_numpy_array(data: Any) -> bool:
    """Returns whether this is an array of NumPy, or looks like one."""
    return hasattr(data, "__array_interface__") and hasattr(data, "dtype") and hasattr(data, "ndim")


def numpy_column(name: str, values: Any, wishes: Wishes, *, is_instant: bool = False) -> Column:
    """Describes a column of a NumPy array, which may have a mask."""
    kind, origin = values.dtype.kind, f"NumPy {values.dtype.name}"
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions: a column has one")
    adapted = _adapted_numpy_values(values, wishes)
    if adapted is not None:
        return values_column(adapted, origin)
    nulls = None
    plain = values
    if hasattr(values, "mask") and hasattr(values, "filled"):
        import numpy

        plain, mask = values.data, numpy.ma.getmaskarray(values)
        nulls = lambda start, stop: mask[start:stop].tobytes()  # noqa: E731
        if kind == "u":
            # Masked values may be anything, also integers beyond 63 bits, which would be refused.
            plain = values.filled(0)
    if kind in _NUMPY_KINDS and values.dtype.itemsize <= 8:
        if values.dtype.itemsize == 2 and kind == "f":
            return Column("real", origin, lambda start, stop: plain[start:stop].astype("f8").tobytes(), nulls=nulls)
        return Column(
            _NUMPY_KINDS[kind],
            origin,
            lambda start, stop: plain[start:stop].tobytes(),
            size=values.dtype.itemsize,
            is_swapped=not values.dtype.isnative,
            nulls=nulls,
        )
    if kind in "mM":
        return _numpy_times(name, plain, origin, nulls, is_instant)
    if kind in "OUST":
        return Column("values", origin, lambda start, stop: values[start:stop].tolist())
    raise Refused(f"a column of {origin} has no form in SQLite", name, "convert it first")


_PYTHON_TYPES: dict[str, tuple[type, ...]] = {"b": (bool,), "u": (int,), "i": (int,), "f": (float,)}


def _adapted_numpy_values(values: Any, wishes: Wishes) -> list[Any] | None:
    """Returns the values of an array of numbers or times as objects, if there is an adapter for them."""
    if not wishes.adapters or values.dtype.kind not in "buifmMc":
        return None
    if wishes.adapts(values.dtype.type):
        return list(values)
    if wishes.adapts(*_PYTHON_TYPES.get(values.dtype.kind, ())):
        listed: list[Any] = values.tolist()
        return listed
    kinds = {"M": (datetime.datetime, datetime.date), "m": (datetime.timedelta,)}.get(values.dtype.kind, ())
    if not wishes.adapts(*kinds):
        return None
    import numpy

    unit = numpy.datetime_data(values.dtype)[0]
    is_day = unit in ("Y", "M", "W", "D") and values.dtype.kind == "M"
    micro = values.astype(f"{values.dtype.kind}8[{'D' if is_day else 'us'}]")
    is_same = (micro.astype(values.dtype) == values) | numpy.isnat(values)
    if not is_same.all():
        return list(values)
    listed = micro.tolist()
    return listed


_NUMPY_KINDS = {"b": "uint", "u": "uint", "i": "int", "f": "real"}


def _numpy_times(
    name: str, values: Any, origin: str, nulls: Callable[[int, int], bytes] | None, is_instant: bool = False
) -> Column:
    """Describes a column of moments or spans. Moments in weeks, months and years become days, in hours and minutes seconds."""
    import numpy

    unit, _ = numpy.datetime_data(values.dtype)
    if values.dtype.kind == "m":
        if unit not in _SPANS:
            raise Refused(f"durations in {_LONG_UNITS.get(unit, unit)} are no number of microseconds", name, "convert them first")
        target, kind, finer = f"timedelta64[{unit}]", "span", unit
    else:
        kind = "date" if unit in ("Y", "M", "W", "D") else "time"
        if kind == "time" and unit not in ("h", "m", "s", "ms", "us", "ns"):
            raise Refused(f"a column of {origin} has more digits than 9", name, "convert it to datetime64[ns]")
        finer = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit, unit)
        target = f"datetime64[{finer}]"
    read = lambda start, stop: values[start:stop].astype(target).tobytes()  # noqa: E731
    return Column(kind, origin, read, unit=finer, nulls=nulls, is_instant=is_instant)


_SPANS = ("W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
_LONG_UNITS = {"Y": "years", "M": "months", "generic": "no unit"}

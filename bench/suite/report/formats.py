"""Formats numbers for readers: three significant digits, and a unit if the column has none."""

import math


def digits(value):
    """Formats three significant digits without an exponent: 0.0123, 9.81, 1,234."""
    if not value:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def _scaled(value, units):
    for size, unit in units:
        if abs(value) >= size:
            return f"{digits(value / size)} {unit}"
    return digits(value)


def rate(rows_per_second):
    return _scaled(rows_per_second, [(1e9, "G"), (1e6, "M"), (1e3, "k")])


def size(count):
    return _scaled(count, [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes")])


def seconds(value):
    return f"{digits(value)} s" if value >= 0.1 else f"{digits(value * 1e3)} ms"


def factor(value):
    """Formats a ratio with two digits: measurements on a shared machine are not more precise."""
    if value >= 10:
        return f"{value:,.0f}"
    if value >= 2:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def duration(value):
    return seconds(value) if value < 120 else f"{value / 60:,.0f} minutes"


def count(value):
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"


def optional(write, value):
    """Formats a value, or a dash if it was not or cannot be measured."""
    return "–" if value is None else write(value)

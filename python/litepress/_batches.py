"""Iterables of frames and record batches as one stream of Arrow.

A stream has one schema, which is that of the first batch. A later batch may have other types if the change keeps every value: they
are cast. All other batches are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._data import Failure, Refused

_ADVICE = "give all batches one schema: cast them before"


def record_batches(pyarrow: Any, data: Iterable[Any], failure: Failure) -> Iterator[Any]:
    """Yields record batches of one schema, at least one for each item.

    Keeps the exception of the user's iterator, or the refusal of a batch: Arrow would pass on no more than its text.
    """
    schema = None
    try:
        for number, item in enumerate(data, 1):
            table = pyarrow.table(item)
            if schema is None:
                schema = table.schema
            elif table.schema != schema:
                table = _fitted(pyarrow, table, schema, number)
            yield from table.to_batches() or [pyarrow.RecordBatch.from_pylist([], schema)]
    except GeneratorExit:
        # Arrow wants no more batches, because something else has failed.
        raise
    except BaseException as error:
        failure.error = error
        raise


def _fitted(pyarrow: Any, table: Any, schema: Any, number: int) -> Any:
    """Returns the columns of a batch in the order and with the types of the first batch's schema."""
    for name in schema.names:
        if name not in table.schema.names:
            raise Refused(f"batch {number} lacks the column, which the first batch has", name, _ADVICE)
    for name in table.schema.names:
        if name not in schema.names:
            raise Refused(f"batch {number} has the column, and the first batch lacks it", name, _ADVICE)
    is_matched_by_place = table.schema.names == schema.names
    if not is_matched_by_place and len(set(schema.names)) < len(table.schema.names):
        raise Refused(f"batch {number} has columns with the same name in another order than the first batch", None, _ADVICE)
    columns = []
    for at, field in enumerate(schema):
        place = at if is_matched_by_place else table.schema.get_field_index(field.name)
        columns.append(_fitted_column(pyarrow, table.column(place), field, number))
    return pyarrow.table(columns, schema=schema)


def _fitted_column(pyarrow: Any, column: Any, field: Any, number: int) -> Any:
    """Returns a column of a batch with the type of the first batch's field."""
    there = f"batch {number} has values of type {column.type}, and the first batch {field.type}"
    if column.null_count and not field.nullable:
        raise Refused(f"batch {number} has NULL, and the first batch forbids it", field.name, _ADVICE)
    if column.type == field.type:
        return column
    if not keeps_values(pyarrow.types, column.type, field.type):
        raise Refused(there, field.name, _ADVICE)
    try:
        return column.cast(field.type)
    except pyarrow.ArrowException as error:
        raise Refused(f"{there}: {error}", field.name, _ADVICE) from error


def keeps_values(types: Any, source: Any, target: Any, is_nested: bool = False) -> bool:
    """Returns whether a checked cast from one type of Arrow to another keeps every value that it does not refuse.

    ``types`` is ``pyarrow.types``. Nested values become JSON, which shows a number as its type does.
    """
    if source == target or types.is_null(source):
        return True
    source, target = _plain(types, source), _plain(types, target)
    if source == target:
        return True
    if types.is_struct(source) and types.is_struct(target):
        fields = list(zip(source, target))
        is_same = source.num_fields == target.num_fields and all(one.name == other.name for one, other in fields)
        return is_same and all(keeps_values(types, one.type, other.type, True) for one, other in fields)
    if types.is_map(source) and types.is_map(target):
        pairs = ((source.key_type, target.key_type), (source.item_type, target.item_type))
        return all(keeps_values(types, one, other, True) for one, other in pairs)
    if _is_list(types, source) and _is_list(types, target):
        return keeps_values(types, source.value_type, target.value_type, True)
    if types.is_decimal(source) and types.is_decimal(target):
        return bool(source.scale == target.scale)
    if types.is_timestamp(source) and types.is_timestamp(target):
        return (source.tz is None) == (target.tz is None)
    if types.is_floating(target) and not is_nested:
        # A checked cast refuses integers that a float cannot hold.
        return bool(types.is_integer(source) or types.is_floating(source) and source.bit_width < target.bit_width)
    return any(test(source) and test(target) for test in _classes(types))


def _classes(types: Any) -> list[Callable[[Any], bool]]:
    """Returns tests for classes of types that differ in the room for their values alone."""

    def is_text(one: Any) -> bool:
        return bool(types.is_string(one) or types.is_large_string(one) or types.is_string_view(one))

    def is_bytes(one: Any) -> bool:
        return bool(types.is_binary(one) or types.is_large_binary(one) or types.is_fixed_size_binary(one) or types.is_binary_view(one))

    return [types.is_integer, is_text, is_bytes, types.is_date, types.is_time, types.is_duration]


def _plain(types: Any, data_type: Any) -> Any:
    """Returns the type of the values of a type that stores repeated ones once."""
    is_shared = types.is_dictionary(data_type) or types.is_run_end_encoded(data_type)
    return data_type.value_type if is_shared else data_type


def _is_list(types: Any, data_type: Any) -> bool:
    tests = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    return any(getattr(types, test)(data_type) for test in tests if hasattr(types, test))

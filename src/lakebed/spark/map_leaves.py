"""Map a function over the leaf values of a scanned column, at every level of nesting."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import Array, DataType, Map, Multiset, Row
from lakebed.spark.sql_names import quote_name

#: From a value and its path (for messages) to what it means.
Change = Callable[[Column, str], Column]
#: The change for values of a type, None for those that stay as they are.
Changes = Callable[[DataType], Change | None]


def is_changed(type_: DataType, changes: Changes) -> bool:
    """Whether a type holds, at any depth, what is changed."""
    return any(changes(t) is not None for t in types_inside(type_))


def with_changes(column: Column, type_: DataType, changes: Changes, path: str) -> Column:
    """The column with its plain values changed; what holds nothing of that kind is handed on as it is."""
    if not is_changed(type_, changes):
        return column
    match type_:
        case Row():
            return _row(column, type_, changes, path)
        case Array():
            element = type_.element
            return F.transform(column, lambda e: with_changes(e, element, changes, f"{path}.element"))
        case Map():
            key, value = type_.key, type_.value
            return F.map_from_entries(
                F.transform(
                    F.map_entries(column),
                    lambda e: F.struct(
                        with_changes(e.getField("key"), key, changes, f"{path}.key").alias("key"),
                        with_changes(e.getField("value"), value, changes, f"{path}.value").alias("value"),
                    ),
                )
            )
        case Multiset():
            element = type_.element
            return F.transform_keys(column, lambda k, _: with_changes(k, element, changes, f"{path}.element"))
        case _:
            change = changes(type_)
            return column if change is None else change(column, path)


def _row(column: Column, type_: Row, changes: Changes, path: str) -> Column:
    out = column
    for member in type_.fields:
        if is_changed(member.type, changes):
            inner = with_changes(column.getField(member.name), member.type, changes, f"{path}.{member.name}")
            out = out.withField(quote_name(member.name), inner)
    return out

"""Judge the columns by which the rows of a write, or of a compaction, are sorted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.catalog.option_values import chosen_word, columns_of
from lakebed.catalog.options import (
    CLUSTERING_COLUMNS,
    CLUSTERING_STRATEGY,
    SINK_CLUSTERING_BY_COLUMNS,
    SINK_CLUSTERING_STRATEGY,
)
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import Array, Blob, DataType, Map, Multiset, Row, Unknown, Variant, Vector

NO_ORDER = "LB6512"
_WITHOUT_ORDER = (Map, Multiset, Variant, Blob, Unknown)
#: Types whose values are no single number or text.
_OF_PARTS = (Array, Vector, Row)
_ZORDER = re.compile(r"zorder\((.*)\)", re.IGNORECASE | re.DOTALL)
#: More bits than a number of 64 has would be asked for.
MOST_INTERLEAVED = 8


@dataclass(frozen=True, slots=True)
class SortOrder:
    """The places of the columns by which rows are sorted: one after the other, or `interleaved`, on a Z-order curve."""

    places: tuple[int, ...] = ()
    interleaved: bool = False


def sort_columns(schema: TableSchema | None, order_by: str | Sequence[str] | None) -> tuple[str, ...]:
    """What an argument `order_by` names: columns, one or several, or `zorder(a, b)`. Raises what `sort_order` raises of
    a schema that is known by now.
    """
    names = (order_by,) if isinstance(order_by, str) else tuple(order_by or ())
    if schema is not None:
        sort_order(schema, names)
    return names


def sort_order(schema: TableSchema, names: Sequence[str]) -> SortOrder:
    """How rows are sorted; by no column for none.

    Raises `UsageError` (LB6512) for a table with a primary key, whose files are sorted by it, for columns that there
    are not, and for those whose values have no order.
    """
    if names and schema.primary_keys:
        raise _refused("its rows are sorted by their primary key", ", ".join(names), "leave order_by out")
    curve = _ZORDER.fullmatch(names[0].strip()) if len(names) == 1 and schema.field(names[0]) is None else None
    if curve is None:
        return SortOrder(_places(schema, names, _WITHOUT_ORDER))
    interleaved = [name.strip() for name in curve[1].split(",")]
    if not 1 < len(set(interleaved)) <= MOST_INTERLEAVED:
        raise _refused(f"{names[0]} needs 2 to {MOST_INTERLEAVED} columns", names[0], "write zorder(a, b)")
    return SortOrder(_places(schema, interleaved, (*_WITHOUT_ORDER, *_OF_PARTS)), True)


def clustering_order(schema: TableSchema) -> SortOrder:
    """How the rows of an append table without buckets are kept sorted, by the options that say it to every engine.

    Several columns are on a Z-order curve unless the strategy is `order`: for Hilbert's curve, which other engines
    have, it stands in, and of more columns than it takes the first ones count. Raises `UsageError` as `sort_order`,
    and LB5073 for a strategy that is none.
    """
    # The second names are those of earlier versions of Paimon.
    key = CLUSTERING_COLUMNS if CLUSTERING_COLUMNS in schema.options else SINK_CLUSTERING_BY_COLUMNS
    old = CLUSTERING_STRATEGY not in schema.options and SINK_CLUSTERING_STRATEGY in schema.options
    strategy = SINK_CLUSTERING_STRATEGY if old else CLUSTERING_STRATEGY
    names = columns_of(schema.options, key)
    if len(names) < 2 or chosen_word(schema.options, strategy) == "order":
        return SortOrder(_places(schema, names, _WITHOUT_ORDER, key))
    return SortOrder(_places(schema, names[:MOST_INTERLEAVED], (*_WITHOUT_ORDER, *_OF_PARTS), key), True)


def _places(
    schema: TableSchema, names: Sequence[str], unordered: tuple[type[DataType], ...], said_by: str = "order_by"
) -> tuple[int, ...]:
    places = []
    for name in dict.fromkeys(names):
        field = schema.field(name)
        if field is None:
            columns = ", ".join(schema.field_names)
            raise _refused(f"there is no column {name!r}", name, f"name columns of the table: {columns}", said_by)
        unfit = next((t for t in types_inside(field.type) if isinstance(t, unordered)), None)
        if unfit is not None:
            raise _refused(
                f"values of column {name!r}, of type {unfit.root}, have no order", name, "leave it out", said_by
            )
        places.append(schema.fields.index(field))
    return tuple(places)


def _refused(why: str, found: str, remedy: str, said_by: str = "order_by") -> UsageError:
    return UsageError.of(NO_ORDER, f"rows cannot be sorted so: {why}", path=said_by, found=found, remedy=remedy)

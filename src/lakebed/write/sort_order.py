"""Judge the columns by which the rows of a write are to be sorted."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import Blob, Map, Multiset, Unknown, Variant

NO_ORDER = "LB6512"
_WITHOUT_ORDER = (Map, Multiset, Variant, Blob, Unknown)


def sort_columns(schema: TableSchema | None, order_by: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns that an argument `order_by` names, one or several. Raises what `sort_order` raises of a schema that
    is known by now.
    """
    names = (order_by,) if isinstance(order_by, str) else tuple(order_by or ())
    if schema is not None:
        sort_order(schema, names)
    return names


def sort_order(schema: TableSchema, names: Sequence[str]) -> tuple[int, ...]:
    """The places of the columns by which rows are sorted; empty for none.

    Raises `UsageError` (LB6512) for a table with a primary key, whose files are sorted by it, for columns that there
    are not, and for those whose values have no order.
    """
    if names and schema.primary_keys:
        raise _refused("its rows are sorted by their primary key", ", ".join(names), "leave order_by out")
    places = []
    for name in dict.fromkeys(names):
        field = schema.field(name)
        if field is None:
            columns = ", ".join(schema.field_names)
            raise _refused(f"there is no column {name!r}", name, f"name columns of the table: {columns}")
        unfit = next((t for t in types_inside(field.type) if isinstance(t, _WITHOUT_ORDER)), None)
        if unfit is not None:
            raise _refused(f"values of column {name!r}, of type {unfit.root}, have no order", name, "leave it out")
        places.append(schema.fields.index(field))
    return tuple(places)


def _refused(why: str, found: str, remedy: str) -> UsageError:
    return UsageError.of(NO_ORDER, f"rows cannot be sorted so: {why}", path="order_by", found=found, remedy=remedy)

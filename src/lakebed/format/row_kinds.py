"""Define row kinds, and the columns that files may hold beside the table's (Paimon specification)."""

from __future__ import annotations

from dataclasses import replace

from lakebed.catalog.validate import KEY_COLUMN_PREFIX
from lakebed.physical.paimon_types import FIRST_SYSTEM_ID, BigInt, DataField, TinyInt, with_nullability

#: The column that shows kinds, as in the table format's audit log.
ROW_KIND = "rowkind"
#: The kinds by their stored numbers: insert, update before, update after, delete.
KINDS = ("+I", "-U", "+U", "-D")
#: The numbers of those that add a row.
INSERTS = (0, 2)
#: The numbers of those that take one away.
DELETES = (1, 3)
#: The order in which rows of one key came.
SEQUENCE_NUMBER = DataField(2147483646, "_SEQUENCE_NUMBER", BigInt())
#: What a row does, by the number of its kind.
VALUE_KIND = DataField(2147483645, "_VALUE_KIND", TinyInt())
#: The id of a row, in files of tables with row tracking whose rows were moved with their ids.
ROW_ID = DataField(2147483642, "_ROW_ID", BigInt())


def key_field(column: DataField) -> DataField:
    """The column of a keyed table's files that repeats a column of the key."""
    return replace(
        column,
        id=FIRST_SYSTEM_ID + column.id,
        name=f"{KEY_COLUMN_PREFIX}{column.name}",
        type=with_nullability(column.type, False),
    )

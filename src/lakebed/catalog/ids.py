"""Assign field ids, here alone (Paimon: ids of nested fields are unique over the whole table).

Order, as the reference's schema builder has it: a new column of the table takes the next id, then the nested fields of
its type are numbered from the same counter. Within a new ROW, for each field in order, first everything nested in that
field's type is numbered, then the field itself. Map keys come before map values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakebed.errors import UnsupportedError
from lakebed.physical.paimon_tree import change_outer_rows, outer_rows
from lakebed.physical.paimon_types import (
    FIRST_SYSTEM_ID,
    UNASSIGNED,
    DataField,
    DataType,
)


def assign(
    fields: Iterable[DataField], highest: int, *, members_first: bool = False
) -> tuple[tuple[DataField, ...], int]:
    """Give ids to the fields that are `UNASSIGNED`; returns the fields and the largest id ever given out.

    `highest` is the table's `highestFieldId`, -1 for a new table. A field that has an id keeps it. A new field gets an
    id together with everything nested in its type, whatever ids stand there. An id is never given out twice: counting
    starts above `highest` and above every id that is kept. With `members_first`, as the reference merges schemas, what
    is nested in a new column is numbered before the column.
    """
    given = tuple(fields)
    counter = _Counter(max(highest, _highest_kept(given)), members_first=members_first)
    return tuple(counter.known(f) for f in given), counter.last


class _Counter:
    def __init__(self, last: int, *, members_first: bool) -> None:
        self.last = last
        self._members_first = members_first

    def next(self) -> int:
        if self.last + 1 >= FIRST_SYSTEM_ID:
            raise UnsupportedError.of("LB3520", f"the table has used up all field ids below {FIRST_SYSTEM_ID}")
        self.last += 1
        return self.last

    def known(self, field: DataField) -> DataField:
        """A field of the table, or of a ROW that was there before: it may have an id already."""
        if field.id != UNASSIGNED:
            return replace(field, type=self._inside(field.type, new=False))
        if self._members_first:
            return self._new(field)
        number = self.next()
        return replace(field, id=number, type=self._inside(field.type, new=True))

    def _new(self, field: DataField) -> DataField:
        """A field of a ROW that is new itself."""
        type_ = self._inside(field.type, new=True)
        return replace(field, id=self.next(), type=type_)

    def _inside(self, type_: DataType, *, new: bool) -> DataType:
        number = self._new if new else self.known
        return change_outer_rows(type_, lambda row: replace(row, fields=tuple(map(number, row.fields))))


def _highest_kept(fields: Iterable[DataField]) -> int:
    """The largest id among fields that keep theirs, system ids left out; -1 for none."""
    found = -1
    for field in fields:
        if field.id != UNASSIGNED:
            own = field.id if field.id < FIRST_SYSTEM_ID else -1
            found = max(found, own, *(_highest_kept(row.fields) for row in outer_rows(field.type)))
    return found

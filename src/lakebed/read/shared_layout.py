"""Combine layouts of files that one scan can read: none of its names means two columns.

A scan is asked for columns by their names, and gives NULL for one that a file does not have. So files that hold other
columns share a scan, as long as each name that it is asked for means one and the same column in all of them, or none.
Members of structs have to be the same: where a query looks at none that a file has, Spark takes the struct for NULL, in
versions before 4.1 and by a setting also later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lakebed.physical.paimon_types import DataField

#: The id of a column and its name, or `_TWO`: several columns go by that name.
_Meaning: TypeAlias = tuple[int, str]
_TWO: _Meaning = (-1, "")


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What is asked of files, `stored`, and what the names of columns mean in them, whatever their case.

    Two of them are equal if they are the same object.
    """

    stored: tuple[DataField, ...]
    names: Mapping[str, _Meaning]

    @classmethod
    def of(cls, stored: tuple[DataField, ...], written: Iterable[DataField]) -> Layout:
        """The layout of files of the columns `written`."""
        return cls(stored, _meanings(written))

    def shared(self, other: Layout, *, as_it_is: bool = False) -> Layout | None:
        """The layout of the scan that files of both share, None where they need two.

        `as_it_is`: a scan is asked for what is in each of its files, no more.
        """
        names = {name: _either(found, other.names.get(name)) for name, found in self.names.items()}
        names = {**other.names, **names}
        if self.stored == other.stored:
            return Layout(self.stored, names)
        both = (*self.stored, *other.stored)
        fields = {f.id: f for f in both}
        if as_it_is or any(fields[f.id] != f or names[f.name.casefold()] == _TWO for f in both):
            return None
        return Layout(tuple(fields.values()), names)


def _meanings(fields: Iterable[DataField]) -> dict[str, _Meaning]:
    found: dict[str, _Meaning] = {}
    for field in fields:
        name = field.name.casefold()
        found[name] = _either((field.id, field.name), found.get(name))
    return found


def _either(one: _Meaning, other: _Meaning | None) -> _Meaning:
    """What a name means in files where it means the one, or the other if anything."""
    return one if other is None or other == one else _TWO

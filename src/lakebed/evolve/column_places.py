"""Find stored columns of all levels by place: by ids from the table down, whatever they are called.

A place stays where a column, or one around it, is renamed or moved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import Path
from lakebed.physical.paimon_tree import places_inside
from lakebed.physical.paimon_types import DataField, DataType, Row

#: From the table down to a column or to a type inside of it: ids of fields, and the steps into lists and maps.
Place: TypeAlias = tuple[int | str, ...]


@dataclass(slots=True)
class ColumnPlaces:
    """Columns of all levels by place; the members of each ROW, the table included; and the places by path of names."""

    fields: dict[Place, DataField] = field(default_factory=dict)
    types: dict[Place, DataType] = field(default_factory=dict)
    rows: dict[Place, Fields] = field(default_factory=dict)
    places: dict[Path, Place] = field(default_factory=dict)

    @classmethod
    def of(cls, fields: Fields) -> ColumnPlaces:
        found = cls()
        members: dict[Path, DataField] = {}
        for path, type_ in places_inside(Row(fields)):
            member = members.get(path)
            place = (*found.places[path[:-1]], path[-1] if member is None else member.id) if path else ()
            found.places[path] = place
            if path:
                found.types[place] = type_
            if member is not None:
                found.fields[place] = member
            if isinstance(type_, Row):
                found.rows[place] = type_.fields
                members |= {(*path, f.name): f for f in type_.fields}
        return found

    def member_place(self, parent: Place, name: str) -> Place:
        """The place of a column of the table, or of a member of a ROW, by the place of that; empty where none is."""
        return next(((*parent, f.id) for f in self.rows.get(parent, ()) if f.name == name), ())

    def id_at(self, path: Path) -> int | None:
        """The id of the column at a path of names, or of the column that the path leads into; None where none is."""
        return column_id(self.places.get(path, ()))


def column_id(place: Place) -> int | None:
    """The id of the column that a place is, or is inside of."""
    return next((step for step in reversed(place) if isinstance(step, int)), None)

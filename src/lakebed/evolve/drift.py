"""Tell what was made outside of `apply` from what a manifest asks for, by field id.

Three versions are held against each other: the one that `apply` made last, the newest one, and the declared one. An
edit that leads from the newest to the declared one undoes the work of others where the first two differ in what it
edits. A column that others worked on, or in, cannot be dropped or replaced without undoing that work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.annotations import annotation
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.column_places import ColumnPlaces, Place, column_id
from lakebed.evolve.describe_edits import describe_changes
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.nested_paths import Fields
from lakebed.physical.paimon_types import DataType, with_nullability


@dataclass(frozen=True, slots=True)
class Drift:
    """Versions that were made outside of `apply`, and of whose changes a plan undoes some.

    `applied` is the version that `apply` made last, `last` the newest one. `changes` say what the versions after
    `applied` did; None where `applied` is not there any more, so that nobody can tell. `broken` says which consumers
    they break, and why.
    """

    applied: int
    last: int
    changes: tuple[str, ...] | None
    broken: tuple[str, ...] = ()

    @property
    def versions(self) -> str:
        """The versions in words: `version 2`, `versions 2 to 5`."""
        first = self.applied + 1
        return f"version {first}" if first == self.last else f"versions {first} to {self.last}"


class Outside:
    """What the versions after the one that `apply` made last have changed.

    Args:
        number: of the version that `apply` made last.
        applied: that version; None where it is not there any more: then all that is there may be the work of others.
        newest: the version that is planned on.
        declared: the wanted columns, with the ids of the present ones that they are.
    """

    def __init__(self, number: int, applied: TableSchema | None, newest: TableSchema, declared: Fields) -> None:
        changes = None if applied is None else describe_changes(applied, newest)
        self.drift = Drift(number, newest.id, changes)
        self._is_known = applied is not None
        self._before = _Version.of(applied)
        self._now = _Version.of(newest)
        self._wanted = ColumnPlaces.of(declared)

    def is_undone_by(self, edit: Edit) -> bool:
        """Whether an edit that leads from the newest version to the declared one undoes the work of others."""
        before, now = self._before, self._now
        match edit.kind:
            case EditKind.CREATE:
                return False
            case EditKind.OPTION:
                return before.options.get(edit.name or "") != now.options.get(edit.name or "")
            case EditKind.TABLE_COMMENT:
                return before.comment != now.comment
            case EditKind.PRIMARY_KEYS | EditKind.PARTITION_KEYS:
                return before.keys != now.keys
            case EditKind.ADD:
                return self._brings_back(edit)
            case EditKind.DROP:
                parent = self._wanted.places[edit.path[:-1]]
                dropped = next(f for f in now.columns.rows[parent] if f.name == edit.path[-1])
                return dropped != before.columns.fields.get((*parent, dropped.id))
            case _:
                return self._is_other(edit, self._wanted.places[edit.path])

    def is_of_others(self, edit: Edit) -> bool:
        """Whether an edit drops a column that others have added, or adds one that they have dropped."""
        match edit.kind:
            case EditKind.ADD:
                return self._brings_back(edit)
            case EditKind.DROP if self._is_known:
                parent = self._wanted.places[edit.path[:-1]]
                dropped = next(f for f in self._now.columns.rows[parent] if f.name == edit.path[-1])
                return (*parent, dropped.id) not in self._before.columns.fields
            case _:
                return False

    def _brings_back(self, edit: Edit) -> bool:
        """Whether a column of the name was there and has been dropped by others."""
        parent = self._wanted.places[edit.path[:-1]]
        left = {f.id for f in self._now.columns.rows.get(parent, ())}
        return any(f.name == edit.path[-1] and f.id not in left for f in self._before.columns.rows.get(parent, ()))

    def _is_other(self, edit: Edit, place: Place) -> bool:
        """Whether others have changed what the edit is about, in the column or type at a place."""
        before, now = self._before, self._now
        old, new = before.columns.fields.get(place), now.columns.fields.get(place)
        was, is_ = before.columns.types.get(place), now.columns.types.get(place)
        match edit.kind:
            case EditKind.RENAME:
                return (old and old.name) != (new and new.name)
            case EditKind.DESCRIPTION:
                return (old and old.description) != (new and new.description)
            case EditKind.DEFAULT:
                return (old and old.default_value) != (new and new.default_value)
            case EditKind.ANNOTATION:
                name = edit.name or ""
                return bool(before.attribute(place, name) != now.attribute(place, name))
            case EditKind.NULLABILITY:
                return (was and was.nullable) != (is_ and is_.nullable)
            case EditKind.TYPE:
                return was is None or is_ is None or _nullable(was) != _nullable(is_)
            case EditKind.MEANING:
                # A declared type that went with the column's type is no work on the meaning.
                went = now.meaning(place) is None and was != is_
                return not went and bool(before.meaning(place) != now.meaning(place))
            case _:
                return self._is_moved(place)

    def _is_moved(self, place: Place) -> bool:
        """Whether the declared column would stand on the other side of a column than where others have put it."""
        parent, own = place[:-1], place[-1]
        rows = (self._before.columns.rows, self._now.columns.rows, self._wanted.rows)
        was, is_, wanted = ({f.id: i for i, f in enumerate(r.get(parent, ()))} for r in rows)
        if not isinstance(own, int) or own not in was or own not in is_:
            return False
        others = (was.keys() & is_.keys() & wanted.keys()) - {own}
        return any(
            (is_[own] < is_[other]) not in (was[own] < was[other], wanted[own] < wanted[other]) for other in others
        )


def _nullable(type_: DataType) -> DataType:
    return with_nullability(type_, True)


@dataclass(frozen=True, slots=True)
class _Version:
    """What one version says of a table, as far as edits are about it."""

    columns: ColumnPlaces
    options: Mapping[str, str]
    comment: str | None
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    annotation: Mapping[str, Any]

    @classmethod
    def of(cls, schema: TableSchema | None) -> _Version:
        """The version; of one that is not there, that it says nothing."""
        if schema is None:
            return cls(ColumnPlaces.of(()), {}, None, ((), ()), {})
        keys = (schema.primary_keys, schema.partition_keys)
        return cls(ColumnPlaces.of(schema.fields), schema.options, schema.comment, keys, annotation(schema))

    def attribute(self, place: Place, name: str) -> Any:
        """An attribute of a column, or of the table; None where it has none."""
        extra = (self._entry(place) if place else self.annotation).get("extra")
        return extra.get(name) if isinstance(extra, dict) else None

    def meaning(self, place: Place) -> Any:
        """What is noted of the declared type of the column that a place is in."""
        return self._entry(place).get("type")

    def _entry(self, place: Place) -> Mapping[str, Any]:
        entries = self.annotation.get("fields")
        column = column_id(place)
        entry = entries.get(str(column)) if isinstance(entries, dict) else None
        return entry if isinstance(entry, dict) else {}

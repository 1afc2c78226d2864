"""Choose which of a file's columns, and which parts of them, answer for wanted ones, by field id."""

from __future__ import annotations

from collections.abc import Iterable

from lakebed.physical.paimon_tree import map_fields, without_nullability
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Multiset, Row, with_nullability


def layout(file_fields: Iterable[DataField], wanted: Iterable[DataField]) -> tuple[DataField, ...]:
    """The part of a file's columns that answers for `wanted`: by id, in the file's order, with the file's names.

    Nested types are pruned to the ids that are wanted; where a struct is wanted but none of its members is in the file,
    one member is kept, for whether the struct is NULL. Nullability, descriptions and defaults are dropped, so that
    versions that differ only there have equal layouts and share a scan.
    """
    by_id = {f.id: f for f in wanted}
    return tuple(DataField(f.id, f.name, _prune(f.type, by_id[f.id].type)) for f in file_fields if f.id in by_id)


def _prune(have: DataType, want: DataType) -> DataType:
    have = with_nullability(have, True)
    match have, want:
        case Row(), Row():
            kept = layout(have.fields, want.fields)
            return Row(kept or _smallest(have.fields))
        case Array(), Array():
            return Array(_prune(have.element, want.element))
        case Map(), Map():
            return Map(bare_type(have.key), _prune(have.value, want.value))
        case _:
            return bare_type(have)


def _smallest(fields: tuple[DataField, ...]) -> tuple[DataField, ...]:
    flat = [f for f in fields if not isinstance(f.type, (Row, Array, Map, Multiset))]
    chosen = (flat or list(fields))[:1]
    return tuple(DataField(f.id, f.name, bare_type(f.type)) for f in chosen)


def bare_type(type_: DataType) -> DataType:
    """A type without nullability, descriptions and defaults, at every level."""
    return map_fields(without_nullability(type_), lambda f: DataField(f.id, f.name, f.type))

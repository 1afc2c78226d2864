"""Choose which of a file's columns, and which parts of them, answer for wanted ones, by field id."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from lakebed.physical.paimon_tree import map_fields, without_nullability
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Multiset, Row, with_nullability

#: Whether who reads values of a stored type gives them as a wanted one.
Reads: TypeAlias = Callable[[DataType, DataType], bool]


def layout(
    file_fields: Iterable[DataField], wanted: Iterable[DataField], reads: Reads = lambda have, want: False
) -> tuple[DataField, ...]:
    """The part of a file's columns that answers for `wanted`: by id, in the file's order, with the file's names.

    Nested types are pruned to the ids that are wanted; where a struct is wanted but none of its members is in the file,
    one member is kept, for whether the struct is NULL. Nullability, descriptions and defaults are dropped, so that
    versions that differ only there have equal layouts. A type is the wanted one where the reader `reads` it so.
    """
    by_id = {f.id: f for f in wanted}
    return tuple(DataField(f.id, f.name, _prune(f.type, by_id[f.id].type, reads)) for f in file_fields if f.id in by_id)


def _prune(have: DataType, want: DataType, reads: Reads) -> DataType:
    have = with_nullability(have, True)
    match have, want:
        case Row(), Row():
            kept = layout(have.fields, want.fields, reads)
            return Row(kept or _smallest(have.fields))
        case Array(), Array():
            return Array(_prune(have.element, want.element, reads))
        case Map(), Map():
            return Map(bare_type(have.key), _prune(have.value, want.value, reads))
        case _:
            have, want = bare_type(have), bare_type(want)
            return want if reads(have, want) else have


def _smallest(fields: tuple[DataField, ...]) -> tuple[DataField, ...]:
    flat = [f for f in fields if not isinstance(f.type, (Row, Array, Map, Multiset))]
    chosen = (flat or list(fields))[:1]
    return tuple(DataField(f.id, f.name, bare_type(f.type)) for f in chosen)


def bare_type(type_: DataType) -> DataType:
    """A type without nullability, descriptions and defaults, at every level."""
    return map_fields(without_nullability(type_), lambda f: DataField(f.id, f.name, f.type))

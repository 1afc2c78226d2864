"""Whether the schema that a stream began with can show what newer files hold: a schema change under a running query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakebed.physical.types import Array, DataField, DataType, Map, Multiset, Row, equal_ignoring_nullability


def not_shown(shown: Sequence[DataField], newer: Sequence[DataField], *, additions: bool = True) -> tuple[str, ...]:
    """What rows of the columns `newer` hold that rows of the columns `shown` cannot, as texts.

    Columns are matched by field id at every level: a renamed column is the same, a dropped one reads as NULL. What is
    not shown are added columns (`additions`: top-level ones too) and values of changed types.
    """
    return tuple(_fields(shown, newer, "", additions=additions))


def _fields(shown: Sequence[DataField], newer: Sequence[DataField], path: str, *, additions: bool) -> Iterator[str]:
    by_id = {field.id: field for field in shown}
    for field in newer:
        own = by_id.get(field.id)
        if own is not None:
            yield from _types(own.type, field.type, f"{path}{own.name}")
        elif additions:
            yield f"column {path}{field.name} was added"


def _types(shown: DataType, newer: DataType, path: str) -> Iterator[str]:
    match shown, newer:
        case Row(), Row():
            yield from _fields(shown.fields, newer.fields, f"{path}.", additions=True)
        case (Array(element=own), Array(element=other)) | (Multiset(element=own), Multiset(element=other)):
            yield from _types(own, other, f"{path}.element")
        case Map(), Map():
            yield from _types(shown.key, newer.key, f"{path}.key")
            yield from _types(shown.value, newer.value, f"{path}.value")
        case _:
            if not equal_ignoring_nullability(shown, newer):
                yield f"column {path} changed from {shown} to {newer}"

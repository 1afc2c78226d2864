"""What changed from one version of a table to another, in words."""

from __future__ import annotations

from dataclasses import replace

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.table_schema import TableSchema, highest_id
from lakebed.errors import ValidationError
from lakebed.evolve.diff import diff_steps
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import compare
from lakebed.evolve.nested import Fields
from lakebed.evolve.wording import summary
from lakebed.model.encoding import is_encoding
from lakebed.physical.types import UNASSIGNED, Array, DataType, Map, Multiset, Row, Vector


def describe_changes(
    old: TableSchema, new: TableSchema, *, by_name: bool = False, encodings: bool = False
) -> tuple[str, ...]:
    """One line per difference; empty for equal schemas, whatever their ids and times.

    Columns are the same where their ids are, or with `by_name` where their names are, for schemas of two tables.
    Hints of how values are encoded in Arrow are summed up in one line unless `encodings` asks for them.
    """
    declared = new.logical
    if by_name:
        new = replace(new, fields=_renumbered(new.fields, old.fields), highest_field_id=-1)
        new = replace(new, highest_field_id=max(old.highest_field_id, highest_id(new.fields)))
    meanings = compare(old.fields, old.logical, new.fields, declared)
    edits = [e for e in _edits(old, new) if not (e.kind is EditKind.OPTION and e.name == OPTION)]
    shown = dict.fromkeys([*edits, *meanings.edits])
    hints = [e for e in shown if not encodings and e.kind is EditKind.ANNOTATION and is_encoding(e.name or "")]
    lines = [summary(e, meanings) for e in shown if e not in hints]
    return (*lines, *_summed_up(hints))


def _summed_up(hints: list[Edit]) -> tuple[str, ...]:
    columns = len({e.path for e in hints})
    return (f"change encoding hints of {columns} column{'' if columns == 1 else 's'}",) if hints else ()


def _edits(old: TableSchema, new: TableSchema) -> list[Edit]:
    """The edits of the change list, or of what can be said where no changes lead from one to the other."""
    keys = [
        Edit(kind, (), before_text=", ".join(a) or "none", after_text=", ".join(b) or "none")
        for kind, a, b in (
            (EditKind.PRIMARY_KEYS, old.primary_keys, new.primary_keys),
            (EditKind.PARTITION_KEYS, old.partition_keys, new.partition_keys),
        )
        if a != b
    ]
    plain = replace(new, primary_keys=(), partition_keys=()), replace(old, primary_keys=(), partition_keys=())
    try:
        steps = diff_steps(plain[1], plain[0])
    except ValidationError:
        return [*keys, Edit(EditKind.CREATE, (), after_text="anew, with no column of the one before")]
    return [*keys, *(s.edit for s in steps)]


def _renumbered(fields: Fields, like: Fields) -> Fields:
    """The fields with the ids of those of the same name, and none where there is none."""
    by_name = {f.name: f for f in like}
    return tuple(
        replace(f, id=by_name[f.name].id, type=_renumbered_type(f.type, by_name[f.name].type))
        if f.name in by_name
        else replace(f, id=UNASSIGNED)
        for f in fields
    )


def _renumbered_type(type_: DataType, like: DataType) -> DataType:
    match type_, like:
        case Row(), Row():
            return replace(type_, fields=_renumbered(type_.fields, like.fields))
        case ((Array() | Multiset() | Vector()), (Array() | Multiset() | Vector())):
            return replace(type_, element=_renumbered_type(type_.element, like.element))
        case Map(), Map():
            key = _renumbered_type(type_.key, like.key)
            return replace(type_, key=key, value=_renumbered_type(type_.value, like.value))
        case _:
            return type_

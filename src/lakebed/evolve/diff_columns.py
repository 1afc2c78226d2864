"""Compute the changes between two lists of sibling fields, nested ones included, in a workable order."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lakebed.catalog import options as table_options
from lakebed.catalog.option_values import is_flagged
from lakebed.evolve.nested_paths import Fields, changeable_parts
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    Move,
    Path,
    RenameColumn,
    UpdateColumnComment,
    UpdateColumnDefaultValue,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
    problem,
)
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import without_ids
from lakebed.physical.paimon_types import (
    UNASSIGNED,
    DataField,
    DataType,
    Row,
    equal_ignoring_nullability,
    with_nullability,
)


class EditKind(StrEnum):
    """What one edit does to a table, as a person would say it."""

    CREATE = "create"
    ADD = "add"
    DROP = "drop"
    RENAME = "rename"
    TYPE = "type"
    NULLABILITY = "nullability"
    DESCRIPTION = "description"
    DEFAULT = "default"
    POSITION = "position"
    MEANING = "meaning"
    ANNOTATION = "annotation"
    OPTION = "option"
    TABLE_COMMENT = "comment"
    PRIMARY_KEYS = "primary keys"
    PARTITION_KEYS = "partition keys"
    BUCKETS = "buckets"

    @property
    def sign(self) -> str:
        """`+` for what comes, `-` for what goes, `>` for what is found under another name or elsewhere, else `~`."""
        return _SIGNS.get(self, "~")


_SIGNS = {
    EditKind.CREATE: "+",
    EditKind.ADD: "+",
    EditKind.DROP: "-",
    EditKind.RENAME: ">",
    EditKind.POSITION: ">",
}


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit. `path` is in the names after the edit (a dropped column: its old name under its parent's new path).

    ADD, DROP, TYPE, MEANING and NULLABILITY say types, the others texts. `name` is that of an option or an attribute.
    """

    kind: EditKind
    path: Path
    before: DataType | None = None
    after: DataType | None = None
    before_text: str | None = None
    after_text: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One change and the edit that it is a part of; an edit may need several."""

    change: Change
    edit: Edit


@dataclass(frozen=True, slots=True)
class Gates:
    """What the table's options say about new columns while the columns are edited."""

    not_null: bool = False
    explicit_places: bool = False

    @classmethod
    def of(cls, before: Mapping[str, str], after: Mapping[str, str]) -> Gates:
        key = table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED
        opened = not is_flagged(before, key) or not is_flagged(after, key)
        return cls(opened, is_flagged(before, table_options.ADD_COLUMN_BEFORE_PARTITION))


def level(parent: Path, before: Fields, after: Fields, gates: Gates) -> Iterator[Step]:
    """The steps that turn the fields `before` of the ROW at `parent` (empty: the table) into `after`."""
    if before and not after:
        where = path_text(parent) or "the table"
        raise problem("LB4023", f"{where} cannot lose all its columns", path=path_text(parent))
    by_id = {f.id: f for f in before}
    kept = [(by_id[f.id], f) for f in after if f.id != UNASSIGNED and f.id in by_id]
    if before and not kept:
        yield from _replaced(parent, before, after, gates)
        names = [after[0].name]
    else:
        names = [f.name for f in before]
        staying = {old.id for old, _ in kept}
        for field in before:
            if field.id not in staying:
                names.remove(field.name)
                yield _drop(parent, field)
        yield from _renames(parent, [(old, new) for old, new in kept if old.name != new.name], names)
    for old, new in kept:
        yield from _field((*parent, new.name), old, new, gates)
    yield from _placed(parent, names, after, gates)


def _drop(parent: Path, field: DataField) -> Step:
    path = (*parent, field.name)
    return Step(DropColumn(path), Edit(EditKind.DROP, path, before=field.type))


def _replaced(parent: Path, before: Fields, after: Fields, gates: Gates) -> Iterator[Step]:
    """No column stays: the first new one comes before the last old one goes, so that there always is one."""
    new, taken = after[0], {f.name for f in before}
    name = new.name if new.name not in taken else _unused(taken | {f.name for f in after})
    edit = _addition(parent, new)
    yield Step(AddColumn((*parent, name), _addable(new.type, gates), new.description, Move.first(name)), edit)
    for field in before:
        yield _drop(parent, field)
    if name != new.name:
        yield Step(RenameColumn((*parent, name), new.name), edit)
    yield from _after_adding((*parent, new.name), new, edit, gates)


def _unused(taken: set[str]) -> str:
    number = 1
    while f"lakebed_{number}" in taken:
        number += 1
    return f"lakebed_{number}"


def _renames(parent: Path, pairs: list[tuple[DataField, DataField]], names: list[str]) -> Iterator[Step]:
    """Renames in an order in which each new name is free; a circle is broken with a temporary name. Edits `names`.

    A name that stays with another column is asked for all the same: whoever makes the changes refuses it.
    """
    wanted = {old.name: new.name for old, new in pairs}
    edits = {
        old.name: Edit(EditKind.RENAME, (*parent, new.name), before_text=old.name, after_text=new.name)
        for old, new in pairs
    }

    def rename(old: str, new: str, edit: Edit) -> Step:
        names[names.index(old)] = new
        return Step(RenameColumn((*parent, old), new), edit)

    while wanted:
        free = next((old for old, new in wanted.items() if new not in names), None)
        if free is None:
            free = next((old for old, new in wanted.items() if new not in wanted), None)
        if free is not None:
            yield rename(free, wanted.pop(free), edits.pop(free))
            continue
        old, new = next(iter(wanted.items()))
        temporary = _unused({*names, *wanted.values()})
        edits[temporary] = edits[old]
        yield rename(old, temporary, edits.pop(old))
        del wanted[old]
        wanted[temporary] = new


def _field(path: Path, old: DataField, new: DataField, gates: Gates) -> Iterator[Step]:
    types = list(_type(path, old.type, new.type, gates))
    default = Edit(EditKind.DEFAULT, path, before_text=old.default_value, after_text=new.default_value)
    default_changes = old.default_value != new.default_value
    reset = default_changes and old.default_value is not None and any(s.edit.kind is EditKind.TYPE for s in types)
    if reset:
        # The old default need not be readable as the new type.
        yield Step(UpdateColumnDefaultValue(path, None), default)
    yield from types
    if old.description != new.description:
        edit = Edit(EditKind.DESCRIPTION, path, before_text=old.description, after_text=new.description)
        yield Step(UpdateColumnComment(path, new.description), edit)
    if default_changes and not (reset and new.default_value is None):
        yield Step(UpdateColumnDefaultValue(path, new.default_value), default)


def _type(path: Path, old: DataType, new: DataType, gates: Gates) -> Iterator[Step]:
    """Relaxing comes before the rest and tightening after it: some casts lead to nullable types only."""
    edit = Edit(EditKind.NULLABILITY, path, before=old, after=new)
    nullability = Step(UpdateColumnNullability(path, new.nullable), edit)
    if new.nullable and not old.nullable:
        yield nullability
    parts = changeable_parts(old, new)
    for name, before, after in parts:
        yield from _type((*path, name), before, after, gates)
    if isinstance(old, Row) and isinstance(new, Row):
        yield from level(path, old.fields, new.fields, gates)
    elif not parts and not equal_ignoring_nullability(without_ids(old), without_ids(new)):
        wanted = with_nullability(without_ids(new), old.nullable or new.nullable)
        yield Step(UpdateColumnType(path, wanted), Edit(EditKind.TYPE, path, before=old, after=new))
    if old.nullable and not new.nullable:
        yield nullability


def _addition(parent: Path, field: DataField) -> Edit:
    return Edit(EditKind.ADD, (*parent, field.name), after=field.type)


def _addable(type_: DataType, gates: Gates) -> DataType:
    """The type as it is added: nullable where the option lets a later change take that away."""
    return with_nullability(without_ids(type_), type_.nullable or gates.not_null)


def _after_adding(path: Path, field: DataField, edit: Edit, gates: Gates) -> Iterator[Step]:
    """What an addition cannot say itself."""
    if not field.type.nullable and gates.not_null:
        yield Step(UpdateColumnNullability(path, False), edit)
    if field.default_value is not None:
        yield Step(UpdateColumnDefaultValue(path, field.default_value), edit)


def _placed(parent: Path, current: list[str], after: Fields, gates: Gates) -> Iterator[Step]:
    """Additions and moves, from the first place to the last. `current` are the names that are there, and is edited.

    Columns on a longest rising run of present places stay where they are; every other one is put right after the column
    that it follows, so that the order is right up to there. A column whose name another one has is added all the same:
    whoever makes the changes refuses it.
    """
    unplaced = Counter(current)
    places = {name: i for i, name in enumerate(current)}
    resting = set(_rising([places[f.name] for f in after if f.name in places]))
    previous: str | None = None
    for field in after:
        if unplaced[field.name] <= 0:
            yield from _added(parent, field, previous, current, gates)
        elif places[field.name] not in resting:
            current.remove(field.name)
            current.insert(_after(previous, current), field.name)
            edit = Edit(EditKind.POSITION, (*parent, field.name), after_text=previous)
            yield Step(UpdateColumnPosition(_move(field.name, previous), parent), edit)
        unplaced[field.name] -= 1
        previous = field.name


def _added(parent: Path, field: DataField, previous: str | None, current: list[str], gates: Gates) -> Iterator[Step]:
    path, edit = (*parent, field.name), _addition(parent, field)
    at = _after(previous, current)
    said = at < len(current) or (gates.explicit_places and not parent)
    current.insert(at, field.name)
    move = _move(field.name, previous) if said else None
    yield Step(AddColumn(path, _addable(field.type, gates), field.description, move), edit)
    yield from _after_adding(path, field, edit, gates)


def _after(previous: str | None, current: list[str]) -> int:
    return 0 if previous is None else current.index(previous) + 1


def _move(name: str, previous: str | None) -> Move:
    return Move.first(name) if previous is None else Move.after(name, previous)


def _rising(places: Sequence[int]) -> list[int]:
    """A longest rising run of `places`, which are all different."""
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for place in places:
        at = bisect_left(tails, place)
        before[place] = tails[at - 1] if at else None
        tails[at : at + 1] = [place]
    run = []
    last = tails[-1] if tails else None
    while last is not None:
        run.append(last)
        last = before[last]
    return run[::-1]

"""Match declared fields to stored fields, at every level, by pin, declared rename, or name.

A pin (`lakebed.dev/fieldId`) decides first, then a declared rename (`lakebed.dev/renamedFrom`, a sibling's old name),
then the name. A rename is fulfilled once the table's annotations hold the same `renamedFrom` for the field of the new
name; from then on it is ignored, so that a swap that is applied again does not swap back. A rename is never guessed.
Where somebody renamed fields outside of `apply`, the names of the version that it made last count too, after the
present ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.catalog.ids import assign
from lakebed.catalog.node import Node
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.paimon import to_paimon
from lakebed.diagnostics import Diagnostic, Position, near_names
from lakebed.errors import ManifestError, ValidationError
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path
from lakebed.model import Field, LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.model.extra import FIELD_ID, RENAMED_FROM
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import walk_fields, without_ids
from lakebed.physical.paimon_types import UNASSIGNED, Array, DataField, DataType, Map, Multiset, Row, Vector

UNKNOWN_FIELD_ID = "LB3207"

_NO_MOVE = "a field cannot move into or out of a struct: declare a new one, and copy the values"

PositionOf = Callable[[Path], Position | None]


def nowhere(path: Path) -> Position | None:
    """For declarations that did not come from a text."""
    return None


def identify(
    declared: Schema, base: TableSchema, *, position_of: PositionOf = nowhere, applied: TableSchema | None = None
) -> Fields:
    """The Paimon columns of a declared schema, with the ids of the fields of `base` that they are.

    `applied` is the version that `apply` made last, where others came after it. A field that is new has the id
    `UNASSIGNED`. Raises `ManifestError` with every pin and rename that leads nowhere.
    """
    former = {} if applied is None else {f.id: f.name for f in walk_fields(applied.fields)}
    pairing = _Pairing(base, position_of, former)
    stored = _siblings(base.fields, base.logical.fields)
    fields = pairing.siblings((), _siblings(to_paimon(declared), declared.fields), stored)
    pairing.raise_problems()
    return fields


def identify_new(declared: Schema, *, position_of: PositionOf = nowhere) -> tuple[Fields, int]:
    """The columns of a table that is being made, with ids, and the highest id. Renames are not looked at.

    Raises `ManifestError` where a pin says another id than the one that the column gets.
    """
    fields, highest = assign(to_paimon(declared), -1)
    problems = [
        Diagnostic(
            "LB4105",
            f"the new column {path_text(path)} gets the id {found.id}, not {member.extra[FIELD_ID]}",
            position=position_of(path),
            path=path_text(path),
            expected=str(found.id),
            found=str(member.extra[FIELD_ID]),
            remedy=f"take {FIELD_ID} out; it pins a column of a table that is there",
        )
        for path, found, member in _walk((), _siblings(fields, declared.fields))
        if member.extra.get(FIELD_ID, found.id) != found.id
    ]
    if problems:
        raise ManifestError(*problems)
    return fields, highest


def pair(base: Fields, wanted: Fields) -> Fields:
    """The wanted columns with the ids of the columns that they are: by id where one is given, else by name.

    Members of ROWs are paired in the same way, level by level, also inside ARRAY, MAP and MULTISET. What is new is
    `UNASSIGNED` with all that is inside it. Raises `ValidationError` (LB3207) where an id is given that no sibling has,
    or two columns claim one.
    """
    problems: list[Diagnostic] = []
    paired = _pair((), base, wanted, problems)
    if problems:
        raise ValidationError(*problems)
    return paired


def _pair(parent: Path, base: Fields, wanted: Fields, problems: list[Diagnostic]) -> Fields:
    by_id = {field.id: field for field in base}
    claimed: set[int] = set()
    for field_ in wanted:
        if field_.id == UNASSIGNED:
            continue
        if field_.id not in by_id or field_.id in claimed:
            problems.append(_unknown_id((*parent, field_.name), field_.id, is_taken=field_.id in claimed))
        claimed.add(field_.id)
    by_name = {field_.name: field_ for field_ in base if field_.id not in claimed}
    found = []
    for field_ in wanted:
        old = by_id.get(field_.id) if field_.id != UNASSIGNED else by_name.get(field_.name)
        if old is None:
            found.append(replace(field_, id=UNASSIGNED, type=without_ids(field_.type)))
        else:
            inside = _pair_inside((*parent, field_.name), old.type, field_.type, problems)
            found.append(replace(field_, id=old.id, type=inside))
    return tuple(found)


def _pair_inside(path: Path, old: DataType, new: DataType, problems: list[Diagnostic]) -> DataType:
    match old, new:
        case Row(), Row():
            return replace(new, fields=_pair(path, old.fields, new.fields, problems))
        case Array(), Array():
            return replace(new, element=_pair_inside((*path, ELEMENT), old.element, new.element, problems))
        case Multiset(), Multiset():
            return replace(new, element=_pair_inside((*path, ELEMENT), old.element, new.element, problems))
        case Map(), Map():
            key = _pair_inside((*path, "key"), old.key, new.key, problems)
            return replace(new, key=key, value=_pair_inside((*path, VALUE), old.value, new.value, problems))
        case _:
            return without_ids(new)


def _unknown_id(path: Path, number: int, *, is_taken: bool) -> Diagnostic:
    problem = "another column has claimed" if is_taken else "no column of the table has"
    return Diagnostic(
        UNKNOWN_FIELD_ID,
        f"the column {path_text(path)} asks for the field id {number}, which {problem}",
        path=path_text(path),
        found=str(number),
        remedy="Leave the id out to add a column, or take the ids from the table's present schema.",
    )


@dataclass(frozen=True, slots=True)
class Sibling:
    """A field as Paimon has it and as it is declared."""

    column: DataField
    member: Field

    @property
    def name(self) -> str:
        return self.member.name


def _siblings(columns: Fields, members: tuple[Field, ...]) -> tuple[Sibling, ...]:
    return tuple(Sibling(c, m) for c, m in zip(columns, members, strict=True))


def _walk(parent: Path, siblings: tuple[Sibling, ...]) -> Iterator[tuple[Path, DataField, Field]]:
    for sibling in siblings:
        path = (*parent, sibling.name)
        yield path, sibling.column, sibling.member
        for inner, row, struct in Node(path, sibling.column.type, sibling.member.type).structs():
            yield from _walk(inner, _siblings(row.fields, struct.fields))


@dataclass(slots=True)
class _Pairing:
    base: TableSchema
    position_of: PositionOf
    former: Mapping[int, str]
    problems: list[Diagnostic] = field(default_factory=list)

    def raise_problems(self) -> None:
        if self.problems:
            raise ManifestError(*self.problems)

    def siblings(self, parent: Path, declared: tuple[Sibling, ...], stored: tuple[Sibling, ...]) -> Fields:
        """The declared columns of one level with the ids of the stored ones that they are."""
        level = _Level(self, parent, stored)
        for decide in (level.by_pin, level.by_rename, level.by_repeated_rename, level.by_name, level.by_former_name):
            for sibling in declared:
                if sibling.name not in level.paired:
                    decide(sibling)
        return tuple(self._paired(parent, s, level.paired.get(s.name)) for s in declared)

    def _paired(self, parent: Path, declared: Sibling, stored: Sibling | None) -> DataField:
        path = (*parent, declared.name)
        if stored is None:
            self._refuse_pins_inside(path, declared)
            return declared.column
        old, new = stored, declared
        type_ = self.type(path, new.column.type, new.member.type, old.column.type, old.member.type)
        return replace(new.column, id=old.column.id, type=type_)

    def type(self, path: Path, new: DataType, declared: LogicalType, old: DataType, stored: LogicalType) -> DataType:
        """The new type with the ids of the ROWs of the old one, as far as the two have the same shape."""
        match new, required(declared), old, required(stored):
            case Row(), logical.Struct() as after, Row(), logical.Struct() as before:
                fields = self.siblings(path, _siblings(new.fields, after.fields), _siblings(old.fields, before.fields))
                return replace(new, fields=fields)
            case Array(), logical.List() as after, Array(), logical.List() as before:
                inner = self.type((*path, ELEMENT), new.element, after.item_type, old.element, before.item_type)
                return replace(new, element=inner)
            case Vector(), logical.List() as after, Vector(), logical.List() as before:
                inner = self.type((*path, ELEMENT), new.element, after.item_type, old.element, before.item_type)
                return replace(new, element=inner)
            case Multiset(), logical.Map() as after, Multiset(), logical.Map() as before:
                inner = self.type((*path, ELEMENT), new.element, after.key_type, old.element, before.key_type)
                return replace(new, element=inner)
            case Map(), logical.Map() as after, Map(), logical.Map() as before:
                key = self.type((*path, "key"), new.key, after.key_type, old.key, before.key_type)
                value = self.type((*path, VALUE), new.value, after.value_type, old.value, before.value_type)
                return replace(new, key=key, value=value)
            case _:
                return new

    def _refuse_pins_inside(self, path: Path, declared: Sibling) -> None:
        """A struct that is new has no stored members that a pin could mean."""
        for inner, row, struct in Node(path, declared.column.type, declared.member.type).structs():
            for where, _, member in _walk(inner, _siblings(row.fields, struct.fields)):
                if FIELD_ID in member.extra:
                    self.unknown_pin(where, member.extra[FIELD_ID])

    def unknown_pin(self, path: Path, pin: Any) -> None:
        known = {f.id for f in walk_fields(self.base.fields)}
        if pin in known:
            message = f"the id {pin} pinned for {path_text(path)} belongs to a field in another place"
            remedy = "a field cannot move into or out of a struct; take the pin out to declare a new column"
        else:
            message = f"the table has no field with the id {pin} that is pinned for {path_text(path)}"
            remedy = f"take {FIELD_ID} out to declare a new column"
        self.problem("LB4101", path, message, found=str(pin), remedy=remedy)

    def problem(self, code: str, path: Path, message: str, **parts: Any) -> None:
        where = self.position_of(path)
        self.problems.append(Diagnostic(code, message, position=where, path=path_text(path), **parts))


@dataclass(slots=True)
class _Level:
    """The pairing among the fields of one ROW, or of the table."""

    pairing: _Pairing
    parent: Path
    stored: tuple[Sibling, ...]
    paired: dict[str, Sibling] = field(default_factory=dict)
    claimed: dict[int, str] = field(default_factory=dict)
    by_names: dict[str, Sibling] = field(init=False)

    def __post_init__(self) -> None:
        self.by_names = {s.name: s for s in reversed(self.stored)}

    def by_pin(self, declared: Sibling) -> None:
        pin = declared.member.extra.get(FIELD_ID)
        if pin is None:
            return
        found = next((s for s in self.stored if s.column.id == pin), None)
        if found is None:
            self.pairing.unknown_pin((*self.parent, declared.name), pin)
        else:
            self._claim(declared, found)

    def by_rename(self, declared: Sibling) -> None:
        old = declared.member.extra.get(RENAMED_FROM)
        present = self._named(declared.name)
        if old is None or old == declared.name or (present and present.member.extra.get(RENAMED_FROM) == old):
            return
        found = self._named(str(old)) or self._formerly(str(old))
        if found is not None:
            self._claim(declared, found)
            return
        path = (*self.parent, declared.name)
        if self._refuse_path(path, str(old)):
            return
        done = next((s.name for s in self.stored if s.member.extra.get(RENAMED_FROM) == old), None)
        if present is not None:
            remedy = f"the column is called {declared.name} already: take {RENAMED_FROM} out"
        elif done is not None:
            remedy = f"{old} was renamed before and is called {done} now: write {RENAMED_FROM}: {done}"
        else:
            remedy = f"name a column that is there, or take {RENAMED_FROM} out to declare a new one"
            remedy += "" if declared.member.nullable else ", which has to be an Option"
        near = near_names(str(old), [s.name for s in self.stored])
        message = f"{path_text(path)} is renamed from {old}, which is no column beside it"
        self.pairing.problem("LB4103", path, message, found=str(old), remedy=remedy, suggestions=near)

    def _refuse_path(self, path: Path, old: str) -> bool:
        """Note that the former name is the path of a column, if it is one; whether it is."""
        for stored, _, _ in _walk((), _siblings(self.pairing.base.fields, self.pairing.base.logical.fields)):
            inner = stored[len(self.parent) :] if stored[: len(self.parent)] == self.parent else ()
            if any(len(steps) > 1 and old in (path_text(steps), ".".join(steps)) for steps in (stored, inner)):
                beside = stored[:-1] == self.parent
                remedy = f"write the name alone: {stored[-1]}" if beside else _NO_MOVE
                message = (
                    f"{path_text(path)} is renamed from {old}, which is the path of a column, not a name beside it"
                )
                self.pairing.problem("LB1075", path, message, found=old, remedy=remedy)
                return True
        return False

    def by_repeated_rename(self, declared: Sibling) -> None:
        """A rename that is stored, but with a field that another declared column claims: then it is meant anew."""
        old = declared.member.extra.get(RENAMED_FROM)
        present, found = self._named(declared.name), self._named(str(old))
        if present is None or found is None or old == declared.name:
            return
        if present.column.id in self.claimed and found.column.id not in self.claimed:
            self._claim(declared, found)

    def by_name(self, declared: Sibling) -> None:
        found = self._named(declared.name)
        if found is not None and found.column.id not in self.claimed:
            self._claim(declared, found)

    def by_former_name(self, declared: Sibling) -> None:
        """A field that somebody renamed outside of `apply` is still the declared one."""
        found = self._formerly(declared.name)
        if found is not None and found.column.id not in self.claimed:
            self._claim(declared, found)

    def _formerly(self, name: str) -> Sibling | None:
        return next((s for s in self.stored if self.pairing.former.get(s.column.id) == name), None)

    def _named(self, name: str) -> Sibling | None:
        return self.by_names.get(name)

    def _claim(self, declared: Sibling, found: Sibling) -> None:
        other = self.claimed.get(found.column.id)
        if other is None:
            self.claimed[found.column.id] = declared.name
            self.paired[declared.name] = found
            return
        path = (*self.parent, declared.name)
        message = (
            f"{path_text(path)} and {other} both claim to be the stored column {found.name} (id {found.column.id})"
        )
        remedy = f"leave {FIELD_ID} or {RENAMED_FROM} on one of them only"
        self.pairing.problem("LB4102", path, message, found=str(found.column.id), remedy=remedy)

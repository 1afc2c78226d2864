"""Take into a manifest what others did to its table outside of `apply`. Pure.

Each edit that would undo it is taken back in what is declared: there the stored column, attribute or option counts.
What else the manifest asks for, and is not applied yet, stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.column_places import ColumnPlaces, Place
from lakebed.evolve.declared_edits import AppliedVersion, edits_to, last_applied
from lakebed.evolve.declared_extras import with_extras
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.drift import Drift, Outside
from lakebed.evolve.schema_changes import Path
from lakebed.manifest.encode_manifest import table_manifest_of
from lakebed.model import Field, LogicalType, Schema, optional, required
from lakebed.model import types as logical
from lakebed.model.extra import COMPATIBILITY, CONSUMERS, DEFAULT, DESCRIPTION, PAIMON_TYPE, READ, RENAMED_FROM, Extra
from lakebed.model.logical_tree import children, fields_inside, fold_at, places_inside, with_children
from lakebed.physical.paimon_types import UNASSIGNED

if TYPE_CHECKING:
    from lakebed.manifest.table_manifest import TableManifest

_TYPES = frozenset({EditKind.TYPE, EditKind.MEANING})
#: What a manifest says in properties of its own, and a stored schema in attributes.
_PROPERTIES = {READ: "read", COMPATIBILITY: "compatibility", CONSUMERS: "consumers"}


@dataclass(frozen=True, slots=True)
class Adoption:
    """A manifest with what others did to its table, and what that was; `renames` are new names by declared paths."""

    manifest: TableManifest
    drift: Drift | None = None
    renames: Mapping[Path, str] = field(default_factory=dict)


def adopt_drift(declared: TableManifest, base: TableSchema, applied: AppliedVersion) -> Adoption:
    """The manifest after which no change of its plan undoes what was made outside of `apply`.

    `base` is the newest version of the table, `applied` gives the one of a number. Where nothing would be undone, or no
    version was made by `apply`, the manifest is the same one. Raises as `plan_table` what cannot be planned.
    """
    number, last = last_applied(base, applied)
    if number is None:
        return Adoption(declared)
    full = with_extras(declared)
    found = edits_to(full, base, last)
    outside = Outside(number, last, base, found.fields)
    undone = [edit for edit in found.edits if outside.is_undone_by(edit)]
    if not undone:
        return Adoption(declared)
    renames = {e.path: e.before_text or "" for e in undone if e.kind is EditKind.RENAME}
    columns = _Columns.of(ColumnPlaces.of(found.fields), base, undone)
    adopted = _with_properties(declared, base, undone, renames)
    fields = columns.adopted(declared.schema)
    return Adoption(replace(adopted, schema=replace(adopted.schema, fields=fields)), outside.drift, renames)


def _with_properties(
    declared: TableManifest, base: TableSchema, undone: Iterable[Edit], renames: Mapping[Path, str]
) -> TableManifest:
    """The manifest with the keys, the description, the options and the attributes of the table that others changed."""
    stored, kinds = table_manifest_of(declared.name, base), {edit.kind for edit in undone}
    keys = {"primary_keys": EditKind.PRIMARY_KEYS, "partition_keys": EditKind.PARTITION_KEYS}
    renamed = {n: tuple(renames.get((key,), key) for key in getattr(declared, n)) for n in keys}
    said: dict[str, Any] = {n: getattr(stored, n) if kind in kinds else renamed[n] for n, kind in keys.items()}
    names = {edit.name for edit in undone if edit.kind is EditKind.OPTION}
    options = {k: v for k, v in declared.options.items() if k not in names}
    options |= {k: v for k, v in base.options.items() if k in names}
    attributes = {e.name for e in undone if e.kind is EditKind.ANNOTATION and not e.path and e.name is not None}
    said |= {name: getattr(stored, name) for key, name in _PROPERTIES.items() if key in attributes}
    extra = _taken_over(declared.schema.extra, base.logical.extra, attributes - _PROPERTIES.keys())
    description = base.comment if EditKind.TABLE_COMMENT in kinds else declared.description
    extra = _taken_over(extra, Extra({} if description is None else {DESCRIPTION: description}), {DESCRIPTION})
    schema = replace(declared.schema, extra=extra)
    return replace(declared, schema=schema, options=options, description=description, **said)


def _taken_over(own: Extra, stored: Extra, names: Iterable[str]) -> Extra:
    """Attributes in which those of these names are as stored."""
    wanted = tuple(names)
    return own.without(*wanted).merged({name: stored[name] for name in wanted if name in stored})


@dataclass(slots=True)
class _Columns:
    """What is declared and stored of columns and of types inside of them, by place; and the edits to take back."""

    wanted: ColumnPlaces
    stored: ColumnPlaces
    members: Mapping[Place, Field]
    types: Mapping[Place, LogicalType]
    undone: Mapping[Path, list[Edit]]
    gone: Mapping[Path, list[Edit]]

    @classmethod
    def of(cls, wanted: ColumnPlaces, base: TableSchema, undone: Iterable[Edit]) -> _Columns:
        stored, columns = ColumnPlaces.of(base.fields), base.logical.fields
        members = {stored.places[p]: f for p, f in fields_inside(columns) if p in stored.places}
        inside = places_inside(logical.Struct(columns))
        types = {stored.places[p]: type_ for p, type_ in inside if p in stored.places}
        by_path: dict[Path, list[Edit]] = {}
        gone: dict[Path, list[Edit]] = {}
        for edit in undone:
            if edit.kind is EditKind.DROP:
                gone.setdefault(edit.path[:-1], []).append(edit)
            else:
                by_path.setdefault(edit.path, []).append(edit)
        return cls(wanted, stored, members, types, by_path, gone)

    def adopted(self, declared: Schema) -> tuple[Field, ...]:
        """The declared columns with what others did to them."""
        made = fold_at(logical.Struct(declared.fields), (), self._type)
        assert isinstance(made, logical.Struct)
        return made.fields

    def _kinds(self, path: Path) -> set[EditKind]:
        return {edit.kind for edit in self.undone.get(path, ())}

    def _type(self, type_: LogicalType, path: Path, parts: tuple[LogicalType, ...]) -> LogicalType:
        """A declared type, of whose parts the same has been made, with what others did to it."""
        kinds = self._kinds(path)
        if isinstance(type_, logical.Option):
            return required(parts[0]) if EditKind.NULLABILITY in kinds else optional(parts[0])
        made = with_children(type_, parts)
        if isinstance(made, logical.Struct):
            made = self._level(made, path)
        stored = self.types.get(self.wanted.places.get(path, ()))
        if stored is None or not path:
            return made
        if kinds & _TYPES:
            made = required(stored)
            is_alike = EditKind.TYPE not in kinds and type(made) is type(type_)
            made = with_children(made, parts) if is_alike and children(made) else made
        relaxed = EditKind.NULLABILITY in kinds and isinstance(stored, logical.Option)
        return optional(made) if relaxed else made

    def _level(self, struct: logical.Struct, path: Path) -> logical.Struct:
        """The members of a Struct, without those that others dropped, with those that they added, in their order."""
        parent = self.wanted.places.get(path, ())
        order: list[int | str] = [f.id for f in self.stored.rows.get(parent, ())]
        kept: list[tuple[int | str, Field]] = []
        placed: list[tuple[int | str, Field]] = []
        for member in struct.fields:
            here = (*path, member.name)
            kinds, place = self._kinds(here), self.wanted.places.get(here, ())
            if EditKind.ADD not in kinds:
                into = placed if EditKind.POSITION in kinds else kept
                into.append((place[-1] if place else UNASSIGNED, self._member(member, here, place)))
        gone = (self.stored.member_place(parent, edit.path[-1]) for edit in self.gone.get(path, ()))
        placed += [(place[-1], self.members[place]) for place in gone]
        for number, member in sorted(placed, key=lambda one: order.index(one[0])):
            before = order[: order.index(number)]
            at = max((i + 1 for i, (other, _) in enumerate(kept) if other in before), default=0)
            kept.insert(at, (number, member))
        return logical.Struct(tuple(member for _, member in kept))

    def _member(self, member: Field, path: Path, place: Place) -> Field:
        """A column with the name and the attributes that others gave it."""
        stored = self.members.get(place)
        if stored is None:
            return member
        extra = _taken_over(member.extra, stored.extra, set(self._attributes(path)))
        if EditKind.RENAME not in self._kinds(path):
            return replace(member, extra=extra)
        # Who compares with what was declared before, or has another warehouse, is told of the rename, too.
        return replace(member, name=stored.name, extra=extra.merged({RENAMED_FROM: member.name}))

    def _attributes(self, path: Path) -> Iterator[str]:
        """The attributes of a column that others changed; with its type goes the hint of how it is stored."""
        for edit in self.undone.get(path, ()):
            match edit.kind:
                case EditKind.DESCRIPTION:
                    yield DESCRIPTION
                case EditKind.DEFAULT:
                    yield DEFAULT
                case EditKind.ANNOTATION if edit.name is not None:
                    yield edit.name
        for inner, edits in self.undone.items():
            if inner[: len(path)] == path and any(edit.kind in _TYPES for edit in edits):
                yield PAIMON_TYPE

"""Match declared fields to stored fields, at every level, by pin, declared rename, or name.

A pin (`lakebed.dev/fieldId`) decides first, then a declared rename (`lakebed.dev/renamedFrom`, a sibling's old name),
then the name. A rename is fulfilled once the table's annotations hold the same `renamedFrom` for the field of the new
name; from then on it is ignored, so that a swap that is applied again does not swap back. A rename is never guessed.
Where somebody renamed fields outside of `apply`, the names of the version that it made last count too, after the
present ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakebed.catalog.ids import assign
from lakebed.catalog.node import Node, nodes_inside, siblings
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.paimon import to_paimon
from lakebed.diagnostics import Diagnostic, Position, near_names
from lakebed.errors import ManifestError
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.pairing import Origins, pair
from lakebed.evolve.schema_changes import Path
from lakebed.evolve.verdicts import Verdict, judge_addition
from lakebed.model import Extra, Schema
from lakebed.model.extra import FIELD_ID, RENAMED_FROM
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import fields_inside, outer_rows_at, walk_fields
from lakebed.physical.paimon_types import DataField

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
    `UNASSIGNED`. Raises `ManifestError` with every pin and rename that leads nowhere, and where such a column could not
    be a new one either, with that too.
    """
    columns = to_paimon(declared)
    strategy = _ByDeclaration(
        base,
        {node.path: node for node in nodes_inside(siblings(columns, declared.fields))},
        _extras(base),
        {} if applied is None else {f.id: f.name for f in walk_fields(applied.fields)},
        position_of,
    )
    fields = pair(base.fields, columns, strategy)
    if strategy.problems:
        raise ManifestError(*strategy.problems)
    return fields


def _extras(schema: TableSchema) -> dict[int, Extra]:
    """The attributes of stored fields, by their ids."""
    ids = {path: stored.id for path, stored in fields_inside(schema.fields)}
    return {ids[n.path]: n.extra for n in nodes_inside(siblings(schema.fields, schema.logical.fields))}


def identify_new(declared: Schema, *, position_of: PositionOf = nowhere) -> tuple[Fields, int]:
    """The columns of a table that is being made, with ids, and the highest id. Renames are not looked at.

    Raises `ManifestError` where a pin says another id than the one that the column gets.
    """
    fields, highest = assign(to_paimon(declared), -1)
    ids = {path: column.id for path, column in fields_inside(fields)}
    problems = [
        Diagnostic(
            "LB4105",
            f"the new column {path_text(node.path)} gets the id {ids[node.path]}, not {node.extra[FIELD_ID]}",
            position=position_of(node.path),
            path=path_text(node.path),
            expected=str(ids[node.path]),
            found=str(node.extra[FIELD_ID]),
            remedy=f"take {FIELD_ID} out; it pins a column of a table that is there",
        )
        for node in nodes_inside(siblings(fields, declared.fields))
        if node.extra.get(FIELD_ID, ids[node.path]) != ids[node.path]
    ]
    if problems:
        raise ManifestError(*problems)
    return fields, highest


@dataclass(slots=True)
class _ByDeclaration:
    """A column is the one that its pin, its declared rename or its name says.

    `declared` are the places of the manifest by path, `extras` the attributes of stored fields by id, and `former` the
    names by id that fields had in the version that `apply` made last.
    """

    base: TableSchema
    declared: Mapping[Path, Node]
    extras: Mapping[int, Extra]
    former: Mapping[int, str]
    position_of: PositionOf
    problems: list[Diagnostic] = field(default_factory=list)

    def origins(self, parent: Path, base: Fields, wanted: Fields) -> Origins:
        """The stored fields that declared siblings are."""
        level = _Level(self, parent, base)
        for decide in (level.by_pin, level.by_rename, level.by_repeated_rename, level.by_name, level.by_former_name):
            for column in wanted:
                if column.name not in level.paired:
                    decide(self.declared[(*parent, column.name)])
        for column in wanted:
            if column.name not in level.paired:
                self._refuse_pins_inside((*parent, column.name), column)
                self._refuse_addition((*parent, column.name), column)
        return [level.paired.get(column.name) for column in wanted]

    def renamed_from(self, stored: DataField) -> Any:
        """The former name that a stored field was declared with, if any."""
        return self.extras.get(stored.id, Extra()).get(RENAMED_FROM)

    def _refuse_pins_inside(self, path: Path, column: DataField) -> None:
        """A struct that is new has no stored members that a pin could mean."""
        for inner, row in outer_rows_at(column.type, path):
            for where, _ in fields_inside(row.fields, inner):
                if FIELD_ID in self.declared[where].extra:
                    self.unknown_pin(where, self.declared[where].extra[FIELD_ID])

    def _refuse_addition(self, path: Path, column: DataField) -> None:
        """What is told of a pin or rename that leads nowhere may be mended by making the column a new one."""
        if any(d.path == path_text(path) for d in self.problems):
            judged = judge_addition(column.type)
            if judged.verdict is Verdict.FORBIDDEN:
                message = f"{path_text(path)} would be a new column: {judged.reason}"
                self.problem(judged.code, path, message, remedy=judged.remedy)

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

    pairing: _ByDeclaration
    parent: Path
    stored: Fields
    paired: dict[str, DataField] = field(default_factory=dict)
    claimed: dict[int, str] = field(default_factory=dict)
    by_names: dict[str, DataField] = field(init=False)

    def __post_init__(self) -> None:
        self.by_names = {stored.name: stored for stored in reversed(self.stored)}

    def by_pin(self, declared: Node) -> None:
        pin = declared.extra.get(FIELD_ID)
        if pin is None:
            return
        found = next((stored for stored in self.stored if stored.id == pin), None)
        if found is None:
            self.pairing.unknown_pin(declared.path, pin)
        else:
            self._claim(declared, found)

    def by_rename(self, declared: Node) -> None:
        old, name = declared.extra.get(RENAMED_FROM), declared.path[-1]
        present = self.by_names.get(name)
        if old is None or old == name or (present and self.pairing.renamed_from(present) == old):
            return
        done = next((s for s in self.stored if self.pairing.renamed_from(s) == old), None)
        if done is not None and self.pairing.former.get(done.id) == name:
            # The rename was applied, and others have given the column another name since.
            return
        found = self.by_names.get(str(old)) or self._formerly(str(old))
        if found is not None:
            self._claim(declared, found)
            return
        if self._refuse_path(declared.path, str(old)):
            return
        if present is not None:
            remedy = f"the column is called {name} already: take {RENAMED_FROM} out"
        elif done is not None:
            remedy = f"{old} was renamed before and is called {done.name} now: write {RENAMED_FROM}: {done.name}"
        else:
            remedy = f"name a column that is there, or take {RENAMED_FROM} out to declare a new one"
        near = near_names(str(old), [s.name for s in self.stored])
        message = f"{path_text(declared.path)} is renamed from {old}, which is no column beside it"
        self.pairing.problem("LB4103", declared.path, message, found=str(old), remedy=remedy, suggestions=near)

    def _refuse_path(self, path: Path, old: str) -> bool:
        """Note that the former name is the path of a column, if it is one; whether it is."""
        for stored, _ in fields_inside(self.pairing.base.fields):
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

    def by_repeated_rename(self, declared: Node) -> None:
        """A rename that is stored, but with a field that another declared column claims: then it is meant anew."""
        old = declared.extra.get(RENAMED_FROM)
        present, found = self.by_names.get(declared.path[-1]), self.by_names.get(str(old))
        if present is None or found is None or old == declared.path[-1]:
            return
        if present.id in self.claimed and found.id not in self.claimed:
            self._claim(declared, found)

    def by_name(self, declared: Node) -> None:
        self._claim_free(declared, self.by_names.get(declared.path[-1]))

    def by_former_name(self, declared: Node) -> None:
        """A field that somebody renamed outside of `apply` is still the declared one."""
        self._claim_free(declared, self._formerly(declared.path[-1]))

    def _formerly(self, name: str) -> DataField | None:
        return next((s for s in self.stored if self.pairing.former.get(s.id) == name), None)

    def _claim_free(self, declared: Node, found: DataField | None) -> None:
        if found is not None and found.id not in self.claimed:
            self._claim(declared, found)

    def _claim(self, declared: Node, found: DataField) -> None:
        name = declared.path[-1]
        other = self.claimed.get(found.id)
        if other is None:
            self.claimed[found.id] = name
            self.paired[name] = found
            return
        message = (
            f"{path_text(declared.path)} and {other} both claim to be the stored column {found.name} (id {found.id})"
        )
        remedy = f"leave {FIELD_ID} or {RENAMED_FROM} on one of them only"
        self.pairing.problem("LB4102", declared.path, message, found=str(found.id), remedy=remedy)

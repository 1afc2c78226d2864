"""Infer which columns are the same from version to version of a Mini Paimon table. Pure.

A column is the one of the same name in the version before, unless a rename is declared or its type could not have
become this one. Each version is then made from the one before it by the change evaluator, so that ids are given by the
same rules as everywhere and every step is one that a Paimon table may take.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from lakebed.catalog.first_version import settle_keys
from lakebed.catalog.ids import assign
from lakebed.catalog.names import TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import LakebedError
from lakebed.evolve.make_version import with_fields
from lakebed.evolve.pairing import Origins, pair
from lakebed.evolve.possible_renames import resembling
from lakebed.migration.renames import BAD_RENAME, Rename
from lakebed.physical.paimon_types import UNASSIGNED, DataField, DataType, type_line, with_nullability

CANNOT_FOLLOW = "LB3754"
RELAXED = "LB3760"
REPLACED = "LB3761"

_Fields = tuple[DataField, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What was inferred of one version: names of columns, and the pairs that may be a rename.

    `renamed` holds pairs of an old and a new name, `retyped` names that stay or are new with both types as text; a
    column that was replaced by another one of its name is among both `dropped` and `added`.
    """

    version: int
    same: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    retyped: tuple[tuple[str, str, str], ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    questions: tuple[Rename, ...] = ()


@dataclass(frozen=True, slots=True)
class Inference:
    """The versions with field ids, what was inferred of each, what stands against it, and what is to be known."""

    versions: tuple[TableSchema, ...]
    steps: tuple[Step, ...]
    problems: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]


def infer(
    table: TableName, versions: Sequence[TableSchema], renames: Iterable[Rename], denied: Iterable[Rename] | None
) -> Inference:
    """Identify the columns of all versions of a table, oldest first; their own ids are not looked at.

    `renames` are those declared for this table. Those in `denied` are not asked about, none at all where it is None.
    After a version that cannot follow on the one before it nothing more is inferred.
    """
    run = _Run(table, None if denied is None else frozenset(denied))
    declared = tuple(renames)
    run.check_versions(versions, declared)
    made = [run.first(versions[0])]
    for before, version in pairwise(versions):
        following = run.following(made[-1], version, tuple(r for r in declared if r.version == version.id))
        if following is None:
            break
        assert made[-1].id == before.id
        made.append(following)
    return Inference(tuple(made), tuple(run.steps), tuple(run.problems), tuple(run.notes))


@dataclass(slots=True)
class _Run:
    """The inference of one table, version by version, and what it collects."""

    table: TableName
    denied: frozenset[Rename] | None
    steps: list[Step] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)

    def check_versions(self, versions: Sequence[TableSchema], declared: Iterable[Rename]) -> None:
        """Each rename is of a version that has one before it."""
        known = [v.id for v in versions[1:]]
        for rename in declared:
            if rename.version not in known:
                self._bad_rename(rename, f"the table has no version {rename.version} with one before it")

    def first(self, version: TableSchema) -> TableSchema:
        """Ids in the order of the columns; those of the primary key are NOT NULL."""
        bare = (replace(f, id=UNASSIGNED) for f in version.fields)
        settled = settle_keys(bare, version.primary_keys, version.partition_keys, {})
        for old, new in zip(version.fields, settled.fields, strict=True):
            if old.type != new.type:
                message = f"version {version.id}: {new.name}, a column of the primary key, becomes NOT NULL"
                self.notes.append(Diagnostic(RELAXED, message, Severity.NOTE, path=new.name))
        fields, highest = assign(settled.fields, -1)
        self.steps.append(Step(version.id, added=version.field_names))
        return replace(version, fields=fields, highest_field_id=highest, options={}, comment=None)

    def following(self, base: TableSchema, version: TableSchema, declared: tuple[Rename, ...]) -> TableSchema | None:
        """The version after `base`; None where a Paimon table cannot go there."""
        paired = pair(base.fields, version.fields, _ByRename(self, base, version, declared))
        known = {f.id: f for f in base.fields}
        wanted = tuple(self._wanted(base, f, known.get(f.id), version) for f in paired)
        if not self._keys_stay(base, version, wanted):
            return None
        try:
            made = with_fields(base, wanted, has_snapshots=lambda: True)
        except LakebedError as error:
            self.problems += (self._cannot_follow(version.id, d.message, d.path) for d in error.diagnostics)
            return None
        self.steps.append(_step(version.id, base.fields, wanted, self._questions(base, wanted, version.id)))
        return replace(made, id=version.id, time_millis=version.time_millis)

    def renamed(self, base: TableSchema, version: TableSchema, declared: tuple[Rename, ...]) -> dict[str, DataField]:
        """What columns were in `base` by declared renames."""
        renamed: dict[str, DataField] = {}
        for rename in declared:
            old, new = base.field(rename.old), version.field(rename.new)
            if old is None:
                near = near_names(rename.old, base.field_names)
                self._bad_rename(rename, f"the version before has no column {rename.old}", near)
            elif new is None:
                near = near_names(rename.new, version.field_names)
                self._bad_rename(rename, f"version {version.id} has no column {rename.new}", near)
            elif rename.new in renamed or old in renamed.values():
                self._bad_rename(rename, "another rename of this version names one of its columns")
            elif not _can_become(old.type, new.type):
                self._bad_rename(rename, f"values of {_shown(old)} cannot be read as {_shown(new)}")
            else:
                renamed[rename.new] = old
        return renamed

    def replaced(self, version: TableSchema, old: DataField, new: DataField) -> None:
        """Note that a column cannot be the one of its name in the version before."""
        message = f"version {version.id}: {new.name} was {_shown(old)} and is {_shown(new)}, which it cannot become"
        self.notes.append(Diagnostic(REPLACED, message, Severity.WARNING, path=new.name))

    def _wanted(self, base: TableSchema, new: DataField, old: DataField | None, version: TableSchema) -> DataField:
        """The column with the id of its origin, nullable where rows of earlier versions may have no value."""
        is_key = old is not None and old.name in base.primary_keys
        nullable = old is None or old.type.nullable or (new.type.nullable and not is_key)
        if nullable and not new.type.nullable:
            why = "it is new there" if old is None else "it could be null before"
            message = f"version {version.id}: {new.name} is NOT NULL and becomes nullable, since {why}"
            self.notes.append(Diagnostic(RELAXED, message, Severity.WARNING, path=new.name))
        return DataField(UNASSIGNED if old is None else old.id, new.name, with_nullability(new.type, nullable))

    def _questions(self, base: TableSchema, wanted: _Fields, version: int) -> tuple[Rename, ...]:
        """Columns that went and came in one version and look alike; a replaced column is no question."""
        if self.denied is None:
            return ()
        kept = {f.id for f in wanted}
        names = {f.name for f in wanted}
        replaced = {f.name for f in base.fields if f.id not in kept and f.name in names}
        pairs = resembling(
            tuple(f for f in base.fields if f.name not in replaced), tuple(f for f in wanted if f.name not in replaced)
        )
        asked = (Rename(self.table, version, old.name, new.name) for old, new in pairs)
        return tuple(r for r in asked if r not in self.denied)

    def _keys_stay(self, base: TableSchema, version: TableSchema, wanted: _Fields) -> bool:
        names = {f.id: f.name for f in wanted if f.id != UNASSIGNED}
        found = True
        for kind, has, given in (
            ("primary", base.primary_keys, version.primary_keys),
            ("partition", base.partition_keys, version.partition_keys),
        ):
            if tuple(names.get(f.id) for key in has if (f := base.field(key)) is not None) != given:
                old, new = ", ".join(has) or "none", ", ".join(given) or "none"
                self.problems.append(
                    self._cannot_follow(version.id, f"the {kind} key was {old} and would be {new}", None)
                )
                found = False
        return found

    def _cannot_follow(self, version: int, message: str, path: str | None) -> Diagnostic:
        return Diagnostic(
            CANNOT_FOLLOW,
            f"{self.table}: version {version} cannot follow on the one before it in a Paimon table: {message}",
            path=path,
            remedy=f"Declare a rename if it is one, or leave {self.table} out and make it in the target as it is now.",
        )

    def _bad_rename(self, rename: Rename, problem: str, near: tuple[str, ...] = ()) -> None:
        message = f"the declared rename {rename} cannot be followed: {problem}"
        remedy = "Look at the columns of the versions in the plan."
        self.problems.append(Diagnostic(BAD_RENAME, message, remedy=remedy, suggestions=near, found=str(rename)))


@dataclass(frozen=True, slots=True)
class _ByRename:
    """A column is the one that a declared rename says, else that of its name, where that could have become it."""

    run: _Run
    base: TableSchema
    version: TableSchema
    declared: tuple[Rename, ...]

    def origins(self, parent: tuple[str, ...], base: _Fields, wanted: _Fields) -> Origins:
        """What each column was; such tables have no ROWs, so that they have one level."""
        renamed = self.run.renamed(self.base, self.version, self.declared)
        free = {f.name: f for f in base if f not in renamed.values()}
        found: list[DataField | None] = []
        for new in wanted:
            old = renamed.get(new.name) or free.get(new.name)
            if old is not None and new.name not in renamed and not _can_become(old.type, new.type):
                self.run.replaced(self.version, old, new)
                old = None
            found.append(old)
        return found


def _step(version: int, before: _Fields, wanted: _Fields, questions: tuple[Rename, ...]) -> Step:
    olds = {f.id: f for f in before}
    pairs = [(olds[f.id], f) for f in wanted if f.id != UNASSIGNED]
    kept = {f.id for f in wanted}
    return Step(
        version,
        same=tuple(new.name for old, new in pairs if old.name == new.name),
        renamed=tuple((old.name, new.name) for old, new in pairs if old.name != new.name),
        retyped=tuple(
            (new.name, type_line(old.type), type_line(new.type)) for old, new in pairs if old.type != new.type
        ),
        added=tuple(f.name for f in wanted if f.id == UNASSIGNED),
        dropped=tuple(f.name for f in before if f.id not in kept),
        questions=questions,
    )


def _shown(column: DataField) -> str:
    return type_line(with_nullability(column.type, True))


def _can_become(old: DataType, new: DataType) -> bool:
    """Whether a column of the type `old` may become one of the type `new`; NOT NULL only where it was that before."""
    nullable = old.nullable or new.nullable
    was = TableSchema(0, (DataField(0, "value", with_nullability(old, nullable)),), 0)
    try:
        with_fields(was, (DataField(0, "value", with_nullability(new, nullable)),), has_snapshots=lambda: True)
    except LakebedError:
        return False
    return True

"""Merge the columns of data into those of a table, by name (Paimon `SchemaMergingUtils`). Pure.

The table decides wherever both sides know a column: its id, its name, its description, its default and its nullability
stay. What only the data has comes at the end, nullable. Types of columns that both have follow `MergeTypes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from lakebed.diagnostics import Diagnostic
from lakebed.errors import ValidationError
from lakebed.evolve.cast_rules import cell
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import without_ids
from lakebed.physical.paimon_types import (
    UNASSIGNED,
    Array,
    Binary,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarBinary,
    VarChar,
    equal_ignoring_nullability,
    type_line,
    with_nullability,
)

CANNOT_MERGE = "LB4501"
AMBIGUOUS = "LB4502"
FIXED_PART = "LB4503"


class MergeTypes(StrEnum):
    """What becomes of the type of a column that the table and the data have, where the two types differ."""

    ADD = "add"
    """The table's type stays; the data is written as that type. Only columns are added."""
    WIDEN = "widen"
    """The data's type, where the table's casts to it implicitly and loses no length or precision."""
    CAST = "cast"
    """The data's type, where the table's casts to it in any way."""


@dataclass(frozen=True, slots=True)
class UnionRules:
    """How columns are matched and types are merged.

    `keep_wider`: where the data's type is the narrower one, the table's stays, instead of an error. That is for writers
    that convert every value and check it.
    """

    types: MergeTypes = MergeTypes.WIDEN
    case_sensitive: bool = True
    keep_wider: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The columns after a merge: those of the table with their ids, new ones `UNASSIGNED` at every level.

    `case_only` are the paths of new columns whose names differ from a sibling's in nothing but case, `blanks_only` of
    those that differ in blanks around the name, with the sibling's name.
    """

    fields: Fields
    case_only: tuple[Path, ...] = ()
    blanks_only: Mapping[Path, str] = field(default_factory=dict, hash=False)


def merge_fields(table: Fields, data: Fields, rules: UnionRules) -> Merged:
    """The columns that hold both what the table has and what the data has.

    Ids and nullability in `data` say nothing about columns that the table has. Raises `ValidationError` with every
    column that cannot be merged (LB4501), is ambiguous (LB4502), or would change a map's key or a multiset (LB4503).
    """
    merger = _Merger(rules)
    fields = merger.siblings((), table, data)
    if merger.problems:
        raise ValidationError(*merger.problems)
    return Merged(fields, tuple(merger.case_only), merger.blanks_only)


def matched(name: str, among: Iterable[str], rules: UnionRules) -> list[str]:
    """The names that a name of the other side may mean: the same one, else, ignoring case, all that fold to it."""
    names = list(among)
    if name in names:
        return [name]
    return [] if rules.case_sensitive else [n for n in names if n.casefold() == name.casefold()]


@dataclass(slots=True)
class _Merger:
    rules: UnionRules
    problems: list[Diagnostic] = field(default_factory=list)
    case_only: list[Path] = field(default_factory=list)
    blanks_only: dict[Path, str] = field(default_factory=dict)

    def siblings(self, parent: Path, table: Fields, data: Fields) -> Fields:
        self._refuse_twice(parent, data)
        names = [f.name for f in table]
        found: dict[str, DataField] = {}
        new: list[DataField] = []
        for given in data:
            known = matched(given.name, names, self.rules)
            if len(known) > 1:
                self._ambiguous((*parent, given.name), known)
            elif known:
                found[known[0]] = given
            else:
                new.append(self._new(parent, given, [*names, *(f.name for f in new)]))
        kept = (self._kept((*parent, f.name), f, found.get(f.name)) for f in table)
        return (*kept, *new)

    def _kept(self, path: Path, have: DataField, given: DataField | None) -> DataField:
        return have if given is None else replace(have, type=self.type(path, have.type, given.type))

    def _new(self, parent: Path, given: DataField, siblings: list[str]) -> DataField:
        if any(name.casefold() == given.name.casefold() for name in siblings):
            self.case_only.append((*parent, given.name))
        bare = given.name.strip().casefold()
        alike = next((name for name in siblings if name.strip().casefold() == bare), None)
        if alike is not None and alike.casefold() != given.name.casefold():
            self.blanks_only[(*parent, given.name)] = alike
        return replace(given, id=UNASSIGNED, type=with_nullability(without_ids(given.type), True))

    def type(self, path: Path, have: DataType, given: DataType) -> DataType:
        """The merged type; the table's where nothing is to change or nothing can be merged."""
        if equal_ignoring_nullability(without_ids(have), without_ids(given)):
            return have
        match have, given:
            case Row(), Row():
                return replace(have, fields=self.siblings(path, have.fields, given.fields))
            case Array(), Array():
                return replace(have, element=self.type((*path, ELEMENT), have.element, given.element))
            case Map(), Map():
                self._fixed((*path, "key"), "the keys of a map", have.key, given.key)
                return replace(have, value=self.type((*path, VALUE), have.value, given.value))
            case Multiset(), Multiset():
                self._fixed((*path, ELEMENT), "the elements of a multiset", have.element, given.element)
                return have
            case _:
                return self._atomic(path, have, given)

    def _fixed(self, path: Path, what: str, have: DataType, given: DataType) -> None:
        """Refuse a merge that would change a part that stored files cannot be read under another type of."""
        merged = self.type(path, have, given)
        if merged != have:
            self._problem(
                FIXED_PART,
                f"{what} cannot change their type: {path_text(path)} is {type_line(have)} "
                f"in the table and {type_line(given)} in the data",
                path,
                expected=type_line(have),
                found=type_line(given),
                remedy="cast the data to the table's type, or make a new column",
            )

    def _atomic(self, path: Path, have: DataType, given: DataType) -> DataType:
        if self.rules.types is MergeTypes.ADD:
            return have
        if isinstance(have, Decimal) and isinstance(given, Decimal):
            if have.scale != given.scale:
                self._cannot(path, have, given, "decimals of different scales are never merged")
                return have
            return replace(have, precision=max(have.precision, given.precision))
        if not self._is_cast(have, given):
            back = cell(given, have).startswith("I")
            if back and self.rules.keep_wider:
                return have
            why = "the table's type is the wider one" if back else "the one cannot be cast to the other"
            self._cannot(path, have, given, why, narrower=back)
            return have
        if self.rules.types is not MergeTypes.CAST and _size(given) < _size(have) and _same_measure(have, given):
            if self.rules.keep_wider:
                return have
            self._cannot(path, have, given, "the data's type is the shorter or the less precise one", narrower=True)
            return have
        return with_nullability(given, have.nullable)

    def _is_cast(self, have: DataType, given: DataType) -> bool:
        permission = cell(have, given)[0]
        return permission == "I" or (permission == "E" and self.rules.types is MergeTypes.CAST)

    def _cannot(self, path: Path, have: DataType, given: DataType, why: str, *, narrower: bool = False) -> None:
        keep = f"merge only new columns (types={MergeTypes.ADD.value!r}), which writes the data as the table's type"
        way_out = (
            f"cast the data to {type_line(with_nullability(have, True))}" if narrower else "rename the data's column"
        )
        where = path_text(path)
        self._problem(
            CANNOT_MERGE,
            f"{where} is {type_line(have)} in the table and {type_line(given)} in the data, "
            f"which cannot be merged: {why}",
            path,
            expected=type_line(have),
            found=type_line(given),
            remedy=f"{way_out}, or {keep}",
        )

    def _refuse_twice(self, parent: Path, data: Fields) -> None:
        def key(name: str) -> str:
            return name if self.rules.case_sensitive else name.casefold()

        counts = Counter(key(f.name) for f in data)
        for folded in (k for k, n in counts.items() if n > 1):
            same = [f.name for f in data if key(f.name) == folded]
            self._ambiguous((*parent, same[0]), same)

    def _ambiguous(self, path: Path, names: list[str]) -> None:
        listed = " and ".join(repr(name) for name in names)
        self._problem(
            AMBIGUOUS,
            f"{path_text(path)} could be any of {listed}",
            path,
            found=", ".join(names),
            remedy="rename one of them, or match names with their case",
        )

    def _problem(self, code: str, message: str, path: Path, **parts: Any) -> None:
        self.problems.append(Diagnostic(code, message, path=path_text(path), **parts))


def _size(type_: DataType) -> int:
    """The length or the precision of a type that has one; 0 for others."""
    match type_:
        case Char() | VarChar() | Binary() | VarBinary():
            return type_.length
        case Time() | Timestamp() | LocalZonedTimestamp():
            return type_.precision
        case _:
            return 0


def _same_measure(a: DataType, b: DataType) -> bool:
    """Whether both types have a length, or both a precision."""
    lengths, precisions = (Char, VarChar, Binary, VarBinary), (Time, Timestamp, LocalZonedTimestamp)
    return any(isinstance(a, kinds) and isinstance(b, kinds) for kinds in (lengths, precisions))

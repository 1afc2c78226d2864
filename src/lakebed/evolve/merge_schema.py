"""Merge the columns of data into a table as one new version, judged as every change is.

A merge is made by nobody in particular, while rows come in. So only what is safe for stored rows and for readers passes
by itself; everything else needs leave, and what `alter_table` refuses is refused here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakebed.catalog.annotations import OPTION, annotate, applied_version
from lakebed.catalog.columns import Columns
from lakebed.catalog.commit_version import commit_version
from lakebed.catalog.ids import assign
from lakebed.catalog.names import TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import RefusedError, UsageError, ValidationError
from lakebed.evolve.check_approvals import check_codes
from lakebed.evolve.comment_directives import is_directive
from lakebed.evolve.describe_edits import summary
from lakebed.evolve.diff import column_steps
from lakebed.evolve.diff_columns import EditKind, Step
from lakebed.evolve.evaluate import annotations_after, evaluate, refuse_later
from lakebed.evolve.former_names import FORMER_NAME, FormerNames, former_names
from lakebed.evolve.make_version import names_mean_the_same
from lakebed.evolve.meaning import Meanings, compare
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import Path
from lakebed.evolve.union_schema import Merged, MergeTypes, UnionRules, matched, merge_fields
from lakebed.evolve.verdicts import Circumstances, Judgement, Verdict, judge
from lakebed.model import Field, LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.physical import path_text
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Row

if TYPE_CHECKING:
    from lakebed.catalog.table_manager import TableManager

CASE_ONLY = "LB4504"

BLANKS_ONLY = "LB6133"

_CASE_ONLY = Judgement(
    Verdict.BREAKING,
    CASE_ONLY,
    "engines that ignore case, as Spark does by default, cannot read a table with both names",
    "match names without their case, or rename the data's column",
)


@dataclass(frozen=True, slots=True)
class SchemaMerge:
    """A merge of `data` into whatever version a table is at.

    `allow` names changes that may happen although they are not safe, as `CODE` or `CODE:column`. `check` raises for a
    version that must not be made.
    """

    data: Columns
    rules: UnionRules
    allow: frozenset[str] = frozenset()
    check: Callable[[TableSchema], None] = lambda _: None

    def next_version(
        self,
        base: TableSchema,
        *,
        has_snapshots: Callable[[], bool],
        now: int,
        history: Callable[[], Iterable[TableSchema]] | None = None,
    ) -> TableSchema:
        """The version after `base`; `base` itself where it holds everything. `now` is in milliseconds since 1970.

        Raises `ValidationError` for what cannot be merged or is against a rule of the table format, `RefusedError` for
        what needs leave and has none.
        """
        merged = merge_fields(base.fields, self.data.fields, self.rules)
        _refuse_directives(merged)
        steps = column_steps(base, merged.fields, base.options)
        if not steps:
            return base
        refuse_later(base)
        fields, highest = assign(merged.fields, base.highest_field_id, members_first=True)
        target = replace(base, fields=fields, highest_field_id=highest)
        if OPTION in base.options:
            note = annotations_after(base.options[OPTION], base.fields, fields)
            target = target.with_options({**base.options, OPTION: note})
        declared = merged_schema(target, self.data.logical, base.highest_field_id, self.rules)
        versions = () if history is None else (version.fields for version in history())
        suspects = _suspects(merged, former_names(base.fields, versions))
        self._check_leave(steps, suspects, compare(base.fields, base.logical, fields, declared))
        # The evaluation applies the guards of changes and the rules of tables; only its ids come in another order.
        reached = evaluate(base, [s.change for s in steps], has_snapshots=has_snapshots, now=now, history=history)
        said = annotate(fields, declared, applied=applied_version(base))
        options = {k: v for k, v in reached.options.items() if k != OPTION}
        options |= {} if said is None else {OPTION: said}
        made = replace(reached, fields=fields, highest_field_id=highest, options=options)
        self.check(made)
        return made

    def _check_leave(
        self, steps: Sequence[Step], suspects: Sequence[tuple[Path, Judgement]], meanings: Meanings
    ) -> None:
        circumstances = Circumstances(meanings)
        judged = [(edit, judge(edit, circumstances), "") for edit in dict.fromkeys(s.edit for s in steps)]
        added = {edit.path: edit for edit, _, _ in judged if edit.kind is EditKind.ADD}
        judged += [(added[path], judgement, f"{judgement.remedy}; ") for path, judgement in suspects if path in added]
        problems = [
            Diagnostic(
                found.code,
                f"merging would {summary(edit, meanings)}, which needs leave: {found.reason}",
                path=path_text(edit.path),
                remedy=f"{instead}{_leave(found, path_text(edit.path))}",
            )
            for edit, found, instead in judged
            if found.verdict is not Verdict.SAFE and not self._allows(found, path_text(edit.path))
        ]
        if problems:
            raise RefusedError(*problems)

    def _allows(self, judgement: Judgement, column: str) -> bool:
        given = {judgement.code, f"{judgement.code}:{column}"} & self.allow
        return judgement.verdict is not Verdict.FORBIDDEN and bool(given)


def merge_schema(
    tables: TableManager, name: TableName, merge: SchemaMerge, *, branch: str, clock: Callable[[], int]
) -> TableSchema:
    """Publish the version of a table that a merge leads to; the present one, and nothing written, where it has all.

    After a lost race the merge is made again on the newer version. `clock` gives milliseconds since 1970.

    Raises:
        NotFoundError: there is no such table or branch.
        UsageError: a code in `allow` is unknown.
        RefusedError, ValidationError: as `SchemaMerge` says.
        ConflictError: somebody else changed columns so that a name means another one.
    """
    check_codes(merge.allow)
    manager = tables.get_schema_manager(name.database, name.table, branch=branch)

    def make(base: TableSchema) -> TableSchema:
        return merge.next_version(base, has_snapshots=manager.has_snapshots, now=clock(), history=manager.versions)

    return commit_version(manager, manager.load_latest_schema(), make, names_mean_the_same)


def _suspects(merged: Merged, former: FormerNames) -> list[tuple[Path, Judgement]]:
    """New columns that are probably known ones: by their names in another case, with blanks, or of former times."""
    found = [(path, _CASE_ONLY) for path in merged.case_only]
    found += [(path, _blanks(alike)) for path, alike in merged.blanks_only.items()]
    return found + [(path, _former(names)) for path, names in former.items()]


def _blanks(alike: str) -> Judgement:
    return Judgement(
        Verdict.BREAKING,
        BLANKS_ONLY,
        f"it differs from the column {alike!r} in blanks only",
        "take the blanks out of the data's name (for CSV with the reader's options ignoreLeadingWhiteSpace and "
        "ignoreTrailingWhiteSpace)",
    )


def _former(names: Sequence[str]) -> Judgement:
    named = " and ".join(map(repr, names))
    return Judgement(
        Verdict.BREAKING,
        FORMER_NAME,
        f"so was {named} called before, whose values would then be in two columns",
        f"call it {named} in the data too",
    )


def _leave(judgement: Judgement, column: str) -> str:
    return f'`lake.merge_schema(..., allow=["{judgement.code}:{column}"])` gives leave'


def merge_rules(types: str, *, case_sensitive: bool) -> UnionRules:
    """The rules of a merge. Raises `UsageError` (LB4506) for types that are none of `MergeTypes`."""
    if types not in MergeTypes.__members__.values():
        raise UsageError.of(
            "LB4506",
            f"types is {types!r}",
            expected=" or ".join(repr(str(t)) for t in MergeTypes),
            found=repr(types),
            suggestions=near_names(str(types), list(MergeTypes)),
        )
    return UnionRules(MergeTypes(types), case_sensitive)


def _refuse_directives(merged: Merged) -> None:
    found = [f.name for f in merged.fields if f.id < 0 and is_directive(f.description)]
    if found:
        raise ValidationError(
            *(
                Diagnostic(
                    "LB4014",
                    f"the description of the new column {name} is a directive, which a merge does not follow",
                    path=path_text((name,)),
                    remedy="give the column another description",
                )
                for name in found
            )
        )


def merged_schema(target: TableSchema, data: Schema | None, highest_before: int, rules: UnionRules) -> Schema:
    """The declared schema of `target`; fields with ids above `highest_before` are new and mean what `data` says.

    `data` holds the columns that were given as logical ones, None where none was.
    """
    known = target.logical
    if data is None:
        return known
    return replace(known, fields=_Overlay(highest_before, rules).fields(target.fields, known.fields, data.fields))


class _Overlay:
    def __init__(self, highest_before: int, rules: UnionRules) -> None:
        self._highest_before = highest_before
        self._rules = rules

    def fields(self, columns: Fields, known: tuple[Field, ...], data: tuple[Field, ...]) -> tuple[Field, ...]:
        by_name: dict[str, Field] = {}
        names = [c.name for c in columns]
        for given in data:
            for name in matched(given.name, names, self._rules):
                by_name[name] = given
        pairs = zip(columns, known, strict=True)
        return tuple(self._field(column, member, by_name.get(column.name)) for column, member in pairs)

    def _field(self, column: DataField, member: Field, given: Field | None) -> Field:
        if given is None:
            return member
        if column.id > self._highest_before:
            return Field(member.name, logical.Option(required(given.type)), given.extra)
        return replace(member, type=self._type(column.type, member.type, given.type))

    def _type(self, stored: DataType, known: LogicalType, given: LogicalType) -> LogicalType:
        inside = self._inside(stored, required(known), required(given))
        return logical.Option(inside) if isinstance(known, logical.Option) else inside

    def _inside(self, stored: DataType, known: LogicalType, given: LogicalType) -> LogicalType:
        match stored, known, given:
            case Row(), logical.Struct(), logical.Struct():
                return replace(known, fields=self.fields(stored.fields, known.fields, given.fields))
            case Array(), logical.List(), logical.List():
                return replace(known, item_type=self._type(stored.element, known.item_type, given.item_type))
            case Map(), logical.Map(), logical.Map():
                return replace(known, value_type=self._type(stored.value, known.value_type, given.value_type))
            case _:
                return known

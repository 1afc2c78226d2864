"""Plan one table: judge the changes from its stored version to the declared schema. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from lakebed.catalog import options as table_options
from lakebed.catalog.annotations import OPTION, annotate, applied_version, approvals_of, drift, refuse_newer
from lakebed.catalog.names import TableName, TableRef
from lakebed.catalog.option_values import is_flagged
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.validate import validate
from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.errors import LakebedError, NotCastableError, UnsupportedError, ValidationError
from lakebed.evolve.check_approvals import proven
from lakebed.evolve.column_places import ColumnPlaces, column_id
from lakebed.evolve.declared_edits import AppliedVersion, edits_to, last_applied
from lakebed.evolve.declared_extras import with_extras
from lakebed.evolve.declared_table import declared_table, key_columns, notes_on_keys
from lakebed.evolve.describe_edits import before_and_after, summary
from lakebed.evolve.diff_columns import Edit, EditKind, Step
from lakebed.evolve.drift import Drift, Outside
from lakebed.evolve.earlier_versions import unreadable
from lakebed.evolve.evaluate import Refusal, check, evaluate_all, refuse_later
from lakebed.evolve.evidence import Evidence, Prover, proven_code, weigh
from lakebed.evolve.file_limits import FileProblems, refused_by_files
from lakebed.evolve.identity import identify_new
from lakebed.evolve.judge_compatibility import Wanted, broken_consumers, judge_compatibility
from lakebed.evolve.manifest_approvals import giving
from lakebed.evolve.meaning import Meanings, compare
from lakebed.evolve.nested_paths import Fields, locate
from lakebed.evolve.new_table import creation_edits
from lakebed.evolve.option_notes import unknown_options
from lakebed.evolve.plan import PlannedChange, TablePlan, needed_leave
from lakebed.evolve.possible_renames import look_alikes
from lakebed.evolve.schema_changes import Change, Path, RemoveOption, SetOption
from lakebed.evolve.value_rules import RuleMaker
from lakebed.evolve.verdicts import Circumstances, Judgement, Verdict, broken_by, judge, limited_by, undoing
from lakebed.manifest.compatibility import stored_consumers
from lakebed.model import Schema
from lakebed.physical import path_text
from lakebed.physical.paimon_types import DataField, Map, type_line

if TYPE_CHECKING:
    from lakebed.manifest.approvals import Approval
    from lakebed.manifest.table_manifest import TableManifest

#: What Lakebed cannot do with a table of a schema, as warnings.
LimitWarnings: TypeAlias = Callable[[TableSchema], Sequence[Diagnostic]]


@dataclass(frozen=True, slots=True)
class Past:
    """The versions of a table before the newest one, where these are known.

    `history` are those that data files may have been written under: type changes that old files could not be read under
    are refused. `applied` gives the version of a number, None where it is not there; with it the planned version is
    marked as made by `apply`, and what was made otherwise since the last such one is told apart: undoing that needs
    leave.
    """

    history: Callable[[], Iterable[TableSchema]] | None = None
    applied: AppliedVersion | None = None


#: What only annotations say.
_NOTED = (EditKind.ANNOTATION, EditKind.MEANING)
_KINDS_ODF_ALLOWS = frozenset(
    {
        EditKind.CREATE,
        EditKind.ADD,
        EditKind.POSITION,
        EditKind.DESCRIPTION,
        EditKind.DEFAULT,
        EditKind.ANNOTATION,
        EditKind.OPTION,
        EditKind.TABLE_COMMENT,
    }
)


def plan_table(
    declared: TableManifest,
    base: TableSchema | None,
    has_snapshots: Callable[[], bool],
    *,
    past: Past = Past(),
    file_problems: FileProblems = lambda _schema, _previous: (),
    limits: LimitWarnings = lambda _schema: (),
    prove: Prover | None = None,
) -> TablePlan:
    """What has to be done so that the table is as declared; `base` is its newest version, None where there is none.

    The manifest's options are all the options that a user gives: one that the table has and the manifest has not is
    removed, those under `lakebed.` excepted. `file_problems` says what the schema files of the warehouse's layout
    cannot hold. `limits` are warnings of what Lakebed cannot do with a table of a schema; those that come with the
    planned version are told. `prove` asks the stored rows. The manifest's approvals count whatever day it is.

    Raises `ManifestError` for pins and renames that cannot be followed, `ConversionError` for columns that cannot be
    stored, `ValidationError` for a table that the format does not allow, and `UnsupportedError` for one that the layout
    cannot hold; each with the places in the manifest, and with the warnings of misspelt options.
    """
    try:
        declared = with_extras(declared)
        if base is None:
            new = _creation(declared, file_problems, marked=past.applied is not None)
            return _with_limits(new, None, limits, declared)
        plan = _Planning(declared, base, has_snapshots, past, file_problems, prove).plan()
        return _with_limits(plan, base, limits, declared)
    except LakebedError as error:
        raise type(error)(*placed(error.diagnostics, declared), *unknown_options(declared)) from error


def placed(diagnostics: Iterable[Diagnostic], declared: TableManifest) -> tuple[Diagnostic, ...]:
    """The same diagnostics with the places in the manifest that their paths mean."""
    places: dict[str, Position] = {}

    def place(d: Diagnostic) -> Diagnostic:
        if d.position is not None:
            return d
        path = d.path or ""
        option = path.removeprefix("options.")
        if path != option or option in declared.options:
            return replace(d, position=declared.property_position("options", option))
        if not places:
            places.update({path_text(path): position for path, position in declared.positions.items()})
        return replace(d, position=places.get(path, declared.position))

    return tuple(place(d) for d in diagnostics)


def _with_limits(
    plan: TablePlan, base: TableSchema | None, limits: LimitWarnings, declared: TableManifest
) -> TablePlan:
    """The plan with warnings of the limits that the table did not have before, and their changes with a caution."""
    if plan.target is None or plan.is_noop:
        return plan
    known = frozenset(limits(base)) if base is not None else frozenset()
    new = placed((d for d in limits(plan.target) if d not in known), declared)
    changes = tuple(_limited(change, new) for change in plan.changes)
    return replace(plan, changes=changes, diagnostics=(*plan.diagnostics, *new))


def _limited(change: PlannedChange, limits: Sequence[Diagnostic]) -> PlannedChange:
    """The change, no longer as safe where limits are about what it changes."""
    about = {change.column, change.name}
    codes = dict.fromkeys(d.code for d in limits if d.path and d.path.removeprefix("options.") in about)
    if not codes or change.verdict is not Verdict.SAFE:
        return change
    judgement = limited_by(tuple(codes))
    return replace(change, verdict=judgement.verdict, code=judgement.code, reason=judgement.reason)


# A table that is not there yet


def _creation(declared: TableManifest, file_problems: FileProblems, *, marked: bool) -> TablePlan:
    primary, partition, options = declared_table(declared, {})
    fields, highest = identify_new(declared.schema, position_of=declared.position_of)
    fields = key_columns(fields, primary, options)
    target = TableSchema(0, fields, highest, partition, primary, options, declared.description)
    text = annotate(fields, declared.schema, applied=0 if marked else None)
    if text is not None:
        target = target.with_options({**options, OPTION: text})
    problems = [d for d in validate(target) if d.severity is Severity.ERROR]
    if problems:
        raise ValidationError(*problems)
    if left_out := file_problems(target, None):
        raise UnsupportedError(*left_out)
    name = TableName.parse(declared.name)
    meanings = compare((), Schema(()), fields, declared.schema)
    new = Judgement(Verdict.SAFE, "LB4222", "there is no table yet")
    ids = ColumnPlaces.of(fields)
    planned = tuple(
        replace(_planned(edit, new, meanings, declared, odf_allowed=True), field_id=ids.id_at(edit.path), breaks=())
        for edit in creation_edits(str(name), target, meanings)
    )
    notes = (*unknown_options(declared), *notes_on_keys(declared, primary, options))
    return TablePlan(TableRef(name), True, None, None, (), planned, target, _compatibility(declared), notes)


def _compatibility(declared: TableManifest) -> str | None:
    return None if declared.compatibility is None else str(declared.compatibility)


# A table that is there


@dataclass(slots=True)
class _Planning:
    declared: TableManifest
    base: TableSchema
    has_snapshots: Callable[[], bool]
    past: Past
    file_problems: FileProblems
    prove: Prover | None

    def plan(self) -> TablePlan:
        declared, base = self.declared, self.base
        number, last = last_applied(base, self.past.applied)
        found = edits_to(declared, base, last)
        fields, options, meanings, steps, edits = found.fields, found.options, found.meanings, found.steps, found.edits
        changes = [s.change for s in steps]
        target, refusals = evaluate_all(base, changes, has_snapshots=self.has_snapshots, now=0)
        refused = self._refused(steps, refusals, target, fields)
        annotation = self._annotation(steps, target) if edits and not refusals else []
        if not steps and not annotation:
            edits = [e for e in edits if e.kind not in _NOTED]
        if not refusals:
            written, _ = evaluate_all(base, [*changes, *annotation], has_snapshots=lambda: False, now=0)
            refused = refused_by_files(edits, self.file_problems(written, base)) | refused
        circumstances = Circumstances(meanings, self._not_null_allowed(options), self.has_snapshots)
        outside = None if number is None else Outside(number, last, base, fields)
        undone = frozenset(e for e in edits if outside is not None and outside.is_undone_by(e))
        own = {edit: _judgement(edit, circumstances, refused) for edit in edits}
        evidence = self._evidence(own, RuleMaker(base, fields, declared.schema, meanings))
        judged = [
            replace(
                _planned(
                    edit,
                    _weighed(own[edit], evidence.get(edit), outside.drift if outside and edit in undone else None),
                    meanings,
                    declared,
                    odf_allowed=_odf_allows(edit, fields),
                    undoes_others=edit in undone,
                ),
                evidence=evidence.get(edit),
                proven_code=proven_code(own[edit], evidence.get(edit)),
            )
            for edit in edits
        ]
        incompatible = judge_compatibility(
            edits,
            base,
            Wanted(fields, declared.schema, declared.compatibility, declared.consumers),
            meanings,
            consumers=stored_consumers(base.logical.extra),
            versions=self._older_versions(),
        )
        judged = [change.objected(incompatible[edit]) for edit, change in zip(edits, judged, strict=True)]
        compatibility = _compatibility(declared)
        approvals = giving(declared.approvals, (*needed_leave(judged, compatibility), *proven(judged)))
        if approvals and not refusals:
            annotation = self._annotation(steps, target, approvals)
        changes_of, ids = _changes_of(edits, steps, annotation), _ids(edits, base.fields, fields, target.fields)
        planned = tuple(
            replace(change, changes=changes_of[edit], field_id=ids[edit])
            for edit, change in zip(edits, judged, strict=True)
        )
        forbidden = any(c.verdict is Verdict.FORBIDDEN for c in planned)
        of_others = [e.path for e in edits if outside is not None and outside.is_of_others(e)]
        agreed = {a.path for a in approvals}
        drops = [c for c in judged if c.kind is EditKind.DROP and c.approved_as in agreed]
        changes += annotation
        drifted = [replace(d, message=f"{declared.name}: {d.message}") for d in drift(base)]
        return TablePlan(
            ref=TableRef(TableName.parse(declared.name)),
            create=False,
            base_id=base.id,
            base_fingerprint=base.fingerprint,
            steps=tuple(changes),
            changes=planned,
            target=None if forbidden else self._target(changes),
            compatibility=compatibility,
            diagnostics=(
                *drifted,
                *unknown_options(declared),
                *notes_on_keys(declared, found.primary_keys, options),
                *look_alikes(base.fields, fields, declared.position_of, settled=(*of_others, *(c.path for c in drops))),
            ),
            drift=self._drift(outside.drift, last) if outside and undone else None,
            annotations_drifted=bool(drifted),
            approvals=approvals,
        )

    def _drift(self, drift: Drift, last: TableSchema | None) -> Drift:
        """What others did since `last`, with the consumers that it breaks: those of then, and those declared now."""
        if last is None:
            return drift
        consumers = {c.name: c for c in (*self.declared.consumers, *stored_consumers(last.logical.extra))}
        return replace(drift, broken=broken_consumers(last, self.base, consumers.values()))

    def _evidence(self, judged: Mapping[Edit, Judgement], maker: RuleMaker) -> dict[Edit, Evidence]:
        """What the stored rows say of the edits that depend on them."""
        if self.prove is None:
            return {}
        rules = {edit: rule for edit, own in judged.items() if (rule := maker.rule(edit, own)) is not None}
        return dict(zip(rules, self.prove(self.base, tuple(rules.values())), strict=True)) if rules else {}

    def _older_versions(self) -> Iterator[TableSchema]:
        """The versions before the newest one."""
        yield from (v for v in (self.past.history() if self.past.history is not None else ()) if v.id < self.base.id)

    def _not_null_allowed(self, options: Mapping[str, str]) -> bool:
        return not all(
            is_flagged(o, table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED) for o in (self.base.options, options)
        )

    def _refused(
        self, steps: Sequence[Step], refusals: Sequence[Refusal], target: TableSchema, fields: Fields
    ) -> dict[Edit, Judgement]:
        """What the format refuses, by edit; for the mere consequence of another refusal there is none."""
        found: dict[Edit, Judgement] = {}
        for number, refusal in enumerate(refusals):
            d = refusal.diagnostic
            if number == 0 or not refusal.may_follow:
                refused = steps[refusal.index].edit
                found.setdefault(refused, Judgement(Verdict.FORBIDDEN, d.code, _reason(refusal, refused), d.remedy))
        if self.past.history is not None and self.has_snapshots():
            by_path = {path_text(s.edit.path): s.edit for s in steps if s.edit.kind is EditKind.TYPE}
            for d in unreadable(self.base, target, self.past.history):
                edit = by_path.get(d.path or "")
                if edit is not None:
                    found.setdefault(edit, Judgement(Verdict.FORBIDDEN, d.code, d.message, d.remedy))
        return found

    def _annotation(
        self, steps: Sequence[Step], target: TableSchema, approvals: Sequence[Approval] = ()
    ) -> list[Change]:
        """The change that writes the annotations of the identified columns; none where nothing else changes.

        `approvals` are those that give leave for it.
        """
        stored, schema = target.options.get(OPTION), self.declared.schema
        number = applied_version(self.base)
        kept = approvals_of(self.base)
        if not steps and stored == annotate(target.fields, schema, applied=number, approvals=kept):
            return []
        if self.past.applied is not None:
            number, kept = self.base.id + 1, tuple(a.to_json() for a in approvals)
        text = annotate(target.fields, schema, applied=number, approvals=kept)
        if text == stored:
            return []
        return [RemoveOption(OPTION) if text is None else SetOption(OPTION, text)]

    def _target(self, changes: Sequence[Change]) -> TableSchema:
        if not changes:
            return self.base
        refuse_later(self.base)
        refuse_newer(self.base)
        target, refusals = evaluate_all(self.base, changes, has_snapshots=self.has_snapshots, now=0)
        if refusals:
            raise ValidationError(*(r.diagnostic for r in refusals))
        check(self.base, target, has_snapshots=self.has_snapshots, history=self.past.history)
        return target


def _reason(refusal: Refusal, edit: Edit) -> str:
    """Why the format refuses an edit; types are told as what they are stored as, beside the declared ones."""
    if not isinstance(refusal.error, NotCastableError) or edit.before is None or edit.after is None:
        return refusal.diagnostic.message
    return f"values that are stored as {type_line(edit.before)} cannot be read as {type_line(edit.after)}"


def _judgement(edit: Edit, circumstances: Circumstances, refused: Mapping[Edit, Judgement]) -> Judgement:
    """What the format refuses is forbidden; where the verdict alone forbids it too, its words are the better ones."""
    own = judge(edit, circumstances)
    return own if own.verdict is Verdict.FORBIDDEN else refused.get(edit, own)


def _weighed(judgement: Judgement, evidence: Evidence | None, undone: Drift | None) -> Judgement:
    """The judgement in the light of the rows; `undone` are the versions whose work the edit undoes."""
    found = weigh(judgement, evidence)
    return found if undone is None else undoing(found, undone.versions)


def _changes_of(
    edits: Iterable[Edit], steps: Sequence[Step], annotation: Sequence[Change]
) -> dict[Edit, tuple[Change, ...]]:
    """The changes that do each edit."""
    own: dict[Edit, list[Change]] = {}
    for step in steps:
        own.setdefault(step.edit, []).append(step.change)
    return {e: tuple(own.get(e, annotation if e.kind in _NOTED else ())) for e in edits}


def _planned(
    edit: Edit,
    judgement: Judgement,
    meanings: Meanings,
    declared: TableManifest,
    *,
    odf_allowed: bool,
    undoes_others: bool = False,
) -> PlannedChange:
    """What a person reads of an edit, without the changes that do it."""
    before, after = before_and_after(edit, meanings)
    return PlannedChange(
        kind=edit.kind,
        path=edit.path,
        summary=summary(edit, meanings),
        verdict=judgement.verdict,
        code=judgement.code,
        reason=judgement.reason,
        remedy=judgement.remedy,
        position=_position(edit, declared),
        name=edit.name,
        before=before,
        after=after,
        odf_allowed=odf_allowed,
        undoes_others=undoes_others,
        breaks=broken_by(edit, meanings),
    )


def _ids(edits: Sequence[Edit], before: Fields, wanted: Fields, after: Fields) -> dict[Edit, int | None]:
    """The id of the column of each edit: of a dropped one what it was, of a new one what it gets."""
    if not edits:
        return {}
    was, asked, made = map(ColumnPlaces.of, (before, wanted, after))
    ids: dict[Edit, int | None] = {}
    for edit in edits:
        if edit.kind is EditKind.DROP:
            ids[edit] = column_id(was.member_place(asked.places[edit.path[:-1]], edit.path[-1]))
        else:
            # What is refused is not among the columns that come out.
            ids[edit] = made.id_at(edit.path)
    return ids


def _position(edit: Edit, declared: TableManifest) -> Position | None:
    match edit.kind:
        case EditKind.OPTION | EditKind.BUCKETS:
            return declared.property_position("options", edit.name or "")
        case EditKind.PRIMARY_KEYS:
            return declared.property_position("primaryKeys")
        case EditKind.PARTITION_KEYS:
            return declared.property_position("partitionKeys")
        case EditKind.DROP:
            return declared.position_of(edit.path[:-1])
        case _:
            return declared.position_of(edit.path)


def _odf_allows(edit: Edit, fields: Fields) -> bool:
    """ODF's rule for `SetDataSchema`: attributes, order, and additions of optional fields, but nothing inside a Map."""
    if edit.kind not in _KINDS_ODF_ALLOWS:
        return False
    if edit.kind is EditKind.ADD:
        return edit.after is not None and edit.after.nullable and not _inside_map(edit.path, fields)
    return True


def _inside_map(path: Path, fields: tuple[DataField, ...]) -> bool:
    return any(isinstance(locate(fields, path[:end]), Map) for end in range(1, len(path)))

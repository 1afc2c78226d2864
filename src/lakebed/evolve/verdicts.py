"""Judge how safe an edit is, such as NULL to NOT NULL, for stored rows and readers.

With the reason and the way out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from lakebed.catalog import options as table_options
from lakebed.evolve import option_guards as guards
from lakebed.evolve.cast_rules import Effect, declared_effect, stored_effect
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import Meanings
from lakebed.evolve.schema_changes import Path
from lakebed.model import LogicalType, required
from lakebed.model.allowed_values import refuses_more
from lakebed.model.differences import Difference, DifferenceKind, Party
from lakebed.physical.paimon_types import MAX_LENGTH, Binary, Char, DataType, VarBinary, VarChar


class Verdict(StrEnum):
    """From harmless to impossible."""

    SAFE = "safe"
    CAUTION = "caution"
    BREAKING = "breaking"
    FORBIDDEN = "forbidden"

    @property
    def rank(self) -> int:
        """0 for safe up to 3 for forbidden."""
        return list(Verdict).index(self)


def worst(verdicts: list[Verdict]) -> Verdict:
    """The most severe of several verdicts; safe for none."""
    return max(verdicts, key=lambda v: v.rank, default=Verdict.SAFE)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its stable code, the reason, and what to do instead or to get leave."""

    verdict: Verdict
    code: str
    reason: str
    remedy: str | None = None


ODF_CODE = "LB4220"
OUTSIDE_CODE = "LB4231"
#: Of a table whose manifest does not say what others did, which the plan leaves.
ADOPTED_CODE = "LB4244"
#: Of a table that no manifest declares, and of one that no manifest declares any more.
UNDECLARED_CODE = "LB4235"
ABANDONED_CODE = "LB4240"
#: Of changes that stored rows may not fit: a type that holds less, a required column, attributes that allow less.
TYPE_CODE, REQUIRED_CODE, STRICTER_CODE = "LB4206", "LB4210", "LB4234"
_SAFE, _CAUTION, _BREAKING, _FORBIDDEN = Verdict

#: Edits that are judged the same whatever they lead to.
_FIXED: dict[EditKind, Judgement] = {
    EditKind.CREATE: Judgement(_SAFE, "LB4222", "there is no table yet"),
    EditKind.DROP: Judgement(
        _BREAKING,
        "LB4203",
        "its values are no longer read, and a later column of the same name does not bring them back",
        "give leave to drop it, or keep it declared",
    ),
    EditKind.RENAME: Judgement(_CAUTION, "LB4204", "its values stay, but queries that use the old name fail"),
    EditKind.POSITION: Judgement(_SAFE, "LB4211", "columns are found by id, not by place"),
    EditKind.DESCRIPTION: Judgement(_SAFE, "LB4212", "no row is touched"),
    EditKind.TABLE_COMMENT: Judgement(_SAFE, "LB4212", "no row is touched"),
    EditKind.DEFAULT: Judgement(_SAFE, "LB4213", "it counts for rows that are written from now on"),
    EditKind.PRIMARY_KEYS: Judgement(
        _FORBIDDEN, "LB4217", "stored files are sorted, merged and placed by the primary key", guards.NEW_TABLE
    ),
    EditKind.PARTITION_KEYS: Judgement(
        _FORBIDDEN, "LB4218", "stored files lie in directories by the partition keys", guards.NEW_TABLE
    ),
}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a verdict depends on beside the edit.

    `not_null_allowed`: an option lets columns become NOT NULL. `holds_data`: there are snapshots.
    """

    meanings: Meanings
    not_null_allowed: bool = False
    holds_data: Callable[[], bool] = lambda: False


def judge(edit: Edit, circumstances: Circumstances) -> Judgement:
    """The verdict on an edit that the table format allows; what it refuses is forbidden before this is asked."""
    match edit.kind:
        case EditKind.ADD:
            return judge_addition(edit.after)
        case EditKind.TYPE | EditKind.MEANING:
            return _type_change(edit, circumstances.meanings)
        case EditKind.NULLABILITY:
            return _nullability(edit, circumstances.not_null_allowed)
        case EditKind.OPTION:
            return _option(edit, circumstances)
        case EditKind.ANNOTATION:
            return _annotation(edit, circumstances.meanings)
        case _:
            return _FIXED[edit.kind]


def broken_by(edit: Edit, meanings: Meanings) -> tuple[Party, ...]:
    """Who fails once an edit is made if they go on as before, as the comparison of two schemas says it."""
    old, new = (types.get(edit.path) for types in (meanings.before, meanings.after))
    match edit.kind:
        case EditKind.NULLABILITY:
            becomes_null = edit.after is not None and edit.after.nullable
            kind = DifferenceKind.BECAME_OPTIONAL if becomes_null else DifferenceKind.BECAME_REQUIRED
            found = Difference(kind, edit.path)
        case EditKind.TYPE | EditKind.MEANING:
            before, after = (None if t is None else required(t) for t in (old, new))
            found = Difference(DifferenceKind.TYPE, edit.path, before, after)
        case EditKind.ANNOTATION if edit.path and old is not None and new is not None:
            texts = edit.before_text, edit.after_text
            found = Difference(DifferenceKind.ATTRIBUTE, edit.path, *texts, attribute=edit.name, types=(old, new))
        case EditKind.DROP | EditKind.RENAME:
            found = Difference(DifferenceKind.REMOVED, edit.path)
        case _:
            return ()
    return tuple(party for party in Party if party in found.breaks)


def undoing(judgement: Judgement, versions: str) -> Judgement:
    """The verdict on an edit that undoes what `versions`, in words, did: it needs leave, whatever it needs else."""
    outside = f"it undoes or changes what {versions} did outside of `apply`"
    if judgement.verdict.rank >= Verdict.BREAKING.rank:
        return replace(judgement, reason=f"{judgement.reason}; {outside}")
    remedy = "declare it as it is now, as `lakebed pull` does, or give leave to undo it"
    return Judgement(_BREAKING, OUTSIDE_CODE, f"{outside}; {judgement.reason}", remedy)


def limited_by(codes: tuple[str, ...]) -> Judgement:
    """The verdict on a safe edit after which Lakebed cannot do all that the table asks for, as these codes tell."""
    return Judgement(_CAUTION, "LB4233", f"Lakebed cannot do with it all that it asks for, see {', '.join(codes)}")


def judge_addition(type_: DataType | None) -> Judgement:
    """The verdict on a new column, or a new member of a struct, of this type."""
    if type_ is not None and not type_.nullable:
        remedy = "declare it as an Option; later rows can still be checked with an attribute"
        return Judgement(_FORBIDDEN, "LB4202", "rows that are stored have no value for it", remedy)
    return Judgement(_SAFE, "LB4201", "rows that are stored read as null there")


def _nullability(edit: Edit, not_null_allowed: bool) -> Judgement:
    if edit.after is not None and edit.after.nullable:
        return Judgement(_CAUTION, "LB4209", "those who read it must expect nulls from now on")
    reason = "rows that are stored may hold nulls"
    if not_null_allowed:
        remedy = "make sure that no stored row is null there, then give leave"
        return Judgement(_BREAKING, REQUIRED_CODE, reason, remedy)
    remedy = f"keep it an Option, or set option {table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED} to false"
    return Judgement(_FORBIDDEN, REQUIRED_CODE, reason, remedy)


def _annotation(edit: Edit, meanings: Meanings) -> Judgement:
    texts = ((edit.before_text, meanings.before), (edit.after_text, meanings.after))
    before, after = ((None if text is None else json.loads(text), types.get(edit.path)) for text, types in texts)
    if refuses_more(edit.name or "", before, after):
        reason = (
            "rows that were good may be bad from now on, and go to quarantine; rows that are stored are not checked"
        )
        return Judgement(_CAUTION, STRICTER_CODE, reason)
    return Judgement(_SAFE, "LB4214", "no stored row is touched")


def _option(edit: Edit, circumstances: Circumstances) -> Judgement:
    if edit.name in (table_options.PRIMARY_KEY, table_options.PARTITION, table_options.PRIMARY_KEY_NULLABLE):
        return Judgement(_FORBIDDEN, "LB4216", "it is a part of the table's keys", guards.NEW_TABLE)
    if edit.name == table_options.BUCKET and circumstances.holds_data():
        reason = (
            "stored partitions keep the number of buckets that they have, and nobody can write to one, or to a table "
            "without partitions, until it is overwritten as a whole"
        )
        remedy = (
            "stop those who write, give leave, and overwrite each partition with its own rows, by `lakebed overwrite`"
        )
        return Judgement(_BREAKING, "LB4245", reason, remedy)
    return Judgement(_CAUTION, "LB4215", "every engine that writes or reads the table follows it")


def _type_change(edit: Edit, meanings: Meanings) -> Judgement:
    assert edit.before is not None
    assert edit.after is not None
    stored = stored_effect(edit.before, edit.after)
    declared = _declared_effect(edit.path, meanings)
    if declared is Effect.REREADS:
        reason = "stored numbers would be taken in another unit than they were written in"
        return Judgement(_FORBIDDEN, "LB4221", reason, "add a new column of the wanted type")
    if Effect.LOSES in (stored, declared):
        reason = _loss(edit.before, edit.after) if stored is Effect.LOSES else _UNCHECKED
        if reason == _AS_TEXT:
            return Judgement(
                _BREAKING, TYPE_CODE, reason, "add a new column, or give leave when those who read it agree"
            )
        return Judgement(
            _BREAKING, TYPE_CODE, reason, "add a new column, or make sure that all values fit and give leave"
        )
    if Effect.PADS in (stored, declared):
        return Judgement(_CAUTION, "LB4208", "stored values are filled up to the new length when they are read")
    return Judgement(_SAFE, "LB4205", "the new type holds every value of the old one")


_UNCHECKED = "stored values may lie outside of what the new type allows, and are not checked when they are read"
_CUT = "stored values may not fit: they are cut, wrapped, nulled or fail when they are read"
_AS_TEXT = "stored values are read as their text: what computes with them fails or sorts and compares differently"


def is_read_as_text(judgement: Judgement) -> bool:
    """Whether a change of a type is judged so because of those who read its values as texts, whatever these are."""
    return judgement.reason == _AS_TEXT


def _loss(old: DataType, new: DataType) -> str:
    """What becomes of stored values; every value but bytes and text itself has a text, which STRING holds whole."""
    to_text = isinstance(new, VarChar) and new.length == MAX_LENGTH
    return _AS_TEXT if to_text and not isinstance(old, Char | VarChar | Binary | VarBinary) else _CUT


def _declared_effect(path: Path, meanings: Meanings) -> Effect:
    old: LogicalType | None = meanings.before.get(path)
    new: LogicalType | None = meanings.after.get(path)
    if old is None or new is None:
        return Effect.KEEPS
    return declared_effect(required(old), required(new))

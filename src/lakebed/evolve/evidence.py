"""Judge changes by what the stored rows say: safer where all fit, breaking where some do not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from lakebed.catalog import options as table_options
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.value_rules import ValueRule
from lakebed.evolve.verdicts import REQUIRED_CODE, STRICTER_CODE, Judgement, Verdict


class Outcome(StrEnum):
    """What the rows say."""

    PROVEN = "proven"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows of one snapshot say of a change; of a table without rows the snapshot is None.

    `text` says it in words. `rows` is how many there are, None where that is not known, and `unfit` how many of them do
    not fit: in `files` files, some of which are named in `examples`, with some `values` of theirs where these are no
    personal data. `read` of the files that may hold such rows had to be read; statistics tell of the others.
    """

    outcome: Outcome
    text: str
    snapshot: int | None = None
    rows: int | None = None
    unfit: int | None = None
    files: int | None = None
    examples: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    read: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object in a plan file."""
        made = asdict(self)
        return {**made, "examples": list(self.examples), "values": list(self.values)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Evidence:
        """The evidence of a plan file's object. Raises `KeyError`, `TypeError` or `ValueError` for another one."""
        texts = {key: tuple(map(str, value[key])) for key in ("examples", "values")}
        return cls(**{**value, **texts, "outcome": Outcome(value["outcome"])})


#: What the rows of a table, whose newest version is given, say of each rule.
Prover: TypeAlias = Callable[[TableSchema, Sequence[ValueRule]], Sequence[Evidence]]


#: Why a change needs leave where rows do not fit, for codes that else say that they may not.
_REFUTED = {
    STRICTER_CODE: "stored rows do not fit, and such rows go to quarantine from now on",
    REQUIRED_CODE: "stored rows hold nulls",
}


def weigh(judgement: Judgement, evidence: Evidence | None) -> Judgement:
    """The judgement in the light of the rows. What is forbidden stays so, with the remedy that fits them."""
    if evidence is None or evidence.outcome is Outcome.UNKNOWN:
        return judgement
    if evidence.outcome is Outcome.REFUTED:
        raised = max(judgement.verdict, Verdict.BREAKING, key=lambda v: v.rank)
        reason = _REFUTED.get(judgement.code, judgement.reason)
        return replace(judgement, verdict=raised, reason=reason, remedy=_mend(judgement))
    if judgement.verdict is not Verdict.FORBIDDEN:
        later = "; rows from now on that do not fit go to quarantine" if judgement.code == STRICTER_CODE else ""
        return replace(judgement, verdict=Verdict.SAFE, reason=f"all stored rows fit{later}", remedy=None)
    if judgement.code == REQUIRED_CODE:
        option = table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED
        reason = f"option {option} forbids it, though no stored row is null there"
        return replace(judgement, reason=reason, remedy=f"set option {option} to false")
    return judgement


def _mend(judgement: Judgement) -> str | None:
    """The remedy where rows do not fit."""
    if judgement.verdict is Verdict.FORBIDDEN and judgement.code != REQUIRED_CODE:
        return judgement.remedy
    return "mend or delete the rows that do not fit, as `lakebed update` and `lakebed delete` do, then plan again"


def proven_code(judgement: Judgement, evidence: Evidence | None) -> str | None:
    """The code that a change, judged without the rows, needs leave for, where they have shown that it is safe."""
    is_proven = evidence is not None and evidence.outcome is Outcome.PROVEN
    return judgement.code if is_proven and judgement.verdict is Verdict.BREAKING else None

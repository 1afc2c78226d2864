"""Check the options that name columns, limits, scans and branches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lakebed.catalog.known_options import wrong_value
from lakebed.catalog.merge_option_rules import merge_engine
from lakebed.catalog.rules import WRONG_OPTION_FORM, Rule, Subject, option_path, shown, unknown_column
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.physical.paimon_types import (
    Array,
    BigInt,
    Binary,
    Blob,
    Boolean,
    Char,
    DataField,
    Geography,
    Geometry,
    Int,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
    VarBinary,
    VarChar,
    Variant,
    Vector,
)

BAD_OPTION_COLUMN = "LB3322"
BAD_DELETION_VECTORS = "LB3323"
BAD_ROW_TRACKING = "LB3324"
BAD_LIMIT = "LB3325"
BAD_SCAN_OPTION = "LB3326"
BAD_BRANCH_OPTION = "LB3327"

#: Options whose words have rules and codes of their own.
_RULED_APART = frozenset({"merge-engine", "changelog-producer", "scan.mode"})
_UNINDEXED = (Array, Map, Row, Multiset, Vector, Variant, Blob, Geometry, Geography)
_NO_BIT_SLICES = (Char, VarChar, Binary, VarBinary, Boolean)
_TIME_FIELDS = (Int, BigInt, Timestamp, LocalZonedTimestamp)


def _bad(code: str, key: str, message: str, remedy: str, found: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, path=option_path(key), found=found, remedy=remedy)


def forms(subject: Subject) -> Iterator[Diagnostic]:
    """Values that a known option cannot have; one that was there before keeps nobody from changing something else."""
    known = subject.base.options if subject.base is not None else {}
    for key, text in sorted(subject.options.items()):
        if key in _RULED_APART or known.get(key) == text:
            continue
        wrong = wrong_value(key, text)
        if wrong is not None:
            wanted, words = wrong
            yield Diagnostic(
                WRONG_OPTION_FORM,
                f"the option {key!r} must be {wanted}, not {text!r}",
                path=option_path(key),
                expected=wanted,
                found=text,
                suggestions=near_names(text, words),
                remedy=f"Give {wanted}.",
            )


def _row_kind(subject: Subject) -> Iterator[Diagnostic]:
    key = "rowkind.field"
    name = subject.options.get(key)
    if name is not None and subject.field(name) is None:
        yield unknown_column(subject, key, name)


def _time_field(subject: Subject) -> Iterator[Diagnostic]:
    key = "record-level.time-field"
    name = subject.options.get(key)
    if name is None:
        return
    field = subject.field(name)
    if field is None:
        yield unknown_column(subject, key, name)
    elif not isinstance(field.type, _TIME_FIELDS):
        yield _bad(
            BAD_OPTION_COLUMN,
            key,
            f"the time field {name} has type {shown(field.type)}",
            "Use a column of type INT, BIGINT, TIMESTAMP or TIMESTAMP WITH LOCAL TIME ZONE.",
            shown(field.type),
        )


def _vector_field(subject: Subject) -> Iterator[Diagnostic]:
    key = "vector-field"
    for name in (n.strip() for n in subject.columns(key)):
        field = subject.field(name)
        if field is None:
            yield unknown_column(subject, key, name)
        elif not isinstance(field.type, Vector):
            yield _bad(
                BAD_OPTION_COLUMN,
                key,
                f"the vector field {name} has type {shown(field.type)}",
                "Use a column of type VECTOR.",
                shown(field.type),
            )


def _file_index(subject: Subject) -> Iterator[Diagnostic]:
    """`file-index.<type>.columns`: columns, or `m[key]` for a MAP with string keys."""
    for key, value in sorted(subject.options.items()):
        match = re.fullmatch(r"file-index\.([^.]+)\.columns", key)
        if match is None:
            continue
        for item in (n.strip() for n in value.split(",") if n.strip()):
            yield from _indexed_column(subject, key, match[1], item)


def _indexed_column(subject: Subject, key: str, index: str, item: str) -> Iterator[Diagnostic]:
    field = subject.field(item)
    nested = re.fullmatch(r"(.+)\[.*\]", item)
    if field is None and nested:
        outer = subject.field(nested[1])
        if outer is None:
            yield unknown_column(subject, key, nested[1])
        elif not isinstance(outer.type, Map) or not isinstance(outer.type.key, Char | VarChar):
            yield _bad(
                BAD_OPTION_COLUMN,
                key,
                f"{item} indexes a key of {nested[1]}, which is no MAP with string keys",
                "Index a column, or a key of a MAP with string keys.",
                shown(outer.type),
            )
    elif field is None:
        yield unknown_column(subject, key, item)
    elif _is_unindexed(index, field):
        yield _bad(
            BAD_OPTION_COLUMN,
            key,
            f"the file index {index!r} cannot index {item} of type {shown(field.type)}",
            "Index a column of a type that the index supports.",
            shown(field.type),
        )


def _is_unindexed(index: str, field: DataField) -> bool:
    return isinstance(field.type, _UNINDEXED) or (index == "bsi" and isinstance(field.type, _NO_BIT_SLICES))


def _deletion_vectors(subject: Subject) -> Iterator[Diagnostic]:
    key = "deletion-vectors.enabled"
    if not subject.is_on(key):
        return
    if subject.word("changelog-producer", "none") not in ("none", "input", "lookup"):
        yield _bad(
            BAD_DELETION_VECTORS,
            key,
            "deletion vectors allow only the changelog producers none, input and lookup",
            "Choose one of these, or leave deletion vectors off.",
            subject.options["changelog-producer"],
        )
    if merge_engine(subject) == "first-row":
        yield _bad(
            BAD_DELETION_VECTORS, key, "the merge engine first-row allows no deletion vectors", "Leave them off."
        )


def _row_tracking(subject: Subject) -> Iterator[Diagnostic]:
    tracking, evolution = "row-tracking.enabled", "data-evolution.enabled"
    if subject.is_on(tracking):
        if subject.has_primary_key:
            yield _bad(BAD_ROW_TRACKING, tracking, "row tracking allows no primary key", f"Leave '{tracking}' off.")
        if subject.options.get("bucket", "-1").strip() != "-1":
            yield _bad(BAD_ROW_TRACKING, tracking, "row tracking needs 'bucket' = -1", "Leave 'bucket' out.")
    if subject.is_on(evolution):
        if not subject.is_on(tracking):
            yield _bad(BAD_ROW_TRACKING, evolution, f"'{evolution}' needs '{tracking}'", f"Set '{tracking}' to true.")
        if subject.is_on("clustering.incremental"):
            yield _bad(
                BAD_ROW_TRACKING,
                evolution,
                f"'{evolution}' and 'clustering.incremental' exclude each other",
                "Leave one of them off.",
            )


def _limits(subject: Subject) -> Iterator[Diagnostic]:
    for prefix, default in (("snapshot", 10), ("changelog", None)):
        low_key, high_key = f"{prefix}.num-retained.min", f"{prefix}.num-retained.max"
        low = subject.number(low_key) if low_key in subject.options else default
        high = subject.number(high_key)
        if low is not None and low < 1:
            yield _bad(BAD_LIMIT, low_key, f"'{low_key}' must be at least 1", "Give a number from 1.", str(low))
        if low is not None and high is not None and high < low:
            yield _bad(
                BAD_LIMIT,
                high_key,
                f"'{high_key}' is less than '{low_key}' ({low})",
                f"Lower '{low_key}' or raise '{high_key}'.",
                str(high),
            )
    rows = subject.number("target-file-row-num")
    if rows is not None and rows < 1:
        yield _bad(
            BAD_LIMIT, "target-file-row-num", "'target-file-row-num' must be at least 1", "Give a number from 1."
        )


_POSITIONS = (
    "scan.timestamp-millis",
    "scan.timestamp",
    "scan.creation-time-millis",
    "scan.file-creation-time-millis",
    "scan.snapshot-id",
    "scan.tag-name",
    "scan.watermark",
    "scan.version",
    "incremental-between",
    "incremental-between-timestamp",
    "incremental-to-auto-tag",
)
#: The positions of which a start-up mode needs exactly one; all others are refused with it.
_MODES: dict[str, tuple[str, ...]] = {
    "from-timestamp": ("scan.timestamp-millis", "scan.timestamp"),
    "from-creation-timestamp": ("scan.creation-time-millis",),
    "from-file-creation-time": ("scan.file-creation-time-millis",),
    "from-snapshot": ("scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.version"),
    "from-snapshot-full": ("scan.snapshot-id",),
    "incremental": ("incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag"),
    "latest-full": (),
    "full": (),
    "latest": (),
    "compacted-full": (),
}


def _scan(subject: Subject) -> Iterator[Diagnostic]:
    key = "scan.mode"
    mode = subject.word(key, "default")
    given = [position for position in _POSITIONS if position in subject.options]
    if mode == "default":
        if len(given) > 1:
            yield _bad(
                BAD_SCAN_OPTION, given[1], f"{given[0]!r} and {given[1]!r} exclude each other", "Keep one of them."
            )
        return
    wanted = _MODES.get(mode)
    if wanted is None:
        known = ", ".join(("default", *_MODES))
        yield _bad(BAD_SCAN_OPTION, key, f"there is no scan mode {mode!r}", f"Choose one of {known}.", mode)
        return
    fitting = [position for position in given if position in wanted]
    if wanted and len(fitting) != 1:
        yield _bad(BAD_SCAN_OPTION, key, f"the scan mode {mode!r} needs exactly one of {', '.join(wanted)}", "Set one.")
    for position in given:
        if position not in wanted:
            yield _bad(
                BAD_SCAN_OPTION, position, f"{position!r} does not go with the scan mode {mode!r}", "Leave one out."
            )


def _branches(subject: Subject) -> Iterator[Diagnostic]:
    keys = [key for key in ("scan.fallback-branch", "scan.primary-branch") if key in subject.options]
    if len(keys) == 2:
        yield _bad(BAD_BRANCH_OPTION, keys[1], f"'{keys[0]}' and '{keys[1]}' exclude each other", "Keep one of them.")
    for key in keys:
        branch = subject.options[key]
        if subject.branch_exists is not None and not subject.branch_exists(branch):
            yield _bad(BAD_BRANCH_OPTION, key, f"the table has no branch {branch!r}", "Make the branch first.", branch)


RULES: tuple[Rule, ...] = (
    _row_kind,
    _time_field,
    _vector_field,
    _file_index,
    _deletion_vectors,
    _row_tracking,
    _limits,
    _scan,
    _branches,
)

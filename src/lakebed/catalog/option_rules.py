"""Check the options that name columns, limits, scans and branches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lakebed.catalog.column_options import COLUMN_OPTIONS, COLUMN_WORDS, column_option
from lakebed.catalog.merge_option_rules import merge_engine
from lakebed.catalog.option_values import CODECS, boolean, byte_size, duration_millis, long, real, stats_mode, whole
from lakebed.catalog.options import (
    CHANGELOG_PRODUCER,
    CLUSTERING_INCREMENTAL,
    COMMIT_MAX_RETRIES,
    COMPACTION_MIN_FILE_NUM,
    DATA_EVOLUTION_ENABLED,
    DELETE_FILE_THREAD_NUM,
    DELETION_VECTORS_ENABLED,
    FILE_COMPRESSION_ZSTD_LEVEL,
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
    MANIFEST_MERGE_MIN_COUNT,
    MERGE_ENGINE,
    NUM_LEVELS,
    NUM_SORTED_RUN_COMPACTION_TRIGGER,
    OPTIONS,
    PARTITION_EXPIRATION_MAX_NUM,
    RECORD_LEVEL_TIME_FIELD,
    ROW_TRACKING_ENABLED,
    ROWKIND_FIELD,
    SCAN_CREATION_TIME_MILLIS,
    SCAN_FALLBACK_BRANCH,
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_MODE,
    SCAN_PRIMARY_BRANCH,
    SCAN_SNAPSHOT_ID,
    SCAN_TAG_NAME,
    SCAN_TIMESTAMP,
    SCAN_TIMESTAMP_MILLIS,
    SCAN_VERSION,
    SCAN_WATERMARK,
    TARGET_FILE_ROW_NUM,
    VECTOR_FIELD,
    OptionKind,
)
from lakebed.catalog.rule_subject import WRONG_OPTION_FORM, Rule, Subject, option_path, shown, unknown_column
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
_RULED_APART = frozenset({MERGE_ENGINE, CHANGELOG_PRODUCER, SCAN_MODE})
#: Options, and options of columns, that count something: no write could follow a number below zero.
_COUNTS = frozenset(
    {
        COMMIT_MAX_RETRIES,
        COMPACTION_MIN_FILE_NUM,
        DELETE_FILE_THREAD_NUM,
        FILE_COMPRESSION_ZSTD_LEVEL,
        MANIFEST_MERGE_MIN_COUNT,
        NUM_LEVELS,
        NUM_SORTED_RUN_COMPACTION_TRIGGER,
        PARTITION_EXPIRATION_MAX_NUM,
        "count-limit",
    }
)
_UNINDEXED = (Array, Map, Row, Multiset, Vector, Variant, Blob, Geometry, Geography)
_NO_BIT_SLICES = (Char, VarChar, Binary, VarBinary, Boolean)
_TIME_FIELDS = (Int, BigInt, Timestamp, LocalZonedTimestamp)


def _bad(code: str, key: str, message: str, remedy: str, found: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, path=option_path(key), found=found, remedy=remedy)


def forms(subject: Subject) -> Iterator[Diagnostic]:
    """Values that a known option cannot have; one that was there before keeps nobody from changing something else."""
    known = subject.base.options if subject.base is not None else {}
    return wrong_values({key: text for key, text in subject.options.items() if known.get(key) != text})


def wrong_values(options: Mapping[str, str]) -> Iterator[Diagnostic]:
    """An error for each value that its known option cannot have, whatever the columns are."""
    for key, text in sorted(options.items()):
        wrong = None if key in _RULED_APART else wrong_value(key, text)
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


def wrong_value(key: str, text: str) -> tuple[str, tuple[str, ...]] | None:
    """What the known option `key` wants instead of `text`, and the words that it may be; None where it is fine."""
    kind, words = _form(key)
    if kind is OptionKind.WORD:
        known = {word.lower() for word in words}
        return None if text.lower() in known else ("one of " + ", ".join(words), words)
    if not _fits(kind, text):
        return (f"one of {', '.join(CODECS)}", CODECS) if kind is OptionKind.CODEC else (kind.value, ())
    counts = key in _COUNTS or column_option(key) in _COUNTS
    return (f"{kind.value} of at least 0", ()) if counts and (whole(text) or 0) < 0 else None


def _form(key: str) -> tuple[OptionKind, tuple[str, ...]]:
    """The kind of value of an option, also of one of a column, and the words that it may be."""
    option = OPTIONS.get(key)
    if option is not None:
        return option.kind, option.words
    of_column = column_option(key)
    if of_column is not None:
        return COLUMN_OPTIONS[of_column], COLUMN_WORDS.get(of_column, ())
    return OptionKind.TEXT, ()


def _fits(kind: OptionKind, text: str) -> bool:
    match kind:
        case OptionKind.BOOLEAN:
            return boolean(text) is not None
        case OptionKind.INT:
            return whole(text) is not None
        case OptionKind.LONG:
            return long(text) is not None
        case OptionKind.DECIMAL:
            return real(text) is not None
        case OptionKind.SIZE:
            return byte_size(text) is not None
        case OptionKind.DURATION:
            return duration_millis(text) is not None
        case OptionKind.CODEC:
            return text.strip().lower() in CODECS
        case OptionKind.CODECS_BY_LEVEL | OptionKind.TEXTS_BY_LEVEL:
            return all(
                _is_level(item, codec=kind is OptionKind.CODECS_BY_LEVEL) for item in text.split(",") if item.strip()
            )
        case OptionKind.STATS_MODE:
            return stats_mode(text)
        case OptionKind.TEXT | OptionKind.COLUMNS | OptionKind.WORD | OptionKind.ENGINE:
            return True


def _is_level(item: str, *, codec: bool) -> bool:
    level, colon, value = item.partition(":")
    return bool(colon) and whole(level.strip()) is not None and (not codec or value.strip().lower() in CODECS)


def _row_kind(subject: Subject) -> Iterator[Diagnostic]:
    key = ROWKIND_FIELD
    name = subject.options.get(key)
    if name is not None and subject.field(name) is None:
        yield unknown_column(subject, key, name)


def _time_field(subject: Subject) -> Iterator[Diagnostic]:
    key = RECORD_LEVEL_TIME_FIELD
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
    key = VECTOR_FIELD
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
    key = DELETION_VECTORS_ENABLED
    if not subject.is_on(key):
        return
    if subject.word(CHANGELOG_PRODUCER, "none") not in ("none", "input", "lookup"):
        yield _bad(
            BAD_DELETION_VECTORS,
            key,
            "deletion vectors allow only the changelog producers none, input and lookup",
            "Choose one of these, or leave deletion vectors off.",
            subject.options[CHANGELOG_PRODUCER],
        )
    if merge_engine(subject) == "first-row":
        yield _bad(
            BAD_DELETION_VECTORS, key, "the merge engine first-row allows no deletion vectors", "Leave them off."
        )


def _row_tracking(subject: Subject) -> Iterator[Diagnostic]:
    tracking, evolution = ROW_TRACKING_ENABLED, DATA_EVOLUTION_ENABLED
    if subject.is_on(tracking):
        if subject.has_primary_key:
            yield _bad(BAD_ROW_TRACKING, tracking, "row tracking allows no primary key", f"Leave '{tracking}' off.")
        if subject.options.get("bucket", "-1").strip() != "-1":
            yield _bad(BAD_ROW_TRACKING, tracking, "row tracking needs 'bucket' = -1", "Leave 'bucket' out.")
    if subject.is_on(evolution):
        if not subject.is_on(tracking):
            yield _bad(BAD_ROW_TRACKING, evolution, f"'{evolution}' needs '{tracking}'", f"Set '{tracking}' to true.")
        if subject.is_on(CLUSTERING_INCREMENTAL):
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
                f"'{high_key}' is less than '{low_key}' ({low}{'' if low_key in subject.options else ', its default'})",
                f"Lower '{low_key}' or raise '{high_key}'.",
                str(high),
            )
    rows = subject.number(TARGET_FILE_ROW_NUM)
    if rows is not None and rows < 1:
        yield _bad(BAD_LIMIT, TARGET_FILE_ROW_NUM, "'target-file-row-num' must be at least 1", "Give a number from 1.")


_POSITIONS = (
    SCAN_TIMESTAMP_MILLIS,
    SCAN_TIMESTAMP,
    SCAN_CREATION_TIME_MILLIS,
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_SNAPSHOT_ID,
    SCAN_TAG_NAME,
    SCAN_WATERMARK,
    SCAN_VERSION,
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
)
#: The positions of which a start-up mode needs exactly one; all others are refused with it.
_MODES: dict[str, tuple[str, ...]] = {
    "from-timestamp": (SCAN_TIMESTAMP_MILLIS, SCAN_TIMESTAMP),
    "from-creation-timestamp": (SCAN_CREATION_TIME_MILLIS,),
    "from-file-creation-time": (SCAN_FILE_CREATION_TIME_MILLIS,),
    "from-snapshot": (SCAN_SNAPSHOT_ID, SCAN_TAG_NAME, SCAN_WATERMARK, SCAN_VERSION),
    "from-snapshot-full": (SCAN_SNAPSHOT_ID,),
    "incremental": (INCREMENTAL_BETWEEN, INCREMENTAL_BETWEEN_TIMESTAMP, INCREMENTAL_TO_AUTO_TAG),
    "latest-full": (),
    "full": (),
    "latest": (),
    "compacted-full": (),
}


def _scan(subject: Subject) -> Iterator[Diagnostic]:
    key = SCAN_MODE
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
    keys = [key for key in (SCAN_FALLBACK_BRANCH, SCAN_PRIMARY_BRANCH) if key in subject.options]
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

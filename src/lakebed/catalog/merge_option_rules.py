"""Check the options that merge rows of one key: merge engines, aggregates, sequences, changelogs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lakebed.catalog.options import (
    CHANGELOG_PRODUCER,
    FULL_COMPACTION_DELTA_COMMITS,
    MERGE_ENGINE,
    SEQUENCE_FIELD,
    SEQUENCE_SNAPSHOT_ORDERING,
    STREAMING_READ_OVERWRITE,
    WRITE_ONLY,
)
from lakebed.catalog.rule_subject import Rule, Subject, option_path, unknown_column
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import Array, Blob, DataType, Map, Row

BAD_FIELDS_OPTION = "LB3316"
BAD_SEQUENCE_FIELD = "LB3317"
BAD_MERGE_ENGINE = "LB3318"
BAD_AGGREGATE = "LB3319"
BAD_SEQUENCE_GROUP = "LB3320"
BAD_CHANGELOG_PRODUCER = "LB3321"
BAD_SNAPSHOT_ORDERING = "LB3328"

MERGE_ENGINES = ("deduplicate", "partial-update", "aggregation", "first-row")
CHANGELOG_PRODUCERS = ("none", "input", "full-compaction", "lookup")
AGGREGATES = (
    "sum",
    "product",
    "max",
    "min",
    "last_value",
    "last_non_null_value",
    "first_value",
    "first_non_null_value",
    "first_not_null_value",
    "listagg",
    "bool_and",
    "bool_or",
    "collect",
    "merge_map",
    "merge_map_with_keytime",
    "nested_update",
    "nested_partial_update",
    "primary-key",
    "rbm32",
    "rbm64",
    "hll_sketch",
    "theta_sketch",
)
_ORDER_FREE = ("last_value", "last_non_null_value")
_DEFAULT = "default-aggregate-function"
_AGGREGATE = "aggregate-function"
_GROUP = "sequence-group"


def merge_engine(subject: Subject) -> str:
    return subject.word(MERGE_ENGINE, "deduplicate")


def _bad(
    code: str, key: str, message: str, remedy: str, found: str | None = None, known: tuple[str, ...] = ()
) -> Diagnostic:
    return Diagnostic(
        code,
        message,
        path=option_path(key),
        expected=", ".join(known) or None,
        found=found,
        suggestions=near_names(found, known) if found and known else (),
        remedy=remedy,
    )


def _fields_options(subject: Subject) -> Iterator[Diagnostic]:
    """`fields.<c>[,<c2>].<x>`: the second segment names columns."""
    for key in sorted(subject.options):
        if not key.startswith("fields"):
            continue
        segments = key.split(".")
        if segments[0] != "fields" or len(segments) < 2:
            yield _bad(
                BAD_FIELDS_OPTION, key, f"{key!r} is not an option of columns", "Write fields.<column>.<option>."
            )
            continue
        names = segments[1].split(",")
        for name in names:
            if name != _DEFAULT and subject.field(name) is None:
                yield unknown_column(subject, key, name, BAD_FIELDS_OPTION)
        if len(segments) > 3:
            for name in names:
                field = subject.field(name)
                if field is not None and isinstance(field.type, Row):
                    yield _bad(
                        BAD_FIELDS_OPTION,
                        key,
                        f"the option {key!r} names a member of the ROW column {name}",
                        "Options can be set for top-level columns only.",
                    )


def _merge_engine(subject: Subject) -> Iterator[Diagnostic]:
    engine = merge_engine(subject)
    if engine not in MERGE_ENGINES:
        yield _bad(
            BAD_MERGE_ENGINE,
            MERGE_ENGINE,
            f"there is no merge engine {engine!r}",
            "Choose one of the known merge engines.",
            engine,
            MERGE_ENGINES,
        )


def _aggregates(subject: Subject) -> Iterator[Diagnostic]:
    if merge_engine(subject) not in ("aggregation", "partial-update"):
        return
    for key, name in sorted(subject.options.items()):
        is_aggregate = key == f"fields.{_DEFAULT}" or (key.startswith("fields.") and key.endswith(f".{_AGGREGATE}"))
        if is_aggregate and name not in AGGREGATES:
            yield _bad(
                BAD_AGGREGATE,
                key,
                f"there is no aggregate function {name!r}",
                "Choose one of the known aggregate functions.",
                name,
                AGGREGATES,
            )


def _sequence_field(subject: Subject) -> Iterator[Diagnostic]:
    key = SEQUENCE_FIELD
    names = subject.columns(key)
    for name, count in Counter(names).items():
        if subject.field(name) is None:
            yield unknown_column(subject, key, name, BAD_SEQUENCE_FIELD)
        if count > 1:
            yield _bad(BAD_SEQUENCE_FIELD, key, f"'{key}' names {name} {count} times", "Name it once.", name)
        if f"fields.{name}.{_AGGREGATE}" in subject.options:
            yield _bad(
                BAD_SEQUENCE_FIELD,
                key,
                f"the sequence field {name} has an aggregate function",
                f"Remove the option fields.{name}.{_AGGREGATE}.",
                name,
            )
    if names and merge_engine(subject) == "first-row":
        yield _bad(BAD_SEQUENCE_FIELD, key, "the merge engine first-row takes no sequence field", f"Leave '{key}' out.")
    schema = subject.schema
    crosses = schema.primary_keys and not set(schema.partition_keys) <= set(schema.primary_keys)
    if names and crosses:
        yield _bad(
            BAD_SEQUENCE_FIELD,
            key,
            "a primary key that does not hold all partition keys allows no sequence field",
            "Add the partition keys to the primary key, or leave the sequence field out.",
        )


def _groups(subject: Subject) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Sequence groups by option key: the ordering columns and the columns that they order."""
    return {
        key: (tuple(key.split(".")[1].split(",")), tuple(n.strip() for n in value.split(",")))
        for key, value in sorted(subject.options.items())
        if key.startswith("fields.") and key.endswith(f".{_GROUP}") and len(key.split(".")) == 3
    }


def _partial_update(subject: Subject) -> Iterator[Diagnostic]:
    if merge_engine(subject) != "partial-update":
        return
    groups = _groups(subject)
    ordered = Counter(name for _, names in groups.values() for name in names)
    for key, (ordering, names) in groups.items():
        for name in names:
            if subject.field(name) is None:
                yield unknown_column(subject, key, name, BAD_SEQUENCE_GROUP)
            elif ordered[name] > 1:
                yield _bad(BAD_SEQUENCE_GROUP, key, f"{name} is in several sequence groups", "Keep it in one.", name)
        for name in ordering:
            field = subject.field(name)
            if field is not None and is_blob_place(field.type):
                yield _bad(
                    BAD_SEQUENCE_GROUP, key, f"the BLOB column {name} cannot order a group", "Use another.", name
                )
    covered = {name for ordering, names in groups.values() for name in (*ordering, *names)}
    for field in subject.schema.fields:
        key = f"fields.{field.name}.{_AGGREGATE}"
        function = subject.options.get(key)
        if function is not None and function not in _ORDER_FREE and field.name not in covered:
            yield _bad(
                BAD_SEQUENCE_GROUP,
                key,
                f"the aggregate function of {field.name} needs a sequence group that covers the column",
                f"Add an option fields.<sequence column>.{_GROUP} = {field.name}.",
            )


def is_blob_place(type_: DataType) -> bool:
    """Whether a column of the type can lie in blob files: BLOB, or an ARRAY or MAP of BLOBs that has no other ones."""
    match type_:
        case Blob():
            return True
        case Array():
            return isinstance(type_.element, Blob)
        case Map():
            return isinstance(type_.value, Blob) and not any(isinstance(t, Blob) for t in types_inside(type_.key))
        case _:
            return False


def _changelog(subject: Subject) -> Iterator[Diagnostic]:
    key = CHANGELOG_PRODUCER
    producer = subject.word(key, "none")

    def bad(message: str, remedy: str) -> Diagnostic:
        return _bad(BAD_CHANGELOG_PRODUCER, key, message, remedy, producer)

    if producer not in CHANGELOG_PRODUCERS:
        yield _bad(
            BAD_CHANGELOG_PRODUCER,
            key,
            f"there is no changelog producer {producer!r}",
            "Choose one of the known changelog producers.",
            producer,
            CHANGELOG_PRODUCERS,
        )
        return
    if producer == "none":
        return
    if not subject.has_primary_key:
        yield bad("a changelog producer needs a primary key", f"Leave '{key}' out.")
    if merge_engine(subject) == "first-row" and producer != "lookup":
        yield bad("the merge engine first-row allows only the changelog producers none and lookup", "Use lookup.")
    if producer == "lookup" and FULL_COMPACTION_DELTA_COMMITS in subject.options:
        yield bad("'lookup' and 'full-compaction.delta-commits' exclude each other", "Leave one of them out.")
    if producer in ("full-compaction", "lookup") and subject.is_on(STREAMING_READ_OVERWRITE):
        yield bad(f"{producer!r} and 'streaming-read-overwrite' exclude each other", "Leave one of them out.")


def _snapshot_ordering(subject: Subject) -> Iterator[Diagnostic]:
    key = SEQUENCE_SNAPSHOT_ORDERING
    if not subject.is_on(key):
        return
    demands = (
        (subject.has_primary_key, "a primary key"),
        (SEQUENCE_FIELD not in subject.options, "no 'sequence.field'"),
        (subject.is_on(WRITE_ONLY), "'write-only' = true"),
    )
    for is_met, what in demands:
        if not is_met:
            yield _bad(BAD_SNAPSHOT_ORDERING, key, f"'{key}' needs {what}", f"Leave '{key}' out or see to {what}.")


RULES: tuple[Rule, ...] = (
    _fields_options,
    _merge_engine,
    _aggregates,
    _sequence_field,
    _partial_update,
    _changelog,
    _snapshot_ordering,
)

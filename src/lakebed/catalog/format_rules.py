"""Check types against the file formats: which types they can store, what BLOB columns need."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from lakebed.catalog.merge_option_rules import is_blob_place, merge_engine
from lakebed.catalog.options import (
    CHANGELOG_FILE_FORMAT,
    CHANGELOG_PRODUCER,
    DATA_EVOLUTION_ENABLED,
    FILE_FORMAT,
    FILE_FORMAT_PER_LEVEL,
    MANIFEST_FORMAT,
    ROW_TRACKING_ENABLED,
)
from lakebed.catalog.rule_subject import Rule, Subject, option_path
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    Blob,
    DataType,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Time,
    Timestamp,
    Variant,
    type_line,
)

UNKNOWN_FORMAT = "LB3329"
FORMAT_CANNOT_STORE = "LB3330"
BAD_BLOB = "LB3331"

FORMATS = ("parquet", "orc", "avro", "csv", "text", "json", "blob", "row")
DEFAULT_FORMAT = "parquet"


def _formats(subject: Subject) -> dict[str, str]:
    """The formats that the table's files may have, by the option that says so."""
    found = {FILE_FORMAT: subject.word(FILE_FORMAT, DEFAULT_FORMAT)}
    for item in subject.options.get(FILE_FORMAT_PER_LEVEL, "").split(","):
        level, colon, name = item.partition(":")
        if colon:
            found[f"file.format.per.level {level.strip()}"] = name.strip().lower()
    return found


def _new_formats(subject: Subject) -> dict[str, str]:
    """The formats of other files that this version is the first to name, by the option that says so."""
    known = subject.base.options if subject.base is not None else {}
    keys = (key for key in (CHANGELOG_FILE_FORMAT, MANIFEST_FORMAT) if key in subject.options)
    return {key: subject.word(key, "") for key in keys if known.get(key) != subject.options[key]}


def _known(subject: Subject) -> Iterator[Diagnostic]:
    for key, name in (_formats(subject) | _new_formats(subject)).items():
        if name not in FORMATS:
            yield Diagnostic(
                UNKNOWN_FORMAT,
                f"there is no file format {name!r}",
                path=option_path(key),
                expected=", ".join(FORMATS),
                found=name,
                suggestions=near_names(name, FORMATS),
                remedy="Choose one of the known file formats.",
            )


def _storable(subject: Subject) -> Iterator[Diagnostic]:
    # Parquet stores every type.
    formats = {key: name for key, name in _formats(subject).items() if name != DEFAULT_FORMAT}
    if not formats:
        return
    for field in subject.schema.fields:
        for key, name in formats.items():
            for type_ in types_inside(field.type):
                if _cannot_store(name, type_):
                    yield Diagnostic(
                        FORMAT_CANNOT_STORE,
                        f"the file format {name} ({key}) cannot store {type_line(type_)} of the column {field.name}",
                        path=field.name,
                        found=type_line(type_),
                        remedy="Choose the file format parquet, or another type.",
                    )


def _cannot_store(name: str, type_: DataType) -> bool:
    match type_:
        case Timestamp() | LocalZonedTimestamp():
            return name == "avro" and type_.precision > 6
        case Time():
            return name == "avro" and type_.precision > 3
        case Variant():
            return name == "orc"
        case Geometry() | Geography():
            return name in FORMATS and name != "parquet"
        case _:
            return False


def _blobs(subject: Subject) -> Iterator[Diagnostic]:
    schema = subject.schema
    blobs = [f for f in schema.fields if _holds_blob(f.type)]
    if not blobs:
        return

    def bad(name: str, message: str, remedy: str) -> Diagnostic:
        return Diagnostic(BAD_BLOB, message, path=name, remedy=remedy)

    if len(blobs) == len(schema.fields):
        yield bad(blobs[0].name, "a table cannot consist of BLOB columns only", "Add another column.")
    for field in blobs:
        if field.name in (*schema.partition_keys, *schema.primary_keys):
            yield bad(field.name, f"the BLOB column {field.name} cannot be part of a key", "Use another column.")
        if not is_blob_place(field.type):
            yield bad(
                field.name,
                f"the column {field.name} holds a BLOB in a place where none may be",
                "Use BLOB, ARRAY of BLOB or MAP to BLOB as the type of a top-level column.",
            )
    needs = _blob_needs(subject)
    if needs is not None:
        yield bad(blobs[0].name, f"BLOB columns need {needs}", "Set these options, or store the bytes as BYTES.")


@lru_cache(maxsize=1024)
def _holds_blob(type_: DataType) -> bool:
    return any(isinstance(inside, Blob) for inside in types_inside(type_))


def _blob_needs(subject: Subject) -> str | None:
    if not subject.has_primary_key:
        if subject.is_on(ROW_TRACKING_ENABLED) and subject.is_on(DATA_EVOLUTION_ENABLED):
            return None
        return "'row-tracking.enabled' and 'data-evolution.enabled' = true"
    if merge_engine(subject) == "aggregation" or subject.word(CHANGELOG_PRODUCER, "none") != "none":
        return "one of the merge engines deduplicate, partial-update and first-row, and no changelog producer"
    return None


RULES: tuple[Rule, ...] = (_known, _storable, _blobs)

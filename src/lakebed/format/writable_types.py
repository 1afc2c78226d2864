"""Tell which types the data files of a format can hold when Lakebed writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lakebed.catalog.option_values import at_level, word
from lakebed.catalog.options import FILE_FORMAT, FILE_FORMAT_PER_LEVEL
from lakebed.diagnostics import Diagnostic
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    Binary,
    Blob,
    DataField,
    DataType,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Multiset,
    Row,
    Timestamp,
    Unknown,
    VarBinary,
    Variant,
    Vector,
    type_line,
)

UNWRITABLE_TYPE = "LB6505"
UNWRITABLE_FORMAT = "LB6506"

#: The formats in which data files are written.
WRITTEN_FORMATS = ("parquet", "orc", "avro")
_MICROS = 6
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def written_format(options: Mapping[str, str]) -> str:
    """The format of files of new rows, in lower case, as the options of a table say."""
    return (at_level(options, FILE_FORMAT_PER_LEVEL, 0) or word(options, FILE_FORMAT)).strip().lower()


def unwritable_in(format: str, type_: DataType, *, nanoseconds: bool = False) -> str | None:
    """Why no file of this format is written with a column of this type; None where files can be.

    `nanoseconds`: timestamps finer than microseconds may be written as 64-bit numbers, which Java 0.9 does not read.
    """
    if format not in WRITTEN_FORMATS:
        return f"files of the format {format} are not written"
    parts = (part for part in types_inside(type_) if not (nanoseconds and format != "avro" and _is_stamp(part)))
    return next(filter(None, (_reason(format, part) for part in parts)), None)


def unwritable_fields(format: str, fields: Sequence[DataField], *, nanoseconds: bool = False) -> Iterator[Diagnostic]:
    """A problem for each column that no file of this format is written with; `nanoseconds` as in `unwritable_in`."""
    if format not in WRITTEN_FORMATS:
        yield Diagnostic(
            UNWRITABLE_FORMAT,
            f"data files of the format {format} are not written",
            expected=", ".join(WRITTEN_FORMATS),
            found=format,
            remedy="choose another file format for the table",
        )
        return
    for field in fields:
        # The columns of a file are the members of a ROW too.
        reason = _reason(format, Row((field,))) or unwritable_in(format, field.type, nanoseconds=nanoseconds)
        if reason is not None:
            yield Diagnostic(
                UNWRITABLE_TYPE,
                f"column {field.name!r} cannot be written in the format {format}: {reason}",
                path=field.name,
                found=type_line(field.type),
                remedy="choose another type or another file format, or use another engine for this table",
            )


def _reason(format: str, part: DataType) -> str | None:
    own = {"orc": _orc_reason, "avro": _avro_reason}.get(format)
    return (None if own is None else own(part)) or _any_reason(part)


def _is_stamp(part: DataType) -> bool:
    return isinstance(part, Timestamp | LocalZonedTimestamp)


def _orc_reason(part: DataType) -> str | None:
    match part:
        case Multiset():
            return "Java writers of the table format have no ORC type for a MULTISET"
        case Binary():
            return "Java writers of the table format have no ORC type for BINARY"
        case VarBinary(length=length) if length != MAX_LENGTH:
            return "Java writers of the table format have no ORC type for VARBINARY of a length; BYTES has one"
        case Row() if any("`" in f.name for f in part.fields):
            return "Spark does not read members with a backtick in their name from ORC"
        case _:
            return None


def _avro_reason(part: DataType) -> str | None:
    match part:
        case Row():
            bad = next((f.name for f in part.fields if not _AVRO_NAME.fullmatch(f.name)), None)
            return None if bad is None else f"{bad!r} is no name in Avro"
        case _:
            return None


def _any_reason(part: DataType) -> str | None:
    match part:
        case Variant() | Blob() | Vector() | Geometry() | Geography():
            return f"values of the type {part.root} are not written"
        case Unknown():
            return f"the type {part.text} is not known"
        case Row(fields=()):
            return "a ROW without fields has no values"
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p) if p > _MICROS:
            return f"not every reader takes {part.root}({p}), which is finer than microseconds"
        case _:
            return None

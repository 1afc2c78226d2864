"""Tell which types the data files of a format can hold when Lakebed writes them."""

from __future__ import annotations

from collections.abc import Iterator

from lakebed.diagnostics import Diagnostic
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    Blob,
    DataField,
    DataType,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Row,
    Timestamp,
    Unknown,
    Variant,
    Vector,
    type_line,
)

UNWRITABLE_TYPE = "LB6505"
UNWRITABLE_FORMAT = "LB6506"

#: The formats in which data files are written.
WRITTEN_FORMATS = ("parquet", "orc", "avro")
_MICROS = 6


def unwritable_in(format: str, type_: DataType) -> str | None:
    """Why no file of this format is written with a column of this type; None where files can be."""
    if format not in WRITTEN_FORMATS:
        return f"files of the format {format} are not written"
    return next(filter(None, (_reason(format, part) for part in types_inside(type_))), None)


def unwritable_fields(format: str, fields: tuple[DataField, ...]) -> Iterator[Diagnostic]:
    """A problem for each column that no file of this format is written with."""
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
        reason = unwritable_in(format, field.type)
        if reason is not None:
            yield Diagnostic(
                UNWRITABLE_TYPE,
                f"column {field.name!r} cannot be written in the format {format}: {reason}",
                path=field.name,
                found=type_line(field.type),
                remedy="choose another type or another file format, or use another engine for this table",
            )


def _reason(format: str, part: DataType) -> str | None:
    match part:
        case Variant() | Blob() | Vector() | Geometry() | Geography():
            return f"values of the type {part.root} are not written"
        case Unknown():
            return f"the type {part.text} is not known"
        case Row(fields=()):
            return "a ROW without fields has no values"
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p) if p > _MICROS:
            return f"a {part.root}({p}) is finer than the microseconds in which values come"
        case _:
            return None

"""Tells what is lost from each form of schemas to each other one, by converting a schema that has one of everything.

Every row of the first table is a feature with a column, or a property of the table, of its own. It is kept where it
comes back as it was. What a form refuses is left out of the schema, and counts as lost.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.convert.loss import LossReport
from lakebed.errors import ConversionError
from lakebed.evolve.planner import plan_table
from lakebed.manifest import TableManifest
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.model.encoding import strip_encoding, without_attributes
from lakebed.model.extra import (
    DEFAULT,
    DESCRIPTION,
    ENUM,
    FIELD_ID,
    MAXIMUM,
    MINIMUM,
    PAIMON_TYPE,
    PATTERN,
    PERSONAL_DATA,
    RENAMED_FROM,
    UNIQUE,
)
from lakebed.physical import path_text
from lakebed.schema_forms import SOURCE_FORMS, TARGET_FORMS, SchemaSource, read_schema, write_schema

#: Forms that say the same as another one in other bytes.
_TWINS = {"odf-json": "odf-yaml", "arrow-json": "arrow", "orc": "parquet"}
SOURCES = tuple(form for form in (*SOURCE_FORMS, "table") if form not in _TWINS)
TARGETS = tuple(form for form in TARGET_FORMS if form not in _TWINS)
_US = TimeUnit.MICROSECOND


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a schema may say: by a column, or of the table as a whole."""

    label: str
    column: Field | None = None
    of_table: Callable[[SchemaSource], Any] | None = None

    def is_kept(self, declared: SchemaSource, found: SchemaSource) -> bool:
        """Whether it is there as it was declared."""
        if self.of_table is not None:
            return bool(self.of_table(declared) == self.of_table(found))
        assert self.column is not None
        other = found.schema.field(self.column.name)
        if FIELD_ID in self.column.extra:
            return other is not None and _id_of(found, self.column.name) == _id_of(declared, self.column.name)
        return other is not None and _known(other) == _known(self.column)


def _known(column: Field) -> Schema:
    """The column without ids that it and its members were given."""
    return without_attributes(Schema((column,)), [FIELD_ID])


def _id_of(source: SchemaSource, name: str) -> int | None:
    """The id that a column has in a stored table, or that it is pinned to."""
    if source.stored is not None:
        return next((f.id for f in source.stored.fields if f.name == name), None)
    column = source.schema.field(name)
    return None if column is None else column.extra.get(FIELD_ID)


def _with(label: str, name: str, type_: LogicalType, extra: Mapping[str, Any]) -> Feature:
    """A column that may be null, so that nothing but its own feature can be lost of it."""
    return Feature(label, Field(name, m.Option(type_), Extra(extra)))


def _extra_of(key: str) -> Callable[[SchemaSource], Any]:
    return lambda source: source.schema.extra.get(key)


_INNER = m.Struct((Field("a", m.Option(m.String()), Extra({DESCRIPTION: "inside"})),))
FEATURES = (
    Feature("that a column is never null", Field("required", m.Int32())),
    _with("names of any characters", "a b.c", m.Int32(), {}),
    _with("Int8, Int16", "int8", m.Int8(), {}),
    _with("UInt8, UInt16, UInt32, UInt64", "uint64", m.UInt64(), {}),
    _with("Float16", "float16", m.Float16(), {}),
    _with("Decimal", "decimal", m.Decimal(10, 2), {}),
    _with("Date", "date", m.Date(), {}),
    _with("Time", "time", m.Time(_US), {}),
    _with("Duration", "duration", m.Duration(_US), {}),
    _with("Timestamp in microseconds", "micros", m.Timestamp(_US), {}),
    _with("Timestamp in nanoseconds", "nanos", m.Timestamp(TimeUnit.NANOSECOND), {}),
    _with("the zone of a Timestamp", "zoned", m.Timestamp(_US, "Europe/Paris"), {}),
    _with("a wall clock: TIMESTAMP(6) without a zone", "wall", m.Timestamp(_US), {PAIMON_TYPE: "TIMESTAMP(6)"}),
    _with("CHAR(n), VARCHAR(n)", "varchar", m.String(), {PAIMON_TYPE: "VARCHAR(7)"}),
    _with("Binary of one length", "fixed", m.Binary(16), {}),
    _with("List", "list", m.List(m.Option(m.String())), {}),
    _with("that items are never null", "items", m.List(m.String()), {}),
    _with("List of one length", "pair", m.List(m.Option(m.Float64()), 2), {}),
    _with("Map with keys of text", "map", m.Map(m.String(), m.Option(m.Int32())), {}),
    _with("Map with other keys", "by_number", m.Map(m.Int32(), m.Option(m.Int32())), {}),
    _with("Struct, with descriptions of its members", "struct", _INNER, {}),
    _with("the description of a column", "described", m.Int32(), {DESCRIPTION: "one"}),
    _with("a default", "defaulted", m.Int32(), {DEFAULT: 7}),
    _with("a field id", "field_id", m.Int32(), {FIELD_ID: 77}),
    _with("a former name", "renamed", m.Int32(), {RENAMED_FROM: "old"}),
    _with("allowed values, a pattern", "checked", m.String(), {ENUM: ["a", "b"], PATTERN: "[ab]"}),
    _with("bounds", "bounded", m.Int32(), {MINIMUM: 1, MAXIMUM: 9}),
    _with("that values are unique", "unique", m.Int32(), {UNIQUE: True}),
    _with("that values are personal data", "personal", m.String(), {PERSONAL_DATA: True}),
    _with("tags", "tagged", m.Int32(), {"example.org/tags": ["a", "b"]}),
    _with("any other attribute", "attribute", m.Int32(), {"example.org/unit": {"name": "m", "of": [1, None]}}),
    Feature("the name of the table", of_table=lambda s: s.name),
    Feature("the description of the table", of_table=_extra_of(DESCRIPTION)),
    Feature("the owner of the table", of_table=_extra_of("example.org/owner")),
    Feature("the primary key", of_table=lambda s: s.primary_keys),
    Feature("the partition keys", of_table=lambda s: s.partition_keys),
    Feature("the options of the table", of_table=lambda s: s.options.get("bucket")),
)
DECLARED = SchemaSource(
    "odf-yaml",
    Schema(
        (*(f.column for f in FEATURES if f.column is not None), Field("day", m.Date())),
        Extra({DESCRIPTION: "all", "example.org/owner": "team"}),
    ),
    ("required", "day"),
    ("day",),
    {"bucket": "2"},
    name="shop.orders",
)


def _less(source: SchemaSource, error: ConversionError) -> SchemaSource:
    """The schema without the columns that a form refuses."""
    refused = [d.path or "" for d in error.diagnostics]
    kept = [f for f in source.schema.fields if not any(_is_of(path, f) for path in refused)]
    assert len(kept) < len(source.schema.fields), error
    return replace(source, schema=replace(source.schema, fields=tuple(kept)))


def _is_of(path: str, column: Field) -> bool:
    own = path_text((column.name,))
    return path == own or path.startswith(f"{own}.")


def _written(source: SchemaSource, form: str) -> tuple[bytes, LossReport]:
    try:
        made = write_schema(source, form)
    except ConversionError as error:
        return _written(_less(source, error), form)
    return made.content if isinstance(made.content, bytes) else made.content.encode(), made.report


def _as_parquet(source: SchemaSource) -> bytes:
    """A file that another program wrote: without the schema that Lakebed puts into its metadata."""
    from lakebed.convert.arrow import ToArrow, to_arrow

    schema, _ = to_arrow(source.schema, ToArrow(carrier=False), strict=False)
    # Parquet has none of these.
    held = pa.schema([f for f in schema if not (pa.types.is_duration(f.type) or pa.types.is_float16(f.type))])
    buffer = io.BytesIO()
    pq.write_table(held.remove_metadata().empty_table(), buffer, store_schema=False)
    return buffer.getvalue()


def _as_table(source: SchemaSource) -> SchemaSource:
    """A table of the warehouse, made by a manifest."""
    fields = tuple(replace(f, extra=f.extra.without(FIELD_ID, RENAMED_FROM)) for f in source.schema.fields)
    schema = replace(source.schema, fields=fields)
    manifest = TableManifest(source.name or "t", schema, source.primary_keys, (), source.options)
    stored = plan_table(replace(manifest, partition_keys=source.partition_keys), None, lambda: False).target
    assert stored is not None
    return SchemaSource.of_version(stored, name=source.name)


@cache
def read_as(form: str) -> SchemaSource:
    """The schema that has one of everything, as it comes out of a form."""
    if form == "table":
        return _as_table(DECLARED)
    data = _as_parquet(DECLARED) if form == "parquet" else _written(DECLARED, form)[0]
    return _read(data, form)


def _read(data: bytes, form: str) -> SchemaSource:
    """The schema of the bytes, without hints of how Arrow lays values out."""
    found = read_schema(data, form, name="x")
    return replace(found, schema=strip_encoding(found.schema))


def lost(source: str, target: str) -> Iterator[int]:
    """The numbers of the features that are lost, from 1 on."""
    found = read_as(source)
    data, report = _written(found, target)
    again = _read(data, target) if target in SOURCE_FORMS else found
    for number, feature in enumerate(FEATURES, 1):
        # A stored table has ids of its own, which are what can be lost of it.
        declared = found if source == "table" and _is_id(feature) else DECLARED
        is_read = target in SOURCE_FORMS or _is_printed(feature, target, report)
        # What was lost on the way in may look alike again by chance.
        if not (is_read and feature.is_kept(declared, found) and feature.is_kept(declared, again)):
            yield number


def _is_id(feature: Feature) -> bool:
    return feature.column is not None and FIELD_ID in feature.column.extra


def _is_printed(feature: Feature, target: str, report: LossReport) -> bool:
    """Whether a form that is only written has a feature, by what it reports."""
    if feature.column is not None and feature.column.nullable:
        # An id that a column was given on its way is no feature of it.
        losses = [x for x in report.losses if _is_id(feature) or x.what != f"the attributes {FIELD_ID}"]
        return not any(_is_of(loss.path, feature.column) for loss in losses)
    said = str(report)
    words = {"never null": "never null", "name": "", "description": "", "owner": "owner", "primary": "primary key"}
    words |= {"partition": "partition keys", "options": "options"}
    word = next(told for of, told in words.items() if of in feature.label)
    if target == "parquet-text":
        # It says the columns, and nothing of a table.
        return feature.column is not None
    return not word or word not in said


def numbers(found: list[int]) -> str:
    """`2, 5-7`, or a dash for nothing."""
    ranges: list[list[int]] = []
    for number in found:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges) or "-"


def tables() -> str:
    """Both tables as Markdown."""
    lines = ["| | what a schema may say |", "|---|---|"]
    lines += [f"| {number} | {feature.label} |" for number, feature in enumerate(FEATURES, 1)]
    lines += ["", "| from \\ to | " + " | ".join(TARGETS) + " |", "|---" * (len(TARGETS) + 1) + "|"]
    for source in SOURCES:
        cells = [numbers(list(lost(source, target))) for target in TARGETS]
        lines.append(f"| {source} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"

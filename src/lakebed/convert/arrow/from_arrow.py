"""Convert an Arrow schema to the logical schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa

from lakebed.convert.arrow.plain_types import PLAIN, UNITS
from lakebed.convert.arrow.to_arrow import CARRIER_KEY, resolve
from lakebed.convert.arrow_hints import (
    ARROW_METADATA,
    Buffer,
    Dictionary,
    Encoding,
    Extension,
    Layer,
    RunEnds,
    as_pairs,
    attributes_of,
    metadata_json,
    pruned,
)
from lakebed.convert.fit import bare_logical
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.paimon import carrier as paimon_carrier
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.model.extra import PAIMON_TYPE
from lakebed.physical import DataType, path_text, with_nullability
from lakebed.physical import paimon_types as physical

Naive = Literal["keep", "utc", "error"]

_UNITS = {text: unit for unit, text in UNITS.items()}
_PLAIN: dict[pa.DataType, LogicalType] = {arrow: type_ for type_, arrow in PLAIN.items()}
_HINTED: dict[pa.DataType, tuple[LogicalType, Encoding]] = {
    pa.string(): (logical.String(), Encoding(Buffer("Contiguous", 32))),
    pa.large_string(): (logical.String(), Encoding(Buffer("Contiguous", 64))),
    pa.string_view(): (logical.String(), Encoding(Buffer("View", 32))),
    pa.binary(): (logical.Binary(), Encoding(Buffer("Contiguous", 32))),
    pa.large_binary(): (logical.Binary(), Encoding(Buffer("Contiguous", 64))),
    pa.binary_view(): (logical.Binary(), Encoding(Buffer("View", 32))),
    pa.date32(): (logical.Date(), Encoding()),
    pa.date64(): (logical.Date(), Encoding(date="Millisecond")),
}
_LISTS = (
    (pa.types.is_list, Buffer("Contiguous", 32)),
    (pa.types.is_large_list, Buffer("Contiguous", 64)),
    (pa.types.is_list_view, Buffer("View", 32)),
    (pa.types.is_large_list_view, Buffer("View", 64)),
)
#: What a Parquet file says of its own columns; no attribute of the values.
_PARQUET = b"PARQUET:"
_MAX_DEPTH = 128


def from_arrow(schema: pa.Schema, *, naive: Naive = "keep", strict: bool = True) -> tuple[Schema, LossReport]:
    """The logical schema of an Arrow schema, and what it cannot say.

    Encodings become hints (`lakebed.model.encoding.strip_encoding` takes them off), metadata the attribute
    `arrow.lakebed.dev/metadata`. Where the metadata carries a schema that `to_arrow` put there, it counts for every
    column that still has the type that it says; a column that was retyped counts as it is, and that is a loss.

    `naive` says what a timestamp without zone becomes: "keep" marks it as the wall clock that it is, as
    `paimon.apache.org/type: TIMESTAMP(p)` where Paimon can store the column; "utc" makes an instant of it; "error"
    refuses.

    Raises `ConversionError` for types that have no logical type and, when `strict`, for losses.
    """
    reader = _Reader(naive)
    plain = Schema(reader.fields(list(schema), ()))
    if reader.problems:
        raise ConversionError(*reader.problems)
    metadata = dict(schema.metadata or {})
    carried = metadata.pop(CARRIER_KEY, None)
    if metadata:
        plain = replace(plain, extra=Extra({ARROW_METADATA: metadata_json(as_pairs(metadata))}))
    losses: list[Loss] = []
    found = plain
    if carried is not None:
        try:
            found = resolve(carried, plain, _plainly, losses)
        except ConversionError as error:
            if strict:
                raise
            losses.append(Loss("", error.diagnostics[0].message))
    report = LossReport(tuple(losses))
    if strict:
        report.raise_if_any()
    return found, report


def _plainly(schema: pa.Schema) -> Schema:
    return from_arrow(schema.remove_metadata(), strict=False)[0]


class _Reader:
    """Reads fields and collects what has no logical type."""

    def __init__(self, naive: Naive) -> None:
        self.problems: list[Diagnostic] = []
        self._naive = naive

    def fields(self, members: list[pa.Field], path: tuple[str, ...]) -> tuple[Field, ...]:
        seen: set[str] = set()
        for member in members:
            if not member.name or member.name in seen:
                what = f"the name {member.name!r} is used twice" if member.name else "a field has no name"
                remedy = "rename the column: names tell the fields of a schema apart"
                self._problem("LB2403", (*path, member.name), what, remedy=remedy)
            seen.add(member.name)
        return tuple(self._field(member, (*path, member.name)) for member in members)

    def _field(self, field: pa.Field, path: tuple[str, ...]) -> Field:
        type_, encoding = self._nullable(field, path)
        pairs = as_pairs(field.metadata)
        encoding = replace(encoding, metadata=tuple(p for p in pairs if p[0].startswith(_PARQUET)))
        own = tuple(p for p in pairs if not p[0].startswith(_PARQUET))
        wall = _wall_clock(type_, encoding)
        if wall is not None:
            encoding = pruned(encoding, ("naive",))
        extra: dict[str, Any] = {**attributes_of(encoding)}
        if wall is not None:
            extra[PAIMON_TYPE] = wall
        if own:
            extra[ARROW_METADATA] = metadata_json(own)
        return Field(field.name, type_, Extra(extra))

    def _nullable(self, field: pa.Field, path: tuple[str, ...]) -> tuple[LogicalType, Encoding]:
        if len(path) > _MAX_DEPTH:
            self._problem("LB2401", path, f"the type is nested more than {_MAX_DEPTH} levels deep")
            return logical.Null(), Encoding()
        type_, encoding = self._type(field.type, path)
        return (logical.Option(type_) if field.nullable else type_), encoding

    def _type(self, type_: pa.DataType, path: tuple[str, ...]) -> tuple[LogicalType, Encoding]:
        layers: list[Layer] = []
        while True:
            if isinstance(type_, pa.BaseExtensionType):
                layers.append(self._extension(type_, path))
                type_ = type_.storage_type
            elif pa.types.is_dictionary(type_):
                layers.append(Dictionary(_PLAIN[type_.index_type].kind, type_.ordered))
                type_ = type_.value_type
            elif pa.types.is_run_end_encoded(type_):
                layers.append(RunEnds(type_.run_end_type.bit_width))
                type_ = type_.value_type
            else:
                break
        found, encoding = self._laid_out(type_, path)
        match layers:
            case [RunEnds(width=32 | 64 as width)] if encoding.is_default:
                return found, Encoding(Buffer("RunEnd", width))
            case _:
                return found, replace(encoding, layers=tuple(layers))

    def _extension(self, type_: pa.BaseExtensionType, path: tuple[str, ...]) -> Extension:
        # The same as what travels in a file: fields of the storage type whose metadata names the extension.
        serialize = getattr(type_, "__arrow_ext_serialize__", None)
        if serialize is None:
            remedy = "cast the column to its storage type first"
            message = f"PyArrow {pa.__version__} does not tell the parameters of the extension type {type_}"
            self._problem("LB2401", path, message, found=str(type_), remedy=remedy)
            return Extension(type_.extension_name)
        return Extension(type_.extension_name, serialize())

    def _laid_out(self, type_: pa.DataType, path: tuple[str, ...]) -> tuple[LogicalType, Encoding]:
        """The type under dictionaries and the like, and how it is laid out."""
        if type_ in _PLAIN:
            return _PLAIN[type_], Encoding()
        if type_ in _HINTED:
            return _HINTED[type_]
        if pa.types.is_fixed_size_binary(type_):
            return logical.Binary(type_.byte_width), Encoding()
        if pa.types.is_decimal(type_):
            return logical.Decimal(type_.precision, type_.scale), Encoding(decimal=type_.bit_width)
        if pa.types.is_time(type_):
            return logical.Time(_UNITS[type_.unit]), Encoding()
        if pa.types.is_duration(type_):
            return logical.Duration(_UNITS[type_.unit]), Encoding()
        if pa.types.is_timestamp(type_):
            return self._timestamp(type_, path)
        return self._nested(type_, path)

    def _nested(self, type_: pa.DataType, path: tuple[str, ...]) -> tuple[LogicalType, Encoding]:
        for is_kind, buffer in _LISTS:
            if is_kind(type_):
                inner, item = self._inner(type_.value_field, "item", (*path, "element"))
                return logical.List(inner), Encoding(buffer, item=item)
        if pa.types.is_fixed_size_list(type_):
            inner, item = self._inner(type_.value_field, "item", (*path, "element"))
            return logical.List(inner, type_.list_size), Encoding(item=item)
        if pa.types.is_map(type_):
            key_type, key = self._inner(type_.key_field, "key", (*path, "key"))
            value_type, value = self._inner(type_.item_field, "value", (*path, "value"))
            return logical.Map(key_type, value_type, type_.keys_sorted), Encoding(key=key, value=value)
        if pa.types.is_struct(type_):
            members = [type_.field(i) for i in range(type_.num_fields)]
            return logical.Struct(self.fields(members, path)), Encoding()
        remedy = "cast the column, or leave it out"
        self._problem("LB2401", path, f"the Arrow type {type_} has no logical type", found=str(type_), remedy=remedy)
        return logical.Null(), Encoding()

    def _timestamp(self, type_: pa.TimestampType, path: tuple[str, ...]) -> tuple[LogicalType, Encoding]:
        if type_.tz is not None:
            return logical.Timestamp(_UNITS[type_.unit], type_.tz), Encoding()
        if self._naive == "error":
            remedy = 'cast the column to a zone, or say naive="keep" or naive="utc"'
            self._problem("LB2404", path, "the timestamp has no zone", found=str(type_), remedy=remedy)
        return logical.Timestamp(_UNITS[type_.unit], "UTC"), Encoding(naive=self._naive == "keep")

    def _inner(self, field: pa.Field, usual: str, path: tuple[str, ...]) -> tuple[LogicalType, Encoding | None]:
        """The type of an item, key or value and its encoding, None where Arrow would choose the same unasked."""
        type_, encoding = self._nullable(field, path)
        if encoding.buffer == Buffer("Contiguous", 32):
            encoding = replace(encoding, buffer=None)
        own = required(type_)
        if isinstance(own, logical.Decimal) and encoding.decimal == (128 if own.precision <= 38 else 256):
            encoding = replace(encoding, decimal=None)
        name = None if field.name == usual else field.name
        encoding = replace(encoding, name=name, metadata=as_pairs(field.metadata))
        return type_, None if encoding.is_default else encoding

    def _problem(self, code: str, path: tuple[str, ...], message: str, **parts: Any) -> None:
        self.problems.append(Diagnostic(code, message, path=path_text(path) or None, **parts))


def _is_naive(encoding: Encoding | None) -> bool:
    if encoding is None:
        return False
    return encoding.naive or _is_naive(encoding.item) or _is_naive(encoding.key) or _is_naive(encoding.value)


def _wall_clock(type_: LogicalType, encoding: Encoding) -> str | None:
    """The hint `paimon.apache.org/type` for a field with wall clocks in it, unless Paimon cannot store the field."""
    if not _is_naive(encoding):
        return None
    try:
        stored = paimon_carrier(bare_logical(required(type_)))
    except ConversionError:
        return None
    return str(with_nullability(_walled(stored, encoding), True))


def _walled(type_: DataType, encoding: Encoding | None) -> DataType:
    """The Paimon type, with TIMESTAMPs without zone where the encoding says so."""
    if encoding is None:
        return type_
    match type_:
        case physical.LocalZonedTimestamp() if encoding.naive:
            return physical.Timestamp(type_.precision, type_.nullable)
        case physical.Array():
            return replace(type_, element=_walled(type_.element, encoding.item))
        case physical.Map():
            return replace(type_, key=_walled(type_.key, encoding.key), value=_walled(type_.value, encoding.value))
        case _:
            return type_

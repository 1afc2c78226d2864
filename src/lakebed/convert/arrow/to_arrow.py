"""Convert the logical schema to an Arrow schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from lakebed.convert.arrow.plain_types import PLAIN, UNITS
from lakebed.convert.arrow.settings import ToArrow
from lakebed.convert.arrow_hints import (
    ARROW_METADATA,
    DECIMAL_DIGITS,
    Buffer,
    Dictionary,
    Encoding,
    Extension,
    Layer,
    Pairs,
    RunEnds,
    attributes_of,
    encoding_of,
    metadata_pairs,
    pruned,
)
from lakebed.convert.loss import Loss, LossReport
from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import ConversionError, TypeTextError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, canonical_json, required, schema_json, type_json
from lakebed.model import types as logical
from lakebed.model.encoding import ARROW_ENCODING, ENCODING_KEYS, is_encoding
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.from_json import field_from_json
from lakebed.model.logical_tree import transform
from lakebed.physical import DataType, parse, path_text
from lakebed.physical import paimon_types as physical

_INDEX = {type_.kind: arrow for type_, arrow in PLAIN.items()}
_STRINGS = {("Contiguous", 32): pa.string, ("Contiguous", 64): pa.large_string, ("View", 32): pa.string_view}
_BINARIES = {("Contiguous", 32): pa.binary, ("Contiguous", 64): pa.large_binary, ("View", 32): pa.binary_view}
_LISTS = {
    ("Contiguous", 32): pa.list_,
    ("Contiguous", 64): pa.large_list,
    ("View", 32): pa.list_view,
    ("View", 64): pa.large_list_view,
}
_CONTIGUOUS = Buffer("Contiguous", 32)
_RUN_ENDS = {16: pa.int16, 32: pa.int32, 64: pa.int64}
_MAX_LENGTH = 2**31 - 1
_Path = tuple[str, ...]


def to_arrow(schema: Schema, settings: ToArrow = ToArrow(), *, strict: bool = True) -> tuple[pa.Schema, LossReport]:  # noqa: B008
    """The Arrow schema of a logical schema, and what it cannot say.

    The hints of a field choose its layout; without one of the RFC's hints, `settings` do. What PyArrow's version has no
    type for (32-bit and 64-bit decimals before 19) becomes the next wider type, and that is a loss, as are keys of maps
    that may be null and, without the carrier, attributes.

    Raises `ConversionError` with everything that has no Arrow type, with hints that are malformed or do not fit their
    type and, when `strict`, for losses.
    """
    writer = _Writer(settings)
    fields = [writer.field(field, ()) for field in schema.fields]
    metadata = dict(writer.metadata(schema.extra, ()))
    if settings.carrier:
        metadata[CARRIER_KEY] = carried_text(schema, settings)
    if writer.problems:
        raise ConversionError(*writer.problems)
    report = LossReport(tuple(writer.losses))
    if strict:
        report.raise_if_any()
    return pa.schema(fields, metadata or None), report


class _Writer:
    """Makes Arrow fields and collects what cannot be made; a type returned after a problem only stands in."""

    def __init__(self, settings: ToArrow) -> None:
        self.problems: list[Diagnostic] = []
        self.losses: list[Loss] = []
        self._settings = settings

    def field(self, field: Field, path: _Path) -> pa.Field:
        path = (*path, field.name)
        encoding = Encoding()
        try:
            encoding = _with_walls(encoding_of(field.extra, path_text(path)), field.extra)
        except (ConversionError, TypeTextError) as error:
            self.problems += [replace(d, path=path_text(path), position=None) for d in error.diagnostics]
        made = self._field(field.name, field.type, encoding, path)
        metadata = dict(encoding.metadata + self.metadata(field.extra, path))
        return made.with_metadata(metadata) if metadata else made

    def metadata(self, extra: Extra, path: _Path) -> Pairs:
        """Arrow's metadata among the attributes; notes attributes that nothing carries."""
        lost = [k for k in extra if not is_encoding(k) and k != ARROW_METADATA and not _is_wall_clock(k, extra)]
        if lost and not self._settings.carrier:
            self.losses.append(Loss(path_text(path), "the attributes " + ", ".join(sorted(lost))))
        try:
            return metadata_pairs(extra[ARROW_METADATA], path_text(path)) if ARROW_METADATA in extra else ()
        except ConversionError as error:
            self.problems += error.diagnostics
            return ()

    def _field(self, name: str, type_: LogicalType, encoding: Encoding, path: _Path) -> pa.Field:
        own = required(type_)
        if isinstance(own, logical.Option):
            remedy = "leave one of them out"
            self._problem("LB2104", path, "an Option of an Option means nothing", remedy=remedy)
            return pa.field(name, pa.null())
        made = self._type(own, encoding, path)
        return pa.field(name, made, isinstance(type_, logical.Option) or made == pa.null())

    def _inner(self, type_: LogicalType, encoding: Encoding | None, usual: str, path: _Path) -> pa.Field:
        """The field of an item, key or value."""
        own = encoding or Encoding()
        made = self._field(own.name if own.name is not None else usual, type_, own, path)
        return made.with_metadata(dict(own.metadata)) if own.metadata else made

    def _type(self, type_: LogicalType, encoding: Encoding, path: _Path) -> pa.DataType:
        layers = encoding.layers
        settings = ToArrow() if encoding.says_rfc else self._settings
        if encoding.buffer is not None and encoding.buffer.kind == "RunEnd":
            layers += (RunEnds(encoding.buffer.effective_width),)
            encoding = replace(encoding, buffer=None)
        self._check(type_, encoding, path)
        found = self._laid_out(type_, encoding, settings, path)
        for layer in reversed(layers):
            found = self._layered(found, layer, path)
        return found

    def _check(self, type_: LogicalType, encoding: Encoding, path: _Path) -> None:
        """Notes hints that say nothing about this type."""
        fitting = {
            "a buffer encoding": encoding.buffer is None
            or isinstance(type_, logical.String)
            or (isinstance(type_, logical.Binary | logical.List) and type_.fixed_length is None),
            "a date encoding": encoding.date is None or isinstance(type_, logical.Date),
            "a decimal encoding": encoding.decimal is None or isinstance(type_, logical.Decimal),
            "the mark for a wall clock": not encoding.naive or isinstance(type_, logical.Timestamp),
            "an encoding of items": encoding.item is None or isinstance(type_, logical.List),
            "an encoding of keys or values": (encoding.key is None and encoding.value is None)
            or isinstance(type_, logical.Map),
        }
        for what in (what for what, fits in fitting.items() if not fits):
            self._unfit(f"{what} does not fit the type {type_.kind}", path)

    def _laid_out(self, type_: LogicalType, encoding: Encoding, settings: ToArrow, path: _Path) -> pa.DataType:
        match type_:
            case logical.String():
                return self._buffered(_STRINGS, encoding.buffer or settings.string, path)()
            case logical.Binary(fixed_length=None):
                return self._buffered(_BINARIES, encoding.buffer or settings.binary, path)()
            case logical.Binary(fixed_length=int(length)):
                return pa.binary(self._length(length, path))
            case logical.Date():
                return pa.date64() if (encoding.date or settings.date) == "Millisecond" else pa.date32()
            case logical.Decimal():
                return self._decimal(type_, encoding, path)
            case logical.Time():
                unit = UNITS[type_.effective_unit]
                return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
            case logical.Timestamp():
                zone = None if encoding.naive else type_.effective_timezone
                return pa.timestamp(UNITS[type_.effective_unit], zone)
            case logical.Duration():
                return pa.duration(UNITS[type_.effective_unit])
            case logical.List():
                item = self._inner(type_.item_type, encoding.item, "item", (*path, "element"))
                if type_.fixed_length is not None:
                    return pa.list_(item, self._length(type_.fixed_length, path))
                return self._buffered(_LISTS, encoding.buffer or settings.list, path)(item)
            case logical.Map():
                return self._map(type_, encoding, path)
            case logical.Struct():
                return pa.struct([self.field(member, path) for member in type_.fields])
            case _:
                return PLAIN[type_]

    def _buffered(self, kinds: dict[tuple[str, int], Any], buffer: Buffer | None, path: _Path) -> Any:
        wanted = buffer or _CONTIGUOUS
        found = kinds.get((wanted.kind, wanted.effective_width))
        if found is None:
            self._unfit(f"Arrow has no {wanted.kind} of {wanted.effective_width} bits for this type", path)
        return found or kinds["Contiguous", 32]

    def _decimal(self, type_: logical.Decimal, encoding: Encoding, path: _Path) -> pa.DataType:
        bits = encoding.decimal or (128 if type_.precision <= DECIMAL_DIGITS[128] else 256)
        if not 1 <= type_.precision <= DECIMAL_DIGITS[bits]:
            expected = f"a precision from 1 to {DECIMAL_DIGITS[bits]} in {bits} bits"
            message = f"Decimal of precision {type_.precision} has no Arrow type"
            self._problem("LB2405", path, message, expected=expected, found=str(type_.precision))
            return pa.null()
        if not -_MAX_LENGTH <= type_.scale <= _MAX_LENGTH:
            self._problem("LB2405", path, f"Decimal of scale {type_.scale} has no Arrow type", found=str(type_.scale))
            return pa.null()
        make = getattr(pa, f"decimal{bits}", None)
        if make is None:
            what = f"PyArrow {pa.__version__} has no decimals of {bits} bits; it gets one of 128 bits"
            self.losses.append(Loss(path_text(path), what))
            make = pa.decimal128
        return make(type_.precision, type_.scale)

    def _map(self, type_: logical.Map, encoding: Encoding, path: _Path) -> pa.DataType:
        key_type = type_.key_type
        if isinstance(key_type, logical.Option):
            self.losses.append(Loss(path_text((*path, "key")), "that a key may be null: keys of Arrow maps never are"))
            key_type = key_type.inner
        if key_type == logical.Null():
            self._problem("LB2405", (*path, "key"), "a key that is always null has no Arrow type", found="Null")
            key_type = logical.Bool()
        key = self._inner(key_type, encoding.key, "key", (*path, "key"))
        value = self._inner(type_.value_type, encoding.value, "value", (*path, "value"))
        return pa.map_(key.with_nullable(False), value, keys_sorted=bool(type_.keys_sorted))

    def _layered(self, type_: pa.DataType, layer: Layer, path: _Path) -> pa.DataType:
        make: Any
        match layer:
            case Dictionary():
                make = partial(pa.dictionary, _INDEX[layer.index], ordered=layer.ordered)
            case RunEnds():
                make = partial(pa.run_end_encoded, _RUN_ENDS[layer.width]())
            case Extension():
                return self._extended(type_, layer, path)
        try:
            return make(type_)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, ValueError) as error:
            self._unfit(f"Arrow cannot put {layer.to_json()['kind']} around {type_}: {reason_of(error)}", path)
            return type_

    def _extended(self, storage: pa.DataType, layer: Extension, path: _Path) -> pa.DataType:
        """The extension type that PyArrow knows under the name; reading a schema is how it is asked for."""
        names = {b"ARROW:extension:name": layer.name.encode(), b"ARROW:extension:metadata": layer.serialized}
        try:
            found = pa.ipc.read_schema(pa.schema([pa.field("x", storage, metadata=names)]).serialize()).field(0).type
        except (pa.ArrowException, ValueError, TypeError) as error:
            self._unfit(f"the extension {layer.name} refuses the storage {storage}: {reason_of(error)}", path)
            return storage
        if not isinstance(found, pa.BaseExtensionType):
            self.losses.append(Loss(path_text(path), f"the extension {layer.name}, which this PyArrow does not know"))
        return found

    def _length(self, length: int, path: _Path) -> int:
        if 0 <= length <= _MAX_LENGTH:
            return length
        expected = f"a length from 0 to {_MAX_LENGTH}"
        message = f"the fixed length {length} is out of range"
        self._problem("LB2405", path, message, expected=expected, found=str(length))
        return 1

    def _unfit(self, message: str, path: _Path) -> None:
        remedy = "drop the attribute, or give the encoding that the type has"
        self._problem("LB2406", path, message, remedy=remedy)

    def _problem(self, code: str, path: _Path, message: str, **parts: Any) -> None:
        self.problems.append(Diagnostic(code, message, path=path_text(path) or None, **parts))


def _is_wall_clock(key: str, extra: Extra) -> bool:
    """Whether the attribute is one of Paimon's types that Arrow says as it is: a timestamp without zone."""
    return key == PAIMON_TYPE and isinstance(extra[key], str) and "TIMESTAMP" in extra[key]


def _with_walls(encoding: Encoding, extra: Extra) -> Encoding:
    """The encoding with a mark at every timestamp that `paimon.apache.org/type` says to have no zone."""
    hint = extra.get(PAIMON_TYPE)
    if not isinstance(hint, str | dict):
        return encoding
    return _marked(encoding, parse(hint, unknown="keep", allow_missing_ids=True)) or encoding


def _marked(encoding: Encoding | None, type_: DataType) -> Encoding | None:
    own = encoding or Encoding()
    match type_:
        case physical.Timestamp():
            own = replace(own, naive=True)
        case physical.Array():
            own = replace(own, item=_marked(own.item, type_.element))
        case physical.Multiset():
            own = replace(own, key=_marked(own.key, type_.element))
        case physical.Map():
            own = replace(own, key=_marked(own.key, type_.key), value=_marked(own.value, type_.value))
        case _:
            return encoding
    return None if own.is_default else own


CARRIER_KEY = b"lakebed.schema"
FORMAT = 1


def carried_text(schema: Schema, settings: ToArrow) -> bytes:
    """The value of the metadata key."""
    found: dict[str, Any] = {"format": FORMAT, "schema": schema_json(schema)}
    if settings.to_json():
        found["settings"] = settings.to_json()
    return canonical_json(found).encode()


def read_carried(text: bytes) -> tuple[Schema, ToArrow]:
    """The schema of a carrier, and the settings that its Arrow types were made with. Raises `ConversionError`."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise _unreadable(f"its format is {found['format']!r}, and this version of Lakebed knows {FORMAT}")
        declared = found["schema"]
        fields = tuple(field_from_json(field) for field in declared["fields"])
        settings = ToArrow.from_json(found.get("settings", {}))
        return Schema(fields, Extra(declared.get("extra", {}))), settings
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _unreadable(f"it is no schema: {reason_of(error)}") from error


def _unreadable(reason: str) -> ConversionError:
    remedy = f"drop the metadata key {CARRIER_KEY.decode()!r}; the columns say their types without it"
    return ConversionError.of("LB2407", f"the schema in the metadata cannot be read: {reason}", remedy=remedy)


def resolve(text: bytes, plain: Schema, plainly: Callable[[pa.Schema], Schema], losses: list[Loss]) -> Schema:
    """The carried schema as far as the columns are those that it describes.

    `plain` is what the columns say themselves, `plainly` how an Arrow schema without a carrier is read. What the
    carrier says and the columns contradict goes to `losses`. Raises `ConversionError` for one that cannot be read.
    """
    from lakebed.convert.arrow.to_arrow import to_arrow

    carried, settings = read_carried(text)
    expected = plainly(to_arrow(carried, settings, strict=False)[0])
    by_name = {said.name: (said, made) for said, made in zip(carried.fields, expected.fields, strict=True)}
    fields = tuple(
        _field(found, *by_name[found.name], losses) if found.name in by_name else found for found in plain.fields
    )
    _note_renames(plain, carried, losses)
    extra = carried.extra.without(ARROW_METADATA).merged(plain.extra)
    return Schema(fields, extra)


def _field(found: Field, said: Field, made: Field, losses: list[Loss]) -> Field:
    """The column as carried where it is what the carrier says; else as it is. `made` is what the carrier leads to."""
    if found.nullable != made.nullable:
        said, made = (_nullable(field, found.nullable) for field in (said, made))
    if _reduced(found, _layout) == _reduced(made, _layout):
        return said
    if _reduced(found, _meaning) == _reduced(made, _meaning):
        return _laid_out_as(said, found)
    what = f"the carried schema says {_text(made)} and the column is {_text(found)}: its annotations do not count"
    losses.append(Loss(path_text((found.name,)), what))
    return found


def _note_renames(plain: Schema, carried: Schema, losses: list[Loss]) -> None:
    """Columns unknown to the carrier, while others of it are gone, were probably renamed."""
    present, known = {f.name for f in plain.fields}, {f.name for f in carried.fields}
    gone, new = sorted(known - present), sorted(present - known)
    if gone and new:
        what = f"columns were probably renamed: the carried schema knows {', '.join(gone)}, but not {', '.join(new)}"
        losses.append(Loss("", what))


def _nullable(field: Field, nullable: bool) -> Field:
    return replace(field, type=logical.Option(required(field.type)) if nullable else required(field.type))


def _text(field: Field) -> str:
    return canonical_json(type_json(_reduced(field, lambda _: Extra()).type, normalize=True))


def _layout(extra: Extra) -> Extra:
    """The attributes less what writing a file may change: names of items, and what Parquet notes on them."""
    return _with_encoding(extra, less=("name", "metadata"))


def _meaning(extra: Extra) -> Extra:
    """The attributes that change what the values are: which timestamps are wall clocks."""
    less = tuple(f.name for f in fields_of(Encoding) if f.name not in ("naive", "item", "key", "value"))
    kept = _with_encoding(extra, less=less)
    return Extra({key: value for key, value in kept.items() if key in (PAIMON_TYPE, ARROW_ENCODING)})


def _with_encoding(extra: Extra, *, less: tuple[str, ...]) -> Extra:
    left = extra.without(*ENCODING_KEYS)
    return left.merged(attributes_of(pruned(encoding_of(extra), less)))


def _reduced(field: Field, reduce: Callable[[Extra], Extra]) -> Field:
    """The field with the attributes reduced at every level, and less what Parquet does not have.

    It has no seconds, which become milliseconds, and does not say that keys of maps are sorted.
    """

    def members_too(type_: LogicalType) -> LogicalType:
        match type_:
            case logical.Struct():
                return logical.Struct(tuple(replace(m, extra=reduce(m.extra)) for m in type_.fields))
            case logical.Map():
                return replace(type_, keys_sorted=None)
            case logical.Time(unit=TimeUnit.SECOND) | logical.Timestamp(unit=TimeUnit.SECOND):
                return replace(type_, unit=TimeUnit.MILLISECOND)
            case _:
                return type_

    return Field(field.name, transform(field.type, members_too), reduce(field.extra))


def _laid_out_as(said: Field, found: Field) -> Field:
    """The carried field with the layout of the column, at every level; both have the same meaning."""
    kept = said.extra.without(*ENCODING_KEYS, ARROW_METADATA)
    return Field(found.name, _type_laid_out_as(said.type, found.type), found.extra.merged(kept))


def _type_laid_out_as(said: LogicalType, found: LogicalType) -> LogicalType:
    match said, found:
        case logical.Option(), logical.Option():
            return logical.Option(_type_laid_out_as(said.inner, found.inner))
        case logical.Option(), _:
            # A key of a map, which Arrow has no null for.
            return logical.Option(_type_laid_out_as(said.inner, found))
        case logical.Struct(), logical.Struct():
            pairs = zip(said.fields, found.fields, strict=True)
            return logical.Struct(tuple(_laid_out_as(one, other) for one, other in pairs))
        case logical.List(), logical.List():
            return replace(said, item_type=_type_laid_out_as(said.item_type, found.item_type))
        case logical.Map(), logical.Map():
            key = _type_laid_out_as(said.key_type, found.key_type)
            return replace(said, key_type=key, value_type=_type_laid_out_as(said.value_type, found.value_type))
        case _:
            return said

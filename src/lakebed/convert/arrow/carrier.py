"""The logical schema as metadata of an Arrow schema, so that a Parquet or Feather file carries it.

Under the key `lakebed.schema` stands canonical JSON: `{"format": 1, "schema": <RFC-016 long form>, "settings": {...}}`.
It is found again on read and holds for a column as long as the column's Arrow type is one for what it says: a carrier
never overrules the columns. Columns may be taken out, added, reordered and made nullable; a column that was retyped, or
renamed, has lost its annotations, which is reported.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

import pyarrow as pa

from lakebed.convert.arrow.settings import ToArrow
from lakebed.convert.arrow_hints import ARROW_METADATA, Encoding, attributes_of, encoding_of, pruned
from lakebed.convert.loss import Loss
from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, canonical_json, required, schema_json, type_json
from lakebed.model import types as logical
from lakebed.model.encoding import ARROW_ENCODING, ENCODING_KEYS
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.from_json import field_from_json
from lakebed.physical import path_text

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
    return ConversionError(Diagnostic("LB2407", f"the schema in the metadata cannot be read: {reason}", remedy=remedy))


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
    return Field(field.name, _reduced_type(field.type, reduce), reduce(field.extra))


def _reduced_type(type_: LogicalType, reduce: Callable[[Extra], Extra]) -> LogicalType:
    match type_:
        case logical.Struct():
            return logical.Struct(tuple(_reduced(member, reduce) for member in type_.fields))
        case logical.Option():
            return logical.Option(_reduced_type(type_.inner, reduce))
        case logical.List():
            return replace(type_, item_type=_reduced_type(type_.item_type, reduce))
        case logical.Map():
            key, value = _reduced_type(type_.key_type, reduce), _reduced_type(type_.value_type, reduce)
            return logical.Map(key, value)
        case logical.Time(unit=TimeUnit.SECOND) | logical.Timestamp(unit=TimeUnit.SECOND):
            return replace(type_, unit=TimeUnit.MILLISECOND)
        case _:
            return type_


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

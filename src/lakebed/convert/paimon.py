"""Convert the logical schema from and to Paimon columns: carriers, and the hint `paimon.apache.org/type`.

Every logical type has one carrier, the Paimon type that stores it. What the carrier does not say (unsigned, unit, zone,
fixed length) is kept beside it by `lakebed.catalog.annotations`. What Paimon has and the logical types lack is kept as
the hint: its value is the Paimon type's text (for nested types the text of the JSON object), without the nullability of
the outermost level and without the fields of ROWs, which have hints of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, assert_never

from lakebed.convert.fit import PLAIN_CARRIERS, STORED_TIME_DIGITS, bare_logical, fits, same_nullability
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError, TypeTextError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, canonical_json, required
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, PAIMON_TYPE
from lakebed.model.logical_tree import fields_inside
from lakebed.physical import (
    BYTES,
    MAX_LENGTH,
    STRING,
    UNASSIGNED,
    DataField,
    DataType,
    parse,
    path_text,
    with_nullability,
)
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import bare

MAX_DECIMAL_PRECISION = 38
#: The reference engine turns columns into BLOBs and vectors when their comment begins like this.
RESERVED_DESCRIPTIONS = ("__BLOB", "__VECTOR")


def to_paimon(schema: Schema) -> tuple[DataField, ...]:
    """The columns that store a schema, all field ids `UNASSIGNED`.

    The description of a field becomes Paimon's description and `lakebed.dev/default` its default value. A field with
    the hint `paimon.apache.org/type` gets exactly that type. Raises `ConversionError` with every field that cannot be
    stored.
    """
    builder = _Builder()
    if (schema.extra.description or "").startswith(RESERVED_DESCRIPTIONS):
        builder.reserved_description((), schema.extra)
    fields = builder.fields(schema.fields, ())
    if builder.problems:
        raise ConversionError(*builder.problems)
    return fields


def repeated_names(fields: Iterable[Field]) -> tuple[Diagnostic, ...]:
    """A problem for each name that is there twice among the columns, or among the members of a struct."""
    counts = Counter(path for path, _ in fields_inside(fields))
    outermost = (
        path for path, count in counts.items() if count > 1 and not any(counts[path[:n]] > 1 for n in range(len(path)))
    )
    remedy = "rename the column: names tell the fields of a schema apart"
    return tuple(
        Diagnostic("LB2108", f"the field name {path[-1]!r} is used twice", path=path_text(path), remedy=remedy)
        for path in outermost
    )


def table_comment(schema: Schema) -> str | None:
    """Paimon's table comment: the description of the schema."""
    return schema.extra.description


def carrier(type_: LogicalType) -> DataType:
    """The Paimon type that stores a logical type; NOT NULL unless it is an `Option`. Raises `ConversionError`."""
    builder = _Builder()
    found = builder.carrier(type_, ())
    if builder.problems:
        raise ConversionError(*builder.problems)
    return found


def carrier_is_exact(type_: LogicalType) -> bool:
    """Whether the carrier alone says the whole type; where not, the long form must be kept as an annotation.

    Members of a `Struct` do not count: they are fields and have annotations of their own.
    """
    own = bare_logical(type_)
    return nearest(carrier(own)) == own


def from_paimon(columns: Iterable[DataField]) -> Schema:
    """The nearest schema of columns, with their hints, descriptions and default values as attributes.

    `to_paimon` leads back to exactly these columns, but for their ids.
    """
    return Schema(tuple(logical_field(column) for column in columns))


def nearest(type_: DataType) -> LogicalType:
    """The nearest logical type; fields of ROWs become annotated members."""
    return logical_type(type_, None, logical_field)


def hint(type_: DataType) -> Extra:
    """`paimon.apache.org/type` where the nearest logical type has another carrier, else nothing."""
    own = bare(type_)
    return _hint_of(own, str(with_nullability(own, True)))


@lru_cache(maxsize=4096)
def _hint_of(own: DataType, text: str) -> Extra:
    """The same of a type whose ROWs are empty: there are few, and every column of every version asks for one.

    Types that are equal may be spelt in other ways, so that the text counts, too.
    """
    return Extra() if carrier(nearest(own)) == own else Extra({PAIMON_TYPE: text})


def logical_field(field: DataField) -> Field:
    """A column as an annotated field: hint, description and default value go into `extra`."""
    return Field(field.name, nearest(field.type), hint(field.type).merged(stated(field)))


def stated(field: DataField) -> dict[str, Any]:
    """The attributes that a column itself states: its description and its default value, where it has them."""
    found: dict[str, Any] = {}
    if field.description is not None:
        found[DESCRIPTION] = field.description
    if field.default_value is not None:
        found[DEFAULT] = field.default_value
    return found


def logical_type(type_: DataType, declared: LogicalType | None, member: Callable[[DataField], Field]) -> LogicalType:
    """The logical type of a Paimon type, read as `declared` where that is given.

    `declared` must fit the type (`lakebed.convert.fit.fits`); its members of Structs are not looked at. Nullability is
    always that of the Paimon type. `member` makes the members of Structs from the fields of ROWs.
    """
    own = None if declared is None else required(declared)
    found: LogicalType
    match type_:
        case physical.Array():
            item = own.item_type if isinstance(own, logical.List) else None
            length = own.fixed_length if isinstance(own, logical.List) else None
            found = logical.List(logical_type(type_.element, item, member), length)
        case physical.Vector():
            item = own.item_type if isinstance(own, logical.List) else None
            found = logical.List(logical_type(type_.element, item, member), type_.length)
        case physical.Multiset():
            key = own.key_type if isinstance(own, logical.Map) else None
            sorted_ = own.keys_sorted if isinstance(own, logical.Map) else None
            found = logical.Map(logical_type(type_.element, key, member), logical.Int32(), sorted_)
        case physical.Map():
            key, value = (own.key_type, own.value_type) if isinstance(own, logical.Map) else (None, None)
            sorted_ = own.keys_sorted if isinstance(own, logical.Map) else None
            found = logical.Map(logical_type(type_.key, key, member), logical_type(type_.value, value, member), sorted_)
        case physical.Row():
            found = logical.Struct(tuple(member(f) for f in type_.fields))
        case _:
            found = own if own is not None else _nearest_atomic(type_)
    return logical.Option(found) if type_.nullable else found


def _nearest_atomic(
    type_: physical.Boolean
    | physical.TinyInt
    | physical.SmallInt
    | physical.Int
    | physical.BigInt
    | physical.Float
    | physical.Double
    | physical.Decimal
    | physical.Char
    | physical.VarChar
    | physical.Binary
    | physical.VarBinary
    | physical.Date
    | physical.Time
    | physical.Timestamp
    | physical.LocalZonedTimestamp
    | physical.Variant
    | physical.Blob
    | physical.Geometry
    | physical.Geography
    | physical.Unknown,
) -> LogicalType:
    match type_:
        case physical.Boolean():
            return logical.Bool()
        case physical.TinyInt():
            return logical.Int8()
        case physical.SmallInt():
            return logical.Int16()
        case physical.Int():
            return logical.Int32()
        case physical.BigInt():
            return logical.Int64()
        case physical.Float():
            return logical.Float32()
        case physical.Double():
            return logical.Float64()
        case physical.Decimal():
            return logical.Decimal(type_.precision, type_.scale)
        case physical.Char() | physical.VarChar() | physical.Variant():
            return logical.String()
        case physical.Binary():
            return logical.Binary(type_.length)
        case physical.VarBinary() | physical.Blob() | physical.Geometry() | physical.Geography() | physical.Unknown():
            return logical.Binary()
        case physical.Date():
            return logical.Date()
        case physical.Time():
            # Values are stored in milliseconds whatever the precision says.
            return logical.Time(TimeUnit.SECOND if type_.precision == 0 else None)
        case physical.Timestamp() | physical.LocalZonedTimestamp():
            unit = next(u for u in TimeUnit if u.digits >= type_.precision)
            return logical.Timestamp(None if unit is logical.DEFAULT_UNIT else unit)
        case _:
            assert_never(type_)


def default_text(value: Any, type_: LogicalType) -> str | None:
    """Paimon's text of a default value given as JSON; null is no default.

    Text stays as it is. `7`, `true`, `[1, 2]`; for a Map `{a -> 1}`, for a Struct `{1, abc}` in the order of members.
    """
    own = required(type_)
    match value:
        case None | str():
            return value
        case list():
            item = own.item_type if isinstance(own, logical.List) else own
            return "[" + ", ".join(_part_text(part, item) for part in value) + "]"
        case dict() if isinstance(own, logical.Struct):
            return "{" + ", ".join(_part_text(value.get(m.name), m.type) for m in own.fields) + "}"
        case dict():
            of = own.value_type if isinstance(own, logical.Map) else own
            return "{" + ", ".join(f"{key} -> {_part_text(part, of)}" for key, part in sorted(value.items())) + "}"
        case _:
            return canonical_json(value)


def _part_text(value: Any, type_: LogicalType) -> str:
    text = default_text(value, type_)
    return "null" if text is None else text


class _Builder:
    """Builds carriers and collects what cannot be stored; a value returned after a problem only stands in."""

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []

    def fields(self, members: tuple[Field, ...], path: tuple[str, ...]) -> tuple[DataField, ...]:
        seen: set[str] = set()
        for member in members:
            if not member.name.strip():
                self._problem("LB2108", path, "a field needs a name that is not blank")
            elif member.name in seen:
                self._problem("LB2108", (*path, member.name), f"the field name {member.name!r} is used twice")
            seen.add(member.name)
        return tuple(self._field(member, (*path, member.name)) for member in members)

    def _field(self, field: Field, path: tuple[str, ...]) -> DataField:
        description = field.extra.description
        if description is not None and description.startswith(RESERVED_DESCRIPTIONS):
            self.reserved_description(path, field.extra)
        if PAIMON_TYPE in field.extra:
            type_ = self._hinted(field.type, field.extra[PAIMON_TYPE], path)
        else:
            type_ = self.carrier(field.type, path)
        default = default_text(field.extra.get(DEFAULT), field.type)
        return DataField(UNASSIGNED, field.name, type_, description, default)

    def reserved_description(self, path: tuple[str, ...], extra: Extra) -> None:
        self._problem(
            "LB2106",
            path,
            f"a description must not begin with {' or '.join(RESERVED_DESCRIPTIONS)}",
            found=(extra.description or "")[:60],
            remedy="reword the beginning; other engines read it as an instruction to change the type",
        )

    def carrier(self, type_: LogicalType, path: tuple[str, ...]) -> DataType:
        if isinstance(type_, logical.Option):
            if isinstance(type_.inner, logical.Option):
                self._problem("LB2104", path, "an Option of an Option means nothing", remedy="leave one of them out")
            return with_nullability(self.carrier(type_.inner, path), True)
        return with_nullability(self._required(type_, path), False)

    def _required(self, type_: LogicalType, path: tuple[str, ...]) -> DataType:
        if type(type_) in PLAIN_CARRIERS:
            return PLAIN_CARRIERS[type(type_)]
        match type_:
            case logical.Decimal():
                return self._decimal(type_, path)
            case logical.Binary():
                return self._binary(type_, path)
            case logical.Time():
                unit = type_.effective_unit
                return physical.Time(unit.digits) if unit.digits <= STORED_TIME_DIGITS else physical.BigInt()
            case logical.Timestamp():
                return physical.LocalZonedTimestamp(type_.effective_unit.digits)
            case logical.List():
                if type_.fixed_length is not None and not 0 <= type_.fixed_length <= MAX_LENGTH:
                    self._length(type_.fixed_length, 0, path)
                return physical.Array(self.carrier(type_.item_type, (*path, "element")))
            case logical.Map():
                key = self.carrier(type_.key_type, (*path, "key"))
                return physical.Map(key, self.carrier(type_.value_type, (*path, "value")))
            case logical.Struct():
                return physical.Row(self.fields(type_.fields, path))
            case _:
                self._problem(
                    "LB2101",
                    path,
                    f"{type_.kind} cannot be stored in a Paimon table",
                    found=type_.kind,
                    remedy="leave the field out, or give it the type that its values will have",
                )
                return STRING

    def _decimal(self, type_: logical.Decimal, path: tuple[str, ...]) -> DataType:
        if 1 <= type_.precision <= MAX_DECIMAL_PRECISION and 0 <= type_.scale <= type_.precision:
            return physical.Decimal(type_.precision, type_.scale)
        self._problem(
            "LB2102",
            path,
            f"Decimal of precision {type_.precision} and scale {type_.scale} cannot be stored in a Paimon table",
            expected=f"a precision from 1 to {MAX_DECIMAL_PRECISION} and a scale from 0 to the precision",
            found=f"precision {type_.precision}, scale {type_.scale}",
            remedy="use a smaller Decimal, or a String",
        )
        return physical.Decimal()

    def _binary(self, type_: logical.Binary, path: tuple[str, ...]) -> DataType:
        if type_.fixed_length is None:
            return BYTES
        if not 1 <= type_.fixed_length <= MAX_LENGTH:
            self._length(type_.fixed_length, 1, path)
            return BYTES
        return physical.Binary(type_.fixed_length)

    def _length(self, found: int, low: int, path: tuple[str, ...]) -> None:
        expected = f"a length from {low} to {MAX_LENGTH}"
        self._problem("LB2103", path, f"the fixed length {found} is out of range", expected=expected, found=str(found))

    def _hinted(self, type_: LogicalType, value: Any, path: tuple[str, ...]) -> DataType:
        """The type that the hint names, its ROWs filled with the members of `type_`."""
        usual = self.carrier(type_, path)
        wanted = self._hint_type(value, path)
        if wanted is None:
            return usual
        if wanted != bare(wanted):
            reason, remedy = "it lists fields of a ROW", "leave 'fields' empty; the members of the Struct fill them"
        elif not fits(type_, wanted) or not same_nullability(type_, with_nullability(wanted, usual.nullable)):
            reason, remedy = f"it is not a carrier of {_summary(type_)}", f"use {bare(usual)}, or leave the hint out"
        elif not wanted.nullable and usual.nullable:
            reason, remedy = "it is NOT NULL and the field is an Option", "leave NOT NULL out of the hint"
        else:
            return _filled(wanted, usual)
        self._problem("LB2105", path, f"{PAIMON_TYPE} cannot be {wanted}: {reason}", found=str(wanted), remedy=remedy)
        return usual

    def _hint_type(self, value: Any, path: tuple[str, ...]) -> DataType | None:
        if not isinstance(value, str | dict):
            found = canonical_json(value)
            self._problem("LB2105", path, f"{PAIMON_TYPE} must be the text of a type", found=found)
            return None
        try:
            return parse(value, unknown="keep", allow_missing_ids=True)
        except TypeTextError as error:
            where = path_text(path)
            self.problems += [
                replace(
                    d, code="LB2105", message=f"{PAIMON_TYPE} cannot be read: {d.message}", path=where, position=None
                )
                for d in error.diagnostics
            ]
            return None

    def _problem(self, code: str, path: tuple[str, ...], message: str, **parts: Any) -> None:
        self.problems.append(Diagnostic(code, message, path=path_text(path) or None, **parts))


def _filled(wanted: DataType, usual: DataType) -> DataType:
    """`wanted` with the nullability and the ROW fields of `usual`, which has the same shape where there are ROWs."""
    nullable = usual.nullable
    match wanted, usual:
        case physical.Row(), physical.Row():
            return usual
        case physical.Array(), physical.Array():
            return physical.Array(_filled(wanted.element, usual.element), nullable)
        case physical.Multiset(), physical.Map():
            return physical.Multiset(_filled(wanted.element, usual.key), nullable)
        case physical.Map(), physical.Map():
            return physical.Map(_filled(wanted.key, usual.key), _filled(wanted.value, usual.value), nullable)
        case _:
            return with_nullability(wanted, nullable)


def _summary(type_: LogicalType) -> str:
    own = required(type_)
    return f"Option<{own.kind}>" if own is not type_ else own.kind

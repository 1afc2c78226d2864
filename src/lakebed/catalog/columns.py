"""Convert every accepted form of a column to the table format's `DataField`s.

A column is a `Field` (Mini Paimon's way), a logical field, a `DataField`, a field's JSON object, a tuple
`(name, type[, nullable])`, or text (`amount DECIMAL(10, 2) NOT NULL`). A type is a logical type, a physical type, type
text or a type's JSON object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from lakebed import model
from lakebed.catalog.node import Node, siblings
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError, LakebedError, TypeTextError, ValidationError
from lakebed.model.extra import FIELD_ID
from lakebed.model.logical_tree import fields_inside, types_inside
from lakebed.physical import DataType as PhysicalType
from lakebed.physical import TypeReader, parse
from lakebed.physical.paimon_tree import with_children
from lakebed.physical.paimon_types import (
    STRING,
    UNASSIGNED,
    Array,
    BigInt,
    Boolean,
    DataField,
    Decimal,
    Double,
    Int,
    Map,
    Row,
    Timestamp,
    VarChar,
    with_nullability,
)

BAD_COLUMN = "LB3206"

AnyType: TypeAlias = "model.LogicalType | PhysicalType | str | Mapping[str, Any]"


class DataType:
    """Mini Paimon's type names; each is a physical type, so that `DataType.LONG` and BIGINT are the same thing."""

    INT: ClassVar[Int] = Int()
    LONG: ClassVar[BigInt] = BigInt()
    BIGINT: ClassVar[BigInt] = LONG
    STRING: ClassVar[VarChar] = STRING
    BOOLEAN: ClassVar[Boolean] = Boolean()
    DOUBLE: ClassVar[Double] = Double()
    TIMESTAMP: ClassVar[Timestamp] = Timestamp()

    @staticmethod
    def DECIMAL(precision: int, scale: int) -> Decimal:
        """DECIMAL(precision, scale)."""
        return Decimal(precision, scale)

    @staticmethod
    def ARRAY(element: PhysicalType) -> Array:
        """ARRAY of `element`."""
        return Array(element)

    @staticmethod
    def MAP(key: PhysicalType, value: PhysicalType) -> Map:
        """MAP from `key` to `value`."""
        return Map(key, value)


@dataclass(frozen=True, slots=True)
class Field:
    """A column as Mini Paimon gives it. It is NOT NULL if `nullable` is false or the type itself says so.

    A logical type says so by not being an `Option`.
    """

    name: str
    type: AnyType
    nullable: bool = True


AnyField: TypeAlias = "Field | model.Field | DataField | Mapping[str, Any] | tuple[Any, ...] | str"
AnyFields: TypeAlias = "model.Schema | Iterable[AnyField]"


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns in the table format's types; `logical` holds those that were given logically, None where none was.

    Ids that were given are kept, all others are `UNASSIGNED`.
    """

    fields: tuple[DataField, ...]
    logical: model.Schema | None = None


def to_columns(fields: AnyFields) -> Columns:
    """Every accepted form of a list of columns.

    Raises:
        ValidationError: columns that cannot be understood; one diagnostic per problem of all columns.
    """
    given: list[AnyField] = list(fields.fields) if isinstance(fields, model.Schema) else list(fields)
    found: list[DataField] = []
    logical: list[model.Field] = []
    problems: list[Diagnostic] = []
    for index, item in enumerate(given):
        try:
            field, declared = _column(item)
        except LakebedError as error:
            problems += [_placed(d, item, index) for d in error.diagnostics]
            continue
        found.append(field)
        if declared is not None:
            logical.append(declared)
    if problems:
        raise ValidationError(*problems)
    extra = fields.extra if isinstance(fields, model.Schema) else model.Extra()
    return Columns(tuple(found), model.Schema(tuple(logical), extra) if logical or extra else None)


def to_data_type(value: AnyType) -> PhysicalType:
    """The physical type that a value of an accepted form means; a logical type becomes its carrier.

    Raises:
        TypeTextError: text or JSON that is no type.
        ConversionError: a logical type that the table format cannot carry, or a value of another kind.
    """
    if isinstance(value, str):
        return parse(_mini_name(value), allow_missing_ids=True)
    if isinstance(value, Mapping):
        return parse(value, allow_missing_ids=True)
    if isinstance(value, model.LogicalType):
        return _from_logical(model.Field("value", value)).type
    if isinstance(value, PhysicalType):
        return value
    raise ConversionError(
        _bad(f"{value!r} is not a type", "a logical type, a physical type, type text or a JSON object")
    )


def _column(item: AnyField) -> tuple[DataField, model.Field | None]:
    match item:
        case model.Field():
            _check_logical(item)
            return _from_logical(item), item
        case Field():
            return _from_parts(item.name, item.type, item.nullable)
        case DataField():
            return item, None
        case str():
            name, type_ = _split(item)
            return _from_parts(name, type_, True)
        case Mapping():
            return _from_json(item)
        case (name, type_):
            return _from_parts(name, type_, True)
        case (name, type_, nullable):
            return _from_parts(name, type_, nullable)
    raise ValidationError(
        _bad(f"{item!r} is not a column", "a Field, a logical field, a DataField, a JSON object, a tuple or text")
    )


def _from_parts(name: object, type_: AnyType, nullable: object) -> tuple[DataField, model.Field | None]:
    if not isinstance(name, str):
        raise ValidationError(_bad(f"the name of a column must be text, not {name!r}", "text"))
    if not isinstance(nullable, bool):
        raise ValidationError(_bad(f"nullable must be true or false, not {nullable!r}", "true or false"))
    if isinstance(type_, model.LogicalType):
        field = model.Field(name, type_ if nullable else model.required(type_))
        return _from_logical(field), field
    found = to_data_type(type_)
    return DataField(UNASSIGNED, name, with_nullability(found, found.nullable and nullable)), None


def _from_json(item: Mapping[str, Any]) -> tuple[DataField, model.Field | None]:
    reader = TypeReader(unknown="error", allow_missing_ids=True)
    shell = reader.field({**item, "type": "STRING"}, ())
    if "type" not in item:
        reader.problems.append(_bad("a column needs a type", "'type'"))
    if reader.problems:
        raise TypeTextError(*reader.problems)
    nullable = item.get("nullable")
    field, logical = _from_parts(shell.name, item["type"], True if nullable is None else nullable)
    if shell.id == UNASSIGNED and shell.description is None and shell.default_value is None:
        return field, logical
    return replace(shell, type=field.type), logical


def _check_logical(field: model.Field) -> None:
    """Raise `ValidationError` (LB3206) for a logical field that has another type than a logical one, at any level."""
    for path, part in fields_inside((field,)):
        name: object = part.name
        if not isinstance(name, str):
            raise ValidationError(_bad(f"the name of a column must be text, not {name!r}", "text"))
        others: tuple[object, ...] = tuple(types_inside(part.type))
        wrong = [str(t) for t in others if not isinstance(t, model.LogicalType)]
        if wrong:
            problem = _bad(f"{wrong[0]} is no logical type, which a logical field has", "a type of lakebed.model")
            remedy = "give lakebed.Field(name, type) or a tuple where the type is one of the table format"
            raise ValidationError(replace(problem, path=".".join(path), found=wrong[0], remedy=remedy))


def _from_logical(field: model.Field) -> DataField:
    from lakebed.convert.paimon import to_paimon

    (found,) = to_paimon(model.Schema((field,)))
    return _pinned(found, field)


def _pinned(field: DataField, logical: model.Field) -> DataField:
    """The field with the ids that `lakebed.dev/fieldId` pins, at every level."""
    (node,) = siblings((field,), (logical,))
    return replace(field, id=_pin(node, field.id), type=node.fold(_with_pins))


def _pin(node: Node, otherwise: int) -> int:
    pin = node.extra.get(FIELD_ID)
    return pin if isinstance(pin, int) and not isinstance(pin, bool) and pin >= 0 else otherwise


def _with_pins(node: Node, parts: tuple[PhysicalType, ...]) -> PhysicalType:
    """The type of the parts, its members with their pins, if it is a ROW."""
    type_ = with_children(node.stored, parts) if parts else node.stored
    if node.row is None or not isinstance(type_, Row):
        return type_
    members = zip(type_.fields, node.children(), strict=True)
    return replace(type_, fields=tuple(replace(member, id=_pin(child, member.id)) for member, child in members))


def _mini_name(text: str) -> str:
    """Mini Paimon says LONG where the table format says BIGINT."""
    first, _, rest = text.strip().partition(" ")
    return f"BIGINT {rest}" if first.upper() == "LONG" else text


def _split(text: str) -> tuple[str, str]:
    """Name and type text of `name TYPE`; a name with spaces stands in backticks."""
    stripped = text.strip()
    if stripped.startswith("`"):
        name, closed, rest = stripped[1:].partition("`")
        if closed and rest[:1].isspace():
            return name, rest.strip()
    else:
        name, _, rest = stripped.partition(" ")
        if rest.strip():
            return name, rest.strip()
    raise ValidationError(_bad(f"{text!r} is not a column", "a name, a space and a type"))


def _placed(problem: Diagnostic, item: AnyField, index: int) -> Diagnostic:
    """The diagnostic with the column's name, or its number, in front of its path."""
    match item:
        case Mapping():
            name = item.get("name")
        case (name, *_):
            pass
        case str():
            name = item.split(" ")[0]
        case _:
            name = getattr(item, "name", None)
    where = name if isinstance(name, str) and name else f"column {index + 1}"
    inside = problem.path or where
    if inside != where and not inside.startswith(f"{where}."):
        inside = f"{where}.{inside}"
    return replace(problem, path=inside)


def _bad(message: str, expected: str) -> Diagnostic:
    return Diagnostic(BAD_COLUMN, message, expected=expected)

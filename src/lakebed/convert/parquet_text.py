"""Convert the logical schema to the text of a Parquet schema (`message arrow_schema { ... }`)."""

from __future__ import annotations

from lakebed.convert.loss import Loss, LossReport
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError
from lakebed.model import Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.physical import path_text

_Path = tuple[str, ...]
_PRIMITIVE: dict[type[LogicalType], tuple[str, str]] = {
    logical.Bool: ("BOOLEAN", ""),
    logical.Int8: ("INT32", "INTEGER(8,true)"),
    logical.Int16: ("INT32", "INTEGER(16,true)"),
    logical.Int32: ("INT32", ""),
    logical.Int64: ("INT64", ""),
    logical.UInt8: ("INT32", "INTEGER(8,false)"),
    logical.UInt16: ("INT32", "INTEGER(16,false)"),
    logical.UInt32: ("INT32", "INTEGER(32,false)"),
    logical.UInt64: ("INT64", "INTEGER(64,false)"),
    logical.Float16: ("FIXED_LEN_BYTE_ARRAY (2)", "FLOAT16"),
    logical.Float32: ("FLOAT", ""),
    logical.Float64: ("DOUBLE", ""),
    logical.String: ("BYTE_ARRAY", "STRING"),
    logical.Date: ("INT32", "DATE"),
    logical.Null: ("INT32", "UNKNOWN"),
}
_UNITS = {TimeUnit.MILLISECOND: "MILLIS", TimeUnit.MICROSECOND: "MICROS", TimeUnit.NANOSECOND: "NANOS"}


def to_parquet_text(schema: Schema) -> tuple[str, LossReport]:
    """The Parquet schema in which a file would hold the columns, and what it does not say.

    Seconds are held in milliseconds, since Parquet has no coarser unit. Raises `ConversionError` for what no Parquet
    type can hold.
    """
    printer = _Printer()
    lines = [line for field in schema.fields for line in printer.field(field, (), 1)]
    if schema.extra:
        printer.losses.insert(0, Loss("", "the attributes of the schema: " + ", ".join(sorted(schema.extra))))
    if printer.problems:
        raise ConversionError(*printer.problems)
    return "\n".join(["message arrow_schema {", *lines, "}"]), LossReport(tuple(printer.losses))


class _Printer:
    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self.problems: list[Diagnostic] = []

    def field(self, field: Field, path: _Path, depth: int) -> list[str]:
        path = (*path, field.name)
        if field.extra:
            self.losses.append(Loss(path_text(path), "the attributes " + ", ".join(sorted(field.extra))))
        return self._lines(field.name, field.type, path, depth)

    def _lines(self, name: str, type_: LogicalType, path: _Path, depth: int) -> list[str]:
        own = required(type_)
        repetition = "OPTIONAL" if isinstance(type_, logical.Option) or own == logical.Null() else "REQUIRED"
        pad = "  " * depth
        match own:
            case logical.Struct():
                if not own.fields:
                    self._refuse(path, "Parquet has no group without members", "Struct without fields")
                inside = [line for member in own.fields for line in self.field(member, path, depth + 1)]
                return [f"{pad}{repetition} group {name} {{", *inside, f"{pad}}}"]
            case logical.List():
                if own.fixed_length is not None:
                    self.losses.append(Loss(path_text(path), f"the fixed length {own.fixed_length}"))
                inside = self._lines("element", own.item_type, (*path, "element"), depth + 2)
                return self._group(repetition, name, "LIST", "list", inside, pad)
            case logical.Map():
                return self._map(name, own, repetition, path, depth)
            case _:
                held, annotation = self._primitive(own, path)
                return [f"{pad}{repetition} {held} {name}{f' ({annotation})' if annotation else ''};"]

    def _map(self, name: str, own: logical.Map, repetition: str, path: _Path, depth: int) -> list[str]:
        if own.keys_sorted:
            self.losses.append(Loss(path_text(path), "that the keys are sorted"))
        if isinstance(own.key_type, logical.Option):
            self.losses.append(Loss(path_text((*path, "key")), "that a key may be null"))
        inside = self._lines("key", required(own.key_type), (*path, "key"), depth + 2)
        inside += self._lines("value", own.value_type, (*path, "value"), depth + 2)
        return self._group(repetition, name, "MAP", "key_value", inside, "  " * depth)

    @staticmethod
    def _group(repetition: str, name: str, kind: str, repeated: str, inside: list[str], pad: str) -> list[str]:
        head = [f"{pad}{repetition} group {name} ({kind}) {{", f"{pad}  REPEATED group {repeated} {{"]
        return [*head, *inside, f"{pad}  }}", f"{pad}}}"]

    def _primitive(self, type_: LogicalType, path: _Path) -> tuple[str, str]:
        match type_:
            case logical.Binary(fixed_length=None):
                return "BYTE_ARRAY", ""
            case logical.Binary():
                return f"FIXED_LEN_BYTE_ARRAY ({type_.fixed_length})", ""
            case logical.Decimal():
                return self._decimal(type_, path)
            case logical.Time():
                unit = self._unit(type_.effective_unit, path)
                return ("INT32" if unit == "MILLIS" else "INT64"), f"TIME({unit},false)"
            case logical.Timestamp():
                if type_.effective_timezone != logical.DEFAULT_ZONE:
                    self.losses.append(Loss(path_text(path), f"the zone {type_.effective_timezone}"))
                return "INT64", f"TIMESTAMP({self._unit(type_.effective_unit, path)},true)"
            case logical.Duration():
                self.losses.append(Loss(path_text(path), f"that it is a Duration in {type_.effective_unit}s"))
                return "INT64", ""
            case logical.Option():
                self._refuse(path, "an Option of an Option means nothing", "Option")
                return "INT32", ""
            case _:
                return _PRIMITIVE[type(type_)]

    def _decimal(self, type_: logical.Decimal, path: _Path) -> tuple[str, str]:
        if not 0 <= type_.scale <= type_.precision:
            self._refuse(path, "Parquet's decimals have a scale from 0 to the precision", f"scale {type_.scale}")
        annotation = f"DECIMAL({type_.precision},{type_.scale})"
        if type_.precision <= 9:
            return "INT32", annotation
        if type_.precision <= 18:
            return "INT64", annotation
        # The fewest bytes whose signed numbers have so many digits.
        bytes_ = ((10**type_.precision).bit_length() + 8) // 8
        return f"FIXED_LEN_BYTE_ARRAY ({bytes_})", annotation

    def _unit(self, unit: TimeUnit, path: _Path) -> str:
        if unit is TimeUnit.SECOND:
            self.losses.append(Loss(path_text(path), "the unit Second; Parquet's coarsest is the millisecond"))
            return "MILLIS"
        return _UNITS[unit]

    def _refuse(self, path: _Path, message: str, found: str) -> None:
        remedy = "leave the field out, or give it another type"
        self.problems.append(Diagnostic("LB2408", message, path=path_text(path), found=found, remedy=remedy))

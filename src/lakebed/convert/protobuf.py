"""Convert the logical schema to a Protobuf file (proto3) with a message for a row.

| logical type | Protobuf |
|---|---|
| Bool, Float32, Float64, String, Binary | bool, float, double, string, bytes |
| Int8 to Int32, Int64; UInt8 to UInt32, UInt64 | int32, int64; uint32, uint64 |
| Timestamp, Duration | google.protobuf.Timestamp, google.protobuf.Duration |
| Decimal, Date, Time | string, as `lakebed read --json` prints them |
| List, Map, Struct | repeated, map, a message; what those cannot hold is a message of its own |

The number of a field is its field id and one more, past 19000 to 19999, which Protobuf keeps for itself; numbers of
fields that were dropped are reserved, so that a table and its messages can evolve together. A field without an id gets
the number that comes next. Columns are called as they are in JSON (`json_name`), whatever Protobuf has to call them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.convert.avro import plain_name
from lakebed.convert.contract import Contract, refuse_broken
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.stated_type import stated_exactly
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.model.extra import DESCRIPTION, FIELD_ID
from lakebed.model.logical_tree import KEY, VALUE, Path, fields_inside, fold_at
from lakebed.model.type_name import type_name
from lakebed.physical import DataType, path_text
from lakebed.physical import paimon_types as physical

_TIMESTAMP, _DURATION, _NULL = (f"google.protobuf.{name}" for name in ("Timestamp", "Duration", "NullValue"))
_FILES = {
    _TIMESTAMP: "google/protobuf/timestamp.proto",
    _DURATION: "google/protobuf/duration.proto",
    _NULL: "google/protobuf/struct.proto",
}
_LEAVES: dict[type[LogicalType], str] = {
    logical.Bool: "bool",
    **dict.fromkeys((logical.Int8, logical.Int16, logical.Int32), "int32"),
    **dict.fromkeys((logical.UInt8, logical.UInt16, logical.UInt32), "uint32"),
    logical.Int64: "int64",
    logical.UInt64: "uint64",
    **dict.fromkeys((logical.Float16, logical.Float32), "float"),
    logical.Float64: "double",
    **dict.fromkeys((logical.String, logical.Decimal, logical.Date, logical.Time), "string"),
    logical.Binary: "bytes",
    logical.Timestamp: _TIMESTAMP,
    logical.Duration: _DURATION,
    logical.Null: _NULL,
}
#: The types that Protobuf's own say whole.
_WHOLE: tuple[LogicalType, ...] = (
    *(logical.Bool(), logical.Int32(), logical.Int64(), logical.UInt32(), logical.UInt64(), logical.Float32()),
    *(logical.Float64(), logical.String(), logical.Binary(), logical.Null()),
    *(logical.Timestamp(TimeUnit.NANOSECOND), logical.Duration(TimeUnit.NANOSECOND)),
)
_KEYS = ("bool", "int32", "int64", "uint32", "uint64", "string")
#: No text of Protobuf may hold these.
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Protobuf keeps these numbers for itself, and has none beyond the last.
_KEPT, _LAST = range(19000, 20000), 2**29 - 1


@dataclass(frozen=True, slots=True)
class _Part:
    """The type of a field as Protobuf says it, and the messages that have to be defined beside it."""

    text: str
    messages: tuple[tuple[str, ...], ...] = ()
    is_repeated: bool = False
    is_scalar: bool = False


def to_protobuf(declared: Schema | Contract) -> tuple[str, LossReport]:
    """The text of a `.proto` file, and what it does not say.

    Raises `ConversionError` for field ids beyond the numbers of Protobuf, and for what no form can say.
    """
    contract = Contract.of(declared)
    refuse_broken(contract)
    columns = contract.schema.fields
    space, _, name = (contract.name or "row").rpartition(".")
    writer = _Writer(contract)
    message = writer.new_name((name,))
    parts = tuple(fold_at(f.type, (f.name,), writer.write_type) for f in columns)
    lines = writer.message(message, columns, parts, ())
    if writer.problems:
        raise ConversionError(*writer.problems)
    head = ['syntax = "proto3";', ""]
    if space:
        head += [f"package {plain_name(space).lower()};", ""]
    files = [f'import "{file}";' for type_, file in sorted(_FILES.items()) if any(type_ in line for line in lines)]
    head += [*files, ""] if files else []
    losses = [*_losses_of_table(contract), *writer.losses]
    return "\n".join([*head, *_comment(contract.schema.extra), *lines]), LossReport(tuple(losses))


def number_of(field_id: int) -> int:
    """The number of the field with an id: one more, and past the numbers that Protobuf keeps for itself."""
    return field_id + 1 if field_id + 1 < _KEPT.start else field_id + 1 + len(_KEPT)


def _reserved(contract: Contract) -> list[int]:
    """The numbers of the fields that a table had, at any level."""
    present = {f.extra[FIELD_ID] for _, f in fields_inside(contract.schema.fields) if FIELD_ID in f.extra}
    return [number_of(id_) for id_ in range(contract.highest_field_id + 1) if id_ not in present]


def _losses_of_table(contract: Contract) -> list[Loss]:
    lost = []
    if contract.primary_keys:
        lost.append("the primary key " + ", ".join(contract.primary_keys))
    if contract.partition_keys:
        lost.append("the partition keys " + ", ".join(contract.partition_keys))
    if contract.options:
        lost.append("the options " + ", ".join(sorted(contract.options)))
    lost += [f"the attribute {key}" for key in sorted(contract.schema.extra) if key != DESCRIPTION]
    if any(not f.nullable for _, f in fields_inside(contract.schema.fields)):
        lost.append("which fields are never null: proto3 requires none")
    return [Loss("", what) for what in lost]


class _Writer:
    def __init__(self, contract: Contract) -> None:
        self.losses: list[Loss] = []
        self.problems: list[Diagnostic] = []
        self._exact: Mapping[Path, DataType] = stated_exactly(contract.schema)
        self._reserved = _reserved(contract)
        self._names = {plain_name(f.name) for _, f in fields_inside(contract.schema.fields)}

    def new_name(self, path: Path) -> str:
        """A name for a message, made of a path; nothing else in the file is called so."""
        words = (word for part in path for word in plain_name(part).split("_") if word)
        name = "".join(word[:1].upper() + word[1:] for word in words) or "Row"
        name = f"M{name}" if name[0].isdigit() else name
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def write_type(self, type_: LogicalType, path: Path, parts: tuple[_Part, ...]) -> _Part:
        match type_:
            case logical.Option():
                return parts[0]
            case logical.Struct():
                name = self.new_name(path)
                return _Part(name, (tuple(self.message(name, type_.fields, parts, path)),))
            case logical.List():
                self._lose(path, type_.fixed_length is not None, f"the fixed length {type_.fixed_length}")
                self._lose(path, isinstance(type_.item_type, logical.Option), "that items may be null")
                item = self._single(type_.item_type, parts[0], path)
                return replace(item, is_repeated=True, is_scalar=False)
            case logical.Map():
                return self._map(type_, path, parts)
            case _:
                is_wall_clock = isinstance(self._exact.get(path), physical.Timestamp)
                self._lose(path, type_ not in _WHOLE or is_wall_clock, f"that it is {type_name(type_)}")
                text = _LEAVES[type(type_)]
                return _Part(text, is_scalar="." not in text)

    def _map(self, type_: logical.Map, path: Path, parts: tuple[_Part, ...]) -> _Part:
        self._lose(path, bool(type_.keys_sorted), "that the keys are sorted")
        self._lose(path, isinstance(type_.key_type, logical.Option), "that keys may be null")
        self._lose(path, isinstance(type_.value_type, logical.Option), "that values may be null")
        key, value = parts[0], self._single(type_.value_type, parts[1], (*path, VALUE))
        if key.text in _KEYS and not key.is_repeated:
            return _Part(f"map<{key.text}, {value.text}>", value.messages, is_repeated=True)
        single = self._single(type_.key_type, key, (*path, KEY))
        name = self.new_name((*path, "entry"))
        members = (Field(KEY, required(type_.key_type)), Field(VALUE, required(type_.value_type)))
        lines = self.message(name, members, (single, value), (), checked=False)
        return _Part(name, (tuple(lines),), is_repeated=True)

    def _single(self, type_: LogicalType, part: _Part, path: Path) -> _Part:
        """The part, in a message of its own where it is repeated, which cannot stand in a list or a map."""
        if not part.is_repeated:
            return part
        name = self.new_name((*path, "items"))
        members = (Field("items", required(type_)),)
        return _Part(name, (tuple(self.message(name, members, (part,), (), checked=False)),))

    def message(
        self, name: str, members: Sequence[Field], parts: Sequence[_Part], path: Path, *, checked: bool = True
    ) -> list[str]:
        """The lines of a message, with those that its fields need inside. `checked` notes what its fields lose."""
        lines: list[str] = []
        if checked and not path and self._reserved:
            lines += [f"reserved {', '.join(_ranges(self._reserved))};", ""]
        for part in parts:
            for inner in part.messages:
                lines += [*inner, ""]
        names = _field_names([m.name for m in members])
        numbers = self._numbers(members, path)
        for member, part, called, number in zip(members, parts, names, numbers, strict=True):
            here = (*path, member.name)
            if checked:
                self._lose_of_field(member, part, here)
            label = "optional " if part.is_scalar and member.nullable else ""
            if part.is_repeated and not part.text.startswith("map<"):
                label = "repeated "
            lines += [
                *_comment(member.extra),
                f"{label}{part.text} {called} = {number}{self._json_name(member, here)};",
            ]
        return [f"message {name} {{", *(f"  {line}" if line else "" for line in lines), "}"]

    def _numbers(self, members: Sequence[Field], path: Path) -> list[int]:
        """The numbers of the fields of a message: by their ids, and for the others those that come next."""
        given = [number_of(m.extra[FIELD_ID]) if FIELD_ID in m.extra else None for m in members]
        last = max((n for n in (*given, *(self._reserved if not path else ())) if n is not None), default=0)
        made = []
        for member, number in zip(members, given, strict=True):
            if number is None:
                last += 1 if last + 1 not in _KEPT else len(_KEPT) + 1
                number = last
            if number > _LAST:
                message, remedy = f"Protobuf has no field number {number}", "leave the field out"
                where = path_text((*path, member.name))
                self.problems.append(Diagnostic("LB2601", message, path=where, found=str(number), remedy=remedy))
            made.append(number)
        return made

    def _json_name(self, member: Field, path: Path) -> str:
        """The option that keeps the name of a column, which Protobuf cannot have at every name."""
        if member.name[:1] == "[" or "\0" in member.name:
            self._lose(path, True, "its name")
            return ""
        return f" [json_name = {json.dumps(member.name, ensure_ascii=False)}]"

    def _lose_of_field(self, member: Field, part: _Part, path: Path) -> None:
        lost = sorted(member.extra.keys() - {DESCRIPTION, FIELD_ID})
        for key in lost:
            self._lose(path, True, f"the attribute {key}")
        self._lose(path, part.is_repeated and member.nullable, "that it may be null")

    def _lose(self, path: Path, is_lost: bool, what: str) -> None:
        if is_lost:
            self.losses.append(Loss(path_text(path), what))


def _comment(extra: Extra) -> list[str]:
    return [f"// {_CONTROL.sub(' ', line)}".rstrip() for line in (extra.description or "").splitlines()]


def _field_names(names: list[str]) -> list[str]:
    """Names that Protobuf allows, and that are not alike where it makes names of JSON from them either."""
    taken: set[str] = set()
    made = []
    for name in names:
        plain = plain_name(name)
        plain = plain if plain.strip("_") else f"x{plain}"
        while _camel(plain) in taken:
            plain += "x"
        taken.add(_camel(plain))
        made.append(plain)
    return made


def _camel(name: str) -> str:
    """What Protobuf calls a field in JSON where nothing else is said, without regard to case."""
    return name.replace("_", "").lower()


def _ranges(numbers: Iterable[int]) -> list[str]:
    """`2, 5 to 7`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [str(low) if low == high else f"{low} to {high}" for low, high in found]

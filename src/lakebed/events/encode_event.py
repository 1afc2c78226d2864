"""Encode the JSON values of a manifest as FlatBuffers, through the `flatbuffers` runtime.

The order of writes decides the bytes, and with them the hash: the children of a table are written in the order of its
slots, depth first, and then its slots in ascending order. That is the order of the reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from lakebed.diagnostics import near_names
from lakebed.errors import ConversionError
from lakebed.events import instant
from lakebed.events.buffer_cursor import MAX_DEPTH
from lakebed.events.flatbuffers_layout import DID, JSON, MULTIHASH, Form, Slot, Table, layout
from lakebed.events.multihash import DatasetId, Multihash
from lakebed.model import canonical_json

_RANGES = {
    "bool": (0, 1),
    "ubyte": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_ALIGNMENT = 4
_Child = int | tuple[int, int]


def encode(table: str, value: Mapping[str, Any], *, aligned: bool = True) -> bytes:
    """A buffer whose root is the table of this name. Raises `ConversionError` for what the layout cannot hold.

    Without `aligned`, instants are placed as writers of block version 2 did: without regard to alignment.
    """
    from flatbuffers import Builder

    builder = Builder(1024)
    builder.Finish(_Writer(builder, _ALIGNMENT if aligned else 1).table(layout().tables[table], value, 1))
    return bytes(builder.Output())


class _Writer:
    def __init__(self, builder: Any, alignment: int) -> None:
        self._builder = builder
        self._alignment = alignment
        self._numbers: dict[str, Callable[[int], None]] = {
            "bool": builder.PrependBool,
            "ubyte": builder.PrependUint8,
            "int16": builder.PrependInt16,
            "uint16": builder.PrependUint16,
            "int32": builder.PrependInt32,
            "uint32": builder.PrependUint32,
            "int64": builder.PrependInt64,
            "uint64": builder.PrependUint64,
        }

    def table(self, table: Table, value: Any, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise _cannot(f"it is nested more than {MAX_DEPTH} levels deep", table.name)
        values = {table.slots[0].name: value} if table.wrapper else value
        if not isinstance(values, Mapping):
            raise _cannot(f"{values!r:.60} is not a {table.name}", table.name)
        _refuse_unknown(table, values)
        given = [slot for slot in table.slots if values.get(slot.name) is not None]
        children = {slot.number: self._child(slot, values[slot.name], depth) for slot in given if _is_apart(slot)}
        self._builder.StartObject(table.slot_count)
        for slot in given:
            self._place(slot, values[slot.name], children.get(slot.number))
        offset: int = self._builder.EndObject()
        return offset

    def _child(self, slot: Slot, value: Any, depth: int) -> _Child:
        """What a slot only has the offset of; of a union, the tag and the offset."""
        match slot.form:
            case Form.STRING:
                return self._string(slot, canonical_json(value) if slot.mark == JSON else value)
            case Form.BYTES:
                return int(self._builder.CreateByteVector(_bytes(slot, value)))
            case Form.TABLE:
                return self.table(layout().tables[slot.type], value, depth + 1)
            case Form.UNION:
                return self._union(slot, value, depth)
            case Form.STRINGS:
                return self._vector([self._string(slot, item) for item in _listed(slot, value)])
            case Form.TABLES:
                inner = layout().tables[slot.type]
                return self._vector([self.table(inner, item, depth + 1) for item in _listed(slot, value)])
            case Form.SCALAR | Form.ENUM | Form.STRUCT:
                raise AssertionError(slot)
            case _:
                assert_never(slot.form)

    def _place(self, slot: Slot, value: Any, child: _Child | None) -> None:
        """Write the slot itself into the table that is open."""
        builder = self._builder
        match child:
            case (tag, offset):
                builder.PrependUint8Slot(slot.number, tag, 0)
                builder.PrependUOffsetTRelativeSlot(slot.number + 1, offset, 0)
            case int():
                builder.PrependUOffsetTRelativeSlot(slot.number, child, 0)
            case None if slot.form is Form.STRUCT:
                self._instant(slot, value)
            case None:
                self._scalar(slot, value)

    def _scalar(self, slot: Slot, value: Any) -> None:
        number, type_ = value, slot.type
        if slot.form is Form.ENUM:
            type_, values = layout().enums[slot.type]
            if value not in values:
                raise _cannot(f"{value!r:.60} is not a {slot.type}", slot.name, near_names(str(value), values))
            number = values.index(value)
        low, high = _RANGES[type_]
        if not isinstance(number, int) or not low <= number <= high:
            raise _cannot(f"{number!r:.60} is not between {low} and {high}", slot.name)
        if number != 0 or slot.optional:
            self._numbers[type_](number)
            self._builder.Slot(slot.number)

    def _instant(self, slot: Slot, value: Any) -> None:
        data = instant.pack(instant.parse(value) if isinstance(value, str) else value)
        self._builder.Prep(self._alignment, len(data))
        for byte in reversed(data):
            self._builder.PrependByte(byte)
        self._builder.Slot(slot.number)

    def _string(self, slot: Slot, value: Any) -> int:
        if not isinstance(value, str):
            raise _cannot(f"{value!r:.60} is not a text", slot.name)
        try:
            return int(self._builder.CreateString(value))
        except UnicodeEncodeError as error:
            raise _cannot(f"{value!r:.60} is not Unicode text", slot.name) from error

    def _union(self, slot: Slot, value: Any, depth: int) -> tuple[int, int]:
        kind = value.get("kind") if isinstance(value, Mapping) else None
        member = layout().tag(slot.type, kind) if isinstance(kind, str) else None
        if member is None:
            known = [name for name, _ in layout().unions[slot.type]]
            raise _cannot(f"{kind!r:.60} is not a kind of {slot.type}", slot.name, near_names(str(kind), known))
        tag, table = member
        return tag, self.table(table, {k: v for k, v in value.items() if k != "kind"}, depth + 1)

    def _vector(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())


def _is_apart(slot: Slot) -> bool:
    """Whether a slot has only the offset of its value."""
    return slot.form not in (Form.SCALAR, Form.ENUM, Form.STRUCT)


def _refuse_unknown(table: Table, values: Mapping[str, Any]) -> None:
    known = [slot.name for slot in table.slots]
    for name in values:
        if name not in known:
            raise _cannot(f"{table.name} has no property {name!r:.60}", table.name, near_names(str(name), known))


def _bytes(slot: Slot, value: Any) -> bytes:
    if isinstance(value, str) and slot.mark == MULTIHASH:
        return Multihash.parse(value).to_bytes()
    if isinstance(value, str) and slot.mark == DID:
        return DatasetId.parse(value).key
    if not isinstance(value, bytes):
        raise _cannot(f"{value!r:.60} is not bytes", slot.name)
    return value


def _listed(slot: Slot, value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise _cannot(f"{value!r:.60} is not a list", slot.name)
    return value


def _cannot(message: str, path: str, suggestions: tuple[str, ...] = ()) -> ConversionError:
    return ConversionError.of(
        "LB2510", f"this cannot be written as an event: {message}", path=path, suggestions=suggestions
    )

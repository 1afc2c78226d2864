"""Decode FlatBuffers into the JSON values of a manifest, through the checking cursor.

A table becomes a dict of its present slots, a union's table one with `kind` first, an `ExtraAttributes` the JSON value
of its text, a hash its text, a `Timestamp` struct RFC 3339. Bytes without a meaning of their own stay bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, assert_never

from lakebed.errors import CorruptMetadataError
from lakebed.events import instant
from lakebed.events.buffer_cursor import MAX_DEPTH, Cursor, TablePlace
from lakebed.events.flatbuffers_layout import DID, JSON, MULTIHASH, SCALARS, Form, Slot, Table, layout
from lakebed.events.json_text import parse_json
from lakebed.events.multihash import DatasetId, Multihash

#: What a newer writer may add to, without what is around it becoming unreadable.
_FIELD = "DataField"
_TYPE = "DataType"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something of a newer writer that was left out: a member of a union, or a value of an enum.

    `path` says where, as `schema.fields[3]` or, for a column, its name; `what` is such as `data type 25`. `column` is
    whether it is a field of a schema, left out with everything in it.
    """

    path: str
    what: str
    column: bool = False


class _UnknownError(Exception):
    """A part of a newer writer; caught by the nearest field, or by the slot that holds it."""


@dataclass(slots=True)
class Decoder:
    """Decodes tables of one buffer; `unknown` fills up with what was left out."""

    cursor: Cursor
    unknown: list[Unknown] = field(default_factory=list)
    _path: list[str] = field(default_factory=list)
    _columns: list[str] = field(default_factory=list)
    _depth: int = 0

    def root(self, name: str) -> dict[str, Any]:
        """The value of the buffer's root, which is a table of this name. Raises `CorruptMetadataError`."""
        value: dict[str, Any] = self._table(layout().tables[name], self.cursor.root())
        return value

    def _table(self, table: Table, place: TablePlace) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            message = f"tables are nested more than {MAX_DEPTH} levels deep"
            raise CorruptMetadataError.of("LB2505", message, path=self._where())
        out: dict[str, Any] = {}
        try:
            for slot in table.slots:
                with self._at(slot.name):
                    value = self._slot_or_unknown(table, slot, place)
                if value is not None:
                    out[slot.name] = value
        finally:
            self._depth -= 1
        if table.wrapper:
            return out.get(table.slots[0].name)
        return out

    def _slot_or_unknown(self, table: Table, slot: Slot, place: TablePlace) -> Any:
        try:
            return self._slot(slot, place)
        except _UnknownError as error:
            if slot.type == _TYPE or (self._columns and slot.form is Form.ENUM):
                raise
            self.unknown.append(Unknown(self._where(), str(error)))
            return None

    def _slot(self, slot: Slot, place: TablePlace) -> Any:
        match slot.form:
            case Form.SCALAR:
                return self._scalar(slot, slot.type, place)
            case Form.ENUM:
                return self._enum(slot, place)
            case Form.STRUCT:
                at = self.cursor.slot(place, slot.number, instant.STRUCT.size)
                return None if at is None else self._checked(lambda: _instant(self.cursor, at))
            case Form.UNION:
                return self._union(slot, place)
            case _:
                at = self.cursor.slot(place, slot.number, 4)
                return None if at is None else self._behind(slot, self.cursor.follow(at))

    def _behind(self, slot: Slot, at: int) -> Any:
        """The value that the offset of a slot leads to."""
        match slot.form:
            case Form.STRING:
                text = self.cursor.string(at)
                return self._checked(lambda: parse_json(text)) if slot.mark == JSON else text
            case Form.BYTES:
                return self._bytes(slot, self.cursor.bytes(at))
            case Form.TABLE:
                return self._table(layout().tables[slot.type], self.cursor.table(at))
            case Form.STRINGS:
                return [self.cursor.string(element) for element in self._elements(at)]
            case Form.TABLES:
                return self._tables(layout().tables[slot.type], at)
            case Form.SCALAR | Form.ENUM | Form.STRUCT | Form.UNION:
                raise AssertionError(slot)
            case _:
                assert_never(slot.form)

    def _elements(self, at: int) -> Iterator[int]:
        start, count = self.cursor.vector(at, 4)
        for number in range(count):
            yield self.cursor.follow(start + 4 * number)

    def _tables(self, table: Table, at: int) -> list[Any]:
        out = []
        for number, element in enumerate(self._elements(at)):
            with self._at(f"[{number}]"):
                place = self.cursor.table(element)
                value = self._field(table, place) if table.name == _FIELD else self._table(table, place)
            if value is not None:
                out.append(value)
        return out

    def _field(self, table: Table, place: TablePlace) -> Any:
        """A field; None, and noted, where its type has a part of a newer writer."""
        name = self._slot(table.slots[0], place)
        self._columns.append(name if name is not None else "?")
        try:
            return self._table(table, place)
        except _UnknownError as error:
            self.unknown.append(Unknown(".".join(self._columns), str(error), column=True))
            return None
        finally:
            self._columns.pop()

    def _scalar(self, slot: Slot, type_: str, place: TablePlace) -> Any:
        code = SCALARS[type_]
        at = self.cursor.slot(place, slot.number, _WIDTHS[type_])
        if at is None:
            return None if slot.optional else 0
        return self.cursor.scalar(code, at)

    def _enum(self, slot: Slot, place: TablePlace) -> str | None:
        base, values = layout().enums[slot.type]
        number: int | None = self._scalar(slot, base, place)
        if number is None:
            return None
        if not 0 <= number < len(values):
            raise _UnknownError(f"{_spaced(slot.type)} {number}")
        return values[number]

    def _union(self, slot: Slot, place: TablePlace) -> dict[str, Any] | None:
        tag_at = self.cursor.slot(place, slot.number, 1)
        at = self.cursor.slot(place, slot.number + 1, 4)
        tag = 0 if tag_at is None else self.cursor.scalar("<B", tag_at)
        if tag == 0 and at is None:
            return None
        if tag == 0 or at is None:
            raise self._missing(f"the {'kind' if tag == 0 else 'content'} of a {slot.type}")
        member = layout().member(slot.type, tag)
        if member is None:
            raise _UnknownError(f"{_spaced(slot.type)} {tag}")
        kind, table = member
        return {"kind": kind, **self._table(table, self.cursor.table(self.cursor.follow(at)))}

    def _bytes(self, slot: Slot, data: bytes) -> Any:
        match slot.mark:
            case str(mark) if mark == MULTIHASH:
                return str(self._checked(lambda: Multihash.from_bytes(data)))
            case str(mark) if mark == DID:
                return str(self._checked(lambda: DatasetId.from_bytes(data)))
            case _:
                return data

    def _missing(self, what: str) -> CorruptMetadataError:
        return CorruptMetadataError.of("LB2503", f"{what} is missing", path=self._where())

    def _checked(self, read: Any) -> Any:
        """What `read` gives; its error says where."""
        try:
            return read()
        except CorruptMetadataError as error:
            problem = error.diagnostics[0]
            message = f"{self._where()}: {problem.message}"
            raise CorruptMetadataError.of(
                problem.code, message, path=self._where(), expected=problem.expected, found=problem.found
            ) from error

    @contextmanager
    def _at(self, name: str) -> Iterator[None]:
        self._path.append(name)
        try:
            yield
        finally:
            self._path.pop()

    def _where(self) -> str:
        return ".".join(self._path).replace(".[", "[")


_WIDTHS = {"bool": 1, "ubyte": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}


def _instant(cursor: Cursor, at: int) -> str:
    return instant.text(instant.unpack(cursor.take(at, instant.STRUCT.size)))


def _spaced(name: str) -> str:
    """`DataType` as `data type`."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()

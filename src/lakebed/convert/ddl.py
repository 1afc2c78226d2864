"""Convert DDL column lists such as `a STRING, b INT NOT NULL` from and to the logical schema.

| DDL | logical type |
|---|---|
| BOOL, BOOLEAN | Bool |
| TINYINT, SMALLINT, BIGINT; each with UNSIGNED | Int8, Int16, Int64; UInt8, UInt16, UInt64 |
| INT, INTEGER, SIGNED; each with UNSIGNED, or UNSIGNED alone | Int32; UInt32 |
| FLOAT, DOUBLE | Float32, Float64 |
| DECIMAL(p, s), both numbers given | Decimal |
| DATE | Date |
| TIMESTAMP of any precision | Timestamp in milliseconds, UTC |
| STRING, VARCHAR, TEXT, CHAR | String; the lengths of CHAR(n) and VARCHAR(n) are kept as `paimon.apache.org/type` |
| BINARY, BYTES, VARBINARY; BINARY(n) | Binary; Binary of n bytes |
| ARRAY<T> | List |
| MAP<K, V> | Map; its keys are never null |
| STRUCT<a T, b: T NOT NULL>, ROW<...> | Struct |

A column or a member is an `Option` unless it is NOT NULL; the items of an ARRAY and the values of a MAP always are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.paimon import repeated_names
from lakebed.convert.stated_type import StatedType, list_of, map_of
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import ConversionError, TypeTextError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.model.extra import PAIMON_TYPE
from lakebed.physical import MAX_LENGTH, DataType, parse, path_text
from lakebed.physical import paimon_types as physical
from lakebed.physical.tokens import Token, TokenKind, position, tokens

_PLAIN: dict[str, LogicalType] = {
    "BOOL": logical.Bool(),
    "BOOLEAN": logical.Bool(),
    "TINYINT": logical.Int8(),
    "SMALLINT": logical.Int16(),
    "INT": logical.Int32(),
    "INTEGER": logical.Int32(),
    "SIGNED": logical.Int32(),
    "UNSIGNED": logical.UInt32(),
    "BIGINT": logical.Int64(),
    "FLOAT": logical.Float32(),
    "DOUBLE": logical.Float64(),
    "DATE": logical.Date(),
    "BYTES": logical.Binary(),
}
_UNSIGNED: dict[str, LogicalType] = {
    "TINYINT": logical.UInt8(),
    "SMALLINT": logical.UInt16(),
    "INT": logical.UInt32(),
    "INTEGER": logical.UInt32(),
    "BIGINT": logical.UInt64(),
}
_SIZED: dict[str, tuple[LogicalType, type[physical.Char | physical.VarChar | physical.VarBinary] | None]] = {
    "STRING": (logical.String(), None),
    "TEXT": (logical.String(), None),
    "CHAR": (logical.String(), physical.Char),
    "VARCHAR": (logical.String(), physical.VarChar),
    "VARBINARY": (logical.Binary(), physical.VarBinary),
}
_TYPES = (*_PLAIN, "DECIMAL", "TIMESTAMP", *_SIZED, "BINARY", "ARRAY", "MAP", "STRUCT", "ROW")
_PRINTED: dict[LogicalType, str] = {
    logical.Bool(): "BOOLEAN",
    logical.Int8(): "TINYINT",
    logical.UInt8(): "TINYINT UNSIGNED",
    logical.Int16(): "SMALLINT",
    logical.UInt16(): "SMALLINT UNSIGNED",
    logical.Int32(): "INT",
    logical.UInt32(): "INT UNSIGNED",
    logical.Int64(): "BIGINT",
    logical.UInt64(): "BIGINT UNSIGNED",
    logical.Float32(): "FLOAT",
    logical.Float64(): "DOUBLE",
    logical.Date(): "DATE",
    logical.String(): "STRING",
    logical.Binary(): "BINARY",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_DEPTH = 64

_Path = tuple[str, ...]


def from_ddl(columns: str | Iterable[str], *, required_dates: bool = False) -> tuple[Schema, LossReport]:
    """The schema of a column list, given as one text or as a list of texts that commas join, and what it leaves out.

    `required_dates` makes DATE and DECIMAL columns required although they are not NOT NULL, as kamu does. Raises
    `ConversionError` with the position of the first problem, or with all names that are there twice.
    """
    text = columns if isinstance(columns, str) else ", ".join(columns)
    parser = _Parser(text, required_dates)
    fields = parser.columns()
    repeated = repeated_names(fields)
    if repeated:
        raise ConversionError(*repeated)
    return Schema(fields), LossReport(tuple(parser.losses))


class _Parser:
    def __init__(self, text: str, required_dates: bool) -> None:
        self.losses: list[Loss] = []
        self._text = text
        self._required_dates = required_dates
        self._at = 0
        try:
            self._tokens = tokens(text, quotes="'`\"", punctuation="<>(),.:")
        except TypeTextError as error:
            raise ConversionError(*(replace(d, code="LB2201") for d in error.diagnostics)) from error

    def columns(self) -> tuple[Field, ...]:
        found = [self._column()]
        while self._accept_mark(","):
            found.append(self._column())
        token = self._peek()
        if token.kind is not TokenKind.END:
            remedy = "separate columns by commas; NOT NULL is the only column option"
            raise self._fail(token, f"nothing but NOT NULL may follow a type, found {token.text!r}", remedy=remedy)
        return tuple(found)

    def _column(self, parent: _Path = ()) -> Field:
        """A column, or a member of a STRUCT: its name, perhaps a colon, its type, and whether it can be null."""
        token = self._peek()
        quoted = token.kind is TokenKind.QUOTED and self._text[token.start] != "'"
        if token.kind is not TokenKind.WORD and not quoted:
            raise self._fail(token, f"a column name is expected, found {token.text or 'the end'!r}")
        self._at += 1
        self._accept_mark(":")
        parsed = self._type((*parent, token.text))
        if self._accept("NOT"):
            if not self._accept("NULL"):
                raise self._fail(self._peek(), "NULL is expected after NOT")
            return parsed.field(token.text)
        self._accept("NULL")
        return replace(parsed, type=self._optional(parsed.type)).field(token.text)

    def _optional(self, type_: LogicalType) -> LogicalType:
        stays = self._required_dates and isinstance(type_, logical.Date | logical.Decimal)
        return type_ if stays else logical.Option(type_)

    def _type(self, path: _Path) -> StatedType:
        """The type of a column, a member, an item, a key or a value; the path is as long as types are nested."""
        token = self._peek()
        word = token.keyword
        self._at += 1
        if word in _UNSIGNED and self._accept("UNSIGNED"):
            return StatedType(_UNSIGNED[word])
        if word in _PLAIN:
            if word == "DOUBLE":
                self._accept("PRECISION")
            return StatedType(_PLAIN[word])
        if word in _SIZED:
            return self._sized(token, *_SIZED[word])
        match word:
            case "DECIMAL":
                return StatedType(self._decimal(token))
            case "TIMESTAMP":
                return StatedType(self._timestamp(path))
            case "BINARY":
                return StatedType(logical.Binary(self._length(token)))
            case "ARRAY" if len(path) <= _MAX_DEPTH:
                return self._array(path)
            case "MAP" if len(path) <= _MAX_DEPTH:
                return self._map(path)
            case "STRUCT" | "ROW" if len(path) <= _MAX_DEPTH:
                return StatedType(self._struct(word, path))
        raise self._unsupported(token)

    def _sized(
        self,
        token: Token,
        type_: LogicalType,
        exact: type[physical.Char | physical.VarChar | physical.VarBinary] | None,
    ) -> StatedType:
        length = self._length(token)
        return StatedType(type_, None if exact is None or length is None else exact(length))

    def _length(self, token: Token) -> int | None:
        given = self._numbers()
        if not given:
            return None
        if len(given) > 1 or not 1 <= given[0] <= MAX_LENGTH:
            expected = f"one number from 1 to {MAX_LENGTH}"
            raise self._fail(token, f"{token.keyword} takes one length", expected=expected)
        return given[0]

    def _decimal(self, token: Token) -> LogicalType:
        given = self._numbers()
        if len(given) != 2:
            raise self._fail(token, "DECIMAL needs its precision and its scale", expected="DECIMAL(p, s)")
        return logical.Decimal(given[0], given[1])

    def _timestamp(self, path: _Path) -> LogicalType:
        given = self._numbers()
        if given not in ([], [logical.Timestamp().effective_unit.digits]):
            self.losses.append(Loss(path_text(path), f"the precision {', '.join(map(str, given))} of the TIMESTAMP"))
        return logical.Timestamp()

    def _array(self, path: _Path) -> StatedType:
        self._expect("<", "ARRAY needs the type of its items", "ARRAY<T>")
        item = self._type((*path, "element"))
        self._expect(">", "'>' is expected after the type of the items", ">")
        return list_of(replace(item, type=self._optional(item.type)))

    def _map(self, path: _Path) -> StatedType:
        self._expect("<", "MAP needs the types of its keys and values", "MAP<K, V>")
        key = self._type((*path, "key"))
        self._expect(",", "',' is expected after the type of the keys", ",")
        value = self._type((*path, "value"))
        self._expect(">", "'>' is expected after the type of the values", ">")
        return map_of(key, replace(value, type=self._optional(value.type)))

    def _struct(self, word: str, path: _Path) -> LogicalType:
        self._expect("<", f"{word} needs its members", f"{word}<name TYPE, ...>")
        members: list[Field] = []
        if not self._accept_mark(">"):
            members.append(self._column(path))
            while self._accept_mark(","):
                members.append(self._column(path))
            self._expect(">", "',' or '>' is expected after a member", ">")
        return logical.Struct(tuple(members))

    def _expect(self, mark: str, message: str, expected: str) -> None:
        if not self._accept_mark(mark):
            raise self._fail(self._peek(), message, expected=expected)

    def _numbers(self) -> list[int]:
        """The numbers in parentheses, none when there is no parenthesis."""
        found: list[int] = []
        if not self._accept_mark("("):
            return found
        while True:
            token = self._peek()
            if token.kind is not TokenKind.INTEGER or len(token.text) > 9:
                raise self._fail(token, f"a number is expected, found {token.text or 'the end'!r}")
            self._at += 1
            found.append(int(token.text))
            if not self._accept_mark(","):
                break
        if not self._accept_mark(")"):
            raise self._fail(self._peek(), "')' is expected", expected=")")
        return found

    def _unsupported(self, token: Token) -> ConversionError:
        return self._fail(
            token,
            f"{token.text or 'nothing'!r} is not a type of a DDL column list",
            code="LB2202",
            expected="one of " + ", ".join(_TYPES),
            found=token.text,
            remedy="declare the schema in a manifest, which knows all types",
            suggestions=near_names(token.text, _TYPES),
        )

    def _peek(self) -> Token:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _accept(self, word: str) -> bool:
        found = self._peek().keyword == word
        self._at += found
        return found

    def _accept_mark(self, mark: str) -> bool:
        token = self._peek()
        found = token.kind is TokenKind.PUNCTUATION and token.text == mark
        self._at += found
        return found

    def _fail(self, token: Token, message: str, *, code: str = "LB2201", **parts: Any) -> ConversionError:
        return ConversionError.of(code, message, position=position(self._text, token.start), **parts)


def to_ddl(schema: Schema) -> tuple[str, LossReport]:
    """The column list of a schema, and what it does not say.

    Raises `ConversionError` with all fields whose type a column list has no name for.
    """
    printer = _Printer()
    columns = [printer.column(field) for field in schema.fields]
    if schema.extra:
        printer.losses.insert(0, Loss("", "the attributes of the schema: " + ", ".join(sorted(schema.extra))))
    if printer.problems:
        raise ConversionError(*printer.problems)
    return ", ".join(columns), LossReport(tuple(printer.losses))


class _Printer:
    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self.problems: list[Diagnostic] = []

    def column(self, field: Field, parent: tuple[str, ...] = ()) -> str:
        """The text of a column or of a member of a STRUCT."""
        path = (*parent, field.name)
        name = field.name
        if not _PLAIN_NAME.fullmatch(name):
            name = '"' + name.replace('"', '""') + '"'
        at = len(self.losses)
        text = f"{name} {self._type(required(field.type), path, _said(field.extra))}"
        lost = sorted(key for key in field.extra if not (key == PAIMON_TYPE and self._says_hint(field, text)))
        if lost:
            self.losses.insert(at, Loss(path_text(path), "the attributes " + ", ".join(lost)))
        return text if field.nullable else f"{text} NOT NULL"

    def _says_hint(self, field: Field, text: str) -> bool:
        """Whether the text of the column leads back to its hint: the lengths of CHAR, VARCHAR and VARBINARY."""
        if self.problems:
            return False
        (again,) = from_ddl(text)[0].fields
        return _said(again.extra) == _said(field.extra)

    def _type(self, type_: LogicalType, path: tuple[str, ...], exact: DataType | None) -> str:
        if isinstance(exact, physical.Char | physical.VarChar | physical.VarBinary) and exact.length != MAX_LENGTH:
            return f"{exact.root}({exact.length})"
        if type_ in _PRINTED:
            return _PRINTED[type_]
        match type_:
            case logical.Decimal() if type_.scale >= 0:
                return f"DECIMAL({type_.precision}, {type_.scale})"
            case logical.Binary():
                return f"BINARY({type_.fixed_length})"
            case logical.Timestamp():
                return self._timestamp(type_, path)
            case logical.List():
                return self._list(type_, path, exact)
            case logical.Map():
                return self._map(type_, path, exact)
            case logical.Struct():
                return f"STRUCT<{', '.join(self.column(member, path) for member in type_.fields)}>"
            case _:
                message = f"a DDL column list has no type for {type_.kind}"
                remedy = "print the schema as YAML or JSON"
                where = path_text(path)
                self.problems.append(Diagnostic("LB2203", message, path=where, found=type_.kind, remedy=remedy))
                return type_.kind

    def _timestamp(self, type_: logical.Timestamp, path: tuple[str, ...]) -> str:
        unit = type_.effective_unit
        if type_ != logical.Timestamp():
            self._lose(path, f"the unit {unit} and the zone {type_.effective_timezone}")
        return "TIMESTAMP" if unit is TimeUnit.MILLISECOND else f"TIMESTAMP({unit.digits})"

    def _list(self, type_: logical.List, path: tuple[str, ...], exact: DataType | None) -> str:
        if type_.fixed_length is not None:
            self._lose(path, f"the fixed length {type_.fixed_length}")
        if not isinstance(type_.item_type, logical.Option):
            self._lose(path, "that items are never null")
        item = exact.element if isinstance(exact, physical.Array | physical.Vector) else None
        return f"ARRAY<{self._type(required(type_.item_type), (*path, 'element'), item)}>"

    def _map(self, type_: logical.Map, path: tuple[str, ...], exact: DataType | None) -> str:
        if isinstance(type_.key_type, logical.Option):
            self._lose(path, "that keys may be null")
        if not isinstance(type_.value_type, logical.Option):
            self._lose(path, "that values are never null")
        if type_.keys_sorted is not None:
            self._lose(path, f"that keys are {'' if type_.keys_sorted else 'not '}sorted")
        keys, values = (exact.key, exact.value) if isinstance(exact, physical.Map) else (None, None)
        key = self._type(required(type_.key_type), (*path, "key"), keys)
        return f"MAP<{key}, {self._type(required(type_.value_type), (*path, 'value'), values)}>"

    def _lose(self, path: tuple[str, ...], what: str) -> None:
        self.losses.append(Loss(path_text(path), what))


def _said(extra: Extra) -> DataType | None:
    """The Paimon type that the hint of a field says."""
    said = extra.get(PAIMON_TYPE)
    return None if said is None else parse(said, unknown="keep", allow_missing_ids=True)

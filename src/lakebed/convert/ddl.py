"""DDL column lists <-> logical schema: `a STRING, b INT NOT NULL` (the older way of Open Data Fabric's sources).

| DDL | logical type |
|---|---|
| BOOL, BOOLEAN | Bool |
| INT, INTEGER, SIGNED; each with UNSIGNED, or UNSIGNED alone | Int32; UInt32 |
| BIGINT; BIGINT UNSIGNED | Int64; UInt64 |
| FLOAT, DOUBLE | Float32, Float64 |
| DECIMAL(p, s), both numbers given | Decimal |
| DATE | Date |
| TIMESTAMP of any precision | Timestamp in milliseconds, UTC |
| STRING, VARCHAR, TEXT, also with a size | String |
| ARRAY<T> | List |

A column is an `Option` unless it is NOT NULL, and the items of an ARRAY always are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lakebed.convert.loss import Loss, LossReport
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import ConversionError, TypeTextError
from lakebed.model import Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.physical import path_text
from lakebed.physical.tokens import Kind, Token, position, tokens

_PLAIN: dict[str, LogicalType] = {
    "BOOL": logical.Bool(),
    "BOOLEAN": logical.Bool(),
    "INT": logical.Int32(),
    "INTEGER": logical.Int32(),
    "SIGNED": logical.Int32(),
    "UNSIGNED": logical.UInt32(),
    "BIGINT": logical.Int64(),
    "FLOAT": logical.Float32(),
    "DOUBLE": logical.Float64(),
    "DATE": logical.Date(),
}
_UNSIGNED: dict[str, LogicalType] = {
    "INT": logical.UInt32(),
    "INTEGER": logical.UInt32(),
    "BIGINT": logical.UInt64(),
}
_TEXT = ("STRING", "VARCHAR", "TEXT")
_TYPES = (*_PLAIN, "DECIMAL", "TIMESTAMP", *_TEXT, "ARRAY")
_PRINTED: dict[LogicalType, str] = {
    logical.Bool(): "BOOLEAN",
    logical.Int32(): "INT",
    logical.UInt32(): "INT UNSIGNED",
    logical.Int64(): "BIGINT",
    logical.UInt64(): "BIGINT UNSIGNED",
    logical.Float32(): "FLOAT",
    logical.Float64(): "DOUBLE",
    logical.Date(): "DATE",
    logical.String(): "STRING",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_DEPTH = 64


def parse_ddl(columns: str | Iterable[str], *, required_dates: bool = False) -> Schema:
    """The schema of a column list, given as one text or as a list of texts that commas join.

    `required_dates` makes DATE and DECIMAL columns required although they are not NOT NULL, as kamu does. Raises
    `ConversionError` with the position of the first problem.
    """
    text = columns if isinstance(columns, str) else ", ".join(columns)
    return Schema(_Parser(text, required_dates).columns())


class _Parser:
    def __init__(self, text: str, required_dates: bool) -> None:
        self._text = text
        self._required_dates = required_dates
        self._at = 0
        try:
            self._tokens = tokens(text, quotes="'`\"")
        except TypeTextError as error:
            raise ConversionError(*(replace(d, code="LB2201") for d in error.diagnostics)) from error

    def columns(self) -> tuple[Field, ...]:
        found = [self._column()]
        while self._accept_mark(","):
            found.append(self._column())
        token = self._peek()
        if token.kind is not Kind.END:
            remedy = "separate columns by commas; NOT NULL is the only column option"
            raise self._fail(token, f"nothing but NOT NULL may follow a type, found {token.text!r}", remedy=remedy)
        return tuple(found)

    def _column(self) -> Field:
        token = self._peek()
        quoted = token.kind is Kind.QUOTED and self._text[token.start] != "'"
        if token.kind is not Kind.WORD and not quoted:
            raise self._fail(token, f"a column name is expected, found {token.text or 'the end'!r}")
        self._at += 1
        type_ = self._type()
        if self._accept("NOT"):
            if not self._accept("NULL"):
                raise self._fail(self._peek(), "NULL is expected after NOT")
            return Field(token.text, type_)
        self._accept("NULL")
        stays = self._required_dates and isinstance(type_, logical.Date | logical.Decimal)
        return Field(token.text, type_ if stays else logical.Option(type_))

    def _type(self, depth: int = 0) -> LogicalType:
        token = self._peek()
        word = token.keyword
        self._at += 1
        if word in _UNSIGNED and self._accept("UNSIGNED"):
            return _UNSIGNED[word]
        if word in _PLAIN:
            if word == "DOUBLE":
                self._accept("PRECISION")
            return _PLAIN[word]
        if word in _TEXT:
            self._numbers()
            return logical.String()
        match word:
            case "DECIMAL":
                return self._decimal(token)
            case "TIMESTAMP":
                self._numbers()
                return logical.Timestamp()
            case "ARRAY" if depth < _MAX_DEPTH:
                return self._array(depth)
        raise self._unsupported(token)

    def _decimal(self, token: Token) -> LogicalType:
        given = self._numbers()
        if len(given) != 2:
            raise self._fail(token, "DECIMAL needs its precision and its scale", expected="DECIMAL(p, s)")
        return logical.Decimal(given[0], given[1])

    def _array(self, depth: int) -> LogicalType:
        if not self._accept_mark("<"):
            raise self._fail(self._peek(), "ARRAY needs the type of its items", expected="ARRAY<T>")
        item = self._type(depth + 1)
        if not self._accept_mark(">"):
            raise self._fail(self._peek(), "'>' is expected after the type of the items", expected=">")
        stays = self._required_dates and isinstance(item, logical.Date | logical.Decimal)
        return logical.List(item if stays else logical.Option(item))

    def _numbers(self) -> list[int]:
        """The numbers in parentheses, none when there is no parenthesis."""
        found: list[int] = []
        if not self._accept_mark("("):
            return found
        while True:
            token = self._peek()
            if token.kind is not Kind.INTEGER or len(token.text) > 9:
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
        found = token.kind is Kind.PUNCTUATION and token.text == mark
        self._at += found
        return found

    def _fail(self, token: Token, message: str, *, code: str = "LB2201", **parts: Any) -> ConversionError:
        return ConversionError(Diagnostic(code, message, position=position(self._text, token.start), **parts))


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

    def column(self, field: Field) -> str:
        path = path_text((field.name,))
        if field.extra:
            self.losses.append(Loss(path, "the attributes " + ", ".join(sorted(field.extra))))
        name = field.name
        if not _PLAIN_NAME.fullmatch(name):
            name = '"' + name.replace('"', '""') + '"'
        text = self._type(required(field.type), path)
        return f"{name} {text}" if field.nullable else f"{name} {text} NOT NULL"

    def _type(self, type_: LogicalType, path: str) -> str:
        if type_ in _PRINTED:
            return _PRINTED[type_]
        match type_:
            case logical.Decimal() if type_.scale >= 0:
                return f"DECIMAL({type_.precision}, {type_.scale})"
            case logical.Timestamp():
                if type_ != logical.Timestamp():
                    self.losses.append(
                        Loss(path, f"the unit {type_.effective_unit} and the zone {type_.effective_timezone}")
                    )
                return "TIMESTAMP" if type_.effective_unit is TimeUnit.MILLISECOND else _timestamp_text(type_)
            case logical.List():
                if type_.fixed_length is not None:
                    self.losses.append(Loss(path, f"the fixed length {type_.fixed_length}"))
                if not isinstance(type_.item_type, logical.Option):
                    self.losses.append(Loss(path, "that items are never null"))
                return f"ARRAY<{self._type(required(type_.item_type), path)}>"
            case _:
                message = f"a DDL column list has no type for {type_.kind}"
                remedy = "print the schema as YAML or JSON"
                self.problems.append(Diagnostic("LB2203", message, path=path, found=type_.kind, remedy=remedy))
                return type_.kind


def _timestamp_text(type_: logical.Timestamp) -> str:
    return f"TIMESTAMP({type_.effective_unit.digits})"

"""Parse the text of a data type such as `DECIMAL(10, 2) NOT NULL`, keeping positions for errors.

    type        := base nullability [("ARRAY" | "MULTISET") nullability]
    nullability := "NOT" "NULL" | "NULL" | nothing (then nullable)

Keywords ignore case, white space between tokens is free, and all of the text must be used up. Nested types other than
`VECTOR<element, n>` and the suffix forms have no text form; they are JSON objects (`lakebed.physical.json_form`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from lakebed.diagnostics import near_names
from lakebed.errors import TypeTextError, UnknownTypeError
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    Array,
    BigInt,
    Binary,
    Blob,
    Boolean,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Geography,
    Geometry,
    Int,
    LocalZonedTimestamp,
    Multiset,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
    Variant,
    Vector,
    with_nullability,
)
from lakebed.physical.tokens import Token, TokenKind, failure, tokens

MAX_DECIMAL_PRECISION = 38
MAX_TIME_PRECISION = 9
ALGORITHMS = ("spherical", "vincenty", "thomas", "andoyer", "karney")
VECTOR_ELEMENTS = (Boolean, TinyInt, SmallInt, Int, BigInt, Float, Double)

_SIMPLE: dict[str, Callable[[], DataType]] = {
    "BOOLEAN": Boolean,
    "TINYINT": TinyInt,
    "SMALLINT": SmallInt,
    "INT": Int,
    "INTEGER": Int,
    "BIGINT": BigInt,
    "FLOAT": Float,
    "DATE": Date,
    "VARIANT": Variant,
    "BLOB": Blob,
    "STRING": VarChar,
    "BYTES": VarBinary,
}
_SIZED: dict[str, Callable[[int], DataType]] = {
    "CHAR": Char,
    "VARCHAR": VarChar,
    "BINARY": Binary,
    "VARBINARY": VarBinary,
}
_OTHER = (
    *("DOUBLE", "DECIMAL", "NUMERIC", "DEC", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"),
    *("GEOMETRY", "GEOGRAPHY", "VECTOR"),
)
_VECTOR_WORDS = (*(e.root for e in VECTOR_ELEMENTS), "INTEGER")
_OBJECT_ONLY = ("ARRAY", "MAP", "MULTISET", "ROW")
KEYWORDS: tuple[str, ...] = (*_SIMPLE, *_SIZED, *_OTHER)


@lru_cache(maxsize=1024)
def parse_text(text: str) -> DataType:
    """The type that `text` says.

    Raises `TypeTextError` with the position of the first problem, `UnknownTypeError` when the text begins with a word
    that is no type of this version.
    """
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0

    def whole(self) -> DataType:
        type_ = self._type()
        rest = self._peek()
        if rest.kind is not TokenKind.END:
            raise self._fail(
                rest,
                "LB2001",
                f"nothing may follow the type here, found {rest.text!r}",
                expected="end",
                found=rest.text,
            )
        return type_

    def _type(self) -> DataType:
        type_ = self._nullability(self._base())
        if self._accept("ARRAY"):
            return self._nullability(Array(type_))
        if self._accept("MULTISET"):
            return self._nullability(Multiset(type_))
        return type_

    def _nullability(self, type_: DataType) -> DataType:
        if self._accept("NOT"):
            self._expect_word("NULL")
            return with_nullability(type_, False)
        self._accept("NULL")
        return type_

    def _base(self) -> DataType:
        token = self._peek()
        if token.kind is not TokenKind.WORD:
            found = token.text or "nothing"
            raise self._fail(token, "LB2001", f"a type name is expected, found {found!r}", expected="a type name")
        self._at += 1
        word = token.keyword
        if word in _SIMPLE:
            return _SIMPLE[word]()
        if word in _SIZED:
            lengths = self._parameters(token, ("length", 1, MAX_LENGTH))
            return _SIZED[word](lengths[0] if lengths else 1)
        match word:
            case "DOUBLE":
                self._accept("PRECISION")
                return Double()
            case "DECIMAL" | "NUMERIC" | "DEC":
                return self._decimal(token)
            case "TIME":
                precision = self._precision(token, default=0)
                self._without_zone()
                return Time(precision)
            case "TIMESTAMP":
                return self._timestamp(token)
            case "TIMESTAMP_LTZ":
                return LocalZonedTimestamp(self._precision(token, default=6))
            case "GEOMETRY" | "GEOGRAPHY":
                return self._geospatial(word)
            case "VECTOR":
                return self._vector()
        raise self._not_a_type(token)

    def _not_a_type(self, token: Token) -> TypeTextError:
        word = token.keyword
        if word in _OBJECT_ONLY:
            return self._fail(
                token,
                "LB2004",
                f"{word} has no text form",
                expected="a JSON object",
                found=token.text,
                remedy='write it as a JSON object, for example {"type":"ARRAY","element":"INT"}',
            )
        return self._fail(
            token,
            "LB2002",
            f"{token.text!r} is not a data type",
            expected="a Paimon data type",
            found=token.text,
            suggestions=near_names(word, KEYWORDS),
            error=UnknownTypeError,
        )

    def _decimal(self, keyword: Token) -> Decimal:
        start = self._at
        given = self._parameters(
            keyword,
            ("precision", 1, MAX_DECIMAL_PRECISION),
            ("scale", 0, MAX_DECIMAL_PRECISION),
        )
        precision, scale = given[0] if given else 10, given[1] if len(given) > 1 else 0
        if scale > precision:
            token = self._tokens[start + 3]
            raise self._fail(
                token,
                "LB2003",
                f"the scale {scale} is larger than the precision {precision}",
                expected=f"a scale from 0 to {precision}",
                found=str(scale),
            )
        return Decimal(precision, scale)

    def _timestamp(self, keyword: Token) -> DataType:
        precision = self._precision(keyword, default=6)
        if self._without_zone():
            return Timestamp(precision)
        # A WITH that nothing follows is read as if it were not there, as the reference does.
        if self._accept("WITH") and self._accept("LOCAL"):
            self._expect_word("TIME")
            self._expect_word("ZONE")
            return LocalZonedTimestamp(precision)
        return Timestamp(precision)

    def _without_zone(self) -> bool:
        if not self._accept("WITHOUT"):
            return False
        self._expect_word("TIME")
        self._expect_word("ZONE")
        return True

    def _geospatial(self, word: str) -> DataType:
        crs, algorithm = "OGC:CRS84", "spherical"
        if self._accept_mark("("):
            crs = self._crs()
            if word == "GEOGRAPHY" and self._accept_mark(","):
                algorithm = self._algorithm()
            self._expect_mark(")")
        return Geometry(crs) if word == "GEOMETRY" else Geography(crs, algorithm)

    def _crs(self) -> str:
        token = self._peek()
        if token.kind not in (TokenKind.WORD, TokenKind.QUOTED) or not token.text:
            raise self._fail(
                token,
                "LB2003",
                "a coordinate reference system is expected",
                expected="a name such as OGC:CRS84, in single quotes if it begins with a digit",
                found=token.text,
            )
        self._at += 1
        return token.text

    def _algorithm(self) -> str:
        token = self._peek()
        name = token.text.lower()
        if token.kind not in (TokenKind.WORD, TokenKind.QUOTED) or name not in ALGORITHMS:
            raise self._fail(
                token,
                "LB2003",
                f"{token.text!r} is not an edge algorithm",
                expected="one of " + ", ".join(ALGORITHMS),
                found=token.text,
                suggestions=near_names(name, ALGORITHMS),
            )
        self._at += 1
        return name

    def _vector(self) -> Vector:
        self._expect_mark("<")
        start = self._peek()
        if start.keyword not in _VECTOR_WORDS:
            raise self._fail(
                start,
                "LB2003",
                f"a VECTOR cannot hold {start.text or 'nothing'!r}",
                expected="one of " + ", ".join(e.root for e in VECTOR_ELEMENTS),
                found=start.text,
            )
        element = self._nullability(self._base())
        self._expect_mark(",")
        length = self._integer("length", 1, MAX_LENGTH)
        self._expect_mark(">")
        return Vector(element, length)

    def _precision(self, keyword: Token, default: int) -> int:
        given = self._parameters(keyword, ("precision", 0, MAX_TIME_PRECISION))
        return given[0] if given else default

    def _parameters(self, keyword: Token, *limits: tuple[str, int, int]) -> list[int]:
        """The integers in parentheses, at most one for each of `limits`; empty when no parenthesis follows."""
        if not self._accept_mark("("):
            return []
        values = [self._integer(*limits[0])]
        while self._accept_mark(","):
            if len(values) == len(limits):
                raise self._fail(
                    self._peek(),
                    "LB2001",
                    f"{keyword.text.upper()} takes at most {len(limits)} parameter(s)",
                    expected=")",
                    found=",",
                )
            values.append(self._integer(*limits[len(values)]))
        self._expect_mark(")")
        return values

    def _integer(self, what: str, low: int, high: int) -> int:
        token = self._peek()
        if token.kind is not TokenKind.INTEGER:
            raise self._fail(
                token,
                "LB2001",
                f"the {what} must be a whole number, found {token.text or 'nothing'!r}",
                expected=f"a whole number from {low} to {high}",
                found=token.text,
            )
        digits = token.text.lstrip("0") or "0"
        if len(digits) > 10 or not low <= int(digits) <= high:
            raise self._fail(
                token,
                "LB2003",
                f"the {what} {token.text[:20]} is out of range",
                expected=f"a whole number from {low} to {high}",
                found=token.text[:20],
            )
        self._at += 1
        return int(digits)

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _accept(self, word: str) -> bool:
        token = self._peek()
        if token.keyword == word:
            self._at += 1
            return True
        return False

    def _accept_mark(self, mark: str) -> bool:
        token = self._peek()
        if token.kind is TokenKind.PUNCTUATION and token.text == mark:
            self._at += 1
            return True
        return False

    def _expect_word(self, word: str) -> None:
        if not self._accept(word):
            self._missing(word)

    def _expect_mark(self, mark: str) -> None:
        if not self._accept_mark(mark):
            self._missing(mark)

    def _missing(self, wanted: str) -> None:
        token = self._peek()
        found = token.text or "the end"
        raise self._fail(token, "LB2001", f"{wanted!r} is expected, found {found!r}", expected=wanted, found=token.text)

    def _fail(self, token: Token, code: str, message: str, **parts: Any) -> TypeTextError:
        return failure(self._text, token.start, code, message, **parts)

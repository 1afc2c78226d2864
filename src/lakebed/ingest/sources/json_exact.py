"""Keep values of JSON texts as they are written, where Spark's VARIANT does not.

A VARIANT keeps numbers as whole numbers, decimals or doubles and objects with sorted keys, so that `1.10`, `1e400` and
`{"b": 1, "a": 2}` come out as other characters. Where that could matter to the declared type, the JSON text is written
again with such values as strings, from what stands in the text, and only then parsed. Texts are taken apart by
patterns, as Spark's own expressions; what is nested deeper than `DEPTH` they do not take apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeAlias, assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.ingest.sources.json_values import (
    COMMENT,
    COMMENTS,
    allows_comments,
    parse_cell,
    parse_line,
    record,
    whole_value,
    without_comments,
)
from lakebed.physical.paimon_tree import fold
from lakebed.physical.paimon_types import (
    Array,
    BigInt,
    Binary,
    Blob,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    Map,
    Row,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
)
from lakebed.spark.bind_value import bind_value

TOO_DEEP = "LB6210"

#: How deep a value may be nested that has to be taken apart.
DEPTH = 32

_ZERO = r"^0(?:\.0*+)?$"
#: Numbers that a VARIANT does not keep, or not as numbers: signed zeros, too many digits, great exponents.
_LOSSY = (
    r"(?:-0(?:\.0*+)?(?:[eE][-+]?[0-9]++)?(?![0-9.eE])|-?[0-9][0-9.]{38,}+|-?[0-9][0-9.]{14,}+[eE]"
    r"|-?[0-9][0-9.]*+[eE][-+]?[0-9]{3,})"
)
#: Where a value may begin.
_AFTER_MARK = r"(?<=[\[:,\s/])"
#: With what a text begins in JSON that may be something else than a string: a number, an object, a list.
_DOUBTFUL_STARTS = ("-", *"0123456789", "I", "N", "{", "[")


@dataclass(frozen=True, slots=True)
class AsParsed:
    """A value that a VARIANT keeps well enough."""


@dataclass(frozen=True, slots=True)
class AsWritten:
    """A value whose characters count: text (`is_text`), or a number, with `point` for its point."""

    is_text: bool
    point: str = "."


@dataclass(frozen=True, slots=True)
class Members:
    """An object with members of which some are not `AsParsed`; the others are not named."""

    members: tuple[tuple[str, Wanted], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list of such values."""

    item: Wanted


@dataclass(frozen=True, slots=True)
class Values:
    """An object whose keys are data."""

    value: Wanted


_WRITTEN_AS_TEXT = (Char, VarChar, Binary, VarBinary, Blob, Date, Time, Timestamp, LocalZonedTimestamp)
#: What of a JSON value has to be kept as it is written.
Wanted: TypeAlias = AsParsed | AsWritten | Members | Items | Values


def wanted(type_: DataType, point: str = ".") -> Wanted:
    """What of a value has to be kept as it is written for this type; `point` is how strings write that of a number."""

    def kept(part: DataType, inner: tuple[Wanted, ...]) -> Wanted:
        match part:
            case _ if isinstance(part, _WRITTEN_AS_TEXT):
                # Also a number may be a day by the pattern of the source: 2024.10.
                return AsWritten(is_text=True)
            case TinyInt() | SmallInt() | Int() | BigInt() | Decimal() | Float() | Double():
                return AsWritten(is_text=False, point=point)
            case Row():
                return _members_wanted([f.name for f in part.fields], inner)
            case Array() if not isinstance(inner[0], AsParsed):
                return Items(inner[0])
            case Map() if not isinstance(inner[1], AsParsed):
                return Values(inner[1])
            case _:
                return AsParsed()

    return fold(type_, kept)


def members_wanted(types: Sequence[tuple[str, DataType]], point: str = ".") -> Wanted:
    """What has to be kept of an object with members of these types."""
    return _members_wanted([name for name, _ in types], [wanted(type_, point) for _, type_ in types])


def _members_wanted(names: Sequence[str], inner: Sequence[Wanted]) -> Wanted:
    found = tuple((n, part) for n, part in zip(names, inner, strict=True) if not isinstance(part, AsParsed))
    return Members(found) if found else AsParsed()


class _Grammar:
    """Patterns of the parts of JSON, as the reader's `options` allow it to be written. They never go back."""

    def __init__(self, options: Mapping[str, str]) -> None:
        allowed = {name for name, value in options.items() if value.lower() == "true"}
        quotes = "\"'" if "allowsinglequotes" in allowed else '"'
        comments = f"|{COMMENT}" if allows_comments(options) else ""
        slash = "/" if comments else ""
        self.quotes = tuple(quotes)
        self.string = "(?:" + "|".join(rf"{q}(?:[^{q}\\]++|\\.)*+{q}" for q in quotes) + ")"
        bare = rf"|[^\s,:\[\]{{}}{quotes}{slash}]++"
        self.key = f"(?:{self.string}{bare})" if "allowunquotedfieldnames" in allowed else self.string
        self.blank = rf"(?:\s++{comments})*+"
        # Without a way on where a comment does not end: each further mark would be looked for to the end again.
        inner = rf"[^\[\]{{}}{quotes}{slash}]++|{self.string}{comments}"
        nested = rf"[\[{{](?:{inner})*+[\]}}]"
        for _ in range(DEPTH):
            nested = rf"[\[{{](?:{inner}|{nested})*+[\]}}]"
        self.value = rf"(?:{self.string}|{nested}|[^\s,:\[\]{{}}{quotes}{slash}]++)"
        self.between = rf"(?s)\G(?:[\s,]++{comments})*+"
        self.allowed = allowed


def in_doubt(text: Column, want: Wanted, options: Mapping[str, str]) -> Column:
    """Whether a JSON text may have parts that a VARIANT does not keep as `want` asks for; true too often at most.

    Members are looked for by their names, wherever they stand.
    """
    if isinstance(want, AsParsed):
        return F.lit(False)
    if allows_comments(options):
        # From each mark of a comment that does not end, a pattern would look for its end anew.
        text = without_comments(text, options)
        options = {name: value for name, value in options.items() if name != COMMENTS}
    grammar = _Grammar(options)
    blank, quotes = grammar.blank, "".join(grammar.quotes)
    patterns = [rf"[{{,]{blank}[{quotes}][^{quotes}\\]*+\\", _AFTER_MARK + _LOSSY]
    by_rest: dict[str, list[str]] = {}
    own = _start(want, grammar, by_rest)
    patterns += [rf"^{blank}{own}"] if own else []
    for rest, names in by_rest.items():
        keys = "|".join(re.escape(name) for name in dict.fromkeys(names))
        patterns.append(rf"(?:{keys})[{quotes}]?{blank}:{blank}{rest}")
    return text.rlike("(?s)" + "|".join(f"(?:{p})" for p in patterns))


def _start(want: Wanted, grammar: _Grammar, by_rest: dict[str, list[str]]) -> str | None:
    """How a value begins that is in doubt, None where only its members tell, which are put into `by_rest`."""
    string, blank = grammar.string, grammar.blank
    match want:
        case AsParsed():
            return None
        case AsWritten():
            return r"[-0-9\[{IN]" if want.is_text else None
        case Members():
            for name, inner in want.members:
                start = _start(inner, grammar, by_rest)
                if start is not None:
                    by_rest.setdefault(start, []).append(name)
            return None
        case Items(item=AsWritten(is_text=True)):
            return rf"\[(?:{blank}(?:{string}|null){blank},)*+{blank}[^\s\]\"n]"
        case Values(value=AsWritten(is_text=True)):
            key = rf"{blank}{grammar.key}{blank}:{blank}"
            return rf"\{{(?:{key}(?:{string}|null){blank},)*+{key}[^\s\"n]"
        case Items(item=inner) | Values(value=inner):
            start = _start(inner, grammar, by_rest)
            return None if start is None else r"[\[{]"
        case _:
            assert_never(want)


def number_in_doubt(text: Column, value: Column, line: Column) -> Column:
    """Whether the `text` of a number that a VARIANT `value` gave may be written otherwise in the line: a double of more
    digits than it keeps, a zero, or what is no number any more.
    """
    is_double = text.contains(".") & (F.schema_of_variant(value) == "DOUBLE")
    signed = [F.contains(line, F.lit(part)) for part in ("-0", "e-", "E-")]
    zero = text.startswith("0") & text.rlike(_ZERO) & reduce(or_, signed)
    return (is_double & line.rlike(_AFTER_MARK + _LOSSY)) | zero | text.endswith("Infinity")


def text_in_doubt(text: Column, value: Column, line: Column, options: Mapping[str, str]) -> Column:
    """Whether a text that a VARIANT `value` gave may be written otherwise in the line: it is no string.

    Whole numbers are written in one way only, but for zero and where `options` allow zeros before them.
    """
    kind = F.schema_of_variant(value)
    signed = (text == "0") & line.contains("-0")
    whole = (kind == "BIGINT") & ~signed if "allownumericleadingzeros" not in options else F.lit(False)
    first = F.substring(text, 1, 1)
    # Two dashes behind a digit are in no number: it is a day, as a string. Cheaper than to ask for the kind.
    day = first.between("0", "9") & (F.substring(text, 5, 1) == "-") & (F.substring(text, 8, 1) == "-")
    return first.isin(*_DOUBTFUL_STARTS) & ~day & (kind != "STRING") & ~whole


def exact_text(text: Column, type_: DataType, options: Mapping[str, str], point: str = ".") -> Column:
    """A JSON text of which a VARIANT keeps what `type_` asks for: itself, or one with values as strings.

    NULL where it would have to be taken apart, and is no JSON or nested too deeply.
    """
    want = wanted(type_, point)
    if isinstance(want, AsParsed):
        return text
    return F.when(in_doubt(text, want, options), written_again(text, want, options)).otherwise(text)


def parse_exactly(text: Column, type_: DataType, options: Mapping[str, str] | None = None, point: str = ".") -> Column:
    """The VARIANT of a JSON text in which values are strings, as they are written, where `type_` asks for it.

    NULL where it is no JSON, has a key twice or text behind the value, or is nested too deeply to be taken apart.
    """
    made = exact_text(text, type_, options or {}, point)
    return bind_value(made, lambda text: bind_value(parse_cell(text, options), whole_value))


def record_exactly(line: Column, want: Wanted, options: Mapping[str, str]) -> Column:
    """The value of a JSON line, as in `parse_exactly`."""
    return record(parse_line(written_again(line, want, options), options))


def written_again(text: Column, want: Wanted, options: Mapping[str, str]) -> Column:
    """A JSON text with the values that `want` names as strings; NULL where it is nested too deeply."""
    grammar = _Grammar(options)
    whole = rf"(?s)\A{grammar.blank}{grammar.value}{grammar.blank}\z"
    start = F.regexp_replace(text, rf"(?s)\A{grammar.blank}", "")
    return F.when(text.rlike(whole), _Writer(grammar).value(start, want))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes JSON texts, which begin with their first character, again."""

    grammar: _Grammar

    def value(self, text: Column, want: Wanted) -> Column:
        match want:
            case AsParsed():
                return text
            case AsWritten():
                return self._quoted(text, want)
            case Members():
                return self._object(text, lambda name, value, own: self._member(name, value, own, want))
            case Values():
                return self._object(text, lambda _, value, own: _joined(own, self.value(value, want.value)))
            case Items():
                item = rf"{self.grammar.between}({self.grammar.value})"
                found = F.regexp_extract_all(F.substring(text, 2, 2**31 - 1), F.lit(item), F.lit(1))
                items = F.array_join(F.transform(found, lambda e: self.value(e, want.item)), ",")
                return F.when(text.startswith("["), F.concat(F.lit("["), items, F.lit("]"))).otherwise(text)
            case _:
                assert_never(want)

    def _quoted(self, text: Column, want: AsWritten) -> Column:
        is_string = F.substring(text, 1, 1).isin(*self.grammar.quotes)
        escaped = text if want.is_text or want.point == "." else F.replace(text, F.lit("."), F.lit(want.point))
        for character, instead in (("\\", "\\\\"), ('"', '\\"'), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            escaped = F.replace(escaped, F.lit(character), F.lit(instead))
        kept = is_string | (text == "null")
        return F.when(kept, text).otherwise(F.concat(F.lit('"'), escaped, F.lit('"')))

    def _object(self, text: Column, written: Callable[[Column, Column, Column], Column]) -> Column:
        """An object with its members written by `written`, which is given the name, the value, and the key as it is."""
        grammar = self.grammar
        pair = rf"{grammar.key}{grammar.blank}:{grammar.blank}"
        member = rf"{grammar.between}({pair}{grammar.value})"
        found = F.regexp_extract_all(F.substring(text, 2, 2**31 - 1), F.lit(member), F.lit(1))

        def split(one: Column) -> Column:
            key = F.regexp_extract(one, rf"(?s)\A({grammar.key})", 1)
            value = F.regexp_extract(one, rf"(?s)\A{pair}(.*)\z", 1)
            return F.struct(key.alias("key"), self._name(key).alias("name"), value.alias("value"))

        def write(parts: Column) -> Column:
            return written(parts.getField("name"), parts.getField("value"), parts.getField("key"))

        members = F.array_join(F.transform(F.transform(found, split), write), ",")
        return F.when(text.startswith("{"), F.concat(F.lit("{"), members, F.lit("}"))).otherwise(text)

    def _name(self, key: Column) -> Column:
        quoted = F.substring(key, 1, 1).isin(*self.grammar.quotes)
        bare = F.when(quoted, F.substring(key, F.lit(2), F.length(key) - F.lit(2))).otherwise(key)
        read = F.get(F.from_json(F.concat(F.lit("["), key, F.lit("]")), "array<string>"), F.lit(0))
        return F.when(key.contains("\\"), read).otherwise(bare)

    def _member(self, name: Column, value: Column, key: Column, want: Members) -> Column:
        names: dict[Wanted, list[str]] = {}
        for n, inner in want.members:
            names.setdefault(inner, []).append(n)
        made = F.when(F.lit(False), value)
        for inner, among in names.items():
            made = made.when(name.isin(*among), self.value(value, inner))
        return _joined(key, made.otherwise(value))


def _joined(key: Column, value: Column) -> Column:
    return F.concat(key, F.lit(":"), value)

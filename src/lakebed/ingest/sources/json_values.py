"""JSON as VARIANT: reading a line, looking into it, and which keys the lines had.

A line is read inside of an array with a mark behind it, so that text after the value is noticed: Spark's parsers stop
at the end of the first value without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.evolve.schema_changes import ELEMENT, VALUE
from lakebed.model import LogicalType, required
from lakebed.model import types as logical

_END = "lakebed:end"
#: What may stand around a value of JSON.
BLANKS = " \t\r\n"
#: What a reader's option says by default here; Spark's own default takes single quotes for double ones.
STRICT = {"allowsinglequotes": "false"}


def bound(value: Column, use: Callable[[Column], Column]) -> Column:
    """What `use` makes of a value that stands in the plan, and is computed, once, however often it is used.

    Slower than a step of its own, for values that cannot have one.
    """
    return F.get(F.transform(F.array(value), use), F.lit(0))


def parse(text: Column, options: Mapping[str, str] | None = None) -> Column:
    """The VARIANT of a JSON text; NULL where it is no JSON or has a key twice. `options` are Spark's for JSON."""
    lenient = F.from_json(text, "variant", {**STRICT, **(options or {}), "mode": "PERMISSIVE"})
    # Twice as quick, and it takes less: no NaN, and nothing that options allow.
    return F.coalesce(F.try_parse_json(text), lenient)


def parse_line(line: Column, options: Mapping[str, str] | None = None) -> Column:
    """What `record` and `is_one_value` look into."""
    return parse(F.concat(F.lit("["), line, F.lit(f',"{_END}"]')), options)


def record(parsed: Column) -> Column:
    """The value of a line."""
    return F.try_variant_get(parsed, "$[0]", "variant")


def is_one_object(line: Column, parsed: Column) -> Column:
    """Whether a line is one JSON object and nothing else."""
    ends = F.try_variant_get(parsed, "$[1]", "string").eqNullSafe(F.lit(_END))
    return ends & F.ltrim(line, F.lit(BLANKS)).startswith("{")


def child(value: Column, name: str, type_: str = "variant") -> Column:
    """The member of a JSON object, NULL where there is none. `type_` "string" gives its text."""
    path = _path(name)
    if path is None:
        found = F.try_element_at(F.try_variant_get(value, "$", "map<string,variant>"), F.lit(name))
        return found if type_ == "variant" else text_of(found)
    return F.try_variant_get(value, path, type_)


def _path(name: str) -> str | None:
    """The path of a member; None for names that no path can say."""
    if name and "?" not in name:
        for quote in "'\"":
            if quote not in name:
                return f"$[{quote}{name}{quote}]"
    return f"$.{name}" if name and "." not in name and "[" not in name else None


def text_of(value: Column) -> Column:
    """A JSON value as text: a string as it is, a number or truth value as written, all else as JSON; null is NULL."""
    return F.try_variant_get(value, "$", "string")


def is_missing(value: Column) -> Column:
    """Whether there is no value, or null."""
    return value.isNull() | F.is_variant_null(value)


def items_of(value: Column) -> Column:
    """The items of a JSON array as VARIANTs; NULL for anything else."""
    return F.try_variant_get(value, "$", "array<variant>")


def entries_of(value: Column) -> Column:
    """The members of a JSON object as a map to VARIANTs; NULL for anything else."""
    return F.try_variant_get(value, "$", "map<string,variant>")


def shape_of_all(values: Column) -> Column:
    """An aggregate: the common shape of JSON values as type text, for `keys_in`."""
    return F.schema_of_variant_agg(values)


class Shape:
    """What `shape_of_all` found: the keys of an object, or the shape of an array's items, to any depth.

    `word` is what Spark calls the type: OBJECT, ARRAY, BIGINT, VOID, ...
    """

    __slots__ = ("item", "keys", "word")

    def __init__(self, keys: dict[str, Shape] | None = None, item: Shape | None = None, word: str = "VOID") -> None:
        self.keys = keys or {}
        self.item = item
        self.word = word


def read_shape(text: str | None) -> Shape:
    """The shape that a type text such as ``OBJECT<a: BIGINT, `b c`: ARRAY<STRING>>`` says."""
    return _ShapeReader(text or "").read()


class _ShapeReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> Shape:
        """One type, from the present position."""
        word = self._word()
        if word == "OBJECT" and self._take("<"):
            return Shape(keys=dict(self._members()), word=word)
        if word == "ARRAY" and self._take("<"):
            item = self.read()
            self._take(">")
            return Shape(item=item, word=word)
        if word == "DECIMAL" and self._take("("):
            self._at = self._text.index(")", self._at) + 1
        return Shape(word=word)

    def _members(self) -> Iterator[tuple[str, Shape]]:
        while not self._take(">"):
            name = self._name()
            self._take(": ")
            yield name, self.read()
            self._take(", ")

    def _take(self, expected: str) -> bool:
        found = self._text.startswith(expected, self._at)
        self._at += len(expected) if found else 0
        return found

    def _word(self) -> str:
        start = self._at
        while self._at < len(self._text) and (self._text[self._at].isalnum() or self._text[self._at] == "_"):
            self._at += 1
        return self._text[start : self._at]

    def _name(self) -> str:
        if not self._take("`"):
            return self._word()
        name = ""
        while True:
            end = self._text.index("`", self._at)
            name += self._text[self._at : end]
            self._at = end + 1
            if not self._take("`"):
                return name
            name += "`"


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that is not declared: how its place is told, its path in the schema, and the keys beside it."""

    text: str
    path: tuple[str, ...]
    beside: frozenset[str]


def unknown_keys(shape: Shape, fields: tuple[tuple[str, LogicalType], ...]) -> list[UnknownKey]:
    """The keys that are not declared, at every level; the keys of maps are data."""
    return list(_unknown_members(shape, fields, "", ()))


def _unknown_members(
    shape: Shape, fields: tuple[tuple[str, LogicalType], ...], text: str, path: tuple[str, ...]
) -> Iterator[UnknownKey]:
    declared, beside = dict(fields), frozenset(shape.keys)
    for name, inner in shape.keys.items():
        here = f"{text}.{name}" if text else name
        if name not in declared:
            yield UnknownKey(here, (*path, name), beside)
        else:
            yield from _unknown_inside(inner, declared[name], here, (*path, name))


def _unknown_inside(shape: Shape, type_: LogicalType, text: str, path: tuple[str, ...]) -> Iterator[UnknownKey]:
    match required(type_):
        case logical.Struct(fields=fields):
            yield from _unknown_members(shape, tuple((f.name, f.type) for f in fields), text, path)
        case logical.List(item_type=item) if shape.item is not None:
            yield from _unknown_inside(shape.item, item, f"{text}[]", (*path, ELEMENT))
        case logical.Map(value_type=value):
            for key, inner in shape.keys.items():
                yield from _unknown_inside(inner, value, f"{text}['{key}']", (*path, VALUE))
        case _:
            return

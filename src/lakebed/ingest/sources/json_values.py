"""Read JSON lines as VARIANT, extract values from them, and find undeclared keys.

A line is read inside of an array with a mark behind it, so that text after the value is noticed: Spark's parsers stop
at the end of the first value without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.evolve.schema_changes import ELEMENT, VALUE
from lakebed.model import LogicalType, required
from lakebed.model import types as logical
from lakebed.physical import path_text

_END = "lakebed:end"
#: What may stand around a value of JSON.
BLANKS = " \t\r\n"
#: What a reader's option says by default here; Spark's own default takes single quotes for double ones.
STRICT = {"allowsinglequotes": "false"}
#: The reader's option by which JSON has comments, and the pattern of one, which never goes back.
COMMENTS = "allowcomments"
COMMENT = r"/\*(?:[^*]|\*(?!/))*+\*/|//[^\n]*+"
#: What Spark's parser takes: characters of a number, levels of lists and objects.
_NUMBER_LENGTH, _LEVELS = 1000, 1000

_STRING = r'"(?:[^"\\]++|\\.)*+"?+'
#: A backslash that is escaped, and both halves of a pair that are written with escapes: what is no half alone.
_PAIRED = r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = r"\\u[dD][89a-fA-F]"
_LONG = rf"(?<![0-9.eE+-])[0-9+-][0-9.eE+-]{{{_NUMBER_LENGTH},}}+"


def parse(text: Column, options: Mapping[str, str] | None = None) -> Column:
    """The VARIANT of a JSON text; NULL where it is no JSON or has a key twice. `options` are Spark's for JSON.

    What stands behind the value is not noticed: see `whole_value`.
    """
    # Inside of a struct: by itself Spark before 4.1 fails the query where a text is no JSON.
    inside = F.concat(F.lit('{"v":'), text, F.lit(f"{_line_end(options)}}}"))
    read = F.from_json(inside, "struct<v:variant>", {**STRICT, **(options or {}), "mode": "PERMISSIVE"})
    # Twice as quick, and it takes less: no NaN, and nothing that options allow.
    return F.coalesce(F.try_parse_json(text), read.getField("v"))


def has_half(text: Column) -> Column:
    """Whether half of a surrogate pair is written with an escape, and not the other: Spark before 4.1 reads a `?`."""
    may_have = F.contains(text, F.lit("\\ud")) | F.contains(text, F.lit("\\uD"))
    return may_have & F.regexp_replace(text, _PAIRED, "").rlike(_HALF)


def parse_line(line: Column, options: Mapping[str, str] | None = None) -> Column:
    """What `record`, `whole_value` and `is_one_object` look into."""
    return parse(F.concat(F.lit("["), line, F.lit(f'{_line_end(options)},"{_END}"]')), options)


def parse_cell(text: Column, options: Mapping[str, str] | None = None) -> Column:
    """The same for a text that is no line, of which nothing is known; it stands in the plan many times."""
    return F.when(~has_half(text), parse_line(text, options))


def in_list(line: Column, options: Mapping[str, str] | None = None) -> Column:
    """The text of a JSON list with the value of a line."""
    return F.concat(F.lit("["), line, F.lit(f"{_line_end(options)}]"))


def _line_end(options: Mapping[str, str] | None) -> str:
    # What follows `//` would be part of the comment.
    return "\n" if allows_comments(options) else ""


def allows_comments(options: Mapping[str, str] | None) -> bool:
    """Whether options of the reader, by their names in lower case, let JSON have comments."""
    return (options or {}).get(COMMENTS, "false").lower() == "true"


def without_comments(text: Column, options: Mapping[str, str]) -> Column:
    """A JSON text with a blank for each comment and behind each string; time grows with its length only.

    A comment or a string that does not end goes to the end of the text.
    """
    quotes = "\"'" if options.get("allowsinglequotes", "false").lower() == "true" else '"'
    string = "|".join(rf"{q}(?:[^{q}\\]++|\\.)*+{q}?+" for q in quotes)
    return F.regexp_replace(text, rf"(?s)({string})|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+|//[^\n]*+", "$1 ")


def is_nothing(line: Column, options: Mapping[str, str]) -> Column:
    """Whether a line has nothing but blanks, and comments where they are allowed."""
    if not allows_comments(options):
        return F.btrim(line, F.lit(BLANKS)) == ""
    return line.rlike(rf"(?s)\A(?:[ \t\r\n]++|{COMMENT})*+\z")


def record(parsed: Column) -> Column:
    """The value of a line."""
    return F.try_variant_get(parsed, "$[0]", "variant")


def _ends(parsed: Column) -> Column:
    """Whether nothing stands behind the value of a line; false where it is no JSON."""
    return F.try_variant_get(parsed, "$[1]", "string").eqNullSafe(F.lit(_END))


def whole_value(parsed: Column) -> Column:
    """The value of a text that `parse_line` has read; NULL where it is no JSON or anything stands behind it."""
    return F.when(_ends(parsed), record(parsed))


def is_one_object(line: Column, parsed: Column, options: Mapping[str, str] | None = None) -> Column:
    """Whether a line is one JSON object and nothing else, but for comments where they are allowed."""
    ends = _ends(parsed) & ~has_half(line)
    starts = F.btrim(line, F.lit(BLANKS)).startswith("{")
    if allows_comments(options):
        starts = starts | line.rlike(rf"(?s)\A(?:[ \t\r\n]++|{COMMENT})++\{{")
    return ends & starts


def json_faults(line: Column, options: Mapping[str, str]) -> Iterator[tuple[Column, str]]:
    """Conditions, never NULL, on a line that is no JSON object to a VARIANT, each with what was expected there.

    The first that holds is the reason; the last one always holds.
    """
    # To a map of texts JSON is read also where a key is there twice, at any depth, or half of a pair in a text.
    lenient = F.from_json(in_list(line, options), "array<map<string,string>>", {**STRICT, **options})
    is_json = F.is_valid_utf8(line) & (F.array_size(lenient) == 1) & F.get(lenient, F.lit(0)).isNotNull()
    is_json = F.coalesce(is_json, F.lit(False))
    # Only what stands outside of strings.
    bare = F.regexp_replace(line, f"(?s){_STRING}", "")
    brackets = F.length(F.regexp_replace(bare, r"[^\[{]++", ""))
    yield (
        is_json & has_half(line),
        "one JSON object, with \\ud800 to \\udfff in pairs only",
    )
    yield is_json, "one JSON object in which no key is there twice"
    yield bare.rlike(_LONG), f"one JSON object, with numbers of up to {_NUMBER_LENGTH} characters"
    yield brackets > F.lit(_LEVELS), f"one JSON object, nested up to {_LEVELS} levels deep"
    yield F.lit(True), "one JSON object"


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


def shape_of_all(values: Column, *, few: bool = False) -> Column:
    """An aggregate: the common shape of JSON values, or of `few` values their different ones, as text for `read_shape`.

    Of many values Spark takes objects for the same whose keys differ only in case and have the same types, and keeps
    the keys of one; of few only within a list of one value.
    """
    if not few:
        return F.schema_of_variant_agg(values)
    # One text, since an array that is observed does not come to Python before Spark 4.1.
    return F.to_json(F.collect_set(F.schema_of_variant(values)))


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
    """The shape that a type text such as ``OBJECT<a: BIGINT, `b c`: ARRAY<STRING>>`` says, or a JSON list of such."""
    if text is not None and text.startswith("["):
        return _joined([_ShapeReader(one).read() for one in json.loads(text)])
    return _ShapeReader(text or "").read()


def _joined(shapes: Sequence[Shape]) -> Shape:
    """All keys of several shapes, at every level; of types that differ the word is that of a mixture."""
    names = sorted({name for shape in shapes for name in shape.keys})
    keys = {name: _joined([shape.keys[name] for shape in shapes if name in shape.keys]) for name in names}
    items = [shape.item for shape in shapes if shape.item is not None]
    words = {shape.word for shape in shapes if shape.word != "VOID"}
    word = "VARIANT" if len(words) > 1 else next(iter(words), "VOID")
    return Shape(keys, _joined(items) if items else None, word)


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
    """A key that is not declared: how its place is told, its path in the schema, the keys beside it, and those that are
    declared there.
    """

    text: str
    path: tuple[str, ...]
    beside: frozenset[str]
    declared: tuple[str, ...]


def unknown_keys(shape: Shape, fields: tuple[tuple[str, LogicalType], ...]) -> list[UnknownKey]:
    """The keys that are not declared, at every level; the keys of maps are data."""
    return list(_unknown_members(shape, fields, "", ()))


def _unknown_members(
    shape: Shape, fields: tuple[tuple[str, LogicalType], ...], text: str, path: tuple[str, ...]
) -> Iterator[UnknownKey]:
    declared, beside = dict(fields), frozenset(shape.keys)
    for name, inner in shape.keys.items():
        own = path_text((name,))
        here = f"{text}.{own}" if path else own
        if name not in declared:
            yield UnknownKey(here, (*path, name), beside, tuple(declared))
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

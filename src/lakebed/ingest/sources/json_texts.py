"""Parse JSON that stands in texts, in steps of its own before the values are checked.

A check looks at a value many times, and each look would parse it again: Spark's plan would be as large as the check
times the parsing. So a source of which texts become structs, lists or maps is first given another form, in which such
a text is a struct of `text` and `json`, its VARIANT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.ingest.columns.values import is_text
from lakebed.ingest.sources.json_exact import exact_text
from lakebed.ingest.sources.json_values import parse_cell, whole_value
from lakebed.ingest.sources.source_types import Entries, Items, JsonText, Members, SourceType
from lakebed.physical.paimon_types import Array, DataType, Map, Multiset, Row
from lakebed.spark.bind_value import bind_value

#: What columns with JSON in texts are called, with their number, before, between and after the steps of parsing it.
JSON_NAMES = ("t", "a", "s")
#: What is made of the value at a place where JSON stands in a text.
_AtText: TypeAlias = Callable[[Column, JsonText], Column]


def with_json(source: SourceType, stored: DataType) -> SourceType:
    """The form of `source` in which texts that become nested values are `JsonText`; itself where there are none.

    Keys of maps stay texts: a VARIANT cannot be a key.
    """
    if is_text(source) and isinstance(stored, (Row, Array, Map, Multiset)):
        return JsonText(stored)
    match source, stored:
        case Items(), Array():
            return Items(with_json(source.item, stored.element))
        case Entries(), Map():
            return Entries(source.key, with_json(source.value, stored.value))
        case Members(), Row():
            types = {f.name: f.type for f in stored.fields}
            inner = ((n, with_json(t, types[n]) if n in types else t) for n, t in source.fields)
            return Members(tuple(inner))
        case _:
            return source


def json_steps(form: SourceType, point: str) -> tuple[Callable[[Column], Column], ...]:
    """What makes of a source's value one of this `form`: functions to apply one after another, each in a step.

    `point` is how strings write that of a number.
    """

    def written(x: Column, place: JsonText) -> Column:
        both = F.struct(x.alias("text"), exact_text(x, place.stored, {}, point).alias("json"))
        return F.when(x.isNotNull(), both)

    def parsed(x: Column, _: JsonText) -> Column:
        # Looked at many times; bound, since older versions of Spark put this step and the one before into one.
        value = bind_value(x.getField("json"), lambda text: bind_value(parse_cell(text), whole_value))
        return F.when(x.isNotNull(), F.struct(x.getField("text").alias("text"), value.alias("json")))

    return (lambda x: _rewritten(x, form, written), lambda x: _rewritten(x, form, parsed))


def only_texts(x: Column, form: SourceType) -> Column:
    """A value of such a form as the source has it."""
    return _rewritten(x, form, lambda place, _: place.getField("text"))


def has_json(source: SourceType) -> bool:
    """Whether JSON stands in a text anywhere in values of this form."""
    match source:
        case JsonText():
            return True
        case Items():
            return has_json(source.item)
        case Entries():
            return has_json(source.value)
        case Members():
            return any(has_json(inner) for _, inner in source.fields)
        case _:
            return False


def _rewritten(x: Column, form: SourceType, at_text: _AtText) -> Column:
    """A value with what `at_text` makes of the places where JSON stands in a text."""
    if not has_json(form):
        return x
    match form:
        case JsonText():
            return at_text(x, form)
        case Items():
            return F.transform(x, lambda e: _rewritten(e, form.item, at_text))
        case Entries():
            return F.transform_values(x, lambda _, v: _rewritten(v, form.value, at_text))
        case Members():
            parts = (_rewritten(x.getField(n), inner, at_text).alias(n) for n, inner in form.fields)
            return F.when(x.isNotNull(), F.struct(*parts))
        case _:
            return x


def with_json_parsed(frame: DataFrame, columns: Mapping[int, Sequence[Callable[[Column], Column]]]) -> DataFrame:
    """The source values `s0`, ... of columns that hold JSON in texts, by the steps of each; each step is a projection
    of its own.
    """
    for step, (given, made) in enumerate(pairwise(JSON_NAMES) if columns else ()):
        values = (steps[step](F.col(f"{given}{index}")).alias(f"{made}{index}") for index, steps in columns.items())
        frame = frame.select("*", *values)
    return frame

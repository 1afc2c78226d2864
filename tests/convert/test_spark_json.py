"""Spark's JSON form of a schema: what is broken is named by its column and its member."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakebed.convert.spark_json import from_spark_json

pytest.importorskip("pyspark")

from pyspark.sql import types as T

_ITEM = T.StructType([T.StructField("f", T.StringType())])
_VALUE = T.StructType([T.StructField("d", T.DateType()), T.StructField("e", T.ArrayType(_ITEM, False))])
SCHEMA = T.StructType(
    [
        T.StructField("a", T.LongType(), False),
        T.StructField("b", T.ArrayType(T.DecimalType(9, 2))),
        T.StructField("c", T.MapType(T.StringType(), _VALUE), metadata={"comment": "x"}),
    ]
)
GOOD = SCHEMA.jsonValue()
#: Members that a schema may lack.
OPTIONAL = ("metadata", "nullable")
_GONE = object()


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [at] if at else []
    for key, inner in inside:
        found += places(inner, (*at, key))
    return found


def put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    if new is _GONE and len(at) == 1:
        return {k: v for k, v in value.items() if k != at[0]}
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = put(value[at[0]], at[1:], new)
    return copy


def column(at: tuple[Any, ...]) -> str:
    """The innermost column that a place is in."""
    value: Any = GOOD
    name = "schema"
    for step in at:
        value = value[step]
        name = value["name"] if isinstance(value, dict) and "name" in value else name
    return name


def broken() -> list[tuple[tuple[Any, ...], Any]]:
    """Each place of the schema with each wrong value; what Spark takes is left out."""
    found: list[tuple[tuple[Any, ...], Any]] = []
    for at in places(GOOD):
        if "metadata" in at[:-1]:
            continue
        values: list[Any] = [3.5, [], {}, "nix"]
        if at[-1] in ("metadata", "nullable", "containsNull", "valueContainsNull"):
            values = [] if at[-1].endswith("Null") else [3.5, "nix"]
        elif at[-1] == "name":
            values = [3.5, [], {}]
        elif at[-1] == "fields":
            values = [3.5, {}, "nix"]
        found += [(at, value) for value in values]
        if isinstance(at[-1], str) and at[-1] not in OPTIONAL and at != ("type",):
            found.append((at, _GONE))
    return found


def test_a_good_schema_is_what_spark_says() -> None:
    assert from_spark_json(GOOD) == SCHEMA
    for at in places(GOOD):
        if at[-1] in OPTIONAL:
            from_spark_json(put(GOOD, at, _GONE))


@pytest.mark.parametrize(("at", "value"), broken(), ids=lambda part: "gone" if part is _GONE else str(part))
def test_what_is_broken_is_named(at: tuple[Any, ...], value: Any) -> None:
    bad = put(GOOD, at, value)
    with pytest.raises(ValueError) as caught:
        from_spark_json(bad)
    assert type(caught.value) is ValueError
    said = str(caught.value)
    # A field without a usable name is told by its number in the column around it.
    where = column(at[:-2]) if at[-1] == "name" or isinstance(at[-1], int) else column(at)
    assert where.rpartition(".")[2] in said or at == ("type",), said
    if value is _GONE:
        assert f"no {at[-1]!r}" in said


@pytest.mark.parametrize("text", ["null", "[]", "3", '"bigint"', '{"type": "array"}'])
def test_what_is_no_schema(text: str) -> None:
    with pytest.raises(ValueError, match="it is no object of the type 'struct'"):
        from_spark_json(json.loads(text))

"""What is said to be writable is written: every writable type in every place, under every harmless option."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import lakebed
from format.every_place import EVOLVING, LEAVES, is_valid, nested, options, row, schema
from ingest.ingest_lake import SmallLake
from lakebed.catalog import TableName
from lakebed.physical import paimon_types as t

VALUES = {leaf: value for leaf, value in LEAVES.items() if value is not None}
#: Where blobs may be, with a value.
BLOBS = {
    "b": (t.Blob(), "X'00FF'"),
    "bs": (t.Array(t.Blob()), "array(X'', null, X'01')"),
    "bm": (t.Map(t.Int(), t.Blob()), "map(7, X'02')"),
}
#: Maps are compared by their entries.
SHOWN = "m.struct.m", "m.list", "m.value", "map_entries(m.key)", "map_entries(m.multiset)", "m.deep"


def harmless() -> dict[str, str]:
    """Options that can stand together, with the first value of each that is no default of another's."""
    chosen = {"partition.legacy-name": "false", **EVOLVING}
    for case in options():
        key, _, value = case.about.partition(" = ")
        if case.codes or key in chosen:
            continue
        if is_valid(schema(("id", t.Int()), ("c", t.STRING), options={**chosen, key: value})):
            chosen[key] = value
    return chosen


def value_in(place: str, value: str) -> str:
    return {
        "struct": f"named_struct('m', {value})",
        "list": f"array({value})",
        "value": f"map('k', {value})",
        "key": f"map({value}, 7)",
        "multiset": f"map({value}, 2)",
        "deep": f"array(named_struct('m', map('k', named_struct('x', 1, 'y', {value}))))",
    }[place]


def shown(frame: DataFrame) -> list[object]:
    columns: list[Column] = [F.col("id"), F.col("b"), F.col("bs"), F.map_entries("bm")]
    for i in range(len(VALUES)):
        columns += [F.col(f"c{i}"), F.col(f"p{i}")]
        columns += [F.expr(text.replace("m.", f"n{i}.", 1).replace("(m.", f"(n{i}.")) for text in SHOWN]
    return sorted((tuple(found) for found in frame.select(*columns).collect()), key=lambda row: row[0])


def test_every_writable_type_in_every_place_under_every_harmless_option(lake: SmallLake) -> None:
    columns, source = [("id", t.Int())], [F.col("id").cast("int").alias("id")]
    for i, (leaf, value) in enumerate(VALUES.items()):
        columns += [(f"c{i}", leaf), (f"n{i}", row(*nested(leaf).items())), (f"p{i}", leaf)]
        inside = ", ".join(f"'{place}', {value_in(place, value)}" for place in nested(leaf))
        given = {f"c{i}": value, f"n{i}": f"named_struct({inside})", f"p{i}": value}
        source += [F.expr(f"if(id = 0, {text}, null)").alias(name) for name, text in given.items()]
    for name, (type_, value) in BLOBS.items():
        columns.append((name, type_))
        source.append(F.expr(f"if(id = 0, {value}, null)").alias(name))
    settings = harmless()
    table = schema(*columns, partition=tuple(f"p{i}" for i in range(len(VALUES))), options=settings)
    lake.tables.create(TableName("db", "t"), table)
    frame = lake.spark.range(2).select(*source)
    result = lake.ingest(frame)
    assert (result.rows_written, result.rows_quarantined) == (2, 0)
    assert shown(lakebed.open(lake.root / "warehouse").read(lake.spark, "db.t")) == shown(frame)
    assert len(settings) > 300

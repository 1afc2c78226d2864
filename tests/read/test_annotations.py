"""Annotations reach the columns that are read and the members of structs inside, through casts and unions."""

from __future__ import annotations

from decimal import Decimal as Number
from typing import Any

import lakebed
from lakebed.convert.spark import from_struct_type
from lakebed.model import Field, LogicalType, Option, Schema
from lakebed.model import types as m
from read.lakes import declare, manifest, put

BYTE = "{name: n, type: UInt8, extra: {x.org/n: [1, null]}}"
SHORT = "{name: n, type: UInt16, extra: {x.org/n: {b: c}}}"
HALF = "{name: f, type: {kind: Option, inner: Float16}}"
AT = "{name: at, type: {kind: Duration, unit: Second}}"
SINCE = AT.replace("}}", "}, extra: {opendatafabric.org/description: since}}")


def struct(*members: str) -> str:
    return f"{{kind: Struct, fields: [{', '.join(members)}]}}"


V1 = f"""
{{name: id, type: UInt8, extra: {{x.org/a: 1}}}}
{{name: s, type: {struct(BYTE, "{name: gone, type: Int8}")}}}
{{name: l, type: {{kind: List, itemType: {struct(AT)}}}}}
"""
V2 = f"""
{{name: id, type: UInt32, extra: {{x.org/a: 2}}}}
{{name: s, type: {struct(SHORT, HALF)}}}
{{name: l, type: {{kind: List, itemType: {struct(SINCE)}}}}}
{{name: u, type: {{kind: Option, inner: UInt64}}}}
"""


def _optional(type_: LogicalType) -> LogicalType:
    """The type with everything nullable, as files are scanned."""
    own = type_.inner if isinstance(type_, Option) else type_
    match own:
        case m.Struct():
            own = m.Struct(tuple(Field(f.name, _optional(f.type), f.extra) for f in own.fields))
        case m.List():
            own = m.List(_optional(own.item_type), own.fixed_length)
    return Option(own)


def _as_scanned(schema: Schema) -> Schema:
    return Schema(tuple(Field(f.name, _optional(f.type), f.extra) for f in schema.fields), schema.extra)


def test_annotations_survive_casts_and_unions(spark: Any, lake: lakebed.Lake) -> None:
    declare(lake, manifest(V1) + "    extra: {x.org/owner: me}\n")
    put(lake, spark, [(1, (2, 3), [(4,)])], "id int, s struct<n:int,gone:int>, l array<struct<at:long>>")
    declare(lake, manifest(V2) + "    extra: {x.org/owner: you}\n")
    put(
        lake,
        spark,
        [(2, (60000, 0.5), [(4,)], Number(7))],
        "id long, s struct<n:int,f:float>, l array<struct<at:long>>, u decimal(20,0)",
    )
    for version in (0, 1):
        frame = lake.read(spark, "db.t", schema=version)
        declared = lake.schema(f"db.t@{version}").logical
        assert from_struct_type(frame.schema) == _as_scanned(declared)
        assert frame.count() == 2
    frame = lake.read(spark, "db.t").where("s.n = 60000").select("s.n")
    plan = frame._jdf.queryExecution().executedPlan().toString() if hasattr(frame, "_jdf") else ""
    assert [row.n for row in frame.collect()] == [60000]
    assert "struct<s:struct<n:int>>" in plan, "members that nobody asks for are read"
    assert "LocalTableScan" not in plan, "the empty part of the union is still there"

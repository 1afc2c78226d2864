"""Attributes that nobody knows come through every conversion with the very bytes of their values."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakebed import model as m
from lakebed.catalog import TableSchema
from lakebed.catalog.annotations import OPTION
from lakebed.convert.arrow import from_arrow, to_arrow
from lakebed.convert.spark import from_struct_type, to_struct_type
from lakebed.evolve import plan_table
from lakebed.manifest import TableManifest, dump_table, parse_manifest
from lakebed.manifest.edit import edit_manifest
from lakebed.model.encoding import strip_encoding
from lakebed.testing.schemas import json_values

ODD = [1.0, 1e3, 1e300, 5e-324, -0.0, 0, 2**53 + 1, 2**64, -(2**200), "é👍\u2028", "no", "", {"b": 1, "a": [None, {}]}]
VALUES = st.sampled_from(ODD) | json_values()
EXTRAS = st.dictionaries(st.sampled_from(["a.b/c", "x.org/no", "z/y-1"]), VALUES, max_size=2).map(m.Extra)


@st.composite
def annotated(draw: st.DrawFn) -> m.Schema:
    inner = m.Struct((m.Field("x", m.String(), draw(EXTRAS)),))
    nested: m.LogicalType = draw(
        st.sampled_from([inner, m.List(inner), m.Option(inner), m.Map(m.String(), m.Option(inner))])
    )
    fields = (m.Field("a", m.Int32(), draw(EXTRAS)), m.Field("n", nested, draw(EXTRAS)))
    return m.Schema(fields, draw(EXTRAS))


def texts(schema: m.Schema) -> list[str]:
    """The canonical text of every `extra`, which tells 1 from 1.0 and 0.0 from -0.0."""

    def of(fields: tuple[m.Field, ...]) -> list[str]:
        return [t for f in fields for t in (f.extra.text, *inside(f.type))]

    def inside(type_: m.LogicalType) -> list[str]:
        match type_:
            case m.Struct():
                return of(type_.fields)
            case m.Option():
                return inside(type_.inner)
            case m.List():
                return inside(type_.item_type)
            case m.Map():
                return inside(type_.value_type)
            case _:
                return []

    return [schema.extra.text, *of(schema.fields)]


def versions(schema: m.Schema) -> tuple[TableSchema, TableSchema]:
    """A stored table, and its next version, which has one column more."""
    first = plan_table(TableManifest("t", schema), None, lambda: False).target
    assert first is not None
    more = m.Schema((*schema.fields, m.Field("new", m.Option(m.Int8()))), schema.extra)
    second = plan_table(TableManifest("t", more), first, lambda: False).target
    assert second is not None
    return first, second


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(annotated())
def test_through_everything(schema: m.Schema) -> None:
    wanted = texts(schema)
    table = TableManifest("t", schema)
    (again,) = parse_manifest(dump_table(table)).tables
    assert texts(again.schema) == wanted
    (edited,) = parse_manifest(edit_manifest(dump_table(table), lambda t: t)).tables
    assert texts(edited.schema) == wanted
    arrow, spark = from_arrow(to_arrow(schema)[0])[0], from_struct_type(to_struct_type(schema))
    assert texts(arrow) == wanted
    assert texts(spark) == wanted
    assert texts(strip_encoding(schema)) == wanted
    first, second = versions(schema)
    assert texts(first.logical) == wanted
    assert texts(second.logical)[: len(wanted)] == wanted
    assert OPTION in second.options or set(wanted) == {"{}"}

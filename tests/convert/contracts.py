"""Makes up contracts: schemas that a table can store, with attributes of every kind, keys and options."""

from __future__ import annotations

from hypothesis import strategies as st

from lakebed.convert.contract import Contract
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.model.extra import DEFAULT, DESCRIPTION, FIELD_ID, PAIMON_TYPE, PERSONAL_DATA
from lakebed.testing import paimon_schemas
from lakebed.testing.physical import storable_schemas

_TEXTS = m.Struct((Field("x y", m.Option(m.String()), Extra({PERSONAL_DATA: True})),))
#: One of everything that forms differ in.
EVERYTHING = Contract(
    Schema(
        (
            Field("id", m.Int64(), Extra({DESCRIPTION: "Number", FIELD_ID: 7})),
            Field("day", m.Date()),
            Field("tiny", m.Int8()),
            Field("unsigned", m.UInt8()),
            Field("amount", m.Decimal(10, 2)),
            Field("at", m.Timestamp(m.TimeUnit.MICROSECOND)),
            Field("zoned", m.Timestamp(None, "Europe/Paris")),
            Field("wall_clock", m.Timestamp(m.TimeUnit.MICROSECOND), Extra({PAIMON_TYPE: "TIMESTAMP(6)"})),
            Field("clock", m.Time(m.TimeUnit.SECOND)),
            Field("took", m.Duration()),
            Field("code", m.String(), Extra({PAIMON_TYPE: "CHAR(2)"})),
            Field("hash", m.Binary(32)),
            Field("pair", m.List(m.Float64(), 2)),
            Field(
                "rows", m.Option(m.List(m.Struct((Field("x y", m.Option(m.String()), Extra({PERSONAL_DATA: True})),))))
            ),
            Field("by_number", m.Option(m.Map(m.Int32(), m.Option(m.String())))),
            Field("note", m.Option(m.String()), Extra({DEFAULT: "-", "example.org/tag": ["a", 1, None]})),
        ),
        Extra({DESCRIPTION: "Orders of the shop", "example.org/owner": "shop-team"}),
    ),
    "shop.orders",
    ("id", "day"),
    ("day",),
    {"bucket": "2"},
)


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    schema = draw(storable_schemas() | paimon_schemas())
    names = st.lists(st.sampled_from([f.name for f in schema.fields] or [""]), unique=True, max_size=2)
    if not schema.fields:
        return Contract(schema)
    options = st.dictionaries(st.sampled_from(("bucket", "file.format", "x y")), st.text(max_size=4), max_size=2)
    named = st.none() | st.sampled_from(("orders", "shop.orders", "a b.c-d", "`a.b`.c"))
    return Contract(schema, draw(named), tuple(draw(names)), tuple(draw(names)), draw(options))

"""The logical schema in the metadata of Arrow schemas and of files; a carrier never overrules the columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from lakebed.convert.arrow import CARRIER_KEY, ToArrow, from_arrow, to_arrow
from lakebed.convert.arrow_hints import Buffer
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, Option, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.model.encoding import BUFFER_ENCODING, strip_encoding
from lakebed.testing import schemas

DESCRIPTION = "opendatafabric.org/description"
S, MS, US, NS = TimeUnit

MEMBERS = (
    Field("symbol", m.String(), Extra({DESCRIPTION: "unit symbol"})),
    Field("codes", m.List(m.UInt16()), Extra({"example.org/list": ["a", None, 1.5]})),
)
SCHEMA = Schema(
    (
        Field("id", m.UInt64(), Extra({DESCRIPTION: "number of the reading"})),
        Field("at", m.Timestamp(), Extra({"example.org/clock": {"kind": "quartz"}})),
        Field("level", Option(m.Decimal(7, 3)), Extra({"example.org/unit": "m"})),
        Field("took", Option(m.Duration(US))),
        Field("time", m.Time(S)),
        Field("day", m.Date()),
        Field("half", m.Float16()),
        Field("unit", Option(m.Struct(MEMBERS)), Extra({DESCRIPTION: "unit"})),
        Field("tags", m.Map(m.String(), Option(m.Int8()), True)),
        Field("hash", m.Binary(4)),
    ),
    Extra({DESCRIPTION: "tides", "example.org/owner": "harbour"}),
)


def empty(settings: ToArrow = ToArrow(), schema: Schema = SCHEMA) -> pa.Table:  # noqa: B008
    return to_arrow(schema, settings)[0].empty_table()


def column(table: pa.Table, name: str) -> Field:
    found = from_arrow(table.schema)[0].field(name)
    assert found is not None
    return found


@given(schemas(max_size=3))
def test_settings_are_carried_too(schema: Schema) -> None:
    settings = ToArrow(Buffer("View"), Buffer("Contiguous", 64), Buffer("View", 64), "Millisecond")
    try:
        arrow, _ = to_arrow(schema, settings, strict=False)
    except ConversionError:
        return
    assert from_arrow(arrow)[0] == schema


def test_a_parquet_file_carries_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(empty(), path)
    assert from_arrow(pq.read_schema(path))[0] == SCHEMA


def test_a_parquet_file_of_another_writer_carries_what_parquet_can_say(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = empty()
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({CARRIER_KEY: (table.schema.metadata or {})[CARRIER_KEY]})
    found, report = from_arrow(pq.read_schema(path), strict=False)
    assert [loss.path for loss in report.losses] == ["took"], "Parquet has no durations"
    assert found.extra == SCHEMA.extra
    others = [f for f in SCHEMA.fields if f.name != "took"]
    assert [f for f in strip_encoding(found).fields if f.name != "took"] == others


def test_a_feather_file_and_a_schema_message_carry_it(tmp_path: Path) -> None:
    plain = Schema(tuple(f for f in SCHEMA.fields if f.name != "half"), SCHEMA.extra)
    pyarrow.feather.write_feather(empty(schema=plain), tmp_path / "a.feather", compression="uncompressed")
    assert from_arrow(pyarrow.feather.read_table(tmp_path / "a.feather").schema)[0] == plain
    assert from_arrow(pa.ipc.read_schema(to_arrow(SCHEMA)[0].serialize()))[0] == SCHEMA


def test_the_text_in_the_metadata_is_canonical_json() -> None:
    schema = Schema((Field("ä", m.UInt8(), Extra({"b.c/d": 1})),))
    arrow, _ = to_arrow(schema, ToArrow(string=Buffer("View")))
    assert (arrow.metadata or {})[CARRIER_KEY].decode() == (
        '{"format":1,"schema":{"fields":[{"extra":{"b.c/d":1},"name":"ä","type":{"kind":"UInt8"}}]},'
        '"settings":{"string":{"kind":"View"}}}'
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.select(["unit", "id"]),
        lambda t: t.append_column("more", pa.array([], pa.string_view())),
        lambda t: t.slice(0, 0),
        lambda t: pa.concat_tables([t, t]),
    ],
)
def test_columns_may_go_come_and_move(change: Callable[[pa.Table], pa.Table]) -> None:
    table = change(empty())
    assert column(table, "unit") == SCHEMA.field("unit")
    assert column(table, "id") == SCHEMA.field("id")
    assert from_arrow(table.schema)[0].extra == SCHEMA.extra


def test_nullability_is_that_of_the_column() -> None:
    table = empty()
    nullable = table.cast(pa.schema([f.with_nullable(True) for f in table.schema], table.schema.metadata))
    assert column(nullable, "id") == Field("id", Option(m.UInt64()), Extra({DESCRIPTION: "number of the reading"}))
    assert column(nullable, "level") == SCHEMA.field("level")


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("id", pa.int64()),
        ("at", pa.timestamp("us", "UTC")),
        ("at", pa.timestamp("ms")),
        ("at", pa.timestamp("ms", "Europe/Paris")),
        ("level", pa.decimal128(9, 3)),
        ("unit", pa.struct([pa.field("symbol", pa.string(), False)])),
        ("hash", pa.binary()),
    ],
)
def test_a_retyped_column_counts_as_it_is(name: str, type_: pa.DataType) -> None:
    arrow = to_arrow(SCHEMA)[0]
    at = arrow.get_field_index(name)
    retyped = arrow.set(at, pa.field(name, type_, arrow.field(at).nullable))
    with pytest.raises(ConversionError, match="its annotations do not count"):
        from_arrow(retyped)
    found, report = from_arrow(retyped, strict=False)
    assert [loss.path for loss in report.losses] == [name]
    assert found.field(name) == from_arrow(retyped.remove_metadata())[0].field(name)
    assert found.fields[:at] == SCHEMA.fields[:at]


def test_a_renamed_column_is_reported() -> None:
    arrow = to_arrow(SCHEMA)[0]
    renamed = arrow.set(0, arrow.field(0).with_name("number"))
    with pytest.raises(ConversionError, match="probably renamed: the carried schema knows id, but not number"):
        from_arrow(renamed)
    found, _ = from_arrow(renamed, strict=False)
    assert (found.fields[0], found.fields[1:]) == (Field("number", m.UInt64()), SCHEMA.fields[1:])


def test_another_layout_of_the_same_values_keeps_the_annotations() -> None:
    table = empty()
    at = table.schema.get_field_index("unit")
    view = pa.struct([pa.field("symbol", pa.large_string(), False), pa.field("codes", pa.list_(pa.uint16()), False)])
    changed = table.schema.set(at, pa.field("unit", view))
    found, report = from_arrow(changed, strict=False)
    assert [loss.path for loss in report.losses] == ["unit"], "items that may be null are another type"
    same = pa.struct(
        [
            pa.field("symbol", pa.large_string(), False),
            pa.field("codes", pa.list_(pa.field("element", pa.uint16(), False)), False),
        ]
    )
    found, report = from_arrow(table.schema.set(at, pa.field("unit", same)))
    assert not report
    assert strip_encoding(found) == SCHEMA
    unit = found.field("unit")
    assert unit is not None
    assert isinstance(unit.type, Option)
    assert isinstance(unit.type.inner, m.Struct)
    assert unit.type.inner.fields[0].extra[BUFFER_ENCODING]["offsetBitWidth"] == 64


def test_a_dictionary_made_later_is_a_layout() -> None:
    schema = Schema((Field("a", m.String(), Extra({DESCRIPTION: "d"})),))
    arrow, _ = to_arrow(schema)
    encoded = arrow.set(0, pa.field("a", pa.dictionary(pa.int32(), pa.string()), False))
    found, report = from_arrow(encoded)
    assert (strip_encoding(found), bool(report)) == (schema, False)
    assert to_arrow(found)[0].field("a").type == pa.dictionary(pa.int32(), pa.string())


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b'{"format":2,"schema":{"fields":[]}}',
        b'{"format":1,"schema":{"fields":[{"name":"a","type":"Int9"}]}}',
        b'{"format":1,"schema":{"fields":[]},"settings":{"string":"View"}}',
        b"[" * 5000,
    ],
)
def test_a_damaged_carrier_is_reported_and_can_be_passed_over(text: bytes) -> None:
    arrow = pa.schema([pa.field("a", pa.int8())], metadata={CARRIER_KEY: text})
    with pytest.raises(ConversionError):
        from_arrow(arrow)
    found, report = from_arrow(arrow, strict=False)
    assert found == Schema((Field("a", Option(m.Int8())),))
    assert report


def test_the_carrier_says_nothing_twice() -> None:
    arrow, _ = to_arrow(from_arrow(to_arrow(SCHEMA)[0])[0])
    (key,) = arrow.metadata or {}
    assert key == CARRIER_KEY
    assert json.loads((arrow.metadata or {})[key])["schema"] == SCHEMA.to_json()

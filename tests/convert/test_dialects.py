"""Contracts in the forms of other systems: there and back nothing is lost, or what is lost is named."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings

from convert.contracts import EVERYTHING, contracts
from lakebed.contract_forms import READ_FORMS, read_contract, write_contract
from lakebed.convert.avro import from_avro, to_avro
from lakebed.convert.contract import Contract
from lakebed.convert.delta import from_delta, to_delta
from lakebed.convert.iceberg import from_iceberg, to_iceberg
from lakebed.convert.loss import LossReport
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.model.encoding import without_attributes
from lakebed.model.extra import DEFAULT, DESCRIPTION, ENUM, FIELD_ID, PAIMON_TYPE, RENAMED_FROM
from lakebed.model.logical_tree import fields_inside
from lakebed.physical import path_text

US, NS = m.TimeUnit.MICROSECOND, m.TimeUnit.NANOSECOND
#: Nothing of a table that has columns is lost there.
LOSSLESS = tuple(form for form in READ_FORMS if form != "iceberg")


def there_and_back(contract: Contract, form: str) -> tuple[Contract, LossReport]:
    """What comes back, and what was lost on the way out; nothing may be lost on the way back."""
    text, report = write_contract(contract, form)
    again, lost = read_contract(text.encode(), form, name="x")
    assert not lost, lost
    return again, report


@pytest.mark.parametrize("form", LOSSLESS)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30)
@given(contract=contracts())
def test_nothing_is_lost(form: str, contract: Contract) -> None:
    again, report = there_and_back(contract, form)
    assert all("nanoseconds" in loss.what for loss in report.losses), report
    assert again == contract
    assert again.options == contract.options


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(contract=contracts())
def test_iceberg_loses_what_it_names(contract: Contract) -> None:
    again, report = there_and_back(contract, "iceberg")
    kept = [(path, f.description) for path, f in fields_inside(contract.schema.fields)]
    found = [(path, f.description) for path, f in fields_inside(again.schema.fields)]
    assert found == kept
    told = {loss.path for loss in report.losses}
    for declared, column in zip(contract.schema.fields, again.schema.fields, strict=True):
        is_told = any(path.startswith(path_text((declared.name,))) for path in told)
        assert is_told or _without_ids(declared) == _without_ids(column)


def _without_ids(column: Field) -> Schema:
    return without_attributes(Schema((column,)), [FIELD_ID])


@pytest.mark.parametrize("form", LOSSLESS)
def test_everything_comes_back(form: str) -> None:
    assert there_and_back(EVERYTHING, form) == (EVERYTHING, LossReport())


def test_what_iceberg_loses_of_everything() -> None:
    again, report = there_and_back(EVERYTHING, "iceberg")
    assert str(report).splitlines() == [
        "the partition keys day",
        "the options bucket",
        "the attribute example.org/owner",
        "the description",
        "tiny: the type Int8, which is read as Int32",
        "unsigned: the type UInt8, which is read as Int32",
        "zoned: the type Timestamp(Millisecond, Europe/Paris), which is read as Timestamp(Microsecond, UTC)",
        "clock: the type Time(Second), which is read as Time(Microsecond)",
        "took: the type Duration(Millisecond), which is read as Int64",
        "code: the attribute paimon.apache.org/type",
        "pair: the fixed length 2",
        "rows.element.`x y`: the attribute lakebed.dev/personalData",
        "note: the attribute example.org/tag",
    ]
    ids = [f.extra[FIELD_ID] for _, f in fields_inside(again.schema.fields)]
    assert (ids[0], len(set(ids))) == (7, len(ids))
    assert again.primary_keys == ("id", "day")


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30)
@given(contract=contracts())
def test_schemas_of_avro_are_such_for_its_library(contract: Contract) -> None:
    made, _ = to_avro(contract)
    assert fastavro.parse_schema(json.loads(json.dumps(made)))


def _iceberg(type_: Any, **more: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": [{"id": 3, "name": "a", "required": False, "type": type_, **more}]}


def _delta(type_: Any, **metadata: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": [{"name": "a", "type": type_, "nullable": True, "metadata": metadata}]}


def _avro(type_: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "r", "fields": [{"name": "a", "type": type_, **more}]}


READ: list[tuple[Callable[[Any], tuple[Contract, LossReport]], Any, Any, dict[str, Any], list[str]]] = [
    (from_iceberg, _iceberg("int", doc="d"), m.Int32(), {DESCRIPTION: "d"}, []),
    (from_iceberg, _iceberg("int", **{"initial-default": 1, "write-default": 1}), m.Int32(), {DEFAULT: 1}, []),
    (
        from_iceberg,
        _iceberg("int", **{"initial-default": 1}),
        m.Int32(),
        {},
        ["a: the default of rows that are stored already"],
    ),
    (from_iceberg, _iceberg("binary", **{"write-default": "00"}), m.Binary(), {}, ["a: the default"]),
    (from_iceberg, _iceberg("uuid"), m.String(), {}, ["a: that the text is a UUID"]),
    (from_iceberg, _iceberg("timestamp"), m.Timestamp(US), {PAIMON_TYPE: "TIMESTAMP(6)"}, []),
    (from_iceberg, _iceberg("timestamp_ns"), m.Timestamp(NS), {PAIMON_TYPE: "TIMESTAMP(9)"}, []),
    (from_iceberg, _iceberg("timestamptz"), m.Timestamp(US), {}, []),
    (from_iceberg, _iceberg("variant"), m.String(), {PAIMON_TYPE: "VARIANT"}, []),
    (from_iceberg, _iceberg("geometry"), m.Binary(), {PAIMON_TYPE: "GEOMETRY(OGC:CRS84)"}, []),
    (
        from_iceberg,
        _iceberg("geography(srid:4326, karney)"),
        m.Binary(),
        {PAIMON_TYPE: "GEOGRAPHY(srid:4326, karney)"},
        [],
    ),
    (from_iceberg, _iceberg("fixed[16]"), m.Binary(16), {}, []),
    (from_iceberg, _iceberg("decimal(9,2)"), m.Decimal(9, 2), {}, []),
    (
        from_delta,
        _delta("timestamp_ntz", comment="c"),
        m.Timestamp(US),
        {PAIMON_TYPE: "TIMESTAMP(6)", DESCRIPTION: "c"},
        [],
    ),
    (
        from_delta,
        _delta("string", __CHAR_VARCHAR_TYPE_STRING="varchar(7)"),
        m.String(),
        {PAIMON_TYPE: "VARCHAR(7)"},
        [],
    ),
    (
        from_delta,
        _delta("long", **{"delta.generationExpression": "b + 1"}),
        m.Int64(),
        {},
        ["a: the metadata delta.generationExpression"],
    ),
    (from_delta, _delta("byte", **{"delta.columnMapping.id": 4}), m.Int8(), {FIELD_ID: 4}, []),
    (from_delta, _delta("decimal"), m.Decimal(10, 0), {}, []),
    (from_avro, _avro(["null", "int"], default=None, doc="d"), m.Int32(), {DESCRIPTION: "d"}, []),
    (from_avro, _avro(["int", "null"], default=3), m.Int32(), {DEFAULT: 3}, []),
    (from_avro, _avro(["null", {"type": "enum", "name": "e", "symbols": ["A"]}]), m.String(), {ENUM: ["A"]}, []),
    (from_avro, _avro(["null", "string"], aliases=["b"]), m.String(), {RENAMED_FROM: "b"}, []),
    (
        from_avro,
        _avro(["null", {"type": "string", "logicalType": "uuid"}]),
        m.String(),
        {},
        ["a: the logical type uuid of Avro"],
    ),
    (
        from_avro,
        _avro(["null", {"type": "long", "logicalType": "local-timestamp-nanos"}]),
        m.Timestamp(NS),
        {PAIMON_TYPE: "TIMESTAMP(9)"},
        [],
    ),
    (
        from_avro,
        _avro(["null", {"type": "fixed", "name": "f", "size": 4, "logicalType": "decimal", "precision": 9}]),
        m.Decimal(9, 0),
        {},
        [],
    ),
    (from_avro, _avro(["null", "int"], order="ignore"), m.Int32(), {}, ["a: the attribute order of Avro"]),
]


@pytest.mark.parametrize(("read", "value", "type_", "extra", "losses"), READ)
def test_what_others_write(
    read: Callable[[Any], tuple[Contract, LossReport]], value: Any, type_: Any, extra: dict[str, Any], losses: list[str]
) -> None:
    contract, report = read(value)
    (found,) = contract.schema.fields
    assert found.type == m.Option(type_)
    assert (found.extra if FIELD_ID in extra else found.extra.without(FIELD_ID)) == extra
    assert str(report).splitlines() == losses


@pytest.mark.parametrize(
    ("read", "value", "code", "path"),
    [
        (from_iceberg, _iceberg("integer"), "LB2603", "a"),
        (from_iceberg, _iceberg({"type": "list", "element-id": 4}), "LB2602", "a"),
        (from_iceberg, {"type": "struct", "fields": [{"name": "a", "type": "int"}]}, "LB2602", "a"),
        (from_iceberg, {"current-schema-id": 4, "schemas": [{"schema-id": 1, "fields": []}]}, "LB2602", None),
        (from_iceberg, {}, "LB2602", None),
        (from_delta, _delta("int"), "LB2603", "a"),
        (from_delta, {"fields": [{"name": "a", "type": "long", "nullable": "no"}]}, "LB2602", "a"),
        (from_delta, [], "LB2602", None),
        (from_avro, _avro(["int", "string"]), "LB2603", "a"),
        (from_avro, _avro("Foo"), "LB2603", "a"),
        (from_avro, _avro({"type": "array", "items": ["null", "r"]}), "LB2603", "a.element"),
        (from_avro, _avro({"type": "array"}), "LB2602", "a"),
        (from_avro, "int", "LB2602", None),
    ],
)
def test_what_is_none_of_these(read: Callable[[Any], Any], value: Any, code: str, path: str | None) -> None:
    with pytest.raises(ConversionError) as caught:
        read(value)
    (found,) = caught.value.diagnostics
    assert found.message.startswith("" if path is None else f"{path}: ")
    assert (found.code, found.path) == (code, path)


@pytest.mark.parametrize("write", [to_iceberg, to_delta])
def test_decimals_beyond_38_digits_are_refused(write: Callable[[Schema], Any]) -> None:
    with pytest.raises(ConversionError) as caught:
        write(Schema((Field("a", m.List(m.Decimal(40, 2))),)))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2601", "a.element")]


@pytest.mark.parametrize("form", READ_FORMS)
def test_an_option_of_an_option_and_a_name_that_stands_twice_are_refused(form: str) -> None:
    twice = (Field("a", m.Int8()), Field("a", m.Int8()), Field("b", m.Option(m.Option(m.Int8()))))
    with pytest.raises(ConversionError) as caught:
        write_contract(Contract(Schema(twice)), form)
    assert [d.code for d in caught.value.diagnostics] == ["LB2108", "LB2104"]


@pytest.mark.parametrize("type_", [m.Float64(), m.Struct(()), m.Option(m.Int32())])
def test_keys_that_iceberg_does_not_take_are_lost(type_: m.LogicalType) -> None:
    made, report = to_iceberg(Contract(Schema((Field("a", m.Int32()), Field("b", type_))), None, ("a", "b")))
    assert "identifier-field-ids" not in made
    assert str(report) == "the primary key a, b"


def test_the_metadata_of_an_iceberg_table() -> None:
    schema = {"schema-id": 2, "identifier-field-ids": [1], **_iceberg("date")}
    schema["fields"].append({"id": 1, "name": "id", "required": True, "type": "long"})
    old = {"schema-id": 1, "type": "struct", "fields": []}
    spec = [
        {"source-id": 3, "field-id": 1000, "name": "a", "transform": "identity"},
        {"source-id": 1, "field-id": 1001, "name": "id_bucket", "transform": "bucket[4]"},
    ]
    metadata = {
        "format-version": 2,
        "location": "s3://x/warehouse/shop/orders/",
        "current-schema-id": 2,
        "schemas": [old, schema],
        "default-spec-id": 1,
        "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": spec}],
        "properties": {"comment": "Orders", "write.format.default": "parquet"},
        "sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 1, "fields": [{"source-id": 1}]}],
    }
    for told in (metadata, {"metadata-location": "x", "metadata": metadata}):
        contract, report = from_iceberg(told)
        assert [f.name for f in contract.schema.fields] == ["a", "id"]
        assert (contract.name, contract.description) == ("orders", "Orders")
        assert (contract.primary_keys, contract.partition_keys) == (("id",), ("a",))
        assert str(report).splitlines() == [
            "the properties write.format.default",
            "the sort order",
            "the partition field id_bucket: bucket[4](id)",
        ]
    # The metadata of version 1 may have one schema and one list of partition fields.
    first, _ = from_iceberg({"format-version": 1, "schema": schema, "partition-spec": spec[:1]})
    assert (first.partition_keys, first.primary_keys) == (("a",), ("id",))


def test_of_a_namespace_of_avro_the_last_part_is_the_database() -> None:
    contract, report = from_avro({**_avro("int"), "name": "orders", "namespace": "com.example.shop"})
    assert (contract.name, str(report)) == ("shop.orders", "the namespace com.example of Avro")
    dotted = Contract(contract.schema, "shop.x.orders")
    assert from_avro(to_avro(dotted)[0]) == (dotted, LossReport())


def test_a_metadata_action_of_a_delta_table() -> None:
    action = {
        "id": "1",
        "name": "orders",
        "description": "Orders",
        "schemaString": json.dumps(_delta("date")),
        "partitionColumns": ["a"],
        "configuration": {"delta.appendOnly": "true"},
    }
    for told in (action, {"metaData": action}):
        contract, report = from_delta(told)
        assert (contract.name, contract.description, contract.partition_keys) == ("orders", "Orders", ("a",))
        assert str(report) == "the configuration delta.appendOnly"


@pytest.mark.parametrize("form", ["avro", "delta"])
def test_a_note_of_a_type_that_was_changed_by_hand_counts_no_more(form: str) -> None:
    text, _ = write_contract(Contract(Schema((Field("a", m.UInt8(), Extra({"x.org/y": 1})),))), form)
    changed = text.replace('"int"', '"string"').replace('"short"', '"string"')
    contract, report = read_contract(changed.encode(), form, name="x")
    assert contract.schema == Schema((Field("a", m.String(), Extra({"x.org/y": 1})),))
    assert str(report) == "a: the note of its type, which does not fit the column any more"


@pytest.mark.parametrize("form", ["avro", "delta"])
def test_a_hint_that_does_not_fit_a_changed_column_goes(form: str) -> None:
    declared = Field("a", m.Timestamp(US), Extra({PAIMON_TYPE: "TIMESTAMP(4)"}))
    text, _ = write_contract(Contract(Schema((declared,))), form)
    value = json.loads(text)
    value["fields"][0]["type"] = "string"
    contract, report = read_contract(json.dumps(value).encode(), form, name="x")
    assert contract.schema.fields == (Field("a", m.String()),)
    assert str(report) == "a: the hint TIMESTAMP(4), which does not fit the column any more"


@pytest.mark.parametrize(
    "metadata",
    [
        {"lakebed": 3},
        {"lakebed": {"extra": []}},
        {"lakebed": {"json": {"x.org/y": "{"}}},
        {"lakebed": {"name": 3}},
        {"lakebed": {"absent": "x"}},
        {"lakebed": {"schema": "{"}},
        {"lakebed": {"table": {"primaryKeys": "id"}}},
        {"lakebed": {"table": {"options": {"a": 1}}}},
    ],
)
def test_notes_that_are_none_are_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(ConversionError) as caught:
        from_delta(_delta("long", **metadata))
    assert [d.code for d in caught.value.diagnostics] == ["LB2602"]


def test_a_note_of_a_type_that_there_is_not_is_refused_at_its_column() -> None:
    with pytest.raises(ConversionError) as caught:
        from_delta(_delta("long", lakebed={"type": "Foo"}))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2112", "a")]


def test_a_column_of_avro_that_was_renamed_by_hand_has_its_new_name() -> None:
    made, _ = to_avro(Schema((Field("a b", m.Int8()),)))
    assert made["fields"][0]["name"] == "a_x20b"
    made["fields"][0]["name"] = "c"
    contract, report = from_avro(made)
    assert [f.name for f in contract.schema.fields] == ["c"]
    assert str(report) == "c: the name 'a b', which is not that of the column any more"


def test_names_that_are_alike_in_avro_are_told_apart() -> None:
    schema = Schema(tuple(Field(name, m.Int8()) for name in ("a b", "a_x20b", "1", "_1")))
    made, report = to_avro(schema)
    assert [f["name"] for f in made["fields"]] == ["a_x20b_", "a_x20b", "_1_", "_1"]
    assert (from_avro(made)[0].schema, report) == (schema, LossReport())


def test_ids_of_iceberg_that_are_not_pinned_come_after_those_that_a_table_ever_had() -> None:
    pinned = Field("b", m.List(m.Struct((Field("c", m.Int8()),))), Extra({FIELD_ID: 5}))
    schema = Schema((Field("a", m.Map(m.Int8(), m.Int8())), pinned))
    made, _ = to_iceberg(dataclasses.replace(Contract(schema), highest_field_id=8))
    a, b = made["fields"]
    assert [a["id"], b["id"], a["type"]["key-id"], a["type"]["value-id"]] == [9, 5, 10, 11]
    assert b["type"]["element"]["fields"][0]["id"] == 12
    assert b["type"]["element-id"] == 536870911 + 5 * 1024 + 1


def test_ids_inside_of_a_pinned_column_stay_while_the_table_grows() -> None:
    """They are those that Paimon itself writes into the metadata of Iceberg."""
    inner = m.Map(m.Int8(), m.List(m.Int8()))
    column = Field("a", m.Map(m.String(), inner), Extra({FIELD_ID: 2}))

    def of(schema: Schema) -> list[int]:
        type_ = to_iceberg(schema)[0]["fields"][0]["type"]
        nested = type_["value"]
        return [type_["key-id"], type_["value-id"], nested["key-id"], nested["value-id"], nested["value"]["element-id"]]

    base, own = 536870911, 2 * 1024
    found = of(Schema((column,)))
    assert found == of(Schema((column, Field("new", m.List(m.Int8()), Extra({FIELD_ID: 9})))))
    assert found == [base - own - 1, base + own + 1, base - own - 2, base + own + 2, base + own + 3]
    maps = m.Map(m.Map(m.Int8(), m.Int8()), m.Map(m.Int8(), m.Int8()))
    keyed, _ = to_iceberg(Schema((Field("a", maps, Extra({FIELD_ID: 2})),)))
    ids = [int(n) for n in re.findall(r'-id": (\d+)', json.dumps(keyed["fields"]))]
    assert len({*ids}) == len(ids) == 6


def test_a_delta_schema_that_spark_wrote_for_lakebed_has_its_annotations() -> None:
    from lakebed.convert.spark import from_struct_type, to_struct_type

    fields = tuple(f for f in EVERYTHING.schema.fields if FIELD_ID not in f.extra)
    schema = Schema(fields, EVERYTHING.schema.extra)
    struct = to_struct_type(schema)
    contract, report = from_delta(json.loads(struct.json()))
    assert (contract.schema, report) == (schema, LossReport())
    delta, _ = to_delta(schema)
    assert from_struct_type(type(struct).fromJson(delta)).fields == schema.fields

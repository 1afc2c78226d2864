"""Data contracts of others: the Open Data Contract Standard, model contracts of dbt, and types of SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convert.contracts import EVERYTHING
from lakebed.contract_forms import parse_yaml, read_contract, read_contracts
from lakebed.convert.dbt import from_dbt, to_dbt
from lakebed.convert.loss import Loss
from lakebed.convert.odcs import from_odcs, to_odcs
from lakebed.convert.sql_type import SqlTypes
from lakebed.errors import ConversionError, ManifestError
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.model.extra import (
    DESCRIPTION,
    ENUM,
    MAXIMUM,
    MINIMUM,
    PAIMON_TYPE,
    PATTERN,
    PERSONAL_DATA,
    UNIQUE,
)
from lakebed.schema_forms import form_of

US, MS = m.TimeUnit.MICROSECOND, m.TimeUnit.MILLISECOND

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
version: 1.1.0
status: active
description: {purpose: What was sold}
team:
  name: shop-team
servers: [{server: prod, type: local, path: ./x, format: parquet}]
schema:
  - name: orders
    physicalType: table
    tags: [finance]
    properties:
      - {name: day, logicalType: date, required: true, partitioned: true, partitionKeyPosition: 1}
      - name: id
        logicalType: integer
        physicalType: NUMBER(18,0)
        primaryKey: true
        primaryKeyPosition: 1
        required: true
        logicalTypeOptions: {minimum: 1, format: u64}
      - {name: mail, logicalType: string, classification: PII, unique: true, tags: [gdpr]}
      - name: level
        logicalType: string
        physicalType: varchar(9)
        description: How urgent
        classification: internal
        enum: [{value: low}, {value: high, description: Today}]
      - name: state
        logicalType: string
        quality:
          - {type: library, metric: invalidValues, arguments: {validValues: [new, paid]}, mustBe: 0}
          - {type: library, metric: nullValues, mustBeLessThan: 5}
      - {name: paid_at, logicalType: timestamp, logicalTypeOptions: {timezone: true, defaultTimezone: Europe/Paris}}
      - name: lines
        logicalType: array
        items: {logicalType: object, properties: [{name: sku, logicalType: string, required: true}]}
      - name: labels
        logicalType: map
        map: {key: {logicalType: string, required: true}, value: {logicalType: string}}
      - {name: odd, logicalType: string, physicalType: SUPER_TEXT, examples: [a], criticalDataElement: true}
    customProperties:
      - {property: costCenter, value: 7}
      - {property: x.org/y, value: [1]}
      - {property: a b, value: 1}
"""


def column(schema: Schema, name: str) -> Field:
    found = schema.field(name)
    assert found is not None
    return found


def test_a_contract_of_the_standard() -> None:
    (contract, report), *more = read_contracts(CONTRACT.encode(), "odcs", name="c.yaml")
    assert not more
    schema = contract.schema
    assert (contract.name, contract.primary_keys, contract.partition_keys) == ("orders", ("id",), ("day",))
    assert schema.extra == {
        DESCRIPTION: "What was sold",
        "bitol.io/owner": "shop-team",
        "bitol.io/tags": ["finance"],
        "bitol.io/costCenter": 7,
        "x.org/y": [1],
    }
    optional = m.Option
    assert schema.fields == (
        Field("day", m.Date()),
        Field("id", m.UInt64(), Extra({MINIMUM: 1})),
        Field("mail", optional(m.String()), Extra({PERSONAL_DATA: True, UNIQUE: True, "bitol.io/tags": ["gdpr"]})),
        Field(
            "level",
            optional(m.String()),
            Extra(
                {
                    PAIMON_TYPE: "VARCHAR(9)",
                    DESCRIPTION: "How urgent",
                    "bitol.io/classification": "internal",
                    ENUM: ["low", "high"],
                }
            ),
        ),
        Field("state", optional(m.String()), Extra({ENUM: ["new", "paid"]})),
        Field("paid_at", optional(m.Timestamp(US, "Europe/Paris"))),
        Field("lines", optional(m.List(optional(m.Struct((Field("sku", m.String()),)))))),
        Field("labels", optional(m.Map(m.String(), optional(m.String())))),
        Field("odd", optional(m.String())),
    )
    assert str(report).splitlines() == [
        "state: a quality check",
        "odd: the physical type SUPER_TEXT, which is not known here",
        "odd: the contract's `criticalDataElement`",
        "odd: the contract's `examples`",
        "the custom property a b",
        "the contract's `servers`",
    ]


def test_a_contract_of_version_3_0_names_its_owner_among_the_team() -> None:
    value = parse_yaml(CONTRACT.encode(), "c.yaml")
    value |= {
        "apiVersion": "v3.0.2",
        "team": [{"username": "mia", "role": "Data Steward"}, {"username": "al", "role": "Owner"}],
    }
    assert from_odcs(value)[0].schema.extra["bitol.io/owner"] == "al"


def test_what_a_contract_says_in_its_own_words() -> None:
    made, report = to_odcs(EVERYTHING)
    assert not report
    assert made["team"] == {"name": "shop-team"}
    (table,) = made["schema"]
    by_name = {p["name"]: p for p in table["properties"]}
    assert by_name["id"] | {"customProperties": None} == {
        "name": "id",
        "logicalType": "integer",
        "physicalType": "bigint",
        "logicalTypeOptions": {"format": "i64"},
        "description": "Number",
        "required": True,
        "primaryKey": True,
        "primaryKeyPosition": 1,
        "customProperties": None,
    }
    assert by_name["unsigned"]["logicalTypeOptions"] == {"format": "u8"}
    assert "customProperties" not in by_name["unsigned"], "nothing is left to note"
    assert by_name["rows"]["items"]["properties"][0]["classification"] == "pii"
    # An owner is one whatever its attribute is called, and is found under that name again.
    assert {
        "property": "lakebed",
        "value": {"options": {"bucket": "2"}, "renamed": {"bitol.io/owner": "example.org/owner"}},
    } in (table["customProperties"])


MODELS = """\
version: 2
models:
  - name: orders
    description: What was sold
    config:
      contract: {enforced: true}
      tags: finance
      schema: shop
      materialized: incremental
      partition_by: [day]
    meta: {owner: shop-team, cost: 7}
    constraints:
      - {type: primary_key, columns: [id]}
      - {type: check, expression: id > 0}
    columns:
      - {name: day, data_type: date, constraints: [{type: not_null}]}
      - {name: id, data_type: bigint}
      - name: mail
        data_type: varchar(50)
        description: Where the bill goes
        meta: {pii: true, x.org/y: 1}
        tests: [unique, not_null, {relationships: {to: ref('people'), field: mail}}]
      - name: level
        data_type: text
        data_tests: [{accepted_values: {values: [low, high]}}]
        config: {tags: [gdpr]}
      - {name: lines, data_type: "array<struct<sku: string not null>>"}
    freshness: {warn_after: {count: 1, period: day}}
sources:
  - name: raw
    schema: landing
    tables:
      - {name: people, identifier: t_people, columns: [{name: a, data_type: "int[]"}]}
"""


def test_models_and_sources_of_dbt() -> None:
    (orders, report), (people, lost) = read_contracts(MODELS.encode(), "dbt", name="schema.yml")
    assert (people.name, people.schema) == (
        "landing.t_people",
        Schema((Field("a", m.Option(m.List(m.Option(m.Int32())))),)),
    )
    assert not lost
    assert (orders.name, orders.primary_keys, orders.partition_keys) == ("shop.orders", ("id",), ("day",))
    assert orders.schema.extra == {
        DESCRIPTION: "What was sold",
        "getdbt.com/owner": "shop-team",
        "getdbt.com/tags": ["finance"],
        "getdbt.com/cost": 7,
    }
    mail = {
        PAIMON_TYPE: "VARCHAR(50)",
        DESCRIPTION: "Where the bill goes",
        PERSONAL_DATA: True,
        UNIQUE: True,
        "x.org/y": 1,
    }
    assert orders.schema.fields == (
        Field("day", m.Date()),
        Field("id", m.Int64()),
        Field("mail", m.String(), Extra(mail)),
        Field("level", m.Option(m.String()), Extra({ENUM: ["low", "high"], "getdbt.com/tags": ["gdpr"]})),
        Field("lines", m.Option(m.List(m.Option(m.Struct((Field("sku", m.String()),)))))),
    )
    assert str(report).splitlines() == [
        "dbt's `materialized`",
        "a constraint of the table",
        "mail: the constraint or test relationships",
        "dbt's `freshness`",
    ]


def test_what_a_model_says_in_its_own_words() -> None:
    made, report = to_dbt(EVERYTHING)
    assert not report
    (model,) = made["models"]
    assert model["config"]["contract"] == {"enforced": True}
    assert (model["name"], model["config"]["schema"], model["config"]["partition_by"]) == ("orders", "shop", ["day"])
    assert model["constraints"] == [{"type": "primary_key", "columns": ["id", "day"]}]
    types = {c["name"]: c["data_type"] for c in model["columns"]}
    assert types["rows"] == "array<struct<`x y`: string>>"
    assert (types["code"], types["wall_clock"], types["by_number"]) == ("char(2)", "timestamp_ntz", "map<int, string>")


def test_what_dbt_wrote_stays_as_it_was() -> None:
    """Labels and properties without a domain come back as they stood."""
    contract, _ = read_contracts(MODELS.encode(), "dbt", name="schema.yml")[0]
    made, _ = to_dbt(contract)
    config = made["models"][0]["config"]
    assert (config["meta"], config["tags"]) == ({"owner": "shop-team", "cost": 7}, ["finance"])


def test_tags_and_owners_go_from_one_contract_to_the_other() -> None:
    contract, _ = read_contract(CONTRACT.encode(), "odcs", name="c.yaml")
    config = to_dbt(contract)[0]["models"][0]["config"]
    assert config["tags"] == ["finance"]
    assert config["meta"]["owner"] == "shop-team"
    assert from_dbt(to_dbt(contract)[0])[0] == contract


@pytest.mark.parametrize(
    ("text", "type_", "hint"),
    [
        ("INT", m.Int32(), None),
        ("int64", m.Int64(), None),
        ("float64", m.Float64(), None),
        ("real", m.Float32(), None),
        ("double precision", m.Float64(), None),
        ("bigint unsigned", m.UInt64(), None),
        ("numeric(10, 2)", m.Decimal(10, 2), None),
        ("decimal(10)", m.Decimal(10, 0), None),
        ("character varying(5)", m.String(), "VARCHAR(5)"),
        ("binary(4)", m.Binary(), "VARBINARY(4)"),
        ("bytes", m.Binary(), None),
        ("timestamp", m.Timestamp(US), None),
        ("timestamp(3)", m.Timestamp(MS), None),
        ("timestamp_ntz", m.Timestamp(US), "TIMESTAMP(6)"),
        ("timestamp without time zone", m.Timestamp(US), "TIMESTAMP(6)"),
        ("datetime", m.Timestamp(US), "TIMESTAMP(6)"),
        ("jsonb", m.String(), "VARIANT"),
        ("void", m.Null(), None),
        ("text[]", m.List(m.Option(m.String())), None),
        ("struct< >", m.Struct(()), None),
        (
            "map<int, struct<`a``b` date not null>>",
            m.Map(m.Int32(), m.Option(m.Struct((Field("a`b", m.Date()),)))),
            None,
        ),
    ],
)
def test_types_of_sql(text: str, type_: m.LogicalType, hint: str | None) -> None:
    losses: list[Loss] = []
    found = SqlTypes(losses).read(text, ("a",)).field("a")
    assert (found.type, found.extra.get(PAIMON_TYPE), losses) == (type_, hint, [])


def test_what_types_of_sql_lose() -> None:
    losses: list[Loss] = []
    types = SqlTypes(losses)
    assert types.read("numeric", ("a",)).type == m.Decimal(38, 9)
    assert types.read("uuid", ("b",)).type == m.String()
    types.read("struct<x: int comment 'y'>", ("c",))
    assert [str(loss) for loss in losses] == [
        "a: the digits of the decimal, which are not said; Decimal(38, 9) is taken",
        "b: that the text is a UUID",
        "c.x: COMMENT 'y'",
    ]


@pytest.mark.parametrize("text", ["super", "interval", "array<int, int>", "map<int>", ""])
def test_what_is_no_type_of_sql_that_a_column_can_have(text: str) -> None:
    with pytest.raises(ConversionError) as caught:
        SqlTypes([]).read(text, ("a",))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2603", "a")]


@pytest.mark.parametrize(
    ("form", "text", "code", "path"),
    [
        ("odcs", "kind: DataContract\napiVersion: v2.2.2", "LB2602", None),
        ("odcs", "kind: DataContract\napiVersion: v3.1.0", "LB2604", None),
        ("odcs", "kind: DataContract\napiVersion: v3.1.0\nschema: [{name: a, properties: [{name: b}]}]", "LB2603", "b"),
        ("odcs", "kind: DataContract\napiVersion: v3.1.0\nschema: [{name: a, properties: {}}]", "LB2602", None),
        ("dbt", "version: 2", "LB2602", None),
        ("dbt", "models: [{name: a}, {name: b}]", "LB2604", None),
        ("dbt", "models: [{name: a, columns: [{name: b}]}]", "LB2602", "b"),
        ("dbt", "models: [{columns: []}]", "LB2602", None),
    ],
)
def test_what_is_no_contract(form: str, text: str, code: str, path: str | None) -> None:
    with pytest.raises(ConversionError) as caught:
        read_contract(text.encode(), form, name="x.yml")
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [(code, path)]


def test_faults_of_yaml_have_a_place() -> None:
    with pytest.raises(ManifestError) as caught:
        read_contract(b"models:\n  - {name: a\n", "dbt", name="schema.yml")
    assert str(caught.value.diagnostics[0].position).startswith("schema.yml:2")
    with pytest.raises(ManifestError) as caught:
        read_contract(b"models: []\n---\nmodels: []\n", "dbt", name="schema.yml")
    assert caught.value.diagnostics[0].code == "LB1020"


def test_contracts_are_told_by_what_they_begin_with(tmp_path: Path) -> None:
    said: list[tuple[Any, str]] = [(CONTRACT, "odcs"), (MODELS, "dbt"), ("kind: Table\nversion: 1\n", "odf-yaml")]
    assert [form_of("x.yaml", text.encode()) for text, _ in said] == [form for _, form in said]
    assert form_of("x", b'{"kind": "DataContract"}') == "odcs"


def test_bounds_and_patterns_are_options_of_the_type() -> None:
    fields = (
        Field("n", m.Int32(), Extra({MINIMUM: 1, MAXIMUM: 9})),
        Field("t", m.String(), Extra({PATTERN: "[a-z]+", "x.org/classification": "secret"})),
        Field("d", m.Date(), Extra({MINIMUM: "2024-01-01"})),
    )
    made, _ = to_odcs(Schema(fields))
    properties = made["schema"][0]["properties"]
    assert properties[0]["logicalTypeOptions"] == {"format": "i32", "minimum": 1, "maximum": 9}
    assert properties[1]["logicalTypeOptions"] == {"pattern": "[a-z]+"}
    assert properties[1]["classification"] == "secret"
    assert properties[2]["logicalTypeOptions"] == {"minimum": "2024-01-01"}
    assert from_odcs(made)[0].schema.fields == fields

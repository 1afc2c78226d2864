"""The envelopes: `kind: Table`, dataset snapshot, dataset resource, one event, a list of events."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakebed.diagnostics import Position
from lakebed.errors import ManifestError
from lakebed.manifest import (
    Compatibility,
    ReadOptions,
    SourceKind,
    SystemColumns,
    TableManifest,
    dump_table,
    load_manifest,
    parse_manifest,
)
from lakebed.model import (
    Date,
    Decimal,
    Extra,
    Field,
    Float64,
    Int8,
    Int32,
    Int64,
    List,
    Option,
    Schema,
    String,
    Struct,
    Timestamp,
    TimeUnit,
    UInt8,
    UInt64,
)
from manifest.marked import problems_of, table

FLIGHTS = """\
kind: Table
version: 1
content:
  name: nyc.flights
  description: Departures from New York
  primaryKeys: []
  partitionKeys: [month]
  options: {bucket: -1, file.format: parquet}
  compatibility: ODF
  read:
    format: csv
    options: {header: true, nullValue: NA}
    include: "*.csv"
    exclude: [old/**, 7]
  schema:
    fields:
      - name: month
        type: Int32
      - name: departure_delay
        type: {kind: Option, inner: {kind: Float64}}
        extra:
          opendatafabric.org/description: Minutes after the scheduled departure; negative is early
          lakebed.dev/renamedFrom: dep_delay
    extra:
      example.org/owner: traffic-team
"""

GREENHOUSE = """\
kind: DatasetSnapshot
version: 1
content:
  name: lab.green-house
  kind: Root
  metadata:
  - kind: setVocab
    eventTimeColumn: taken_at
  - kind: SetDataSchema
    schema:
      fields:
      - {name: offset, type: Int64}
      - {name: op, type: Int32}
      - {name: system_time, type: Timestamp}
      - name: taken_at
        type: Timestamp
        extra:
          opendatafabric.org/description: Instant of the measurement
      - name: bed
        type:
          kind: Struct
          fields:
          - name: keeper
            type: String
            extra:
              opendatafabric.org/type: {kind: Did}
          - name: corner
            type: {kind: List, itemType: Float64, fixedLength: 2}
      - name: moisture
        type: {kind: Option, inner: {kind: Decimal, precision: 5, scale: 2}}
        extra:
          example.org/unit: {symbol: '%', ucum: '%'}
      extra:
        example.org/steward: gardeners
        lakebed.dev/primaryKeys: [offset]
        lakebed.dev/partitionKeys: [op]
        lakebed.dev/options: {bucket: 2, merge-engine: deduplicate}
  - kind: AddPushSource
    sourceName: default
    read:
      kind: NdJson
      schema:
        fields:
        - {name: taken_at, type: Timestamp}
    merge: {kind: Append}
"""


def only(text: str, name: str | None = None) -> TableManifest:
    (declared,) = parse_manifest(text, name=name).tables
    return declared


def test_a_table() -> None:
    declared = only(FLIGHTS)
    description = {"opendatafabric.org/description": "Departures from New York"}
    assert declared == TableManifest(
        "nyc.flights",
        Schema(
            (
                Field("month", Int32()),
                Field(
                    "departure_delay",
                    Option(Float64()),
                    Extra(
                        {
                            "opendatafabric.org/description": "Minutes after the scheduled departure; "
                            "negative is early",
                            "lakebed.dev/renamedFrom": "dep_delay",
                        }
                    ),
                ),
            ),
            Extra({"example.org/owner": "traffic-team", **description}),
        ),
        partition_keys=("month",),
        options={"bucket": "-1", "file.format": "parquet"},
        description="Departures from New York",
        compatibility=Compatibility.ODF,
        read=ReadOptions("csv", {"header": "true", "nullValue": "NA"}, include=("*.csv",), exclude=("old/**", "7")),
    )
    assert declared.source_kind is SourceKind.TABLE


def test_the_canonical_form_of_a_table() -> None:
    assert (
        dump_table(only(FLIGHTS))
        == """\
kind: Table
version: 1
content:
  name: nyc.flights
  description: Departures from New York
  partitionKeys:
    - month
  options:
    bucket: "-1"
    file.format: parquet
  compatibility: ODF
  read:
    format: csv
    options:
      header: "true"
      nullValue: NA
    include:
      - "*.csv"
    exclude:
      - "old/**"
      - "7"
  schema:
    fields:
      - name: month
        type:
          kind: Int32
      - name: departure_delay
        type:
          kind: Option
          inner:
            kind: Float64
        extra:
          lakebed.dev/renamedFrom: dep_delay
          opendatafabric.org/description: Minutes after the scheduled departure; negative is early
    extra:
      example.org/owner: traffic-team
"""
    )


def test_positions_of_fields_and_properties() -> None:
    text = FLIGHTS.replace(
        "type: Int32", "type: {kind: List, itemType: {kind: Struct, fields: [{name: x, type: Int8}]}}"
    )
    declared = parse_manifest(text, source="f.yaml").tables[0]
    assert declared.position == Position("f.yaml", 4, 9)
    assert declared.position_of(("month",)) == Position("f.yaml", 17, 15)
    assert declared.position_of(("month", "element", "x")) == Position("f.yaml", 18, 69)
    assert declared.position_of(("month", "element")) == declared.position_of(("month",))
    assert declared.position_of(("nobody",)) == declared.position
    assert declared.property_position("options", "file.format") == Position("f.yaml", 8, 25)
    assert declared.property_position("options", "absent") == Position("f.yaml", 8, 12)
    assert declared.property_position("partitionKeys") == Position("f.yaml", 7, 18)


def test_descriptions_of_table_and_schema_are_one() -> None:
    fields = "- {name: x, type: Int8}"
    below = only(table(fields) + "    extra: {opendatafabric.org/description: words}\n")
    above = only(table(fields, content="description: words"))
    assert below == above
    assert above.description == above.schema.extra.description == "words"
    assert dump_table(above).count("words") == 1
    with pytest.raises(ValueError, match="differ"):
        TableManifest("x", above.schema, description="other words")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("name: flights", "flights"),
        ("name: nyc.flights", "nyc.flights"),
        ("{name: flights, database: nyc}", "nyc.flights"),
        ("{name: '`a.b`', database: nyc}", "nyc.`a.b`"),
        ("name: '`a.b`.`c``d`'", "`a.b`.`c``d`"),
        ("name: a.b.c", "a.b.c"),
        ("name: 2024", "2024"),
    ],
)
def test_names(said: str, name: str) -> None:
    content = said if said.startswith("{") else f"{{{said}}}"
    text = f"kind: Table\nversion: 1\ncontent: {content[:-1]}, schema: {{fields: []}}}}\n"
    assert only(text).name == name


def test_several_documents() -> None:
    second = table("- {name: x, type: Int8}")
    manifest = parse_manifest(f"# first\n---\n{FLIGHTS}---\n{second}...\n---\n# nothing more\n")
    assert [declared.name for declared in manifest.tables] == ["nyc.flights", "a.b"]
    assert manifest.table("a.b") is manifest.tables[1]
    assert manifest.table("a.c") is None


def test_empty_properties_are_absent_properties() -> None:
    text = table("- {name: x, type: Int8, extra: }", content="primaryKeys:\noptions:\ndescription: null\nread: ~")
    assert only(text + "    extra: {}\n") == only(table("- {name: x, type: Int8}"))


# System columns


def test_system_columns_are_put_in_front_where_they_are_asked_for() -> None:
    kamu = only(table("- {name: x, type: Int8}", content="systemColumns: kamu"))
    spec = only(table("- {name: x, type: Int8}", content="systemColumns: spec"))
    assert [(f.name, f.type) for f in kamu.schema.fields] == [
        ("offset", Int64()),
        ("op", Int32()),
        ("system_time", Timestamp()),
        ("event_time", Timestamp()),
        ("x", Int8()),
    ]
    assert [f.type for f in spec.schema.fields[:2]] == [UInt64(), UInt8()]
    assert kamu.system_columns is SystemColumns.KAMU
    assert kamu.position_of(("op",)) == kamu.property_position("systemColumns") == Position(None, 5, 18)


def test_declared_system_columns_stay_as_they_are() -> None:
    text = table("- {name: x, type: Int8}\n- {name: event_time, type: Date}", content="systemColumns: kamu")
    declared = only(text)
    assert [f.name for f in declared.schema.fields] == ["offset", "op", "system_time", "x", "event_time"]
    assert declared.schema.fields[-1].type == Date()
    assert only(dump_table(declared)) == declared


# Open Data Fabric


def test_a_dataset_snapshot() -> None:
    declared = only(GREENHOUSE)
    assert declared.name == "lab.green-house"
    assert declared.source_kind is SourceKind.DATASET_SNAPSHOT
    assert declared.primary_keys == ("offset",)
    assert declared.partition_keys == ("op",)
    assert declared.options == {"bucket": "2", "merge-engine": "deduplicate"}
    assert declared.schema.extra == {"example.org/steward": "gardeners"}
    assert [f.name for f in declared.schema.fields] == ["offset", "op", "system_time", "taken_at", "bed", "moisture"]
    assert declared.schema.fields[4].type == Struct(
        (
            Field("keeper", String(), Extra({"opendatafabric.org/type": {"kind": "Did"}})),
            Field("corner", List(Float64(), 2)),
        )
    )
    assert declared.schema.fields[5].type == Option(Decimal(5, 2))


def test_a_rewrite_keeps_the_other_events_in_their_order() -> None:
    declared = only(GREENHOUSE)
    assert declared.odf is not None
    assert [event.kind for event in declared.odf.events] == ["SetVocab", "AddPushSource"]
    assert declared.odf.schema_at == 1
    assert declared.odf.events[0].to_json() == {"kind": "SetVocab", "eventTimeColumn": "taken_at"}
    written = dump_table(declared)
    assert re.findall(r"^    - kind: (\w+)", written, re.MULTILINE) == ["SetVocab", "SetDataSchema", "AddPushSource"]
    assert list(declared.odf.events[1].to_json()) == ["kind", "sourceName", "read", "merge"]
    assert only(written) == declared


def test_a_dataset_resource() -> None:
    text = """\
$schema: https://opendatafabric.org/schemas/dataset/v1alpha1/Dataset
headers: {name: lab.green-house, labels: {a: b}}
spec:
  kind: Root
  metadata:
  - {kind: SetDataSchema, schema: {fields: [{name: x, type: Int8}]}}
  - {kind: SetInfo, description: Beds}
"""
    declared = only(text)
    assert declared.name == "lab.green-house"
    assert declared.source_kind is SourceKind.DATASET_RESOURCE
    assert declared.odf is not None
    assert declared.odf.other_headers() == {"labels": {"a": "b"}}
    assert only(dump_table(declared)) == declared
    assert dump_table(declared).startswith("$schema: https://opendatafabric.org/schemas/dataset/v1alpha1/Dataset\n")


def test_one_event_needs_a_name() -> None:
    text = (
        "kind: MetadataEvent\nversion: 1\ncontent: {kind: SetDataSchema, schema: {fields: [{name: x, type: Int8}]}}\n"
    )
    declared = only(text, name="a.b")
    assert declared.name == "a.b"
    assert declared.source_kind is SourceKind.METADATA_EVENT
    assert only(dump_table(declared), name="a.b") == declared
    (problem,) = problems_of(text)
    assert problem.code == "LB1024"
    assert "name=" in (problem.remedy or "")


def test_a_bare_event_is_a_list_of_one() -> None:
    text = "kind: setdataschema\nschema: {fields: [{name: x, type: Int8}]}\n"
    assert only(text, name="a.b") == only("- " + text.replace("\n", "\n  ").rstrip() + "\n", name="a.b")


def test_a_name_from_outside_is_for_documents_without_one() -> None:
    assert only(FLIGHTS, name="x.y").name == "nyc.flights"


def test_the_last_schema_event_counts() -> None:
    text = """\
- {kind: SetDataSchema, schema: {fields: [{name: x, type: Int8}]}}
- {kind: SetLicense, shortName: MIT}
- {kind: SetDataSchema, schema: {fields: [{name: x, type: Int8}, {name: y, type: Int8}]}}
"""
    manifest = parse_manifest(text, name="a.b")
    assert [d.code for d in manifest.diagnostics] == ["LB1028"]
    declared = manifest.tables[0]
    assert [f.name for f in declared.schema.fields] == ["x", "y"]
    assert only(dump_table(declared), name="a.b") == declared


@pytest.mark.parametrize("kind", ["SetDataSchema", "setDataSchema", "setdataschema"])
def test_event_kinds_have_three_spellings(kind: str) -> None:
    assert only(f"- {{kind: {kind}, schema: {{fields: []}}}}", name="a").schema == Schema(())


def test_the_example_of_the_rfc(shared: Path) -> None:
    page = (shared / "specs" / "odf-rfc-016.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "SetDataSchema" in b)
    declared = only(block, name="lab.mri")
    milliseconds = Timestamp(TimeUnit.MILLISECOND, "UTC")
    assert [(f.name, f.type) for f in declared.schema.fields[:4]] == [
        ("offset", UInt64()),
        ("op", UInt8()),
        ("system_time", milliseconds),
        ("event_time", milliseconds),
    ]
    assert declared.schema.fields[3].extra == {"a.com/a": "foo", "b.com/x": "bar"}
    subject = declared.schema.fields[5]
    assert isinstance(subject.type, Struct)
    assert [(f.name, f.type) for f in subject.type.fields] == [("id", String()), ("gender", Option(String()))]
    assert subject.type.fields[0].extra["opendatafabric.org/type"] == {"kind": "Did"}
    assert declared.schema.fields[6].type == List(String())
    assert declared.schema.extra == {"c.com/z": "baz"}
    assert only(dump_table(declared), name="lab.mri") == declared


def test_the_decimal_without_parameters_of_the_rfc_is_refused() -> None:
    (problem,) = problems_of(
        "- {kind: SetDataSchema, schema: {fields: [{name: x, type: {kind: Decimal}}]}}", name="a.b"
    )
    assert problem.code == "LB1042"
    assert "`precision` and `scale`" in problem.message


@pytest.mark.parametrize("vector", ["v1_system_columns", "v5_kamu_reference"])
def test_schema_events_of_the_vectors(shared: Path, vector: str) -> None:
    text = (shared / "vectors" / "odf" / f"{vector}.yaml").read_text(encoding="utf-8")
    event = re.search(r"^  event:\n(.*)", text, re.MULTILINE | re.DOTALL)
    assert event is not None
    declared = only(event[1], name="a.b")
    schema = event[1][event[1].index("      fields:") :]
    assert dump_table(declared).replace(" ", "").endswith(schema.replace(" ", ""))


def test_a_demo_sized_manifest_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(f"{FLIGHTS}---\n{GREENHOUSE}", encoding="utf-8")
    manifest = load_manifest(path)
    assert [declared.name for declared in manifest.tables] == ["nyc.flights", "lab.green-house"]
    assert manifest.tables[1].position == Position(str(path), 30, 9)
    with pytest.raises(ManifestError):
        load_manifest(path.with_name("neither.yaml"))

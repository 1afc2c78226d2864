"""The layout file says what the specification says, and nothing in the code says otherwise."""

from __future__ import annotations

import pytest

from lakebed.events.flatbuffers_layout import Form, layout, parse
from lakebed.manifest.odf import EVENT_KINDS
from lakebed.model import BY_KIND

# The slots of the specification's tables; a union stands at the first of its two.
SLOTS = {
    "SetDataSchema": {"rawArrowSchema": 0, "schema": 1},
    "DataSchema": {"fields": 0, "extra": 1},
    "DataField": {"name": 0, "type": 1, "extra": 3},
    "ExtraAttributes": {"entries": 0},
    "Binary": {"fixedLength": 0},
    "Decimal": {"precision": 0, "scale": 1},
    "Duration": {"unit": 0},
    "Time": {"unit": 0},
    "TimestampType": {"unit": 0, "timezone": 1},
    "List": {"itemType": 0, "fixedLength": 2},
    "Map": {"keyType": 0, "valueType": 2, "keysSorted": 4},
    "Option": {"inner": 0},
    "Struct": {"fields": 0},
    "MetadataBlock": {"systemTime": 0, "prevBlockHash": 1, "sequenceNumber": 2, "event": 3},
    "Manifest": {"kind": 0, "version": 1, "content": 2},
    "SetVocab": {"offsetColumn": 0, "operationTypeColumn": 1, "systemTimeColumn": 2, "eventTimeColumn": 3},
    "Seed": {"datasetId": 0, "datasetKind": 1},
}
ADD_DATA = (*("prevCheckpoint", "prevOffset", "newData", "newCheckpoint", "newWatermark", "newSourceState", "extra"),)
# The slots of `schema` and of `ddlSchema`.
READ_STEPS = {
    "Csv": (10, 0),
    "GeoJson": (1, 0),
    "EsriShapefile": (2, 0),
    "Parquet": (1, 0),
    "Json": (5, 1),
    "NdJson": (4, 0),
    "NdGeoJson": (1, 0),
}
WIDTHS = {
    ("Binary", "fixedLength"): ("uint64", True),
    ("Decimal", "precision"): ("uint32", False),
    ("Decimal", "scale"): ("int32", False),
    ("List", "fixedLength"): ("uint64", True),
    ("Map", "keysSorted"): ("bool", True),
    ("MetadataBlock", "sequenceNumber"): ("uint64", False),
    ("Manifest", "kind"): ("int64", False),
    ("Manifest", "version"): ("int32", False),
    ("AddData", "prevOffset"): ("uint64", True),
}


@pytest.mark.parametrize("table", SLOTS)
def test_slots(table: str) -> None:
    assert {slot.name: slot.number for slot in layout().tables[table].slots} == SLOTS[table]


def test_slots_of_data_and_of_read_steps() -> None:
    assert tuple(slot.name for slot in layout().tables["AddData"].slots) == ADD_DATA
    found = {}
    for kind, table in layout().unions["ReadStep"]:
        numbers = {slot.name: slot.number for slot in layout().tables[table].slots}
        found[kind] = (numbers["schema"], numbers["ddlSchema"])
    assert found == READ_STEPS


@pytest.mark.parametrize(("place", "stored"), WIDTHS.items())
def test_numbers_have_their_width_and_default(place: tuple[str, str], stored: tuple[str, bool]) -> None:
    slot = next(s for s in layout().tables[place[0]].slots if s.name == place[1])
    assert (slot.type, slot.optional) == stored


def test_units_are_optional_and_of_two_bytes() -> None:
    assert layout().enums["TimeUnit"] == ("int16", ("Second", "Millisecond", "Microsecond", "Nanosecond"))
    for table in ("Duration", "Time", "TimestampType"):
        assert layout().tables[table].slots[0].optional


def test_members_of_unions_have_their_numbers() -> None:
    kinds = [kind for kind, _ in layout().unions["DataType"]]
    assert kinds.index("Binary") + 1 == 1
    assert kinds[16:] == ["List", "Map", "Null", "Option", "Struct", "Time", "Timestamp", "String"]
    assert set(kinds) == set(BY_KIND)
    assert len(kinds) == 24
    assert [kind for kind, _ in layout().unions["MetadataEvent"]] == list(EVENT_KINDS)


def test_every_table_is_reached() -> None:
    reached, pending = set(), ["Manifest", "MetadataBlock"]
    while pending:
        name = pending.pop()
        reached.add(name)
        for slot in layout().tables[name].slots:
            inner = [t for _, t in layout().unions[slot.type]] if slot.form is Form.UNION else [slot.type]
            pending += [t for t in inner if t in layout().tables and t not in reached]
    assert reached == set(layout().tables)


@pytest.mark.parametrize(
    "text",
    ["table A { b: nothing; }", "table A { b: [uint64]; }", "enum E int16 { A }", "rpc A {}", "table A { b: @; }"],
)
def test_what_the_parser_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unexpected|expected|no type"):
        parse(text)

"""What Lakebed writes, read by the libraries of those who made the forms: pyiceberg, delta-rs, protoc, the standard."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings

from convert.contracts import EVERYTHING, contracts
from lakebed.contract_forms import write_contract
from lakebed.convert.contract import Contract
from lakebed.convert.protobuf import number_of, to_protobuf
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.model.extra import DESCRIPTION, FIELD_ID
from referees.client import RefereeError, Referees

COLUMNS = EVERYTHING.schema.fields


@pytest.mark.parametrize("form", ["iceberg", "delta", "protobuf"])
@settings(suppress_health_check=list(HealthCheck), max_examples=25, deadline=None)
@given(contract=contracts())
def test_every_schema_is_one_for_the_library_of_the_form(form: str, contract: Contract, referees: Referees) -> None:
    text, _ = write_contract(contract, form)
    # pyiceberg knows no variant yet, and delta-rs no two names that differ in case only.
    names = [f.name.lower() for f in contract.schema.fields]
    if (form == "iceberg" and '"variant"' in text) or (form == "delta" and len({*names}) < len(names)):
        return
    assert len(referees.read_form(form, text)["columns"]) == len(contract.schema.fields)


def test_what_pyiceberg_reads(referees: Referees) -> None:
    found = referees.read_form("iceberg", write_contract(EVERYTHING, "iceberg")[0])
    assert [(name, is_required) for _, name, is_required, _ in found["columns"]] == [
        (f.name, not f.nullable) for f in COLUMNS
    ]
    assert found["columns"][0] == [7, "id", True, "Number"]
    assert sorted(found["key"]) == [7, found["columns"][1][0]]


def test_what_delta_rs_reads(referees: Referees) -> None:
    found = referees.read_form("delta", write_contract(EVERYTHING, "delta")[0])
    assert found["columns"] == [[f.name, f.nullable, f.description] for f in COLUMNS]


def test_what_the_standard_reads(referees: Referees) -> None:
    found = referees.read_form("odcs", write_contract(EVERYTHING, "odcs")[0])
    assert found["columns"] == [[f.name, not f.nullable] for f in COLUMNS]


def test_what_protoc_reads(referees: Referees) -> None:
    text, report = write_contract(EVERYTHING, "protobuf")
    found = referees.read_form("protobuf", text)
    assert (found["package"], found["name"], found["columns"][0]) == ("shop", "Orders", [8, "id", False, False])
    assert [name for _, name, _, _ in found["columns"]] == [f.name for f in COLUMNS]
    assert [name for _, name, is_repeated, _ in found["columns"] if is_repeated] == ["pair", "rows", "by_number"]
    assert [name for _, name, _, is_optional in found["columns"] if is_optional] == ["note"]
    assert "took: that it is Duration(Millisecond)" in str(report)
    assert "note: the attribute lakebed.dev/default" in str(report)


def test_numbers_of_dropped_fields_are_reserved(referees: Referees) -> None:
    """They are those of the ids; a table whose columns 1, 3 and 4 were dropped never gives their numbers again."""
    inner = m.Struct((Field("x", m.Int8(), Extra({FIELD_ID: 5})),))
    fields = (
        Field("a", m.Int8(), Extra({FIELD_ID: 0})),
        Field("b", inner, Extra({FIELD_ID: 2, DESCRIPTION: "two\nlines"})),
    )
    text, _ = to_protobuf(dataclasses.replace(Contract(Schema(fields), "t"), highest_field_id=6))
    assert "  reserved 2, 4 to 5, 7;" in text.splitlines()
    assert [line for line in text.splitlines() if "//" in line] == ["  // two", "  // lines"]
    found = referees.read_form("protobuf", text)
    assert (found["reserved"], [n for n, *_ in found["columns"]]) == ([2, 4, 5, 7], [1, 3])


def test_numbers_leave_out_those_that_protobuf_keeps() -> None:
    assert [number_of(n) for n in (0, 18998, 18999, 20000)] == [1, 18999, 20000, 21001]
    many = Schema((Field("last", m.Int8(), Extra({FIELD_ID: 18997})), Field("next", m.Int8())))
    assert "last = 18998 " in to_protobuf(many)[0]
    assert "next = 18999 " in to_protobuf(many)[0]
    many = Schema((Field("last", m.Int8(), Extra({FIELD_ID: 18998})), Field("next", m.Int8())))
    assert "next = 20000 " in to_protobuf(many)[0]
    with pytest.raises(ConversionError) as caught:
        to_protobuf(Schema((Field("a", m.Int8(), Extra({FIELD_ID: 2**29})),)))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2601", "a")]


def test_what_protobuf_cannot_repeat_is_a_message_of_its_own(referees: Referees) -> None:
    fields = (
        Field("lists", m.List(m.List(m.Int32()))),
        Field("by_day", m.Map(m.Float64(), m.List(m.String()))),
        Field("by_name", m.Map(m.String(), m.Map(m.String(), m.Bool()))),
    )
    text, report = to_protobuf(Schema(fields))
    assert "repeated ListsItems lists = 1" in text
    assert "repeated ByDayEntry by_day = 2" in text
    assert "map<string, ByNameValueItems> by_name = 3" in text
    assert [loss.path for loss in report.losses] == [""]
    assert [is_repeated for _, _, is_repeated, _ in referees.read_form("protobuf", text)["columns"]] == [
        True,
        True,
        True,
    ]


def test_the_referees_refuse_what_is_wrong(referees: Referees) -> None:
    for form, text in (
        ("iceberg", '{"type": "struct", "fields": [{"name": "a"}]}'),
        ("protobuf", "message {"),
        ("odcs", "a: 1"),
    ):
        with pytest.raises(RefereeError):
            referees.read_form(form, text)

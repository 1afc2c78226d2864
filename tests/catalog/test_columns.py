"""Every form in which a column may be given becomes the same field; what is none is refused, all at once."""

from __future__ import annotations

import pytest

from lakebed import model
from lakebed.catalog import DataType, Field, to_columns, to_data_type
from lakebed.errors import ConversionError, LakebedError, TypeTextError, ValidationError
from lakebed.model import Extra
from lakebed.physical.paimon_types import UNASSIGNED, Array, BigInt, DataField, Decimal, Int, Map, Row, VarChar

REQUIRED = DataField(UNASSIGNED, "id", Int(nullable=False))
OPTIONAL = DataField(UNASSIGNED, "id", Int())


@pytest.mark.parametrize(
    ("field", "found"),
    [
        (model.Field("k", VarChar(3)), r"VARCHAR\(3\)"),
        (model.Field("k", model.Option(Int())), "INT"),
        (model.Field("k", model.Struct((model.Field("x", model.List("INT")),))), "INT"),
        (model.Field("k", None), "None"),
        (model.Field(3, model.Int32()), "3"),
    ],
)
def test_a_logical_field_without_a_logical_type(field, found):
    with pytest.raises(ValidationError, match=f"LB3206.*{found}"):
        to_columns([field])


@pytest.mark.parametrize(
    "form",
    [
        Field("id", DataType.INT, False),
        Field("id", DataType.INT, nullable=False),
        Field("id", "INT NOT NULL"),
        Field("id", "integer", False),
        Field("id", model.Int32()),
        Field("id", model.Option(model.Int32()), False),
        model.Field("id", model.Int32()),
        REQUIRED,
        ("id", "INT NOT NULL"),
        ("id", "INT", False),
        ("id", Int(), False),
        ("id", model.Int32(), True),
        {"name": "id", "type": "INT NOT NULL"},
        {"name": "id", "type": "INT", "nullable": False},
        {"name": "id", "type": Int(nullable=False)},
        "id INT NOT NULL",
        "`id` INT NOT NULL",
    ],
)
def test_forms_of_a_required_column(form):
    assert to_columns([form]).fields == (REQUIRED,)


@pytest.mark.parametrize(
    "form",
    [
        Field("id", DataType.INT),
        Field("id", DataType.INT, True),
        Field("id", model.Option(model.Int32())),
        model.Field("id", model.Option(model.Int32())),
        OPTIONAL,
        ("id", DataType.INT),
        {"name": "id", "type": "INT", "nullable": True},
        "id INT",
    ],
)
def test_forms_of_an_optional_column(form):
    assert to_columns([form]).fields == (OPTIONAL,)


def test_mini_names_are_physical_types():
    assert DataType.LONG is DataType.BIGINT
    assert to_data_type("LONG NOT NULL") == BigInt(nullable=False)
    assert str(DataType.LONG) == "BIGINT"
    assert VarChar() == DataType.STRING
    assert DataType.DECIMAL(10, 2) == Decimal(10, 2)
    assert DataType.MAP(DataType.STRING, DataType.ARRAY(DataType.INT)) == Map(VarChar(), Array(Int()))


def test_nested_json_without_ids():
    (field,) = to_columns(
        [{"name": "r", "type": {"type": "ROW", "fields": [{"name": "a", "type": "INT"}]}, "description": "d"}]
    ).fields
    assert field == DataField(UNASSIGNED, "r", Row((DataField(UNASSIGNED, "a", Int()),)), "d")


def test_ids_descriptions_and_defaults_are_kept():
    form = {"id": 7, "name": "a", "type": "INT", "description": "d", "defaultValue": "1"}
    assert to_columns([form]).fields == (DataField(7, "a", Int(), "d", "1"),)


def test_pinned_ids_of_logical_fields_at_every_level():
    inner = model.Field("x", model.Int32(), Extra({"lakebed.dev/fieldId": 5}))
    outer = model.Field("r", model.List(model.Struct((inner,))), Extra({"lakebed.dev/fieldId": 4}))
    (field,) = to_columns([outer]).fields
    assert field.id == 4
    assert isinstance(field.type, Array)
    assert isinstance(field.type.element, Row)
    assert field.type.element.fields[0].id == 5


def test_logical_fields_are_remembered():
    logical = model.Field("u", model.UInt8())
    found = to_columns([("a", "INT"), logical])
    assert found.logical == model.Schema((logical,))
    assert to_columns([("a", "INT")]).logical is None
    schema = model.Schema((logical,), Extra({"example.org/x": 1}))
    assert to_columns(schema).logical == schema


def test_all_problems_of_all_columns_are_reported():
    with pytest.raises(ValidationError) as caught:
        to_columns([("a", "INTT"), "b", 3, {"name": "c"}, {"type": "INT"}, Field("d", "DECIMAL(99)"), ("e", "INT", 1)])
    paths = [d.path for d in caught.value.diagnostics]
    assert paths == ["a", "b", "column 3", "c", "column 5", "d", "e"]


@pytest.mark.parametrize("form", [None, 3, (), ("a",), ("a", "INT", True, 1), [], "", "a", "`a INT", Field("a", 3)])  # type: ignore[arg-type]
def test_what_is_no_column(form):
    with pytest.raises(LakebedError):
        to_columns([form])


def test_what_is_no_type():
    with pytest.raises(TypeTextError):
        to_data_type("INTT")
    with pytest.raises(ConversionError):
        to_data_type(3)  # type: ignore[arg-type]
    with pytest.raises(ConversionError):
        to_data_type(model.Null())

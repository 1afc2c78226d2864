"""The REST JSON of changes, exactly as Java writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evolve.tables import row
from lakebed.errors import ValidationError
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
    Move,
    RemoveOption,
    RenameColumn,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefaultValue,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
    UpdateComment,
    from_json,
    path_of,
    to_json,
)
from lakebed.physical import paimon_types as t

FORMS: list[tuple[Change, str]] = [
    (SetOption("k", "v"), '{"action":"setOption","key":"k","value":"v"}'),
    (RemoveOption("k"), '{"action":"removeOption","key":"k"}'),
    (UpdateComment("c"), '{"action":"updateComment","comment":"c"}'),
    (UpdateComment(None), '{"action":"updateComment","comment":null}'),
    (
        AddColumn(("r", "x"), t.Int(), "doc", Move.after("x", "y")),
        '{"action":"addColumn","fieldNames":["r","x"],"dataType":"INT","comment":"doc",'
        '"move":{"fieldName":"x","referenceFieldName":"y","type":"AFTER"}}',
    ),
    (
        AddColumn(("x",), t.Int()),
        '{"action":"addColumn","fieldNames":["x"],"dataType":"INT","comment":null,"move":null}',
    ),
    (RenameColumn(("a",), "b"), '{"action":"renameColumn","fieldNames":["a"],"newName":"b"}'),
    (DropColumn(("r", "x")), '{"action":"dropColumn","fieldNames":["r","x"]}'),
    (
        UpdateColumnType(("a",), t.BigInt(False)),
        '{"action":"updateColumnType","fieldNames":["a"],"newDataType":"BIGINT NOT NULL","keepNullability":false}',
    ),
    (
        UpdateColumnNullability(("a",), False),
        '{"action":"updateColumnNullability","fieldNames":["a"],"newNullability":false}',
    ),
    (UpdateColumnComment(("a",), "c"), '{"action":"updateColumnComment","fieldNames":["a"],"newComment":"c"}'),
    (
        UpdateColumnDefaultValue(("a",), "1"),
        '{"action":"updateColumnDefaultValue","fieldNames":["a"],"newDefaultValue":"1"}',
    ),
    (
        UpdateColumnPosition(Move.first("a")),
        '{"action":"updateColumnPosition","move":{"fieldName":"a","referenceFieldName":null,"type":"FIRST"}}',
    ),
    (
        UpdateColumnPosition(Move.last("a"), ("r",)),
        '{"action":"updateColumnPosition","move":{"fieldName":"a","referenceFieldName":null,"type":"LAST"},"parent":["r"]}',
    ),
    (DropPrimaryKey(), '{"action":"dropPrimaryKey"}'),
]


@pytest.mark.parametrize(("change", "text"), FORMS)
def test_a_change_has_the_rest_form_both_ways(change: Change, text: str) -> None:
    assert json.dumps(to_json(change), separators=(",", ":")) == text
    assert from_json(json.loads(text)) == change


def test_nested_types_survive_without_ids() -> None:
    change = AddColumn(("x",), t.Array(row(("a", t.Map(t.STRING, row(("b", t.Date()))))), False))
    assert from_json(json.loads(json.dumps(to_json(change)))) == change
    bare = {"type": "ROW", "fields": [{"name": "a", "type": "INT"}]}
    assert from_json({"action": "addColumn", "fieldNames": ["x"], "dataType": bare}) == AddColumn(
        ("x",), row(("a", t.Int()))
    )


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ([], "JSON object"),
        ({"action": "addColum", "fieldNames": ["x"]}, "addColumn"),
        ({}, "action"),
        ({"action": "dropColumn", "fieldNames": "x"}, "fieldNames"),
        ({"action": "dropColumn", "fieldNames": []}, "fieldNames"),
        ({"action": "dropColumn", "fieldNames": ["x"], "fieldName": ["x"]}, "fieldName"),
        ({"action": "setOption", "key": "k", "value": 4}, "value"),
        ({"action": "addColumn", "fieldNames": ["x"], "dataType": "INTT"}, "INTT"),
        ({"action": "updateColumnPosition", "move": {"fieldName": "x", "type": "UP"}}, "UP"),
        ({"action": "updateColumnNullability", "fieldNames": ["x"], "newNullability": "no"}, "newNullability"),
    ],
)
def test_what_is_no_change_is_refused_by_name(value: Any, word: str) -> None:
    with pytest.raises(ValidationError) as caught:
        from_json(value)
    assert word in str(caught.value)


def test_the_path_of_a_change() -> None:
    assert path_of(UpdateColumnPosition(Move.first("x"), ("ar", "element"))) == ("ar", "element", "x")
    assert path_of(DropColumn(("r", "x"))) == ("r", "x")
    assert path_of(SetOption("a", "b")) == ()

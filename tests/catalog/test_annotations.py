"""Annotations: the declared schema comes back exactly, and other engines' changes are never misread."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from lakebed.catalog.annotations import OPTION, annotate, drift, logical_schema, refuse_newer
from lakebed.catalog.ids import assign
from lakebed.catalog.schema_file import dumps, loads
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.paimon import table_comment, to_paimon
from lakebed.errors import ConversionError, UnsupportedError
from lakebed.model import Extra, Field, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.physical import DataField, DataType, Row
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_tree import walk_fields
from lakebed.testing.physical import storable_schemas, table_schemas

DESCRIPTION = "opendatafabric.org/description"
DEFAULT = "lakebed.dev/default"
PAIMON = "paimon.apache.org/type"
RENAMED = "lakebed.dev/renamedFrom"


def stored(schema: Schema, highest: int = -1) -> TableSchema:
    """The schema as it comes back from its file."""
    fields, highest = assign(to_paimon(schema), highest)
    text = annotate(fields, schema)
    options = {} if text is None else {OPTION: text}
    table = TableSchema(0, fields, highest, options=options, comment=table_comment(schema))
    return loads(dumps(table), source="schema-0", expected_id=0)


def field(name: str, type_: m.LogicalType, **extra: Any) -> Field:
    return Field(name, type_, Extra(extra))


def annotated(name: str, type_: m.LogicalType, extra: dict[str, Any]) -> Field:
    return Field(name, type_, Extra(extra))


def changed(table: TableSchema, name: str, change: Callable[[DataField], DataField | None]) -> TableSchema:
    """The table after another engine changed one column of any level; None drops it."""

    def within(type_: DataType) -> DataType:
        match type_:
            case p.Row():
                return replace(type_, fields=of(type_.fields))
            case p.Array() | p.Multiset():
                return replace(type_, element=within(type_.element))
            case p.Map():
                return replace(type_, key=within(type_.key), value=within(type_.value))
            case _:
                return type_

    def of(fields: tuple[DataField, ...]) -> tuple[DataField, ...]:
        kept = (change(f) if f.name == name else replace(f, type=within(f.type)) for f in fields)
        return tuple(f for f in kept if f is not None)

    return replace(table, fields=of(table.fields))


def codes(table: TableSchema) -> list[tuple[str, str | None]]:
    found = drift(table)
    assert all(d.severity == "warning" for d in found)
    return [(d.code, d.path) for d in found]


# The declared schema comes back.


@given(storable_schemas())
def test_the_declared_schema_comes_back_exactly(schema: Schema) -> None:
    table = stored(schema)
    assert logical_schema(table) == schema
    assert table.logical.fingerprint == schema.fingerprint
    assert drift(table) == ()


@given(storable_schemas())
def test_writing_the_annotations_again_gives_the_same_text(schema: Schema) -> None:
    table = stored(schema)
    assert annotate(table.fields, table.logical) == table.options.get(OPTION)


@given(table_schemas(unknown=True))
def test_a_table_of_another_engine_and_its_inferred_schema_are_the_same(table: TableSchema) -> None:
    """Storing what is inferred from a table gives the table's own columns, ids aside."""
    inferred = logical_schema(table)
    reserved = [f for f in walk_fields(table.fields) if (f.description or "").startswith("__")]
    if reserved or (table.comment or "").startswith("__"):
        return
    fields, _ = assign(to_paimon(inferred), -1)
    again, _ = assign(_without_ids(table.fields), -1)
    assert fields == again
    assert drift(table) == ()


def _without_ids(fields: tuple[DataField, ...]) -> tuple[DataField, ...]:
    return tuple(replace(f, id=p.UNASSIGNED) for f in fields)


@pytest.mark.parametrize(
    "type_",
    [
        *(m.Bool(), m.Int8(), m.Int16(), m.Int32(), m.Int64(), m.Float32(), m.Float64(), m.String(), m.Date()),
        *(m.Binary(), m.Binary(4), m.Decimal(9, 2), m.Time(TimeUnit.SECOND), m.Time()),
        *(m.Timestamp(unit) for unit in TimeUnit),
        *(m.List(m.Option(m.Int32())), m.Map(m.String(), m.Int8()), m.Struct((field("x", m.Int32()),))),
    ],
)
def test_what_columns_say_themselves_is_not_annotated(type_: m.LogicalType) -> None:
    for declared in (type_, m.Option(type_)):
        schema = Schema((annotated("a", declared, {DESCRIPTION: "d", DEFAULT: "1"}),), Extra({DESCRIPTION: "whole"}))
        table = stored(schema)
        assert OPTION not in table.options
        assert (table.comment, table.fields[0].description, table.fields[0].default_value) == ("whole", "d", "1")
        assert table.logical == schema


def test_the_text_of_the_option() -> None:
    inner = m.Struct((annotated("x", m.UInt8(), {"b.com/z": 1}), field("y", m.Int32())))
    schema = Schema(
        (
            field("k", m.UInt64()),
            annotated("r", m.List(m.Option(inner), 3), {DESCRIPTION: "d", "a.com/é": [1, None]}),
            annotated("v", m.Option(m.String()), {RENAMED: "old", PAIMON: "VARCHAR(3)", DEFAULT: True}),
        ),
        Extra({"c.com/o": {"b": 1, "a": 2}, DESCRIPTION: "whole"}),
    )
    assert stored(schema).options[OPTION] == (
        '{"extra":{"c.com/o":{"a":2,"b":1}},"fields":{'
        '"0":{"name":"k","type":{"kind":"UInt64"}},'
        '"1":{"extra":{"a.com/é":[1,null]},"name":"r","type":{"fixedLength":3,"itemType":{"inner":{"fields":[],'
        '"kind":"Struct"},"kind":"Option"},"kind":"List"}},'
        '"2":{"extra":{"b.com/z":1},"name":"x","type":{"kind":"UInt8"}},'
        '"4":{"extra":{"lakebed.dev/default":true,"lakebed.dev/renamedFrom":"old"},"name":"v"}'
        '},"format":1}'
    )
    assert stored(schema).logical == schema


def test_a_pinned_id_is_not_stored() -> None:
    table = stored(Schema((annotated("a", m.Int32(), {"lakebed.dev/fieldId": 3}),)))
    assert OPTION not in table.options
    assert table.logical == Schema((field("a", m.Int32()),))


def test_a_description_that_is_no_text_stays_an_attribute() -> None:
    schema = Schema((annotated("a", m.Int32(), {DESCRIPTION: 5}),), Extra({DESCRIPTION: ["x"]}))
    table = stored(schema)
    assert (table.comment, table.fields[0].description) == (None, None)
    assert table.logical == schema


def test_members_of_map_keys_and_values_with_the_same_name_are_told_apart() -> None:
    key, value = m.Struct((field("x", m.UInt8()),)), m.Struct((annotated("x", m.UInt16(), {"b.com/z": 1}),))
    schema = Schema((field("m", m.Map(key, value)),))
    assert stored(schema).logical == schema


def test_declared_fields_must_be_stored() -> None:
    fields, _ = assign(to_paimon(Schema((field("a", m.Int32()), field("r", m.Struct((field("x", m.Int32()),)))))), -1)
    declared = Schema(
        (
            field("a", m.String()),
            field("b", m.Int32()),
            field("r", m.Struct((field("y", m.Int32()),))),
        )
    )
    with pytest.raises(ConversionError) as caught:
        annotate(fields, declared)
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [
        ("LB2114", "a"),
        ("LB2114", "b"),
        ("LB2114", "r.y"),
    ]


def test_a_column_that_is_not_declared_gets_no_entry() -> None:
    fields, _ = assign(to_paimon(Schema((field("a", m.UInt8()), field("b", m.UInt8())))), -1)
    text = annotate(fields, Schema((field("b", m.UInt8()),)))
    assert text
    assert list(json.loads(text)["fields"]) == ["1"]


# Other engines.

NESTED = Schema(
    (
        annotated("a", m.UInt8(), {"x.org/owner": "t"}),
        field(
            "r",
            m.Option(
                m.Struct((annotated("n", m.UInt16(), {"x.org/n": 1}), field("l", m.List(m.Option(m.UInt8()))))),
            ),
        ),
        annotated("v", m.Option(m.String()), {PAIMON: "VARCHAR(3)", "x.org/v": 1, DEFAULT: 7}),
        field("z", m.Timestamp(TimeUnit.MILLISECOND, "Europe/Paris")),
    )
)


def test_a_rename_that_keeps_the_id_keeps_the_annotation() -> None:
    table = changed(stored(NESTED), "a", lambda f: replace(f, name="b"))
    table = changed(table, "n", lambda f: replace(f, name="n2"))
    assert codes(table) == []
    a, r = table.logical.fields[:2]
    assert a == annotated("b", m.UInt8(), {"x.org/owner": "t"})
    assert r.type.inner.fields[0] == annotated("n2", m.UInt16(), {"x.org/n": 1})  # type: ignore[union-attr]


def test_nullability_is_the_columns_own() -> None:
    def relax(f: DataField) -> DataField:
        return replace(f, type=p.with_nullability(f.type, True))

    table = changed(changed(stored(NESTED), "a", relax), "n", relax)
    table = changed(table, "l", lambda f: replace(f, type=p.Array(p.SmallInt(False), False)))
    assert codes(table) == []
    a, r = table.logical.fields[:2]
    assert a.type == m.Option(m.UInt8())
    assert [f.type for f in r.type.inner.fields] == [  # type: ignore[union-attr]
        m.Option(m.UInt16()),
        m.List(m.UInt8()),
    ]


def test_a_dropped_column_leaves_an_annotation_without_owner() -> None:
    table = changed(stored(NESTED), "a", lambda f: None)
    assert codes(table) == [("LB3512", None)]
    assert table.logical.fields == NESTED.fields[1:]


def test_a_name_that_was_dropped_and_added_again_does_not_get_the_old_annotation() -> None:
    table = changed(stored(NESTED), "a", lambda f: replace(f, id=77))
    assert codes(table) == [("LB3512", None)]
    assert table.logical.fields[0] == field("a", m.Int16())


def test_a_retyped_column_is_what_it_is_now_and_keeps_its_attributes() -> None:
    table = changed(stored(NESTED), "a", lambda f: replace(f, type=p.BigInt(False)))
    table = changed(table, "l", lambda f: replace(f, type=p.Array(p.BigInt())))
    table = changed(table, "z", lambda f: replace(f, type=p.LocalZonedTimestamp(6, False)))
    assert codes(table) == [("LB3513", "a"), ("LB3513", "r.l"), ("LB3513", "z")]
    assert drift(table)[0].expected == "UInt8"
    assert drift(table)[0].found == "BIGINT NOT NULL"
    a, r, _, z = table.logical.fields
    assert a == annotated("a", m.Int64(), {"x.org/owner": "t"})
    assert r.type.inner.fields[1].type == m.Option(m.List(m.Option(m.Int64())))  # type: ignore[union-attr]
    assert z == field("z", m.Timestamp(TimeUnit.MICROSECOND))


def test_the_hint_is_that_of_the_column() -> None:
    table = changed(stored(NESTED), "v", lambda f: replace(f, type=p.VarChar(5)))
    assert codes(table) == []
    assert table.logical.fields[2].extra[PAIMON] == "VARCHAR(5)"


def test_a_hint_that_was_kept_as_it_was_written_follows_a_change_of_the_column() -> None:
    table = stored(Schema((annotated("v", m.String(), {PAIMON: "varchar( 3 )", "x.org/v": 1}),)))
    assert table.logical.fields[0].extra == {PAIMON: "varchar( 3 )", "x.org/v": 1}
    table = changed(table, "v", lambda f: replace(f, type=p.VarChar(5)))
    assert codes(table) == [("LB3513", "v")]
    assert table.logical.fields[0].extra == {PAIMON: "VARCHAR(5)", "x.org/v": 1}


def test_descriptions_and_defaults_are_the_columns_own() -> None:
    table = changed(stored(NESTED), "a", lambda f: replace(f, description="new"))
    assert codes(table) == []
    assert table.logical.fields[0].description == "new"
    table = changed(table, "v", lambda f: replace(f, default_value="8"))
    assert codes(table) == [("LB3516", "v")]
    assert table.logical.fields[2].extra[DEFAULT] == "8"
    table = changed(table, "v", lambda f: replace(f, default_value=None))
    assert codes(table) == [("LB3516", "v")]
    assert DEFAULT not in table.logical.fields[2].extra


def test_a_replaced_table_does_not_get_the_annotations_of_the_old_one() -> None:
    """Ids start anew, so the old ids belong to other columns; the option may survive."""
    old = stored(
        Schema(
            (
                annotated("a", m.UInt8(), {"x.org/a": 1}),
                annotated("b", m.UInt8(), {"x.org/b": 1}),
                annotated("c", m.Int32(), {"x.org/c": 1}),
                annotated("d", m.UInt8(), {"x.org/d": 1}),
            )
        )
    )
    small = p.SmallInt(False)
    fields = (DataField(0, "b", small), DataField(1, "a", small), DataField(2, "e", small), DataField(3, "d", small))
    table = replace(old, fields=fields)
    # a and b are ambiguous; c may have been renamed to e, it holds no type; d is d.
    assert codes(table) == [("LB3514", "b"), ("LB3514", "a")]
    assert [f.extra.to_json() for f in table.logical.fields] == [{}, {}, {"x.org/c": 1}, {"x.org/d": 1}]
    assert [f.type for f in table.logical.fields] == [m.Int16(), m.Int16(), m.Int16(), m.UInt8()]


def test_another_name_and_another_type_is_another_column() -> None:
    table = changed(stored(NESTED), "a", lambda f: replace(f, name="other", type=p.STRING))
    assert codes(table) == [("LB3514", "other")]
    assert table.logical.fields[0] == field("other", m.Option(m.String()))


def test_names_are_compared_among_siblings_only() -> None:
    table = changed(stored(NESTED), "n", lambda f: replace(f, name="a"))
    assert codes(table) == []
    assert table.logical.fields[1].type.inner.fields[0].type == m.UInt16()  # type: ignore[union-attr]


def test_ids_that_are_used_twice_get_the_annotation_by_name_or_not_at_all() -> None:
    schema = stored(Schema((annotated("a", m.UInt8(), {"x.org/a": 1}), field("b", m.Int16()))))
    twice = changed(schema, "b", lambda f: replace(f, id=0))
    assert codes(twice) == []
    assert [f.type for f in twice.logical.fields] == [m.UInt8(), m.Int16()]
    unclear = changed(twice, "a", lambda f: replace(f, name="c"))
    assert codes(unclear) == [("LB3514", "c")]
    assert [f.type for f in unclear.logical.fields] == [m.Int16(), m.Int16()]


def test_other_engines_rewrite_the_file_around_the_option() -> None:
    """Another writer drops nothing that it does not know, but adds members and spells types its own way."""
    content = json.loads(dumps(stored(NESTED)))
    content["comment"] = None
    content["fields"][1]["type"]["nullable"] = True
    content["fields"].append({"id": 9, "name": "new", "type": "TIMESTAMP_LTZ(6)"})
    content |= {"id": 1, "highestFieldId": 9}
    table = loads(json.dumps(content).encode(), source="schema-1", expected_id=1)
    assert codes(table) == []
    assert table.logical.fields[:-1] == NESTED.fields
    assert table.logical.fields[-1] == field("new", m.Option(m.Timestamp(TimeUnit.MICROSECOND)))


# Damaged options.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["LB3511"]),
        ("{", ["LB3511"]),
        ("[]", ["LB3511"]),
        ("null", ["LB3511"]),
        ('{"format":1,"fields":[]}', ["LB3511"]),
        ('{"format":1,"extra":{"a/b":NaN}}', ["LB3511"]),
        ('{"format":1,"extra":{"a/b":1e999}}', ["LB3511"]),
        ("[" * 100_000, ["LB3511"]),
        ('{"format":1}', []),
        ('{"fields":{}}', ["LB3515"]),
        ('{"format":2,"fields":{}}', ["LB3515"]),
        ('{"format":1,"fields":{"0":7}}', ["LB3511"]),
        ('{"format":1,"fields":{"0":{"type":{"kind":"UInt8"}}}}', ["LB3511"]),
        ('{"format":1,"fields":{"x":{"name":"a"}}}', ["LB3512"]),
        ('{"format":1,"fields":{"00":{"name":"a"}}}', ["LB3512"]),
        ('{"format":1,"fields":{"0":{"name":"a","type":{"kind":"Uint8"}}}}', ["LB3511"]),
        ('{"format":1,"fields":{"0":{"name":"a","type":{"kind":"Null"}}}}', ["LB3511"]),
        ('{"format":1,"fields":{"0":{"name":"a","extra":{"paimon.apache.org/type":7}}}}', ["LB3511"]),
        ('{"format":1,"fields":{"0":{"name":"a","extra":[]}}}', []),
    ],
)
def test_a_damaged_option_leaves_the_columns_readable(text: str, expected: list[str]) -> None:
    table = TableSchema(0, (DataField(0, "a", p.SmallInt()),), 0, options={OPTION: text})
    assert [d.code for d in drift(table)] == expected
    assert logical_schema(table) == Schema((field("a", m.Option(m.Int16())),))


def test_newer_formats_are_read_and_refused_for_writing() -> None:
    text = '{"format":2,"fields":{"0":{"name":"a","type":{"kind":"UInt8"},"new":1}},"other":1}'
    table = TableSchema(0, (DataField(0, "a", p.SmallInt(False)),), 0, options={OPTION: text})
    assert table.logical.fields[0].type == m.UInt8()
    with pytest.raises(UnsupportedError) as caught:
        refuse_newer(table)
    assert caught.value.code == "LB3515"
    refuse_newer(stored(NESTED))
    refuse_newer(TableSchema(0, (), -1, options={OPTION: "{"}))


def test_a_table_without_annotations_has_no_drift() -> None:
    table = TableSchema(0, (DataField(0, "a", Row((DataField(1, "x", p.Time(3)),))),), 1, comment="c")
    assert drift(table) == ()
    inner = m.Struct((field("x", m.Option(m.Time())),))
    assert table.logical == Schema((field("a", m.Option(inner)),), Extra({DESCRIPTION: "c"}))


def test_the_meaning_is_made_once_for_each_version() -> None:
    table = stored(Schema((field("a", m.UInt64()), field("b", m.Option(m.String())))))
    assert table.logical is table.logical
    assert "_logical" not in repr(table)
    assert replace(table) == table
    assert hash(replace(table)) == hash(table)


def test_another_version_has_a_meaning_of_its_own() -> None:
    table = stored(Schema((field("a", m.UInt64()),)))
    assert table.logical.fields[0].type == m.UInt64()
    assert table.with_options({}).logical.fields[0].type == m.Decimal(20, 0)
    assert replace(table, fields=(), comment="empty").logical == Schema((), Extra({DESCRIPTION: "empty"}))
    assert table.logical.fields[0].type == m.UInt64()

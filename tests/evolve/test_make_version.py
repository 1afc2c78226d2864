"""Pairing wanted columns with those that are there, and the versions that come out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog import ids
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ValidationError
from lakebed.evolve import with_fields
from lakebed.evolve.pairing import pair_asked
from lakebed.physical.paimon_types import UNASSIGNED, Array, DataField, Date, Int, Map, Row, VarChar


def base_schema(**parts) -> TableSchema:
    member = Row((DataField(3, "x", Int()), DataField(4, "y", VarChar())))
    fields = (
        DataField(0, "a", Int(nullable=False)),
        DataField(1, "b", VarChar()),
        DataField(2, "r", member),
        DataField(5, "list", Array(Row((DataField(6, "x", Int()),)))),
        DataField(7, "m", Map(VarChar(), Row((DataField(8, "x", Int()),)))),
    )
    return TableSchema(0, fields, 8, **parts)


def new(name: str, type_=None) -> DataField:
    return DataField(UNASSIGNED, name, type_ or Int())


def test_the_same_columns_are_the_same():
    base = base_schema()
    assert pair_asked(base.fields, base.fields) == base.fields
    bare = tuple(replace(f, id=UNASSIGNED) for f in base.fields)
    assert pair_asked(base.fields, bare) == base.fields


def test_names_pair_level_by_level():
    base = base_schema()
    wanted = (
        new("r", Row((new("y", VarChar()), new("z"), new("x")))),
        new("list", Array(Row((new("w"), new("x"))))),
        new("m", Map(VarChar(), Row((new("x"), new("w"))))),
    )
    r, list_, map_ = pair_asked(base.fields, wanted)
    assert [f.id for f in r.type.fields] == [4, UNASSIGNED, 3]
    assert [f.id for f in list_.type.element.fields] == [UNASSIGNED, 6]
    assert [f.id for f in map_.type.value.fields] == [8, UNASSIGNED]


def test_ids_win_over_names_and_a_swap_is_a_swap():
    base = base_schema()
    swapped = pair_asked(base.fields, (DataField(1, "a", VarChar()), DataField(0, "b", Int(nullable=False))))
    assert [(f.id, f.name) for f in swapped] == [(1, "a"), (0, "b")]
    renamed = pair_asked(base.fields, (DataField(1, "c", VarChar()), new("b")))
    assert [(f.id, f.name) for f in renamed] == [(1, "c"), (UNASSIGNED, "b")]


def test_ids_inside_something_new_are_ignored():
    found = pair_asked(base_schema().fields, (new("n", Row((DataField(3, "x", Int()),))), DataField(1, "b", Row(()))))
    assert found[0].type.fields[0].id == UNASSIGNED


@pytest.mark.parametrize("wanted", [[99], [1, 1], [3]])
def test_ids_that_no_sibling_has(wanted):
    with pytest.raises(ValidationError) as caught:
        pair_asked(base_schema().fields, tuple(DataField(i, f"c{n}", Int()) for n, i in enumerate(wanted)))
    assert caught.value.code == "LB3207"


def _made(base: TableSchema, fields) -> TableSchema:
    return with_fields(base, pair_asked(base.fields, tuple(fields)), has_snapshots=lambda: True)


def test_add_drop_reorder_rename_describe():
    base = base_schema()
    a, b, r, _, m = base.fields
    wanted = (m, replace(b, name="bb", description="d", default_value="x"), new("n", Row((new("q"),))), a, r)
    found = _made(base, wanted)
    assert found.id == 1
    assert [(f.id, f.name) for f in found.fields] == [(7, "m"), (1, "bb"), (9, "n"), (0, "a"), (2, "r")]
    assert found.fields[1].description == "d"
    assert found.highest_field_id == 10
    assert found.version == 3


def test_a_name_that_comes_back_is_a_new_column():
    base = base_schema()
    without = _made(base, [f for f in base.fields if f.name != "m"])
    again = _made(without, [*without.fields, new("m")])
    assert again.fields[-1].id == 9
    assert again.highest_field_id == 9


def test_keys_follow_their_columns():
    base = base_schema(primary_keys=("a",), options={"bucket": "1"})
    fields = (replace(base.fields[0], name="k"), *base.fields[1:])
    assert _made(base, fields).primary_keys == ("k",)


def _at(base: TableSchema, index: int, **parts):
    return [replace(f, **parts) if n == index else f for n, f in enumerate(base.fields)]


REFUSED = {
    "type": lambda b: _at(b, 0, type=Date(nullable=False)),
    "nested type": lambda b: _at(b, 2, type=Row((DataField(3, "x", Date()), DataField(4, "y", VarChar())))),
    "map key": lambda b: _at(b, 4, type=replace(b.fields[4].type, key=Int())),
    "required": lambda b: [*b.fields, DataField(UNASSIGNED, "n", Int(nullable=False))],
    "nested required": lambda b: _at(b, 2, type=Row((*b.fields[2].type.fields, new("z", Int(nullable=False))))),
    "not null": lambda b: _at(b, 1, type=VarChar(nullable=False)),
    "last member": lambda b: _at(b, 2, type=Row(())),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused(kind):
    base = base_schema()
    with pytest.raises(ValidationError) as caught:
        _made(base, REFUSED[kind](base))
    assert len(caught.value.diagnostics) == 1


def test_not_null_is_a_choice_of_the_table():
    base = base_schema(options={"alter-column-null-to-not-null.disabled": "false"})
    assert not _made(base, _at(base, 1, type=VarChar(nullable=False))).fields[1].type.nullable
    assert _made(base, _at(base, 0, type=Int())).fields[0].type.nullable


def test_key_columns_stay():
    base = base_schema(primary_keys=("a", "b"), partition_keys=("b",))
    base = replace(
        base, fields=(base.fields[0], replace(base.fields[1], type=VarChar(nullable=False)), *base.fields[2:])
    )
    for wanted in (
        base.fields[1:],
        (base.fields[0], *base.fields[2:]),
        _at(base, 1, name="bb"),
        _at(base, 0, type=Int()),
    ):
        with pytest.raises(ValidationError):
            _made(base, wanted)


def test_options_that_name_a_dropped_column_are_noticed():
    base = base_schema(options={"bucket": "2", "bucket-key": "b"})
    with pytest.raises(ValidationError):
        _made(base, [f for f in base.fields if f.name != "b"])


NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_ids_are_never_used_twice_over_a_history(steps):
    first, highest = ids.assign([new(name) for name in ["z", *steps[0]]], -1)
    schema = TableSchema(0, first, highest)
    owner = {f.id: f.name for f in first}
    for step in steps[1:]:
        schema = _made(schema, [new(name) for name in ["z", *step]])
        for field in schema.fields:
            assert owner.setdefault(field.id, field.name) == field.name
        assert schema.highest_field_id == max(owner)
        assert schema.field_names == ("z", *step)

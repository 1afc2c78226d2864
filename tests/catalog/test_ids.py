"""Field ids: the order in which they are given out, and that none is given out twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog.ids import assign
from lakebed.errors import UnsupportedError
from lakebed.physical import FIRST_SYSTEM_ID, UNASSIGNED, DataField, DataType, Row
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_tree import highest_id, walk_fields
from lakebed.testing.physical import table_schemas


def new(name: str, type_: DataType) -> DataField:
    return DataField(UNASSIGNED, name, type_)


def row(*fields: DataField) -> Row:
    return Row(tuple(fields))


def ids(fields: tuple[DataField, ...]) -> dict[str, int]:
    return {f.name: f.id for f in walk_fields(fields)}


INT, STRING = p.Int(), p.STRING


def test_nested_fields_are_numbered_before_the_field_that_holds_them() -> None:
    """k INT, r ROW<x INT, y ROW<p STRING, q DECIMAL>>, v STRING"""
    inner = row(new("p", STRING), new("q", p.Decimal()))
    fields, highest = assign([new("k", INT), new("r", row(new("x", INT), new("y", inner))), new("v", STRING)], -1)
    assert ids(fields) == {"k": 0, "r": 1, "x": 2, "p": 3, "q": 4, "y": 5, "v": 6}
    assert highest == 6


def test_the_reference_table() -> None:
    fields, highest = assign(
        [
            new("k", INT),
            new("p", STRING),
            new("v", STRING),
            new("n", INT),
            new("r", row(new("a", INT), new("b", INT))),
            new("ar", p.Array(row(new("x", INT)))),
            new("m", p.Map(p.VarChar(nullable=False), row(new("y", INT)))),
            new("ai", p.Array(INT)),
            new("ms", p.Multiset(INT)),
        ],
        -1,
    )
    expected = {"k": 0, "p": 1, "v": 2, "n": 3, "r": 4, "a": 5, "b": 6, "ar": 7, "x": 8, "m": 9, "y": 10}
    assert ids(fields) == expected | {"ai": 11, "ms": 12}
    assert highest == 12


def test_an_added_column_comes_before_what_is_nested_in_it() -> None:
    """add c8 ROW<q ROW<z INT>, w INT> when 18 is the highest"""
    kept = DataField(3, "k", INT)
    added = new("c8", row(DataField(0, "q", row(new("z", INT))), new("w", INT)))
    fields, highest = assign([kept, added], 18)
    assert ids(fields) == {"k": 3, "c8": 19, "z": 20, "q": 21, "w": 22}
    assert highest == 22


def test_a_field_added_to_a_row_that_was_there() -> None:
    before = row(DataField(5, "a", INT), new("n", row(new("x", INT))), DataField(6, "b", INT))
    fields, highest = assign([DataField(4, "r", p.Array(before))], 12)
    assert ids(fields) == {"r": 4, "a": 5, "n": 13, "x": 14, "b": 6}
    assert highest == 14


def test_map_keys_come_before_map_values() -> None:
    fields, _ = assign([new("m", p.Map(row(new("k", INT)), row(new("v", INT))))], -1)
    assert ids(fields) == {"m": 0, "k": 1, "v": 2}


def test_an_id_below_one_in_use_is_never_given_out_although_the_counter_is_too_low() -> None:
    fields, highest = assign([DataField(7, "r", row(DataField(9, "a", INT))), new("b", INT)], 3)
    assert ids(fields) == {"r": 7, "a": 9, "b": 10}
    assert highest == 10


def test_a_dropped_id_is_not_used_again_and_system_ids_do_not_count() -> None:
    fields, highest = assign([DataField(FIRST_SYSTEM_ID + 5, "s", INT), new("b", INT)], 30)
    assert (fields[1].id, highest) == (31, 31)


def test_no_fields() -> None:
    assert assign([], -1) == ((), -1)
    assert assign([], 8) == ((), 8)


def test_ids_of_system_columns_are_never_given_out() -> None:
    with pytest.raises(UnsupportedError) as caught:
        assign([new("a", INT), new("b", INT)], FIRST_SYSTEM_ID - 2)
    assert caught.value.code == "LB3520"


@given(table_schemas(), st.integers(-1, 5000))
def test_ids_are_unique_and_kept(schema: object, highest: int) -> None:
    fields = schema.fields  # type: ignore[attr-defined]
    again, _ = assign(fields, highest)
    assert again == fields
    found = [f.id for f in walk_fields(fields)]
    assert len(found) == len(set(found))
    added, last = assign((*fields, *(replace(f, id=UNASSIGNED, name=f.name + "2") for f in fields)), highest)
    everything = [f.id for f in walk_fields(added)]
    assert len(everything) == len(set(everything)) == 2 * len(found)
    assert last == highest_id(added) > max(highest, *found)

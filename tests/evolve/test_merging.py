"""Merging schemas: the reference's rules, pair by pair, and their laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.tables import row
from evolve.test_diff_laws import MANY, schemas
from lakebed.errors import ValidationError
from lakebed.evolve.cast_rules import castable
from lakebed.evolve.union_schema import MergeTypes, UnionRules, merge_fields
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_tree import without_ids

ADD, WIDEN, CAST = MergeTypes
INT, BIGINT, STRING = t.Int(), t.BigInt(), t.STRING


def one(type_: t.DataType, name: str = "c", number: int = 7) -> tuple[t.DataField, ...]:
    return (t.DataField(number, name, type_, "said", "1"),)


def merged(have: t.DataType, given_: t.DataType, types: MergeTypes = WIDEN) -> t.DataType:
    (field,) = merge_fields(one(have), one(given_, number=t.UNASSIGNED), UnionRules(types)).fields
    assert (field.id, field.name, field.description, field.default_value) == (7, "c", "said", "1")
    return field.type


def refused(have: t.DataType, given_: t.DataType, types: MergeTypes = WIDEN) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        merge_fields(one(have), one(given_), UnionRules(types))
    return [f"{d.code} {d.path}" for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("have", "given_", "result"),
    [
        (INT, t.Int(False), INT),
        (t.Int(False), INT, t.Int(False)),
        (t.Int(False), BIGINT, t.BigInt(False)),
        (INT, BIGINT, BIGINT),
        (INT, t.Double(), t.Double()),
        (t.Float(), t.Double(), t.Double()),
        (t.Decimal(10, 2), t.Decimal(12, 2), t.Decimal(12, 2)),
        (t.Decimal(12, 2), t.Decimal(10, 2), t.Decimal(12, 2)),
        (t.Char(3), t.VarChar(3), t.VarChar(3)),
        (t.VarChar(3), STRING, STRING),
        (t.Binary(3), t.BYTES, t.BYTES),
        (t.Timestamp(3), t.Timestamp(6), t.Timestamp(6)),
        (t.Timestamp(3), t.LocalZonedTimestamp(3), t.LocalZonedTimestamp(3)),
        (t.Array(t.Int(False), False), t.Array(BIGINT), t.Array(t.BigInt(False), False)),
        (t.Map(STRING, INT), t.Map(t.VarChar(nullable=False), BIGINT), t.Map(STRING, BIGINT)),
        (t.Multiset(INT), t.Multiset(t.Int(False)), t.Multiset(INT)),
        (t.Variant(), t.Variant(False), t.Variant()),
    ],
)
def test_types_that_widen(have: t.DataType, given_: t.DataType, result: t.DataType) -> None:
    assert merged(have, given_) == result


@pytest.mark.parametrize(
    ("have", "given_"),
    [
        (BIGINT, INT),
        (STRING, INT),
        (STRING, t.VarChar(9)),
        (t.VarChar(9), t.Char(9)),
        (t.Char(3), t.VarChar(2)),
        (t.BYTES, t.VarBinary(9)),
        (t.Timestamp(6), t.Timestamp(3)),
        (t.Timestamp(6), t.LocalZonedTimestamp(3)),
        (t.Time(3), t.Time(0)),
        (t.Decimal(10, 2), t.Decimal(10, 3)),
        (t.Decimal(10, 2), t.Decimal(38, 0)),
        (t.Date(), INT),
        (INT, STRING),
        (INT, t.Array(INT)),
        (row(("x", INT)), INT),
    ],
)
def test_types_that_do_not_widen(have: t.DataType, given_: t.DataType) -> None:
    assert refused(have, given_) == ["LB4501 c"]
    assert merged(have, given_, ADD) == have


@pytest.mark.parametrize(
    ("have", "given_", "result"),
    [
        (BIGINT, INT, INT),
        (INT, STRING, STRING),
        (t.Timestamp(6), t.Timestamp(3), t.Timestamp(3)),
        (STRING, t.VarChar(9), t.VarChar(9)),
        (t.VarChar(5, False), INT, t.Int(False)),
    ],
)
def test_types_that_are_cast_where_that_is_asked_for(have: t.DataType, given_: t.DataType, result: t.DataType) -> None:
    assert merged(have, given_, CAST) == result
    assert refused(have, given_) == ["LB4501 c"]


def test_decimals_of_other_scales_are_refused_even_with_casts() -> None:
    assert refused(t.Decimal(10, 2), t.Decimal(12, 3), CAST) == ["LB4501 c"]


@pytest.mark.parametrize("types", list(MergeTypes))
def test_keys_of_maps_and_elements_of_multisets_stay(types: MergeTypes) -> None:
    keyed = row(("x", INT)), row(("x", INT), ("y", INT))
    assert refused(t.Map(keyed[0], INT), t.Map(keyed[1], INT), types) == ["LB4503 c.key"]
    assert refused(t.Multiset(keyed[0]), t.Multiset(keyed[1]), types) == ["LB4503 c.element"]
    if types is ADD:
        assert merged(t.Map(INT, INT), t.Map(BIGINT, BIGINT), ADD) == t.Map(INT, INT)
    else:
        assert refused(t.Map(INT, INT), t.Map(BIGINT, INT), types) == ["LB4503 c.key"]
        assert refused(t.Multiset(INT), t.Multiset(BIGINT), types) == ["LB4503 c.element"]


def test_a_writer_that_checks_values_keeps_the_wider_type() -> None:
    rules = UnionRules(WIDEN, keep_wider=True)
    for have, given_ in ((BIGINT, INT), (t.Timestamp(6), t.Timestamp(3)), (STRING, t.VarChar(3)), (t.Double(), INT)):
        assert merge_fields(one(have), one(given_), rules).fields == one(have)
    with pytest.raises(ValidationError):
        merge_fields(one(t.Date()), one(INT), rules)


def test_members_are_matched_by_name_and_new_ones_come_last_and_nullable() -> None:
    table = (
        t.DataField(0, "a", t.Int(False)),
        t.DataField(1, "r", t.Row((t.DataField(2, "x", INT), t.DataField(3, "y", INT)), False)),
    )
    inner = row(("new", t.Date(False)), ("y", BIGINT), ("x", INT), nullable=False)
    data = (
        t.DataField(5, "z", row(("q", t.Int(False)), nullable=False), "doc"),
        t.DataField(9, "r", inner),
    )
    assert merge_fields(table, data, UnionRules()).fields == (
        table[0],
        t.DataField(
            1,
            "r",
            t.Row((t.DataField(2, "x", INT), t.DataField(3, "y", BIGINT), t.DataField(-1, "new", t.Date())), False),
        ),
        t.DataField(-1, "z", row(("q", t.Int(False))), "doc"),
    )


def test_lists_and_maps_are_entered() -> None:
    table = (
        t.DataField(0, "l", t.Array(t.Row((t.DataField(1, "x", INT),)))),
        t.DataField(2, "m", t.Map(STRING, t.Row((t.DataField(3, "x", INT),)))),
    )
    wide = row(("x", BIGINT), ("n", INT))
    data = (t.DataField(-1, "l", t.Array(wide)), t.DataField(-1, "m", t.Map(STRING, wide)))
    found = merge_fields(table, data, UnionRules()).fields
    assert [without_ids(f.type) for f in found] == [t.Array(wide), t.Map(STRING, wide)]
    assert found[0].type.element.fields[0].id == 1  # type: ignore[union-attr]


class TestCase:
    TABLE = (t.DataField(0, "Id", INT), t.DataField(1, "r", t.Row((t.DataField(2, "X", INT),))))
    DATA = (t.DataField(-1, "iD", BIGINT), t.DataField(-1, "R", row(("x", BIGINT))))

    def test_names_match_with_their_case(self) -> None:
        found = merge_fields(self.TABLE, self.DATA, UnionRules())
        assert [f.name for f in found.fields] == ["Id", "r", "iD", "R"]
        assert found.case_only == (("iD",), ("R",))

    def test_or_without_where_that_is_asked_for(self) -> None:
        found = merge_fields(self.TABLE, self.DATA, UnionRules(case_sensitive=False))
        assert [f.name for f in found.fields] == ["Id", "r"]
        assert found.fields[1].type == t.Row((t.DataField(2, "X", BIGINT),))
        assert found.case_only == ()

    def test_the_same_name_wins_over_one_that_folds_to_it(self) -> None:
        table = (t.DataField(0, "a", INT), t.DataField(1, "A", INT))
        found = merge_fields(table, (t.DataField(-1, "A", BIGINT),), UnionRules(case_sensitive=False))
        assert [f.type for f in found.fields] == [INT, BIGINT]

    @pytest.mark.parametrize(
        ("table", "data", "case_sensitive"),
        [("a", ["b", "b"], True), ("a", ["b", "B"], False), ("Ab aB", ["ab"], False)],
    )
    def test_what_is_ambiguous(self, table: str, data: list[str], case_sensitive: bool) -> None:
        known = tuple(t.DataField(i, n, INT) for i, n in enumerate(table.split()))
        with pytest.raises(ValidationError) as caught:
            merge_fields(known, tuple(t.DataField(-1, n, INT) for n in data), UnionRules(case_sensitive=case_sensitive))
        assert [d.code for d in caught.value.diagnostics] == ["LB4502"]


RULES = st.builds(UnionRules, st.sampled_from(MergeTypes), st.booleans())


@MANY
@given(schemas(), RULES)
def test_a_schema_merged_into_itself_is_itself(schema, rules) -> None:
    assert merge_fields(schema.fields, schema.fields, rules).fields == schema.fields


@MANY
@given(schemas(), schemas(), st.sampled_from(MergeTypes))
def test_merging_twice_is_merging_once(table, data, types) -> None:
    rules = UnionRules(types)
    try:
        once = merge_fields(table.fields, data.fields, rules)
    except ValidationError:
        return
    assert merge_fields(once.fields, data.fields, rules).fields == once.fields
    before = {f.id for f in table.fields}
    assert {f.id for f in once.fields} == before | ({t.UNASSIGNED} if len(once.fields) > len(before) else set())
    assert {f.name for f in once.fields} == {f.name for f in (*table.fields, *data.fields)}
    for old, new in zip(table.fields, once.fields, strict=False):
        assert new.type.nullable == old.type.nullable
        if types is ADD and not isinstance(old.type, t.Row | t.Array | t.Map):
            assert new == old


ATOMS = [INT, BIGINT, STRING, t.VarChar(3), t.Char(2), t.Decimal(9, 2), t.Double(), t.Date(), t.Timestamp(3), t.BYTES]


@given(st.sampled_from(ATOMS), st.sampled_from(ATOMS))
def test_what_is_widened_can_be_read(have: t.DataType, given_: t.DataType) -> None:
    try:
        found = merged(have, given_)
    except ValidationError:
        return
    assert found == have or castable(have, found, explicit=False)

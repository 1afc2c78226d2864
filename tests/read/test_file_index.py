"""File indexes: whatever a row is, an index leaves it open; and what no row is, an exact index rules out."""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.physical import paimon_types as t
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.read.file_index import FileIndex, index_evidence
from lakebed.read.predicate import (
    And,
    Compare,
    IsIn,
    IsNull,
    Leaf,
    Not,
    Opaque,
    Operator,
    Or,
    Predicate,
    StartsWith,
    Truths,
    possible,
)
from lakebed.testing.memory_store import MemoryStore
from read import index_encoder as encoder
from read.leaf_truth import truth, truths
from read.one_index import PATH, columns, data_file, index_of, schema_of

#: Few values each, so that rows share them; the ends of the type among them.
POOLS: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, -1, 0, 1, 127],
    "SMALLINT": [-32768, -300, 0, 7, 32767],
    "INT": [-(2**31), -5, 0, 5, 6, 2**31 - 1],
    "BIGINT": [-(2**63) + 1, -(2**40), -1, 0, 3, 2**40, 2**63 - 1],
    "FLOAT": [-math.inf, -1.5, -0.0, 0.0, 2.0**-149, 1.5, math.inf, math.nan],
    "DOUBLE": [-math.inf, -0.1, -0.0, 0.0, 5e-324, 0.1, 0.3, math.inf, math.nan],
    "DECIMAL(9, 2)": [Decimal("-9999999.99"), Decimal("-0.01"), Decimal(0), Decimal("1.50"), Decimal("9999999.99")],
    "DECIMAL(18, 0)": [Decimal(-(10**18) + 1), Decimal(0), Decimal(12), Decimal(10**18 - 1)],
    "DATE": [-719162, -1, 0, 19000],
    "TIME(3)": [0, 1, 86_399_999],
    "TIMESTAMP(3)": [-62135596800_000000000, -1_000_000, 0, 1_000_000, 1745542802000_000000],
    "TIMESTAMP(6)": [-1_000, 0, 1_000, 1_000_000, 1745542802000123_000],
    "TIMESTAMP(9)": [-1_001, -1_000, -1, 0, 1, 999, 1_000, 1_000_000],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": [-1_000, 0, 1_000, 1745542802000123_000],
    "STRING": ["", "a", "ab", "b", "é", "\u00ff", "\U0001f30a", "z" * 40],
    "VARCHAR(5)": ["", "a", "ab", "abc"],
    "CHAR(3)": ["a", "ab", "abc"],
}
NUMBERS = [k for k in POOLS if k.partition("(")[0] not in {"BOOLEAN", "FLOAT", "DOUBLE", "STRING", "VARCHAR", "CHAR"}]
HASHED = [k for k in POOLS if not k.startswith(("BOOLEAN", "DECIMAL"))]
RANGED = [k for k in POOLS if k != "TIMESTAMP(9)"]

EXACT: dict[str, tuple[list[str], Any]] = {
    "bitmap v1": (
        [k for k in POOLS if not k.startswith("DECIMAL")],
        lambda kind, values: {"bitmap": encoder.bitmap(kind, values, version=1)},
    ),
    "bitmap v2": (
        [k for k in POOLS if not k.startswith("DECIMAL")],
        lambda kind, values: {"bitmap": encoder.bitmap(kind, values)},
    ),
    "bitmap v2 in small blocks": (
        [k for k in POOLS if not k.startswith("DECIMAL")],
        lambda kind, values: {"bitmap": encoder.bitmap(kind, values, block=52)},
    ),
    "bsi": (NUMBERS, lambda kind, values: {"bsi": encoder.bsi(kind, values)}),
    "range-bitmap": (RANGED, lambda kind, values: {"range-bitmap": encoder.range_bitmap(kind, values)}),
    "range-bitmap in small chunks": (
        RANGED,
        lambda kind, values: {"range-bitmap": encoder.range_bitmap(kind, values, chunk=24)},
    ),
    "range-bitmap without chunks": (
        RANGED,
        lambda kind, values: {"range-bitmap": encoder.range_bitmap(kind, values, chunk=0)},
    ),
    "bsi, bloom filter and bitmap": (
        [k for k in NUMBERS if k in HASHED],
        lambda kind, values: {
            "bsi": encoder.bsi(kind, values),
            "bloom-filter": encoder.bloom(kind, values),
            "bitmap": encoder.bitmap(kind, values),
        },
    ),
}
WAYS = [(way, kind) for way, (kinds, _) in EXACT.items() for kind in kinds]


def literals(kind: str) -> st.SearchStrategy[Any]:
    return st.sampled_from([v for v in POOLS[kind] if not (isinstance(v, float) and math.isnan(v))])


def leaves_of(field: DataField, kind: str) -> st.SearchStrategy[Leaf]:
    values = literals(kind)
    made: list[st.SearchStrategy[Any]] = [
        st.builds(Compare, st.just(field), st.sampled_from(Operator), values),
        st.builds(IsIn, st.just(field), st.lists(values, min_size=1, max_size=4).map(tuple)),
        st.just(IsNull(field)),
    ]
    if isinstance(field.type, t.VarChar | t.Char):
        made.append(st.builds(StartsWith, st.just(field), values.map(lambda text: text[:2])))
    return st.one_of(made)


def values_of(kind: str, size: int = 12) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from([*POOLS[kind], None]), max_size=size)


@pytest.mark.parametrize(("way", "kind"), WAYS)
def test_an_exact_index_leaves_open_what_rows_are_and_nothing_else(way: str, kind: str) -> None:
    (field,) = columns(kind)

    @settings(max_examples=8)
    @given(values_of(kind), st.lists(leaves_of(field, kind), min_size=8, max_size=8), st.sampled_from([1, 2]))
    def law(values: list[Any], leaves: list[Leaf], version: int) -> None:
        data = encoder.container({"other": {}, "c0": EXACT[way][1](field.type, values)}, version)
        index = index_of((field,), len(values), data)
        for leaf in leaves:
            found, right = index.evidence(leaf), truths(leaf, values)
            if "TIMESTAMP" in kind:
                assert found | right == found
                assert Truths.TRUE in right or Truths.TRUE not in found or _within_a_unit(leaf, values)
            else:
                assert found == right

    law()


def _within_a_unit(leaf: Leaf, values: list[Any]) -> bool:
    """Whether a row's time and one that is asked for are the same but for parts that an index does not keep."""
    if not isinstance(leaf.column.type, t.Timestamp | t.LocalZonedTimestamp):
        return False
    wanted = leaf.values if isinstance(leaf, IsIn) else (leaf.value,) if isinstance(leaf, Compare) else ()
    return any(abs(w - v) < 1_000_000 for w in wanted for v in values if v is not None)


@pytest.mark.parametrize("kind", HASHED)
def test_a_bloom_filter_never_rules_out_what_is_there(kind: str) -> None:
    (field,) = columns(kind)
    ruled_out = []

    @settings(max_examples=15)
    @given(values_of(kind, 4), st.lists(leaves_of(field, kind), min_size=8, max_size=8))
    def law(values: list[Any], leaves: list[Leaf]) -> None:
        data = encoder.container({"c0": {"bloom-filter": encoder.bloom(field.type, values)}})
        index = index_of((field,), len(values), data)
        for leaf in leaves:
            found, right = index.evidence(leaf), truths(leaf, values)
            assert found | right == found
            if isinstance(leaf, IsIn) and Truths.TRUE not in right and not _within_a_unit(leaf, values):
                ruled_out.append(Truths.TRUE not in found)

    law()
    assert sum(ruled_out) > 0.8 * len(ruled_out) > 0


TABLE = columns("INT", "STRING", "DOUBLE", "TIMESTAMP(6)", "BIGINT")
KINDS = ["INT", "STRING", "DOUBLE", "TIMESTAMP(6)", "BIGINT"]


def _table_index(rows: list[tuple[Any, ...]]) -> FileIndex:
    by_column = [[row[i] for row in rows] for i in range(len(TABLE))]
    kinds = [f.type for f in TABLE]
    data = encoder.container(
        {
            "c0": {"bsi": encoder.bsi(kinds[0], by_column[0])},
            "c1": {"bitmap": encoder.bitmap(kinds[1], by_column[1])},
            "c2": {"range-bitmap": encoder.range_bitmap(kinds[2], by_column[2])},
            "c3": {"bitmap": encoder.bitmap(kinds[3], by_column[3], version=1)},
            "c4": {"bloom-filter": encoder.bloom(kinds[4], by_column[4])},
        }
    )
    return index_of(TABLE, len(rows), data)


def _row_truth(predicate: Predicate, row: tuple[Any, ...]) -> Truths:
    found = possible(predicate, lambda leaf: truth(leaf, row[leaf.column.id]))
    assert found in {Truths.TRUE, Truths.FALSE, Truths.NULL}
    return found


PREDICATES: st.SearchStrategy[Predicate] = st.recursive(
    st.one_of([leaves_of(field, kind) for field, kind in zip(TABLE, KINDS, strict=True)]),
    lambda part: st.one_of(
        st.builds(Not, part),
        st.builds(And, st.lists(part, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(part, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)
ROWS = st.lists(st.tuples(*(st.sampled_from([*POOLS[kind][:4], None]) for kind in KINDS)), max_size=8)


@settings(max_examples=150)
@given(ROWS, PREDICATES, st.sets(st.integers(0, 7)))
def test_predicates_over_rows_that_are_not_deleted(
    rows: list[tuple[Any, ...]], predicate: Predicate, deleted: set[int]
) -> None:
    index = _table_index(rows)
    left = [row for i, row in enumerate(rows) if i not in deleted]
    right = Truths.NONE
    for row in left:
        right |= _row_truth(predicate, row)
    found = index.truths(predicate, deleted)
    assert found | right == found
    assert found | possible(predicate, index.evidence) == possible(predicate, index.evidence)
    counted = index.count(predicate, deleted)
    assert counted in {None, sum(_row_truth(predicate, row) == Truths.TRUE for row in left)}


def test_a_conjunction_is_judged_row_by_row_and_counted() -> None:
    index = _table_index([(5, "a", 0.1, 0, 3), (0, "b", None, 1_000, 3), (5, "b", 0.1, 0, None)])
    five, a, b = Compare(TABLE[0], Operator.EQUAL, 5), IsIn(TABLE[1], ("a",)), IsIn(TABLE[1], ("b",))
    zero_and_a = And((Compare(TABLE[0], Operator.EQUAL, 0), a))
    assert Truths.TRUE in possible(zero_and_a, index.evidence)
    assert Truths.TRUE not in index.truths(zero_and_a)
    assert index.count(And((five, b))) == 1
    assert index.count(Or((five, b))) == 3
    assert index.count(Or((five, b)), [0, 2]) == 1
    assert Truths.TRUE not in index.truths(And((five, b)), [2])
    assert index.count(Not(IsNull(TABLE[2]))) == 2
    assert index.count(And((five, Opaque("rand() > 0.5")))) is None
    assert index.count(Compare(TABLE[4], Operator.EQUAL, 3)) is None
    assert index.count(Compare(TABLE[4], Operator.EQUAL, 2**40)) == 0


@pytest.mark.parametrize(
    ("stored", "read", "value", "judged"),
    [
        ("INT", "BIGINT", 5, True),
        ("INT", "BIGINT", 2**40, False),
        ("BIGINT", "INT", 5, False),
        ("INT", "STRING", "5", False),
        ("INT NOT NULL", "INT", 5, True),
        ("INT", "INT", Decimal(5), True),
        ("INT", "INT", Decimal("5.5"), False),
        ("INT", "INT", 5.0, False),
        ("INT", "INT", True, False),
        ("DOUBLE", "DOUBLE", 5, True),
        ("DOUBLE", "DOUBLE", 2**53 + 1, False),
        ("FLOAT", "FLOAT", 0.1, False),
        ("FLOAT", "DOUBLE", 0.5, False),
        ("DOUBLE", "DOUBLE", math.nan, False),
        ("VARCHAR(3)", "STRING", "x", True),
        ("STRING", "VARCHAR(3)", "x", False),
        ("STRING", "STRING", "\ud800", False),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", 5_000_000_000, True),
        ("TIMESTAMP(6)", "TIMESTAMP(3)", 5_000_000_000, False),
        ("DECIMAL(9, 2)", "DECIMAL(12, 3)", Decimal("1.5"), True),
        ("DECIMAL(9, 2)", "DECIMAL(12, 3)", Decimal("1.555"), False),
        ("DECIMAL(9, 2)", "DECIMAL(9, 3)", Decimal("1.5"), False),
        ("DECIMAL(9, 2)", "DECIMAL(12, 1)", Decimal("1.5"), False),
        ("DECIMAL(9, 2)", "DECIMAL(9, 2)", 3, True),
        ("DECIMAL(9, 2)", "DECIMAL(9, 2)", 1.5, False),
        ("DECIMAL(9, 2)", "DECIMAL(9, 2)", Decimal("Infinity"), False),
        ("DECIMAL(9, 2)", "DECIMAL(9, 2)", Decimal("1e-999"), False),
        ("TIMESTAMP(6)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", 5_000_000_000, False),
    ],
)
def test_what_is_judged_where_types_or_values_differ(stored: str, read: str, value: Any, judged: bool) -> None:
    kind = parse(stored)
    there = {t.VarChar: "there", t.Double: 0.25, t.Float: 0.25, t.Decimal: Decimal(7)}.get(type(kind), 77_000_000)
    body = {"range-bitmap": encoder.range_bitmap(kind, [there])}
    index = index_of((DataField(3, "old", kind),), 1, encoder.container({"old": body}))
    leaf = Compare(DataField(3, "new", parse(read)), Operator.EQUAL, value)
    assert index.evidence(leaf) == (Truths.FALSE if judged else Truths.ANY)
    assert index.evidence(replace(leaf, column=replace(leaf.column, id=4))) == Truths.ANY


@pytest.mark.parametrize(
    ("kind", "indexed", "asked", "judged"),
    [
        ("CHAR(3)", "ab", "x", False),
        ("VARCHAR(3)", "ab", "x", False),
        ("STRING", "ab", "x", True),
        ("TIMESTAMP(3)", -1_000_000, 999_000_000, False),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", 0, 1_000_000, False),
        ("DATE", 0, -141_428, False),
        ("DATE", 0, -141_427, True),
    ],
)
def test_what_orc_may_give_back_otherwise_is_not_judged(kind: str, indexed: Any, asked: Any, judged: bool) -> None:
    (field,) = columns(kind)
    data = encoder.container({"c0": {"bitmap": encoder.bitmap(field.type, [indexed])}})
    leaf = Compare(field, Operator.EQUAL, asked)
    assert index_of((field,), 1, data).evidence(leaf) == Truths.FALSE
    found = index_of((field,), 1, data, PATH.replace("parquet", "orc")).evidence(leaf)
    assert found == (Truths.FALSE if judged else Truths.ANY)


# --- where indexes lie ------------------------------------------------------------------------------------------------


def test_an_index_file_is_read_in_ranges_and_when_it_is_asked() -> None:
    fields = columns("INT", "STRING", "INT")
    values = list(range(50_000))
    data = encoder.container(
        {
            "c0": {"bitmap": encoder.bitmap(fields[0].type, values)},
            "c1": {"bitmap": encoder.bitmap(fields[1].type, ["x"] * len(values))},
        }
    )
    store = MemoryStore({"/elsewhere/data-1.parquet.index": data})
    file = data_file(50_000, path="/elsewhere/data-1.parquet", extra=("data-1.parquet.index", "data-1.parquet.other"))
    read: list[int] = []
    answer = store.read_range
    store.read_range = lambda path, start, length: read.append(length) or answer(path, start, length)  # type: ignore
    evidence = index_evidence(store, file, schema_of(fields))
    assert evidence is not None
    assert not read
    assert evidence(IsNull(fields[2])) == Truths.ANY
    for _ in range(3):
        assert evidence(Compare(fields[1], Operator.EQUAL, "y")) == Truths.FALSE
    assert len(read) == 2
    assert sum(read) < 20_000
    assert evidence(Compare(fields[0], Operator.EQUAL, 50_000)) == Truths.FALSE
    assert len(read) == 3


def test_several_index_files_all_count() -> None:
    (field,) = columns("INT")
    store = MemoryStore(
        {
            f"/wh/db.db/t/bucket-0/data-1-{i}.index": encoder.container({"c0": {kind: data}})
            for i, (kind, data) in enumerate(
                [("bitmap", encoder.bitmap(field.type, [1, 1])), ("a kind of the future", b"?")]
            )
        }
    )
    file = data_file(2, extra=("data-1-0.index", "data-1-1.index"))
    evidence = index_evidence(store, file, schema_of((field,)))
    assert evidence is not None
    assert evidence(Compare(field, Operator.EQUAL, 1)) == Truths.TRUE


def test_a_file_without_an_index_has_no_evidence() -> None:
    assert index_evidence(MemoryStore(), data_file(1, extra=("changelog-1",)), schema_of(columns("INT"))) is None


@pytest.mark.parametrize("version", [1, 2])
def test_names_of_columns_and_unknown_parts(version: int) -> None:
    name = "n\0\U0001f30a é"
    field = DataField(7, name, t.Int())
    body = encoder.bitmap(field.type, [1])
    data = encoder.container(
        {"m[k]": {"bitmap": b"??"}, name: {"bsi": None, "rtree": b"??", "bitmap": body}, "c": {"bitmap": body}}, version
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index = index_of((field,), 1, data)
        assert index.evidence(Compare(field, Operator.EQUAL, 2)) == Truths.FALSE
        assert index.evidence(IsNull(DataField(8, "m", parse("INT")))) == Truths.ANY
        assert index.kinds(field) == ("bitmap",)
        assert index.kinds(replace(field, type=parse("STRING"))) == ()


# --- the encoder ------------------------------------------------------------------------------------------------------


def _many() -> list[int | None]:
    return [None if i % 11 == 0 else (i * 37) % 101 for i in range(70_000)]


_INTS = [9, -1, 3, None, 1, 7, 5, 3, -(2**31), 2**31 - 1]
_TEXTS = ["z", "", "a\0", None, "\u4f60\u597d", "ab", "abc", "\U0001f980"]


@pytest.mark.parametrize(
    ("kind", "chunk", "values", "digest"),
    [
        ("INT", 0, [], "930b0b08191aa151e382586494360c5408fc7d4e2fd6971e0637004e2099e017"),
        ("INT", 0, [None] * 3, "ca2a1588451c1c3c353abd33b7f447721bf61f65ce06c8d004646821c4123edd"),
        ("INT", 0, [7, None, 7], "69007c0772b87a68420a8ed271849a45072e7868c1ba2fe972d3e7a4c9be850f"),
        ("INT", 0, _INTS, "82999022f0517a867a0d2a109467de891c0d11a41f20e207c8502d7b31414e21"),
        ("INT", 8, _INTS, "b5b2b34a69e6c25ca7cf8bbb799df142b44d1c9011840fa2862fef996f2c4892"),
        ("VARCHAR(100)", 8, _TEXTS, "11cc7028788d995ca15b8d94bdd7c91dd9ba1110a941cfce7b8412bcfc7b3f5f"),
        ("INT", 12, _many(), "668a624b4c77633891f7280529ce3344149a9efb6ac2509b78c75ceca3bfe59e"),
    ],
)
def test_range_bitmaps_of_the_tests_are_those_of_newer_java(
    kind: str, chunk: int, values: list[Any], digest: str
) -> None:
    made = encoder.range_bitmap(parse(kind), values, chunk=chunk)
    assert hashlib.sha256(made).hexdigest() == digest

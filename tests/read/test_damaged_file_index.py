"""Damaged indexes, and those of versions of the future: nothing is lost, nothing raised, and damage is told."""

from __future__ import annotations

import struct
import warnings
from decimal import Decimal
from typing import Any

import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import LakebedWarning
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_types import DataField
from lakebed.read.file_index import file_index, index_evidence
from lakebed.read.file_index.roaring import DamagedError, read_bitmap
from lakebed.read.predicate import Compare, IsIn, IsNull, Leaf, Operator, Truths
from lakebed.testing.memory_store import MemoryStore
from read import index_encoder as encoder
from read.leaf_truth import truths
from read.one_index import columns, data_file, index_of, schema_of

TEXTS = ["a", None, "a", None, "c", "b"]
NUMBERS = [1, None, -4, 9, 9]
#: The type, the values, and the one index of them.
BODIES: dict[str, tuple[str, list[Any], dict[str, bytes]]] = {
    "bloom-filter": ("INT", NUMBERS, {"bloom-filter": encoder.bloom(t.Int(), NUMBERS, size=8)}),
    "bitmap v1": ("STRING", TEXTS, {"bitmap": encoder.bitmap(t.STRING, TEXTS, version=1)}),
    "bitmap v2": ("STRING", TEXTS, {"bitmap": encoder.bitmap(t.STRING, TEXTS, block=40)}),
    "bsi": ("BIGINT", NUMBERS, {"bsi": encoder.bsi(t.BigInt(), NUMBERS)}),
    "range-bitmap": ("STRING", TEXTS, {"range-bitmap": encoder.range_bitmap(t.STRING, TEXTS, chunk=8)}),
    "range-bitmap of numbers": ("INT", NUMBERS, {"range-bitmap": encoder.range_bitmap(t.Int(), NUMBERS)}),
}


def _questions(field: DataField, values: list[Any]) -> list[Leaf]:
    known = [v for v in values if v is not None]
    asked: list[Leaf] = [IsNull(field), IsIn(field, tuple(known))]
    return asked + [Compare(field, o, v) for o in Operator for v in known]


def _asked(data: bytes, field: DataField, values: list[Any]) -> list[tuple[Leaf, Truths]]:
    """All that can be asked of an index; only a warning may come of it, and no more than one."""
    index = index_of((field,), len(values), data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [(leaf, index.evidence(leaf)) for leaf in _questions(field, values)]
        for leaf, _ in found:
            index.count(leaf)
    assert len(caught) <= 1
    assert all(w.category is LakebedWarning and w.message.diagnostic.code == "LB5640" for w in caught)
    return found


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", BODIES)
def test_a_cut_index_rules_out_nothing_that_is_there(name: str, version: int) -> None:
    kind, values, kinds = BODIES[name]
    (field,) = columns(kind)
    whole = encoder.container({"c0": kinds}, version)
    ((key, body),) = kinds.items()
    cut = [whole[:n] for n in range(len(whole))]
    # A bloom filter does not say how long it is.
    if key != "bloom-filter" and version == 1:
        cut += [encoder.container({"c0": {key: body[:n]}}) for n in range(len(body))]
    for data in cut:
        for leaf, found in _asked(data, field, values):
            assert found | truths(leaf, values) == found


@pytest.mark.parametrize("name", BODIES)
def test_changed_bytes_are_never_more_than_a_warning(name: str) -> None:
    kind, values, kinds = BODIES[name]
    (field,) = columns(kind)
    whole = encoder.container({"c0": kinds})
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= (0x01, 0x80, 0xFF)[place % 3]
        _asked(bytes(data), field, values)


@settings(max_examples=100)
@given(st.sampled_from(sorted(BODIES)), st.data())
def test_bytes_of_chance_are_never_more_than_a_warning(name: str, data: st.DataObject) -> None:
    kind, values, kinds = BODIES[name]
    (field,) = columns(kind)
    ((key, body),) = kinds.items()
    changed = bytearray(body)
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(body) - 1), st.integers(0, 255)), max_size=6)):
        changed[place] = value
    _asked(encoder.container({"c0": {key: bytes(changed)}}), field, values)


@pytest.mark.parametrize("name", [name for name in BODIES if name != "bloom-filter"])
def test_a_body_of_a_version_of_the_future_is_left_aside_silently(name: str) -> None:
    kind, values, kinds = BODIES[name]
    (field,) = columns(kind)
    ((key, body),) = kinds.items()
    place = 4 if key == "range-bitmap" else 0
    changed = body[:place] + b"\x09" + body[place + 1 :]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index = index_of((field,), len(values), encoder.container({"c0": {key: changed}}))
        assert index.evidence(IsNull(field)) == Truths.ANY
        future = struct.pack(">qi", encoder.MAGIC, 3) + bytes(40)
        assert index_of((field,), 1, future).evidence(IsNull(field)) == Truths.ANY


def test_a_damaged_or_missing_index_is_told_once_with_the_file() -> None:
    (field,) = columns("INT")
    file = data_file(1, extra=("data-1.parquet.index",))
    evidence = index_evidence(MemoryStore(), file, schema_of((field,)))
    assert evidence is not None
    with pytest.warns(LakebedWarning, match=r"LB5640.*index file /wh/db.db/t/bucket-0/data-1.parquet.index") as said:
        found = [evidence(leaf) for leaf in (IsNull(field), Compare(field, Operator.EQUAL, 1))]
    assert found == [Truths.ANY, Truths.ANY]
    assert len(said) == 1


def test_a_storage_that_fails_at_any_step_is_no_more_than_a_warning() -> None:
    (field,) = columns("INT")
    kinds = {"bsi": encoder.bsi(field.type, [1, 2]), "bitmap": encoder.bitmap(field.type, [1, 2])}
    path = "/wh/db.db/t/bucket-0/data-1.parquet.index"
    for version, steps in ((1, 3), (2, 6)):
        store = MemoryStore({path: encoder.container({"c0": kinds}, version)})
        for step in range(steps):
            store.restart()
            store.fail_at(step)
            index = file_index(store, data_file(2, extra=("data-1.parquet.index",)), schema_of((field,)))
            assert index is not None
            leaf = Compare(field, Operator.EQUAL, 2)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                assert Truths.TRUE in index.evidence(leaf)
            assert len(store.operations) > step
            assert [w.category for w in caught] == [LakebedWarning]


def test_lengths_that_are_nonsense_are_never_asked_of_the_storage() -> None:
    (field,) = columns("INT")
    body = encoder.bsi(field.type, [1, 2])
    whole = encoder.container({"c0": {"bsi": body}}, 2)
    length = whole.rindex(struct.pack(">q", len(body)))
    path = "/wh/db.db/t/bucket-0/data-1.parquet.index"
    store = MemoryStore({path: whole[:length] + struct.pack(">q", 1 << 60) + whole[length + 8 :]})
    answer = store.read_range
    asked: list[int] = []
    store.read_range = lambda path, start, length: asked.append(length) or answer(path, start, length)  # type: ignore
    index = file_index(store, data_file(2, extra=("data-1.parquet.index",)), schema_of((field,)))
    assert index is not None
    with pytest.warns(LakebedWarning, match="promises 1152921504606846976 bytes at 12 and has"):
        assert index.evidence(IsNull(field)) == Truths.ANY
    assert max(asked) < 10_000


def test_an_index_of_another_number_of_rows_is_damaged() -> None:
    (field,) = columns("INT")
    index = index_of((field,), 3, encoder.container({"c0": {"bsi": encoder.bsi(field.type, [1, 2])}}))
    with pytest.warns(LakebedWarning, match="it is of 2 rows and the file has 3"):
        assert index.evidence(Compare(field, Operator.EQUAL, 7)) == Truths.ANY


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 300_000), st.integers(1, 9_000), st.sampled_from([1, 1, 2, 7]))), st.booleans()
)
def test_every_kind_of_container_is_understood(ranges: list[tuple[int, int, int]], optimized: bool) -> None:
    made = pyroaring.BitMap()
    for start, length, step in ranges:
        made |= pyroaring.BitMap(range(start, start + length, step))
    if optimized:
        made.run_optimize()
    data = made.serialize()
    assert read_bitmap(b"xy" + data + b"what follows", 2, 1 << 20) == (made, 2 + len(data))
    if made:
        with pytest.raises(DamagedError):
            read_bitmap(data, 0, made.max())


def test_containers_out_of_order_are_never_given_to_the_library() -> None:
    plain, runs = pyroaring.BitMap([1, 5, 9]), pyroaring.BitMap([*range(10, 90), *range(200, 300)])
    runs.run_optimize()
    swapped = bytearray(plain.serialize())
    swapped[-4:-2], swapped[-2:] = swapped[-2:], swapped[-4:-2]
    beyond = bytearray(runs.serialize())
    beyond[-2:] = b"\xff\xff"
    fewer = bytearray(pyroaring.BitMap(range(0, 20_000, 2)).serialize())
    fewer[-1] ^= 1
    for data in (swapped, beyond, fewer):
        with pytest.raises(DamagedError):
            read_bitmap(bytes(data), 0, 1 << 20)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("values", [["a", "b", "c"], ["a", "b", None], ["a", "c", "c"], ["a", None, None]])
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_bitmap_names_no_row_beyond_the_last(version: int, values: list[Any], missing: int) -> None:
    """Rows are counted from 0: of n rows none is row n. Every way in which a dictionary names a row is tried."""
    (field,) = columns("STRING")
    rows = len(values) - missing
    body = bytearray(encoder.bitmap(field.type, values, version=version))
    body[1:5] = struct.pack(">i", rows)
    index = index_of((field,), rows, encoder.container({"c0": {"bitmap": bytes(body)}}))
    told = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for leaf in (Compare(field, Operator.EQUAL, values[-1]) if values[-1] else IsNull(field),):
            told.append(index.count(leaf))
    if missing:
        assert told == [None]
        assert [w.message.diagnostic.code for w in caught] == ["LB5640"]  # type: ignore[union-attr]
    else:
        assert told == [values.count(values[-1])]
        assert caught == []


@pytest.mark.parametrize("kind", ["BOOLEAN", "DECIMAL(9, 2)", "DECIMAL(38, 0)"])
def test_a_bloom_filter_over_a_type_that_is_not_hashed_says_nothing(kind: str) -> None:
    """No engine defines a hash of them, so that an empty filter may as well hold every value."""
    (field,) = columns(kind)
    value = True if kind == "BOOLEAN" else Decimal(7)
    empty = struct.pack(">i", 3) + bytes(64)
    index = index_of((field,), 1, encoder.container({"c0": {"bloom-filter": empty}}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert index.evidence(Compare(field, Operator.EQUAL, value)) == Truths.ANY
    (hashed,) = columns("INT")
    index = index_of((hashed,), 1, encoder.container({"c0": {"bloom-filter": empty}}))
    assert Truths.TRUE not in index.evidence(Compare(hashed, Operator.EQUAL, 7))

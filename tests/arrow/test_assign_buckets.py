"""Rows of dynamic buckets: what an index has stays, what is new fills buckets in an order that is always the same."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.arrow.assign_buckets import PARTITION, SLOT, BucketAssigner
from lakebed.arrow.row_runs import BUCKET, HASH
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import CorruptMetadataError
from lakebed.format.hash_index import BucketRules, HashIndex, HashIndexes, hashes_as_stored, read_hashes

HASHES = st.integers(-(2**31), 2**31 - 1)
PARTITIONS = (b"a", b"b")
#: By partition, the hashes of each bucket.
Known = Mapping[bytes, Mapping[int, Sequence[int]]]


@st.composite
def known_hashes(draw: st.DrawFn) -> Known:
    found: dict[bytes, dict[int, list[int]]] = {}
    for partition in PARTITIONS:
        hashes = draw(st.lists(HASHES, max_size=12, unique=True))
        for hash_ in hashes:
            found.setdefault(partition, {}).setdefault(draw(st.integers(0, 4)), []).append(hash_)
    return found


def indexes_of(directory: str, known: Known, *, fixed: bool = False) -> HashIndexes:
    files: dict[bytes, dict[int, HashIndex]] = {}
    for partition, buckets in known.items():
        for bucket, hashes in buckets.items():
            path = Path(directory, f"{partition.hex()}-{bucket}")
            path.write_bytes(hashes_as_stored(hashes))
            files.setdefault(partition, {})[bucket] = HashIndex(str(path), len(hashes))
    return HashIndexes(files, fixed)


def assigned(
    directory: str, indexes: HashIndexes, rules: BucketRules, rows: Sequence[tuple[bytes, int]], size: int
) -> list[tuple[bytes, int, int]]:
    """The rows, ordered as Spark gives them, `size` at a time, each with its bucket."""
    task = _task(directory, indexes)
    ordered = sorted((partition, hash_ % rules.slots, hash_) for partition, hash_ in rows)
    found = list(BucketAssigner(task, rules)(_batches(ordered, size)))
    assert all(batch.schema.names == ["row", HASH, BUCKET] for batch in found)
    buckets = [b for batch in found for b in batch.column(BUCKET).to_pylist()]
    assert [r for batch in found for r in batch.column("row").to_pylist()] == list(range(len(rows)))
    return [(partition, hash_, bucket) for (partition, _, hash_), bucket in zip(ordered, buckets, strict=True)]


def _task(directory: str, indexes: HashIndexes) -> WriteTask:
    return WriteTask(
        location=directory, table_path=directory, schema_id=0, fields=(), id="", creation_time=0, hash_indexes=indexes
    )


def _batches(rows: Sequence[tuple[bytes, int, int]], size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        columns = {
            "row": pa.array(range(start, start + len(some))),
            HASH: pa.array([hash_ for _, _, hash_ in some], pa.int32()),
            PARTITION: pa.array([partition for partition, _, _ in some], pa.binary()),
            SLOT: pa.array([slot for _, slot, _ in some], pa.int32()),
        }
        yield pa.RecordBatch.from_pydict(columns)


@settings(max_examples=80, deadline=None)
@given(
    known=known_hashes(),
    fresh=st.lists(st.tuples(st.sampled_from(PARTITIONS), HASHES), max_size=30),
    again=st.integers(0, 8),
    slots=st.integers(1, 3),
    target=st.integers(1, 5),
    highest=st.sampled_from([2, 3, 100]),
)
def test_every_hash_has_one_bucket(
    known: Known, fresh: list[tuple[bytes, int]], again: int, slots: int, target: int, highest: int
) -> None:
    rules = BucketRules(slots, target, highest)
    stored = {(p, h): b for p, buckets in known.items() for b, hashes in buckets.items() for h in hashes}
    rows = [*fresh, *list(stored)[:again], *fresh[:again]]
    with tempfile.TemporaryDirectory() as directory:
        indexes = indexes_of(directory, known)
        found = [assigned(directory, indexes, rules, rows, size) for size in (1, 3, 1000)]
    assert found[0] == found[1] == found[2]
    placed: dict[tuple[bytes, int], int] = {}
    for partition, hash_, bucket in found[0]:
        assert placed.setdefault((partition, hash_), stored.get((partition, hash_), bucket)) == bucket
    before = Counter((p, b) for (p, _), b in stored.items())
    new = {key: bucket for key, bucket in placed.items() if key not in stored}
    after = before + Counter((p, b) for (p, _), b in new.items())
    for (partition, hash_), bucket in new.items():
        assert bucket % slots == hash_ % slots
        assert bucket <= highest or before[partition, bucket]
        own = {b for (p, b) in after if p == partition}
        is_limited = own.issuperset(range(bucket % slots, highest + 1, slots))
        assert after[partition, bucket] <= max(target, before[partition, bucket]) or is_limited


def test_few_keys_come_into_few_buckets(tmp_path: Path) -> None:
    rows = [(b"a", hash_) for hash_ in range(-10, 15)]
    indexes = indexes_of(str(tmp_path), {b"a": {0: [-10, -9], 3: [-8]}})
    found = assigned(str(tmp_path), indexes, BucketRules(1, 10, 100), rows, 4)
    assert Counter(bucket for _, _, bucket in found) == {0: 10, 3: 10, 1: 5}


def test_a_key_that_should_be_known_is_a_fault(tmp_path: Path) -> None:
    indexes = indexes_of(str(tmp_path), {b"a": {0: [1, 2]}}, fixed=True)
    rules = BucketRules(1, 10, 100)
    assert assigned(str(tmp_path), indexes, rules, [(b"a", 1)], 4) == [(b"a", 1, 0)]
    with pytest.raises(CorruptMetadataError) as caught:
        assigned(str(tmp_path), indexes, rules, [(b"a", 1), (b"a", 3)], 4)
    assert caught.value.code == "LB5099"


def test_an_index_as_other_engines_write_it() -> None:
    # The keys 1 and 5 of a BIGINT column, as Paimon writes them.
    data = bytes.fromhex("0f8248f45759f99e")
    assert list(read_hashes(data, "index-0")) == [0x0F8248F4, 0x5759F99E]
    assert hashes_as_stored(read_hashes(data, "index-0")) == data
    with pytest.raises(CorruptMetadataError) as caught:
        read_hashes(data[:-1], "index-0")
    assert caught.value.code == "LB5099"

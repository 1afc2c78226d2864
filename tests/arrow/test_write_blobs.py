"""Blob files that a worker writes: their bytes, their rows beside those of data files, and nothing left of failures."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator, Sequence
from datetime import date, time
from decimal import Decimal as Number
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrow.blob_bytes import array_bytes, file_bytes, map_bytes
from arrow.test_write_files import fields_of, path_of, read, task_of
from lakebed.arrow import blob_series
from lakebed.arrow.blob_file import BlobFileWriter, blob_payloads, delta_varint_bytes, delta_varints
from lakebed.arrow.blob_values import key_decoder, key_encoder, payload_encoder, value_decoder
from lakebed.arrow.write_files import write_data_files
from lakebed.errors import StoreError, WriteError
from lakebed.format.blob_columns import BlobDescriptor
from lakebed.format.manifest import ManifestEntry
from lakebed.format.new_files import assign_row_ids, rows_of_entries
from lakebed.format.row_ranges import is_blob_name
from lakebed.testing.memory_store import MemoryObjectStore

EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
BLOBS = {"x": "BLOB", "xs": {"type": "ARRAY", "element": "BLOB"}, "xm": {"type": "MAP", "key": "INT", "value": "BLOB"}}
FIELDS = fields_of({"p": "STRING", "k": "BIGINT", **BLOBS})
CONTENT = st.one_of(st.none(), st.binary(max_size=12))
ROWS = st.tuples(
    st.sampled_from("ab"),
    CONTENT,
    st.one_of(st.none(), st.lists(CONTENT, max_size=3)),
    st.one_of(st.none(), st.dictionaries(st.integers(-9, 9), CONTENT, max_size=3).map(lambda d: list(d.items()))),
)
SCHEMA = pa.schema(
    [
        ("p", pa.string()),
        ("k", pa.int64()),
        ("x", pa.binary()),
        ("xs", pa.list_(pa.binary())),
        ("xm", pa.map_(pa.int32(), pa.binary())),
    ]
)


class Counting:
    """An output that counts what it was given."""

    size = 0

    def write(self, data: bytes | memoryview) -> int:
        self.size += len(data)
        return len(data)

    def close(self) -> None: ...

    def discard(self) -> None: ...


class Parts(Counting):
    """One that keeps it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes | memoryview) -> int:
        self.parts.append(bytes(data))
        return super().write(data)


class Nowhere(MemoryObjectStore):
    """A store whose outputs only count."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: list[Counting] = []

    def open_output(self, path: str) -> Any:
        self.outputs.append(Counting())
        return self.outputs[-1]


def written(payloads: Sequence[Sequence[bytes] | None]) -> Parts:
    output = Parts()
    writer = BlobFileWriter(output)
    for payload in payloads:
        writer.add_null() if payload is None else writer.add(payload)
    writer.finish()
    assert writer.rows == len(payloads)
    return output


# --- bytes ------------------------------------------------------------------------------------------------------------


#: Files that pypaimon 2.1 has written of the same values.
GOLDEN = [
    (
        pa.binary(),
        [b"abc", None, b""],
        "cf114e58 616263 1300000000000000 53311452 cf114e58 1000000000000000 537fdf03 262722 0300000001",
    ),
    (
        pa.list_(pa.binary()),
        [[b"abc", None, b""], []],
        "cf114e58 42434241 01 03000000 616263 060702 03000000 2300000000000000 083deca6"
        "cf114e58 42434241 01 00000000 00000000 1d00000000000000 9bd49157 460b 0200000001",
    ),
    (
        pa.map_(pa.int32(), pa.binary()),
        [[(7, b"abc"), (-1, None)]],
        "cf114e58 4243424d 01 02000000 07000000ffffffff 616263 0800 0607 02000000 02000000 3000000000000000 5e7ea2ca"
        "6001 00000001",
    ),
]


@pytest.mark.parametrize(("type_", "values", "expected"), GOLDEN, ids=["value", "array", "map"])
def test_the_bytes_of_a_file(type_: pa.DataType, values: list[Any], expected: str) -> None:
    encode = payload_encoder(type_, "c")
    parts = [None if value is None else [bytes(p) for p in encode(pa.array([value], type_)[0])] for value in values]
    assert b"".join(written(parts).parts) == bytes.fromhex(expected)


@given(st.lists(st.one_of(st.none(), st.lists(st.binary(max_size=300), max_size=3)), max_size=20), st.booleans())
def test_a_file_is_that_of_the_format_whatever_its_parts(payloads: list[list[bytes] | None], large: bool) -> None:
    payloads = [p and [part * (400 if large else 1) for part in p] for p in payloads]
    whole = [None if p is None else b"".join(p) for p in payloads]
    data = b"".join(written(payloads).parts)
    assert data == file_bytes(whole)
    assert blob_payloads(data) == whole


def test_small_values_go_to_the_store_together_and_large_ones_alone() -> None:
    assert len(written([[b"x"]] * 1000).parts) == 1
    large = b"y" * (1 << 20)
    assert [len(p) for p in written([[b"x"], [large], [b"z"]]).parts] == [17 + 4, len(large), 12 + 17 + 7 + 5]


@given(st.lists(st.integers(-2, 2**62)))
def test_lengths(numbers: list[int]) -> None:
    assert delta_varints(delta_varint_bytes(numbers)) == numbers


def payload(value: Any, type_: pa.DataType) -> bytes:
    return b"".join(payload_encoder(type_, "c")(pa.array([value], type_)[0]))


@given(st.lists(CONTENT), st.dictionaries(st.binary(max_size=9), CONTENT))
def test_nested_values_are_those_of_the_format(array: list[bytes | None], entries: dict[bytes, bytes | None]) -> None:
    lists, maps = pa.list_(pa.binary()), pa.map_(pa.binary(), pa.binary())
    assert payload(array, lists) == array_bytes(array)
    assert payload(list(entries.items()), maps) == map_bytes(list(entries.items()))
    assert value_decoder(lists)(array_bytes(array)) == array


KEYS = {
    pa.int8(): [-128, 0, 127],
    pa.int16(): [-32768, 513],
    pa.int32(): [-2, 2**31 - 1],
    pa.int64(): [-(2**63), 1],
    pa.bool_(): [False, True],
    pa.date32(): [date(1, 1, 1), date(1969, 12, 31)],
    pa.decimal128(10, 2): [Number("-12.34"), Number("0.00")],
    pa.decimal128(38, 4): [Number(n).scaleb(-4) for n in (-129, -128, -1, 0, 127, 128, -(10**37), 10**37)],
    pa.string(): ["", "é"],
    pa.binary(): [b"", b"\0"],
}


@pytest.mark.parametrize("type_", KEYS, ids=str)
def test_keys_of_maps(type_: pa.DataType) -> None:
    keys = KEYS[type_]
    found = [key_encoder(type_)(key) for key in pa.array(keys, type_)]
    assert [key_decoder(type_)(data) for data in found] == keys


def test_keys_that_are_no_longer_than_they_have_to_be_and_times() -> None:
    """As Java's BigInteger has them; a time is read as the number of its milliseconds."""
    wide = key_encoder(pa.decimal128(38, 0))
    sizes = {n: len(wide(pa.scalar(Number(n), pa.decimal128(38, 0)))) for n in (-129, -128, 127, 128, 0)}
    assert sizes == {-129: 2, -128: 1, 127: 1, 128: 2, 0: 1}
    assert key_encoder(pa.time32("ms"))(pa.scalar(time(0, 0, 1), pa.time32("ms"))) == b"\xe8\x03\0\0"
    with pytest.raises(ValueError, match="no form"):
        key_encoder(pa.float64())


# --- data files and what lies beside them -----------------------------------------------------------------------------


def batches(rows: Sequence[Any], size: int) -> Iterator[pa.RecordBatch]:
    named = [{"p": p, "k": k, "x": x, "xs": xs, "xm": xm} for k, (p, x, xs, xm) in enumerate(rows)]
    for start in range(0, len(named), size):
        yield pa.RecordBatch.from_pylist(named[start : start + size], schema=SCHEMA)


def contents(store: MemoryObjectStore, entries: Sequence[ManifestEntry], task: Any, type_: pa.DataType) -> list[Any]:
    decode = value_decoder(type_)
    payloads = [p for e in entries for p in blob_payloads(store.read(path_of(e, task)))]
    return [None if p is None else decode(p) for p in payloads]


@given(st.lists(ROWS, max_size=24), st.integers(1, 9), st.integers(1, 90), st.integers(1, 9))
@settings(max_examples=60)
def test_each_row_is_in_a_data_file_and_in_blob_files_of_each_column(
    rows: list[Any], size: int, target: int, most: int
) -> None:
    options = EVOLVING | {"blob.target-file-size": str(target), "target-file-row-num": str(most)}
    task = task_of(FIELDS, options=options, partition_keys=("p",))
    store = MemoryObjectStore()
    files = write_data_files(batches(rows, size), task, store=store).added
    assert rows_of_entries(files) == len(rows)
    entries, following = assign_row_ids(files, snapshot_id=7, next_row_id=100)
    assert following == 100 + len(rows)
    left = list(enumerate(rows))
    for at, entry in enumerate(entries):
        if is_blob_name(entry.file.file_name):
            assert at, "a data file comes first"
            continue
        assert entry.file.write_cols == entry.file.value_stats_cols == ("p", "k")
        count = entry.file.row_count
        own, left = left[:count], left[count:]
        found = read(store, entry, task.of_data_files)
        assert found.to_pylist() == [{"p": p, "k": k} for k, (p, *_) in own]
        stats = entry.file.value_stats.decode([f.type for f in task.of_data_files.fields])
        assert [s.minimum for s in stats] == [own[0][1][0], own[0][0]]
        beside = []
        for other in entries[at + 1 :]:
            if not is_blob_name(other.file.file_name):
                break
            beside.append(other)
        for place, name in enumerate(BLOBS, 1):
            mine = [e for e in beside if e.file.write_cols == (name,)]
            assert {(e.partition, e.bucket, e.file.schema_id, e.file.value_stats_cols) for e in mine} == {
                (entry.partition, entry.bucket, 0, ())
            }
            starts = [e.file.first_row_id for e in mine]
            first = entry.file.first_row_id
            assert first is not None
            assert starts == [first + sum(e.file.row_count for e in mine[:i]) for i in range(len(mine))]
            type_ = SCHEMA.field(name).type
            assert contents(store, mine, task, type_) == [row[place] for _, row in own]
            for full, e in zip(range(len(mine) - 1, -1, -1), mine, strict=True):
                data = store.read(path_of(e, task))
                assert e.file.file_size == len(data)
                assert e.file.row_count <= most
                # A file ends when it is full, and not before.
                last = blob_payloads(data)[-1]
                before = data[: -16 - len(last)] if isinstance(last, bytes) else data
                assert not full or e.file.row_count == most or len(data) >= target
                assert e.file.row_count == 1 or len(file_bytes(blob_payloads(data)[:-1])) < target + 40, before
    assert left == []


def test_a_table_without_columns_of_blobs_has_no_files_of_a_part(tmp_path: Any) -> None:
    task = task_of(fields_of({"k": "BIGINT", "v": "STRING"}), options=EVOLVING)
    rows = pa.RecordBatch.from_pylist([{"k": 1, "v": "a"}])
    (entry,) = write_data_files([rows], task, store=MemoryObjectStore()).added
    assert (entry.file.write_cols, entry.file.value_stats_cols) == (None, None)


def test_a_large_value_begins_a_file_of_its_own_where_it_would_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_series, "_MOST_BYTES", 100)
    store, task = MemoryObjectStore(), task_of(fields_of({"k": "BIGINT", "x": "BLOB"}), options=EVOLVING)
    sizes = [30, 10, 90, 1, 200, 5]
    rows = pa.table({"k": range(6), "x": [b"." * n for n in sizes]}).to_batches()
    entries = write_data_files(rows, task, store=store).added[1:]
    assert [[len(p) for p in blob_payloads(store.read(path_of(e, task)))] for e in entries] == [  # type: ignore[arg-type]
        [30, 10],
        [90],
        [1],
        [200],
        [5],
    ]


@pytest.mark.parametrize("given_as", [pa.large_binary(), pa.binary_view()], ids=str)
def test_contents_in_other_forms(given_as: pa.DataType) -> None:
    store, task = MemoryObjectStore(), task_of(fields_of({"k": "BIGINT", "x": "BLOB"}), options=EVOLVING)
    array = pa.array([b"a", None, b"long enough to lie elsewhere"], pa.binary()).cast(given_as)
    rows = pa.RecordBatch.from_arrays([pa.array([1, 2, 3]), array], ["k", "x"])
    _, blob = write_data_files([rows], task, store=store).added
    assert blob_payloads(store.read(path_of(blob, task))) == [b"a", None, b"long enough to lie elsewhere"]


PLACE = BlobDescriptor("s3://bucket/x", 4, 5).to_bytes()
REFUSED = [
    ("x", pa.binary(), PLACE, "LB6508", "column x"),
    ("xs", pa.list_(pa.binary()), [b"", PLACE], "LB6508", "column xs"),
    ("xm", pa.map_(pa.int32(), pa.binary()), [(1, PLACE)], "LB6508", "column xm"),
    ("xm", pa.map_(pa.int32(), pa.binary()), [(1, b"a"), (1, b"b")], "LB6509", "column xm"),
    ("x", pa.string(), "text", "LB6501", "column x"),
]


@pytest.mark.parametrize(("name", "type_", "value", "code", "said"), REFUSED, ids=lambda v: str(v)[:6])
def test_what_no_blob_file_holds(name: str, type_: pa.DataType, value: Any, code: str, said: str) -> None:
    store = MemoryObjectStore()
    task = task_of([f for f in FIELDS if f.name in ("k", name)], options=EVOLVING)
    rows = pa.table({"k": [1, 2], name: pa.array([None, value], type_)}).to_batches()
    with pytest.raises(WriteError, match=said) as caught:
        write_data_files(rows, task, store=store)
    assert caught.value.code == code
    assert store.snapshot() == {}


def test_a_required_blob_is_there() -> None:
    task = task_of(fields_of({"k": "BIGINT", "x": "BLOB NOT NULL"}), options=EVOLVING)
    rows = pa.table({"k": [1], "x": pa.array([None], pa.binary())}).to_batches()
    with pytest.raises(WriteError) as caught:
        write_data_files(rows, task, store=MemoryObjectStore())
    assert caught.value.code == "LB6502"


@pytest.mark.parametrize("content", [PLACE[:-1], PLACE + b"\0", b"\x02BLOBDESC", b"\x01\0\0\0\0" + b"\0" * 16, b"\x02"])
def test_contents_that_only_begin_like_a_descriptor_are_contents(content: bytes) -> None:
    assert payload(content, pa.binary()) == content


def test_every_write_of_a_file_may_fail_and_leaves_nothing() -> None:
    rows = [("a", b"1" * 100_000, [b"2"], [(1, b"3")])] * 3
    task = task_of(FIELDS, options=EVOLVING | {"blob.target-file-size": "100"}, partition_keys=("p",))
    whole = MemoryObjectStore()
    write_data_files(batches(rows, 2), task, store=whole)
    steps = [step for step in whole.operations if not step.name.startswith("discard")]
    assert len(steps) > 20
    for number in range(len(steps)):
        store = MemoryObjectStore()
        store.fail_at(number)
        with pytest.raises(StoreError):
            write_data_files(batches(rows, 2), task, store=store)
        assert store.snapshot() == {}, number


def test_contents_are_let_go_while_the_other_columns_wait() -> None:
    """Batches come from Spark with all columns in one piece of memory; row groups wait for many of them."""
    one = pa.record_batch({"k": range(4), "x": [b"x" * (1 << 20)] * 4})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, one.schema) as stream:
        for _ in range(16):
            stream.write_batch(one)
    highest = 0

    def watched() -> Iterator[pa.RecordBatch]:
        nonlocal highest
        for batch in pa.ipc.open_stream(sink):
            yield batch
            del batch
            highest = max(highest, tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - before)

    sink.seek(0)
    store = Nowhere()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes()
        write_data_files(watched(), task_of(fields_of({"k": "BIGINT", "x": "BLOB"}), options=EVOLVING), store=store)
    finally:
        tracemalloc.stop()
    assert sum(output.size for output in store.outputs) > 16 * one.nbytes
    assert highest < 3 * one.nbytes

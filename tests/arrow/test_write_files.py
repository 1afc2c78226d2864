"""Data files that a worker writes: rows and statistics of every type, places, sizes, and nothing left of failures."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal as Number
from itertools import groupby, pairwise
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrow import values as v
from lakebed.arrow.file_part import Column, FilePart, rows_of
from lakebed.arrow.stored_forms import PARQUET, stored_field
from lakebed.arrow.write_files import write_data_files
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import AlreadyExistsError, LakebedError, RowOrderError, UnsupportedError, WriteError
from lakebed.format import binary_row
from lakebed.format.manifest import ColumnStatistics, ManifestEntry, ordering
from lakebed.format.row_kinds import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.statistics import parquet_statistics, stats_mode
from lakebed.format.writable_types import unwritable_fields, unwritable_in
from lakebed.physical import parse
from lakebed.physical.paimon_tree import fold
from lakebed.physical.paimon_types import (
    Array,
    DataField,
    DataType,
    Double,
    Float,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
)
from lakebed.store import LocalStore, Store
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore, SimulatedCrash

TABLE = "/wh/db.db/t"


def fields_of(columns: dict[str, Any]) -> tuple[DataField, ...]:
    return tuple(DataField(i, name, parse(text)) for i, (name, text) in enumerate(columns.items()))


def task_of(fields: Sequence[DataField], **parts: Any) -> WriteTask:
    return WriteTask(
        location="/wh", table_path=TABLE, schema_id=0, fields=tuple(fields), id="w", creation_time=5, **parts
    )


def path_of(entry: ManifestEntry, task: WriteTask) -> str:
    partition = binary_row.decode(task.partition_types, entry.partition)
    return f"{task.directory(partition, entry.bucket)}/{entry.file.file_name}"


def read(store: Store, entry: ManifestEntry, task: WriteTask, columns: Iterable[DataField] = ()) -> pa.Table:
    """The rows of a file as the Arrow executor reads them: the table's columns, and others."""
    wanted = (*task.fields, *columns)
    part = FilePart(path_of(entry, task), entry.file.file_size, entry.file.row_count, wanted)
    read = [Column(f.name, f, f) for f in wanted]
    return pa.Table.from_batches(rows_of(store, part, read)).combine_chunks()


def column(table: pa.Table, name: str) -> list[Any]:
    return v.raw(table.column(name).combine_chunks())


def same_bounds(field: DataField, mode: str, footer: ColumnStatistics, collected: ColumnStatistics) -> bool:
    """Footers say nothing of bounds of floats, for they leave out NaN without a trace; all else is the same."""
    if isinstance(field.type, Float | Double) and mode != "counts":
        return footer.null_count == collected.null_count
    return footer == collected


def assert_no_row_is_excluded(field: DataField, values: Sequence[Any], known: ColumnStatistics) -> None:
    """Bounds are known together, and every value lies between them in the order of the table format."""
    assert known.null_count in (None, sum(v is None for v in values))
    present = [v * 1000 if is_stamp(field) else v for v in values if v is not None]
    if known.minimum is None and known.maximum is None:
        return
    assert (known.minimum is None, known.maximum is None) == (False, False)
    assert all(ordering(known.minimum) <= ordering(v) <= ordering(known.maximum) for v in present), (known, present)


class TestEveryType:
    @given(v.rows(), st.sampled_from(["orc", "avro"]), st.integers(1, 5))
    @settings(max_examples=100)
    def test_rows_come_back_in_other_formats(self, rows: v.Rows, format: str, size: int) -> None:
        assume(not any(unwritable_fields(format, rows.fields)))
        store, task = MemoryObjectStore(), task_of(rows.fields, file_format=format)
        if not can_be_written(format, rows):
            with pytest.raises(WriteError, match="before 1970"):
                write_data_files(rows.batches(size), task, store=store)
            assert store.snapshot() == {}
            return
        (entry,) = write_data_files(rows.batches(size), task, store=store).added
        for field, values, found in readable(store, entry, task, rows):
            assert found == v.comparable(values), field
        (other,) = write_data_files(rows.batches(size), replace(task, file_format="parquet"), store=store).added
        size_there = store.size(path_of(entry, task))
        assert entry.file == replace(other.file, file_name=entry.file.file_name, file_size=size_there)

    @given(v.rows(), st.sampled_from(["none", "counts", "truncate(16)", "truncate(2)", "full"]), st.integers(1, 5))
    @settings(max_examples=120)
    def test_rows_come_back_and_statistics_are_those_of_the_footer(self, rows: v.Rows, mode: str, size: int) -> None:
        store = MemoryObjectStore()
        task = task_of(rows.fields, options={"metadata.stats-mode": mode})
        (entry,) = write_data_files(rows.batches(size), task, store=store).added
        back = read(store, entry, task)
        path = path_of(entry, task)
        plain = pq.read_table(pa.BufferReader(store.read(path)))
        assert list(plain.column_names) == [f.name for f in rows.fields]
        for field, expected in zip(rows.fields, rows.columns, strict=True):
            assert column(back, field.name) == v.comparable(expected)
            if not holds_times(field):
                assert column(plain, field.name) == v.comparable(expected)
        footer = parquet_statistics(store, path, rows.fields, task.options)
        found = entry.file.value_stats.decode([f.type for f in rows.fields])
        assert footer.rows == entry.file.row_count == rows.count
        for field, one, other in zip(rows.fields, footer.columns, found, strict=True):
            assert same_bounds(field, stats_mode(field.name, task.options), one, other), (field, one, other)
        for field, values, known in zip(rows.fields, rows.columns, found, strict=True):
            assert_no_row_is_excluded(field, values, known)
        assert entry.file.file_size == store.size(path)
        assert_exact_schema(store.read(path), rows.fields)


def has_early_fraction(type_: DataType, values: Iterable[Any]) -> bool:
    """Whether a moment before 1970 with a fraction of a second is among values."""

    def moments(part: DataType, inner: tuple[Any, ...]) -> Any:
        match part:
            case Timestamp() | LocalZonedTimestamp():
                return lambda v: v < 0 and v % 1_000_000 != 0
            case Array():
                return lambda v: any(i is not None and inner[0](i) for i in v)
            case Map() | Multiset():
                return lambda v: any(x is not None and f(x) for pair in v for f, x in zip(inner, pair, strict=False))
            case Row():
                members = list(zip((f.name for f in part.fields), inner, strict=True))
                return lambda v: any(v[name] is not None and f(v[name]) for name, f in members)
            case _:
                return lambda _: False

    found = fold(type_, moments)
    return any(v is not None and found(v) for v in values)


def can_be_written(format: str, rows: v.Rows) -> bool:
    """Whether a format has forms for the columns and for their values."""
    if any(unwritable_fields(format, rows.fields)):
        return False
    pairs = zip(rows.fields, rows.columns, strict=True)
    return format != "orc" or not any(has_early_fraction(f.type, values) for f, values in pairs)


def readable(store: Store, entry: ManifestEntry, task: WriteTask, rows: v.Rows) -> Iterator[tuple[DataField, Any, Any]]:
    """The columns that are read back without Spark, with the values that were written and those that are there."""
    if task.file_format == "orc":
        file = orc.ORCFile(pa.BufferReader(store.read(path_of(entry, task))))
        assert [int(f.metadata[b"paimon.id"]) for f in file.schema] == [f.id for f in rows.fields]
        names = [f.name for f in rows.fields if not holds_times(f)]
        back = file.read(names)
    else:
        back = read(store, entry, task)
    for field, values in zip(rows.fields, rows.columns, strict=True):
        if field.name in back.column_names:
            yield field, values, column(back, field.name)


def holds_times(field: DataField) -> bool:
    """Milliseconds of files are other numbers than the microseconds that are given."""
    return "TIMESTAMP" in str(field.type)


def assert_exact_schema(data: bytes, fields: Sequence[DataField]) -> None:
    """Columns and members of structs have their ids, and are required where the table says so; items never are."""
    arrow = pq.read_schema(pa.BufferReader(data))

    def check(found: pa.Field, field: DataField) -> None:
        assert found.metadata[b"PARQUET:field_id"] == str(field.id).encode()
        assert found.nullable == field.type.nullable
        if pa.types.is_struct(found.type):
            for member, inner in zip(found.type, field.type.fields, strict=True):
                check(member, inner)
        if pa.types.is_list(found.type):
            assert found.type.value_field.nullable
        if pa.types.is_map(found.type):
            assert found.type.item_field.nullable

    for found, field in zip(arrow, fields, strict=True):
        check(found, field)


KEYED = fields_of({"k": "BIGINT NOT NULL", "p": "STRING", "v": "INT NOT NULL"})
VERSIONS = (SEQUENCE_NUMBER, VALUE_KIND)


def batch(rows: Sequence[dict[str, Any]], **types: pa.DataType) -> pa.RecordBatch:
    """Rows for the table `KEYED`; `types` are those of other columns."""
    known = {"k": pa.int64(), "p": pa.string(), "v": pa.int32(), **types}
    return pa.RecordBatch.from_arrays([pa.array([r.get(n) for r in rows], t) for n, t in known.items()], list(known))


def partition(value: str | None) -> bytes:
    return binary_row.encode([parse("STRING")], [value])


PLACES = {"_LAKEBED_BUCKET": pa.int32()}
ROUND = {"_LAKEBED_ROUND": pa.int32()}
KIND = {"_VALUE_KIND": pa.int8()}


def placed(k: int, p: str | None, bucket: int, round: int = 0, kind: int = 0) -> dict[str, Any]:
    """A row of `KEYED` with its place."""
    return {"k": k, "p": p, "v": k, "_VALUE_KIND": kind, "_LAKEBED_BUCKET": bucket, "_LAKEBED_ROUND": round}


class TestKeyedFiles:
    TASK = task_of(
        KEYED, key=("k",), total_buckets=4, partition_keys=("p",), first_sequence=100, options={"bucket": "4"}
    )

    def write(self, *batches: pa.RecordBatch, **parts: Any) -> tuple[MemoryStore, tuple[ManifestEntry, ...]]:
        store = MemoryStore()
        return store, write_data_files(batches, replace(self.TASK, **parts), store=store).added

    def test_files_hold_the_key_the_number_and_the_kind_before_the_columns(self) -> None:
        rows = [placed(1, "a", 2), placed(5, "a", 2, kind=3), placed(9, "a", 2, kind=2)]
        store, (entry,) = self.write(batch(rows, **PLACES, **KIND))
        assert path_of(entry, self.TASK) == f"{TABLE}/p=a/bucket-2/data-w-0-0.parquet"
        table = pq.read_table(pa.BufferReader(store.read(path_of(entry, self.TASK))))
        assert table.column_names == ["_KEY_k", "_SEQUENCE_NUMBER", "_VALUE_KIND", "k", "p", "v"]
        assert table.to_pylist() == [
            {"_KEY_k": k, "_SEQUENCE_NUMBER": n, "_VALUE_KIND": kind, "k": k, "p": "a", "v": k}
            for k, n, kind in ((1, 100, 0), (5, 101, 3), (9, 102, 2))
        ]
        ids = [int(f.metadata[b"PARQUET:field_id"]) for f in table.schema]
        assert ids == [2**30 - 1, 2**31 - 2, 2**31 - 3, 0, 1, 2]
        file = entry.file
        types = [parse("BIGINT NOT NULL")]
        assert (file.row_count, file.delete_row_count, file.level) == (3, 1, 0)
        assert (file.min_sequence_number, file.max_sequence_number) == (100, 102)
        assert (binary_row.decode(types, file.min_key), binary_row.decode(types, file.max_key)) == ((1,), (9,))
        assert file.key_stats.decode(types) == (ColumnStatistics(1, 9, 0),)
        assert file.value_stats.decode([f.type for f in KEYED]) == (
            ColumnStatistics(1, 9, 0),
            ColumnStatistics("a", "a", 0),
            ColumnStatistics(1, 9, 0),
        )
        assert (entry.bucket, entry.total_buckets, entry.partition) == (2, 4, partition("a"))

    def test_statistics_of_keys_are_kept_whatever_the_table_says(self) -> None:
        for mode in ("none", "counts", "truncate(1)"):
            _, (entry,) = self.write(
                batch([placed(1, None, 0), placed(2, None, 0)], **PLACES), options={"metadata.stats-mode": mode}
            )
            assert entry.file.key_stats.decode([parse("BIGINT")]) == (ColumnStatistics(1, 2, 0),)

    def test_a_new_place_and_a_new_round_begin_a_file_and_numbers_go_on(self) -> None:
        first = [placed(1, "a", 0), placed(2, "a", 0), placed(1, "a", 0, 1), placed(1, "a", 3)]
        second = [placed(4, "a", 3), placed(1, "b", 3), placed(1, None, 3)]
        _, entries = self.write(*(batch(rows, **PLACES, **ROUND) for rows in (first, second)))
        found = [(e.partition, e.bucket, e.file.row_count, e.file.min_sequence_number) for e in entries]
        assert found == [
            (partition("a"), 0, 2, 100),
            (partition("a"), 0, 1, 102),
            (partition("a"), 3, 2, 103),
            (partition("b"), 3, 1, 105),
            (partition(None), 3, 1, 106),
        ]
        assert [e.file.file_name for e in entries] == [f"data-w-0-{i}.parquet" for i in range(5)]

    @pytest.mark.parametrize("size", [1, 2, 3, 9])
    @pytest.mark.parametrize("keys", [(1, 1), (2, 1), (1, 2, 2), (1, 3, 2), (1, 2, 3, 3), (5, 1, 2)])
    def test_keys_that_do_not_ascend_are_an_error_and_leave_nothing(self, keys: tuple[int, ...], size: int) -> None:
        rows = [placed(k, "a", 0) for k in keys]
        store = MemoryStore()
        batches = [batch(rows[i : i + size], **PLACES) for i in range(0, len(rows), size)]
        with pytest.raises(RowOrderError, match="ascend"):
            write_data_files(batches, self.TASK, store=store)
        assert store.snapshot() == {}

    def test_rows_that_delete_need_no_values_and_others_do(self) -> None:
        delete = {**placed(1, "a", 0, kind=3), "v": None}
        store, (entry,) = self.write(batch([delete], **PLACES, **KIND))
        assert read(store, entry, self.TASK, VERSIONS).to_pylist() == [
            {"k": 1, "p": "a", "v": None, "_SEQUENCE_NUMBER": 100, "_VALUE_KIND": 3}
        ]
        for row in ({**delete, "_VALUE_KIND": 0}, {**delete, "_VALUE_KIND": 2}, {**delete, "k": None}):
            with pytest.raises(WriteError, match="required value"):
                self.write(batch([row], **PLACES, **KIND))


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("DOUBLE", [float("nan"), float("nan"), None, None, 0.5, 0.5, None]),
        ("FLOAT", [None, float("nan"), float("nan"), 1.0]),
        ("DECIMAL(5, 2)", [Number("1.50"), Number("1.50"), None, Number("2.00")]),
        ("DATE", [0, 0, -1, None, None]),
        ("BOOLEAN", [True, None, False, False]),
    ],
)
def test_equal_partition_values_that_stand_together_share_a_file(type_: str, values: list[Any]) -> None:
    fields = fields_of({"p": type_, "v": "INT"})
    arrow = stored_field(fields[0], PARQUET).type
    own = pa.array(values, pa.int32()).cast(arrow) if type_ == "DATE" else pa.array(values, arrow)
    rows = pa.RecordBatch.from_arrays([own, pa.array(range(len(values)), pa.int32())], ["p", "v"])
    task = task_of(fields, partition_keys=("p",))
    for batches in ([rows], [rows.slice(i, 1) for i in range(len(values))]):
        entries = write_data_files(batches, task, store=MemoryStore()).added
        together = [[key, len(list(group))] for key, group in groupby(values, key=repr)]
        assert [e.file.row_count for e in entries] == [count for _, count in together]
        found = [repr(binary_row.decode([fields[0].type], e.partition)[0]) for e in entries]
        assert found == [key for key, _ in together]


KEY_TYPES = ["BOOLEAN", "TINYINT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL(20, 2)", "DATE", "TIME(3)", "TIMESTAMP(3)"]
KEY_TYPES += ["TIMESTAMP(6) WITH LOCAL TIME ZONE", "STRING", "BYTES"]


def in_format_order(value: Any) -> Any:
    """What sorts as keys do: floats with NaN above all and -0.0 below 0.0, texts by their bytes."""
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value, not str(value).startswith("-"))
    return value.encode() if isinstance(value, str) else value


@given(st.data())
def test_keys_of_every_type_ascend_as_the_format_orders_them(data: st.DataObject) -> None:
    types = data.draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=2))
    fields = fields_of({f"k{i}": f"{t} NOT NULL" for i, t in enumerate(types)})
    keys = data.draw(st.lists(st.tuples(*(v.values(f.type) for f in fields)), min_size=1, max_size=6))
    order = [tuple(map(in_format_order, key)) for key in keys]
    ascends = all(low < high for low, high in pairwise(order))
    size = data.draw(st.integers(1, 6))
    rows = v.Rows(fields, tuple(zip(*keys, strict=True)))
    task = task_of(fields, key=tuple(f.name for f in fields), options={"target-file-row-num": "100"})
    if not ascends:
        with pytest.raises(RowOrderError):
            write_data_files(rows.batches(size), task, store=MemoryStore())
        return
    (entry,) = write_data_files(rows.batches(size), task, store=MemoryStore()).added
    ends = [binary_row.decode([f.type for f in fields], k) for k in (entry.file.min_key, entry.file.max_key)]
    for found, expected in zip(ends, (keys[0], keys[-1]), strict=True):
        assert v.comparable(found) == [
            v.comparable([value * 1000 if is_stamp(f) else value])[0] for value, f in zip(expected, fields, strict=True)
        ]


def is_stamp(field: DataField) -> bool:
    return isinstance(field.type, Timestamp | LocalZonedTimestamp)


class TestAppendFiles:
    def test_entries_say_what_files_of_append_tables_say(self) -> None:
        store, task = MemoryStore(), task_of(KEYED, first_sequence=7)
        rows = [{"k": 1, "p": "x", "v": 2}, {"k": 1, "p": None, "v": 3}]
        (entry,) = write_data_files([batch(rows)], task, store=store).added
        file = entry.file
        assert (entry.kind, entry.partition, entry.bucket, entry.total_buckets) == (0, bytes(12), 0, -1)
        assert (file.min_key, file.max_key, file.key_stats.null_counts) == (bytes(12), bytes(12), ())
        assert (file.min_sequence_number, file.max_sequence_number) == (0, 1)
        assert (file.delete_row_count, file.file_source, file.creation_time, file.value_stats_cols) == (0, 0, 5, None)
        assert path_of(entry, task) == f"{TABLE}/bucket-0/data-w-0-0.parquet"

    def test_rows_of_buckets_are_numbered_through(self) -> None:
        task = task_of(KEYED, first_sequence=7, total_buckets=2)
        places = {"_LAKEBED_BUCKET": pa.int32()}
        rows = [{"k": 1, "v": 2, "_LAKEBED_BUCKET": b} for b in (0, 0, 1)]
        entries = write_data_files([batch(rows, **places)], task, store=MemoryStore()).added
        found = [(e.file.min_sequence_number, e.file.max_sequence_number, e.total_buckets) for e in entries]
        assert found == [(7, 8, 2), (9, 9, 2)]

    def test_no_rows_are_no_files(self) -> None:
        store = MemoryStore()
        assert write_data_files([], task_of(KEYED), store=store).added == ()
        assert write_data_files([batch([]), batch([])], task_of(KEYED), store=store).added == ()
        assert store.snapshot() == {}

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({}, "data-w-3-0.parquet"),
            ({"data-file.prefix": "x-"}, "x-w-3-0.parquet"),
            ({"file.suffix.include.compression": "true"}, "data-w-3-0.zstd.parquet"),
            ({"file.suffix.include.compression": "true", "file.compression": "SNAPPY"}, "data-w-3-0.snappy.parquet"),
            (
                {"file.suffix.include.compression": "true", "file.compression.per.level": "0:lz4"},
                "data-w-3-0.lz4.parquet",
            ),
        ],
    )
    def test_names(self, options: dict[str, str], name: str) -> None:
        task = task_of(KEYED, options=options, number=3)
        (entry,) = write_data_files([batch([{"k": 1, "v": 2}])], task, store=MemoryStore()).added
        assert entry.file.file_name == name

    @pytest.mark.parametrize(
        ("options", "codec"),
        [({}, "ZSTD"), *(({"file.compression": c}, c.upper()) for c in ("zstd", "snappy", "gzip", "brotli"))]
        + [({"file.compression": c}, "UNCOMPRESSED") for c in ("none", "uncompressed")]
        + [({"file.compression": "lz4"}, "LZ4"), ({"file.compression": "lzo"}, "ZSTD")],
    )
    def test_compressions(self, options: dict[str, str], codec: str) -> None:
        store, task = MemoryStore(), task_of(KEYED, options=options)
        (entry,) = write_data_files([batch([{"k": 1, "v": 2}])], task, store=store).added
        metadata = pq.read_metadata(pa.BufferReader(store.read(path_of(entry, task))))
        assert metadata.row_group(0).column(0).compression == codec

    def test_attempts_have_names_of_their_own_and_tasks_travel(self) -> None:
        task = task_of(KEYED, options={"a": "b"}, storage_options={"key": "secret"})
        assert "secret" not in repr(task)
        assert pickle.loads(pickle.dumps(task)) == task
        one, other = task.attempt(3), task.attempt(3)
        assert one.file_name(0) != other.file_name(0)

    def test_a_local_table(self, tmp_path) -> None:
        task = replace(task_of(KEYED), location=str(tmp_path), table_path=f"{tmp_path}/db.db/t")
        (entry,) = write_data_files([batch([{"k": 1, "v": 2}])], task).added
        assert read(LocalStore(), entry, task).to_pylist() == [{"k": 1, "p": None, "v": 2}]
        with pytest.raises(AlreadyExistsError):
            write_data_files([batch([{"k": 2, "v": 2}])], task)
        assert read(LocalStore(), entry, task).to_pylist() == [{"k": 1, "p": None, "v": 2}]


class TestSizes:
    def write(
        self, rows: int, size: int, format: str = "parquet", **options: str
    ) -> tuple[MemoryObjectStore, WriteTask, tuple[ManifestEntry, ...]]:
        store = MemoryObjectStore()
        task = task_of(KEYED, options=options, key=("k",), first_sequence=3, file_format=format)
        made = [
            batch([{"k": k, "p": f"{k * 7919 % 10007}-{k}" * 5, "v": k} for k in range(i, min(i + size, rows))])
            for i in range(0, rows, size)
        ]
        return store, task, write_data_files(made, task, store=store).added

    @pytest.mark.parametrize("size", [1000, 7, 100_000])
    @pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
    def test_files_have_about_the_size_that_the_table_asks_for(self, format: str, size: int) -> None:
        rows = 20_000 if size > 7 else 3000
        options = {"target-file-size": "40 kb", "file.compression": "none"}
        store, task, entries = self.write(rows, size, format, **options)
        assert len(entries) > 2
        assert [e.file.min_sequence_number for e in entries[1:]] == [
            e.file.max_sequence_number + 1 for e in entries[:-1]
        ]
        keys = [k for e in entries for k in read(store, e, task).column("k").to_pylist()]
        assert keys == list(range(rows))
        for entry in entries[:-1]:
            assert 40 * 1024 <= entry.file.file_size <= 3 * 40 * 1024, [e.file.file_size for e in entries]

    @pytest.mark.parametrize("size", [1, 4, 5, 100])
    def test_files_have_no_more_rows_than_the_table_asks_for(self, size: int) -> None:
        _, _, entries = self.write(23, size, **{"target-file-row-num": "5"})
        assert [e.file.row_count for e in entries] == [5, 5, 5, 5, 3]

    def test_bounds_of_floats(self) -> None:
        """Footers of PyArrow's files say nothing of them."""
        fields = fields_of({"f": "FLOAT", "d": "DOUBLE", "n": "DOUBLE", "z": "DOUBLE"})
        nan = float("nan")
        rows = v.Rows(fields, ((0.5, None, -2.0), (1e300, -0.0, 5.0), (1.0, nan, None), (0.0, 0.0, None)))
        for size in (1, 3):
            (entry,) = write_data_files(rows.batches(size), task_of(fields), store=MemoryStore()).added
            found = entry.file.value_stats.decode([f.type for f in fields])
            assert [(s.minimum, s.maximum, s.null_count) for s in found] == [
                (-2.0, 0.5, 1),
                (-0.0, 1e300, 0),
                (None, None, 1),
                (0.0, 0.0, 1),
            ]
            assert [str(found[3].minimum), str(found[3].maximum)] == ["-0.0", "0.0"]

    def test_keyed_files_are_smaller(self) -> None:
        assert (task_of(KEYED).target_size, task_of(KEYED, key=("k",)).target_size) == (256 << 20, 128 << 20)


class TestFailures:
    ROWS = tuple(placed(k, p, 0) for p in ("a", "b") for k in range(4))
    TASK = replace(TestKeyedFiles.TASK, options={"target-file-row-num": "3"})

    def batches(self) -> list[pa.RecordBatch]:
        return [batch(self.ROWS[i : i + 3], **PLACES) for i in range(0, len(self.ROWS), 3)]

    @pytest.mark.parametrize("kind", [MemoryStore, MemoryObjectStore])
    @pytest.mark.parametrize("after", [False, True])
    @pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
    def test_no_file_stays_of_a_call_that_fails(self, kind: type[MemoryObjectStore], after: bool, format: str) -> None:
        calm, task = kind(), replace(self.TASK, file_format=format)
        write_data_files(self.batches(), task, store=calm)
        steps = len(calm.operations)
        assert {o.name for o in calm.operations} == {"open_output", "write_output", "close_output"}
        for step in range(steps):
            for error in (None, KeyboardInterrupt(), ValueError("injected")):
                store = kind({f"{TABLE}/p=a/bucket-0/theirs.parquet": b""})
                store.fail_at(step, error, after=after)
                with pytest.raises(type(error) if error else LakebedError):
                    write_data_files(self.batches(), task, store=store)
                assert set(store.snapshot()) == {f"{TABLE}/p=a/bucket-0/theirs.parquet"}, step

    def test_a_source_that_fails_leaves_nothing(self) -> None:
        def batches() -> Iterable[pa.RecordBatch]:
            yield from self.batches()
            raise RuntimeError("the source")

        store = MemoryStore()
        with pytest.raises(RuntimeError, match="the source"):
            write_data_files(batches(), self.TASK, store=store)
        assert store.snapshot() == {}

    def test_a_crash_leaves_files_that_nobody_names(self) -> None:
        store = MemoryStore()
        store.crash_at(3)
        with pytest.raises(SimulatedCrash):
            write_data_files(self.batches(), self.TASK, store=store)

    @pytest.mark.parametrize(
        ("rows", "types", "code"),
        [
            ([{"k": 1, "v": None}], {}, "LB6502"),
            ([{"k": 1, "v": 2**40}], {"v": pa.int64()}, "LB6501"),
            ([{"k": 1, "v": "x"}], {"v": pa.string()}, "LB6501"),
            ([{"k": 1, "v": 1.0}], {"v": pa.float64()}, "LB6501"),
            ([{"k": 1, "v": 1, "_LAKEBED_BUCKET": None}], {"_LAKEBED_BUCKET": pa.int32()}, "LB6504"),
        ],
    )
    def test_rows_that_do_not_fit(self, rows: list[dict[str, Any]], types: dict[str, pa.DataType], code: str) -> None:
        store = MemoryStore()
        with pytest.raises(WriteError) as caught:
            write_data_files([batch(rows, **types)], task_of(KEYED), store=store)
        assert caught.value.code == code
        assert store.snapshot() == {}

    def test_a_column_that_is_not_there(self) -> None:
        with pytest.raises(WriteError, match="'v'") as caught:
            write_data_files([batch([{"k": 1, "v": 1}]).drop_columns(["v"])], task_of(KEYED), store=MemoryStore())
        assert caught.value.code == "LB6500"

    def test_a_required_member_that_is_missing_is_named(self) -> None:
        member = {"type": "ROW", "fields": [{"id": 2, "name": "x", "type": "INT NOT NULL"}]}
        fields = fields_of({"s": {"type": "ARRAY", "element": member}})
        item = pa.struct([("x", pa.int32())])
        good = pa.array([[None, {"x": 1}], None], pa.list_(item))
        bad = pa.array([[{"x": 1}, {"x": None}]], pa.list_(item))
        task, store = task_of(fields), MemoryStore()
        (entry,) = write_data_files([pa.RecordBatch.from_arrays([good], ["s"])], task, store=store).added
        assert read(store, entry, task).column("s").to_pylist() == good.to_pylist()
        with pytest.raises(WriteError, match=r"s\.element\.x"):
            write_data_files([pa.RecordBatch.from_arrays([bad], ["s"])], replace(task, id="z"), store=store)


GIVEN_OTHERWISE = [
    ("STRING", pa.array(["a", None], pa.large_string()), ["a", None]),
    ("STRING", pa.array(["a", None]).dictionary_encode(), ["a", None]),
    ("BYTES", pa.array([b"a", None], pa.large_binary()), [b"a", None]),
    ("BINARY(1)", pa.array([b"a", None], pa.binary(1)), [b"a", None]),
    ("INT", pa.array([1, None], pa.int8()), [1, None]),
    ("DOUBLE", pa.array([1.5, None], pa.float32()), [1.5, None]),
    ("INT", pa.nulls(2), [None, None]),
    ("DECIMAL(10, 2)", pa.array([1, None], pa.decimal128(5, 0)).cast(pa.decimal128(7, 2)), [1, None]),
    ("TIME(3)", pa.array([1_000_000, None], pa.time64("ns")), [1, None]),
    ("TIME(3)", pa.array([1000, None], pa.time64("us")), [1, None]),
    ("TIME(3)", pa.array([1, None], pa.time32("s")), [1000, None]),
    ("TIMESTAMP(3)", pa.array([-1, 1001], pa.timestamp("us")), [-1000, 1000]),
    ("TIMESTAMP(6)", pa.array([-1, 1001], pa.timestamp("ns")), [-1, 1]),
    ("TIMESTAMP(6)", pa.array([-1, 1001], pa.timestamp("ms", "UTC")), [-1000, 1_001_000]),
    ({"type": "ARRAY", "element": "INT"}, pa.array([[1], None], pa.large_list(pa.int32())), [[1], None]),
    ({"type": "ARRAY", "element": "INT"}, pa.nulls(2), [None, None]),
]


@pytest.mark.parametrize(("type_", "array", "expected"), GIVEN_OTHERWISE, ids=str)
def test_arrays_in_other_forms(type_: Any, array: pa.Array, expected: list[Any]) -> None:
    store, task = MemoryStore(), task_of(fields_of({"c": type_}))
    (entry,) = write_data_files([pa.RecordBatch.from_arrays([array], ["c"])], task, store=store).added
    assert column(read(store, entry, task), "c") == v.comparable(expected)


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_nanoseconds_where_they_are_asked_for(format: str) -> None:
    fields = fields_of({"t": "TIMESTAMP(9)", "z": "TIMESTAMP(7) WITH LOCAL TIME ZONE"})
    assert [d.code for d in unwritable_fields(format, fields)] == ["LB6505", "LB6505"]
    assert list(unwritable_fields(format, fields, nanoseconds=True)) == []
    assert len(list(unwritable_fields("avro", fields, nanoseconds=True))) == 2
    store, task = MemoryStore(), task_of(fields, file_format=format)
    arrays = [pa.array([5, None], pa.timestamp("us")), pa.array([1234567891, None], pa.timestamp("ns", "UTC"))]
    (entry,) = write_data_files([pa.RecordBatch.from_arrays(arrays, ["t", "z"])], task, store=store).added
    source = pa.BufferReader(store.read(path_of(entry, task)))
    table = pq.read_table(source) if format == "parquet" else orc.read_table(source)
    assert [column(table, name) for name in ("t", "z")] == [[5000, None], [1234567891, None]]
    assert table.schema.types == [pa.timestamp("ns"), pa.timestamp("ns", "UTC")]
    found = entry.file.value_stats.decode([f.type for f in fields])
    assert [(s.minimum, s.maximum) for s in found] == [(5000, 5000), (1234567800, 1234567900)]
    late = pa.array([2**62 // 1000 * 4], pa.timestamp("us"))
    with pytest.raises(WriteError, match="overflow"):
        write_data_files([pa.RecordBatch.from_arrays([late, late], ["t", "z"])], replace(task, id="z"), store=store)


UNWRITABLE = {
    "parquet": ["VARIANT", "BLOB", {"type": "ROW", "fields": []}, "GEOMETRY(OGC:CRS84)", "TENSOR(3)"],
    "orc": ["VARIANT", "BINARY(3)", "VARBINARY(3)", {"type": "MULTISET", "element": "STRING NOT NULL"}],
    "avro": ["VARIANT", "TIMESTAMP(7)", {"type": "ROW", "fields": [{"id": 1, "name": "a b", "type": "INT"}]}],
}


@pytest.mark.parametrize(("format", "type_"), [(f, t) for f, types in UNWRITABLE.items() for t in types], ids=str)
def test_what_a_format_is_not_written_with(format: str, type_: Any) -> None:
    """At any depth, and before anything is written."""
    plain = parse(type_, unknown="keep")
    for type_ in (plain, Array(plain), Row((DataField(1, "m", plain),)), Map(parse("INT NOT NULL"), plain)):
        assert unwritable_in(format, type_) is not None
        [problem] = unwritable_fields(format, (DataField(0, "c", type_), DataField(2, "d", parse("INT"))))
        assert (problem.code, problem.path) == ("LB6505", "c")


def test_names_and_formats_that_are_not_written() -> None:
    assert [d.path for d in unwritable_fields("avro", fields_of({"a b": "INT", "c": "INT", "é": "INT"}))] == [
        "a b",
        "é",
    ]
    assert [d.path for d in unwritable_fields("orc", fields_of({"a`b": "INT", "a b": "INT"}))] == ["a`b"]
    assert [d.code for d in unwritable_fields("csv", fields_of({"a": "INT"}))] == ["LB6506"]
    assert unwritable_in("csv", parse("INT")) is not None
    with pytest.raises(UnsupportedError) as caught:
        write_data_files([batch([{"k": 1, "v": 1}])], task_of(KEYED, file_format="csv"), store=MemoryStore())
    assert caught.value.code == "LB6506"


@pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("start", range(4))
def test_slices_of_structs(format: str, start: int) -> None:
    """PyArrow's writer of ORC takes the first rows of the whole, where it is not helped."""
    member = {
        "type": "ROW",
        "fields": [{"id": 2, "name": "x", "type": "INT"}, {"id": 3, "name": "y", "type": "STRING"}],
    }
    fields = fields_of({"r": member, "l": {"type": "ARRAY", "element": member}})
    structs = ({"x": 1, "y": "a"}, None, {"x": 3, "y": None}, {"x": None, "y": "d"}, {"x": 5, "y": "e"})
    rows = v.Rows(fields, (structs, tuple([s, None] if s else None for s in structs)))
    store, task = MemoryObjectStore(), task_of(fields, file_format=format)
    (entry,) = write_data_files([rows.batch().slice(start)], task, store=store).added
    for field, values, found in readable(store, entry, task, rows):
        assert found == list(values[start:]), field


@given(v.rows(most=8), st.sampled_from(["parquet", "orc", "avro"]), st.data())
@settings(max_examples=100)
def test_slices_are_written_as_what_they_are(rows: v.Rows, format: str, data: st.DataObject) -> None:
    assume(can_be_written(format, rows))
    start = data.draw(st.integers(0, rows.count - 1))
    end = data.draw(st.integers(start + 1, rows.count))
    store, task = MemoryObjectStore(), task_of(rows.fields, file_format=format)
    (entry,) = write_data_files([rows.batch().slice(start, end - start)], task, store=store).added
    for field, values, found in readable(store, entry, task, rows):
        assert found == v.comparable(values[start:end]), field


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 1)), max_size=30), st.integers(1, 9))
def test_each_file_is_of_one_place_and_no_row_is_lost(places: list[tuple[str, int, int]], size: int) -> None:
    """Whatever order rows come in: a file ends where the place changes, and rows in are rows out."""
    rows = [placed(n, *place) for n, place in enumerate(places)]
    store = MemoryObjectStore()
    task = replace(TestKeyedFiles.TASK, key=(), options={"target-file-row-num": "4"})
    batches = [batch(rows[i : i + size], **PLACES, **ROUND) for i in range(0, len(rows), size)]
    entries = write_data_files(batches, task, store=store).added
    written = [(e, k) for e in entries for k in read(store, e, task).column("k").to_pylist()]
    assert [k for _, k in written] == list(range(len(rows)))
    for entry, k in written:
        assert (entry.partition, entry.bucket) == (partition(places[k][0]), places[k][1])
    for entry in entries:
        assert len({places[k] for e, k in written if e is entry}) == 1
        assert entry.file.row_count <= 4
    assert len(store.snapshot()) == len(entries)

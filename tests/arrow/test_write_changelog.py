"""Files of a changelog: every row that comes, under the number that the data files beside them have it under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.arrow.write_files import write_data_files
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import RowOrderError
from lakebed.format import binary_row
from lakebed.format.manifest import ManifestEntry
from lakebed.format.row_kinds import DELETES
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore, SimulatedCrash

TABLE = "warehouse/db.db/t"
KEY = parse("BIGINT NOT NULL")
FIELDS = (DataField(0, "k", KEY), DataField(1, "v", parse("INT")))
#: The bucket, the key, the kind and a value.
Row = tuple[int, int, int, int]
#: The number, the key, the kind and the value.
Stored = tuple[int, int, int, int]


def task_of(**options: str) -> WriteTask:
    return WriteTask(
        location="memory",
        table_path=TABLE,
        schema_id=0,
        fields=FIELDS,
        id="w",
        creation_time=0,
        key=("k",),
        total_buckets=2,
        first_sequence=100,
        makes_changelog=True,
        options=options,
    )


def batches(rows: Sequence[Row], size: int, *, mark: bool = True) -> list[pa.RecordBatch]:
    """The rows, so many a batch; `mark`: the last row of each key is said to be that."""
    places = [row[:2] for row in rows]
    last = [after != here for here, after in zip(places, [*places[1:], None], strict=True)]
    columns = {
        "k": pa.array([k for _, k, _, _ in rows], pa.int64()),
        "v": pa.array([v for *_, v in rows], pa.int32()),
        "_VALUE_KIND": pa.array([kind for _, _, kind, _ in rows], pa.int8()),
        "_LAKEBED_BUCKET": pa.array([bucket for bucket, *_ in rows], pa.int32()),
        **({"_LAKEBED_LAST": pa.array(last, pa.bool_())} if mark else {}),
    }
    return pa.table(columns).to_batches(max_chunksize=size)


def stored(store: MemoryStore, entry: ManifestEntry) -> list[Stored]:
    path = f"{TABLE}/bucket-{entry.bucket}/{entry.file.file_name}"
    read = orc.read_table if path.endswith("orc") else pq.read_table
    found = read(pa.BufferReader(store.read(path))).to_pylist()
    rows = [(row["_SEQUENCE_NUMBER"], row["k"], row["_VALUE_KIND"], row["v"]) for row in found]
    file = entry.file
    assert (file.file_size, file.row_count, file.level) == (store.size(path), len(rows), 0)
    assert (file.min_sequence_number, file.max_sequence_number) == (rows[0][0], rows[-1][0])
    ends = [binary_row.decode([KEY], end)[0] for end in (file.min_key, file.max_key)]
    assert ends == [rows[0][1], rows[-1][1]]
    assert file.delete_row_count == sum(kind in DELETES for _, _, kind, _ in rows)
    (key,) = file.key_stats.decode([KEY])
    assert (key.minimum, key.maximum) == (rows[0][1], rows[-1][1])
    return rows


ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=20
).map(lambda rows: sorted(rows, key=lambda row: row[:2]))
FORMS: Sequence[Mapping[str, str]] = [
    {},
    {"target-file-row-num": "3"},
    {"changelog-file.format": "orc", "changelog-file.prefix": "log-", "file.compression.per.level": "0:lz4"},
]


@given(rows=ROWS, size=st.integers(1, 8), options=st.sampled_from(FORMS))
def test_a_changelog_has_all_rows_and_data_files_the_last_of_each_key(
    rows: list[Row], size: int, options: Mapping[str, str]
) -> None:
    store = MemoryStore()
    files = write_data_files(batches(rows, size), task_of(**options), store=store)
    told, kept = ([(e.bucket, row) for e in es for row in stored(store, e)] for es in (files.changelog, files.added))
    assert told == [(bucket, (100 + i, *row)) for i, (bucket, *row) in enumerate(rows)]
    assert kept == [list(same)[-1] for _, same in groupby(told, key=lambda row: (row[0], row[1][1]))]
    names = [e.file.file_name for e in files.entries]
    assert len(set(names)) == len(names) == len(store.snapshot())
    prefix, ending = ("log-", "orc") if "changelog-file.prefix" in options else ("changelog-", "parquet")
    for entry in files.changelog:
        assert entry.file.file_name.startswith(f"{prefix}w-0-")
        assert entry.file.file_name.endswith(ending)
        assert entry.file.row_count <= int(options.get("target-file-row-num", "99"))
    assert all(e.file.file_name.startswith("data-w-0-") for e in files.added)


def test_without_marks_all_rows_are_in_both() -> None:
    store = MemoryStore()
    rows = [(0, 1, 0, 1), (0, 2, 3, 2), (1, 1, 2, 3)]
    files = write_data_files(batches(rows, 2, mark=False), task_of(), store=store)
    told, kept = ([row for e in es for row in stored(store, e)] for es in (files.changelog, files.added))
    assert told == kept == [(100, 1, 0, 1), (101, 2, 3, 2), (102, 1, 2, 3)]


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("mark", [True, False])
def test_keys_that_do_not_ascend_are_an_error_and_leave_nothing(size: int, mark: bool) -> None:
    store = MemoryStore()
    rows = [(0, 1, 0, 1), (0, 2, 0, 2), (0, 1, 0, 3)] if mark else [(0, 1, 0, 1), (0, 1, 2, 2)]
    with pytest.raises(RowOrderError):
        write_data_files(batches(rows, size, mark=mark), task_of(), store=store)
    assert store.snapshot() == {}


def test_options_of_changelog_files_count_for_them_alone() -> None:
    task = task_of(
        **{"changelog-file.compression": "snappy", "changelog-file.stats-mode": "none", "metadata.stats-mode": "full"}
    )
    store = MemoryStore()
    files = write_data_files(batches([(0, 1, 0, 7)], 1), task, store=store)
    (data,), (log,) = files.added, files.changelog
    types = [f.type for f in FIELDS]
    assert data.file.value_stats.decode(types)[1].maximum == 7
    assert log.file.value_stats.decode(types)[1].maximum is None
    codecs = [
        pq.ParquetFile(pa.BufferReader(store.read(f"{TABLE}/bucket-0/{e.file.file_name}")))
        .metadata.row_group(0)
        .column(0)
        .compression
        for e in (data, log)
    ]
    assert codecs == ["ZSTD", "SNAPPY"]


def test_a_file_of_either_sort_that_cannot_be_written_leaves_neither() -> None:
    rows: list[Row] = [(0, 1, 0, 1), (0, 1, 2, 2), (1, 5, 0, 1)]
    calm = MemoryObjectStore()
    write_data_files(batches(rows, 1), task_of(), store=calm)
    count = len(calm.snapshot())
    assert count == 4
    for place in range(1, 12):
        store = MemoryObjectStore()
        store.fail_at(place, OSError("no space"))
        try:
            write_data_files(batches(rows, 1), task_of(), store=store)
        except (OSError, SimulatedCrash):
            assert store.snapshot() == {}

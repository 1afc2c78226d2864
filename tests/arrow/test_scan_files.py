"""Workers read files whole or in pieces, each row once and with its place."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.arrow import scan_files
from lakebed.arrow.scan_files import pieces, refuse_inexact, scanner
from lakebed.errors import UnsupportedError
from lakebed.physical import DataField
from lakebed.physical.paimon_types import Array, BigInt, Blob, Char, DataType, Row, Timestamp, VarChar, Variant
from lakebed.store import LocalStore

FIELDS = (DataField(0, "k", BigInt()), DataField(1, "gone", VarChar(10)), DataField(2, "t", VarChar(10)))


@settings(max_examples=30)
@given(
    files=st.lists(
        st.tuples(st.integers(0, 3000), st.integers(1, 700), st.sampled_from(["parquet", "orc"])), max_size=4
    ),
    task=st.integers(2_000, 40_000),
)
def test_each_row_comes_once_with_its_place(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[int, int, str]], task: int
) -> None:
    directory = tmp_path_factory.mktemp("files")
    wanted, made = [], []
    for ordinal, (rows, group, format_) in enumerate(files):
        path = directory / f"{ordinal}.{format_}"
        table = pa.table(
            {
                "t": pa.array([f"{ordinal}-{i}" for i in range(rows)], pa.string()),
                "k": pa.array(range(rows), pa.int64()),
            }
        )
        if format_ == "orc":
            orc.write_table(table, path)
        else:
            pq.write_table(table, path, row_group_size=group)
        made.append((str(path), path.stat().st_size, ordinal))
        wanted += [(i, None, f"{ordinal}-{i}", ordinal, i) for i in range(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan_files, "_TASK_BYTES", task)
        table, tasks = pieces(made) if made else (pa.table({}), 0)
    assert tasks <= table.num_rows
    assert table.num_rows >= len(made)
    batches = [batch for row in range(table.num_rows) for batch in table.slice(row, 1).to_batches()]
    read = scanner(LocalStore(), FIELDS, verify_checksums=True)(iter(batches))
    assert sorted(tuple(row.values()) for b in read for row in b.to_pylist()) == sorted(wanted)


def test_a_big_file_is_several_pieces_and_many_small_ones_one_task() -> None:
    table, tasks = pieces([("s3://b/a.parquet", 300 << 20, 0), ("s3://b/b.orc", 300 << 20, 1)])
    assert (table.column("parts").to_pylist(), tasks) == ([3, 3, 3, 1], 4)
    assert table.column("ordinal").to_pylist() == [0, 0, 0, 1]
    table, tasks = pieces((f"s3://b/{i}.avro", 100, i) for i in range(64))
    assert (table.num_rows, tasks) == (64, 3)


@pytest.mark.parametrize(
    ("type_", "ending", "fine"),
    [
        (Variant(), "parquet", False),
        (Array(Variant()), "parquet", False),
        (Array(Blob()), "parquet", True),
        (Timestamp(6), "orc", False),
        (Row((DataField(1, "c", Char(3)),)), "orc", False),
        (Timestamp(6), "parquet", True),
        (Char(3), "avro", True),
    ],
)
def test_what_only_sparks_readers_read_is_refused_with_a_way_out(type_: DataType, ending: str, fine: bool) -> None:
    fields = [DataField(0, "a", type_)]
    if fine:
        refuse_inexact(f"s3://b/f.{ending}", fields)
        return
    with pytest.raises(UnsupportedError) as refused:
        refuse_inexact(f"s3://b/f.{ending}", fields)
    [problem] = refused.value.diagnostics
    assert (problem.code, "connector" in (problem.remedy or "")) == ("LB5604", True)

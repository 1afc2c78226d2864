"""`to_arrow` and its siblings: the rows of `lake.read` without Spark, or a refusal by code; never other rows."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

import lakebed
from format.building import parquet_bytes, table_schema
from format.laid_out import LaidOut, Vector
from format.test_orc_process import KILLERS
from format.test_orc_process import ROWS as ORC_ROWS
from lakebed.arrow import read_batches
from lakebed.convert.arrow import from_arrow
from lakebed.errors import (
    CorruptMetadataError,
    LakebedError,
    LakebedWarning,
    NotFoundError,
    UnsupportedError,
    UsageError,
)
from lakebed.store import LocalStore
from read.foreign_files import put_rows
from read.keyed_tables import INSERT, KeyedTable, Record
from read.lakes import declare, empty_lake, manifest
from referees.corpus import SHARED, load_expected
from referees.encoding import arrow_rows

EXPECTED = SHARED / "tables" / "expected"
#: How many of the shared states are refused, by code.
REFUSED = {"LB5603": 1, "LB5604": 9}


def test_the_shared_states_come_out_as_expected_or_are_refused(shared: Path) -> None:
    refused: Counter[str] = Counter()
    for path in sorted((shared / "tables" / "expected").glob("*.json")):
        table = load_expected(path.stem, shared)
        table.place_external_files()
        handle = lakebed.open(table.warehouse).table(table.table)
        state: dict[str, Any] = {"snapshot": table.snapshot, "branch": table.branch}
        try:
            rows = handle.to_arrow(**state)
        except UnsupportedError as error:
            refused[error.code] += 1
            continue
        rows.validate(full=True)
        table.check(arrow_rows(rows), micros=True)
        assert sum(b.num_rows for b in handle.to_batches(columns=[], **state)) == rows.num_rows
        assert handle.to_arrow(columns=rows.column_names[::-2], **state).equals(rows.select(rows.column_names[::-2]))
        assert handle.to_arrow(limit=2, **state).num_rows == min(2, rows.num_rows)
    assert refused == REFUSED


PLAIN = "{name: id, type: Int32}\n{name: s, type: {kind: Option, inner: String}}"


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    """`db.t` with ten rows in two files, the second of a version with a column more."""
    made = empty_lake(tmp_path)
    declare(made, manifest(PLAIN))
    put_rows(made, "db.t", "parquet", [{"id": i, "s": f"s{i}"} for i in range(5)])
    declare(made, manifest(f"{PLAIN}\n{{name: n, type: {{kind: Option, inner: Int64}}}}"))
    put_rows(made, "db.t", "avro", [{"id": i, "s": None, "n": i * 10} for i in range(5, 10)])
    return made


def ids(table: pa.Table) -> list[int]:
    return list(table.column("id").to_pylist())


def test_columns_filter_limit_and_states(lake: lakebed.Lake) -> None:
    t = lake.table("db.t")
    assert t.to_arrow().column_names == ["id", "s", "n"]
    assert t.to_arrow(columns=["n", "id"], where="id > 3 AND (s IS NULL OR s LIKE 's%')").to_pydict() == {
        "n": [None, 50, 60, 70, 80, 90],
        "id": [4, 5, 6, 7, 8, 9],
    }
    # A filter may look at columns that nobody asked for.
    assert t.to_arrow(columns=["s"], where="n = 70 OR id = 2").to_pydict() == {"s": ["s2", None]}
    assert ids(t.to_arrow(where="s <> 's1'", limit=3)) == [0, 2, 3]
    assert t.to_arrow(limit=0).num_rows == 0
    assert t.to_arrow(where="FALSE").num_rows == 0
    assert t.to_arrow(snapshot=1).column_names == ["id", "s"]
    assert ids(lake.table("db.t@snap:1").to_arrow(schema="latest")) == [0, 1, 2, 3, 4]
    assert (
        t.to_arrow(columns=["id", "id"], where="id = 7").columns == [pa.chunked_array([pa.array([7], pa.int32())])] * 2
    )
    assert sum(batch.num_rows for batch in t.to_batches(columns=[], where="id >= 2")) == 8
    lake.tables.create_table("db", "empty", ["k INT", "d DATE"])
    assert lake.table("db.empty").to_arrow().to_pydict() == {"k": [], "d": []}


def test_what_makes_no_sense_is_told_by_its_code(lake: lakebed.Lake) -> None:
    t = lake.table("db.t")
    for asked, code in (
        ({"columns": ["idd"]}, "LB6463"),
        ({"where": "idd = 1"}, "LB6463"),
        ({"where": ""}, "LB5630"),
        ({"where": "upper(s) = 'S1'"}, "LB5610"),
        ({"snapshot": 9}, "LB5003"),
    ):
        with pytest.raises(LakebedError, match=code):
            t.to_batches(**asked)
    with pytest.raises(UsageError, match="did you mean 'id'"):
        t.to_arrow(columns=["idd"])
    with pytest.raises(TypeError, match="on_cast_error"):
        t.to_arrow(on_cast_error="null")


def test_files_are_read_as_batches_are_asked_for(lake: lakebed.Lake) -> None:
    first, second = sorted(Path(lake.warehouse).rglob("foreign-*"), key=lambda file: file.suffix, reverse=True)
    second.unlink()
    batches = lake.table("db.t").to_batches()
    assert isinstance(batches, pa.RecordBatchReader)
    assert batches.read_next_batch().num_rows == 5
    with pytest.raises(LakebedError, match=second.name):
        batches.read_next_batch()
    # Enough rows are in the first file, and no row of the second one fits.
    assert ids(lake.table("db.t").to_arrow(limit=5)) == [0, 1, 2, 3, 4]
    assert ids(lake.table("db.t").to_arrow(snapshot=1)) == [0, 1, 2, 3, 4]
    first.write_bytes(b"PAR1")
    with pytest.raises(LakebedError, match="LB5561"):
        lake.table("db.t").to_arrow(snapshot=1)


def test_damage_in_an_orc_file_is_an_error_and_does_not_end_the_process(tmp_path: Path) -> None:
    lake = lakebed.open(tmp_path)
    row = [("a", "STRING"), ("l", {"type": "ARRAY", "element": "STRING"}), ("n", "BIGINT")]
    members = [{"id": i, "name": name, "type": kind} for i, (name, kind) in enumerate(row, 5)]
    lake.tables.create_table("db", "t", [("b", "BYTES"), ("f", {"type": "ROW", "fields": members})])
    file = put_rows(lake, "db.t", "orc", ORC_ROWS)
    t = lake.table("db.t")
    assert t.to_arrow(columns=["f"]).column("f").to_pylist() == [row["f"] for row in ORC_ROWS]
    assert sum(batch.num_rows for batch in t.to_batches(columns=[], where="b IS NOT NULL")) == len(ORC_ROWS)
    assert t.to_arrow(limit=1).num_rows == 1
    for killer in KILLERS:
        file.write_bytes(zlib.decompress(base64.b64decode(killer)))
        with pytest.raises(CorruptMetadataError, match=rf"LB5561.*{file.name}"):
            t.to_arrow()


def test_a_file_whose_rows_all_fit_is_counted_without_its_columns(lake: lakebed.Lake) -> None:
    declare(lake, manifest(PLAIN, keys="  partitionKeys: [s]\n").replace("db.t", "db.p"))
    for text in ("a", "b"):
        put_rows(lake, "db.p", "parquet", [{"id": 1}, {"id": 2}], partition=(text,))
    read = read_batches.plan_batches(*planned(lake, "db.p", where="s = 'b'"), [])
    (piece,) = read.pieces
    assert (piece.filter, piece.work.columns) == (None, ())
    assert [b.num_rows for b in read.batches()] == [2]


def test_of_a_big_file_the_first_rows_alone_are_fetched(lake: lakebed.Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(lake, manifest("{name: id, type: Int32}").replace("db.t", "db.big"))
    put_rows(lake, "db.big", "parquet", [{"id": i} for i in range(1000)], row_group_size=50)
    monkeypatch.setattr(read_batches, "_FIRST_ROWS", 500)
    read = read_batches.plan_batches(*planned(lake, "db.big", limit=3))
    first, *others = read.pieces
    assert len(others) > 3
    assert sum(batch.num_rows for batch in read_batches.open_rows(lake.store, first.work)) < 1000
    assert ids(lake.table("db.big").to_arrow(limit=120)) == list(range(120))
    assert len(read_batches.plan_batches(*planned(lake, "db.big")).pieces) == 1


def planned(lake: lakebed.Lake, table: str, **asked: Any) -> Any:
    from lakebed.format.table_branch import TableBranch

    handle = lake.table(table)
    return TableBranch(lake.tables, handle.name), handle.request(**asked)


def test_streams_pass_through_arrows_c_interface(lake: lakebed.Lake) -> None:
    t = lake.table("db.t")
    for stream in (t, t.to_batches()):
        assert ids(pa.RecordBatchReader.from_stream(stream).read_all()) == list(range(10))
    # What goes wrong on the way is said at the other end.
    with mock.patch.object(read_batches, "open_rows", side_effect=UnsupportedError.of("LB5604", "late")):
        with pytest.raises(UnsupportedError, match="LB5604"):
            t.to_arrow()
        with pytest.raises(Exception, match="LB5604"):
            pa.RecordBatchReader.from_stream(t).read_all()


DECLARED = """
{name: u8, type: UInt8}
{name: u64, type: {kind: Option, inner: UInt64}}
{name: f16, type: Float16}
{name: sec, type: {kind: Time, unit: Second}}
{name: us, type: {kind: Time, unit: Microsecond}}
{name: wait, type: {kind: Duration, unit: Second}}
{name: ms, type: {kind: Timestamp, unit: Millisecond, timezone: Europe/Paris}}
{name: ns, type: {kind: Timestamp, unit: Nanosecond}}
{name: wall, type: Timestamp, extra: {paimon.apache.org/type: TIMESTAMP(6)}}
{name: three, type: {kind: Binary, fixedLength: 3}}
{name: pair, type: {kind: List, itemType: UInt8, fixedLength: 2}}
{name: big, type: String, extra: {opendatafabric.org/description: A text, arrow.apache.org/bufferEncoding: LARGE}}
{name: m, type: {kind: Map, keyType: UInt8, valueType: {kind: Struct, fields: [{name: at, type: SECONDS}]}}}
""".replace("LARGE", "{kind: Contiguous, offsetBitWidth: 64}").replace("SECONDS", "{kind: Time, unit: Second}")
ROW = {
    **{"u8": 200, "u64": Decimal(2**64 - 1), "f16": 1.5, "sec": 3_600_000, "us": 1, "wait": 90},
    **{"ms": 1_000, "ns": 1_700_000_000_000_001, "wall": 1, "three": b"abc", "pair": [1, 255], "big": "x"},
    "m": [(7, {"at": 1_000})],
}


def test_types_are_those_of_the_declared_schema(tmp_path: Path) -> None:
    lake = empty_lake(tmp_path)
    declare(lake, manifest(DECLARED))
    put_rows(lake, "db.t", "parquet", [ROW])
    rows = lake.table("db.t").to_arrow()
    assert {f.name: str(f.type) for f in rows.schema} == {
        **{"u8": "uint8", "u64": "uint64", "f16": "float", "sec": "time32[ms]", "us": "time64[us]"},
        **{"wait": "duration[s]", "ms": "timestamp[us, tz=Europe/Paris]", "ns": "timestamp[us, tz=UTC]"},
        **{"wall": "timestamp[us]", "three": "fixed_size_binary[3]", "big": "string"},
        "pair": "fixed_size_list<item: uint8>[2]",
        "m": "map<uint8, struct<at: time32[ms]>>",
    }
    (row,) = rows.select(["u8", "u64", "f16", "sec", "us", "wait", "three", "pair", "m"]).to_pylist()
    assert row == {
        **{"u8": 200, "u64": 2**64 - 1, "f16": 1.5, "sec": time(1), "us": time(0, 0, 0, 1)},
        **{"wait": timedelta(seconds=90), "three": b"abc", "pair": [1, 255], "m": [(7, {"at": time(0, 0, 1)})]},
    }
    assert rows.column("ns").cast(pa.int64()).to_pylist() == [1_700_000_000_000_001]
    assert all(f.nullable for f in rows.schema)
    # The declared schema travels along, with what its types do not say.
    carried, _ = from_arrow(rows.schema, strict=False)
    assert carried.fields[11].extra.description == "A text"


@pytest.mark.parametrize(("column", "stored"), [("u8", -1), ("u64", Decimal(-1)), ("pair", [1, 2, 3])])
def test_a_value_that_the_declared_type_does_not_have_is_refused(tmp_path: Path, column: str, stored: int) -> None:
    lake = empty_lake(tmp_path)
    declare(lake, manifest(next(line for line in DECLARED.splitlines() if f"name: {column}," in line)))
    put_rows(lake, "db.t", "parquet", [{column: stored}])
    with pytest.raises(UnsupportedError, match=rf"LB5606.*{column}"):
        lake.table("db.t").to_arrow()


def test_merged_and_deleted_rows(tmp_path: Path) -> None:
    table = KeyedTable(tmp_path, "k", {"k": ("INT", pa.int32()), "v": ("INT", pa.int32())})
    table.add([Record(INSERT, 0, {"k": 1, "v": 1}), Record(INSERT, 0, {"k": 2, "v": 2})], level=5)
    table.add([Record(INSERT, 1, {"k": 2, "v": 20})], level=0)
    table.commit()
    t = lakebed.open(tmp_path).table("db.k")
    assert sorted(t.to_arrow().column("v").to_pylist()) == [1, 20]
    # A filter looks at merged rows: the old row of a key never comes back.
    assert t.to_arrow(where="v = 2").num_rows == 0
    assert t.to_arrow(columns=["v"], where="k = 2").to_pydict() == {"v": [20]}
    assert sum(batch.num_rows for batch in t.to_batches(columns=[])) == 2

    (tmp_path / "lab.db").mkdir()
    laid = LaidOut(LocalStore(), str(tmp_path / "lab.db" / "d"), table_schema([("id", "INT")]))
    laid.add("0.parquet", parquet_bytes(pa.table({"id": pa.array(range(6), pa.int32())})), 6)
    laid.delete({"0.parquet": Vector([0, 4])})
    laid.commit()
    d = lakebed.open(tmp_path).table("lab.d")
    assert ids(d.to_arrow(where="id <> 2")) == [1, 3, 5]
    assert ids(d.to_arrow(limit=2)) == [1, 2]


def test_a_filter_names_a_column_that_the_fallback_branch_lacks(tmp_path: Path) -> None:
    # PySpark before 4.1 lacks what that file imports.
    from read.generated_tables import make

    lake = make("fallback", 1, tmp_path).lake
    lake.tables.alter_table("db", "t", [{"action": "addColumn", "fieldNames": ["n"], "dataType": "INT"}])
    t = lake.table("db.t")
    rows = t.to_arrow()
    assert set(rows.column("p").to_pylist()) == {1, 2, 3}
    assert t.to_arrow(where="n IS NULL").equals(rows)
    assert t.to_arrow(where="n = 1 OR p = 3", columns=["p"]).to_pydict() == {"p": [3] * 4}


def test_columns_of_unknown_types_are_left_out_with_a_warning(lake: lakebed.Lake) -> None:
    file = Path(lake.warehouse, "db.db", "t", "schema", "schema-1")
    schema = json.loads(file.read_text())
    schema["fields"].append({"id": 9, "name": "future", "type": "HOLOGRAM"})
    file.write_text(json.dumps(schema))
    fresh = lakebed.open(lake.warehouse).table("db.t")
    with pytest.warns(LakebedWarning, match="LB4507"):
        assert fresh.to_arrow().column_names == ["id", "s", "n"]


def test_types_that_only_spark_reads_are_refused_or_left_out(tmp_path: Path) -> None:
    lake = empty_lake(tmp_path)
    lake.tables.create_table("db", "v", ["id INT", "v VARIANT"])
    with pytest.raises(UnsupportedError, match=r"LB2109.*VARIANT"):
        lake.table("db.v").to_arrow()
    assert lake.table("db.v").to_arrow(columns=["id"]).num_rows == 0


def test_pandas_takes_the_rows_and_is_told_where_it_lacks(lake: lakebed.Lake) -> None:
    frame = lake.table("db.t").to_pandas(columns=["id", "n"], where="id >= 8")
    assert frame.to_dict("list") == {"id": [8, 9], "n": [80, 90]}
    for name, call in (("pandas", "to_pandas"), ("pyarrow", "to_batches"), ("pyarrow", "to_arrow")):
        missing = mock.patch("lakebed.arrow.find_spec", lambda wanted, name=name: None if wanted == name else object())
        with missing, pytest.raises(NotFoundError, match=rf"LB5611.*{name}(?s:.*)pip install"):
            getattr(lake.table("db.t"), call)()


def test_no_spark_is_imported_in_a_process_that_reads(lake: lakebed.Lake) -> None:
    code = """
import sys, lakebed
t = lakebed.open(sys.argv[1]).table("db.t")
assert t.to_arrow(where="id > 2").num_rows == 7
assert t.to_pandas(limit=3).shape == (3, 3)
from lakebed.cli.main import run
assert run(["--warehouse", sys.argv[1], "read", "db.t", "--limit", "3"]) == 0
assert run(["--warehouse", sys.argv[1], "read", "db.t", "--count", "--where", "id > 2"]) == 0
found = {name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j")}
assert not found, found
"""
    source = str(Path(lakebed.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "JAVA_HOME": "/nowhere", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code, lake.warehouse], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "7"
    assert "(the first 3 rows; there are more)" in done.stdout

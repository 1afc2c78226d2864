"""Blobs by the data source, without Spark: what is written is read, and of newer and older files the newest counts."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

import lakebed
from arrow.blob_bytes import Payload, array_bytes, file_bytes
from format.building import parquet_bytes, table_schema
from format.every_place import EVOLVING
from format.laid_out import LaidOut, Vector
from lakebed.arrow import read_blobs
from lakebed.arrow.blob_file import PLACEHOLDER, Placeholder
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.physical import parse
from lakebed.store import LocalStore

PAYLOADS = st.one_of(st.none(), st.just(PLACEHOLDER), st.binary(max_size=9))


def read(root: Path, columns: list[str] | None = None) -> list[dict[str, Any]]:
    source = LakebedDataSource({"path": "lab.t", "warehouse": str(root)})
    schema = source.schema()
    reader = source.reader(schema if columns is None else StructType([schema[name] for name in columns]))
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


class Files:
    """A table `lab.t` of `id`, `x` and `xs`, to which files are added by hand."""

    def __init__(self, root: Path, **options: str) -> None:
        (root / "lab.db").mkdir()
        columns: list[Any] = [("id", "BIGINT"), ("x", "BLOB"), ("xs", {"type": "ARRAY", "element": "BLOB"})]
        schema = table_schema(columns, options=EVOLVING | options)
        self.table = LaidOut(LocalStore(), str(root / "lab.db" / "t"), schema)
        self._count = 0

    def data(self, start: int, columns: dict[str, pa.Array], names: tuple[str, ...] | None = ("id",)) -> str:
        content = parquet_bytes(pa.table(columns))
        name, rows = self._name("parquet"), len(columns["id"])
        self.table.add(name, content, rows, first_row_id=start, max_sequence_number=1, write_cols=names)
        return name

    def blobs(self, start: int, payloads: list[Payload], sequence: int = 1, column: str = "x") -> str:
        known = {"first_row_id": start, "max_sequence_number": sequence, "write_cols": (column,)}
        return self.table.add(self._name("blob"), file_bytes(payloads), len(payloads), **known)

    def _name(self, format: str) -> str:
        self._count += 1
        return f"{self._count}.{format}"


@given(st.data(), st.integers(1, 8), st.integers(0, 3), st.integers(1, 40))
@settings(max_examples=40)
def test_the_newest_file_that_has_no_placeholder_says_the_value(
    data: st.DataObject, rows: int, generations: int, most: int
) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_blobs, "_BYTES", most)
        files = Files(Path(directory))
        files.data(100, {"id": pa.array(range(rows), pa.int64())})
        expected: list[Payload] = [PLACEHOLDER] * rows
        for sequence in range(1, generations + 2):
            start = 0
            # Files of one generation lie side by side.
            for count in data.draw(st.lists(st.integers(1, 3), min_size=1)):
                payloads = data.draw(st.lists(PAYLOADS, min_size=count, max_size=count))[: rows - start]
                if payloads:
                    files.blobs(100 + start, payloads, sequence)
                for at, payload in enumerate(payloads, start):
                    expected[at] = expected[at] if isinstance(payload, Placeholder) else payload
                start += len(payloads)
            if sequence == 1 and start < rows:
                files.blobs(100 + start, [None] * (rows - start))
                expected[start:] = [None] * (rows - start)
        gone = data.draw(st.sets(st.integers(0, rows - 1)))
        if gone:
            files.table.delete({"1.parquet": Vector(sorted(gone))})
        files.table.commit()
        wanted = [None if isinstance(p, Placeholder) else p for p in expected]
        found = read(Path(directory), ["x", "id"])
        assert [(row["id"], row["x"]) for row in found] == [(i, x) for i, x in enumerate(wanted) if i not in gone]
        assert len(read(Path(directory), ["id"])) == rows - len(gone)


def test_nested_blobs_and_several_data_files(tmp_path: Path) -> None:
    files = Files(tmp_path)
    for start in (0, 2):
        files.data(start, {"id": pa.array([start, start + 1], pa.int64())})
        files.blobs(start, [b"x", None])
    files.blobs(0, [array_bytes([b"", None]), None, array_bytes([]), PLACEHOLDER], column="xs")
    files.table.commit()
    assert [(r["id"], r["x"], r["xs"]) for r in read(tmp_path)] == [
        (0, b"x", [b"", None]),
        (1, None, None),
        (2, b"x", []),
        (3, None, None),
    ]


def test_contents_in_the_data_file_itself(tmp_path: Path) -> None:
    files = Files(tmp_path)
    for start in (0, 10):
        columns = {"id": pa.array([start, start + 1], pa.int64()), "x": pa.array([b"in", b"side"])}
        files.data(start, columns, None)
    files.data(20, {"id": pa.array([20], pa.int64())}, None)
    files.blobs(10, [b"out", PLACEHOLDER])
    files.table.commit()
    found = {row["id"]: row["x"] for row in read(tmp_path)}
    assert found == {0: b"in", 1: b"side", 10: b"out", 11: b"side", 20: None}


def test_descriptors_and_blobs_alone_are_refused(tmp_path: Path) -> None:
    for name, option, code in (("a", "blob-descriptor-field", "LB5564"), ("b", "blob-view-field", "LB5565")):
        (tmp_path / name).mkdir()
        files = Files(tmp_path / name, **{option: "x"})
        files.data(0, {"id": pa.array([1], pa.int64())}, None)
        files.table.commit()
        with pytest.raises(UnsupportedError) as caught:
            read(tmp_path / name, ["x"])
        assert caught.value.code == code
        assert read(tmp_path / name, ["id"]) == [{"id": 1}]
    (tmp_path / "c").mkdir()
    files = Files(tmp_path / "c")
    files.blobs(0, [b"alone"])
    files.table.commit()
    with pytest.raises(UnsupportedError) as caught:
        read(tmp_path / "c")
    assert caught.value.code == "LB5605"


@pytest.mark.parametrize("at", ["content", "index", "rows"])
def test_damage_is_told_with_the_file(tmp_path: Path, at: str) -> None:
    files = Files(tmp_path)
    files.data(0, {"id": pa.array([1, 2], pa.int64())})
    payloads: list[Payload] = [b"one"] if at == "rows" else [b"one", b"two"]
    path = files.blobs(0, payloads)
    if at == "rows":
        entry = files.table.entries[-1]
        files.table.entries[-1] = replace(entry, file=replace(entry.file, row_count=2))
    files.table.commit()
    whole = bytearray(Path(path).read_bytes())
    if at != "rows":
        whole[5 if at == "content" else -1] ^= 1
        Path(path).write_bytes(whole)
    with pytest.raises(CorruptMetadataError, match=r"2\.blob") as caught:
        read(tmp_path)
    assert caught.value.code == ("LB5560" if at == "rows" else "LB5561")


def test_what_is_written_by_the_data_source_is_read_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch_writer = pytest.importorskip(
        "lakebed.data_source.batch_writer",
        reason="PySpark before 4.1 hands no batches to a source",
        exc_type=ImportError,
    )
    monkeypatch.setattr(batch_writer, "attempted", lambda task: task)
    lake = lakebed.open(tmp_path, layout="paimon")
    kinds: dict[str, Any] = {"p": "STRING", "id": "BIGINT", "x": "BLOB", "xs": {"type": "ARRAY", "element": "BLOB"}}
    columns = [(name, parse(kind)) for name, kind in kinds.items()]
    options = EVOLVING | {"blob.target-file-size": "20"}
    lake.tables.create_table("lab", "t", columns, partition_keys=["p"], options=options)
    schema = LakebedDataSource({"path": "lab.t", "warehouse": str(tmp_path)}).schema()
    rows = [{"p": "ab"[i % 2], "id": i, "x": b"x" * i, "xs": [None, b"y"]} for i in range(9)]
    for overwrite, some in ((False, rows), (True, rows[::2])):
        writer = LakebedDataSource({"path": "lab.t", "warehouse": str(tmp_path)}).writer(schema, overwrite)
        batch = pa.RecordBatch.from_pylist(some, schema=to_arrow_schema(schema, timezone="UTC"))
        writer.commit([writer.write(iter([batch]))])
    assert sorted(read(tmp_path), key=lambda row: row["id"]) == rows
    assert lake.count("lab.t") == 9

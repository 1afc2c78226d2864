"""Tables whose rows are changed, each beside the rows that it has to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.evolve.schema_changes import RenameColumn
from lakebed.format.live_files import DataFile, plan_files
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.model import Field, Int32, Int64, Option, String
from lakebed.spark.table_writer import TableWriter, WriteTarget
from lakebed.spark.write_rows import RowsToWrite
from lakebed.table import Table
from lakebed.write.plan_write import plan_write

#: Makes a table of a kind with its rows, in a lake of the test's own.
Make: TypeAlias = Callable[[str], "Changed"]
Row: TypeAlias = dict[str, Any]
COLUMNS = ("k", "p", "n", "s")
FIELDS = (
    Field("k", Int64()),
    Field("p", String()),
    Field("n", Option(Int32())),
    Field("s", Option(String())),
)

#: Files have indexes, and files of them beside them.
_INDEXES = {
    "file-index.bloom-filter.columns": "k,old",
    "file-index.bloom-filter.k.items": "100",
    "file-index.bloom-filter.old.items": "100",
    "file-index.bitmap.columns": "p,n,old",
    "file-index.bsi.columns": "k",
    "file-index.in-manifest-threshold": "0 b",
}
#: How each kind of table is made.
KINDS: Mapping[str, Mapping[str, Any]] = {
    "append": {"options": _INDEXES},
    "vectors": {"options": {"deletion-vectors.enabled": "true"}},
    "partitions, avro": {"partition_keys": ["p"], "options": {"file.format": "avro"}},
    "vectors in partitions, orc": {
        "partition_keys": ["p"],
        "options": {"deletion-vectors.enabled": "true", "file.format": "orc", **_INDEXES},
    },
    "buckets": {"options": {"bucket": "2", "bucket-key": "k"}},
    "key": {"primary_keys": ["k"], "options": {"bucket": "2", "sequence.field": "n", **_INDEXES}},
    "key in partitions, avro": {
        "primary_keys": ["p", "k"],
        "partition_keys": ["p"],
        "options": {"bucket": "1", "file.format": "avro"},
    },
}

#: One of each way in which rows go.
FEW_KINDS = ("append", "vectors in partitions, orc", "buckets", "key")


def rows_of(numbers: Sequence[int]) -> list[Row]:
    """A row for each number: every value, NULLs among them, follows from it."""
    return [
        {"k": i, "p": "ab"[i % 2], "n": None if i % 7 == 0 else i % 5, "s": None if i % 3 == 0 else f"s{i}"}
        for i in numbers
    ]


@dataclass
class Changed:
    """A table and its rows."""

    spark: SparkSession
    lake: Lake
    kind: str
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def made(cls, spark: SparkSession, lake: Lake, kind: str) -> Changed:
        """The table, with three files at least: two of an older schema, in which `s` was `old`."""
        made = cls(spark, lake, kind)
        parts = KINDS[kind]
        old = tuple(Field("old", f.type) if f.name == "s" else f for f in FIELDS)
        lake.tables.create_table("db", "t", old, **parts)
        made.append(rows_of(range(10)))
        made.append(rows_of(range(10, 16)))
        lake.tables.alter_table("db", "t", [RenameColumn(("old",), "s")])
        made.append(rows_of(range(20, 26)))
        return made

    @property
    def table(self) -> Table:
        return self.lake.table("db.t")

    def append(self, rows: Sequence[Row]) -> None:
        """Write rows as one commit, as they are."""
        values = [tuple(row[c] for c in COLUMNS) for row in rows]
        frame = self.spark.createDataFrame(values, "v0 bigint, v1 string, v2 int, v3 string").coalesce(1)
        table = self.table
        storage = TableStorage(table.store, table.table_path, table.schemas, table.branch)
        target = WriteTarget(
            storage, plan_write(table.schema()), str(Path(table.table_path).parents[1]), None, table.clock
        )
        writer = TableWriter(lambda: self.spark, target)
        writer.write(RowsToWrite(frame))
        writer.commit(SnapshotChange(commit_user=uuid4().hex))
        self.rows += rows

    def check(self) -> None:
        found = [tuple(row) for row in self.table.read(self.spark).collect()]
        assert sorted(found, key=repr) == rows_in_order(self.rows)

    def delete(self, which: Callable[[Row], bool]) -> int:
        kept = [row for row in self.rows if not which(row)]
        gone = len(self.rows) - len(kept)
        self.rows = kept
        return gone

    def update(self, which: Callable[[Row], bool], new: Callable[[Row], Row]) -> int:
        found = [which(row) for row in self.rows]
        self.rows = [row | new(row) if hit else row for row, hit in zip(self.rows, found, strict=True)]
        return sum(found)

    def files(self) -> tuple[DataFile, ...]:
        snapshot = self.table.snapshots.latest()
        assert snapshot is not None
        return plan_files(self.table.store, self.table.table_path, snapshot, self.table.schema())

    def on_disk(self) -> set[str]:
        endings = ("parquet", "orc", "avro", "index")
        root = Path(self.table.table_path)
        return {p.name for p in root.rglob("data-*") if p.suffix[1:] in endings}


def rows_in_order(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """The rows as a read gives them, sorted."""
    return sorted((tuple(row[c] for c in COLUMNS) for row in rows), key=repr)

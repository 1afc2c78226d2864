"""Overwrites, truncated tables, dropped partitions and deletion vectors, as the other implementations see them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyroaring
import pytest

import lakebed
from format.building import Built, table_schema
from lakebed.format import binary_row
from lakebed.format.live_files import partition_types
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.new_files import wall_clock
from lakebed.format.snapshot_change import DeletedRows, partitions_of
from lakebed.store import LocalStore
from referees.client import Referees
from referees.java import JavaReferee

READERS: Sequence[Any] = ("pypaimon", "rust")
ARROW = pa.schema([("day", pa.string()), ("region", pa.int32()), ("id", pa.int64())])
COLUMNS = [("day", "STRING"), ("region", "INT"), ("id", "BIGINT")]
#: Java expires all that it may at its next commit.
EXPIRING = {
    "snapshot.num-retained.min": "1",
    "snapshot.num-retained.max": "1",
    "snapshot.time-retained": "1 ms",
}
VECTORS = {"deletion-vectors.enabled": "true", "file.compression": "zstd"}


def _table(warehouse: Path, **options: str) -> Built:
    (warehouse / "lab.db").mkdir(parents=True)
    schema = table_schema(COLUMNS, partition_keys=["day", "region"], options=options)
    return Built(LocalStore(), schema, path=str(warehouse / "lab.db" / "t"))


def _file(table: Built, day: str | None, region: int | None, *ids: int) -> ManifestEntry:
    rows = [{"day": day, "region": region, "id": i} for i in ids]
    return table.write(pa.Table.from_pylist(rows, schema=ARROW), (day, region))


def _fill(table: Built) -> None:
    """Four partitions, one of them of NULLs, in two commits."""
    table.append(_file(table, "a", 1, 1, 2, 3), _file(table, "a", 2, 4), _file(table, "b", 1, 5, 6))
    table.append(_file(table, "a", 1, 7, 8), _file(table, None, None, 9))


def _ids(rows: Sequence[Sequence[Any]]) -> list[int]:
    return sorted(row[2] for row in rows)


def _entry(table: Built, path: str) -> tuple[ManifestEntry, Any]:
    """A live file by its path, as an entry, and its vector."""
    (file,) = [f for f in table.plan() if f.path == path]
    partition = binary_row.encode(partition_types(table.schema), file.partition)
    return ManifestEntry(int(Kind.ADD), partition, file.bucket, file.total_buckets, file.meta), file.deletions


def _delete_first(table: Built, count: int = 1) -> None:
    """Delete the next rows of each file that has some left, by vectors."""
    deleted = []
    for file in table.plan():
        gone = 0 if file.deletions is None else file.deletions.cardinality or 0
        rows = range(gone, min(gone + count, file.meta.row_count))
        if rows:
            entry, before = _entry(table, file.path)
            deleted.append(DeletedRows(entry, bytes(pyroaring.BitMap(rows).serialize()), before))
    table.commit(deleted_rows=tuple(deleted))


class Steps:
    """Changes of a filled table, and the ids that are left."""

    @staticmethod
    def overwrite(table: Built, lake: lakebed.Lake) -> list[int]:
        new = _file(table, "a", 1, 20, 21)
        table.commit(added=(new,), overwrite=partitions_of(table.schema, [new]))
        return [4, 5, 6, 9, 20, 21]

    @staticmethod
    def drop(table: Built, lake: lakebed.Lake) -> list[int]:
        lake.table("lab.t").drop_partitions(["day=a/region=1", {"day": None}])
        return [4, 5, 6]

    @staticmethod
    def truncate(table: Built, lake: lakebed.Lake) -> list[int]:
        lake.table("lab.t").truncate()
        return []

    @staticmethod
    def truncate_and_append(table: Built, lake: lakebed.Lake) -> list[int]:
        lake.table("lab.t").truncate()
        table.append(_file(table, "a", 1, 30))
        return [30]

    @staticmethod
    def rewrite_one_file(table: Built, lake: lakebed.Lake) -> list[int]:
        gone = [f for f in table.plan() if f.meta.row_count == 3]
        table.commit(deleted=(_entry(table, gone[0].path)[0],), added=(_file(table, "a", 1, 2),))
        return [2, 4, 5, 6, 7, 8, 9]

    @staticmethod
    def compact(table: Built, lake: lakebed.Lake) -> list[int]:
        gone = [_entry(table, f.path)[0] for f in table.plan() if f.partition == ("a", 1)]
        table.commit(deleted=tuple(gone), added=(_file(table, "a", 1, 1, 2, 3, 7, 8),), compaction=True)
        return list(range(1, 10))

    @staticmethod
    def analyze(table: Built, lake: lakebed.Lake) -> list[int]:
        # Metadata tell the rows: no session is asked for.
        found = lake.table("lab.t").analyze(lambda: None)  # type: ignore[arg-type, return-value]
        assert found.statistics is not None
        assert found.statistics.rows == 9
        return list(range(1, 10))

    @staticmethod
    def delete_rows(table: Built, lake: lakebed.Lake) -> list[int]:
        _delete_first(table)
        return [2, 3, 6, 8]

    @staticmethod
    def delete_rows_again(table: Built, lake: lakebed.Lake) -> list[int]:
        _delete_first(table)
        table.append(_file(table, "a", 1, 40, 41))
        _delete_first(table)
        return [3, 41]

    @staticmethod
    def delete_rows_then_drop(table: Built, lake: lakebed.Lake) -> list[int]:
        _delete_first(table)
        lake.table("lab.t").drop_partitions({"region": 1})
        table.append(_file(table, "a", 1, 50))
        return [50]


STEPS = [name for name in vars(Steps) if not name.startswith("_")]


@pytest.mark.parametrize("step", STEPS)
def test_all_read_what_is_left(referees: Referees, java: JavaReferee, tmp_path: Path, step: str) -> None:
    table = _table(tmp_path, **VECTORS)
    _fill(table)
    left = getattr(Steps, step)(table, lakebed.open(tmp_path))
    for reader in READERS:
        assert _ids(referees.rows(reader, tmp_path, "lab.t")) == left
    assert _ids(java.rows(tmp_path, "lab.t")) == left
    if left:
        assert _ids(java.rows(tmp_path, "lab.t", filter=["region", "=", 1])) == [i for i in left if i not in (4, 9)]
    # Who travels sees the rows as they were.
    for reader in READERS:
        assert _ids(referees.rows(reader, tmp_path, "lab.t", snapshot=2)) == list(range(1, 10))


@pytest.mark.parametrize("step", STEPS)
def test_java_expires_what_has_gone_and_nothing_else(java: JavaReferee, tmp_path: Path, step: str) -> None:
    table = _table(tmp_path, **VECTORS, **EXPIRING)
    _fill(table)
    left = getattr(Steps, step)(table, lakebed.open(tmp_path))
    java.append(tmp_path, "lab.t", [["z", 9, 99]])
    assert len(list((tmp_path / "lab.db" / "t" / "snapshot").glob("snapshot-*"))) == 1
    assert _ids(java.rows(tmp_path, "lab.t")) == sorted([*left, 99])
    live = {f.path for f in table.plan()}
    there = {str(p) for p in (tmp_path / "lab.db" / "t").rglob("data-*.parquet")}
    # What Java itself writes is named by it; of ours, exactly the live files are left.
    assert there == live
    vectors = {f.deletions.path for f in table.plan() if f.deletions is not None}
    indexes = tmp_path / "lab.db" / "t" / "index"
    assert {str(p) for p in indexes.glob("index-*")} == vectors


def test_a_keyed_table_of_others(referees: Referees, tmp_path: Path) -> None:
    """Partitions of a table with keys and buckets, which pypaimon goes on writing."""
    columns = [("day", "STRING NOT NULL"), ("id", "BIGINT NOT NULL"), ("v", "INT")]
    keyed = {"partition_keys": ["day"], "primary_keys": ["day", "id"], "options": {"bucket": "2"}}
    referees.create(tmp_path, "lab.t", columns, **keyed)
    for rows in ([["a", 1, 1], ["a", 2, 1], ["b", 1, 1]], [["a", 1, 2], ["b", 3, 2]]):
        referees.append(tmp_path, "lab.t", rows)
    lake = lakebed.open(tmp_path)
    assert lake.table("lab.t").drop_partitions("day=a").partitions == ("day=a",)
    for reader in READERS:
        assert sorted(referees.rows(reader, tmp_path, "lab.t")) == [["b", 1, 1], ["b", 3, 2]]
    referees.append(tmp_path, "lab.t", [["a", 1, 7], ["b", 1, 7]])
    for reader in READERS:
        assert sorted(referees.rows(reader, tmp_path, "lab.t")) == [["a", 1, 7], ["b", 1, 7], ["b", 3, 2]]
    assert lake.table("lab.t").truncate().files_removed > 0
    for reader in READERS:
        assert referees.rows(reader, tmp_path, "lab.t") == []


@pytest.mark.parametrize("strategy", ["values-time", "update-time"])
def test_the_partitions_expire_that_java_expires(
    java: JavaReferee, referees: Referees, tmp_path: Path, strategy: str
) -> None:
    today = date.today()
    texts = [*((today - timedelta(days=age)).isoformat() for age in (0, 3, 30)), "other", "2001-2-31", "2001-02-31x"]
    options = {"partition.expiration-time": "7 d", "partition.expiration-strategy": strategy}
    left = []
    for name in ("ours", "theirs"):
        table = _table(tmp_path / name, **options, **{"partition.timestamp-pattern": "$day"})
        entries = [_file(table, text, 1, i) for i, text in enumerate(texts)]
        made = [wall_clock(1000 * int(time.time() - 86_400 * age)) for age in (0, 6, 8, 8, 1, 8)]
        files = [replace(e, file=replace(e.file, creation_time=at)) for e, at in zip(entries, made, strict=True)]
        table.append(*files)
        if name == "ours":
            expired = lakebed.open(tmp_path / name).table("lab.t").expire_partitions().write.partitions
        else:
            # This version fails for partitions of NULL.
            left.append(len(java.expire_partitions(tmp_path / name, "lab.t")))
        left.append(_ids(java.rows(tmp_path / name, "lab.t")))
        assert _ids(referees.rows("rust", tmp_path / name, "lab.t")) == left[-1]
    assert left[0] == left[2] == ([0, 1, 3, 5] if strategy == "values-time" else [0, 1, 4])
    assert len(expired) == left[1]

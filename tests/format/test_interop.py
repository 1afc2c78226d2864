"""pypaimon and pypaimon-rust read what is committed here; what pypaimon commits is planned here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from format.building import Built, table_schema
from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import plan_files
from lakebed.format.snapshot import SnapshotManager
from lakebed.format.statistics import file_statistics
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store import LocalStore
from referees.client import Referees
from referees.encoding import Row

READERS: Sequence[Any] = ("pypaimon", "rust")

COLUMNS = [
    ("id", "BIGINT NOT NULL"),
    ("name", "STRING"),
    ("price", "DECIMAL(10, 2)"),
    ("big", "DECIMAL(38, 4)"),
    ("day", "DATE"),
    ("at", "TIMESTAMP(3)"),
    ("seen", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ("ratio", "DOUBLE"),
    ("ok", "BOOLEAN"),
    ("raw", "BYTES"),
]
ARROW = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("name", pa.string()),
        ("price", pa.decimal128(10, 2)),
        ("big", pa.decimal128(38, 4)),
        ("day", pa.date32()),
        ("at", pa.timestamp("ms")),
        ("seen", pa.timestamp("us", "UTC")),
        ("ratio", pa.float64()),
        ("ok", pa.bool_()),
        ("raw", pa.binary()),
    ]
)


def _row(number: int) -> dict[str, Any]:
    if number % 5 == 0:
        return dict.fromkeys(ARROW.names) | {"id": number}
    return {
        "id": number,
        "name": f"a rather long name {number:03d}",
        "price": Decimal(number) / 4,
        "big": Decimal(number) * 10**20,
        "day": date(2024, 1, 1 + number % 28),
        "at": datetime(2024, 1, 1, 0, 0, number % 60, 123_000),
        "seen": datetime(2024, 1, 1, 0, 0, number % 60, 123_456),
        "ratio": float("nan") if number % 7 == 0 else number / 8,
        "ok": number % 2 == 0,
        "raw": bytes([number % 256]) * 9,
    }


def _data(numbers: range) -> pa.Table:
    return pa.Table.from_pylist([_row(n) for n in numbers], schema=ARROW)


def _table(warehouse: Path, schema: TableSchema) -> Built:
    (warehouse / "lab.db").mkdir(parents=True)
    return Built(LocalStore(), schema, path=str(warehouse / "lab.db" / "t"))


def _ids(rows: list[Row]) -> list[int]:
    return sorted(row[0] for row in rows)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with an unpartitioned table of three commits."""
    warehouse = tmp_path_factory.mktemp("plain")
    table = _table(warehouse, table_schema(COLUMNS))
    for start in (0, 10, 20):
        table.append(table.write(_data(range(start, start + 10))), properties={"start": str(start)})
    return warehouse


@pytest.mark.parametrize("reader", READERS)
def test_all_rows_of_a_plain_table(referees: Referees, plain: Path, reader: Any) -> None:
    rows = referees.rows(reader, plain, "lab.t")
    assert _ids(rows) == list(range(30))
    (row,) = [r for r in rows if r[0] == 13]
    assert row[1:7] == [
        "a rather long name 013",
        "3.25",
        "1300000000000000000000.0000",
        "2024-01-14",
        "2024-01-01T00:00:13.123000000",
        "2024-01-01T00:00:13.123456000Z",
    ]


FILTERS: list[tuple[Any, list[int]]] = [
    (["id", "=", 13], [13]),
    (["id", ">=", 25], [25, 26, 27, 28, 29]),
    (["id", "between", [8, 11]], [8, 9, 10, 11]),
    (["name", "=", "a rather long name 017"], [17]),
    (["name", ">", "a rather long name 027"], [28, 29]),
    (["name", "is null"], [0, 5, 10, 15, 20, 25]),
    (["price", "=", "5.75"], [23]),
    (["big", "<", "300000000000000000000.0000"], [1, 2]),
    (["day", "=", "2024-01-20"], [19]),
    (["at", ">", "2024-01-01T00:00:27.123"], [28, 29]),
    (["seen", "<=", "2024-01-01T00:00:02.123456Z"], [1, 2]),
    (["ok", "=", True], [n for n in range(30) if n % 2 == 0 and n % 5]),
    (["ratio", "=", 3.0], [24]),
    (["ratio", "is null"], [0, 5, 10, 15, 20, 25]),
    (["and", ["id", "<", 12], ["ok", "is not null"]], [1, 2, 3, 4, 6, 7, 8, 9, 11]),
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("condition", "expected"), FILTERS, ids=lambda v: str(v[0]) if v else "")
def test_filters_prune_by_our_statistics_and_lose_nothing(
    referees: Referees, plain: Path, reader: Any, condition: Any, expected: list[int]
) -> None:
    assert _ids(referees.rows(reader, plain, "lab.t", filter=condition)) == expected


@pytest.mark.parametrize("reader", READERS)
def test_time_travel(referees: Referees, plain: Path, reader: Any) -> None:
    assert _ids(referees.rows(reader, plain, "lab.t", snapshot=2)) == list(range(20))


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a table by kind and month, merged manifests, NULL, empty and odd partition values."""
    warehouse = tmp_path_factory.mktemp("merged")
    columns = [("id", "BIGINT"), ("kind", "STRING"), ("month", "INT")]
    schema = table_schema(columns, partition_keys=["kind", "month"], options={"manifest.merge-min-count": "4"})
    table = _table(warehouse, schema)
    arrow = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("month", pa.int32())])
    kinds = ["a/b=c d", "é", None, "x y", "%", "2024-01-01"]
    for i in range(12):
        kind, month = kinds[i % 6], None if i == 7 else i % 4
        rows = [{"id": 2 * i + j, "kind": kind, "month": month} for j in range(2)]
        table.append(table.write(pa.Table.from_pylist(rows, schema=arrow), (kind, month)))
    return warehouse


@pytest.mark.parametrize("reader", READERS)
def test_a_partitioned_table_with_merged_manifests(referees: Referees, merged: Path, reader: Any) -> None:
    rows = referees.rows(reader, merged, "lab.t")
    assert _ids(rows) == list(range(24))
    assert [r[1:] for r in sorted(rows)[:1]] == [["a/b=c d", 0]]
    assert {r[0] for r in rows if r[1] is None} == {4, 5, 16, 17}
    assert {r[0] for r in rows if r[2] is None} == {14, 15}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (["kind", "=", "a/b=c d"], [0, 1, 12, 13]),
        (["kind", "is null"], [4, 5, 16, 17]),
        (["kind", "=", "é"], [2, 3, 14, 15]),
        (["month", "=", 3], [6, 7, 22, 23]),
        (["month", "is null"], [14, 15]),
        (["month", ">", 1], [4, 5, 6, 7, 12, 13, 20, 21, 22, 23]),
        (["and", ["kind", "=", "x y"], ["month", "=", 3]], [6, 7]),
    ],
    ids=str,
)
def test_filters_on_partitions(
    referees: Referees, merged: Path, reader: Any, condition: Any, expected: list[int]
) -> None:
    assert _ids(referees.rows(reader, merged, "lab.t", filter=condition)) == expected


@pytest.mark.parametrize("reader", READERS)
def test_a_renamed_widened_and_added_column(referees: Referees, tmp_path: Path, reader: Any) -> None:
    table = _table(tmp_path, table_schema([("id", "BIGINT"), ("v", "INT"), ("s", "STRING")]))
    arrow = pa.schema([("id", pa.int64()), ("v", pa.int32()), ("s", pa.string())])
    table.append(table.write(pa.Table.from_pylist([{"id": i, "v": i * 10, "s": str(i)} for i in range(5)], arrow)))
    base = table.schema
    evolved = (
        base.fields[0],
        DataField(1, "w", parse("BIGINT")),
        DataField(3, "v", parse("STRING")),
        DataField(2, "t", parse("STRING")),
    )
    table.evolve(replace(base, id=1, fields=evolved, highest_field_id=3))
    arrow = pa.schema([("id", pa.int64()), ("w", pa.int64()), ("v", pa.string()), ("t", pa.string())])
    rows = [{"id": 5, "w": 2**40, "v": "new", "t": "x"}]
    table.append(table.write(pa.Table.from_pylist(rows, schema=arrow)))
    found = sorted(referees.rows(reader, tmp_path, "lab.t"))
    assert found == [[i, i * 10, None, str(i)] for i in range(5)] + [[5, 2**40, "new", "x"]]
    assert _ids(referees.rows(reader, tmp_path, "lab.t", filter=["w", ">", 30])) == [4, 5]
    assert _ids(referees.rows(reader, tmp_path, "lab.t", filter=["v", "is null"])) == [0, 1, 2, 3, 4]
    assert _ids(referees.rows(reader, tmp_path, "lab.t", filter=["v", "=", "new"])) == [5]


@pytest.mark.parametrize("partition_keys", [[], ["kind"]])
def test_what_pypaimon_commits_is_planned_and_appended_to(
    referees: Referees, tmp_path: Path, partition_keys: list[str]
) -> None:
    columns = [("id", "BIGINT"), ("kind", "STRING")]
    referees.create(tmp_path, "lab.t", columns, partition_keys=partition_keys, options={"metadata.stats-mode": "full"})
    referees.append(tmp_path, "lab.t", [[1, "a"], [2, "b"]])
    referees.append(tmp_path, "lab.t", [[3, "a"], [4, None]])
    path = str(tmp_path / "lab.db" / "t")
    store, snapshots = LocalStore(), SnapshotManager(LocalStore(), path)
    schema = schema_file.loads(store.read(f"{path}/schema/schema-0"), source="schema-0")
    latest = snapshots.latest()
    assert latest is not None
    files = plan_files(store, path, latest, schema)
    assert all(store.size(f.path) == f.size for f in files)
    ids = [n for f in files for n in pq.ParquetFile(f.path).read(columns=["id"])["id"].to_pylist()]
    assert sorted(ids) == [1, 2, 3, 4]
    for file in files:
        found = file_statistics(file.meta, schema)[0]
        column = pq.ParquetFile(file.path).read(columns=["id"])["id"].to_pylist()
        assert (found.minimum, found.maximum, found.null_count) == (min(column), max(column), 0)
    if partition_keys:
        assert sorted(f.partition for f in files if f.partition != (None,)) == [("a",), ("a",), ("b",)]
        assert len(plan_files(store, path, latest, schema, partition_filter=lambda p: p == ("b",))) == 1
    table = Built(store, schema, path=path)
    arrow = pa.schema([("id", pa.int64()), ("kind", pa.string())])
    partition = ("a",) if partition_keys else ()
    appended = table.append(table.write(pa.table({"id": [5], "kind": ["a"]}, schema=arrow), partition), user="lakebed")
    assert (appended.id, appended.total_record_count) == (3, 5)
    referees.append(tmp_path, "lab.t", [[6, "b"]])
    for reader in READERS:
        assert _ids(referees.rows(reader, tmp_path, "lab.t")) == [1, 2, 3, 4, 5, 6]
    assert sum(f.meta.row_count for f in table.plan()) == 6


def test_java_finds_the_files_of_every_spelling(java: Any, tmp_path: Path) -> None:
    """Java derives the directory from the values, so that it finds nothing where ours is spelt in another way."""
    columns = [
        ("id", "BIGINT"),
        ("kind", "STRING"),
        ("month", "INT"),
        ("dt", "DATE"),
        ("ts", "TIMESTAMP(3)"),
        ("price", "DECIMAL(10, 2)"),
        ("ok", "BOOLEAN"),
        ("ratio", "DOUBLE"),
    ]
    keys = [name for name, _ in columns[1:]]
    table = _table(tmp_path, table_schema(columns, partition_keys=keys, options={"manifest.merge-min-count": "4"}))
    arrow = pa.schema(
        [
            ("id", pa.int64()),
            ("kind", pa.string()),
            ("month", pa.int32()),
            ("dt", pa.date32()),
            ("ts", pa.timestamp("ms")),
            ("price", pa.decimal128(10, 2)),
            ("ok", pa.bool_()),
            ("ratio", pa.float64()),
        ]
    )
    kinds = ["a/b=c d", "é", None, "", "%", "{x}"]
    millis = [0, -1, 1_715_644_800_123, 1_715_644_800_000, 1_715_644_860_000, 1_715_644_801_100]
    ratios = [1e10, 1e-5, 0.5, -0.0]
    for i in range(12):
        kind, month, ok, ratio = kinds[i % 6], None if i == 7 else i % 4, i % 2 == 0, ratios[i % 4]
        price, ts = Decimal(i) / 4, millis[i % 6]
        row = dict(zip(arrow.names, (i, kind, month, 19857 + i, ts, price, ok, ratio), strict=True))
        data = pa.Table.from_pylist([row], schema=arrow)
        partition = (kind, month, 19857 + i, ts * 1_000_000, price, ok, ratio)
        table.append(table.write(data, partition, store_decimal_as_integer=True))
    assert _ids(java.rows(tmp_path, "lab.t")) == list(range(12))
    assert _ids(java.rows(tmp_path, "lab.t", filter=["month", "=", 3])) == [3, 11]
    assert _ids(java.rows(tmp_path, "lab.t", filter=["kind", "is null"])) == [2, 8]
    assert _ids(java.rows(tmp_path, "lab.t", filter=["ok", "=", True])) == [0, 2, 4, 6, 8, 10]

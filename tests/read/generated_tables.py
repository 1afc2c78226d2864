"""Tables of every kind that a read is planned for, made at random from a seed, each with filters of its rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, IsNotNull

import lakebed
from format.building import parquet_bytes, table_schema
from format.laid_out import LaidOut, Vector
from lakebed.format import binary_row
from lakebed.format.live_files import partition_types, plan_files
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.snapshot import SnapshotManager
from lakebed.physical import parse
from lakebed.store import LocalStore
from read.foreign_files import FORMATS, commit, put_rows
from read.index_encoder import bitmap, container
from read.keyed_tables import DELETE, INSERT, UPDATE_AFTER, KeyedTable, Record
from read.test_data_evolution import EVOLVING

PARTITIONED = [("p", "INT"), ("k", "INT"), ("v", "STRING")]


@dataclass(frozen=True)
class Where:
    """A filter that a column is a value, or with `above` a greater one."""

    column: str
    value: int | str
    above: bool = False

    @property
    def text(self) -> str:
        """As SQL."""
        return f"{self.column} {'>' if self.above else '='} {self.value!r}"

    @property
    def pushed(self) -> list[Filter]:
        """As Spark pushes it to a data source."""
        kind = GreaterThan if self.above else EqualTo
        return [IsNotNull((self.column,)), kind((self.column,), self.value)]

    def lets_through(self, row: Mapping[str, Any]) -> bool:
        found = row[self.column]
        return found is not None and (found > self.value if self.above else found == self.value)


def equal(column: str, value: int | str) -> Where:
    return Where(column, value)


def above(column: str, value: int) -> Where:
    return Where(column, value, above=True)


@dataclass(frozen=True)
class Made:
    """A table `db.t` of a warehouse."""

    lake: lakebed.Lake
    wheres: Sequence[Where]


def _rows(chance: random.Random, count: int, **fixed: Any) -> list[dict[str, Any]]:
    return [
        {"k": chance.randrange(20), "v": chance.choice([None, *(str(n) for n in range(9))])} | fixed
        for _ in range(count)
    ]


def _alter(lake: lakebed.Lake, *changes: tuple[str, str, str], branch: str = "main") -> None:
    """Each change is an action, a column, and a name or a type."""
    key = {"renameColumn": "newName", "addColumn": "dataType", "updateColumnType": "newDataType"}
    made = [{"action": action, "fieldNames": [column], key[action]: text} for action, column, text in changes]
    lake.tables.alter_table("db", "t", made, branch=branch)


def partitions(warehouse: Path, chance: random.Random) -> Made:
    """Files of three partitions and of the one that has no value, in every format."""
    lake = lakebed.open(warehouse)
    lake.tables.create_table("db", "t", PARTITIONED, partition_keys=["p"])
    for p in (1, 2, 3, None, chance.choice([1, 2, 3])):
        put_rows(lake, "db.t", chance.choice(FORMATS), _rows(chance, 4, p=p), partition=(p,))
    return Made(lake, [equal("p", 2), above("p", 1), equal("p", 9), equal("k", 3)])


def evolution(warehouse: Path, chance: random.Random) -> Made:
    """Three versions: a column is widened, one renamed, its old name given to another one."""
    lake = lakebed.open(warehouse)
    lake.tables.create_table("db", "t", [("k", "INT"), ("v", "STRING"), ("n", "INT")])
    put_rows(lake, "db.t", "parquet", _rows(chance, 5, n=1))
    _alter(lake, ("updateColumnType", "k", "BIGINT"), ("renameColumn", "v", "w"))
    put_rows(lake, "db.t", chance.choice(FORMATS), [{"k": 2**40, "w": "x", "n": 2}])
    _alter(lake, ("renameColumn", "n", "m"), ("addColumn", "v", "INT"))
    put_rows(lake, "db.t", chance.choice(FORMATS), [{"k": chance.randrange(9), "w": None, "m": 3, "v": 7}])
    return Made(lake, [above("k", 20), equal("w", "x"), equal("v", 7), equal("m", 1)])


def nested(warehouse: Path, chance: random.Random) -> Made:
    """Members of structs, also in arrays and maps, are renamed, added and dropped."""
    lake = lakebed.open(warehouse)
    row = {"type": "ROW", "fields": [{"name": "a", "type": "INT"}, {"name": "b", "type": "STRING"}]}
    columns: list[tuple[str, Any]] = [("k", "INT"), ("r", row), ("l", {"type": "ARRAY", "element": row})]
    columns.append(("m", {"type": "MAP", "key": "STRING", "value": row}))
    lake.tables.create_table("db", "t", columns)

    def some(**members: Any) -> dict[str, Any] | None:
        return chance.choice([None, {name: chance.choice([None, value]) for name, value in members.items()}])

    put_rows(lake, "db.t", "parquet", [{"k": n, "r": some(a=n, b="x"), "l": [some(a=n)]} for n in range(4)])
    for path in (["r"], ["l", "element"], ["m", "value"]):
        lake.tables.alter_table(
            "db",
            "t",
            [
                {"action": "renameColumn", "fieldNames": [*path, "a"], "newName": "c"},
                {"action": "addColumn", "fieldNames": [*path, "a"], "dataType": "BIGINT"},
                {"action": "dropColumn", "fieldNames": [*path, "b"]},
            ],
        )
    later = [{"k": 9, "r": some(a=2**40, c=1), "l": [], "m": [("x", some(c=5))]}]
    put_rows(lake, "db.t", chance.choice(("parquet", "avro")), later)
    return Made(lake, [above("k", 5)])


def fallback(warehouse: Path, chance: random.Random) -> Made:
    """Partition 1 is on the main branch, 2 and 3 only on the fallback branch, which has rows of 1 too."""
    return _fallback(warehouse, chance, (), None)


def _fallback(warehouse: Path, chance: random.Random, changes: Sequence[tuple[str, str, str]], bad: str | None) -> Made:
    lake = lakebed.open(warehouse)
    lake.tables.create_table("db", "t", PARTITIONED, partition_keys=["p"])
    put_rows(lake, "db.t", "parquet", _rows(chance, 3, p=1), partition=(1,))
    for p in (2, 3):
        put_rows(lake, "db.t", "parquet", [*_rows(chance, 3, p=p), {"k": 1, "v": bad}], partition=(p,))
    lake.branches("db.t").create("b", snapshot=3)
    _take_out(lake, [(2,), (3,)])
    if changes:
        _alter(lake, *changes)
        _alter(lake, *changes, branch="b")
    lake.tables.alter_table("db", "t", [{"action": "setOption", "key": "scan.fallback-branch", "value": "b"}])
    return Made(lake, [equal("p", 2), equal("p", 1), above("p", 1), above("k", 3)])


def _take_out(lake: lakebed.Lake, partitions: Sequence[tuple[Any, ...]]) -> None:
    """Commit that the main branch of `db.t` has no rows of these partitions any more."""
    path, schema = lake.tables.table_path("db.t"), lake.schema("db.t")
    types, latest = partition_types(schema), SnapshotManager(LocalStore(), path).latest()
    assert latest is not None
    encode = binary_row.codec(types).encode
    gone = [
        ManifestEntry(Kind.DELETE, encode(file.partition), file.bucket, file.total_buckets, file.meta)
        for file in plan_files(LocalStore(), path, latest, schema)
        if file.partition in partitions
    ]
    commit(path, gone, types, schema.id)


def _laid_out(warehouse: Path, columns: Sequence[tuple[str, str]], **parts: Any) -> LaidOut:
    (warehouse / "db.db").mkdir(parents=True, exist_ok=True)
    return LaidOut(LocalStore(), str(warehouse / "db.db" / "t"), table_schema(columns, **parts))


def deletes(warehouse: Path, chance: random.Random) -> Made:
    """Deletion vectors of some files, one of them without rows that are left."""
    table = _laid_out(warehouse, [("k", "BIGINT"), ("v", "STRING")])
    for number in range(4):
        rows = chance.randint(3, 9)
        data = pa.table({"k": range(number * 10, number * 10 + rows), "v": [str(n % 3) for n in range(rows)]})
        table.add(f"{number}.parquet", parquet_bytes(data), rows)
        if number:
            gone = range(rows) if number == 1 else sorted(chance.sample(range(rows), 2))
            table.delete({f"{number}.parquet": Vector(gone, bits=chance.choice((32, 64)))})
    table.commit()
    return Made(lakebed.open(warehouse), [equal("v", "1"), above("k", 15)])


def keys(warehouse: Path, chance: random.Random) -> Made:
    """Rows of a primary key, several of one key in files of several levels and two buckets."""
    table = KeyedTable(warehouse, "t", {"k": ("INT", pa.int32()), "v": ("INT", pa.int32())}, options={"bucket": "2"})
    for number, level in enumerate((5, 0, 0)):
        for bucket in (0, 1):
            chosen = [k for k in range(12) if k % 2 == bucket and chance.random() < 0.6] or [bucket]
            kinds = (INSERT, INSERT, UPDATE_AFTER, DELETE) if level == 0 else (INSERT,)
            found = [
                Record(chance.choice(kinds), number * 100 + n, {"k": k, "v": chance.randrange(9)})
                for n, k in enumerate(chosen)
            ]
            table.add(found, level=level, bucket=bucket)
    table.commit()
    return Made(lakebed.open(warehouse), [equal("k", 4), above("k", 8), equal("v", 3)])


def indexes(warehouse: Path, chance: random.Random) -> Made:
    """Files whose manifest entries hold a bitmap index of `v`."""
    table = _laid_out(warehouse, [("k", "BIGINT"), ("v", "STRING")])
    for number in range(4):
        values = [chance.choice([None, *"abcdef"[number : number + 2]]) for _ in range(5)]
        encoded = bitmap(parse("STRING"), values)
        data = pa.table({"k": range(5), "v": pa.array(values, pa.string())})
        index = container({"v": {"bitmap": encoded}})
        table.add(f"{number}.parquet", parquet_bytes(data), 5, embedded_file_index=index)
    table.commit()
    return Made(lakebed.open(warehouse), [equal("v", "a"), equal("v", "c"), equal("v", "z"), equal("k", 3)])


def parts(warehouse: Path, chance: random.Random) -> Made:
    """Data evolution: the columns of some rows lie in several files."""
    table = _laid_out(warehouse, [("k", "BIGINT"), ("v", "STRING")], options=EVOLVING)
    for group in range(3):
        start = group * 4
        both = {"k": pa.array(range(start, start + 4)), "v": pa.array([str(chance.randrange(3)) for _ in range(4)])}
        newer = {"v": pa.array([chance.choice([None, "new"]) for _ in range(4)], pa.string())}
        for number, columns in enumerate((both, newer) if group else (both,)):
            meta = {"first_row_id": start, "min_sequence_number": number, "max_sequence_number": number}
            name = f"{group}-{number}.parquet"
            table.add(name, parquet_bytes(pa.table(columns)), 4, write_cols=tuple(columns), **meta)
    table.commit()
    return Made(lakebed.open(warehouse), [equal("v", "new"), above("k", 5)])


TABLES: dict[str, Callable[[Path, random.Random], Made]] = {
    made.__name__: made for made in (partitions, evolution, nested, fallback, deletes, keys, indexes, parts)
}


def make(kind: str, seed: int, directory: Path) -> Made:
    """The table of a kind and a seed, in a new warehouse."""
    warehouse = directory / f"{kind}-{seed}"
    warehouse.mkdir()
    return TABLES[kind](warehouse, random.Random(f"{kind} {seed}"))


def with_stored_texts(warehouse: Path, *texts: str | None) -> lakebed.Lake:
    """`db.t`, whose column `v` held these texts and is INT now."""
    lake = lakebed.open(warehouse)
    lake.tables.create_table("db", "t", [("k", "INT"), ("v", "STRING")])
    put_rows(lake, "db.t", "parquet", [{"k": n, "v": text} for n, text in enumerate(texts)])
    _alter(lake, ("updateColumnType", "v", "INT"))
    put_rows(lake, "db.t", "parquet", [{"k": 100, "v": 5}])
    return lake


def with_texts_in_the_fallback(warehouse: Path, text: str | None) -> lakebed.Lake:
    """As `with_stored_texts`, with the text in partitions that only the fallback branch has."""
    return _fallback(warehouse, random.Random(1), [("updateColumnType", "v", "INT")], text).lake

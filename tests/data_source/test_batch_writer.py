"""`df.write.format("lakebed")`: the rows of a frame, all or none, or a refusal that names what to call."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

import lakebed
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import ConflictError, LakebedError
from lakebed.format.live_files import plan_files
from lakebed.model import Date, Field, Int32, Int64, List, Option, String, Struct, UInt8
from lakebed.model.extra import ENUM, Extra
from lakebed.spark import table_writer

batch_writer = pytest.importorskip(
    "lakebed.data_source.batch_writer", reason="PySpark before 4.1 hands no batches to a source", exc_type=ImportError
)

COLUMNS = (
    Field("p", String()),
    Field("k", Int64()),
    Field("d", Option(Date())),
    Field("s", Option(Struct((Field("a", Option(Int32())), Field("b", Option(List(Option(String())))))))),
)
_PART = StructType([StructField("a", IntegerType()), StructField("b", ArrayType(StringType()))])


def shape(**columns: DataType) -> StructType:
    return StructType([StructField(name, type_) for name, type_ in columns.items()])


#: The same columns in another order, one narrower and in another case.
FRAME = shape(s=_PART, K=IntegerType(), p=StringType(), d=DateType())
PLAIN = shape(k=LongType(), v=StringType())
Rows: TypeAlias = Sequence[dict[str, Any]]


@pytest.fixture(autouse=True)
def numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of Spark every attempt of a task has a number, too."""
    count = itertools.count()
    monkeypatch.setattr(batch_writer, "attempted", lambda task: replace(task, number=next(count)))


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", COLUMNS, partition_keys=["p"])
    lake.tables.create_table("db", "u", [Field("k", Int64()), Field("v", Option(String()))])
    return lake


def begin(lake: lakebed.Lake, table: str, frame: StructType, overwrite: bool = False, **options: str) -> Any:
    """The writer as it comes to the tasks, and to the process that commits: as bytes."""
    given = {"path": table, "warehouse": lake.warehouse, **{k.replace("_", "-"): v for k, v in options.items()}}
    writer = LakebedDataSource(given).writer(frame, overwrite)
    return lambda: cloudpickle.loads(cloudpickle.dumps(writer))


def batch(frame: StructType, rows: Rows) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=to_arrow_schema(frame, timezone="UTC"))


def put(
    lake: lakebed.Lake, table: str, frame: StructType, tasks: Sequence[Sequence[dict[str, Any]]], **parts: Any
) -> None:
    writer = begin(lake, table, frame, **parts)
    messages = [writer().write(iter([batch(frame, rows)] if rows else [])) for rows in tasks]
    writer().commit([cloudpickle.loads(cloudpickle.dumps(m)) for m in messages])


def row(k: int, p: str) -> dict[str, Any]:
    return {"K": k, "p": p, "d": None, "s": {"a": k, "b": ["x", None]}}


def rows_of(lake: lakebed.Lake, table: str) -> list[dict[str, Any]]:
    """What the other half of the format reads."""
    source = LakebedDataSource({"path": table, "warehouse": lake.warehouse})
    reader = source.reader(source.schema())
    found = [r for part in reader.partitions() for b in reader.read(part) for r in b.to_pylist()]
    return sorted(found, key=repr)


def live(lake: lakebed.Lake, table: str) -> list[Any]:
    handle = lake.table(table)
    snapshot = handle.snapshots.latest()
    assert snapshot is not None
    return list(plan_files(handle.store, handle.table_path, snapshot, handle.schema()))


def data_on_disk(lake: lakebed.Lake, table: str) -> int:
    return len(list(Path(lake.table(table).table_path).rglob("bucket-*/*")))


def test_rows_come_under_the_tables_names_and_types_by_partition(lake: lakebed.Lake) -> None:
    put(lake, "db.t", FRAME, [[row(1, "a"), row(2, "b"), row(3, "a")], [], [row(4, "a")]])
    wanted = [{"p": p, "k": k, "d": None, "s": {"a": k, "b": ["x", None]}} for k, p in enumerate("abaa", 1)]
    assert rows_of(lake, "db.t") == sorted(wanted, key=repr)
    # Rows of one task are brought together by partition.
    assert sorted((f.partition, f.meta.row_count) for f in live(lake, "db.t")) == [
        (("a",), 1),
        (("a",), 2),
        (("b",), 1),
    ]
    snapshot = lake.table("db.t").snapshots.latest()
    assert snapshot is not None
    assert (snapshot.id, snapshot.commit_kind, snapshot.operation) == (1, "APPEND", "WRITE")


def test_an_overwrite_replaces_the_partitions_of_its_rows_or_the_table_without_any(lake: lakebed.Lake) -> None:
    put(lake, "db.t", FRAME, [[row(1, "a"), row(2, "b")]])
    put(lake, "db.t", FRAME, [[row(3, "a")]], overwrite=True)
    assert [(r["p"], r["k"]) for r in rows_of(lake, "db.t")] == [("a", 3), ("b", 2)]
    put(lake, "db.t", FRAME, [[]], overwrite=True)
    assert len(rows_of(lake, "db.t")) == 2
    put(lake, "db.u", PLAIN, [[{"k": 1}], [{"k": 2}]])
    put(lake, "db.u", PLAIN, [[{"k": 3}]], overwrite=True)
    assert [r["k"] for r in rows_of(lake, "db.u")] == [3]
    put(lake, "db.u", PLAIN, [], overwrite=True)
    assert rows_of(lake, "db.u") == []


def test_a_run_is_done_once_and_a_branch_has_rows_of_its_own(lake: lakebed.Lake) -> None:
    late = begin(lake, "db.u", PLAIN, run_id="r")
    message = late().write(iter([batch(PLAIN, [{"k": 1}])]))
    for _ in range(2):
        put(lake, "db.u", PLAIN, [[{"k": 1}]], run_id="r")
    late().commit([message])
    assert ([r["k"] for r in rows_of(lake, "db.u")], data_on_disk(lake, "db.u")) == ([1], 1)
    lake.table("db.u").branches().create("b")
    put(lake, "db.u", PLAIN, [[{"k": 2}]], branch="b")
    put(lake, "db.u@branch:b", PLAIN, [[{"k": 3}]])
    assert [r["k"] for r in rows_of(lake, "db.u")] == [1]
    assert {2, 3} <= {r["k"] for r in rows_of(lake, "db.u@branch:b")}
    with pytest.raises(LakebedError, match="name the branch once"):
        begin(lake, "db.u@branch:b", PLAIN, branch="c")


def test_what_fails_leaves_nothing(lake: lakebed.Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = begin(lake, "db.u", PLAIN)
    done = writer().write(iter([batch(PLAIN, [{"k": 1}])]))
    with pytest.raises(LakebedError, match="LB6502"):
        writer().write(iter([batch(PLAIN, [{"k": 2}, {"k": None}])]))
    assert data_on_disk(lake, "db.u") == 1
    writer().abort([done, None])
    assert data_on_disk(lake, "db.u") == 0

    def lose(*_: Any, **__: Any) -> None:
        raise ConflictError.of("LB5070", "others were first", path="db.u")

    done = writer().write(iter([batch(PLAIN, [{"k": 1}])]))
    with monkeypatch.context() as patch:
        patch.setattr(table_writer, "commit", lose)
        with pytest.raises(ConflictError):
            writer().commit([done])
    # Spark says so after each commit that fails, also of one that may have been made.
    writer().abort([done])
    assert data_on_disk(lake, "db.u") == 0
    done = writer().write(iter([batch(PLAIN, [{"k": 1}])]))
    writer().commit([done])
    writer().abort([done])
    assert [r["k"] for r in rows_of(lake, "db.u")] == [1]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (shape(k=LongType()), ["LB5609", "no column 'v'"]),
        (shape(k=LongType(), v=StringType(), w=StringType()), ["LB5609", "'w' is no column"]),
        (shape(k=LongType(), K=LongType(), v=StringType()), ["LB5609", "'K' is given twice"]),
        (
            shape(k=DecimalType(10, 0), v=StringType()),
            ["LB5609", "is bigint, the rows have decimal(10,0)", "append(df)"],
        ),
        (shape(k=LongType(), v=IntegerType()), ["LB5609", "is string, the rows have int"]),
    ],
)
def test_rows_of_other_columns_are_refused(lake: lakebed.Lake, frame: StructType, said: Sequence[str]) -> None:
    with pytest.raises(LakebedError) as caught:
        begin(lake, "db.u", frame)
    assert all(text in str(caught.value) for text in said), str(caught.value)


TABLES: dict[str, tuple[Sequence[Any], dict[str, Any], Sequence[str]]] = {
    "key": ([Field("k", Int64())], {"primary_keys": ["k"], "options": {"bucket": "2"}}, ["primary key", "upsert(df)"]),
    "bucket": ([Field("k", Int64())], {"options": {"bucket": "2", "bucket-key": "k"}}, ["has buckets", "append(df)"]),
    "unsigned": ([Field("k", UInt8())], {}, ["values of column k are checked for UInt8"]),
    "enum": ([Field("k", String(), Extra({ENUM: ["a"]}))], {}, ["values of column k are checked by the column's"]),
    "member": ([Field("k", Struct((Field("a", UInt8()),)))], {}, ["values of column k.a are"]),
    "items": ([Field("k", List(Int32(), 3))], {}, ["values of column k are lists of 3 items"]),
    "digits": (["k TIMESTAMP(3)"], {}, ["TIMESTAMP(3)"]),
    "length": (["k VARCHAR(3)"], {}, ["VARCHAR(3)"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_whose_rows_need_more_are_refused(lake: lakebed.Lake, name: str) -> None:
    fields, parts, said = TABLES[name]
    lake.tables.create_table("db", name, list(fields), **parts)
    with pytest.raises(LakebedError) as caught:
        begin(lake, f"db.{name}", shape(k=LongType()))
    assert all(text in str(caught.value) for text in ("LB5608", *said)), str(caught.value)


def test_spark_writes_by_the_format(spark: SparkSession, lake: lakebed.Lake) -> None:
    lake.register(spark)
    rows = spark.range(0, 100, 1, 2).selectExpr(
        "named_struct('a', cast(id AS int), 'b', array('x')) AS s",
        "id AS k",
        "string(id % 2) AS p",
        "DATE'2024-01-01' AS d",
    )
    rows.write.format("lakebed").mode("append").save("db.t")
    rows.where("p = '1' AND k < 9").write.format("lakebed").mode("overwrite").save("db.t")
    found = lake.read(spark, "db.t").selectExpr("p", "k", "s.a", "d").collect()
    assert sorted(r.k for r in found) == sorted([*range(0, 100, 2), 1, 3, 5, 7])
    assert all(r.k == r.a for r in found)
    before = data_on_disk(lake, "db.t")
    # One task, since Spark calls `abort` while other tasks may write still.
    bad = rows.selectExpr("s", "if(k = 71, NULL, k) AS k", "p", "d").coalesce(1)
    with pytest.raises(PySparkException, match="LB6502"):
        bad.write.format("lakebed").mode("append").save("db.t")
    assert (lake.count("db.t"), data_on_disk(lake, "db.t")) == (54, before)
    with pytest.raises(AnalysisException, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
        rows.write.format("lakebed").save("db.t")

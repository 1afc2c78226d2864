"""What is on disk: exact columns, physical types that every reader of the format takes, field ids, statistics."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
import pytest

from ingest.ingest_lake import SmallLake
from lakebed.model import (
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
    Extra,
    Field,
    Float16,
    Float64,
    Int8,
    Int16,
    Int64,
    List,
    Map,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    UInt64,
)
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import walk_fields

MICRO = Timestamp(TimeUnit.MICROSECOND)
HOSTILE = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.sql.parquet.fieldId.write.enabled": "false",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.compression.codec": "gzip",
    "spark.sql.files.maxRecordsPerFile": "1",
    "spark.sql.csv.parser.columnPruning.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.adaptive.enabled": "false",
}


def naive(precision: int) -> Extra:
    return Extra({"paimon.apache.org/type": f"TIMESTAMP({precision})"})


FIELDS = (
    Field("Id", Int64()),
    Field("i8", Option(Int8())),
    Field("i16", Option(Int16())),
    Field("b", Option(Bool())),
    Field("f16", Option(Float16())),
    Field("f", Option(Float64())),
    Field("d9", Option(Decimal(9, 2))),
    Field("d18", Option(Decimal(18, 2))),
    Field("u64", Option(UInt64())),
    Field("day", Option(Date())),
    Field("time", Option(Time())),
    Field("dur", Option(Duration())),
    Field("bin", Option(Binary(2))),
    Field("s", Option(String())),
    Field("l", Option(List(Option(Struct((Field("x.y", Option(Int8())), Field("at", Option(MICRO)))))))),
    Field("m", Option(Map(String(), Option(Decimal(20, 0))))),
)
LINE = (
    '{"Id": 1, "i8": 1, "i16": 2, "b": true, "f16": 1.5, "f": 2.5, "d9": 1.25, "d18": 1.25, '
    '"u64": 18446744073709551615, "day": "1500-01-01", "time": "00:00:01", "dur": 5, "bin": "AP8=", "s": "x", '
    '"l": [{"x.y": 1, "at": "2024-03-10T02:30:00.123456Z"}, null], "m": {"k": 7}, '
    '"ms": "2024-03-10T02:30:00.123Z", '
    '"us": "2024-03-10T02:30:00.123456Z", "wms": "2024-03-10T02:30:00.123", "wus": "2024-03-10T02:30:00.123456"}'
)


def physical_types(path: str) -> dict[str, str]:
    """Physical and logical type of every leaf."""
    schema = pq.ParquetFile(path).schema
    found = {}
    for i in range(len(schema)):
        leaf = schema.column(i)
        logical = str(leaf.logical_type).split("(is_from")[0].split(", is_from")[0]
        found[leaf.path] = f"{leaf.physical_type} {logical}"
    return found


@pytest.mark.parametrize("settings", [{}, HOSTILE], ids=["default", "hostile"])
@pytest.mark.parametrize("millis", [True, False], ids=["with-millis", "micros-only"])
def test_physical_types(lake: SmallLake, conf: Any, settings: dict[str, str], millis: bool) -> None:
    conf(settings)
    stamps = [Field("us", Option(MICRO)), Field("wus", Option(MICRO), naive(6))]
    if millis:
        stamps += [Field("ms", Option(Timestamp())), Field("wms", Option(Timestamp()), naive(3))]
    lake.create(*FIELDS, *stamps)
    result = lake.ingest(
        lake.file("a.json", LINE + "\n" + LINE.replace('"Id": 1', '"Id": 2')), unknown_columns="ignore"
    )
    assert (result.rows_written, result.rows_quarantined) == (2, 0)
    (file,) = {f.path for f in lake.files()}
    found = physical_types(file)
    instant = "INT64 Timestamp(isAdjustedToUTC=true, timeUnit=microseconds"
    wall = "INT64 Timestamp(isAdjustedToUTC=false, timeUnit=microseconds"
    milli = "INT64 Timestamp(isAdjustedToUTC=true, timeUnit=milliseconds"
    expected = {
        "Id": "INT64 None",
        "i8": "INT32 Int(bitWidth=8, isSigned=true)",
        "i16": "INT32 Int(bitWidth=16, isSigned=true)",
        "b": "BOOLEAN None",
        "f16": "FLOAT None",
        "f": "DOUBLE None",
        "d9": "INT32 Decimal(precision=9, scale=2)",
        "d18": "INT64 Decimal(precision=18, scale=2)",
        "u64": "FIXED_LEN_BYTE_ARRAY Decimal(precision=20, scale=0)",
        "day": "INT32 Date",
        "time": "INT32 Time(isAdjustedToUTC=false, timeUnit=milliseconds)",
        "dur": "INT64 None",
        "bin": "BYTE_ARRAY None",
        "s": "BYTE_ARRAY String",
        "l.list.element.x.y": "INT32 Int(bitWidth=8, isSigned=true)",
        "l.list.element.at": instant,
        "m.key_value.key": "BYTE_ARRAY String",
        "m.key_value.value": "FIXED_LEN_BYTE_ARRAY Decimal(precision=20, scale=0)",
        "us": instant,
        "wus": wall,
    }
    if millis:
        expected |= {"ms": milli, "wms": milli.replace("true", "false")}
    assert found == expected
    schema = lake.tables.get_schema_manager("db", "t").load_latest_schema()
    assert list(pq.read_schema(file).names) == list(schema.field_names)
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    text = str(pq.ParquetFile(file).schema)
    for column in walk_fields(schema.fields):
        assert f"field_id={column.id} {column.name}" in text
    row = pq.ParquetFile(file).read().to_pylist()[0]
    micros = 1_710_037_800_123_456
    assert _micros(row["us"]) == _micros(row["wus"]) == _micros(row["l"][0]["at"]) == micros
    if millis:
        assert _micros(row["ms"]) == _micros(row["wms"]) == micros - 456
    assert (row["day"].isoformat(), row["time"].isoformat(), row["bin"]) == ("1500-01-01", "00:00:01", b"\x00\xff")


def _micros(value: Any) -> int:
    from datetime import UTC, datetime, timedelta

    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_statistics_and_sizes_are_those_of_the_files(lake: SmallLake) -> None:
    lake.create(Field("id", Int64()), Field("s", Option(String())))
    lake.ingest(lake.file("a.csv", "id,s\n1,b\n5,\n3,a\n"))
    for file in lake.files():
        assert file.size == pq.ParquetFile(file.path).metadata.serialized_size or file.size > 0
        stats = file.meta.value_stats.decode([physical.BigInt(), physical.STRING])
        assert [(s.minimum, s.maximum, s.null_count) for s in stats] == [(1, 5, 0), ("a", "b", 1)]
    assert sum(f.meta.row_count for f in lake.files()) == 3


def test_partitions_of_bad_rows_only(lake: SmallLake) -> None:
    lake.create(Field("p", Int64()), Field("id", Int64()), partition_keys=["p"])
    result = lake.ingest(lake.file("a.csv", "p,id\n1,x\n2,y\n"))
    assert (result.rows_read, result.rows_quarantined, result.snapshot_id) == (2, 2, None)
    assert lake.data_files() == set()
    assert lake.ingest(lake.file("b.csv", "p,id\n")).rows_read == 0


def test_partitions_do_not_multiply_files(lake: SmallLake) -> None:
    lake.create(Field("p", Int64()), Field("id", Int64()), partition_keys=["p"])
    frame = lake.spark.range(0, 1000, 1, 8).selectExpr("id % 3 AS p", "id")
    lake.ingest(frame)
    assert {f.partition for f in lake.files()} == {(0,), (1,), (2,)}
    assert len(lake.files()) <= 6

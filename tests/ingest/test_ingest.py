"""A whole run: what is written, quarantined, remembered and repeated."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as Number
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from ingest.ingest_lake import FIRST_MOMENT, SmallLake
from lakebed.catalog import annotate
from lakebed.catalog.names import TableName
from lakebed.errors import IngestError, NotFoundError, UnsupportedError, UsageError
from lakebed.ingest.ingest import BadRowsError
from lakebed.model import (
    Bool,
    Date,
    Decimal,
    Extra,
    Field,
    Float64,
    Int32,
    Int64,
    List,
    Option,
    Schema,
    String,
    Struct,
    Timestamp,
    TimeUnit,
)

ID = Field("id", Int32())
NAME = Field("name", Option(String()))


def test_good_rows_bad_rows_and_what_is_said_of_them(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    path = lake.file("a.csv", "id,name\n1,a\nx,b\n3,\n")
    stages: list[str] = []
    result = lake.ingest(path, progress=stages.append)
    assert result.to_json() == {
        "table": "db.t",
        "run_id": result.run_id,
        "schema_id": 0,
        "rows_read": 3,
        "rows_written": 2,
        "rows_quarantined": 1,
        "snapshot_id": 1,
        "quarantine_snapshot_id": 1,
        "skipped_files": [],
        "repeated": False,
        "left_out": [],
        "ignored_columns": [],
        "dry_run": False,
        "problems": [],
        "nulled": [],
        "merged": [],
        "notices": [],
        "duration_ms": result.duration_ms,
    }
    assert [(s.properties or {})["lakebed.duration-ms"] for s in lake.snapshots()] == [str(result.duration_ms)]
    assert lake.rows(order="id") == [{"id": 1, "name": "a"}, {"id": 3, "name": None}]
    (bad,) = lake.bad()
    assert bad == {
        "run_id": result.run_id,
        "ingested_at": datetime.fromtimestamp(FIRST_MOMENT // 1000, UTC) + timedelta(milliseconds=1),
        "source_file": path,
        "source_offset": None,
        "source_line": 3,
        "raw": '{"id":"x","name":"b"}',
        "schema_id": 0,
        "problems": [{"path": "id", "code": "LB6202", "expected": "Int32", "found": "x"}],
        "replays": None,
    }
    assert stages == ["looking at the files", "writing rows", "writing bad rows to quarantine", "committing"]
    (snapshot,) = lake.snapshots()
    (quarantined,) = lake.snapshots("db.t__quarantine")
    assert snapshot.commit_user == quarantined.commit_user == f"lakebed-{result.run_id}"
    properties = dict(snapshot.properties or {})
    assert json.loads(properties["lakebed.sources"])[0]["path"] == path
    assert properties["lakebed.rows-read"] == "3"
    assert properties["lakebed.quarantine-snapshot"] == "1"
    assert not [f for f in lake.data_files() if "staging" in f]
    assert lake.tables.list_tables("db") == ["t"]


def test_a_long_value_is_shown_in_part(lake: SmallLake) -> None:
    lake.create(ID)
    lake.ingest(lake.file("a.csv", f"id\n{'y' * 500}\n"))
    (problem,) = lake.bad()[0]["problems"]
    assert problem["found"] == "y" * 200 + "…"


def test_no_rows_make_no_snapshot(lake: SmallLake) -> None:
    lake.create(ID)
    for name, text in (("a.csv", "id\n"), ("b.json", "\n"), ("c.csv", "")):
        result = lake.ingest(lake.file(name, text))
        assert (result.rows_read, result.snapshot_id, result.quarantine_snapshot_id) == (0, None, None)
    assert lake.ingest(lake.spark.range(0).select(F.col("id").cast("int"))).snapshot_id is None
    assert lake.snapshots() == []
    assert lake.data_files() == set()


# -- partitions ----------------------------------------------------------------------------------------------------


def test_partitions_by_value(lake: SmallLake, conf: Any) -> None:
    conf({"spark.sql.session.timeZone": "America/New_York"})
    text = Option(String())
    day, at = Option(Date()), Option(Timestamp())
    lake.create(
        Field("p", text),
        Field("d", day),
        Field("at", at),
        Field("n", Decimal(20, 2)),
        ID,
        partition_keys=["p", "d", "at", "n"],
    )
    lines = [
        {"p": "a/b=c", "d": "2024-01-02", "at": "2024-03-10T02:30:00Z", "n": "1.5", "id": 1},
        {"p": "a/b=c", "d": "2024-01-02", "at": "2024-03-10T02:30:00Z", "n": "1.50", "id": 2},
        {"p": "", "n": 0, "id": 3},
        {"n": 0, "id": 4},
        {"p": " ", "n": 0, "id": 5},
        {"p": "n", "n": 0, "id": 6},
        {"p": "a/b=c" * 20, "d": "1969-12-31", "at": "1969-12-31T23:59:59.999Z", "n": -1, "id": 7},
    ]
    result = lake.ingest(lake.file("a.json", "\n".join(map(json.dumps, lines))))
    assert (result.rows_written, result.rows_quarantined) == (7, 0)
    found = {f.partition: f for f in lake.files()}
    millis = 1_710_037_800_000
    assert set(found) == {
        ("a/b=c", 19724, millis * 1_000_000, Number("1.50")),
        ("", None, None, Number("0.00")),
        (None, None, None, Number("0.00")),
        (" ", None, None, Number("0.00")),
        ("n", None, None, Number("0.00")),
        ("a/b=c" * 20, -1, -1_000_000, Number("-1.00")),
    }
    assert found["a/b=c", 19724, millis * 1_000_000, Number("1.50")].meta.row_count == 2
    assert {r["id"]: r["p"] for r in lake.rows()} == {i + 1: line.get("p") for i, line in enumerate(lines)}
    assert all("bucket-0/data-" in f.path for f in found.values())
    assert len({f.rpartition("/")[0] for f in lake.data_files()}) == 4  # NULL and blank texts share a directory


def test_a_partition_column_has_to_be_there(lake: SmallLake) -> None:
    lake.create(Field("p", Int32()), ID, partition_keys=["p"])
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.csv", "id\n1\n"))
    assert [d.path for d in error.value.diagnostics] == ["p"]
    lake.ingest(lake.file("p=1/a.csv", "id\n1\n"))
    assert lake.rows() == [{"p": 1, "id": 1}]


# -- defaults and policies -----------------------------------------------------------------------------------------


def declared(lake: SmallLake, *fields: Field, extra: Extra = Extra(), schema_id: int = 0) -> None:
    """A table whose attributes are stored with it."""
    from dataclasses import replace

    from lakebed.catalog.columns import to_columns
    from lakebed.catalog.first_version import first_version

    schema = first_version(to_columns(fields), (), (), {}, None, FIRST_MOMENT)
    option = annotate(schema.fields, Schema(tuple(fields), extra))
    options = {} if option is None else {"lakebed.schema": option}
    lake.tables.create(TableName("db", "t"), replace(schema, options=options))


def with_default(name: str, type_: Any, default: Any) -> Field:
    return Field(name, Option(type_), Extra({"lakebed.dev/default": default}))


def test_null_and_missing_optional_columns_take_their_defaults(lake: SmallLake) -> None:
    declared(
        lake,
        ID,
        with_default("n", Int32(), 7),
        with_default("d", Date(), "2024-01-02"),
        with_default("s", String(), "none"),
        with_default("l", List(Int32()), [1, 2]),
        with_default("b", Bool(), False),
    )
    lake.ingest(lake.file("a.csv", "id,n\n1,\n2,5\n"))
    rest = {"d": date(2024, 1, 2), "s": "none", "l": [1, 2], "b": False}
    assert lake.rows(order="id") == [{"id": 1, "n": 7, **rest}, {"id": 2, "n": 5, **rest}]


def test_bad_rows_may_fail_the_run(lake: SmallLake) -> None:
    declared(lake, ID, Field("n", Option(Int32()), Extra({"lakebed.dev/onBadRow": "fail"})))
    path = lake.file("a.csv", "id,n\nx,1\ny,2\n1,z\n")
    with pytest.raises(BadRowsError) as error:
        lake.ingest(path)
    assert error.value.exit_code == 14
    assert [(d.code, d.path) for d in error.value.diagnostics] == [("LB6121", None), ("LB6202", "id"), ("LB6202", "n")]
    assert all(f" in '{path}:" in d.message for d in error.value.diagnostics[1:])
    assert lake.data_files() == set()
    assert not lake.tables.exists("db.t__quarantine")
    assert lake.ingest(lake.file("b.csv", "id,n\nx,1\n1,1\n")).rows_quarantined == 1


def test_a_limit_of_bad_rows(lake: SmallLake) -> None:
    lake.create(ID)
    path = lake.file("a.csv", "id\n1\nx\ny\n")
    with pytest.raises(BadRowsError) as error:
        lake.ingest(path, max_bad_rows=1)
    assert error.value.code == "LB6120"
    assert "2 of 3 rows" in str(error.value)
    assert error.value.diagnostics[1].message.endswith(f"found for example 'x' in '{path}:3'")
    assert lake.data_files() == set()
    assert lake.snapshots() == []
    with pytest.raises(BadRowsError, match="2 of 3 rows are bad, more than 66% of them"):
        lake.ingest(path, max_bad_rows=2, max_bad_share=0.66)
    assert lake.snapshots() == []
    assert lake.ingest(path, max_bad_rows=2, max_bad_share=0.67).rows_quarantined == 2
    texts = lake.parquet("a.parquet", {"id": pa.array(["1", "x"])})
    frame = lake.spark.createDataFrame([("1",), ("y",)], "id string")
    for source, example in ((texts, f"'x' in {texts!r} at offset 1"), (frame, "'y'")):
        with pytest.raises(BadRowsError) as error:
            lake.ingest(source, max_bad_rows=0)
        assert error.value.diagnostics[1].message.endswith(f"found for example {example}")


# -- once and again ------------------------------------------------------------------------------------------------


def test_a_run_id_ingests_once(lake: SmallLake) -> None:
    lake.create(ID)
    frame = lake.spark.range(3).select(F.when(F.col("id") > 0, F.col("id").cast("int")).alias("id"))
    first = lake.ingest(frame, run_id="nightly-7")
    assert lake.ingest(frame, run_id="nightly-7") == replace(first, repeated=True)
    assert first.run_id == "nightly-7"
    assert len(lake.snapshots()) == len(lake.snapshots("db.t__quarantine")) == 1
    assert lake.ingest(frame).run_id != lake.ingest(frame).run_id
    assert len(lake.snapshots()) == 3


def test_a_run_of_bad_rows_only_is_remembered_too(lake: SmallLake) -> None:
    lake.create(ID)
    path = lake.file("a.csv", "id\nx\n")
    first = lake.ingest(path, run_id="r")
    assert (first.snapshot_id, first.quarantine_snapshot_id) == (None, 1)
    assert [notice.code for notice in first.notices] == ["LB6137"]
    assert lake.ingest(path, run_id="r") == replace(first, repeated=True, notices=())
    assert lake.ingest(path).skipped_files == (path,)


def test_files_are_ingested_once_unless_asked_for_again(lake: SmallLake) -> None:
    lake.create(ID)
    a, b = lake.file("a.csv", "id\n1\n"), lake.file("b.csv", "id\n2\n")
    first = lake.ingest(a)
    second = lake.ingest([a, b])
    assert (second.rows_read, second.skipped_files) == (1, (a,))
    third = lake.ingest([a, b])
    assert (third.rows_read, third.snapshot_id, third.skipped_files) == (0, None, (a, b))
    assert len(lake.snapshots()) == 2
    again = lake.ingest(a, again=True)
    assert (again.rows_read, again.skipped_files) == (1, ())
    assert again.run_id != first.run_id
    lake.file("a.csv", "id\n3\n")
    assert lake.ingest(a).rows_read == 1
    assert sorted(r["id"] for r in lake.rows()) == [1, 1, 2, 3]


def test_the_default_run_id_is_that_of_the_files(lake: SmallLake) -> None:
    lake.create(ID)
    lake.tables.create_table("db", "u", [ID])
    a, b = lake.file("a.csv", "id\n1\n"), lake.file("b.csv", "id\n2\n")
    first = lake.ingest([a, b])
    other = lake.ingest([b, a], table="db.u")
    lake.tables.drop_table("db", "t")
    lake.create(ID)
    assert lake.ingest([b, a]).run_id == first.run_id != other.run_id


# -- zones, refusals -----------------------------------------------------------------------------------------------


def test_the_lakes_zone_rules(lake_in: Callable[[str], SmallLake], conf: Any) -> None:
    lake = lake_in("America/New_York")
    conf({"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": "false"})
    naive = Extra({"paimon.apache.org/type": "TIMESTAMP(6)"})
    micro = Timestamp(TimeUnit.MICROSECOND)
    lake.create(ID, Field("at", Timestamp()), Field("micro", micro), Field("wall", micro, naive))
    text = "id,at,micro,wall\n1,2024-07-01 00:00:00,2024-07-01T00:00:00Z,2024-07-01 00:00:00\n"
    lake.ingest(lake.file("a.csv", text))
    frame = lake.spark.sql(
        "SELECT 2 AS id, timestamp_ntz'2024-07-01 00:00:00' AS at, timestamp'2024-07-01 00:00:00Z' AS micro,"
        " timestamp'2024-07-01 04:00:00Z' AS wall"
    )
    lake.ingest(frame)
    for row in lake.rows():
        assert row["at"] == datetime(2024, 7, 1, 4, tzinfo=UTC)
        assert row["micro"] in (datetime(2024, 7, 1, 0, tzinfo=UTC), datetime(2024, 7, 1, 0))
        assert row["wall"] == datetime(2024, 7, 1, 0)


def test_tables_that_are_not_written(lake: SmallLake) -> None:
    path = lake.file("a.csv", "id\n1\n")
    with pytest.raises(NotFoundError):
        lake.ingest(path, table="db.none")
    lake.tables.create_table("db", "keyed", [ID], primary_keys=["id"], options={"bucket": "-2"})
    with pytest.raises(UnsupportedError):
        lake.ingest(path, table="db.keyed")
    lake.create(ID)
    for parts in ({"unknown_columns": "drop"}, {"max_bad_rows": -1}, {"max_bad_share": 5}, {"run_id": " "}):
        with pytest.raises(UsageError) as error:
            lake.ingest(path, **parts)
        assert error.value.code == "LB6109"
    with pytest.raises(UsageError):
        lake.ingest(path, table="db.t__quarantine")
    with pytest.raises(UsageError):
        lake.ingest(lake.spark.range(1), format="csv")


def test_a_session_with_another_calendar_writes_the_same_days(lake: SmallLake, conf: Any) -> None:
    lake.create(Field("d", Date()))
    conf({"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY"})
    lake.ingest(lake.file("a.csv", "d\n1500-01-01\n"))
    (file,) = lake.files()
    assert pq.read_table(file.path)["d"].to_pylist() == [date(1500, 1, 1)]


def test_old_datetime_patterns_are_refused(lake: SmallLake, conf: Any) -> None:
    lake.create(Field("d", Date()))
    conf({"spark.sql.legacy.timeParserPolicy": "LEGACY"})
    with pytest.raises(UsageError) as error:
        lake.ingest(lake.file("a.csv", "d\n01.01.2024\n"), options={"dateFormat": "dd.MM.yyyy"})
    assert error.value.code == "LB6123"


#: What Spark says of its own accord only while it reads rows.
NO_PATTERNS = ["qqq", "yyyy-MM-dd'", "bbb", "YYYY-MM-dd", "e", "u", "MMMMM", "#", "yyyy]", "SSSSSSSSSS", "rfc3339", "V"]


@pytest.mark.parametrize("source", ["csv", "frame", "merge"])
def test_patterns_that_are_none_are_refused_by_name_before_a_row_is_read(lake: SmallLake, source: str) -> None:
    lake.create(Field("d", Option(Date())), Field("t", Option(Timestamp())))
    options = {"dateFormat": ["dd.MM.yyyy", *NO_PATTERNS], "timestampFormat": "qqq", "timestampNTZFormat": "yyyy[-MM]"}
    columns = "d,t,n" if source == "merge" else "d,t"
    given = lake.spark.sql("select '1' d, '2' t") if source == "frame" else lake.file("a.csv", f"{columns}\n,,\n")
    with pytest.raises(UsageError) as error:
        lake.ingest(given, options=options, merge_schema=source == "merge" or None)
    found = [(d.code, d.path, d.found) for d in error.value.diagnostics]
    assert found == [*(("LB6107", "dateFormat", p) for p in NO_PATTERNS), ("LB6107", "timestampFormat", "qqq")]
    assert (len(lake.tables.get_schema_manager("db", "t").versions()), lake.snapshots()) == (1, [])


def test_many_columns_and_nested_ones(lake: SmallLake) -> None:
    inner = Struct((Field("a", Option(Int64())), Field("b", Option(List(Option(Struct((Field("c", Float64()),))))))))
    lake.create(ID, *(Field(f"n{i}", Option(Int32())) for i in range(120)), Field("s", Option(inner)))
    line = {"id": 1, "n7": 7, "s": {"a": 1, "b": [{"c": 1.5}, None]}}
    lake.ingest(lake.file("a.json", json.dumps(line)))
    (row,) = lake.rows()
    assert {k: v for k, v in row.items() if v is not None} == line

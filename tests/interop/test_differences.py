"""Known differences: Lakebed gives what the format demands, and the referees still give what they gave."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakebed
from interop.agreement import READERS, declare, keys_kept, rows
from interop.declared import HINT, field, manifest, option, struct, timestamp
from interop.differences import CHANGES, COLUMNS, KEEPINGS, READINGS, Change, Keeping, Reading, Refusal
from lakebed.errors import LakebedError
from referees.client import RefereeError, Referees
from referees.comparison import assert_same_rows
from referees.java import JavaReferee

TABLE = "db.casts"
ROWS = max(len(reading.stored) for reading in READINGS)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> lakebed.Lake:
    """The columns of all readings, their values written before their types changed."""
    root = tmp_path_factory.mktemp("differences")
    (root / "warehouse").mkdir()
    lake = lakebed.open(root / "warehouse")
    key = field("id", "Int64")
    declare(lake, manifest([key, *(r.declared(evolved=False) for r in READINGS)], name=TABLE))
    said = [{"id": i} | {r.name: r.stored[i] for r in READINGS if i < len(r.stored)} for i in range(ROWS)]
    source = root / "said.json"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in said), encoding="utf-8")
    assert lake.ingest(spark, TABLE, source).rows_written == ROWS
    declare(lake, manifest([key, *(r.declared(evolved=True) for r in READINGS)], name=TABLE))
    return lake


@pytest.fixture(scope="module")
def read(lake: lakebed.Lake, spark: SparkSession) -> dict[str, list[Any]]:
    """What Lakebed reads, by column, in the order of `id`."""
    found = sorted(rows(lake, spark, TABLE), key=lambda row: row[0])
    return {name: [row[i] for row in found] for i, name in enumerate(lake.schema(TABLE).field_names)}


def ids(entry: Reading | Keeping | Change) -> str:
    number = f"{entry.number}" if entry.number is not None else "unnumbered"
    match entry:
        case Reading():
            return f"{number}-{entry.name}"
        case Keeping():
            return f"{number}-{entry.filter}"
        case Change():
            return f"{number}-{'-'.join(str(v) for v in entry.change.values() if v)}"


def as_said(wanted: Sequence[Any] | Refusal, ask: Callable[[], list[Any]]) -> None:
    """Asserts that a reader gives what it is said to give."""
    if isinstance(wanted, Refusal):
        with pytest.raises(RefereeError, match=re.escape(wanted.message)):
            ask()
    else:
        assert ask() == list(wanted)


@pytest.mark.parametrize("entry", [*READINGS, *KEEPINGS], ids=ids)
def test_an_entry_is_a_difference(entry: Reading | Keeping) -> None:
    assert entry.wrong
    assert all(found != entry.right for found in entry.wrong.values())


@pytest.mark.parametrize("reading", READINGS, ids=ids)
def test_lakebed_reads_what_the_format_demands(reading: Reading, read: dict[str, list[Any]]) -> None:
    columns = [(reading.name, "TIME" if reading.after == "Time" else "STRING")]
    found = [[value] for value in read[reading.name][: len(reading.right)]]
    assert_same_rows([[value] for value in reading.right], found, columns)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("reading", READINGS, ids=ids)
def test_the_referees_read_what_they_are_known_to_read(
    reading: Reading, reader: Any, lake: lakebed.Lake, referees: Referees
) -> None:
    def ask() -> list[Any]:
        found = referees.rows(reader, lake.warehouse, TABLE, columns=["id", reading.name])
        return [value for _, value in sorted(found, key=lambda row: row[0])[: len(reading.stored)]]

    as_said(reading.wrong.get(reader, reading.right), ask)


@pytest.mark.parametrize("keeping", KEEPINGS, ids=ids)
def test_lakebed_keeps_what_the_format_demands(keeping: Keeping, lake: lakebed.Lake, spark: SparkSession) -> None:
    assert keys_kept(lake, spark, TABLE, [keeping.filter]) == [keeping.right]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("keeping", KEEPINGS, ids=ids)
def test_the_referees_keep_what_they_are_known_to_keep(
    keeping: Keeping, reader: Any, lake: lakebed.Lake, referees: Referees
) -> None:
    def ask() -> list[Any]:
        return sorted(k for (k,) in referees.rows(reader, lake.warehouse, TABLE, filter=keeping.filter, columns=["id"]))

    as_said(keeping.wrong.get(reader, keeping.right), ask)


@pytest.mark.parametrize("entry", CHANGES, ids=ids)
def test_changes_that_pypaimon_judges_otherwise(entry: Change, tmp_path: Path, referees: Referees) -> None:
    def accepted(change: Callable[[str], Any], name: str) -> bool:
        lake.tables.create_table("db", name, [lakebed.Field(n, t) for n, t in COLUMNS])
        referees.append(tmp_path, f"db.{name}", [{"k": 1}])
        try:
            change(name)
        except RefereeError:
            return False
        except LakebedError as error:
            return error.diagnostics[0].code != entry.code
        return True

    lake = lakebed.open(tmp_path)
    assert accepted(lambda name: lake.tables.alter_table("db", name, [entry.change]), "ours") is entry.right
    assert accepted(lambda name: referees.alter(tmp_path, f"db.{name}", [entry.change]), "theirs") is not entry.right


def test_4_pypaimon_writes_a_comment_that_is_null(tmp_path: Path, referees: Referees) -> None:
    referees.create(tmp_path, "db.t", [("k", "INT")])
    assert '"comment": null' in (tmp_path / "db.db/t/schema/schema-0").read_text()
    lake = lakebed.open(tmp_path)
    assert lake.schema("db.t").comment is None
    lake.tables.alter_table("db", "t", [{"action": "setOption", "key": "owner", "value": "us"}])
    assert "comment" not in json.loads((tmp_path / "db.db/t/schema/schema-1").read_text())


@pytest.mark.parametrize(
    ("number", "given", "kept", "right"),
    [
        (6, "INTEGER", "INTEGER", "INT"),
        (6, "DECIMAL(10,2)", "DECIMAL(10,2)", "DECIMAL(10, 2)"),
        (6, "TIMESTAMP_LTZ(6)", "TIMESTAMP_LTZ(6)", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        (8, "NUMERIC(5,2)", "NUMERIC(5,2)", "DECIMAL(5, 2)"),
    ],
)
def test_pypaimon_keeps_types_as_they_were_typed(
    number: int, given: str, kept: str, right: str, tmp_path: Path, referees: Referees
) -> None:
    referees.create(tmp_path, "db.t", [("k", given)])
    content = json.loads((tmp_path / "db.db/t/schema/schema-0").read_text())
    assert content["fields"][0]["type"] == kept
    assert str(lakebed.open(tmp_path).schema("db.t").fields[0].type) == right


def test_7_pypaimon_takes_a_zone_for_none(tmp_path: Path, referees: Referees) -> None:
    said = "TIMESTAMP WITH LOCAL TIME ZONE"
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "ours", [lakebed.Field("k", said)])
    assert str(lake.schema("db.ours").fields[0].type) == "TIMESTAMP(6) WITH LOCAL TIME ZONE"
    referees.create(tmp_path, "db.theirs", [("k", said)])
    assert str(lake.schema("db.theirs").fields[0].type) == "TIMESTAMP(6)"


def test_5_pypaimon_writes_null_into_a_required_column(tmp_path: Path, spark: SparkSession, referees: Referees) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", [lakebed.Field("k", "INT NOT NULL"), lakebed.Field("v", "INT NOT NULL")])
    data = pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([None], pa.int32())})
    referees.append(tmp_path, "db.t", data)
    assert rows(lake, spark, "db.t") == [[1, None]]
    result = lake.ingest(spark, "db.t", spark.createDataFrame([(2, None)], "k int, v int"))
    assert (result.rows_written, result.rows_quarantined) == (0, 1)


def test_24_only_our_files_carry_field_ids(lake: lakebed.Lake, tmp_path: Path, referees: Referees) -> None:
    def field_ids(warehouse: Path) -> set[bytes | None]:
        (file,) = warehouse.rglob("*.parquet")
        return {(f.metadata or {}).get(b"PARQUET:field_id") for f in pq.read_schema(file)}

    assert field_ids(Path(lake.warehouse)) == {str(i).encode() for i in range(50) if i in _top_ids(lake)}
    referees.create(tmp_path, "db.t", [("k", "INT")])
    referees.append(tmp_path, "db.t", [[1]])
    assert field_ids(tmp_path) == {None}


def _top_ids(lake: lakebed.Lake) -> set[int]:
    return {f.id for f in lake.schema(f"{TABLE}@0").fields}


def test_java_0_9_reads_a_struct_of_nulls_as_null(
    tmp_path: Path, spark: SparkSession, referees: Referees, java: JavaReferee
) -> None:
    lake = lakebed.open(tmp_path)
    fields = [field("k", "Int32"), field("r", option(struct(field("x", option("Int32")), field("y", option("Date")))))]
    declare(lake, manifest(fields, name="db.t"))
    referees.append(tmp_path, "db.t", [[1, [None, None]], [2, None]])
    right = [[1, [None, None]], [2, None]]
    assert sorted(rows(lake, spark, "db.t")) == right
    for reader in READERS:
        assert sorted(referees.rows(reader, tmp_path, "db.t")) == right
    assert sorted(java.rows(tmp_path, "db.t")) == [[1, None], [2, None]]


def test_pypaimon_keeps_too_much_by_an_or_over_partitions_and_values(tmp_path: Path, referees: Referees) -> None:
    referees.create(tmp_path, "db.t", [("id", "BIGINT"), ("p", "STRING")], partition_keys=["p"])
    referees.append(tmp_path, "db.t", [[1, "a"], [2, "b"], [3, "c"]])
    asked = ["or", ["p", "=", "a"], ["id", "=", 3]]
    assert sorted(referees.rows("rust", tmp_path, "db.t", filter=asked)) == [[1, "a"], [3, "c"]]
    assert sorted(referees.rows("pypaimon", tmp_path, "db.t", filter=asked)) == [[1, "a"], [2, "b"], [3, "c"]]


def test_the_referees_filter_timestamps_of_every_kind(
    lake: lakebed.Lake, spark: SparkSession, referees: Referees
) -> None:
    """Each is marked in the files as what it is: naive or UTC, in milliseconds or microseconds."""
    columns = {
        "naive3": (timestamp("Millisecond"), {HINT: "TIMESTAMP(3)"}),
        "naive6": (timestamp("Microsecond"), {HINT: "TIMESTAMP(6)"}),
        "instant3": (timestamp("Millisecond"), None),
        "instant6": (timestamp("Microsecond"), None),
    }
    declare(lake, manifest([field("id", "Int64"), *(field(n, t, e) for n, (t, e) in columns.items())], name="db.times"))
    moments = spark.sql(
        "select id, t as naive3, t as naive6, z as instant3, z as instant6 from"
        " (select id, timestamp_micros(86400000000 * id) as z, timestamp_ntz'1970-01-01' + make_dt_interval(id) as t"
        " from values (1L), (2L) as ids(id))"
    )
    assert lake.ingest(spark, "db.times", moments).rows_written == 2
    for reader in READERS:
        assert len(referees.rows(reader, lake.warehouse, "db.times")) == 2
        for name in columns:
            literal = "1970-01-03T00:00:00" + ("Z" if name.startswith("instant") else "")
            asked = (name, ">=", literal)
            assert referees.rows(reader, lake.warehouse, "db.times", filter=asked, columns=["id"]) == [[2]]

"""`spark.read.format("lakebed")`: the rows of `lake.read`, or a refusal that names what to do; never other rows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql.datasource import EqualTo, Filter, IsNotNull
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

import lakebed
from format.building import parquet_bytes, table_schema
from format.laid_out import LaidOut
from lakebed.arrow import file_part
from lakebed.arrow.file_part import Column, FilePart, rows_of
from lakebed.data_source.data_source import PUSHDOWN, LakebedDataSource
from lakebed.errors import LakebedError, UnsupportedError
from lakebed.format.deletion_vectors import DeletionVector
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store import LocalStore
from lakebed.testing.memory_store import MemoryStore
from read.foreign_files import FORMATS, file_bytes, put_rows
from read.keyed_tables import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, KeyedTable, Record
from read.lakes import declare, manifest
from read.merge_oracle import merge
from read.test_data_evolution import EVOLVING, MIXED
from read.test_data_evolution import warehouse as evolving_warehouse
from read.test_formats import COLUMNS, LATER, evolve
from read.test_formats import ROWS as STORED
from read.test_partition_values import keys_of, plain
from referees.corpus import SHARED, ExpectedTable, load_expected
from referees.encoding import arrow_rows, spark_rows

#: A fixture: `lab.mixed`, whose rows lie in parts in every way.
evolving = evolving_warehouse

EXPECTED = SHARED / "tables" / "expected"
KEYS = sorted(path.stem for path in EXPECTED.glob("*.json")) or ["none"]
CAST, VALUES = "LB5603", "LB5604"
#: The tables here that this source refuses when all of their columns are wanted.
REFUSED = {
    "java__c_parquet": CAST,
    "orc__append_complex_build_in_fieldid": VALUES,
    "orc__append_complex_data": VALUES,
    "orc__append_with_multiple_ts_precision_and_timezone": VALUES,
    "parquet__append_with_bloomfilter": VALUES,
    "parquet__append_with_bsi_bitmap_bloomfilter": VALUES,
}
#: How many columns of those tables are read nevertheless when they alone are wanted.
READ_ALONE = 34


def in_process(
    options: Mapping[str, str], columns: Sequence[str] | None = None, filters: Sequence[Filter] = ()
) -> pa.Table:
    """The rows as Spark's workers read them: source, reader and partitions travel as bytes."""
    source = cloudpickle.loads(cloudpickle.dumps(LakebedDataSource(dict(options))))
    schema = source.schema()
    if columns is not None:
        schema = StructType([schema[name] for name in columns])
    reader = source.reader(schema)
    if filters:
        # Pushed filters choose files; Spark still has to choose the rows.
        assert list(reader.pushFilters(list(filters))) == list(filters)
    partitions = list(reader.partitions())
    worker = cloudpickle.loads(cloudpickle.dumps(reader))
    batches = [b for p in cloudpickle.loads(cloudpickle.dumps(partitions)) for b in worker.read(p)]
    wanted = to_arrow_schema(schema, timezone="UTC")
    for batch in batches:
        assert isinstance(batch, pa.RecordBatch)
        assert batch.schema.equals(wanted)
    return pa.Table.from_batches(batches, schema=wanted)


def options_of(table: ExpectedTable) -> dict[str, str]:
    found = {"path": table.table, "warehouse": table.warehouse, "Push-Filters": "true"}
    if table.snapshot is not None:
        found["snapshot"] = str(table.snapshot)
    if table.branch is not None:
        found["branch"] = table.branch
    return found


def rows_or_refusal(options: Mapping[str, str], columns: Sequence[str] | None = None) -> pa.Table | str:
    """The rows, or the code of a refusal, which has to name a data file and what reads it."""
    try:
        return in_process(options, columns)
    except UnsupportedError as error:
        refused = error.diagnostics
    (diagnostic,) = refused
    assert "lake.read" in str(diagnostic.python_remedy)
    assert "data file /" in diagnostic.message
    return diagnostic.code


@pytest.mark.parametrize("key", KEYS)
def test_shared_tables_come_out_as_expected_or_are_refused(key: str, shared: Path) -> None:
    table = load_expected(key, shared)
    table.place_external_files()
    refused = REFUSED.get(key.partition("@")[0])
    rows = rows_or_refusal(options_of(table))
    if not isinstance(rows, pa.Table):
        assert rows == refused
        return
    if "@" not in key:
        assert refused is None
    table.check(arrow_rows(rows), micros=True)
    _check_narrow(table, rows)
    _check_filtered(table, rows)


def _check_narrow(table: ExpectedTable, rows: pa.Table) -> None:
    """Every second column, from the last to the first."""
    names = rows.column_names[::-2]
    found = in_process(options_of(table), names)
    assert sorted(map(repr, arrow_rows(found))) == sorted(map(repr, arrow_rows(rows.select(names))))


def _check_filtered(table: ExpectedTable, rows: pa.Table) -> None:
    """No row that a filter is true for is lost."""
    for name in rows.column_names[:2]:
        values = rows.column(name)
        known = values.drop_null()
        if not len(known) or pa.types.is_nested(values.type):
            continue
        wanted = known[len(known) // 2]
        pushed = [IsNotNull((name,)), EqualTo((name,), wanted.as_py())]
        found = in_process(options_of(table), filters=pushed)
        assert _where(found, name, wanted) == _where(rows, name, wanted)


def _where(rows: pa.Table, name: str, value: Any) -> list[str]:
    return sorted(map(repr, arrow_rows(rows.filter(pc.equal(rows.column(name), value)))))


def test_of_tables_that_are_refused_single_columns_come_out_as_expected_or_are_refused(shared: Path) -> None:
    alone = refused = 0
    for key in REFUSED:
        table = load_expected(key, shared)
        for place, column in enumerate(table.columns):
            own = replace(table, columns=(column,), rows=tuple([row[place]] for row in table.rows))
            found = rows_or_refusal(options_of(table), [column[0]])
            if isinstance(found, pa.Table):
                own.check(arrow_rows(found), micros=True)
                alone += 1
            else:
                assert found in (CAST, VALUES)
                refused += 1
    assert (alone, refused > 0) == (READ_ALONE, True)


FIRST = """
    {name: id, type: Int32}
    {name: name, type: {kind: Option, inner: String}}
    {name: amount, type: {kind: Option, inner: Float32}}
    {name: place, type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: Int32}]}}}
"""
Z = "{name: z, type: {kind: Option, inner: String}}"
Y = "{name: y, type: Int64, extra: {lakebed.dev/renamedFrom: x}}"
#: `name` and `amount` swap their names; `id` and `place.x` are widened; `note` and `place.z` are added.
SECOND = """
    {name: place, type: {kind: Option, inner: {kind: Struct, fields: [Z, Y]}}}
    {name: id, type: Int64}
    {name: amount, type: {kind: Option, inner: String}, extra: {lakebed.dev/renamedFrom: name}}
    {name: name, type: {kind: Option, inner: Float64}, extra: {lakebed.dev/renamedFrom: amount}}
    {name: note, type: {kind: Option, inner: String}}
""".replace("Z, Y", f"{Z}, {Y}")


PARTITIONED = """
    {name: day, type: {kind: Option, inner: Date}}
    {name: id, type: {kind: Option, inner: Int32}}
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> lakebed.Lake:
    """`db.t` of two schema versions with files in all formats, and `db.t` of the branch."""
    warehouse = tmp_path_factory.mktemp("source") / "warehouse"
    warehouse.mkdir()
    made = lakebed.open(warehouse)
    declare(made, manifest(FIRST))
    put_rows(made, "db.t", "parquet", [{"id": 1, "name": "a", "amount": 1.5, "place": {"x": 7}}, {"id": 2}])
    put_rows(made, "db.t", "orc", [{"id": 3, "place": {"x": -1}}])
    declare(made, manifest(SECOND))
    put_rows(made, "db.t", "avro", [{"id": 1 << 40, "amount": "b", "name": 0.1, "place": {"y": 1 << 33, "z": "z"}}])
    declare(made, manifest(PARTITIONED, keys="  partitionKeys: [day]\n").replace("db.t", "db.days"))
    put_rows(made, "db.days", "parquet", [{"id": 1}], partition=(19_000,))
    put_rows(made, "db.days", "parquet", [{"id": 2}], partition=(None,)).unlink()
    return made


ROWS = [
    {"place": {"z": None, "y": 7}, "id": 1, "amount": "a", "name": 1.5, "note": None},
    {"place": None, "id": 2, "amount": None, "name": None, "note": None},
    {"place": {"z": None, "y": -1}, "id": 3, "amount": None, "name": None, "note": None},
    {"place": {"z": "z", "y": 1 << 33}, "id": 1 << 40, "amount": "b", "name": 0.1, "note": None},
]


def test_rows_of_every_version_and_format_have_the_newest_shape(lake: lakebed.Lake) -> None:
    options = {"PATH": "db.t", "WareHouse": lake.warehouse}
    assert sorted(in_process(options).to_pylist(), key=lambda row: row["id"]) == ROWS
    # An earlier state has its own schema; another one can be asked for.
    then = in_process({**options, "snapshot": "2"})
    assert then.column_names == ["id", "name", "amount", "place"]
    assert then.column("name").to_pylist() == ["a", None, None]
    now = in_process({**options, "path": "db.t@snap:2", "PATH": "db.t@snap:2", "schema": "latest"})
    assert sorted(now.to_pylist(), key=lambda row: row["id"]) == ROWS[:3]


def test_a_file_is_split_between_row_groups(lake: lakebed.Lake) -> None:
    declare(lake, manifest("{name: id, type: Int32}").replace("db.t", "db.split"))
    put_rows(lake, "db.split", "parquet", [{"id": i} for i in range(1000)], row_group_size=90)
    source = LakebedDataSource({"path": "db.split", "warehouse": lake.warehouse, "split-size": "500 b"})
    reader = source.reader(source.schema())
    parts = reader.partitions()
    assert len(parts) > 5
    assert [row["id"] for p in parts for b in reader.read(p) for row in b.to_pylist()] == list(range(1000))
    # Places of deleted rows are places in the whole file.
    gone = [0, 89, 90, 500, 999]
    vector = DeletionVector("index", 1, 1, len(gone))
    for part in parts:
        part.value = replace(part.value, parts=tuple(replace(f, deletions=vector) for f in part.value.parts))
    with mock.patch.object(file_part, "read_positions", return_value=[gone]):
        left = [row["id"] for p in parts for b in reader.read(p) for row in b.to_pylist()]
    assert left == [i for i in range(1000) if i not in gone]


@pytest.mark.parametrize("format", FORMATS)
def test_a_store_gives_the_bytes_that_are_asked_for(format: str) -> None:
    fields = (DataField(0, "id", parse("INT")), DataField(1, "s", parse("STRING")))
    content = file_bytes(format, fields, [{"id": i, "s": f"row {i}" * 9} for i in range(5000)])
    store = MemoryStore()
    store.create_if_absent(f"mem/data.{format}", content)
    part = FilePart(f"mem/data.{format}", len(content), 5000, fields[:1])
    rows = [row for b in rows_of(store, part, [Column("n", fields[0], fields[0])]) for row in b.to_pylist()]
    assert rows == [{"n": i} for i in range(5000)]


def test_pushed_filters_leave_out_files(lake: lakebed.Lake) -> None:
    # The file of the other partition is not there.
    options = {"path": "db.days", "warehouse": lake.warehouse, "push-filters": "true"}
    pushed = [IsNotNull(("day",)), EqualTo(("day",), date(2022, 1, 8))]
    assert in_process(options, filters=pushed).column("id").to_pylist() == [1]
    with pytest.raises(LakebedError, match="foreign"):
        in_process(options)


def test_every_type_comes_out_of_every_format_as_from_parquet(tmp_path: Path) -> None:
    warehouse = lakebed.open(tmp_path)
    for format in FORMATS:
        warehouse.tables.create_table("db", format, COLUMNS)
        put_rows(warehouse, f"db.{format}", format, STORED)
        evolve(warehouse, f"db.{format}")
        put_rows(warehouse, f"db.{format}", format, LATER)
    refused = set()
    for name in warehouse.schema("db.avro").field_names:
        parquet, avro, orc = (
            rows_or_refusal({"path": f"db.{format}", "warehouse": str(tmp_path)}, [name])
            for format in ("parquet", "avro", "orc")
        )
        assert repr(arrow_rows(parquet)) == repr(arrow_rows(avro))
        if isinstance(orc, pa.Table):
            assert repr(arrow_rows(parquet)) == repr(arrow_rows(orc))
        else:
            assert orc == VALUES
            refused.add(name)
    clocks = {"ms", "us", "zms", "zus", "ns", "zns"}
    assert refused == {*clocks, "c", "l", "m", "days", "r", "rows"}


def test_partition_values_of_every_type_come_from_the_manifest(tmp_path: Path) -> None:
    warehouse = lakebed.open(tmp_path)
    keys = keys_of(legacy=False)
    columns = [("id", "INT"), *((name, kind) for name, (kind, _, _) in keys.items())]
    options = {"partition.legacy-name": "false"}
    warehouse.tables.create_table("db", "t", columns, partition_keys=list(keys), options=options)
    expected = []
    for i in range(4):
        partition = tuple(None if i == 3 else values[i] for _, values, _ in keys.values())
        put_rows(warehouse, "db.t", FORMATS[i % 3], [{"id": i}], partition=partition)
        expected.append([i, *(None if i == 3 else plain(texts[i]) for _, _, texts in keys.values())])
    found = arrow_rows(in_process({"path": "db.t", "warehouse": str(tmp_path)}))
    assert [[plain(v) for v in row] for row in sorted(found)] == expected


def test_rows_in_parts_are_put_together(evolving: Path) -> None:
    options = {"path": "lab.mixed", "warehouse": str(evolving)}
    found = in_process(options, ["id", "s", "number", "m", "late"]).to_pylist()
    rows = [[r["id"], r["s"], r["number"] and float(r["number"]), r["m"] and dict(r["m"]), r["late"]] for r in found]
    assert sorted(rows, key=str) == sorted(([i, s, n and float(n), m, late] for i, s, n, m, late, *_ in MIXED), key=str)


def test_a_column_comes_from_the_file_that_wrote_it_last(tmp_path: Path) -> None:
    (tmp_path / "lab.db").mkdir()
    schema = table_schema([("id", "BIGINT"), ("n", "BIGINT")], options=EVOLVING)
    table = LaidOut(LocalStore(), str(tmp_path / "lab.db" / "t"), schema)
    # The sequence number of a column counts before that of its file.
    for name, sequence, columns, own in [
        ("1.parquet", 5, {"id": [1, 2], "n": [5, 5]}, None),
        ("2.parquet", 9, {"id": [-1, -2], "n": [9, 9]}, (4, 9)),
        ("3.parquet", 7, {"n": [7, None]}, None),
    ]:
        parts = {"first_row_id": 0, "min_sequence_number": sequence, "max_sequence_number": sequence}
        content = parquet_bytes(pa.table(columns))
        table.add(name, content, 2, write_cols=tuple(columns), write_cols_sequences=own, **parts)
    table.commit()
    found = in_process({"path": "lab.t", "warehouse": str(tmp_path)})
    assert arrow_rows(found) == [[1, 9], [2, 9]]


def test_rows_of_one_key_become_the_newest(tmp_path: Path) -> None:
    chance = random.Random(7)
    columns = {"k": ("INT", pa.int32()), "v": ("INT", pa.int32()), "o": ("INT", pa.int32())}
    for number, options in enumerate([{}, {"sequence.field": "o"}, {"ignore-delete": "true"}] * 5):
        made = KeyedTable(tmp_path, f"t{number}", columns, options=options)
        stored = []
        # Older files first: of equal sequence numbers the lower level is the newer, then the later commit.
        for level in (5, 3, 0, 0):
            keys = chance.sample(range(12), 6)
            stored += [
                Record(
                    chance.choice((INSERT, INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE)),
                    chance.randint(0, 3),
                    {"k": k, "v": chance.randint(0, 9**6), "o": chance.choice((None, 1, 2))},
                )
                for k in keys
            ]
            made.add(stored[-len(keys) :], level=level)
        # The manifest does not say which file is the newer one; of level 0 it keeps the order of commits.
        made.files = [*made.files[2:], made.files[1], made.files[0]]
        made.commit()
        if options.get("ignore-delete"):
            stored = [r for r in stored if r.kind in (INSERT, UPDATE_AFTER)]
        of_key = {k: [r for r in stored if r.values["k"] == k] for k in {r.values["k"] for r in stored}}
        merged = [merge(records, list(columns), ["k"], options) for records in of_key.values()]
        found = arrow_rows(in_process({"path": f"db.t{number}", "warehouse": str(tmp_path)}))
        assert sorted(found) == sorted(row for row in merged if row is not None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"snapshto": "1"}, ["LB5600", "'snapshto'", "did you mean 'snapshot'", "split-size"]),
        ({"snapshot": "newest"}, ["LB5600", "option snapshot is 'newest'", "a whole number"]),
        ({"snapshot": "1", "tag": "x"}, ["LB6701"]),
        ({"time-zone": "Mars/Base"}, ["Mars/Base"]),
        ({"split-size": "0"}, ["LB5600", "split-size"]),
        ({"storage-options": '{"secret": '}, ["LB5600", "storage-options"]),
        ({"owner": "me", "provider": "lakebed", "location": "/x"}, ["LB5607", "CREATE TEMPORARY VIEW"]),
        ({"path": "db.nix"}, ["LB3122", "db.nix"]),
        ({"path": ""}, ["LB5600", "no table is named"]),
        ({"warehouse": "/nowhere/at/all"}, ["/nowhere/at/all"]),
    ],
)
def test_options_that_make_no_sense_are_explained(lake: lakebed.Lake, options: dict[str, str], said: list[str]) -> None:
    with pytest.raises(LakebedError) as caught:
        LakebedDataSource({"path": "db.t", "warehouse": lake.warehouse, **options}).schema()
    assert all(text in str(caught.value) for text in said), str(caught.value)


def test_an_option_of_streams_is_refused(lake: lakebed.Lake) -> None:
    source = LakebedDataSource({"path": "db.t", "warehouse": lake.warehouse, "From-Snapshot": "1"})
    with pytest.raises(LakebedError, match="LB5615"):
        source.reader(source.schema())


def test_system_tables_are_read_by_their_names(lake: lakebed.Lake) -> None:
    source = LakebedDataSource({"path": "db.t$snapshots", "warehouse": lake.warehouse})
    schema = source.schema()
    reader = source.reader(StructType([schema["commit_kind"], schema["snapshot_id"]]))
    rows = [row for part in reader.partitions() for row in reader.read(part)]
    assert rows == [("APPEND", 1), ("APPEND", 2), ("APPEND", 3)]


def test_without_a_warehouse_it_is_said_how_to_name_one() -> None:
    with pytest.raises(LakebedError, match=r"LB5600.*(?s:.*)lake\.register"):
        LakebedDataSource({"path": "db.t"}).schema()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (StructField("nix", LongType()), "LB5601"),
        (StructField("place", StructType([StructField("x", LongType())])), "LB5601"),
        (StructField("id", IntegerType()), "LB5602"),
        (StructField("amount", StringType(), nullable=False), "LB5602"),
        (StructField("place", StructType([StructField("y", LongType(), nullable=False)])), "LB5602"),
    ],
)
def test_a_schema_that_is_not_the_tables_is_refused(lake: lakebed.Lake, given: StructField, code: str) -> None:
    source = LakebedDataSource({"path": "db.t", "warehouse": lake.warehouse})
    with pytest.raises(LakebedError, match=code):
        source.reader(StructType([given])).partitions()


def test_null_never_stands_in_a_column_that_is_asked_for_without_it(lake: lakebed.Lake) -> None:
    declare(lake, manifest("{name: id, type: Int32}").replace("db.t", "db.must"))
    put_rows(lake, "db.must", "parquet", [{"id": None}])
    source = LakebedDataSource({"path": "db.must", "warehouse": lake.warehouse})
    assert in_process(source.options).to_pylist() == [{"id": None}]
    reader = source.reader(StructType([StructField("id", IntegerType(), nullable=False)]))
    with pytest.raises(LakebedError):
        [list(reader.read(part)) for part in reader.partitions()]


def test_damage_is_an_error_with_the_path_of_the_file(lake: lakebed.Lake) -> None:
    declare(lake, manifest("{name: id, type: Int32}").replace("db.t", "db.broken"))
    path = put_rows(lake, "db.broken", "parquet", [{"id": 1}])
    content = path.read_bytes()
    for damaged in (content[:-1], content[:40], b""):
        path.write_bytes(damaged)
        with pytest.raises(LakebedError, match=path.name):
            in_process({"path": "db.broken", "warehouse": lake.warehouse})


def test_spark_reads_by_the_format_and_by_sql(lake: lakebed.Lake, spark: Any) -> None:
    before = spark.conf.get(PUSHDOWN)
    try:
        spark.dataSource.register(LakebedDataSource)
        spark.conf.set(PUSHDOWN, "false")
        given = spark.read.format("lakebed").option("warehouse", lake.warehouse)
        own = lake.read(spark, "db.t")
        assert spark_rows(given.load("db.t").orderBy("id")) == spark_rows(own.orderBy("id"))
        assert given.load("db.t").schema == own.schema
        assert "db.t" in lake.register(spark)
        _check_bound(lake, spark)
    finally:
        spark.conf.set(PUSHDOWN, before)
        for view in spark.catalog.listTables():
            spark.catalog.dropTempView(view.name)


def _check_bound(lake: lakebed.Lake, spark: Any) -> None:
    narrow = spark.read.format("lakebed").schema("name DOUBLE, place STRUCT<y: BIGINT>").load("db.t")
    assert spark_rows(narrow.where("name = 0.1")) == [[0.1, [1 << 33]]]
    # The file of the other partition is gone: only with the filter pushed is it not opened.
    days = spark.read.format("lakebed").load("db.days").where("day = DATE '2022-01-08'")
    assert [row.id for row in days.collect()] == [1]
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW then USING lakebed OPTIONS (path 'db.t', snapshot '1')")
    joined = spark.sql("SELECT then.name, t.amount FROM then JOIN `db.t` t ON t.id = then.id ORDER BY then.id")
    assert [tuple(row) for row in joined.collect()] == [("a", "a"), (None, None)]
    with pytest.raises(PySparkException) as caught:
        spark.read.format("lakebed").option("tga", "x").load("db.t")
    assert "error[LB5600]: the data source lakebed has no option 'tga' (did you mean 'tag'?)" in str(caught.value)

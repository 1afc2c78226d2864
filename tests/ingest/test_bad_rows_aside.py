"""Bad rows are known from the one pass in which good ones are written: the source is not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import Row

from ingest.ingest_lake import SmallLake
from lakebed.arrow.aside_files import ASIDE, AsideFile, aside_batches
from lakebed.arrow.write_task import WriteTask
from lakebed.catalog.table_schema import TableSchema
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.ingest.checked_rows import PreparedRows, prepare
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.sources.open_source import open_files
from lakebed.ingest.sources.source_files import SourceFormat, identify
from lakebed.ingest.sources.source_listing import FoundFile
from lakebed.ingest.sources.source_options import check_options
from lakebed.model import Field, Int32, List, Option, String, Struct
from lakebed.store.local import LocalStore
from lakebed.testing.memory_store import MemoryStore

FIELDS = (
    Field("k", Int32()),
    Field("s", Option(String())),
    Field("n", Option(Struct((Field("i", Option(Int32())), Field("l", Option(List(Int32()))))))),
)


@pytest.fixture
def schema(lake: SmallLake) -> TableSchema:
    lake.create(*FIELDS)
    return lake.tables.get_schema_manager("db", "t").load_latest_schema()


def rows_of(lake: SmallLake, schema: TableSchema, format_: SourceFormat, paths: list[str]) -> PreparedRows:
    files = identify([FoundFile(path, path) for path in paths])
    parts = open_files(lake.spark, files, format_, check_options(format_, {}), schema.field_names)
    return prepare(lake.spark, parts, schema, Rules("UTC"), unknown=UnknownColumns.FAIL)


def sources(lake: SmallLake) -> Iterator[tuple[SourceFormat, list[str]]]:
    """In every format two files that differ in their columns, or in the types of these, with bad rows in each."""
    nested = '"{""i"": 1, ""l"": [1, ""x""]}"'
    yield (
        SourceFormat.CSV,
        [
            lake.file("a.csv", f"k,s,n\n1,a,\nx,b,{nested}\n3,c,{{}}\n4\n"),
            lake.file("b.csv", 's,k\n"",5\nq,\n'),
        ],
    )
    yield (
        SourceFormat.JSON,
        [
            lake.file("a.json", '{"k": 1, "n": {"i": 1e400, "l": [1, 2.5]}}\n{"k": \n{"k": 2}\n[1]\n'),
            lake.file("b.json", '{"s": 7.10}\n{"k": null, "s": "x"}\n'),
        ],
    )
    yield (
        SourceFormat.PARQUET,
        [
            lake.parquet(
                "a.parquet", {"k": ["1", "no", None], "n": [{"i": 1, "l": [1]}, None, {"i": None, "l": [None]}]}
            ),
            lake.parquet("b.parquet", {"k": pa.array([1, 2**40], pa.int64()), "s": ["a", "b"]}),
        ],
    )


def told(rows: list[Row]) -> list[tuple[object, ...]]:
    problems = (sorted(map(str, row["problems"])) for row in rows)
    return sorted((row["raw"], row["file"], row["offset"], p) for row, p in zip(rows, problems, strict=True))


def test_what_is_put_aside_tells_what_the_source_tells(lake: SmallLake, schema: TableSchema) -> None:
    for format_, paths in sources(lake):
        rows = rows_of(lake, schema, format_, paths)
        expected = told(rows.bad().collect())
        assert len(expected) == rows.all().where("bad").count() > 1
        for few in (False, True):
            every = rows.with_bad(few=few)
            aside = every.frame.where(F.col(ASIDE).isNotNull()).select(f"{ASIDE}.*")
            assert told(every.bad(aside).collect()) == expected, (format_, few)
            assert every.frame.where(F.col("bad") != F.col(ASIDE).isNotNull()).count() == 0


def read_once(lake: SmallLake, marks: Path) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What leaves a file for each batch that is read."""
    marks.mkdir()
    directory = str(marks)

    def note(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pathlib import Path
        from uuid import uuid4

        for batch in batches:
            (Path(directory) / uuid4().hex).touch()
            yield batch

    return note


@pytest.mark.parametrize("key", [(), ("k",)])
def test_a_frame_is_computed_once(lake: SmallLake, tmp_path: Path, key: tuple[str, ...]) -> None:
    lake.create(
        Field("k", Int32()), Field("s", Option(String())), primary_keys=key, options={"bucket": "2"} if key else {}
    )
    marks = tmp_path / "marks"
    given = lake.spark.range(0, 4, 1, 1).mapInArrow(read_once(lake, marks), "id bigint")
    frame = given.selectExpr("if(id = 3, 'x', cast(id as string)) as k", "'a' as s")
    result = lake.ingest(frame)
    assert (result.rows_written, result.rows_quarantined) == (3, 1)
    assert len(list(marks.iterdir())) == 1
    assert lake.problems() == {("k", "LB6202", "x")}
    assert not any("staging" in path for path in (*lake.data_files(), *lake.data_files("db.t__quarantine")))


def test_a_run_of_too_many_bad_rows_leaves_nothing(lake: SmallLake, tmp_path: Path) -> None:
    lake.create(*FIELDS)
    marks = tmp_path / "marks"
    given = lake.spark.range(0, 4, 1, 1).mapInArrow(read_once(lake, marks), "id bigint")
    with pytest.raises(BadRowsError, match="3 of 4 rows are bad, more than 2"):
        lake.ingest(given.selectExpr("if(id > 0, 'x', '1') as k"), max_bad_rows=2)
    assert len(list(marks.iterdir())) == 1
    assert lake.data_files() == set()
    assert not lake.path().joinpath("snapshot").exists()
    assert [p.name for p in lake.path().iterdir() if p.name.startswith(".staging")] == []


def test_bad_rows_take_the_place_of_no_good_one(lake: SmallLake) -> None:
    options = {"bucket": "1", "ignore-delete": "true"}
    fields = (Field("k", Int32()), Field("v", Option(Int32())))
    lake.create(*fields, primary_keys=("k",), options=options)
    lines = ["op,k,v", "+I,1,10", "+I,1,x", "+I,2,y", "-D,2,z", "-D,1,", "+I,3,30", "+I,,5", "+I,,6"]
    result = lake.ingest(lake.file("a.csv", "\n".join(lines) + "\n"), row_kinds="op")
    assert [(r["k"], r["v"]) for r in lake.rows(order="k")] == [(1, 10), (3, 30)]
    assert result.rows_quarantined == len(lake.bad()) == 5


def test_large_rows_are_put_aside_once(lake: SmallLake) -> None:
    lake.create(Field("k", Int32()), Field("s", Option(String())))
    large = "y" * (3 << 20)
    result = lake.ingest(lake.file("a.csv", f"k,s\n1,a\nx,{large}\n2,b\n"))
    assert (result.rows_written, result.rows_quarantined) == (2, 1)
    [bad] = lake.bad()
    assert large in bad["raw"]


def batch(*aside: int | None) -> pa.RecordBatch:
    struct = pa.array([None if a is None else {"raw": str(a)} for a in aside], pa.struct([("raw", pa.string())]))
    return pa.record_batch([pa.array(range(len(aside)), pa.int32()), struct], ["v0", ASIDE])


def task(location: str) -> WriteTask:
    return WriteTask(location=location, table_path=location, schema_id=0, fields=(), id="x", creation_time=0)


def test_batches_are_split_by_what_is_aside(tmp_path: Path) -> None:
    file = AsideFile(LocalStore(), f"{tmp_path}/staging/a.arrow")
    rest = list(file.taken_from([batch(None, 1, None), batch(2), batch(None), batch()]))
    assert [b.to_pydict() for b in rest] == [{"v0": [0, 2]}, {"v0": [0]}]
    found = [b.to_pydict() for b in aside_batches(task(str(tmp_path)), [str(file.written)])]
    assert found == [{"raw": ["1"]}, {"raw": ["2"]}]


def test_without_bad_rows_no_file_is_made(tmp_path: Path) -> None:
    file = AsideFile(LocalStore(), f"{tmp_path}/staging/a.arrow")
    assert sum(b.num_rows for b in file.taken_from([batch(None, None)])) == 2
    assert file.written is None
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_no_file_behind() -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield batch(1)
        raise RuntimeError("the source")

    store = MemoryStore()
    file = AsideFile(store, "/staging/a.arrow")
    with pytest.raises(RuntimeError, match="the source"):
        list(file.taken_from(failing()))
    assert file.written is None
    assert not store.exists("/staging/a.arrow")


def known_of_rows(lake: SmallLake, width: int) -> list[int]:
    """How many things Spark notes of the rows of a table with so many columns, in each of its plans."""
    name = f"t{width}"
    lake.tables.create_table("db", name, [Field(f"c{i}", Option(Int32())) for i in range(width)])
    schema = lake.tables.get_schema_manager("db", name).load_latest_schema()
    header = ",".join(schema.field_names)
    rows = rows_of(lake, schema, SourceFormat.CSV, [lake.file(f"{name}.csv", f"{header}\n")])
    every = rows.with_bad()
    aside = every.frame.where(F.col(ASIDE).isNotNull()).select(f"{ASIDE}.*")
    frames = (every.frame, every.bad(aside), rows.with_bad(few=True).frame, rows.all(), rows.bad())
    return [frame._jdf.queryExecution().optimizedPlan().validConstraints().size() for frame in frames]


def test_what_spark_notes_of_rows_grows_with_the_columns_and_no_faster(
    lake: SmallLake, conf: Callable[[dict[str, str]], None]
) -> None:
    # Tests do without these notes, users do not.
    conf({"spark.sql.constraintPropagation.enabled": "true"})
    for few, twice in zip(known_of_rows(lake, 5), known_of_rows(lake, 10), strict=True):
        assert 0 < twice <= 3 * few

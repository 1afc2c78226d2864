"""Damaged pages of Parquet files: every way of reading fails and names the file, and none does when told so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakebed
from cli.command_line import CommandLine
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import CorruptMetadataError, LakebedError
from lakebed.format.page_checksums import FAILED_CHECKSUM
from lakebed.spark.spark_errors import failed_checksum_of
from read.keyed_tables import INSERT, KeyedTable, Record
from read.lakes import declare, manifest

pytestmark = pytest.mark.usefixtures("as_for_users")

FIELDS = "{name: id, type: Int64}\n{name: n, type: {kind: Option, inner: String}}"
PLAIN = "  options: {file.compression: none}\n"
ROWS = 1000


def flip(file: Path, column: int) -> None:
    """Flip a bit of the last value of a column, in a page of its only row group; what stands there is a value still."""
    chunk = pq.read_metadata(file).row_group(0).column(column)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data = bytearray(file.read_bytes())
    data[start + chunk.total_compressed_size - 1] ^= 0x08 if chunk.has_dictionary_page else 0x04
    file.write_bytes(data)


def _numbers(spark: Any) -> Any:
    return spark.range(ROWS).selectExpr("id", "string(id * 1000003 % 1000000007) AS n").coalesce(1)


def only_file(lake: lakebed.Lake, table: str) -> Path:
    (file,) = Path(lake.warehouse, "db.db", table).rglob("data-*.parquet")
    return file


@pytest.fixture
def damaged(tmp_path: Path, spark: Any) -> tuple[lakebed.Lake, Path]:
    """A lake of `db.t`, whose only file has a damaged page; `n` is a number by now."""
    (tmp_path / "w h").mkdir()
    lake = lakebed.open(tmp_path / "w h", layout="paimon")
    declare(lake, manifest(FIELDS, keys=PLAIN))
    lake.ingest(spark, "db.t", _numbers(spark))
    file = only_file(lake, "t")
    flip(file, 1)
    declare(lake, manifest(FIELDS.replace("String", "Int64"), keys=PLAIN))
    return lake, file


def test_every_read_of_a_damaged_file_fails(damaged: tuple[lakebed.Lake, Path], spark: Any, tmp_path: Path) -> None:
    lake, file = damaged
    trusting = lakebed.open(lake.warehouse, verify_checksums=False)
    ways: dict[str, Callable[[lakebed.Lake], Any]] = {
        "read": lambda lake: lake.read(spark, "db.t@0").collect(),
        "where": lambda lake: lake.read(spark, "db.t@0", where="n % 2 = 1").collect(),
        "one column": lambda lake: lake.read(spark, "db.t@0").select("n").collect(),
        "count": lambda lake: lake.count("db.t@0", where="n % 2 = 1", spark=spark),
        "null on error": lambda lake: lake.read(spark, "db.t", on_cast_error="null").collect(),
        "cast errors": lambda lake: lake.cast_errors(spark, "db.t").collect(),
        "changes": lambda lake: lake.read_changes(spark, "db.t", since=0, schema=0).collect(),
        "difference": lambda lake: lake.read_changes(spark, "db.t", since=0, mode="diff", schema=0).collect(),
        "format": lambda lake: _by_format(lake, spark),
        "stream": lambda lake: _by_stream(lake, spark),
    }
    for way, read in ways.items():
        with pytest.raises(Exception) as caught:
            read(lake)
        said = str(caught.value)
        assert "CRC" in said or FAILED_CHECKSUM in said, way
        assert file.name in said, way
        read(trusting)
    with pytest.raises(CorruptMetadataError) as counted:
        ways["count"](lake)
    assert counted.value.code == FAILED_CHECKSUM
    assert "; verify_checksums=False (" in str(counted.value)
    assert "--no-verify" not in str(counted.value)
    assert counted.value.diagnostics[0].path == str(file)


def _by_format(lake: lakebed.Lake, spark: Any) -> None:
    lake.register(spark)
    spark.read.format("lakebed").option("schema", "0").load("db.t").select("n").collect()


def _by_stream(lake: lakebed.Lake, spark: Any) -> None:
    verify = str(lake._verify_checksums).lower()
    given = {"path": "db.t", "warehouse": lake.warehouse, "schema": "0", "verify-checksums": verify}
    source = LakebedDataSource(given)
    reader: Any = source.streamReader(source.schema())
    start = reader.initialOffset()
    for task in reader.partitions(start, reader.latestOffset(start, reader.getDefaultReadLimit())):
        list(reader.read(task))


def test_the_command_line_names_the_damaged_file(
    damaged: tuple[Any, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    spark: Any,
) -> None:
    run = CommandLine(capsys)
    lake, file = damaged
    monkeypatch.chdir(tmp_path)
    command = ("--warehouse", lake.warehouse, "read", "db.t@0", "--select", "max(n)")
    failed = run(*command)
    assert failed.code == 1
    assert FAILED_CHECKSUM in failed.err
    assert file.name in failed.err
    assert "; --no-verify-checksums (lakebed.toml: verify_checksums = false) reads what is there" in failed.err
    assert run(*command, "--no-verify-checksums").code == 0
    (tmp_path / "lakebed.toml").write_text("verify_checksums = false\n")
    assert run(*command).code == 0
    assert run("--warehouse", lake.warehouse, "read", "db.t@0", "--count", "--where", "n > 5").code == 0


def test_quarantine_and_sources_are_held_against_their_checksums(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse", layout="paimon")
    declare(lake, manifest(FIELDS))
    bad = spark.createDataFrame([("x",), ("y",)], "id string").coalesce(1)
    assert lake.ingest(spark, "db.t", bad).rows_quarantined == 2
    file = only_file(lake, "t__quarantine")
    flip(file, 0)
    with pytest.raises(Exception, match=re.escape(file.name)):
        lake.read(spark, "db.t__quarantine").collect()

    source = tmp_path / "a source.parquet"
    pq.write_table(
        pa.table({"id": range(ROWS)}), source, compression="none", use_dictionary=False, write_page_checksum=True
    )
    flip(source, 0)
    with pytest.raises(LakebedError) as caught:
        lake.ingest(spark, "db.t", str(source))
    assert (caught.value.code, caught.value.diagnostics[0].path) == (FAILED_CHECKSUM, str(source))
    assert lake.count("db.t") == 0
    trusting = lakebed.open(lake.warehouse, verify_checksums=False)
    assert trusting.ingest(spark, "db.t", str(source)).rows_written == ROWS


@pytest.mark.parametrize("checksums", [True, False])
def test_merge_on_read(tmp_path: Path, spark: Any, checksums: bool) -> None:
    """Both ways of merging look at the checksums of files that have them, and read files that have none."""
    table = KeyedTable(tmp_path / "warehouse", "t", {"k": ("BIGINT", pa.int64()), "v": ("BIGINT", pa.int64())})
    for number in range(2):
        table.add([Record(INSERT, number * 100 + k, {"k": k, "v": k}) for k in range(50)])
    file = sorted(table.path.rglob("data-*.parquet"))[1]
    rows = pq.read_table(file)
    pq.write_table(rows, file, compression="none", use_dictionary=False, write_page_checksum=checksums)
    flip(file, rows.num_columns - 1)
    meta, bucket = table.files[1]
    table.files[1] = replace(meta, file_size=file.stat().st_size), bucket
    table.commit()
    lake = lakebed.open(tmp_path / "warehouse")
    lake.register(spark)
    for frame in (lake.read(spark, "db.t"), spark.read.format("lakebed").load("db.t")):
        if checksums:
            with pytest.raises(Exception, match=re.escape(file.name)):
                frame.collect()
        else:
            assert len(frame.collect()) == 50


def test_what_other_failures_say_is_left_alone() -> None:
    assert failed_checksum_of("[FAILED_READ_FILE] Encountered error while reading file file:///a.  SQLSTATE: K") is None
    found = failed_checksum_of("CRC checksum verification failed, and no file is named")
    assert found is not None
    assert found.code == FAILED_CHECKSUM

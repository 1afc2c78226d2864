"""Write and read tables on a cluster where tasks, workers and machines fail; prints what it saw as JSON.

`test_cluster.py` runs it as a process, with the address of a master or of a Connect server, and a directory.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

import lakebed
from cluster.standalone import SETTINGS
from lakebed.data_source.data_source import register_source
from lakebed.data_source.read_options import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = """
kind: Table
version: 1
content:
  name: db.{name}
  {keys}
  schema:
    fields:
      - {{name: p, type: String}}
      - {{name: id, type: Int64}}
      - {{name: v, type: {{kind: Option, inner: Int32}}}}
"""
ROWS = 4_000


def main(server: str, directory: Path) -> None:
    spark = session(server)
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    buckets = "options: {dynamic-bucket.initial-buckets: 2, dynamic-bucket.target-row-num: 1000}"
    for name, keys in (("log", "partitionKeys: [p]"), ("t", f"primaryKeys: [id]\n  {buckets}")):
        (directory / f"{name}.yaml").write_text(MANIFEST.format(name=name, keys=keys))
        lake.apply(lake.plan(directory / f"{name}.yaml"))
    log, keyed = lake.table("db.log"), lake.table("db.t")
    source = directory / "a.csv"
    source.write_text("p,id,v\n" + "".join(f"p{i % 3},{i},{'bad' if i == 7 else i}\n" for i in range(100)))
    register_source(spark, Warehouse(lake.warehouse))
    ingested = lake.ingest(spark, "db.log", str(source))
    rows = spark.range(0, ROWS, 1, 4).selectExpr("concat('q', id % 2) as p", "id", "cast(id % 100 as int) as v")
    # Over Connect the functions would have to be known to the server.
    faults = [] if server.startswith("sc://") else [die_once, lose_executor_once, go_on_in_two]
    for number, fault in enumerate(faults or [None]):
        marks = directory / f"marks-{number}"
        marks.mkdir()
        frame = rows if fault is None else failing(rows, fault, marks)
        # The data source hands its files to Spark's own commit, an upsert to Lakebed's: both have to bear each fault.
        logged = frame.selectExpr(f"concat(p, '-{number}') as p", "id", "v")
        logged.write.format("lakebed").mode("append").save("db.log")
        check_fault(fault, marks)
        keyed.upsert(frame.selectExpr("p", "id", f"cast(v + {number} as int) as v"))
        check_fault(fault, marks)
    deleted = [
        keyed.delete(spark, where="id % 10 = 3").rows_deleted,
        log.delete(spark, where="p like 'q0%' and v < 50").rows_deleted,
    ]
    by_format = spark.read.format("lakebed").load("db.log")
    seen = {
        "connect": type(spark).__module__,
        "ingested": [ingested.rows_written, ingested.rows_quarantined],
        "faults": len(faults),
        "log": total(log.read(spark)),
        "format": total(by_format),
        "keyed": total(keyed.read(spark)),
        "deleted": deleted,
        "files": [files(lake, name) for name in ("db.log", "db.t")],
    }
    print(json.dumps(seen))
    spark.stop()


def session(server: str) -> SparkSession:
    if server.startswith("sc://"):
        return SparkSession.builder.remote(server).getOrCreate()
    builder = SparkSession.builder.master(server)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def total(frame: DataFrame) -> list[Any]:
    """Rows, different ids by partition, and the sum of the values."""
    row = frame.selectExpr("count(*)", "count(distinct p, id)", "sum(v)").collect()[0]
    return [int(n) for n in row]


def files(lake: lakebed.Lake, table: str) -> list[int]:
    """How many files of snapshots are missing, and how many that none names are not found by `orphans`."""
    root = Path(lake.table(table).table_path)
    disk = {path.name for path in root.rglob("bucket-*/*")}
    orphans = {Path(file.path).name for file in lake.orphan_files(table, min_age=timedelta(0)).files}
    named = set()
    for snapshot in lake.history(table).snapshots:
        found = lake.inspect(f"{table}$files", snapshot=snapshot.id)
        named |= {Path(row[found.column_names.index("file_path")]).name for row in found.rows}
    return [len(named - disk), len(disk - named - orphans)]


def failing(frame: DataFrame, fault: Callable[[Path], None], marks: Path) -> DataFrame:
    """The same rows, in the course of which a task fails the first time."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            if 0 in batch.column(1).to_pylist():
                fault(marks)

    return frame.mapInArrow(rows, frame.schema)


def is_first(marks: Path) -> bool:
    try:
        (marks / "done").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die_once(marks: Path) -> None:
    """The Python worker is killed."""
    if is_first(marks):
        os.kill(os.getpid(), signal.SIGKILL)


def lose_executor_once(marks: Path) -> None:
    """The executor is killed: the daemon's parent."""
    if is_first(marks):
        status = Path(f"/proc/{os.getppid()}/status").read_text()
        os.kill(int(status.split("PPid:")[1].split()[0]), signal.SIGKILL)


def go_on_in_two(marks: Path) -> None:
    """The first attempt waits until another one has been started beside it, and then both come to their end."""
    if not is_first(marks):
        (marks / "second").touch()
        return
    until = time.monotonic() + 60
    while not (marks / "second").exists():
        if time.monotonic() > until:
            (marks / "alone").touch()
            return
        time.sleep(0.05)


def check_fault(fault: Callable[[Path], None] | None, marks: Path) -> None:
    """Something has failed, or two attempts have run at once; the marks are gone."""
    found = {mark.name for mark in marks.iterdir()}
    wanted = set() if fault is None else {"done", "second"} if fault is go_on_in_two else {"done"}
    assert found == wanted, f"{fault}: {sorted(found)}"
    for name in found:
        (marks / name).unlink()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

"""Write a stream of files into a table in a process of its own, which is killed where it is told to be.

`test_write_stream.py` runs it: the process gets SIGKILL as it publishes a snapshot, before or after.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import lakebed
from lakebed.format.snapshot import Snapshot, SnapshotManager
from runtime import spark_settings

SHAPE = "a string, b string"


def stream_of(spark: SparkSession, directory: Path) -> DataFrame:
    """The rows of the files of a directory, one file a batch."""
    reader = spark.readStream.schema(SHAPE).option("maxFilesPerTrigger", 1)
    return reader.csv(str(directory))


def die_at(number: int, *, late: bool) -> None:
    """Kill this process as that many snapshots are published, of quarantine and of table."""
    publish, seen = SnapshotManager.publish, [0]

    def dying(self: SnapshotManager, snapshot: Snapshot) -> bool:
        seen[0] += 1
        if seen[0] == number and not late:
            os.kill(os.getpid(), signal.SIGKILL)
        done = publish(self, snapshot)
        if seen[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    SnapshotManager.publish = dying  # type: ignore[method-assign]


def main(root: Path, number: int, late: bool) -> None:
    conf = {**spark_settings.settings(), **spark_settings.WRITES, "spark.driver.memory": "1g"}
    spark = SparkSession.builder.master("local[1]").config(map=conf).getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    die_at(number, late=late)
    table = lakebed.open(root / "warehouse").table("db.t")
    writer = table.stream_writer(stream_of(spark, root / "in"), str(root / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "late")

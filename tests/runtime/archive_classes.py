"""Makes the archive of Spark's classes that the Javas of tests start from; `make environments` runs it once.

    python archive_classes.py

One Java does the main job and writes down, as it ends, which classes it had and what they are in memory.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "packaging"), str(TESTS.parent / "src")]

import smoke  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from runtime import spark_settings  # noqa: E402


def main() -> None:
    archive = spark_settings.CLASSES
    archive.unlink(missing_ok=True)
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(".new")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark_settings.set_java_options(os.environ)
    conf = spark_settings.settings(f"-XX:ArchiveClassesAtExit={unfinished}", "-Xlog:disable", "-Xlog:all=error:stderr")
    spark = SparkSession.builder.master("local[2]").config(map=conf).getOrCreate()
    java = spark.sparkContext._gateway.proc
    with TemporaryDirectory() as directory:
        smoke.main_job(spark, Path(directory))
    spark.stop()
    # Java ends with the pipe to it.
    java.stdin.close()
    java.wait()
    unfinished.rename(archive)


if __name__ == "__main__":
    main()

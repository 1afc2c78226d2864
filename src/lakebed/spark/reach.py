"""Check that Spark reaches the files of a table or a source, before a job opens them."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from lakebed.errors import UnsupportedError
from lakebed.spark.scan import is_connect
from lakebed.spark.spark_errors import cause_of, is_sparks
from lakebed.spark.sql_names import spark_pattern

#: What a Spark needs to open URLs, by their schemes.
_CONNECTORS = {
    "s3": "org.apache.hadoop:hadoop-aws, and spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem",
    "s3a": "org.apache.hadoop:hadoop-aws",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
    "abfs": "org.apache.hadoop:hadoop-azure",
    "abfss": "org.apache.hadoop:hadoop-azure",
}
_NO_CONNECTOR = ("No FileSystem for scheme", "ClassNotFoundException")
#: The storages that a session has reached.
_reached: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()


def check_reach(spark: SparkSession, files: Iterable[str]) -> None:
    """Raise UnsupportedError where Spark's driver cannot open `files`, paths or URLs of files that are there.

    Looks at one file of each storage, and at each storage once a session; at files of this machine only for a server,
    which may run on another one.
    """
    reached = _reached.setdefault(spark, set())
    for path in files:
        parts = urlsplit(path) if "://" in path else None
        storage = "" if parts is None else f"{parts.scheme}://{parts.netloc}"
        if storage in reached:
            continue
        if storage not in ("", "file://") or is_connect(spark):
            _open(spark, path, "" if parts is None else parts.scheme.lower())
        reached.add(storage)


def _open(spark: SparkSession, path: str, scheme: str) -> None:
    try:
        _ = spark.read.format("binaryFile").load(spark_pattern(path)).schema
    except Exception as error:
        if not is_sparks(error):
            raise
        cause = cause_of(error)
        raise UnsupportedError.of(
            "LB6462", f"Spark cannot reach {path}: {cause}", path=path, found=cause, remedy=_remedy(scheme, cause)
        ) from None


def _remedy(scheme: str, cause: str) -> str:
    if any(sign in cause for sign in _NO_CONNECTOR):
        connector = _CONNECTORS.get(scheme, f"one for {scheme}://")
        return (
            f"start Spark with a connector (spark.jars.packages: {connector}); to read only, "
            'spark.read.format("lakebed") needs none'
        )
    if scheme in ("", "file"):
        return "the server sees the paths of its own machine: let the warehouse and the sources be there under the same"
    return (
        "Spark does not use Lakebed's storage options: give it credentials and endpoint of its own (spark.hadoop.fs...)"
    )

"""Check that Spark reaches the files of a table or a source, before a job opens them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
#: Each process has one of its own, so that workers do not see what is there.
_OF_A_PROCESS = frozenset(("memory",))
#: The storages that a session has looked at, and why it has no connector for them; None where it has.
_looked_at: WeakKeyDictionary[SparkSession, dict[str, str | None]] = WeakKeyDictionary()


def check_reach(spark: SparkSession, files: Iterable[str]) -> None:
    """Raise UnsupportedError where Spark's driver cannot open `files`, paths or URLs of files that are there.

    Looks at one file of each storage, and at each storage once a session; at files of this machine only for a server,
    which may run on another one.
    """
    for path, _, cause in _failures(spark, files):
        raise not_reached(path, cause)


def needs_workers(spark: SparkSession, files: Iterable[str]) -> bool:
    """Whether Spark has no connector for one of the storages of `files`, so that only its workers' Python opens them.

    Looks at them as `check_reach` does. Raises UnsupportedError where Spark fails for another reason.
    """
    failures = list(_failures(spark, files))
    for path, scheme, cause in failures:
        if scheme in _OF_A_PROCESS or not _is_for_want_of_connector(cause):
            raise not_reached(path, cause)
    return bool(failures)


def _failures(spark: SparkSession, files: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """A file of each storage that Spark does not open, the scheme of its URL, and the cause."""
    known = _looked_at.setdefault(spark, {})
    seen = set[str]()
    for path in files:
        parts = urlsplit(path) if "://" in path else None
        storage, scheme = ("", "") if parts is None else (f"{parts.scheme}://{parts.netloc}", parts.scheme.lower())
        if storage in seen or (storage in ("", "file://") and not is_connect(spark)):
            continue
        seen.add(storage)
        cause = known[storage] if storage in known else _failure(spark, path)
        if cause is None or _is_for_want_of_connector(cause):
            known[storage] = cause
        if cause is not None:
            yield path, scheme, cause


def _failure(spark: SparkSession, path: str) -> str | None:
    """Why Spark cannot open a file; None where it can."""
    try:
        _ = spark.read.format("binaryFile").load(spark_pattern(path)).schema
    except Exception as error:
        if not is_sparks(error):
            raise
        return cause_of(error)
    return None


def _is_for_want_of_connector(cause: str) -> bool:
    return any(sign in cause for sign in _NO_CONNECTOR)


def not_reached(path: str, cause: str) -> UnsupportedError:
    """The error for a file that Spark does not open, for this cause."""
    scheme = urlsplit(path).scheme.lower() if "://" in path else ""
    return UnsupportedError.of(
        "LB6462", f"Spark cannot reach {path}: {cause}", path=path, found=cause, remedy=_remedy(scheme, cause)
    )


def _remedy(scheme: str, cause: str) -> str:
    if _is_for_want_of_connector(cause):
        connector = _CONNECTORS.get(scheme, f"one for {scheme}://")
        return (
            f"start Spark with a connector (spark.jars.packages: {connector}), or ingest copies of the files that lie "
            "where Spark's machines see them"
        )
    if scheme in ("", "file"):
        return "the server sees the paths of its own machine: let the warehouse and the sources be there under the same"
    return (
        "Spark does not use Lakebed's storage options: give it credentials and endpoint of its own (spark.hadoop.fs...)"
    )

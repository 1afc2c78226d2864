"""Failures of Spark as errors of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from lakebed.errors import IngestError
from lakebed.spark.page_checksums import failed_checksum_of

SPARK_FAILED = "LB6118"

_READING = re.compile(r"Encountered error while reading file (\S+?)\.(?:\s|$)")
_CODED = re.compile(r"\[[A-Z][A-Z0-9_.]+\]")


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn failures of Spark into `IngestError`, which names their cause; other errors pass.

    A failed checksum of a file becomes `CorruptMetadataError`.
    """
    try:
        yield
    except Exception as error:
        if not _is_sparks(error):
            raise
        damaged = failed_checksum_of(str(error))
        if damaged is not None:
            raise damaged from error
        cause, file = _cause(error), _file(error)
        what = f"Spark could not read {file!r}" if file else "Spark could not read, check or write the rows"
        raise IngestError.of(
            SPARK_FAILED,
            f"{what}: {cause}",
            path=file,
            found=cause,
            remedy="nothing was written; mend the cause and repeat the run",
        ) from error


def _is_sparks(error: Exception) -> bool:
    """Whether an error comes out of Spark: its own classes, or a failure in the JVM that it passes on as it is."""
    return type(error).__module__.startswith("pyspark.") or hasattr(error, "java_exception")


def _file(error: Exception) -> str | None:
    """The file that was being read, as people write its path."""
    found = _READING.search(str(error))
    return None if found is None else unquote(re.sub("^file:(//)?(?=/)", "", found[1]))


def _cause(error: Exception) -> str:
    """The line of an error that says what really happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    coded = [line for line in lines if _CODED.search(line)]
    return (causes[-1:] or coded[:1] or lines[:1] or [type(error).__name__])[0]

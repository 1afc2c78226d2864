"""Tell damaged pages of Parquet files, which do not fit the checksums that they carry, by what their readers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lakebed.errors import CorruptMetadataError, LakebedError
from lakebed.spark.addresses import plain_url

FAILED_CHECKSUM = "LB5074"

#: What PyArrow and Parquet's Java reader both say.
_FAILED = "CRC checksum verification failed"
_SPARKS_FILE = re.compile(r"Encountered error while reading file (\S.*?)\.\s+SQLSTATE")


def is_failed_checksum(said: str) -> bool:
    """Whether a reader's error says that a page does not fit its checksum."""
    return _FAILED in said


def failed_checksum(path: str) -> LakebedError:
    """The error for a file with such a page."""
    elsewhere = "restore the file from a copy, or read an older snapshot that does not need it"
    anyway = "(lakebed.toml: verify_checksums = false) reads what is there, wrong values and all"
    return CorruptMetadataError.of(
        FAILED_CHECKSUM,
        f"a page of the Parquet file {path} does not fit its checksum: the file is damaged",
        path=path,
        remedy=f"{elsewhere}; --no-verify-checksums {anyway}",
        python_remedy=f"{elsewhere}; verify_checksums=False {anyway}",
    )


def failed_checksum_of(said: str) -> LakebedError | None:
    """The error for a failure of Spark that such a page is the cause of; None for other failures."""
    if not is_failed_checksum(said):
        return None
    file = _SPARKS_FILE.search(said)
    return failed_checksum(plain_url(file[1]) if file else "that was read")


@contextmanager
def checksum_failures() -> Iterator[None]:
    """Turn failures of Spark whose cause is such a page into `CorruptMetadataError`; other errors pass."""
    try:
        yield
    except Exception as error:
        damaged = failed_checksum_of(str(error))
        if damaged is None:
            raise
        raise damaged from error

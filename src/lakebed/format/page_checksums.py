"""Recognise Parquet pages with wrong checksums by the errors of their readers."""

from __future__ import annotations

from lakebed.errors import CorruptMetadataError, LakebedError

FAILED_CHECKSUM = "LB5074"

#: What PyArrow and Parquet's Java reader both say.
_FAILED = "CRC checksum verification failed"


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

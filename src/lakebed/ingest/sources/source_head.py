"""Open the beginning of a source file, decompressed where its name says so."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from lakebed.ingest.sources.source_files import broken_file, compression_of
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage
from lakebed.store.failures import translated

#: Bytes of a file on a remote store that are looked at.
_HEAD = 1 << 20


@contextmanager
def open_head(path: str, storage: SourceStorage = LOCAL) -> Iterator[IO[bytes]]:
    """The bytes of a file from its beginning; of one on a remote store, the first megabyte.

    Raises `StoreError` for a file that cannot be read, and `IngestError` (LB6131), also later while the block reads,
    for one that cannot be decompressed.
    """
    with _raw(path, storage) as raw:
        try:
            yield _decompressed(path, raw)
        except (OSError, EOFError, zlib.error) as error:
            raise broken_file(path, str(error)) from error


def _raw(path: str, storage: SourceStorage) -> IO[bytes]:
    store, root = storage.open(path)
    if "://" in path:
        return io.BytesIO(store.read_range(root, 0, _HEAD))
    with translated("read", path):
        return io.FileIO(root)


def _decompressed(path: str, raw: IO[bytes]) -> IO[bytes]:
    match compression_of(path):
        case ".gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
        case ".bz2":
            return bz2.BZ2File(raw)
        case _:
            return raw

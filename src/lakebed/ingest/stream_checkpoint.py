"""Read what a checkpoint of Spark's says of a streaming query, and of a batch before it is done.

Spark writes `metadata`, with the id of the query, when a checkpoint is begun, and `offsets/N`, with the time and with
where each source is read to, before batch N is done. A batch that is done again has the same file; one that is planned
anew, after an older copy of the checkpoint was put in its place, has another one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from lakebed.errors import LakebedError, NotFoundError, UnsupportedError
from lakebed.ingest.sources.source_listing import SourceStorage
from lakebed.redaction import redact

NO_CHECKPOINT = "LB6485"


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch as a query has planned it: the digest of its offsets, and when, in milliseconds since 1970."""

    query: str
    number: int
    offsets: str
    planned: int


@dataclass(frozen=True, slots=True)
class StreamCheckpoint:
    """The directory of a checkpoint, as it is given to Spark too, and how its storage is opened."""

    location: str
    storage: SourceStorage

    @classmethod
    def of(cls, location: str, storage: SourceStorage) -> StreamCheckpoint:
        """The checkpoint at a path, made absolute, or at a URL."""
        _, root = storage.open(location)
        return cls(location if "://" in location else root, storage)

    @property
    def shown(self) -> str:
        """Where it is, without the secrets of a URL."""
        return redact(self.location)

    def batch(self, number: int) -> PlannedBatch:
        """What is planned for a batch. Raises `UnsupportedError` (LB6485) where the files are not there or strange."""
        offsets = self._read(f"offsets/{number}")
        try:
            query = json.loads(self._read("metadata"))["id"]
            planned = int(json.loads(offsets.split(b"\n")[1])["batchTimestampMs"])
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            raise self._strange(f"does not say which batch {number} of which query it is at") from None
        return PlannedBatch(str(query), number, hashlib.sha256(offsets).hexdigest()[:32], planned)

    def _read(self, name: str) -> bytes:
        store, root = self.storage.open(self.location)
        try:
            return store.read(f"{root}/{name}")
        except NotFoundError:
            raise self._strange(f"has no file {name}") from None

    def _strange(self, problem: str) -> LakebedError:
        return UnsupportedError.of(
            NO_CHECKPOINT,
            f"the checkpoint {self.shown} of the stream {problem}",
            path=self.shown,
            expected="the checkpoint that Spark writes",
            remedy="name a directory that Spark's driver and Lakebed reach by the same path or URL, as the one "
            "checkpoint of the stream",
        )

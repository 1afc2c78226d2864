"""Define the offset of a stream, which Spark keeps in a query's checkpoint.

An offset names the next part to read and where the stream began. Spark asks for the beginning again as long as no
batch is done, and by then the table may have newer snapshots; so the end of a batch says what its beginning was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.errors import LakebedError, UnsupportedError

#: The form of offsets, and with it the order of a snapshot's parts.
VERSION = 1
FULL, CHANGES = "full", "changes"
_KEYS = {"version", "origin", "at", "read", "parts"}


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """The next part to read: of the whole state of a snapshot (`full`), or of what its commit changed.

    `part` parts of it have been read. A snapshot that does not exist yet is a place to wait at.
    """

    full: bool
    snapshot: int
    part: int = 0

    @property
    def order(self) -> tuple[int, int]:
        """Sorts the places of one stream: its whole state comes first, and later snapshots have higher numbers."""
        return self.snapshot, self.part

    def next_part(self) -> StreamPlace:
        """The place after the next part."""
        return StreamPlace(self.full, self.snapshot, self.part + 1)

    def next_snapshot(self) -> StreamPlace:
        """The place after the whole snapshot."""
        return StreamPlace(False, self.snapshot + 1)

    def __str__(self) -> str:
        what = "the whole state" if self.full else "the changes"
        return f"part {self.part} of {what} of snapshot {self.snapshot}"

    def to_json(self) -> dict[str, Any]:
        """The object in an offset."""
        return {"phase": FULL if self.full else CHANGES, "snapshot": self.snapshot, "part": self.part}


@dataclass(frozen=True, slots=True)
class Offset:
    """A place in a stream, and how to know that the table still has the history that was read up to there.

    `read`: the identity of the newest snapshot that was read, wholly or partly; None where nothing was. `parts`: a
    digest of the parts read of a snapshot that is read in several batches, None between snapshots.
    """

    origin: StreamPlace
    at: StreamPlace
    read: str | None = None
    parts: str | None = None

    @property
    def read_snapshot(self) -> int:
        """The snapshot that `read` identifies."""
        begun = self.at.full or self.at.part > 0
        return self.at.snapshot if begun else self.at.snapshot - 1

    def to_json(self) -> dict[str, Any]:
        """What Spark keeps: always the same keys in the same order, since Spark compares the text."""
        return {
            "version": VERSION,
            "origin": self.origin.to_json(),
            "at": self.at.to_json(),
            "read": self.read,
            "parts": self.parts,
        }

    @staticmethod
    def from_json(found: Any) -> Offset:
        """Read what Spark kept. Raises UnsupportedError (LB5616) for anything that `to_json` does not write."""
        if not isinstance(found, Mapping) or "version" not in found:
            raise _strange(found, "an offset of this source")
        if found["version"] != VERSION or isinstance(found["version"], bool):
            raise _strange(found, f"an offset of version {VERSION}")
        if found.keys() != _KEYS:
            raise _strange(found, f"the keys {', '.join(sorted(_KEYS))}")
        texts = found["read"], found["parts"]
        if not all(text is None or isinstance(text, str) for text in texts):
            raise _strange(found, "texts for read and parts")
        origin, at = _place(found["origin"], found), _place(found["at"], found)
        begun = origin.full and at.snapshot == origin.snapshot
        if origin.part != 0 or at.order < origin.order or at.full != begun:
            raise _strange(found, "a place that follows its origin")
        return Offset(origin, at, *texts)


def _place(value: Any, whole: Any) -> StreamPlace:
    if not isinstance(value, Mapping) or value.keys() != {"phase", "snapshot", "part"}:
        raise _strange(whole, "a phase, a snapshot and a part")
    numbers = value["snapshot"], value["part"]
    counts = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
    if value["phase"] not in (FULL, CHANGES) or not counts or value["snapshot"] == 0:
        raise _strange(whole, f"the phase {FULL} or {CHANGES}, a snapshot from 1 and a part from 0")
    return StreamPlace(value["phase"] == FULL, *numbers)


def _strange(found: Any, expected: str) -> LakebedError:
    return UnsupportedError.of(
        "LB5616",
        f"the checkpoint holds an offset that is not understood: {found}",
        expected=expected,
        found=str(found),
        remedy="use the checkpoint with the source and the version that wrote it, or begin with a new checkpoint",
    )

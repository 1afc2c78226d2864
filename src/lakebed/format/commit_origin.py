"""Tell who commits and from where, in the properties of snapshots, and what a snapshot says of its maker."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from lakebed.format.snapshot import Snapshot

USER, HOST, GIT_COMMIT, VERSION = "lakebed.user", "lakebed.host", "lakebed.git-commit", "lakebed.version"
#: What a write was asked for: a JSON list that begins with the name of the operation.
ASKED = "lakebed.asked"
#: The run of an ingest, and how many bad rows it has mended where it is a replay.
RUN_ID, ROWS_REPLAYED = "lakebed.run-id", "lakebed.rows-replayed"
#: Milliseconds from the beginning of a write to its commit.
DURATION = "lakebed.duration-ms"

_OURS = "lakebed"
_ENGINES = {"python": "pypaimon", "rust": "pypaimon-rust", "java": "Paimon Java"}
_WRITER = re.compile(r"([A-Za-z]+)-(\d[\w.]*)")
_MILLIS = re.compile(r"[0-9]{1,15}")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: (refs/[^\s]+)")


def process_origin() -> dict[str, str]:
    """The user of this process, the host, the commit of git that the present directory is at, and Lakebed's version.

    What cannot be found out is left out.
    """
    return origin_at(present_commit())


def present_commit() -> str | None:
    """The commit of git that the present directory is at; None where it is in none, or has been removed."""
    try:
        return git_commit(Path.cwd())
    except OSError:
        return None


def origin_at(commit: str | None) -> dict[str, str]:
    """As `process_origin`, for a commit that is known. Whoever only reads needs not what it imports."""
    import getpass
    import socket
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str] = {}
    with suppress(PackageNotFoundError):
        found[VERSION] = version(_OURS)
    with suppress(OSError, KeyError, ImportError):
        # A container may run as a user whom nothing names.
        found[USER] = getpass.getuser()
    with suppress(OSError):
        found[HOST] = socket.gethostname()
    if commit is not None:
        found[GIT_COMMIT] = commit
    return found


def git_commit(directory: Path) -> str | None:
    """The commit that a directory's checkout is at, by the files of git; None where it is in none, or has none yet."""
    place = next((p / ".git" for p in (directory, *directory.parents) if (p / ".git").exists()), None)
    own = None if place is None else _git_directory(place)
    head = None if own is None else _text(own / "HEAD")
    if own is None or head is None:
        return None
    named = _REF.fullmatch(head)
    if named is None:
        return head if _HASH.fullmatch(head) else None
    shared = _text(own / "commondir")
    places = [own] if shared is None else [own, own / shared]
    found = next((text for p in places if (text := _text(p / named[1])) is not None), None) or _packed(places, named[1])
    return found if found is not None and _HASH.fullmatch(found) else None


def _git_directory(place: Path) -> Path | None:
    """The directory of a checkout's own files, which of a worktree a file names."""
    if place.is_dir():
        return place
    said = _text(place)
    return (place.parent / said.removeprefix("gitdir: ")) if said and said.startswith("gitdir: ") else None


def _packed(places: list[Path], name: str) -> str | None:
    """The commit that a ref is at by the file in which git keeps many of them."""
    for place in places:
        for line in (_text(place / "packed-refs") or "").splitlines():
            commit, _, ref = line.partition(" ")
            if ref == name:
                return commit
    return None


def _text(path: Path) -> str | None:
    """The content of a file, without white space around it; None where there is none, or no text in it."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


@dataclass(frozen=True, slots=True)
class CommitOrigin:
    """Who made a snapshot and from where, as far as it says so. `engine` is a name with a version where it is known."""

    engine: str | None
    user: str | None
    host: str | None
    git_commit: str | None

    @classmethod
    def of(cls, snapshot: Snapshot) -> CommitOrigin:
        """What the properties of a snapshot say, of other engines' what they write of themselves."""
        said = snapshot.properties or {}
        return cls(_engine(snapshot), said.get(USER), said.get(HOST), said.get(GIT_COMMIT))

    def to_json(self) -> dict[str, Any]:
        """The four parts."""
        return {"engine": self.engine, "user": self.user, "host": self.host, "git_commit": self.git_commit}


def _engine(snapshot: Snapshot) -> str | None:
    said = snapshot.properties or {}
    if VERSION in said:
        return f"Lakebed {said[VERSION]}"
    if any(key.startswith(f"{_OURS}.") for key in said) or snapshot.commit_user.startswith(f"{_OURS}-"):
        return "Lakebed"
    writer = _WRITER.match(snapshot.writer_version or "")
    return snapshot.writer_version if writer is None else f"{_ENGINES.get(writer[1], writer[1])} {writer[2]}"


def lasted(began: float) -> dict[str, str]:
    """The property of a commit that is made now, of a write that began at this reading of `time.monotonic`."""
    return {DURATION: str(round((monotonic() - began) * 1000))}


def duration_of(properties: Mapping[str, str]) -> int | None:
    """Milliseconds from the beginning of a write to its commit; None where a snapshot's properties do not say it."""
    text = properties.get(DURATION, "")
    return int(text) if _MILLIS.fullmatch(text) else None


def operation_of(snapshot: Snapshot) -> str:
    """What a commit did, in a word or two: as Lakebed was asked for it, else as its writer says it, else its kind."""
    said = snapshot.properties or {}
    if RUN_ID in said:
        return "replay" if ROWS_REPLAYED in said else "ingest"
    asked = _asked(said)
    if asked is not None:
        return asked
    operation = snapshot.operation or "WRITE"
    return (snapshot.commit_kind if operation == "WRITE" else operation).lower().replace("_", " ")


def _asked(said: Mapping[str, str]) -> str | None:
    """The name of the operation; properties are anybody's to write."""
    try:
        asked = json.loads(said.get(ASKED, "null"))
    except (ValueError, RecursionError):
        return None
    return asked[0] if isinstance(asked, list) and asked and isinstance(asked[0], str) else None

"""Read, find and publish snapshots, the JSON files that make a state visible (Paimon, "Snapshot").

A snapshot is immutable and its number is unique: it is published by create-if-absent. `LATEST` and `EARLIEST` are
hints, read with distrust and written after the snapshot is visible.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lakebed.catalog.paths import MAIN, branch_root
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import CorruptMetadataError, LakebedError, NotFoundError, StoreError, UnsupportedError, warn
from lakebed.store.base import Store
from lakebed.store.obstacles import refuse_obstacle

CURRENT_VERSION = 3
#: The commit identifier of every batch commit; a stream counts upwards instead.
BATCH_IDENTIFIER = 9223372036854775807
APPEND, COMPACT, OVERWRITE, ANALYZE = "APPEND", "COMPACT", "OVERWRITE", "ANALYZE"

_SNAPSHOT = "snapshot-"
_TAG = "tag-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One state of the table. Times are milliseconds since 1970, counts are physical rows, sizes are bytes.

    Optional parts are None where the file does not have them; record counts are unknown in very old files.
    """

    id: int
    schema_id: int
    base_manifest_list: str
    delta_manifest_list: str
    commit_user: str
    commit_identifier: int
    commit_kind: str
    time_millis: int
    total_record_count: int | None = None
    delta_record_count: int | None = None
    base_manifest_list_size: int | None = None
    delta_manifest_list_size: int | None = None
    changelog_manifest_list: str | None = None
    changelog_manifest_list_size: int | None = None
    changelog_record_count: int | None = None
    index_manifest: str | None = None
    watermark: int | None = None
    statistics: str | None = None
    properties: Mapping[str, str] | None = None
    next_row_id: int | None = None
    uuid: str | None = None
    writer_version: str | None = None
    operation: str | None = None
    version: int = CURRENT_VERSION

    def __post_init__(self) -> None:
        if self.properties is not None:
            object.__setattr__(self, "properties", MappingProxyType(dict(self.properties)))

    def __hash__(self) -> int:
        return hash((self.id, self.uuid, self.commit_user, self.commit_identifier))

    def to_json(self) -> dict[str, Any]:
        """The object of the snapshot file; parts that are None are left out, and so are empty properties."""
        out: dict[str, Any] = {}
        for key, name, _, _ in _KEYS:
            value = getattr(self, name)
            if name == "properties":
                value = dict(value) if value else None
            if value is not None:
                out[key] = value
        return out

    def dumps(self) -> bytes:
        """The bytes of the snapshot file."""
        return json.dumps(self.to_json(), indent=2, separators=(",", " : "), ensure_ascii=False).encode()


#: JSON key, attribute, type, and the value that stands for a missing one (`...` where it must be there).
_KEYS: tuple[tuple[str, str, type, Any], ...] = (
    ("version", "version", int, 1),
    ("uuid", "uuid", str, None),
    ("id", "id", int, ...),
    ("schemaId", "schema_id", int, 0),
    ("baseManifestList", "base_manifest_list", str, ...),
    ("baseManifestListSize", "base_manifest_list_size", int, None),
    ("deltaManifestList", "delta_manifest_list", str, ...),
    ("deltaManifestListSize", "delta_manifest_list_size", int, None),
    ("changelogManifestList", "changelog_manifest_list", str, None),
    ("changelogManifestListSize", "changelog_manifest_list_size", int, None),
    ("indexManifest", "index_manifest", str, None),
    ("commitUser", "commit_user", str, ...),
    ("commitIdentifier", "commit_identifier", int, ...),
    ("commitKind", "commit_kind", str, ...),
    ("timeMillis", "time_millis", int, ...),
    ("totalRecordCount", "total_record_count", int, None),
    ("deltaRecordCount", "delta_record_count", int, None),
    ("changelogRecordCount", "changelog_record_count", int, None),
    ("watermark", "watermark", int, None),
    ("statistics", "statistics", str, None),
    ("properties", "properties", dict, None),
    ("nextRowId", "next_row_id", int, None),
    ("writerVersion", "writer_version", str, None),
    ("operation", "operation", str, None),
)


#: What a commit can be; a reader of changes goes by it.
_KINDS = (APPEND, COMPACT, OVERWRITE, ANALYZE)


def loads(data: bytes, *, source: str, expected_id: int | None = None) -> Snapshot:
    """Read a snapshot or tag file. A missing `version` is version 1.

    Keys that are not known are passed over; one that is nearly a known key, which is missing, gives a `LakebedWarning`.
    Raises CorruptMetadataError with every problem of the file, UnsupportedError for a version or a kind of
    commit that is not known yet.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise _corrupt(source, f"is not JSON: {e}") from e
    if not isinstance(content, dict):
        raise _corrupt(source, "does not hold a JSON object")
    parts: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    for key, name, kind, default in _KEYS:
        try:
            parts[name] = _part(content.get(key), kind, default)
        except ValueError as e:
            found = repr(content[key]) if key in content else "nothing"
            problems.append(_problem(source, f"key {key!r} {e}", expected=kind.__name__, found=found))
    if problems:
        raise CorruptMetadataError(*problems)
    if not 1 <= parts["version"] <= CURRENT_VERSION:
        raise UnsupportedError.of(
            "LB5002",
            f"{source} has snapshot version {parts['version']}",
            path=source,
            expected=f"1 to {CURRENT_VERSION}",
            found=str(parts["version"]),
            remedy="read the table with a newer Lakebed",
        )
    _refuse_unknown_values(parts, source)
    if expected_id is not None and parts["id"] != expected_id:
        raise _corrupt(source, f"holds snapshot {parts['id']}")
    _warn_of_near_keys(content, source)
    return Snapshot(**parts)


def _refuse_unknown_values(parts: Mapping[str, Any], source: str) -> None:
    if parts["commit_kind"] not in _KINDS:
        raise UnsupportedError.of(
            "LB5082",
            f"{source} is a commit of the kind {parts['commit_kind']!r}, which is not known",
            path=source,
            expected=", ".join(_KINDS),
            found=parts["commit_kind"],
            suggestions=near_names(parts["commit_kind"], _KINDS, limit=1),
            remedy="if a newer engine wrote it, use a newer Lakebed; if the file is damaged, restore it from a copy",
        )
    if parts["schema_id"] < 0:
        problem = f"key 'schemaId' is {parts['schema_id']}, and versions count from 0"
        raise CorruptMetadataError(
            _problem(source, problem, expected="a whole number from 0", found=str(parts["schema_id"]))
        )


def _warn_of_near_keys(content: Mapping[str, Any], source: str) -> None:
    known = {key for key, *_ in _KEYS}
    missing = [key for key, *_ in _KEYS if content.get(key) is None]
    for key in content:
        if key not in known and (near := near_names(key, missing, limit=1)):
            warn(
                "LB5077",
                f"{source}: there is no key {near[0]!r}, but a key {key!r}, which is not known",
                path=source,
                expected=near[0],
                found=key,
                remedy="if the file is damaged, restore it from a copy: without that key rows may come back",
            )


def _part(value: Any, kind: type, default: Any) -> Any:
    if value is None:
        if default is ...:
            raise ValueError("is missing")
        return default
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError("is not a whole number")
        try:
            return int(value)
        except ValueError:
            raise ValueError("is not a whole number") from None
    if kind is dict:
        if not isinstance(value, dict):
            raise ValueError("is not an object")
        return {k: v if isinstance(v, str) else json.dumps(v) for k, v in value.items()}
    if not isinstance(value, str):
        raise ValueError("is not text")
    return value


def _problem(source: str, message: str, **parts: Any) -> Diagnostic:
    return Diagnostic("LB5001", f"{source}: {message}", path=source, **parts)


def _corrupt(source: str, message: str) -> LakebedError:
    return CorruptMetadataError(_problem(source, message))


#: A number of so many digits is no 64-bit integer.
_MOST_DIGITS = 20


def _number(text: str) -> int | None:
    """The number that a file name or a hint says, None where it is not plain decimal digits without padding."""
    if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS and (text == "0" or text[0] != "0"):
        return int(text)
    return None


class SnapshotManager:
    """The snapshots of one branch of a table. Nothing is cached: every call looks at the store."""

    def __init__(self, store: Store, table_path: str, branch: str = MAIN) -> None:
        root = branch_root(table_path, branch)
        self.store = store
        self.branch = branch
        self._directory = f"{root}/snapshot"
        self._tags = f"{root}/tag"

    def path(self, snapshot_id: int) -> str:
        """Where the file of this snapshot is or would be."""
        return f"{self._directory}/{_SNAPSHOT}{snapshot_id}"

    def ids(self) -> list[int]:
        """All snapshot ids there are, ascending; temporary files and padded numbers are not snapshots."""
        names = (e.name for e in self.store.list(self._directory) if not e.is_directory)
        numbers = (_number(n.removeprefix(_SNAPSHOT)) for n in names if n.startswith(_SNAPSHOT))
        return sorted(n for n in numbers if n is not None)

    def latest_id(self) -> int | None:
        """The highest snapshot id, None without snapshots.

        The hint is believed only where its snapshot exists and the next one does not; else the directory is listed.
        """
        hint = self._hint("LATEST")
        if hint and not self.store.exists(self.path(hint + 1)) and self.store.exists(self.path(hint)):
            return hint
        return max(self.ids(), default=None)

    def earliest_id(self) -> int | None:
        """The lowest snapshot id, None without snapshots; the hint is believed where its snapshot exists."""
        hint = self._hint("EARLIEST")
        if hint and self.store.exists(self.path(hint)):
            return hint
        return min(self.ids(), default=None)

    def _hint(self, name: str) -> int | None:
        try:
            data = self.store.read(f"{self._directory}/{name}")
        except NotFoundError:
            return None
        return _number(data.decode("ascii", "replace").strip())

    def latest(self) -> Snapshot | None:
        """The newest snapshot, None without snapshots."""
        latest = self.latest_id()
        return None if latest is None else self.load(latest)

    def load(self, snapshot_id: int) -> Snapshot:
        """The snapshot of this id; NotFoundError says which there are."""
        path = self.path(snapshot_id)
        try:
            data = self.store.read(path)
        except NotFoundError:
            refuse_obstacle(self.store, path, f"snapshot {snapshot_id}")
            known = self.ids()
            there = f"{known[0]} to {known[-1]}" if known else "none"
            raise NotFoundError.of(
                "LB5003",
                f"snapshot {snapshot_id} does not exist in branch {self.branch!r}; there are: {there}",
                path=path,
                expected=there,
                found=str(snapshot_id),
                remedy="choose a snapshot that has not expired, or a tag",
            ) from None
        return loads(data, source=path, expected_id=snapshot_id)

    def tags(self) -> list[str]:
        """The names of all tags, sorted."""
        names = (e.name for e in self.store.list(self._tags) if not e.is_directory)
        return sorted(n.removeprefix(_TAG) for n in names if n.startswith(_TAG))

    def tag(self, name: str) -> Snapshot:
        """The snapshot that a tag keeps; it outlives the expiry of the snapshot."""
        path = f"{self._tags}/{_TAG}{name}"
        try:
            data = self.store.read(path)
        except NotFoundError:
            refuse_obstacle(self.store, path, f"tag {name!r}")
            raise NotFoundError.of(
                "LB5004",
                f"tag {name!r} does not exist in branch {self.branch!r}",
                path=path,
                found=name,
                suggestions=near_names(name, self.tags()),
                remedy="`lakebed tag list TABLE` lists the tags",
                python_remedy="lake.tags(table).list() has the tags",
            ) from None
        return loads(data, source=path)

    def at_or_before(self, millis: int) -> Snapshot | None:
        """The newest snapshot whose time is at or before `millis` since 1970; None where all are later.

        Times do not fall from one snapshot to the next, so that a few files are read only.
        """
        ids, found = self.ids(), None
        low, high = 0, len(ids)
        while low < high:
            middle = (low + high) // 2
            snapshot = self.load(ids[middle])
            if snapshot.time_millis <= millis:
                found, low = snapshot, middle + 1
            else:
                high = middle
        return found

    def newest_first(self, *, after: int = 0) -> Iterator[Snapshot]:
        """The snapshots with ids above `after`, newest first; ends quietly where expiry has removed the rest."""
        for snapshot_id in reversed(self.ids()):
            if snapshot_id <= after:
                return
            try:
                snapshot = self.load(snapshot_id)
            except NotFoundError:
                return
            yield snapshot

    def find_commit(
        self,
        commit_user: str,
        commit_identifier: int = BATCH_IDENTIFIER,
        *,
        kind: str = APPEND,
        operation: str | None = None,
        after: int = 0,
    ) -> Snapshot | None:
        """The snapshot with id above `after` that this commit has made already, None where it has not.

        A commit is known by its user and its operation, whatever kind of snapshot that came to; without an operation
        by its kind. A stream's commit is done once its user has committed this identifier or a higher one; batches and
        streams of one user are kept apart. Only snapshots that have not expired are looked at.
        """
        found = None
        for snapshot in self.newest_first(after=after):
            if snapshot.commit_user != commit_user or snapshot.operation != operation:
                continue
            if operation is None and snapshot.commit_kind != kind:
                continue
            batch = snapshot.commit_identifier == BATCH_IDENTIFIER
            if batch != (commit_identifier == BATCH_IDENTIFIER):
                continue
            if snapshot.commit_identifier < commit_identifier:
                break
            found = snapshot
        return found

    def publish(self, snapshot: Snapshot) -> bool:
        """Make a snapshot visible. False where its number is taken: somebody else was first.

        `StoreError` says that something that is no file has its name (LB3608), or what the storage failed to do.

        The hint is written afterwards and as well as possible; a stale one does no harm.
        """
        if not self.store.create_if_absent(self.path(snapshot.id), snapshot.dumps()):
            refuse_obstacle(self.store, self.path(snapshot.id), f"snapshot {snapshot.id}")
            return False
        with suppress(StoreError):
            self.store.replace(f"{self._directory}/LATEST", str(snapshot.id).encode())
        return True

"""Create, list and delete tags: names for snapshots, which outlive their expiry (Paimon, `tag/tag-<name>`).

A tag's file is a copy of the snapshot's, with the time it was made and how long to keep it where that was given. It is
published in one step, and protects the data files and the schema versions that the snapshot needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from lakebed.catalog import TableName
from lakebed.catalog.paths import MAIN
from lakebed.diagnostics import near_names
from lakebed.errors import (
    AlreadyExistsError,
    ConflictError,
    LakebedError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.ref_names import check_new_name
from lakebed.maintenance.references import References
from lakebed.store.failed_follow_ups import warn_undone
from lakebed.store.obstacles import refuse_obstacle

NO_SUCH_TAG = "LB5004"
TAG_EXISTS = "LB3657"
NO_SNAPSHOT = "LB3658"
NEEDED_BY_BRANCH = "LB3659"
EXPIRED = "LB3667"
BAD_RETENTION = "LB3665"

_CREATED, _RETAINED = "tagCreateTime", "tagTimeRetained"


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag. `created` is the writer's wall clock, `retained` how long it asks to be kept; both often unknown."""

    name: str
    snapshot: Snapshot
    created: datetime | None = None
    retained: timedelta | None = None

    def to_json(self) -> dict[str, Any]:
        """The object of one tag in the result of `lakebed tag --json`."""
        return {
            "name": self.name,
            "snapshot": self.snapshot.id,
            "schema_id": self.snapshot.schema_id,
            "time_millis": self.snapshot.time_millis,
            "total_record_count": self.snapshot.total_record_count,
            "created": None if self.created is None else self.created.isoformat(),
            "retained_seconds": None if self.retained is None else self.retained.total_seconds(),
        }


class Tags:
    """The tags of one branch of a table."""

    def __init__(self, table: TableBranch) -> None:
        self._branch = table

    @property
    def table(self) -> TableName:
        """The table."""
        return self._branch.name

    @property
    def branch(self) -> str:
        """The branch whose tags these are."""
        return self._branch.branch

    def list(self) -> tuple[Tag, ...]:
        """All tags, by name. Raises `NotFoundError` for a table that does not exist."""
        self._ensure_table()
        return tuple(self._load(name) for name in self._snapshots.tags())

    def get(self, name: str) -> Tag:
        """One tag. Raises `NotFoundError`."""
        self._ensure_table()
        return self._load(name)

    def create(self, name: str, *, snapshot: int | None = None, retained: timedelta | None = None) -> Tag:
        """Tag a snapshot, the newest by default. `retained` lets engines that expire tags remove it after that time.

        Raises:
            ValidationError: no tag can have such a name.
            AlreadyExistsError: there is a tag of this name, be it of the same snapshot.
            NotFoundError: there is no such snapshot, or none at all.
            ConflictError: the snapshot expired at the same time.
        """
        check_new_name("tag", name)
        if retained is not None and retained <= timedelta(0):
            raise UsageError.of(BAD_RETENTION, f"a tag cannot be retained for {retained}", remedy="Give more than 0.")
        self._ensure_table()
        number = snapshot if snapshot is not None else self._snapshots.latest_id()
        if number is None:
            raise NotFoundError.of(
                NO_SNAPSHOT,
                f"{self._branch.label} has no snapshot that could be tagged",
                path=self._branch.label,
                remedy="Ingest rows first.",
            )
        found, store = self._snapshots.load(number), self._branch.store
        data = store.read(self._snapshots.path(number))
        made = None if retained is None else datetime.fromtimestamp(self._branch.clock() / 1000)
        if retained is not None and made is not None:
            data = _tag_bytes(data, made, retained)
        path = self._path(name)
        if not store.create_if_absent(path, data):
            refuse_obstacle(store, path, f"tag {name!r}")
            raise self._exists(name)
        if self._is_gone(number, name):
            # Its data files may be going at this moment, as those of a snapshot that no tag keeps.
            self._branch.inside.delete(path)
            raise ConflictError.of(
                EXPIRED,
                f"snapshot {number} of {self._branch.label} expired while it was tagged; there is no tag {name!r}",
                path=path,
                remedy="Tag a later snapshot.",
            )
        return Tag(name, found, made, retained)

    def delete(self, name: str) -> Tag:
        """Delete a tag. Its data files stay until orphan files are cleaned up.

        Raises:
            NotFoundError: there is no such tag.
            RefusedError: a branch was made from it and would lose its data when other engines expire snapshots.
        """
        self._ensure_table()
        tag = self._load(name)
        refuse_needed(self._branch, name, tag.snapshot)
        self._branch.inside.delete(self._path(name))
        return tag

    def _is_gone(self, number: int, name: str) -> bool:
        """Whether a snapshot has expired since it was tagged; where that cannot be told the tag stays."""
        done, undone = f"tag {name!r} was made", f"whether snapshot {number} has expired meanwhile could not be told"
        try:
            return not self._branch.store.exists(self._snapshots.path(number))
        except StoreError as error:
            warn_undone(error, done, undone, path=self._path(name), remedy="Look whether the tag can be read.")
            return False

    def _exists(self, name: str) -> AlreadyExistsError:
        try:
            of = f"of snapshot {self._load(name).snapshot.id}"
        except LakebedError as error:
            of = f"which cannot be read: {error.diagnostics[0].message}"
        return AlreadyExistsError.of(
            TAG_EXISTS,
            f"{self._branch.label} has a tag {name!r} already, {of}",
            path=self._path(name),
            found=name,
            remedy="Choose another name, or delete that tag first.",
        )

    @property
    def _snapshots(self) -> SnapshotManager:
        return self._branch.snapshots

    def _path(self, name: str) -> str:
        return f"{self._branch.root}/tag/tag-{name}"

    def _ensure_table(self) -> None:
        # Says which table or branch there is none of.
        _ = self._branch.schemas

    def _load(self, name: str) -> Tag:
        known = self._snapshots.tags()
        if name not in known:
            raise NotFoundError.of(
                NO_SUCH_TAG,
                f"tag {name!r} does not exist in {self._branch.label}",
                path=self._branch.label,
                found=name,
                suggestions=near_names(name, known),
                remedy=f"`lakebed tag list '{self._branch.label}'` lists the tags",
                python_remedy=f"lake.tags({self._branch.label!r}).list() has the tags",
            )
        return Tag(name, self._snapshots.tag(name), *_times(self._branch.store.read(self._path(name))))


def refuse_needed(table: TableBranch, name: str, snapshot: Snapshot) -> None:
    """Raise `RefusedError` for a tag that a branch was made from: engines expire snapshots with no look at branches."""
    if table.branch != MAIN:
        return
    standing = []
    for branch in References(table).branch_directories():
        others = table.on(branch).snapshots
        if name in others.tags() and others.tag(name) == snapshot:
            standing.append(branch)
    if standing:
        raise RefusedError.of(
            NEEDED_BY_BRANCH,
            f"tag {name!r} of {table.label} keeps the data of branch {', '.join(standing)}",
            path=f"{table.root}/tag/tag-{name}",
            found=", ".join(standing),
            remedy="Delete the branch first, or fast-forward and then delete it.",
        )


def snapshot_bytes(tag_file: bytes) -> bytes:
    """The bytes of the snapshot file that a tag's file copies."""
    content = json.loads(tag_file)
    if not content.keys() & {_CREATED, _RETAINED}:
        return tag_file
    return _dumps({key: value for key, value in content.items() if key not in (_CREATED, _RETAINED)})


def _tag_bytes(snapshot_file: bytes, created: datetime, retained: timedelta) -> bytes:
    """The snapshot's object with both times as Java writes them: local date and time in parts, seconds."""
    parts = [created.year, created.month, created.day, created.hour, created.minute]
    if created.second or created.microsecond:
        parts.append(created.second)
    if created.microsecond:
        parts.append(created.microsecond * 1000)
    return _dumps({**json.loads(snapshot_file), _CREATED: parts, _RETAINED: retained.total_seconds()})


def _times(tag_file: bytes) -> tuple[datetime | None, timedelta | None]:
    """When the tag was made and how long it is kept; None for what is not there or cannot be understood."""
    content = json.loads(tag_file)
    return _moment(content.get(_CREATED)), _length(content.get(_RETAINED))


def _moment(parts: Any) -> datetime | None:
    """A local date and time in 5 to 7 parts, the last in nanoseconds; later engines may write text."""
    try:
        if isinstance(parts, str):
            return datetime.fromisoformat(parts)
        padded: list[int] = list(parts) + [0] * (7 - len(parts))
        year, month, day, hour, minute, second, nanos = padded
        return datetime(year, month, day, hour, minute, second, nanos // 1000)
    except (TypeError, ValueError, OverflowError):
        return None


def _length(seconds: Any) -> timedelta | None:
    try:
        return timedelta(seconds=float(seconds))
    except (TypeError, ValueError, OverflowError):
        return None


def _dumps(content: dict[str, Any]) -> bytes:
    return json.dumps(content, indent=2, separators=(",", " : "), ensure_ascii=False).encode()

"""Tell what a write did, and hold what every write can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypedDict
from uuid import uuid4

from lakebed.errors import UsageError
from lakebed.format import commit_origin
from lakebed.readable import Readable

BAD_ARGUMENT = "LB5104"
OTHER_RUN = "LB5105"
#: The property of a snapshot that says what a write was asked for, so that a run id is not taken for another write's.
ASKED = commit_origin.ASKED
#: The property that tells apart calls that commit as the same user.
ATTEMPT = "lakebed.attempt"
_OURS = "lakebed."


class WriteKeywords(TypedDict, total=False):
    """The keywords that every write takes; see `lakebed.Table.truncate`."""

    run_id: str | None
    commit_user: str | None
    properties: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class WriteRun:
    """Who writes: the commit user, whether a commit that this user has made counts as this one, and what is told."""

    commit_user: str
    once: bool
    run_id: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, run_id: str | None = None, commit_user: str | None = None, properties: Mapping[str, str] | None = None
    ) -> WriteRun:
        """The run that the keywords of a write make. Raises `UsageError` (LB5104) where they do not make sense."""
        properties = _texts(properties or {})
        if run_id is not None and commit_user is not None:
            raise UsageError.of(
                BAD_ARGUMENT, "a run id is a commit user too", found=commit_user, remedy="give one of the two"
            )
        for name, text in (("run id", run_id), ("commit user", commit_user)):
            problem = None if text is None else wrong_name(text)
            if problem is not None:
                raise UsageError.of(
                    BAD_ARGUMENT, f"the {name} is {problem}: {text!r}", expected="a text", found=repr(text)
                )
        for key, value in properties.items():
            if key.startswith(_OURS):
                raise UsageError.of(
                    BAD_ARGUMENT,
                    f"{key!r} cannot be a property of a snapshot, {value!r}: Lakebed's own begin so",
                    found=repr(key),
                    expected=f"a name that does not begin with {_OURS}",
                )
        if commit_user is not None:
            return cls(commit_user, True, None, properties)
        return cls(f"{_OURS[:-1]}-{run_id or uuid4().hex}", run_id is not None, run_id, properties)


def wrong_name(name: object) -> str | None:
    """What is wrong with the name of a run or of a user; None where it can be one."""
    if not isinstance(name, str):
        return "no text"
    return None if name.strip() else "blank"


def _texts(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a snapshot. Raises `UsageError` (LB5104) for what other engines could not read."""
    found: object = properties
    bad = (
        found
        if not isinstance(found, Mapping)
        else [p for p in found.items() if not all(isinstance(x, str) for x in p)]
    )
    if bad:
        raise UsageError.of(
            BAD_ARGUMENT,
            f"properties of a snapshot are texts by name: {bad!r}",
            expected="texts by name",
            found=repr(bad),
            remedy='make texts of them: properties={"rows": str(5)}',
        )
    return dict(properties)


@dataclass(frozen=True, slots=True)
class WriteResult(Readable):
    """What a write did. `snapshot_id` is None where there was nothing to do.

    Rows are those that files hold: in a table with a primary key several of them may make one row of the table.
    `rows_by_kind` are the rows that were written, by `+I`, `-U`, `+U` and `-D`. `partitions` are the partitions that
    lost files. `rows_deleted`, `rows_updated` and `rows_inserted` are the rows of the table that a delete, an update or
    a merge was about, whatever files hold. `repeated` says that the run was done before and nothing was done now; all
    else is as it was then. `duration_ms` are milliseconds up to the commit.
    """

    renderer: ClassVar[str] = "lakebed.render.write_text:write_text"

    table: str
    operation: str
    schema_id: int
    snapshot_id: int | None
    rows_by_kind: Mapping[str, int] = field(default_factory=dict)
    rows_removed: int = 0
    files_added: int = 0
    files_removed: int = 0
    bytes_added: int = 0
    bytes_removed: int = 0
    partitions: tuple[str, ...] = ()
    run_id: str | None = None
    repeated: bool = False
    rows_deleted: int = 0
    rows_updated: int = 0
    rows_inserted: int = 0
    duration_ms: int | None = None

    @property
    def rows_added(self) -> int:
        """Rows of all kinds that were written."""
        return sum(self.rows_by_kind.values())

    def to_json(self) -> dict[str, Any]:
        """The object of `--json`."""
        return {
            "table": self.table,
            "operation": self.operation,
            "run_id": self.run_id,
            "schema_id": self.schema_id,
            "snapshot_id": self.snapshot_id,
            "rows_by_kind": dict(self.rows_by_kind),
            "rows_added": self.rows_added,
            "rows_removed": self.rows_removed,
            "files_added": self.files_added,
            "files_removed": self.files_removed,
            "bytes_added": self.bytes_added,
            "bytes_removed": self.bytes_removed,
            "partitions": list(self.partitions),
            "repeated": self.repeated,
            "rows_deleted": self.rows_deleted,
            "rows_updated": self.rows_updated,
            "rows_inserted": self.rows_inserted,
            "duration_ms": self.duration_ms,
        }

"""Find and remove unused schema versions (Paimon, "Deletion and rollback of schemas").

The newest version always stays: it holds the highest field id. So does the one that `apply` made last, without which
nobody could tell what others changed after it. A version stays too while it was the newest until a
short time ago, since a writer that began then may still commit files under it. Gaps are legal for all readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from lakebed.catalog import TableName
from lakebed.catalog.annotations import applied_version
from lakebed.catalog.dialects import dialect_of
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError, UsageError
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.durations import duration_text, millis_of
from lakebed.maintenance.references import Reference, References, summary, unreadable
from lakebed.readable import Readable
from lakebed.store.base import Store

CUMULATIVE = "LB3663"

#: A writer that takes longer than this between its start and its commit is not protected.
DEFAULT_MIN_AGE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class VersionUse:
    """One version, and why it stays; without a reason it can be removed."""

    schema_id: int
    time_millis: int
    reasons: tuple[str, ...]
    references: frozenset[Reference] = frozenset()

    @property
    def is_unused(self) -> bool:
        """Whether nothing keeps it."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class VersionReport(Readable):
    """Every version of a branch in ascending order, and which of them were removed (none in a dry run).

    `put_back` are versions that a commit came to need while they were being removed.
    """

    renderer: ClassVar[str] = "lakebed.render.maintenance_text:versions_text"

    name: TableName
    branch: str
    min_age: timedelta
    versions: tuple[VersionUse, ...]
    removed: tuple[int, ...] = ()
    put_back: tuple[int, ...] = ()

    @property
    def unused(self) -> tuple[int, ...]:
        """The versions that can be removed, or were."""
        return tuple(v.schema_id for v in self.versions if v.is_unused)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed versions --json`. Times are milliseconds since 1970."""
        return {
            "table": str(self.name),
            "branch": self.branch,
            "min_age_seconds": int(self.min_age.total_seconds()),
            "versions": [
                {
                    "schema_id": v.schema_id,
                    "time_millis": v.time_millis,
                    "unused": v.is_unused,
                    "kept_because": list(v.reasons),
                }
                for v in self.versions
            ],
            "removed": list(self.removed),
            "put_back": list(self.put_back),
        }


def unused_versions(table: TableBranch, *, min_age: timedelta = DEFAULT_MIN_AGE) -> VersionReport:
    """What keeps each version of the branch. Writes nothing.

    Raises:
        NotFoundError: there is no such table or branch.
        RefusedError: something that may refer to a version cannot be read.
        UsageError: a negative `min_age`, or a table of the mini layout, whose versions build on each other.
    """
    return _examine(table, min_age, References(table))


def remove_versions(table: TableBranch, *, min_age: timedelta = DEFAULT_MIN_AGE) -> VersionReport:
    """Remove the versions that nothing keeps, the oldest first. Raises as `unused_versions`, and then removes nothing.

    What refers is looked at once more right before the first file goes, and again afterwards: a version that a commit
    came to need in between is put back as it was. A crash leaves some of them removed and the table as it was.
    """
    references = References(table)
    first = _examine(table, min_age, references)
    if not first.unused:
        return first
    contents = [(i, table.schemas.path(i), table.store.read(table.schemas.path(i))) for i in first.unused]
    report = _examine(table, min_age, references)
    removed = []
    for schema_id, path, data in contents:
        if schema_id in report.unused:
            table.inside.delete(path)
            removed.append((schema_id, path, data))
    try:
        needed = {r.schema_id for r in references.to_versions_of(table.branch)}
    except LakebedError:
        # Nobody can tell whether they are needed.
        put_back(table.store, removed)
        raise
    returned = [part for part in removed if part[0] in needed]
    put_back(table.store, returned)
    back = {part[0] for part in returned}
    return replace(
        report, removed=tuple(part[0] for part in removed if part[0] not in back), put_back=tuple(sorted(back))
    )


def put_back(store: Store, files: Iterable[tuple[int, str, bytes]]) -> None:
    """Make files that were removed again, as they were, the lowest number first."""
    for _, path, data in sorted(files):
        store.create_if_absent(path, data)


def _examine(table: TableBranch, min_age: timedelta, references: References) -> VersionReport:
    if min_age < timedelta(0):
        raise UsageError.of("LB3665", f"a minimum age of {min_age} makes no sense", remedy="Give 0 or more.")
    if dialect_of(table.tables.path_factory.layout).is_cumulative:
        raise UsageError.of(
            CUMULATIVE,
            f"versions of {table.label} cannot be removed: in the mini layout each builds on those before it",
            path=table.table_path,
            remedy="Move the table to the paimon layout.",
        )
    schemas = table.schemas
    # Listed before what refers to them is, so that a version made meanwhile is not among them.
    try:
        versions = [schemas.load_schema(i) for i in schemas.ids()]
    except LakebedError as error:
        raise unreadable(table.table_path, error) from error
    by_version: dict[int, set[Reference]] = {}
    for reference in references.to_versions_of(table.branch):
        by_version.setdefault(reference.schema_id, set()).add(reference)
    now = table.clock()
    applied = applied_version(versions[-1]) if versions else None
    uses = []
    for number, version in enumerate(versions):
        found = frozenset(by_version.get(version.id, ()))
        reasons = [*summary(found), *_age_reasons(versions[number + 1 :], now, min_age)]
        if version.id == applied and version is not versions[-1]:
            reasons.append("the last version that `apply` made")
        uses.append(VersionUse(version.id, version.time_millis, tuple(reasons), found))
    return VersionReport(table.name, table.branch, min_age, tuple(uses))


def _age_reasons(later: list[TableSchema], now: int, min_age: timedelta) -> list[str]:
    """Why a version stays that these versions, oldest first, came after. A version without a time says nothing."""
    if not later:
        return ["the newest version"]
    replaced = next((v.time_millis for v in later if v.time_millis > 0), None)
    if replaced is None:
        return ["when it stopped being the newest is not known"]
    age = now - replaced
    if age < 0:
        return ["it stopped being the newest in the future, as the clocks have it"]
    if age < millis_of(min_age):
        return [f"it was the newest until {duration_text(age)} ago"]
    return []

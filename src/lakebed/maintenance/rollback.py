"""Roll back to an earlier schema version, snapshot or tag (Paimon's `rollbackSchema`, `rollbackTo`).

Files go newest first, so that the table is readable at every moment and a roll back that was interrupted is finished by
repeating it. Data files stay; the clean-up of orphan files takes those that nothing refers to any more.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from lakebed.catalog import TableName
from lakebed.catalog.paths import MAIN
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConflictError, LakebedError, NotFoundError, RefusedError, StoreError, UsageError
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.references import Reference, References, changelogs, summary, unreadable
from lakebed.maintenance.tags import refuse_needed, snapshot_bytes
from lakebed.maintenance.versions import put_back
from lakebed.readable import Readable

REFERRED = "LB3660"
LATER_TAGS = "LB3661"
CONFLICT = "LB3662"


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go back to: exactly one of them is given. Raises `UsageError` otherwise."""

    schema: int | None = None
    snapshot: int | None = None
    tag: str | None = None

    def __post_init__(self) -> None:
        if sum(target is not None for target in (self.schema, self.snapshot, self.tag)) != 1:
            raise UsageError.of(
                "LB3668", "one roll back goes to one place", expected="a schema version, a snapshot or a tag"
            )


@dataclass(frozen=True, slots=True)
class RollBack(Readable):
    """What a roll back took away, or would: numbers of schema versions, snapshots and changelogs, names of tags."""

    renderer: ClassVar[str] = "lakebed.render.maintenance_text:rollback_text"

    name: TableName
    branch: str
    target: str
    versions: tuple[int, ...] = ()
    snapshots: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    changelogs: tuple[int, ...] = ()
    done: bool = False

    @property
    def is_noop(self) -> bool:
        """Whether the table is there already."""
        return not (self.versions or self.snapshots or self.tags or self.changelogs)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed rollback --json`."""
        return {
            "table": str(self.name),
            "branch": self.branch,
            "target": self.target,
            "done": self.done,
            "removed": {
                "versions": list(self.versions),
                "snapshots": list(self.snapshots),
                "tags": list(self.tags),
                "changelogs": list(self.changelogs),
            },
        }


def roll_back(table: TableBranch, target: Target, *, delete_tags: bool = False, dry_run: bool = False) -> RollBack:
    """`roll_back_schema` or `roll_back_snapshots`, as the target says."""
    if target.schema is not None:
        return roll_back_schema(table, target.schema, dry_run=dry_run)
    return roll_back_snapshots(
        table, snapshot=target.snapshot, tag=target.tag, delete_tags=delete_tags, dry_run=dry_run
    )


def roll_back_schema(table: TableBranch, schema_id: int, *, dry_run: bool = False) -> RollBack:
    """Make a version the newest again by removing all later ones.

    Field ids that only the removed versions had are given out again; no data file uses them.

    Raises:
        NotFoundError: there is no such version, table or branch.
        RefusedError: something refers to a later version, with all that does; or that cannot be told.
        ConflictError: somebody wrote under a later version, or made one, at the same time; all is as it was then.
    """
    schemas = table.schemas
    schemas.load_schema(schema_id)
    later = [i for i in schemas.ids() if i > schema_id]
    found = RollBack(table.name, table.branch, f"schema {schema_id}", versions=tuple(later))
    if not later:
        return found
    references = References(table)
    _refuse_referred(table, schema_id, references)
    if dry_run:
        return found
    contents = [(i, schemas.path(i), table.store.read(schemas.path(i))) for i in later]
    _refuse_referred(table, schema_id, references)
    for _, path, _ in reversed(contents):
        table.inside.delete(path)
    try:
        late = _later_references(table, schema_id, references)
        newer = [i for i in schemas.ids() if i > schema_id]
    except LakebedError:
        # Nobody can tell whether they are needed.
        put_back(table.store, contents)
        raise
    if late or newer:
        put_back(table.store, contents)
        what = "; ".join(summary(late)) or f"schema {newer[0]} was made"
        raise ConflictError.of(
            CONFLICT,
            f"{table.label} was written to while it was rolled back ({what}); its versions are as they were",
            path=table.table_path,
            remedy="Stop the writers and try again.",
        )
    table.put_record_right(f"{table.label} was rolled back to schema {schema_id}")
    return RollBack(table.name, table.branch, found.target, versions=tuple(later), done=True)


def _refuse_referred(table: TableBranch, schema_id: int, references: References) -> None:
    later = _later_references(table, schema_id, references)
    if not later:
        return
    problems = []
    for number in sorted({r.schema_id for r in later}):
        needed_by = "; ".join(summary((r for r in later if r.schema_id == number), name_files=True))
        message = f"{table.label} cannot be rolled back to schema {schema_id}: schema {number} is needed by {needed_by}"
        problems.append(
            Diagnostic(REFERRED, message, path=table.label, found=f"schema {number}", remedy=_remedy(later))
        )
    raise RefusedError(*problems)


def _remedy(later: frozenset[Reference]) -> str:
    if any(r.branch != MAIN for r in later):
        return "Delete the branch and tags that need it, or change the schema forwards with a plan."
    return "Roll the table back to a snapshot from before that schema, or change the schema forwards with a plan."


def _later_references(table: TableBranch, schema_id: int, references: References) -> frozenset[Reference]:
    return frozenset(r for r in references.to_versions_of(table.branch) if r.schema_id > schema_id)


def roll_back_snapshots(
    table: TableBranch,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    delete_tags: bool = False,
    dry_run: bool = False,
) -> RollBack:
    """Make an earlier snapshot, or the one that a tag keeps, the newest again by removing all later ones.

    The schema stays: roll it back afterwards where that is wanted. A snapshot that has expired comes back from its tag.
    Tags of later snapshots keep states that would be lost; they go only with `delete_tags`.

    Raises:
        NotFoundError: there is no such snapshot, tag, table or branch.
        RefusedError: later tags would be lost; or a snapshot or tag cannot be read.
        ConflictError: somebody committed at the same time, on top of what was removed.
    """
    table.schemas.get_current_schema()
    manager = table.snapshots
    target = manager.tag(tag or "") if snapshot is None else _snapshot_or_tag(table, snapshot)
    try:
        later_tags = sorted(name for name in manager.tags() if manager.tag(name).id > target.id)
    except LakebedError as error:
        raise unreadable(table.table_path, error) from error
    if later_tags and not delete_tags:
        raise RefusedError.of(
            LATER_TAGS,
            f"{table.label} cannot be rolled back to snapshot {target.id}: "
            f"tags keep later snapshots, which would be lost: {', '.join(later_tags)}",
            path=table.label,
            found=", ".join(later_tags),
            remedy="Delete the tags first, or give --delete-tags.",
            python_remedy="delete the tags first, or give delete_tags=True",
        )
    for name in later_tags:
        refuse_needed(table, name, manager.tag(name))
    found = RollBack(
        table.name,
        table.branch,
        f"snapshot {target.id}" if tag is None else f"tag {tag} (snapshot {target.id})",
        snapshots=tuple(i for i in manager.ids() if i > target.id),
        tags=tuple(later_tags),
        changelogs=tuple(n for n, _ in changelogs(table.store, table.table_path, table.branch) if n > target.id),
    )
    if dry_run or (found.is_noop and target.id in manager.ids()):
        return found
    _remove_later(table, target, found, None if target.id in manager.ids() else _tag_of(table, target))
    newer = [i for i in manager.ids() if i > target.id]
    if newer:
        raise ConflictError.of(
            CONFLICT,
            f"somebody committed snapshot {newer[-1]} to {table.label} while it was rolled back to {target.id}",
            path=table.table_path,
            remedy="Stop the writers and roll back again.",
        )
    return RollBack(
        table.name, table.branch, found.target, (), found.snapshots, found.tags, found.changelogs, done=True
    )


def _remove_later(table: TableBranch, target: Snapshot, found: RollBack, tag_file: str | None) -> None:
    """Bring back an expired target, then remove all that is later, the newest first.

    The hint goes before and comes back afterwards: readers that find none list the snapshots. Turned back before, it
    would be believed where the target had expired, since no snapshot follows it; left alone, it would be too high.
    """
    manager, store, inside = table.snapshots, table.store, table.inside
    # Before anything goes, so that a link in the place of one of them stops it all.
    for directory, goes in (("snapshot", True), ("tag", found.tags), ("changelog", found.changelogs)):
        if goes:
            inside.check(f"{table.root}/{directory}/any")
    if tag_file is not None:
        content = snapshot_bytes(store.read(tag_file))
        store.create_if_absent(manager.path(target.id), content)
        store.replace(f"{table.root}/snapshot/EARLIEST", str(target.id).encode())
    # It may have expired since it was looked up.
    manager.load(target.id)
    latest = f"{table.root}/snapshot/LATEST"
    inside.delete(latest)
    for number in reversed(found.snapshots):
        inside.delete(manager.path(number))
    for name in found.tags:
        inside.delete(f"{table.root}/tag/tag-{name}")
    if found.changelogs:
        # Readers believe this hint wherever there is no changelog after it.
        inside.delete(f"{table.root}/changelog/LATEST")
        for number in reversed(found.changelogs):
            inside.delete(f"{table.root}/changelog/changelog-{number}")
    if max(manager.ids()) == target.id:
        with suppress(StoreError):
            store.replace(latest, str(target.id).encode())


def _snapshot_or_tag(table: TableBranch, snapshot_id: int) -> Snapshot:
    try:
        return table.snapshots.load(snapshot_id)
    except NotFoundError:
        for name in table.snapshots.tags():
            found = table.snapshots.tag(name)
            if found.id == snapshot_id:
                return found
        raise


def _tag_of(table: TableBranch, target: Snapshot) -> str:
    names = (name for name in table.snapshots.tags() if table.snapshots.tag(name) == target)
    return f"{table.root}/tag/tag-{next(names)}"

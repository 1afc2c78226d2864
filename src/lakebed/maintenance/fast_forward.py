"""Fast-forward a table to its branch: take over what the branch has gained since it was made.

Other implementations delete the table's snapshots, tags and versions from the branch's first snapshot on and copy the
branch's over them: what the table gained meanwhile is lost. Here that is refused, and so nothing has to be deleted: the
branch's schema versions, snapshots and tags are added, in this order and ascending, each only where nothing is yet. The
table is therefore always in a state that the branch went through, also after a crash, and repeating finishes the work.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from lakebed.catalog import TableName
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConflictError, RefusedError, StoreError
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.readable import Readable

DIVERGED = "LB3655"
NO_SNAPSHOT = "LB3656"
CONFLICT = "LB3662"


@dataclass(frozen=True, slots=True)
class FastForward(Readable):
    """What the table gained from a branch: numbers of schema versions and snapshots, names of tags."""

    renderer: ClassVar[str] = "lakebed.render.maintenance_text:fast_forward_text"

    name: TableName
    branch: str
    versions: tuple[int, ...]
    snapshots: tuple[int, ...]
    tags: tuple[str, ...]

    @property
    def is_noop(self) -> bool:
        """Whether the table has all of it already."""
        return not (self.versions or self.snapshots or self.tags)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed branch fast-forward --json`."""
        return {
            "table": str(self.name),
            "branch": self.branch,
            "versions": list(self.versions),
            "snapshots": list(self.snapshots),
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True)
class _Copy:
    """A file that the table lacks."""

    what: str
    target: str
    data: bytes


def fast_forward(main: TableBranch, branch: TableBranch, *, dry_run: bool = False) -> FastForward:
    """Add to the table what the branch has and it has not; `dry_run` only says what that is.

    Raises:
        RefusedError: the branch has no snapshot; or the table has something that the branch has not, all of it named.
        ConflictError: somebody wrote to the table at the same time; it is in a state that the branch went through.
    """
    versions, snapshots, tags = branch.schemas.ids(), branch.snapshots.ids(), branch.snapshots.tags()
    if not snapshots:
        raise RefusedError.of(
            NO_SNAPSHOT,
            f"{branch.label} has no snapshot to bring {main.label} forward to",
            path=branch.label,
            remedy="Write to the branch first; a schema alone is changed on the table itself, by a plan.",
        )
    problems = [*_foreign_snapshots(main, branch), *_foreign_versions(main, branch), *_foreign_tags(main, branch)]
    if problems:
        remedy = _remedy(main, branch)
        message = f"{main.label} cannot be brought forward to {branch.label}"
        raise RefusedError(
            *(Diagnostic(DIVERGED, f"{message}: {problem}", path=main.label, remedy=remedy) for problem in problems)
        )
    known = set(main.schemas.ids()), set(main.snapshots.ids()), set(main.snapshots.tags())
    gained = FastForward(
        main.name,
        branch.branch,
        tuple(i for i in versions if i not in known[0]),
        tuple(i for i in snapshots if i not in known[1]),
        tuple(name for name in tags if name not in known[2]),
    )
    if not dry_run:
        _add(main, branch, gained)
    return gained


def _add(main: TableBranch, branch: TableBranch, gained: FastForward) -> None:
    read = main.store.read
    copies = [
        *(_Copy(f"schema {i}", main.schemas.path(i), read(branch.schemas.path(i))) for i in gained.versions),
        *(_Copy(f"snapshot {i}", main.snapshots.path(i), read(branch.snapshots.path(i))) for i in gained.snapshots),
        *(_Copy(f"tag {t}", f"{main.root}/tag/tag-{t}", read(f"{branch.root}/tag/tag-{t}")) for t in gained.tags),
    ]
    for copy in copies:
        if not main.store.create_if_absent(copy.target, copy.data) and read(copy.target) != copy.data:
            raise ConflictError.of(
                CONFLICT,
                f"somebody else made {copy.what} of {main.label} while it was brought forward to {branch.label}",
                path=copy.target,
                remedy="Look at the history of both, roll the table back to where the branch began, and repeat.",
            )
    if gained.snapshots:
        with suppress(StoreError):
            main.store.replace(f"{main.root}/snapshot/LATEST", str(gained.snapshots[-1]).encode())
    main.put_record_right(f"{main.label} was brought forward to {branch.label}")


def _foreign_snapshots(main: TableBranch, branch: TableBranch) -> list[str]:
    """What stands in the table's snapshots against taking over those of the branch."""
    theirs, ours = branch.snapshots.ids(), main.snapshots.ids()
    first = theirs[0]
    extra = [i for i in ours if i >= first and (i not in theirs or not _same_snapshot(main, branch, i))]
    if extra:
        return [f"it has {_listed('snapshot', extra)}, which the branch has not"]
    if ours and ours[-1] < first - 1:
        return [f"the branch no longer has snapshot {ours[-1] + 1}, which would follow the table's newest"]
    if ours and ours[-1] < first and not _has_tag_of(branch, main.snapshots.load(ours[-1])):
        # What the table has gained since the branch was made would be lost where it began with an earlier one.
        return [f"whether the branch came after its snapshot {ours[-1]} cannot be told, as older ones have expired"]
    return []


def _has_tag_of(branch: TableBranch, snapshot: Snapshot) -> bool:
    """Whether a branch has a tag of a snapshot, as of the one that it was made from."""
    return any(branch.snapshots.tag(name) == snapshot for name in branch.snapshots.tags())


def _remedy(main: TableBranch, branch: TableBranch) -> str:
    began = branch.snapshots.load(branch.snapshots.ids()[0])
    if began.id > 1 and began.id not in main.snapshots.ids():
        return "Copy the branch's rows to the table; keep the snapshots of a branch until it is brought forward."
    return (
        f"Roll the table back to snapshot {began.id} and then to schema {began.schema_id}, where the branch began, "
        "or copy the branch's rows."
    )


def _same_snapshot(main: TableBranch, branch: TableBranch, number: int) -> bool:
    return main.snapshots.load(number) == branch.snapshots.load(number)


def _foreign_versions(main: TableBranch, branch: TableBranch) -> list[str]:
    theirs, store = branch.schemas.ids(), main.store
    extra = [
        i
        for i in main.schemas.ids()
        if i > theirs[-1] or (i in theirs and store.read(main.schemas.path(i)) != store.read(branch.schemas.path(i)))
    ]
    return [f"it has {_listed('schema', extra)}, which the branch has not"] if extra else []


def _foreign_tags(main: TableBranch, branch: TableBranch) -> list[str]:
    ours = main.snapshots.tags()
    extra = [t for t in branch.snapshots.tags() if t in ours and main.snapshots.tag(t) != branch.snapshots.tag(t)]
    return [f"its tag {name!r} is of another snapshot than the branch's" for name in extra]


def _listed(kind: str, numbers: list[int]) -> str:
    shown = ", ".join(str(n) for n in numbers[:5]) + (f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else "")
    return f"{kind}{'s' if len(numbers) > 1 and kind == 'snapshot' else ''} {shown}"

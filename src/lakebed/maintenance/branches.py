"""Create, list, delete and fast-forward branches of a table (Paimon, `branch/`).

A branch has schema versions, snapshots and tags of its own.

`branch/branch-<name>/` holds copies of the schema files and, of a branch made from a tag, of the tag and its snapshot.
Manifests and data files stay shared with the table. A branch appears and goes in one step: by moving its directory
where the storage can move directories; elsewhere a marker in it tells Lakebed that it is not a branch, yet or any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lakebed.catalog import TableName
from lakebed.catalog.options import SCAN_FALLBACK_BRANCH, SCAN_PRIMARY_BRANCH
from lakebed.catalog.paths import INCOMPLETE, MAIN, branch_names, branch_root
from lakebed.diagnostics import near_names
from lakebed.errors import AlreadyExistsError, LakebedError, NotFoundError, RefusedError, StoreError, UsageError
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.fast_forward import FastForward, fast_forward
from lakebed.maintenance.ref_names import check_new_name
from lakebed.maintenance.references import ReferenceKind, References, State
from lakebed.maintenance.tags import Tags, snapshot_bytes
from lakebed.store import DirectoryStore, temporary
from lakebed.store.failed_follow_ups import afterwards

BRANCH_EXISTS = "LB3651"
NO_SUCH_BRANCH = "LB3652"
MAIN_BRANCH = "LB3653"
INTERRUPTED = "LB3654"
IN_USE = "LB3666"

_FALLBACKS = (SCAN_FALLBACK_BRANCH, SCAN_PRIMARY_BRANCH)


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch: its newest schema version, and its first and newest snapshot, None where it has none."""

    name: str
    schema_id: int
    first_snapshot: int | None
    latest_snapshot: int | None

    def to_json(self) -> dict[str, Any]:
        """The object of one branch in the result of `lakebed branch --json`."""
        return {
            "name": self.name,
            "schema_id": self.schema_id,
            "first_snapshot": self.first_snapshot,
            "latest_snapshot": self.latest_snapshot,
        }


class Branches:
    """The branches of one table; `main` is the table itself and not among them."""

    def __init__(self, table: TableBranch) -> None:
        self._branch = table.on(MAIN)

    @property
    def table(self) -> TableName:
        """The table."""
        return self._branch.name

    def list(self) -> tuple[Branch, ...]:
        """All branches, by name. Raises `NotFoundError` for a table that does not exist."""
        _ = self._branch.schemas
        return tuple(self._load(name) for name in self._names())

    def create(self, name: str, *, tag: str | None = None, snapshot: int | None = None) -> Branch:
        """Make a branch: with the table's schema versions and no rows, or from a tag with the tag's rows.

        From a `snapshot` it is made through a tag, which is made too, with the branch's name, where it is not there:
        without it, engines that expire the table's snapshots would delete the branch's data.

        Raises:
            ValidationError: no branch can have such a name.
            AlreadyExistsError: there is such a branch, or the rest of one.
            NotFoundError: there is no such table, tag or snapshot.
        """
        check_new_name("branch", name)
        if tag is not None and snapshot is not None:
            raise UsageError.of(BRANCH_EXISTS, "a branch starts from a tag or from a snapshot, not from both")
        newest = self._branch.schemas.get_current_schema().id
        self._refuse_existing(name)
        if snapshot is not None:
            tag = self._tag_for(name, snapshot)
        files = self._schema_files(newest) if tag is None else self._tag_files(tag)
        store = self._branch.store
        if isinstance(store, DirectoryStore):
            self._move_in(store, name, files)
        else:
            self._fill_in(name, files)
        return self._load(name)

    def delete(self, name: str) -> None:
        """Delete a branch, or the rest of one. Its data files stay until orphan files are cleaned up.

        Raises:
            NotFoundError: there is no such branch.
            RefusedError: it is `main`, or readers of the table fall back to it.
        """
        options = self._branch.schemas.get_current_schema().options
        self._refuse_main(name)
        if not self._branch.store.exists(self._root(name)):
            raise self._no_branch(name)
        used = [key for key in _FALLBACKS if options.get(key) == name]
        if used:
            raise RefusedError.of(
                IN_USE,
                f"the option {used[0]} of {self._branch.label} names branch {name!r}",
                path=used[0],
                found=name,
                remedy="Remove the option first.",
            )
        self._remove(name)

    def fast_forward(self, name: str, *, dry_run: bool = False) -> FastForward:
        """Bring the table to where the branch is, or only say what it would gain; see `fast_forward.fast_forward`."""
        self._refuse_main(name)
        _ = self._branch.schemas
        if name not in self._names():
            raise self._no_branch(name)
        return fast_forward(self._branch, self._branch.on(name), dry_run=dry_run)

    # -- looking -----------------------------------------------------------------------------------------------------

    def _names(self) -> tuple[str, ...]:
        return tuple(branch_names(self._branch.store, self._branch.table_path))

    def _root(self, name: str) -> str:
        return branch_root(self._branch.table_path, name)

    def _load(self, name: str) -> Branch:
        branch = self._branch.on(name)
        snapshots = branch.snapshots
        return Branch(name, branch.schemas.ids()[-1], snapshots.earliest_id(), snapshots.latest_id())

    def _refuse_existing(self, name: str) -> None:
        if name in self._names():
            raise self._exists(name)
        if self._branch.store.exists(self._root(name)):
            raise self._interrupted(name)

    # -- making ------------------------------------------------------------------------------------------------------

    def _tag_for(self, name: str, snapshot: int) -> str:
        """The tag called like the branch, of this snapshot."""
        tags = Tags(self._branch)
        if name in self._branch.snapshots.tags() and self._branch.snapshots.tag(name).id == snapshot:
            return name
        return tags.create(name, snapshot=snapshot).name

    def _schema_files(self, newest: int) -> dict[str, bytes]:
        schemas, store = self._branch.schemas, self._branch.store
        return {f"schema/schema-{i}": store.read(schemas.path(i)) for i in schemas.ids() if i <= newest}

    def _tag_files(self, tag: str) -> dict[str, bytes]:
        """The tag, its snapshot, and every schema version that its files may need.

        That can be a later version than the snapshot's own: some writers commit under the one that they started with.
        """
        found = Tags(self._branch).get(tag)
        data = self._branch.store.read(f"{self._branch.root}/tag/tag-{tag}")
        state = State(MAIN, ReferenceKind.TAG, tag, found.snapshot)
        references = References(self._branch)
        newest = max(r.schema_id for r in references.of_state(state))
        return {
            f"tag/tag-{tag}": data,
            f"snapshot/snapshot-{found.snapshot.id}": snapshot_bytes(data),
            **self._schema_files(newest),
        }

    def _move_in(self, store: DirectoryStore, name: str, files: Mapping[str, bytes]) -> None:
        making = f"{self._branch.table_path}/branch/{temporary.new_branch()}"
        try:
            for path, data in files.items():
                store.create_if_absent(f"{making}/{path}", data)
            store.move_directory(making, self._root(name))
        except LakebedError as error:
            with suppress(StoreError):
                self._branch.inside.delete_tree(making)
            if name in self._names():
                raise self._exists(name) from error
            raise

    def _fill_in(self, name: str, files: Mapping[str, bytes]) -> None:
        store, root = self._branch.store, self._root(name)
        marker = f"{root}/{INCOMPLETE}"
        if not store.create_if_absent(marker, b""):
            raise self._interrupted(name)
        if store.list(f"{root}/schema"):
            # Somebody finished the same branch since it was looked for.
            self._branch.inside.delete(marker)
            raise self._exists(name)
        for path, data in files.items():
            store.create_if_absent(f"{root}/{path}", data)
        self._branch.inside.delete(marker)

    # -- removing ----------------------------------------------------------------------------------------------------

    def _remove(self, name: str) -> None:
        store, root, inside = self._branch.store, self._root(name), self._branch.inside
        if isinstance(store, DirectoryStore):
            if inside.is_link(root):
                inside.delete_tree(root)
                return
            gone = f"{self._branch.table_path}/branch/{temporary.old_branch()}"
            inside.check(root)
            store.move_directory(root, gone)
            done, remedy = f"branch {name!r} was deleted", "Clean up with `lakebed orphans`."
            with afterwards(done, f"files are left in {gone}", path=gone, remedy=remedy):
                inside.delete_tree(gone)
            return
        store.replace(f"{root}/{INCOMPLETE}", b"")
        done, remedy = f"branch {name!r} was deleted", "Delete it again: that removes the rest."
        with afterwards(done, f"files are left in {root}", path=root, remedy=remedy):
            for entry in store.list(root):
                if entry.is_directory:
                    inside.delete_tree(f"{root}/{entry.name}")
            inside.delete_tree(root)

    # -- errors ------------------------------------------------------------------------------------------------------

    def _refuse_main(self, name: str) -> None:
        if name == MAIN or not name.strip():
            raise RefusedError.of(
                MAIN_BRANCH,
                f"{name!r} is the table {self._branch.label} itself, not a branch of it",
                found=name,
                remedy="Name another branch; `lakebed drop` drops a table.",
            )

    def _exists(self, name: str) -> AlreadyExistsError:
        return AlreadyExistsError.of(
            BRANCH_EXISTS,
            f"{self._branch.label} has a branch {name!r} already",
            path=self._root(name),
            found=name,
            remedy="Choose another name, or delete that branch first.",
        )

    def _interrupted(self, name: str) -> AlreadyExistsError:
        return AlreadyExistsError.of(
            INTERRUPTED,
            f"{self._root(name)} is there but no branch: making or deleting {name!r} was interrupted, or goes on",
            path=self._root(name),
            found=name,
            remedy="If nobody is at it, delete the branch and create it again.",
        )

    def _no_branch(self, name: str) -> NotFoundError:
        return NotFoundError.of(
            NO_SUCH_BRANCH,
            f"{self._branch.label} has no branch {name!r}",
            path=self._branch.label,
            found=name,
            suggestions=near_names(name, self._names()),
        )

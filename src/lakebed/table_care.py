"""Maintain one table: tags, branches, roll back and clean-up, as methods of `Lake`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from lakebed.catalog import TableManager, TableRef

if TYPE_CHECKING:
    from lakebed.maintenance.branches import Branches
    from lakebed.maintenance.orphans import OrphanReport
    from lakebed.maintenance.place import Place
    from lakebed.maintenance.rollback import RollBack
    from lakebed.maintenance.tags import Tags
    from lakebed.maintenance.versions import VersionReport


class TableCare:
    """Tags, branches, roll back and clean-up. `table` is `db.table`, or a branch of it, `db.table@branch:NAME`."""

    _tables: TableManager
    _clock: Callable[[], int]

    def branches(self, table: str) -> Branches:
        """The branches of a table: `list`, `create`, `delete`, `fast_forward`."""
        from lakebed.maintenance.branches import Branches

        return Branches(self._place(table))

    def tags(self, table: str) -> Tags:
        """The tags of a table, or of a branch (`db.table@branch:NAME`): `list`, `get`, `create`, `delete`."""
        from lakebed.maintenance.tags import Tags

        return Tags(self._place(table))

    def roll_back(
        self,
        table: str,
        *,
        schema: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        delete_tags: bool = False,
        dry_run: bool = False,
    ) -> RollBack:
        """Make an earlier schema version the newest again, or an earlier snapshot or what a tag keeps; exactly one.

        A schema version is refused (`RefusedError`) while anything refers to a later one. Going back to a snapshot
        takes later snapshots away and leaves the schema; later tags are a refusal unless `delete_tags`. Data files stay
        until `remove_orphans`. `ConflictError` says that somebody wrote at the same time. Stop the writers before.
        """
        from lakebed.maintenance.rollback import Target, roll_back

        target = Target(schema=schema, snapshot=snapshot, tag=tag)
        return roll_back(self._place(table), target, delete_tags=delete_tags, dry_run=dry_run)

    def unused_versions(self, table: str, *, min_age: timedelta = timedelta(days=1)) -> VersionReport:
        """Every schema version of a table or branch, with what keeps it; what nothing keeps can be removed.

        A version that was the newest less than `min_age` ago stays, for writers that began then. Touches nothing.
        """
        from lakebed.maintenance.versions import unused_versions

        return unused_versions(self._place(table), min_age=min_age)

    def remove_versions(self, table: str, *, min_age: timedelta = timedelta(days=1)) -> VersionReport:
        """Remove the schema versions that nothing keeps; see `unused_versions`. `RefusedError` where in doubt."""
        from lakebed.maintenance.versions import remove_versions

        return remove_versions(self._place(table), min_age=min_age)

    def orphan_files(self, table: str | None = None, *, min_age: timedelta = timedelta(days=1)) -> OrphanReport:
        """The files of a table, with all its branches, that nothing refers to and that are older. Touches nothing.

        Without a table: what killed reads and migrations have left beside the tables of the warehouse.
        """
        from lakebed.maintenance.leftovers import leftover_files
        from lakebed.maintenance.orphans import orphan_files

        if table is None:
            return leftover_files(self._tables, self._clock, min_age=min_age)
        return orphan_files(self._place(table), min_age=min_age)

    def remove_orphans(self, table: str | None = None, *, min_age: timedelta = timedelta(days=1)) -> OrphanReport:
        """Remove what `orphan_files` finds. `min_age` must be longer than any job that is writing now.

        Without a table also longer than any session of Spark Connect lives, whose reads look again at their lists.
        """
        from lakebed.maintenance.leftovers import remove_leftovers
        from lakebed.maintenance.orphans import remove_orphans

        if table is None:
            return remove_leftovers(self._tables, self._clock, min_age=min_age)
        return remove_orphans(self._place(table), min_age=min_age)

    def _place(self, table: str) -> Place:
        from lakebed.maintenance.place import Place

        return Place.of(self._tables, TableRef.parse(table), self._clock)

"""Maintain tables: do what is due by their options, each step as if it were asked for alone.

Partitions expire first, so that nobody compacts what goes; snapshots after what makes new ones. A step that fails, and
a table that cannot be read, keep nothing else from being done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from lakebed.catalog import TableRef
from lakebed.catalog.options import PARTITION_EXPIRATION_TIME
from lakebed.errors import LakebedError, UnsupportedError
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.expire_snapshots import expire_snapshots
from lakebed.ingest.ingest_context import IngestContext
from lakebed.maintenance.expiry import Expiry
from lakebed.maintenance.orphans import DEFAULT_MIN_AGE, OrphanReport, orphan_files, remove_orphans
from lakebed.row_level.row_target import RowTarget
from lakebed.write.maintenance_report import MaintenanceReport, Step, StepProblem, TableMaintenance
from lakebed.write.partition_expiry import PartitionExpiry, expire_partitions
from lakebed.write.write_result import WriteResult, WriteRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What is asked of a maintenance: whether files that nothing refers to go too, and whether it only looks.

    `progress` is told each table and step as it begins.
    """

    orphans: bool = False
    dry_run: bool = False
    min_age: timedelta = DEFAULT_MIN_AGE
    progress: Callable[[str], None] = field(default=lambda _: None)


def maintain_tables(
    context: IngestContext,
    names: Iterable[str],
    spark: SparkSession | Callable[[], SparkSession],
    asked: Maintenance,
) -> MaintenanceReport:
    """Do to each table what is due; see `lakebed.Lake.maintain`. The session is asked for once."""
    session = cache(spark if callable(spark) else lambda: spark)
    refs = [TableRef.parse(name) for name in dict.fromkeys(names)]
    targets = [RowTarget(context, TableBranch.of(context.tables, ref, context.clock), session) for ref in refs]
    return MaintenanceReport(tuple(maintain_table(target, asked) for target in targets), asked.dry_run)


def maintain_table(target: RowTarget, asked: Maintenance) -> TableMaintenance:
    """Do to one table what is due; see `lakebed.Table.maintain`."""
    return _Steps(target, asked).all()


@dataclass(slots=True)
class _Steps:
    target: RowTarget
    asked: Maintenance
    skipped: list[StepProblem] = field(default_factory=list)
    failed: list[StepProblem] = field(default_factory=list)

    def all(self) -> TableMaintenance:
        table = self.target.table
        schema = self._try(Step.OPEN, lambda: table.schemas.load_latest_schema())
        if schema is None:
            return self._result()
        expires = PARTITION_EXPIRATION_TIME in schema.options and bool(schema.partition_keys)
        return self._result(
            self._try(Step.EXPIRE_PARTITIONS, self._expire_partitions) if expires else None,
            self._try(Step.COMPACT, self._compact),
            self._try(Step.EXPIRE, self._expire),
            self._try(Step.ORPHANS, self._orphans) if self.asked.orphans else None,
        )

    def _result(
        self,
        partitions: PartitionExpiry | None = None,
        compaction: WriteResult | None = None,
        snapshots: Expiry | None = None,
        orphans: OrphanReport | None = None,
    ) -> TableMaintenance:
        problems = tuple(self.skipped), tuple(self.failed)
        return TableMaintenance(self.target.table.label, partitions, compaction, snapshots, orphans, *problems)

    def _try(self, step: Step, act: Callable[[], _Found]) -> _Found | None:
        self.asked.progress(f"{self.target.table.label}: {step.value}")
        try:
            return act()
        except UnsupportedError as error:
            self.skipped.append(StepProblem(step, error.diagnostics, error.exit_code))
        except LakebedError as error:
            self.failed.append(StepProblem(step, error.diagnostics, error.exit_code))
        return None

    def _expire_partitions(self) -> PartitionExpiry:
        zone = self.target.context.time_zone
        return expire_partitions(self.target.table, WriteRun.of(), dry_run=self.asked.dry_run, time_zone=zone)

    def _compact(self) -> WriteResult:
        from lakebed.row_level.compact_files import compact

        return compact(self.target, WriteRun.of(), dry_run=self.asked.dry_run)

    def _expire(self) -> Expiry:
        return expire_snapshots(self.target.table, dry_run=self.asked.dry_run)

    def _orphans(self) -> OrphanReport:
        act = orphan_files if self.asked.dry_run else remove_orphans
        return act(self.target.table, min_age=self.asked.min_age)

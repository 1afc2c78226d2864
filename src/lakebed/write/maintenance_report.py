"""Tell what maintenance did to tables, step by step, and what it has freed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lakebed.diagnostics import Diagnostic
from lakebed.maintenance.expiry import Expiry
from lakebed.maintenance.orphans import OrphanReport
from lakebed.readable import Readable
from lakebed.write.partition_expiry import PartitionExpiry
from lakebed.write.write_result import WriteResult


class Step(StrEnum):
    """What maintenance does to a table, in its order; `OPEN` is to look at the table at all."""

    OPEN = "open"
    EXPIRE_PARTITIONS = "expire-partitions"
    COMPACT = "compact"
    EXPIRE = "expire"
    ORPHANS = "orphans"


@dataclass(frozen=True, slots=True)
class StepProblem:
    """Why a step was not done. `exit_code` is that of the command line."""

    step: Step
    problems: tuple[Diagnostic, ...]
    exit_code: int

    def to_json(self) -> dict[str, Any]:
        """The step and its diagnostics."""
        return {"step": self.step.value, "problems": [d.to_json() for d in self.problems]}


@dataclass(frozen=True, slots=True)
class TableMaintenance(Readable):
    """What maintenance did to one table, or would. A step that the table's options do not ask for is None.

    `skipped` are steps that Lakebed does not do to such a table, `failed` those that went wrong; the others were done.
    """

    renderer: ClassVar[str] = "lakebed.render.maintain_text:table_maintenance_text"

    table: str
    partitions: PartitionExpiry | None = None
    compaction: WriteResult | None = None
    snapshots: Expiry | None = None
    orphans: OrphanReport | None = None
    skipped: tuple[StepProblem, ...] = ()
    failed: tuple[StepProblem, ...] = ()

    @property
    def is_noop(self) -> bool:
        """Whether nothing was due."""
        return (
            (self.partitions is None or self.partitions.is_noop)
            and (self.compaction is None or not self.compaction.files_removed)
            and (self.snapshots is None or self.snapshots.is_noop)
            and (self.orphans is None or not self.orphans.files)
        )

    @property
    def freed_files(self) -> int:
        """Files that are gone from the storage; what was compacted or dropped goes when its snapshots expire."""
        expired = 0 if self.snapshots is None else self.snapshots.data_files + self.snapshots.metadata_files
        return expired + (0 if self.orphans is None else len(self.orphans.files))

    @property
    def freed_bytes(self) -> int:
        """Their size as far as it is known."""
        expired = 0 if self.snapshots is None else self.snapshots.bytes
        return expired + (0 if self.orphans is None else self.orphans.size)

    def to_json(self) -> dict[str, Any]:
        """The object of one table in `lakebed maintain --json`."""
        steps: dict[str, PartitionExpiry | WriteResult | Expiry | OrphanReport | None] = {
            "expire_partitions": self.partitions,
            "compact": self.compaction,
            "expire": self.snapshots,
            "orphans": self.orphans,
        }
        return {
            "table": self.table,
            **{name: None if found is None else found.to_json() for name, found in steps.items()},
            "freed_files": self.freed_files,
            "freed_bytes": self.freed_bytes,
            "skipped": [s.to_json() for s in self.skipped],
            "failed": [s.to_json() for s in self.failed],
        }


@dataclass(frozen=True, slots=True)
class MaintenanceReport(Readable):
    """What maintenance did to several tables, in their order; `dry_run`: what it would do."""

    renderer: ClassVar[str] = "lakebed.render.maintain_text:maintenance_text"

    tables: tuple[TableMaintenance, ...]
    dry_run: bool = False

    @property
    def is_noop(self) -> bool:
        """Whether nothing was due."""
        return all(table.is_noop for table in self.tables)

    @property
    def failed(self) -> tuple[StepProblem, ...]:
        """The steps that went wrong."""
        return tuple(step for table in self.tables for step in table.failed)

    @property
    def freed_files(self) -> int:
        """Files that are gone from the storage."""
        return sum(table.freed_files for table in self.tables)

    @property
    def freed_bytes(self) -> int:
        """Their size as far as it is known."""
        return sum(table.freed_bytes for table in self.tables)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed maintain --json`."""
        return {
            "tables": [table.to_json() for table in self.tables],
            "freed_files": self.freed_files,
            "freed_bytes": self.freed_bytes,
            "dry_run": self.dry_run,
        }

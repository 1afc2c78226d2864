"""Describe a run to OpenLineage: what it does to a table, what it reads, what it has written."""

from __future__ import annotations

from dataclasses import dataclass

from lakebed.format.table_branch import TableBranch


@dataclass(frozen=True, slots=True)
class LineageInput:
    """A file or a table that a run reads: its path or URL, without secrets, and the bytes of a file."""

    path: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class LineageRun:
    """What a run does to a table, and what it reads, as far as that is known.

    `run_id` is Lakebed's: it is the same where a run is repeated, and each attempt is a run of OpenLineage.
    """

    table: TableBranch
    operation: str
    run_id: str | None = None
    inputs: tuple[LineageInput, ...] = ()
    of_stream: bool = False


@dataclass(frozen=True, slots=True)
class LineageOutput:
    """What a run has written to a table; `snapshot_id` is None where that was nothing."""

    table: TableBranch
    snapshot_id: int | None
    rows: int
    files: int | None = None
    bytes: int | None = None

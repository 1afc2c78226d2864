"""Tell OpenLineage of a write: what it is called, and what its result says."""

from __future__ import annotations

from collections.abc import Callable

from lakebed.format.table_branch import TableBranch
from lakebed.lineage.lineage_run import LineageInput, LineageOutput, LineageRun
from lakebed.lineage.run_lineage import tell_run
from lakebed.write.write_result import WriteResult, WriteRun


def tell_write(
    table: TableBranch,
    operation: str,
    run: WriteRun,
    act: Callable[[], WriteResult],
    inputs: tuple[LineageInput, ...] = (),
) -> WriteResult:
    """Do a write of a table, and tell of it where the lake was opened so."""

    def written(result: WriteResult) -> list[LineageOutput]:
        return [LineageOutput(table, result.snapshot_id, result.rows_added, result.files_added, result.bytes_added)]

    return tell_run(LineageRun(table, operation, run.run_id, inputs), act, written)

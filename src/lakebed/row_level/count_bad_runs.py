"""Count the bad rows of runs by Arrow in this process, as `quarantined_runs` counts them with Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.read_batches import plan_batches
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.bad_row_codes import are_mended
from lakebed.ingest.mask_personal_data import PersonalColumns, column_pattern, mask_folder
from lakebed.ingest.quarantine_table import REPLAYS
from lakebed.read.request import ReadRequest
from lakebed.row_level.quarantined_rows import BadRowKind, QuarantinedRun, first_files, newest_first

_COLUMNS = ("run_id", "ingested_at", "source_file", "problems", REPLAYS)
_KIND = ("run", "column", "code")


@dataclass(slots=True)
class _Tally:
    """What is counted of one run; kinds are by column and code, each with rows and mended ones."""

    first: datetime
    rows: int = 0
    mended: int = 0
    files: set[str] = field(default_factory=set)
    kinds: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    mended_kinds: Counter[tuple[str | None, str]] = field(default_factory=Counter)


def count_bad_runs(
    quarantine: TableBranch, request: ReadRequest, claims: Collection[str], columns: PersonalColumns
) -> tuple[QuarantinedRun, ...]:
    """The runs of a quarantine, the newest first. `claims` are those of replays whose rows are in the table.

    Raises `UnsupportedError` where Arrow does not read the quarantine as Spark does.
    """
    stored = quarantine.schemas.load_latest_schema().field_names
    tallies: dict[str, _Tally] = {}
    for batch in plan_batches(quarantine, request, [name for name in _COLUMNS if name in stored]).batches():
        _count(tallies, batch, are_mended(batch, claims))
    return newest_first(_run(name, tally, columns) for name, tally in tallies.items())


def _count(tallies: dict[str, _Tally], batch: pa.RecordBatch, mended: pa.Array) -> None:
    run, moment, file = (batch.column(name) for name in ("run_id", "ingested_at", "source_file"))
    is_mended = mended.cast(pa.int64())
    rows = pa.table({"run": run, "moment": moment, "file": file, "mended": is_mended})
    counts = [("moment", "min"), ("mended", "sum"), ("run", "count")]
    for found in rows.group_by(["run", "file"]).aggregate(counts).to_pylist():
        tally = tallies.setdefault(found["run"], _Tally(_utc(found["moment_min"])))
        tally.first = min(tally.first, _utc(found["moment_min"]))
        tally.rows += found["run_count"]
        tally.mended += found["mended_sum"]
        tally.files |= {found["file"]} - {None}
    problems = batch.column("problems")
    inside, parent = pc.list_flatten(problems), pc.list_parent_indices(problems)
    path, code = (_part(inside, name) for name in ("path", "code"))
    column = pc.struct_field(pc.extract_regex(path, column_pattern("column")), "column")
    each = {"row": parent, "run": run.take(parent), "mended": is_mended.take(parent), "column": column, "code": code}
    once = pa.table(each).group_by(list(each)).aggregate([])
    for found in once.group_by(list(_KIND)).aggregate([("mended", "sum"), ("row", "count")]).to_pylist():
        kind = (found["column"], found["code"])
        tallies[found["run"]].kinds[kind] += found["row_count"]
        tallies[found["run"]].mended_kinds[kind] += found["mended_sum"]


def _part(problems: pa.Array, name: str) -> pa.Array:
    """A part of problems, which are maps in the mini layout."""
    is_map = pa.types.is_map(problems.type)
    return pc.map_lookup(problems, name, "first") if is_map else pc.struct_field(problems, name)


def _utc(moment: Any) -> datetime:
    found = moment if isinstance(moment, datetime) else datetime.fromisoformat(str(moment))
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _run(name: str, tally: _Tally, columns: PersonalColumns) -> QuarantinedRun:
    kinds = [
        BadRowKind(column, code, rows, tally.mended_kinds[column, code]) for (column, code), rows in tally.kinds.items()
    ]
    files = {mask_folder(file, columns) for file in tally.files}
    named = first_files(files)
    return QuarantinedRun.of(name, tally.first, named, len(files), (tally.rows, tally.mended), kinds)

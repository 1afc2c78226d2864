"""Compact a table: small files become large ones, and the files of a bucket of keys one run.

Rows that deletion vectors take out, or that later rows of their keys have taken the place of, are not written again.
The rows of the table stay the same, so that readers of changes are told nothing. A bucket of keys is compacted as a
whole, to the top level (Paimon, "Compaction").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile
from lakebed.format.merge_plan import plan_merge
from lakebed.format.writable_types import written_format
from lakebed.maintenance.compaction_rules import CompactionRules, target_file_size
from lakebed.model import canonical_json
from lakebed.physical.paimon_types import DataType
from lakebed.read.needed_files import ReadPlan
from lakebed.read.plan_read import condition
from lakebed.row_level.row_level_commit import RowChanges, run_operation
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.spark.file_constants import by_number
from lakebed.spark.file_rows import System
from lakebed.spark.read import rows_of_plan
from lakebed.spark.row_merge.merge_sections import first_rows, without_keys
from lakebed.spark.row_order import RowOrder
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import Compacted, RowsToWrite
from lakebed.write.first_row_files import top_level
from lakebed.write.sort_order import clustering_order
from lakebed.write.write_result import WriteResult, WriteRun

#: Whether a file is to be written anew for what it is written as.
IsOld: TypeAlias = Callable[[DataFile], bool]
#: The files of one partition and bucket.
_Place = tuple[tuple[Any, ...], int]


def compact(target: RowTarget, run: WriteRun, *, full: bool = False, dry_run: bool = False) -> WriteResult:
    """Compact the table, see `lakebed.Table.compact`."""
    return run_operation(target, Compact(full), run, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class Compact:
    """A compaction: of what is due by the options of the table, or `full`, of all that is not compacted."""

    full: bool = False

    name, word = "compact", "COMPACT"

    @property
    def asked(self) -> str:
        """Whether all of it was asked for."""
        return canonical_json(["compact", self.full])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Choose the files, and write their rows."""
        # Nothing of the choice needs Spark.
        plan = start.narrowed(condition(None, time_zone="UTC"))
        choose = _due_runs if start.plan.is_keyed else _due_files
        places = _by_place((*plan.files, *start.waiting), start.schema.bucket if start.plan.has_buckets else None)
        is_old = _older(start) if self.full else None
        chosen = tuple(file for files in places.values() for file in choose(start, files, is_old))
        if chosen and not dry_run:
            rows = _merged(start, plan, chosen) if start.plan.is_keyed else _together(start, chosen)
            with spark_errors():
                writer.compacted_from = start.state.snapshot
                writer.write(rows)
        return RowChanges(chosen, is_compaction=True)


def _by_place(files: Iterable[DataFile], buckets: int | None) -> Mapping[_Place, list[DataFile]]:
    """The files of each partition and bucket; those of another number of buckets are left to an overwrite."""
    places: dict[_Place, list[DataFile]] = {}
    for file in files:
        if buckets is None or file.total_buckets == buckets:
            places.setdefault((file.partition, file.bucket), []).append(file)
    return places


# --- append tables ----------------------------------------------------------------------------------------------------


def _due_files(start: Start, files: Sequence[DataFile], is_old: IsOld | None) -> list[DataFile]:
    """The files of a place that are written anew: small ones where there are enough, and those with many rows gone.

    With `is_old` all that are not compacted.
    """
    rules = CompactionRules.of(start.schema)
    large, least = rules.large, 2 if is_old else rules.least_files
    is_fragmented = sum(f.size < large for f in files) >= least
    worn = 0.0 if is_old else rules.deleted_share
    return [
        f for f in files if (is_fragmented and f.size < large) or _is_worn(start, f, worn) or (is_old and is_old(f))
    ]


def _is_worn(start: Start, file: DataFile, share: float) -> bool:
    """Whether more than a share of the rows of a file are deleted."""
    if file.deletions is None:
        return False
    gone = file.meta.row_count - start.live_rows(file)
    return gone > share * file.meta.row_count


def _older(start: Start) -> IsOld:
    """Tells whether a file has other columns, or another format, than new ones. Each schema is loaded once."""
    schemas, wanted = start.target.storage.schemas, _columns(start.schema)
    ending = f".{written_format(start.schema.options)}"
    columns = cache(lambda number: _columns(schemas.load_schema(number)))
    return lambda file: not file.path.endswith(ending) or columns(file.meta.schema_id) != wanted


def _columns(schema: TableSchema) -> tuple[tuple[int, str, DataType], ...]:
    return tuple((f.id, f.name, f.type) for f in schema.fields)


def _together(start: Start, files: Sequence[DataFile]) -> RowsToWrite:
    """The rows of the files. Where there are no buckets, those of as many files as make a large one are in one task.

    Rows that are kept sorted are brought together by ranges; those of several partitions by their partition, so that
    none of them is cut into small files.
    """
    reader, schema = start.reader, start.schema
    if start.plan.has_buckets:
        sequence = max(f.meta.max_sequence_number for f in files)
        return RowsToWrite(start.to_write(reader.read(files, schema)), compacted=Compacted(sequence=sequence))
    order = RowOrder.of(clustering_order(schema))
    whole = len({file.partition for file in files}) > 1 and bool(order)
    groups = _groups(files, inf if whole else target_file_size(schema.options, keyed=False))
    if order and not whole:
        rows = start.to_write(reader.read(files, schema))
        return RowsToWrite(rows, order=order, compacted=Compacted(ranges=max(groups) + 1))
    if start.plan.partition:
        group = by_number("int", groups)(F.col(System.FILE))
        rows = reader.read(files, schema, System.FILE).repartition(group)
    else:
        rows = reader.read(files, schema).coalesce(max(groups) + 1)
    return RowsToWrite(start.to_write(rows), order=order, compacted=Compacted())


def _groups(files: Sequence[DataFile], size: float) -> list[int]:
    """The group of each file: those of one partition, in their order, until they make a large file."""
    groups: list[int] = []
    place, held = None, 0
    for file in files:
        is_next = place is not None and (file.partition != place or held >= size)
        groups.append((groups[-1] if groups else 0) + is_next)
        held = file.size if is_next else held + file.size
        place = file.partition
    return groups


# --- tables with a primary key ----------------------------------------------------------------------------------------


def _due_runs(start: Start, files: Sequence[DataFile], is_old: IsOld | None) -> Sequence[DataFile]:
    """All files of a bucket where it has enough sorted runs: each file of level 0 is one, each other level is one.

    With `is_old` all files of every bucket that is not one run of the top level, or that has an old file. Where nobody
    sees level 0 it is always due.
    """
    runs = sum(f.meta.level == 0 for f in files) + len({f.meta.level for f in files if f.meta.level})
    if start.waiting and any(f.meta.level == 0 for f in files):
        return files
    if is_old is None:
        return files if runs >= CompactionRules.of(start.schema).runs else ()
    is_done = {f.meta.level for f in files} == {top_level(start.schema)} and not any(map(is_old, files))
    return () if is_done else files


def _merged(start: Start, plan: ReadPlan, files: Sequence[DataFile]) -> RowsToWrite:
    """The rows that the files come to. Newer rows of each bucket have higher numbers than all of its files."""
    reader, schema = start.reader, start.schema
    rows: DataFrame = rows_of_plan(reader, replace(plan, parts=plan_merge(files, schema)), schema)
    waiting = [f for f in files if f.meta.level == 0] if start.waiting else []
    if waiting:
        older = [f for f in files if f.meta.level]
        first = first_rows(reader, waiting, schema)
        rows = rows.union(without_keys(first, reader, older, schema, schema.primary_keys))
    highest: dict[_Place, int] = {}
    for file in files:
        place = file.partition, file.bucket
        highest[place] = max(highest.get(place, 0), file.meta.max_sequence_number)
    return RowsToWrite(start.to_write(rows), compacted=Compacted(top_level(schema), min(highest.values())))

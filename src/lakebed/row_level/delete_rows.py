"""Delete the rows of a table that a filter, or a frame of keys, names.

An append table loses whole files where the metadata tell that all of their rows go. Of other files the rows are found
by a job; they go into deletion vectors where the table has them, else the files that hold such a row are written anew
without it. A table with a primary key loses the files of whole partitions, and gets a row of the kind `-D` for each
row otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UnsupportedError, UsageError
from lakebed.format.merge_engine import MergeEngine
from lakebed.format.row_kinds import KINDS
from lakebed.format.snapshot_change import DeletedRows
from lakebed.ingest.bad_rows_error import bad_rows_error
from lakebed.ingest.checked_rows import prepare
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.sources.open_source import check_frame, open_frame
from lakebed.model import canonical_json
from lakebed.row_level.chosen_rows import ChosenRows, choose_rows, without_chosen
from lakebed.row_level.row_level_commit import RowChanges, RowCounts, check_where, run_operation
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.spark.row_merge.merge_sections import same_key
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite
from lakebed.write.plan_write import WritePlan
from lakebed.write.write_result import WriteResult, WriteRun

NOT_DELETED = "LB6545"
NO_FILTER = "LB6544"
KEYS_DIFFER = "LB6546"
BAD_KEYS = "LB6547"
_MEND_KEYS = "mend the keys, or leave them out"


def delete_rows(
    target: RowTarget, keys: DataFrame | None, where: str | None, run: WriteRun, *, dry_run: bool = False
) -> WriteResult:
    """Delete rows; see `lakebed.Table.delete`."""
    if keys is None:
        return run_operation(target, DeleteWhere(check_where(where, "a delete")), run, dry_run=dry_run)
    if where is not None:
        raise UsageError.of(
            NO_FILTER, "rows are named by keys or by a filter, not by both", found=where, remedy="give one of the two"
        )
    schema = target.storage.schemas.load_latest_schema()
    check_frame(keys)
    check_keys(schema, keys, target.table.label)
    # Kept meanwhile: an attempt that is made again is about the same keys.
    with open_frame(keys):
        return run_operation(target, DeleteKeys(keys), run, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class DeleteWhere:
    """A delete of the rows that a filter is true for."""

    where: str

    name, word = "delete", "DELETE"

    @property
    def asked(self) -> str:
        """A filter may name a person, who asks to be forgotten."""
        return canonical_json(["delete", sha256(self.where.encode()).hexdigest()])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows that go."""
        gone = find_rows(start, self.where)
        if gone.rows is not None:
            return delete_keyed(start, writer, gone.rows, dry_run=dry_run)
        kept = None if dry_run else kept_rows(start, gone.chosen)
        if kept is not None:
            with spark_errors():
                writer.write(RowsToWrite(kept))
        return gone.changes


@dataclass(frozen=True, slots=True)
class RowsThatGo:
    """How the rows that a filter is true for go: with `changes`, where `chosen` are those of files that keep others.

    `rows`, of a table with a primary key, are whole rows of the table, each of which needs one of the kind `-D`.
    """

    changes: RowChanges = field(default_factory=RowChanges)
    chosen: tuple[ChosenRows, ...] = ()
    rows: DataFrame | None = None


def find_rows(start: Start, where: str) -> RowsThatGo:
    """Find the rows that a filter is true for. Raises `UnsupportedError` (LB6545) where they cannot be taken away."""
    plan = start.needed(where)
    if start.plan.is_keyed and not start.drops_files(plan):
        refuse_deletes(start.plan, start.target.table.label)
        return RowsThatGo(rows=start.merged(plan).where(where)) if plan.files else RowsThatGo()
    if start.plan.is_keyed:
        partitions = {file.partition for file in plan.files}
        unseen = (file for file in start.waiting if file.partition in partitions)
        return RowsThatGo(RowChanges((*plan.files, *unseen), counts=RowCounts(deleted=start.count(plan))))
    whole = [file for file in plan.files if file.path in plan.certain]
    rest = tuple(file for file in plan.files if file.path not in plan.certain)
    chosen = choose_rows(start.placed(rest).where(where), rest) if rest else ()
    deleted = sum(map(start.live_rows, whole)) + sum(c.rows for c in chosen)
    changes = take_away(start, chosen)
    files = (*whole, *changes.files)
    return RowsThatGo(replace(changes, files=files, counts=RowCounts(deleted=deleted)), chosen)


def take_away(start: Start, chosen: Sequence[ChosenRows]) -> RowChanges:
    """How chosen rows go: with their files where all of them do or there are no vectors, else into the vectors."""
    gone = [c for c in chosen if not start.has_vectors or c.rows == start.live_rows(c.file)]
    files = tuple(c.file for c in gone)
    rest = (c for c in chosen if c not in gone)
    return RowChanges(files, tuple(DeletedRows(start.entry(c.file), c.positions, c.file.deletions) for c in rest))


def kept_rows(start: Start, chosen: Sequence[ChosenRows]) -> DataFrame | None:
    """The rows of the files that go which were not chosen, as the writer takes them; None where no file keeps any."""
    kept = [] if start.has_vectors else [c for c in chosen if c.rows < start.live_rows(c.file)]
    if not kept:
        return None
    return start.to_write(without_chosen(start.placed(tuple(c.file for c in kept)), kept))


# --- tables with a primary key ----------------------------------------------------------------------------------------


def delete_keyed(start: Start, writer: TableWriter, rows: DataFrame, *, dry_run: bool) -> RowChanges:
    """Write a row of the kind `-D` for each of `rows`, whole rows of the table."""
    with spark_errors():
        if dry_run:
            return RowChanges(counts=RowCounts(deleted=rows.count()))
        writer.write(RowsToWrite(start.to_write(rows), F.lit(KINDS.index("-D"))))
    return RowChanges(counts=RowCounts(deleted=writer.rows))


def refuse_deletes(plan: WritePlan, table: str) -> None:
    """Raise `UnsupportedError` (LB6545) where a row that deletes does not take its key away."""
    merge = plan.merge
    if merge is None:
        return
    reason, remedy = None, "remove whole partitions, or change the option"
    if merge.ignore_delete:
        reason = "the option ignore-delete lets every reader pass over deletes"
    elif merge.engine is not MergeEngine.DEDUPLICATE and not merge.remove_on_delete:
        reason = f"the merge engine {merge.engine} does not take a key away by a delete"
        remedy = "remove whole partitions"
        if not plan.keeps_first:
            remedy = f"set the option {merge.engine}.remove-record-on-delete, or {remedy}"
    if reason is not None:
        raise UnsupportedError.of(
            NOT_DELETED, f"rows of {table} cannot be deleted: {reason}", path=table, remedy=remedy
        )


@dataclass(frozen=True, slots=True)
class DeleteKeys:
    """A delete of the rows of a table with a primary key whose keys a frame holds."""

    keys: DataFrame

    name, word = "delete", "DELETE"

    @property
    def asked(self) -> str:
        """Nobody can tell whether the keys were the same."""
        return canonical_json(["delete", "keys"])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows of the keys."""
        refuse_deletes(start.plan, start.target.table.label)
        plan = start.needed()
        if not plan.files:
            return RowChanges()
        with self._checked(start) as keys:
            names = start.schema.primary_keys
            same = same_key(
                start.schema, [(F.col(f"t.{quote_name(name)}"), F.col(f"k.v{i}")) for i, name in enumerate(names)]
            )
            rows = start.merged(plan).alias("t").join(keys.alias("k"), same, "left_semi")
            return delete_keyed(start, writer, rows, dry_run=dry_run)

    @contextmanager
    def _checked(self, start: Start) -> Iterator[DataFrame]:
        """The keys as the table stores them. Raises `BadRowsError` (LB6547) for those that it cannot hold."""
        schema = start.schema
        fields = tuple(f for name in schema.primary_keys if (f := schema.field(name)) is not None)
        of_keys = replace(schema, fields=fields, partition_keys=(), primary_keys=())
        with open_frame(self.keys) as parts, spark_errors():
            rows = prepare(start.spark, parts, of_keys, start.rules, unknown=UnknownColumns.FAIL)
            bad = rows.all().where("bad").count()
            if bad:
                raise bad_rows_error(
                    rows.shown(), BAD_KEYS, f"{start.target.table.label}: {bad} keys are no keys of it", _MEND_KEYS
                )
            yield rows.all()


def check_keys(schema: TableSchema, keys: DataFrame, table: str) -> None:
    """Raise `UsageError` (LB6546) for a frame that has not exactly the columns of the primary key."""
    wanted = schema.primary_keys
    found = keys.columns
    if wanted and sorted(found) == sorted(wanted):
        return
    problem = "has no primary key" if not wanted else f"has the primary key ({', '.join(wanted)})"
    raise UsageError.of(
        KEYS_DIFFER,
        f"{table} {problem}; the keys to delete have the columns ({', '.join(found)})",
        path=table,
        expected=", ".join(wanted) or "a filter",
        found=", ".join(found),
        remedy="select exactly the columns of the key" if wanted else "name the rows by a filter: where=",
    )

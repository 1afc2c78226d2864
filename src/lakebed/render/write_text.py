"""Show the result of a write: rows, files and bytes that came and went, and the snapshot."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed.printable import one_line
from lakebed.render.maintenance_text import count_text, size_text
from lakebed.write.partition_expiry import ExpiredPartition, PartitionExpiry
from lakebed.write.write_result import WriteResult

#: What is said where a removal found nothing.
_NOTHING = {
    "compact": "there is nothing to compact.",
    "drop-partitions": "no partition matches, nothing to remove.",
    "expire-partitions": "no partition is due.",
    "truncate": "there are no rows, nothing to remove.",
}
#: How many partitions a list names.
_SHOWN = 20
#: The operations that are about single rows, and what they do to them.
_OF_ROWS = ("delete", "update", "merge")
_REPEATED = "this run was done before; nothing was done now"
_DONE = (("delete", "deleted"), ("update", "updated"), ("insert", "inserted"))


def write_text(result: WriteResult) -> str:
    """What a write did, or would do where it has no snapshot."""
    if result.operation in _OF_ROWS or result.rows_deleted or result.rows_inserted:
        return _changed_rows(result)
    table = one_line(result.table)
    if result.snapshot_id is None and not result.files_removed:
        return f"{table}: {_NOTHING.get(result.operation, 'there are no rows, nothing was written.')}"
    where = "" if result.snapshot_id is None else f" (snapshot {result.snapshot_id}, schema {result.schema_id})"
    if result.operation == "compact":
        return "\n".join([f"{table}: {_compacted(result)}{where}", *([_REPEATED] if result.repeated else [])])
    parts = [_written(result)] if result.rows_added else []
    if result.files_removed or not parts:
        verb = "would remove" if result.snapshot_id is None else "removed"
        parts.append(f"{verb} {_removed(result)}")
    lines = [f"{table}: {'; '.join(parts)}{where}"]
    lines += _partitions(result)
    if result.repeated:
        lines.append(_REPEATED)
    return "\n".join(lines)


def partition_expiry_text(found: PartitionExpiry) -> str:
    """The partitions that expire, or expired, with their times; those that stay since nobody knows their time."""
    lines = [write_text(found.write)]
    if not found.write.repeated:
        lines = [lines[0].partition("\n")[0], *_with_times(found.expired)]
        if found.more:
            are = "is due and waits" if found.more == 1 else "are due and wait"
            lines.append(f"  {count_text(found.more, 'more partition')} {are} for the next run")
    if found.unknown:
        stay = "stays" if len(found.unknown) == 1 else "stay"
        lines.append(f"{count_text(len(found.unknown), 'partition')} {stay}, without a time that can be read:")
        lines += _with_times(found.unknown)
    return "\n".join(lines)


def _with_times(partitions: Sequence[ExpiredPartition]) -> list[str]:
    more = len(partitions) - _SHOWN
    shown = [f"  {one_line(p.partition)}: {p.problem or p.time}" for p in partitions[:_SHOWN]]
    return [*shown, f"  and {more:,} more"] if more > 0 else shown


def removal(result: WriteResult) -> str:
    """What is about to be removed, in a line: `remove 10 rows, ... of db.t`."""
    return f"remove {_removed(result)} of {one_line(result.table)}"


def _changed_rows(result: WriteResult) -> str:
    rows = dict(zip(_DONE, (result.rows_deleted, result.rows_updated, result.rows_inserted), strict=True))
    table, planned = one_line(result.table), result.snapshot_id is None
    if not any(rows.values()):
        lines = [f"{table}: no row matches, nothing to {result.operation}."]
    else:
        parts = [
            f"{f'would {verb}' if planned else done} {count_text(count, 'row')}"
            for (verb, done), count in rows.items()
            if count
        ]
        where = "" if planned else f" (snapshot {result.snapshot_id}, schema {result.schema_id})"
        lines = [f"{table}: {', '.join(parts)}{where}"]
    if result.repeated:
        lines.append(_REPEATED)
    return "\n".join(lines)


def _drops(result: WriteResult) -> bool:
    return result.operation in ("drop-partitions", "expire-partitions")


def _written(result: WriteResult) -> str:
    kinds = ", ".join(f"{kind} {number:,}" for kind, number in result.rows_by_kind.items())
    told = "" if set(result.rows_by_kind) == {"+I"} else f" ({kinds})"
    rows = count_text(result.rows_added, "row")
    return f"wrote {rows}{told}, {count_text(result.files_added, 'file')}, {size_text(result.bytes_added)}"


def _compacted(result: WriteResult) -> str:
    files = f"{count_text(result.files_removed, 'file')} with {count_text(result.rows_removed, 'row')}"
    if result.snapshot_id is None:
        return f"would compact {files}, {size_text(result.bytes_removed)}"
    if not result.files_removed:
        return "there was nothing to compact, and the run is noted"
    made = f"{count_text(result.files_added, 'file')} with {count_text(result.rows_added, 'row')}"
    return f"compacted {files} into {made}, {size_text(result.bytes_removed)} into {size_text(result.bytes_added)}"


def _removed(result: WriteResult) -> str:
    parts = [count_text(result.rows_removed, "row"), count_text(result.files_removed, "file")]
    if _drops(result):
        parts.append(count_text(len(result.partitions), "partition"))
    return ", ".join((*parts, size_text(result.bytes_removed)))


def _partitions(result: WriteResult) -> list[str]:
    if not _drops(result):
        return []
    more = len(result.partitions) - _SHOWN
    shown = [f"  {one_line(p)}" for p in result.partitions[:_SHOWN]]
    return [*shown, f"  and {more:,} more"] if more > 0 else shown

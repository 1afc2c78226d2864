"""Hold the manifest entries of a commit against the table's schema, without looking at what is live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import CorruptMetadataError, UsageError
from lakebed.format import binary_row
from lakebed.format.live_files import partition_types
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.merge_plan import KeyBounds
from lakebed.format.new_files import UNAWARE
from lakebed.format.partition import POSTPONED, partition_path
from lakebed.format.snapshot_change import SnapshotChange


def check_entries(schema: TableSchema, change: SnapshotChange) -> None:
    """Raise UsageError naming every entry that a table of this schema cannot have, or that the change says twice."""
    checks = _Checks(schema, change)
    problems = [problem for entry in (*change.added, *change.changelog) for problem in checks.of(entry)]
    problems += _repeated(change)
    if problems:
        raise UsageError(*problems)


def misfit(entry_name: str, message: str) -> Diagnostic:
    """What is wrong about the entry of a file."""
    return Diagnostic("LB5072", f"new file {entry_name} {message}", path=entry_name)


class _Checks:
    """What entries of a table may be like."""

    def __init__(self, schema: TableSchema, change: SnapshotChange) -> None:
        self._schema = schema
        self._scope = change.overwrite
        self._codec = binary_row.codec(partition_types(schema))
        self._keys = KeyBounds(schema)
        # Files that take the place of others stay in the buckets of those, of whatever number.
        self._replaced = {(e.partition, e.bucket, e.total_buckets) for e in change.deleted}
        self._partition_problem = cache(self._of_partition)

    def of(self, entry: ManifestEntry) -> Iterator[Diagnostic]:
        """The problems of one entry."""
        file = entry.file
        found = [self._partition_problem(entry.partition), self._of_bucket(entry), self._of_keys(entry)]
        if entry.kind != Kind.ADD:
            found.append("is not said to be added")
        if not 0 <= file.schema_id <= self._schema.id:
            found.append(f"was written under schema {file.schema_id}; the newest is {self._schema.id}")
        if file.level < 0 or (file.level > 0 and not self._schema.primary_keys):
            found.append(f"is of level {file.level}")
        if min(file.file_size, file.row_count) < 0 or file.min_sequence_number > file.max_sequence_number:
            found.append("has counts that cannot be")
        return (misfit(file.file_name, problem) for problem in found if problem is not None)

    def _of_partition(self, partition: bytes) -> str | None:
        schema = self._schema
        try:
            values = self._codec.decode(partition)
            partition_path(schema.partition_keys, partition_types(schema), values, schema.options)
        except (CorruptMetadataError, ValueError) as e:
            return f"has a partition that the table cannot have: {reason_of(e)}"
        if self._scope is not None and not self._scope.contains(values):
            return f"lies in partition {values}, which is not among those that are overwritten"
        return None

    def _of_bucket(self, entry: ManifestEntry) -> str | None:
        bucket, total, wanted = entry.bucket, entry.total_buckets, self._schema.bucket
        if (entry.partition, bucket, total) in self._replaced:
            return None
        if wanted > 0:
            fits = total == wanted and 0 <= bucket < total
        elif wanted == POSTPONED:
            fits = (bucket, total) == (POSTPONED, POSTPONED) or 0 <= bucket < total
        else:
            fits = total == UNAWARE and (bucket >= 0 if self._schema.primary_keys else bucket == 0)
        if fits:
            return None
        return f"is for bucket {bucket} of {total}, the table has {wanted if wanted > 0 else 'none'}"

    def _of_keys(self, entry: ManifestEntry) -> str | None:
        file = entry.file
        if not self._schema.primary_keys or not file.row_count:
            return None
        try:
            first, last = self._keys.of(file)
            return None if first <= last else "has a last key below its first"
        except (CorruptMetadataError, TypeError) as e:
            return f"has keys that the table cannot have: {reason_of(e)}"


def _repeated(change: SnapshotChange) -> Iterator[Diagnostic]:
    for entries in (change.added, change.changelog):
        names = Counter(e.file.file_name for e in entries)
        yield from (misfit(name, "is given twice") for name, count in names.items() if count > 1)
    added = set(_places(change.added))
    for place, count in Counter(_places(change.deleted)).items():
        name: str = place[2][1]
        if place in added:
            yield misfit(name, "is to be added and deleted at once")
        if count > 1:
            yield misfit(name, "is to be deleted twice")
    gone = {(e.partition, e.bucket, e.file.file_name) for e in change.deleted}
    rows = Counter((d.entry.partition, d.entry.bucket, d.entry.file.file_name) for d in change.deleted_rows)
    for (_, _, name), count in rows.items():
        if count > 1:
            yield misfit(name, "is to lose rows twice")
    for _, _, name in sorted(gone & rows.keys()):
        yield misfit(name, "is to be deleted and to lose rows at once")


def _places(entries: Iterable[ManifestEntry]) -> Iterator[tuple[Any, ...]]:
    return ((e.partition, e.bucket, e.file_identity) for e in entries)

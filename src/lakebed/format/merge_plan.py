"""Plan which files of a primary-key table are merged and which read raw (Paimon, "Primary Key").

Files of one bucket whose key ranges overlap form a section: rows of one key may lie in several of its files, so only a
merge of the whole section gives the key's row. A file that shares its range with no other needs none, unless it holds
deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import DELETION_VECTORS_MERGE_ON_READ
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError
from lakebed.format import binary_row
from lakebed.format.deletion_vectors import has_deletion_vectors
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import DataFileMeta, ordering
from lakebed.format.merge_engine import MergeEngine, merge_engine
from lakebed.format.partition import POSTPONED
from lakebed.physical.paimon_types import DataType, with_nullability

#: Files of one bucket whose key ranges overlap, directly or through others.
Section: TypeAlias = tuple[DataFile, ...]

#: How many times more rows than the delta a base must have for the delta's keys to be looked up in it.
WORTHWHILE = 2


@dataclass(frozen=True, slots=True)
class MergePlan:
    """`raw`: files whose rows are the table's rows. `sections`: files to be merged, each section by itself."""

    raw: tuple[DataFile, ...]
    sections: tuple[Section, ...]


def trimmed_key(schema: TableSchema) -> tuple[str, ...]:
    """The primary key less the partition keys: what tells rows of one bucket apart."""
    return tuple(k for k in schema.primary_keys if k not in schema.partition_keys)


def plan_merge(files: Iterable[DataFile], schema: TableSchema) -> MergePlan:
    """Sort the live files of a primary-key table into those that need a merge and those that do not.

    Data that a postponed bucket has not distributed is not visible yet, nor is level 0 of tables whose rows become
    visible by compaction (first-row, deletion vectors).
    """
    compacted = shows_only_compacted(schema)
    buckets: dict[tuple[tuple[Any, ...], int], list[DataFile]] = {}
    for file in files:
        if file.bucket != POSTPONED and (file.meta.level > 0 or not compacted):
            buckets.setdefault((file.partition, file.bucket), []).append(file)
    raw: list[DataFile] = []
    sections: list[Section] = []
    keys = KeyBounds(schema)
    for bucket in buckets.values():
        # Compaction left one row a key in such a table, or a vector that deletes the others.
        if all(map(has_no_deletes, bucket)) and (compacted or is_one_run(bucket)):
            raw += bucket
            continue
        for section in overlapping(bucket, lambda file: keys.of(file.meta)):
            if len(section) == 1 and has_no_deletes(section[0]):
                raw += section
            else:
                sections.append(tuple(section))
    return MergePlan(tuple(raw), tuple(sections))


def split_base(section: Section) -> tuple[Section, Section] | None:
    """A section's base and delta, where most rows of the base have a key that the delta does not hold: (base, delta).

    The base is the top level, compacted, which holds a key once, and much larger than all else. None where the section
    has no such base.
    """
    top = max(f.meta.level for f in section)
    base = tuple(f for f in section if f.meta.level == top)
    delta = tuple(f for f in section if f.meta.level != top)
    if top == 0 or not delta:
        return None
    larger = sum(f.meta.row_count for f in base) >= WORTHWHILE * sum(f.meta.row_count for f in delta)
    return (base, delta) if larger else None


def is_older(base: Section, delta: Section) -> bool:
    """Whether every row of the base was written before every row of the delta."""
    return max(f.meta.max_sequence_number for f in base) < min(f.meta.min_sequence_number for f in delta)


def shows_only_compacted(schema: TableSchema) -> bool:
    """Whether only compacted data is visible: what level 0 holds is not."""
    if has_deletion_vectors(schema):
        return not is_set(schema.options, DELETION_VECTORS_MERGE_ON_READ)
    return merge_engine(schema) is MergeEngine.FIRST_ROW


def has_no_deletes(file: DataFile) -> bool:
    """Whether a file is known to hold no deletes: the count is missing in files of old writers."""
    return file.meta.delete_row_count == 0


def is_one_run(files: Sequence[DataFile]) -> bool:
    """Whether files of a bucket are one compacted level, which holds a key once."""
    levels = {f.meta.level for f in files}
    return len(levels) == 1 and levels != {0}


class KeyBounds:
    """Decodes the first and the last key of a file into something that sorts as the format sorts keys."""

    def __init__(self, schema: TableSchema) -> None:
        self._schema = schema

    @cached_property
    def _codec(self) -> binary_row.RowCodec:
        return binary_row.codec(tuple(with_nullability(t, True) for t in key_types(self._schema)))

    def of(self, file: DataFileMeta) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Both are inclusive. Raises CorruptMetadataError for what are no keys of the table."""
        return self._key(file.min_key), self._key(file.max_key)

    def _key(self, row: bytes) -> tuple[Any, ...]:
        return tuple(ordering(v) for v in self._codec.decode(row))


def key_types(schema: TableSchema) -> Iterator[DataType]:
    """The types of the trimmed key's columns."""
    for name in trimmed_key(schema):
        field = schema.field(name)
        if field is None:
            raise CorruptMetadataError.of(
                "LB5015", f"primary key {name!r} is not a column of schema {schema.id}", path=name
            )
        yield field.type


def overlapping(files: Sequence[DataFile], bounds: Callable[[DataFile], tuple[Any, Any]]) -> Iterator[list[DataFile]]:
    """Runs of files whose ranges overlap, directly or through others, in the order of the ranges.

    `bounds` gives the first and the last of a file's range, both inclusive. Within a run files keep their order.
    """
    ranges = [(*bounds(file), place) for place, file in enumerate(files)]
    run: list[int] = []
    end: Any = None
    for low, high, place in sorted(ranges, key=lambda r: r[0]):
        if run and low > end:
            yield [files[i] for i in sorted(run)]
            run = []
        end = max(end, high) if run else high
        run.append(place)
    if run:
        yield [files[i] for i in sorted(run)]

"""Merge files of a primary-key table to the newest row of each key, in Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.file_part import Column, FilePart, batch_schema, rows_of
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError, UnsupportedError
from lakebed.format.merge_engine import MergeEngine, merge_rules
from lakebed.format.merge_plan import Section, trimmed_key
from lakebed.format.row_kinds import INSERTS, SEQUENCE_NUMBER, VALUE_KIND
from lakebed.physical.paimon_types import (
    BigInt,
    Boolean,
    Char,
    DataField,
    Date,
    Decimal,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
)
from lakebed.store.base import Store

#: How many bytes of files a task merges at most: all of their rows are in memory at once.
_MOST = 1 << 30
_MICROS = 6
_PLACE = "_LAKEBED_PLACE"


@dataclass(frozen=True, slots=True)
class NewestRow:
    """How rows of one key become one: the newest wins. `key` and `order` are columns; deletes count unless ignored."""

    key: tuple[DataField, ...]
    order: tuple[DataField, ...]
    descending: bool
    ignore_delete: bool


def newest_row(schema: TableSchema, section: Section) -> NewestRow:
    """The rule of a table. Raises UnsupportedError (LB5605) for one whose rows are not merged here."""
    rules = merge_rules(schema)
    if rules.engine is not MergeEngine.DEDUPLICATE:
        raise _refused(section, f"have rows of the same keys, of merge engine {rules.engine}")
    fields = {f.name: f for f in schema.fields}
    rule = NewestRow(
        tuple(fields[name] for name in trimmed_key(schema)),
        tuple(fields[name] for name in rules.order),
        rules.descending,
        rules.ignore_delete,
    )
    for field in (*rule.key, *rule.order):
        if not _is_orderable(field):
            raise _refused(section, f"have rows of the same keys, and column {field.name} is of type {field.type}")
    size = sum(file.size for file in section)
    if size > _MOST:
        raise _refused(section, f"have rows of the same keys, and {size} bytes are too many for one task")
    return rule


def merged(
    store: Store, parts: Sequence[FilePart], columns: Sequence[Column], rule: NewestRow
) -> Iterator[pa.RecordBatch]:
    """The newest rows of a section; `parts` are its files, those first that are older between equal numbers."""
    needed = (*columns, *(_system(f) for f in (*rule.key, *rule.order)), _system(SEQUENCE_NUMBER), _system(VALUE_KIND))
    # Two columns may have one name here, so that they go by their places.
    numbered = tuple(replace(column, name=str(place)) for place, column in enumerate(needed))
    tables = []
    for place, part in enumerate(parts):
        batches = list(rows_of(store, part, numbered))
        table = pa.Table.from_batches(batches, schema=batch_schema(numbered))
        tables.append(table.append_column(_PLACE, pa.repeat(pa.scalar(place, pa.int32()), table.num_rows)))
    rows = pa.concat_tables(tables)
    first = len(columns)
    keys = [str(first + i) for i in range(len(rule.key))]
    order = [str(first + len(keys) + i) for i in range(len(rule.order))]
    number, kind = str(len(needed) - 2), str(len(needed) - 1)
    if rule.ignore_delete:
        rows = rows.filter(_there(rows.column(kind)))
    way = "ascending" if rule.descending else "descending"
    # NULLs come last, which makes them the oldest in both orders.
    newest_first = [*((k, "ascending") for k in keys), *((name, way) for name in order)]
    newest_first += [(number, "descending"), (_PLACE, "descending")]
    rows = rows.take(pc.sort_indices(rows, sort_keys=newest_first))
    chosen = pc.and_(_first_of_key(rows, keys), _there(rows.column(kind)))
    made = rows.filter(chosen).select([str(i) for i in range(first)])
    yield from made.rename_columns([c.name for c in columns]).combine_chunks().to_batches(1 << 16)


def _system(field: DataField) -> Column:
    return Column(field.name, field, field)


def _there(kinds: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.is_in(kinds, pa.array(INSERTS, pa.int8()))


def _first_of_key(rows: pa.Table, keys: Sequence[str]) -> pa.Array:
    """Of rows that are sorted by key, whether each is the first of its key."""
    count = rows.num_rows
    differs = pa.repeat(pa.scalar(False), max(count - 1, 0))
    for key in keys:
        values = rows.column(key).combine_chunks()
        differs = pc.or_(differs, pc.not_equal(values.slice(1), values.slice(0, max(count - 1, 0))))
    return pa.concat_arrays([pa.array([True] * min(count, 1), pa.bool_()), differs])


def _is_orderable(field: DataField) -> bool:
    """Whether values sort in Arrow as they do in Spark, and are equal where they are for Spark."""
    match field.type:
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p):
            return p <= _MICROS
        case type_:
            numbers = (Boolean, TinyInt, SmallInt, Int, BigInt, Decimal)
            return isinstance(type_, (*numbers, Date, Time, Char, VarChar, VarBinary))


def _refused(section: Section, message: str) -> LakebedError:
    others = f" and {len(section) - 1} more" if len(section) > 1 else ""
    return UnsupportedError.of(
        "LB5605",
        f"data file {section[0].path}{others} {message}: they are not merged in Arrow",
        path=section[0].path,
        remedy="read with --engine spark, which merges them",
        python_remedy="use lake.read(...), which merges them in Spark",
    )

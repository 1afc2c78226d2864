"""Split batches into runs of rows that belong into the same files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.column_statistics import internal_value
from lakebed.errors import WriteError
from lakebed.format.binary_row import RowCodec

NO_PLACE = "LB6504"

#: The bucket of a row, and which of the bucket's new files it goes to.
BUCKET, ROUND = "_LAKEBED_BUCKET", "_LAKEBED_ROUND"
#: The hash of a row's key, where it says which bucket the row is in.
HASH = "_LAKEBED_HASH"
#: Whether a row is the last one of its key, where others are with it.
LAST = "_LAKEBED_LAST"


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows belong. `partition` is a binary row with its arity."""

    partition: bytes
    bucket: int
    round: int


@dataclass(frozen=True, slots=True)
class Run:
    """Rows that stand together and belong to one place, by their numbers in the batch."""

    place: Place
    start: int
    length: int


def runs(batch: pa.RecordBatch, partition: Sequence[pa.Array], codec: RowCodec) -> Iterator[Run]:
    """The runs of a batch, in order. `partition` are the values of the partition keys, as files hold them.

    A column of places that is not there is 0 for all rows. Raises WriteError for a row without a place.
    """
    columns = [_place(batch, name) for name in (BUCKET, ROUND)]
    bounds = [0, *changes([*partition, *(c for c in columns if c is not None)]), batch.num_rows]
    for start, end in pairwise(bounds):
        if start < end:
            values = codec.encode([internal_value(column[start]) for column in partition])
            bucket, number = (0 if column is None else column[start].as_py() for column in columns)
            yield Run(Place(values, bucket, number), start, end - start)


def _place(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    at = batch.schema.get_field_index(name)
    if at < 0:
        return None
    values = batch.column(at)
    if values.null_count:
        raise WriteError.of(NO_PLACE, f"a row has no {name}", path=name, found="NULL")
    return values


def changes(columns: Sequence[pa.Array]) -> list[int]:
    """The numbers of the rows that differ from the one before them."""
    if not columns or len(columns[0]) < 2:
        return []
    differs = map(_differs, columns)
    return [i + 1 for i in pc.indices_nonzero(reduce(pc.or_, differs)).to_pylist()]


def _differs(values: pa.Array) -> pa.Array:
    """Whether each value but the first is another than the one before it."""
    if pa.types.is_floating(values.type):
        # NaN is the same as itself.
        values = values.view(pa.int32() if pa.types.is_float32(values.type) else pa.int64())
    here, before = values.slice(1), values.slice(0, len(values) - 1)
    other = pc.fill_null(pc.not_equal(here, before), False)
    return pc.or_(other, pc.xor(here.is_null(), before.is_null()))

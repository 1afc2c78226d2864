"""Split batches into runs of rows that belong into the same files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import WriteError
from lakebed.format.binary_row import EMPTY_ROW

NO_PLACE = "LB6504"

#: Where a row belongs: the binary row of its partition, its bucket, and which of the bucket's new files it goes to.
PARTITION, BUCKET, ROUND = "_LAKEBED_PARTITION", "_LAKEBED_BUCKET", "_LAKEBED_ROUND"
_DEFAULTS = {PARTITION: EMPTY_ROW, BUCKET: 0, ROUND: 0}


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


def runs(batch: pa.RecordBatch) -> Iterator[Run]:
    """The runs of a batch, in order. A column of places that is not there is the same for all rows.

    Raises WriteError for a row without a place.
    """
    columns = {name: batch.column(i) for name in _DEFAULTS if (i := batch.schema.get_field_index(name)) >= 0}
    for name, values in columns.items():
        if values.null_count:
            raise WriteError.of(NO_PLACE, f"a row has no {name}", path=name, found="NULL")
    bounds = [0, *_changes(list(columns.values())), batch.num_rows]
    for start, end in pairwise(bounds):
        if start < end:
            found = {name: values[start].as_py() for name, values in columns.items()}
            yield Run(Place(*(found.get(name, default) for name, default in _DEFAULTS.items())), start, end - start)


def _changes(columns: list[pa.Array]) -> list[int]:
    """The numbers of the rows that differ from the one before them."""
    differs = [pc.not_equal(values.slice(1), values.slice(0, max(len(values) - 1, 0))) for values in columns]
    if not differs:
        return []
    return [i + 1 for i in pc.indices_nonzero(reduce(pc.or_, differs)).to_pylist()]

"""The function that Spark's workers run over the contents of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from lakebed.spark.decoders.avro_file import avro_batches
from lakebed.spark.decoders.blob_file import Placeholder, blob_values

ORDINAL, POSITION = "_LAKEBED_ORDINAL", "_LAKEBED_POSITION"
#: After the columns of a file come the ordinal of the file and the row's place in it.
_ADDED = 2
Decoder = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def decoder(format: str, schema: pa.Schema) -> Decoder:
    """From batches of `content` and ordinal to rows of `schema`, whose last columns are the ordinal and the place."""
    own = pa.schema(list(schema)[:-_ADDED])

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content, ordinal in zip(batch.column(0), batch.column(1), strict=True):
                place = 0
                for rows in _rows(format, content.as_py(), own):
                    added = [
                        pa.array([ordinal.as_py()] * rows.num_rows, pa.int32()),
                        pa.array(range(place, place + rows.num_rows), pa.int64()),
                    ]
                    yield pa.RecordBatch.from_arrays([*rows.columns, *added], schema=schema)
                    place += rows.num_rows

    return decode


def _rows(format: str, content: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if format == "avro":
        return avro_batches(content, schema)
    return _blob_batches(content, schema)


def _blob_batches(content: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    values = blob_values(content)
    if any(isinstance(v, Placeholder) for v in values):
        raise ValueError("blob files with placeholders are not read yet")
    for start in range(0, len(values), 64):
        yield pa.RecordBatch.from_arrays([pa.array(values[start : start + 64], pa.binary())], schema=schema)

"""Write rows in their stored forms as Parquet and ORC files, through an output of a store."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from lakebed.arrow.avro_writer import AvroWriter
from lakebed.arrow.row_forms import RowForms
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import UnsupportedError
from lakebed.format.writable_types import UNWRITABLE_FORMAT
from lakebed.store import Output

#: Bytes that are collected before they go to a store: pages have small headers.
_BUFFER = 1 << 20
#: The names that PyArrow has for compressions of the table format, where they are others.
_OTHER_NAMES = {"parquet": {"uncompressed": "none", "null": "none", "lz4_raw": "lz4"}, "orc": {"none": "uncompressed"}}
_CODECS = {
    "parquet": ("none", "zstd", "snappy", "gzip", "brotli", "lz4"),
    "orc": ("uncompressed", "zstd", "snappy", "zlib", "lz4"),
}
#: Texts of which this share or less differ go by a dictionary, as in Java.
_DICTIONARY = 0.8
_STRIPE, _SMALLEST_STRIPE = 64 << 20, 64 << 10


class FormatWriter(Protocol):
    """Writes the rows of one file."""

    def write(self, rows: pa.Table) -> None:
        """Write rows, as a row group of their own where the format has such."""
        ...

    def close(self) -> None:
        """Write what the format has at the end of a file."""
        ...

    def let_go(self) -> None:
        """Let the file go, unfinished; nothing more is written."""
        ...


def open_writer(output: Output, rows: RowForms, task: WriteTask) -> FormatWriter:
    """A writer of rows of a task's files.

    Raises UnsupportedError for a format that is not written.
    """
    match task.file_format:
        case "parquet":
            return ParquetWriter(output, rows.stored, task)
        case "orc":
            return OrcWriter(output, task)
        case "avro":
            return AvroWriter(output, rows.stored_fields, task)
        case other:
            message = f"data files of the format {other} are not written"
            raise UnsupportedError.of(UNWRITABLE_FORMAT, message, found=other)


class ParquetWriter:
    """Writes Parquet as every reader of the table format expects it (section 6.6): decimals as integers, checksums."""

    def __init__(self, output: Output, schema: pa.Schema, task: WriteTask) -> None:
        self._sink = Sink(output)
        codec = codec_name("parquet", task.compression)
        level = {"compression_level": task.zstd_level} if codec == "zstd" else {}
        self._writer = pq.ParquetWriter(
            self._sink.stream,
            schema,
            compression=codec,
            store_decimal_as_integer=True,
            store_schema=False,
            write_page_checksum=True,
            write_page_index=True,
            **level,
        )

    def write(self, rows: pa.Table) -> None:
        """Write a row group."""
        with self._sink.filled():
            self._writer.write_table(rows, row_group_size=rows.num_rows)

    def close(self) -> None:
        """Write the footer."""
        with self._sink.filled():
            self._writer.close()

    def let_go(self) -> None:
        """Let the file go."""
        self._sink.let_go()
        with suppress(Exception):
            self._writer.close()


class OrcWriter:
    """Writes ORC; moments as of a writer in UTC, so that clocks and instants are what they are."""

    def __init__(self, output: Output, task: WriteTask) -> None:
        self._sink = Sink(output)
        # A file is full between stripes only.
        stripe = min(_STRIPE, max(task.target_size // 4, _SMALLEST_STRIPE))
        codec = codec_name("orc", task.compression)
        self._writer = orc.ORCWriter(
            self._sink.stream, compression=codec, stripe_size=stripe, dictionary_key_size_threshold=_DICTIONARY
        )

    def write(self, rows: pa.Table) -> None:
        """Write rows, which need not be a stripe of their own."""
        whole = pa.Table.from_arrays([_unsliced(c) for c in rows.columns], schema=rows.schema)
        with self._sink.filled():
            self._writer.write(whole)

    def close(self) -> None:
        """Write the last stripe and the footer."""
        with self._sink.filled():
            self._writer.close()

    def let_go(self) -> None:
        """Let the file go."""
        self._sink.let_go()
        with suppress(Exception):
            self._writer.close()


def _unsliced(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same column: where a struct or its members are slices, PyArrow writes the first rows of the whole to ORC."""
    if not pa.types.is_nested(column.type):
        return column
    return pa.chunked_array([pa.concat_arrays([chunk]) for chunk in column.chunks], column.type)


def codec_name(format: str, compression: str) -> str:
    """The name that PyArrow has for a compression in a format; zstd for one that it does not write there."""
    name = _OTHER_NAMES[format].get(compression, compression)
    if name not in _CODECS[format]:
        return "zstd"
    return name if name in ("none", "uncompressed", "zlib") or pa.Codec.is_available(name) else "zstd"


class Sink(io.RawIOBase):
    """An output as the file object that a writer of a format writes to; the output outlives it."""

    def __init__(self, output: Output) -> None:
        self._output: Output | None = output
        self._at = 0
        self._error: BaseException | None = None
        #: What a writer is given.
        self.stream = pa.BufferedOutputStream(pa.PythonFile(self, mode="w"), _BUFFER)

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self._output is not None:
            try:
                self._output.write(data)
            except BaseException as e:
                self._error = e
                raise
        self._at += len(data)
        return len(data)

    @contextmanager
    def filled(self) -> Iterator[None]:
        """Run a block that writes, then let the output have all of it.

        ORC's writer says of an error what it was, not which.
        """
        try:
            yield
            self.stream.flush()
        except Exception:
            if self._error is not None:
                raise self._error from None
            raise

    def let_go(self) -> None:
        """Write nothing more, whatever the writer says at its end."""
        self._output = None

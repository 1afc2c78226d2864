"""Write rows in their stored forms as Parquet files, through an output of a store."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.catalog.option_values import whole_number
from lakebed.catalog.options import FILE_COMPRESSION_ZSTD_LEVEL
from lakebed.errors import UnsupportedError
from lakebed.format.writable_types import UNWRITABLE_FORMAT
from lakebed.store import Output

_PARQUET_CODECS = {"none": "none", "uncompressed": "none", "lz4_raw": "lz4"}
#: Bytes that are collected before they go to a store: pages have small headers.
_BUFFER = 1 << 20
_PARQUET_KNOWN = ("none", "zstd", "snappy", "gzip", "brotli", "lz4")


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


def open_writer(
    output: Output, schema: pa.Schema, format: str, compression: str, options: Mapping[str, str]
) -> FormatWriter:
    """A writer of rows of a schema. Raises UnsupportedError for a format that is not written."""
    if format == "parquet":
        return ParquetWriter(output, schema, compression, options)
    raise UnsupportedError.of(UNWRITABLE_FORMAT, f"data files of the format {format} are not written", found=format)


class ParquetWriter:
    """Writes Parquet as every reader of the table format expects it (section 6.6): decimals as integers, checksums."""

    def __init__(self, output: Output, schema: pa.Schema, compression: str, options: Mapping[str, str]) -> None:
        self._sink = Sink(output)
        self._buffered = pa.BufferedOutputStream(pa.PythonFile(self._sink, mode="w"), _BUFFER)
        codec = parquet_codec(compression)
        level = {"compression_level": whole_number(options, FILE_COMPRESSION_ZSTD_LEVEL)} if codec == "zstd" else {}
        self._writer = pq.ParquetWriter(
            self._buffered,
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
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._buffered.flush()

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()
        self._buffered.flush()

    def let_go(self) -> None:
        """Let the file go."""
        self._sink.let_go()
        with suppress(Exception):
            self._writer.close()


def parquet_codec(compression: str) -> str:
    """The name that PyArrow has for a compression of the table format; zstd for one that it does not write."""
    name = _PARQUET_CODECS.get(compression, compression)
    return name if name in _PARQUET_KNOWN and (name == "none" or pa.Codec.is_available(name)) else "zstd"


class Sink(io.RawIOBase):
    """An output as the file object that a writer of a format writes to; the output outlives it."""

    def __init__(self, output: Output) -> None:
        self._output: Output | None = output
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self._output is not None:
            self._output.write(data)
        self._at += len(data)
        return len(data)

    def let_go(self) -> None:
        """Write nothing more, whatever the writer says at its end."""
        self._output = None

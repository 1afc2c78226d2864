"""Write rows as data files of a table: into staging first, then to their places.

One Spark job writes everything below `<table>/.staging-<uuid>/`. Rows of a partitioned table are spread by a digest of
their partition values, so that neither a time zone nor the difference between NULL and an empty text matters; the
values themselves are read back from the files. Spark's committer leaves nothing of failed tasks. Files are moved to
their places only when everything about the run is known to be right, and they are nobody's until a snapshot names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampNTZType

from lakebed.catalog.option_values import text_of, word
from lakebed.catalog.options import DATA_FILE_PREFIX, FILE_COMPRESSION, FILE_COMPRESSION_ZSTD_LEVEL
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import IngestError, StoreError
from lakebed.format.commit import NewFile
from lakebed.format.manifest import SimpleStats
from lakebed.format.parquet_footer import read_footer
from lakebed.format.partition import data_directory, partition_path
from lakebed.format.statistics import footer_statistics
from lakebed.ingest.required_parts import with_required_parts
from lakebed.ingest.timestamp_encoding import StampForms, stamp_forms
from lakebed.ingest.write_types import FIELD_ID, write_type
from lakebed.physical.paimon_types import (
    Binary,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Timestamp,
    VarBinary,
)
from lakebed.spark.clocks import UTC, wall_to_instant
from lakebed.spark.footers import of_each_file
from lakebed.spark.spark_errors import writing_rows
from lakebed.spark.sql_names import spark_url
from lakebed.store.base import Store
from lakebed.store.safe_delete import Inside
from lakebed.store.temporary import staging

LEGACY_DATES = "LB6117"

_DIGEST = "lakebed_partition"
_COMPRESSIONS = ("zstd", "snappy", "gzip", "none")
_REBASE = "spark.sql.parquet.datetimeRebaseModeInWrite"
_REBASED_MARK = b"org.apache.spark.legacyDateTime"
_UNIT_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A complete file in staging. `partition` holds internal values, `size` bytes."""

    path: str
    partition: tuple[Any, ...]
    size: int
    rows: int
    stats: SimpleStats


@dataclass(slots=True)
class Staging:
    """The files of one write of one table, from staging to their places, and the way back."""

    store: Store
    table_path: str
    schema: TableSchema
    files: tuple[StagedFile, ...] = ()
    placed: list[str] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def directory(self) -> str:
        """Where Spark writes."""
        return f"{self.table_path}/{staging(self.id)}"

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(f.rows for f in self.files)

    def write(self, values: DataFrame) -> None:
        """Run the job and look at its files.

        `values` has a column `v<i>` for each column of the schema, of its write type.
        """
        stamps = stamp_forms(self.schema.fields)
        columns = [_final(i, f, stamps) for i, f in enumerate(self.schema.fields)]
        keys = self.schema.partition_keys
        if not keys:
            frame = values.select(*columns)
            writer = frame.write
        else:
            names = self.schema.field_names
            digest = _unused(_DIGEST, names)
            parts = [(F.col(f"v{names.index(k)}"), self.schema.fields[names.index(k)].type) for k in keys]
            frame = values.select(*columns, partition_digest(parts, stamps).alias(digest)).hint("rebalance", digest)
            writer = frame.write.partitionBy(digest)
        writer = writer.mode("error").options(**_writer_options(self.schema, stamps))
        with writing_rows(self.directory):
            writer.parquet(spark_url(self.directory))
        self.files = tuple(self.written())

    def written(self) -> Iterator[StagedFile]:
        """Rows, statistics and partition of every file in staging that has rows. Each footer is read once."""
        found = list(_walk(self.store, self.directory))
        by_path = dict(of_each_file(self._describe, [path for paths in found for path in paths]))
        for paths in found:
            full = [(path, known) for path in paths if (known := by_path[path]) is not None]
            if full:
                first, (footer, *_) = full[0]
                partition = self._partition(first, footer)
                for path, (_, size, rows, stats) in full:
                    yield StagedFile(path, partition, size, rows, stats)

    def _describe(self, path: str) -> tuple[str, tuple[Any, int, int, SimpleStats] | None]:
        """The footer, the size, the rows and the statistics of a file; None where it has no rows."""
        footer = read_footer(self.store, path)
        if _REBASED_MARK in (footer.metadata or {}):
            raise legacy_dates(path)
        known = footer_statistics(footer, self.schema.fields, self.schema.options)
        return path, (footer, self.store.size(path), known.rows, known.stats) if known.rows else None

    def _partition(self, path: str, footer: Any) -> tuple[Any, ...]:
        """The partition values of a file, which are the same in all its rows."""
        keys = self.schema.partition_keys
        if not keys:
            return ()
        import pyarrow as pa
        import pyarrow.parquet as pq

        source = path if "://" not in path and path.startswith("/") else pa.BufferReader(self.store.read(path))
        with pq.ParquetFile(source, metadata=footer, page_checksum_verification=True) as file:
            batch = next(file.iter_batches(batch_size=1))
        types = {f.name: f.type for f in self.schema.fields}
        return tuple(internal_value(batch.column(batch.schema.get_field_index(k)), types[k]) for k in keys)

    def place(self) -> list[NewFile]:
        """Move the files to their places and say what a commit has to know of them."""
        schema, files = self.schema, []
        types = [f.type for k in schema.partition_keys for f in schema.fields if f.name == k]
        prefix = text_of(schema.options, DATA_FILE_PREFIX)
        for i, staged in enumerate(self.files):
            path = partition_path(schema.partition_keys, types, staged.partition, schema.options)
            directory = data_directory(self.table_path, path, 0, schema.options)
            name = f"{prefix}{self.id}-{i}.parquet"
            self.store.make_directory(directory)
            self.placed.append(f"{directory}/{name}")
            self.store.move(staged.path, self.placed[-1])
            files.append(
                NewFile(
                    partition=staged.partition,
                    file_name=name,
                    size=staged.size,
                    rows=staged.rows,
                    stats=staged.stats,
                    schema_id=schema.id,
                )
            )
        return files

    def clear(self) -> None:
        """Delete what is still in staging."""
        Inside(self.store, self.table_path).delete_tree(self.directory)

    def take_back(self) -> None:
        """Delete the files in their places, as well as possible, for when they belong to no snapshot."""
        inside = Inside(self.store, self.table_path)
        for path in self.placed:
            # One that stays is found by the clean-up of orphan files, unless it lies behind a link.
            with suppress(StoreError):
                inside.delete(path)
        self.placed.clear()


def _final(index: int, column: DataField, stamps: StampForms) -> Column:
    value = F.col(f"v{index}").cast(write_type(column.type, stamps))
    return with_required_parts(value, column.type, stamps).alias(column.name, metadata={FIELD_ID: column.id})


def _unused(name: str, taken: Sequence[str]) -> str:
    folded = {t.casefold() for t in taken}
    while name in folded:
        name += "_"
    return name


def _writer_options(schema: TableSchema, stamps: StampForms) -> dict[str, str]:
    """Everything that a session could have set otherwise, for this write only."""
    compression = word(schema.options, FILE_COMPRESSION).strip()
    return {
        "compression": compression if compression in _COMPRESSIONS else "zstd",
        "parquet.compression.codec.zstd.level": text_of(schema.options, FILE_COMPRESSION_ZSTD_LEVEL),
        "maxRecordsPerFile": "0",
        "spark.sql.parquet.outputTimestampType": stamps.output_type,
        "spark.sql.parquet.writeLegacyFormat": "false",
        "spark.sql.parquet.fieldId.write.enabled": "true",
    }


def refuse_legacy_dates(session: SparkSession) -> None:
    """Raise `IngestError` in a session that would shift dates before 1582 into another calendar."""
    if (session.conf.get(_REBASE, "CORRECTED") or "CORRECTED").upper() == "LEGACY":
        raise legacy_dates(None)


def legacy_dates(path: str | None) -> IngestError:
    """The error for files whose dates were shifted into the old calendar."""
    return IngestError.of(
        LEGACY_DATES,
        "the Spark session writes dates in the old Julian calendar, which other engines read as other days",
        path=path,
        found=f"{_REBASE}=LEGACY",
        remedy=f"set {_REBASE}=CORRECTED",
    )


def _walk(store: Store, directory: str) -> Iterator[list[str]]:
    """The Parquet files of each directory below staging that has any."""
    entries = [e for e in store.list(directory) if not e.name.startswith(("_", "."))]
    files = [f"{directory}/{e.name}" for e in entries if not e.is_directory and e.name.endswith(".parquet")]
    if files:
        yield files
    for entry in entries:
        if entry.is_directory:
            yield from _walk(store, f"{directory}/{entry.name}")


def partition_digest(parts: Sequence[tuple[Column, DataType]], stamps: StampForms) -> Column:
    """SHA-256 of partition values: equal for equal values only, whatever the session's zone is."""
    return F.sha2(F.concat(*(_encoded(value, type_, stamps) for value, type_ in parts)), 256)


def _encoded(value: Column, type_: DataType, stamps: StampForms) -> Column:
    """A value as text that starts with its own length, or `n` for NULL, so that texts in a row cannot be mixed up."""
    match type_:
        case Timestamp() | LocalZonedTimestamp():
            is_wall = isinstance(stamps.spark_type(type_), TimestampNTZType)
            text = F.unix_micros(wall_to_instant(value, UTC) if is_wall else value).cast("string")
        case Binary() | VarBinary():
            text = F.hex(value)
        case _:
            text = value.try_cast("string")
    return F.when(value.isNull(), F.lit("n")).otherwise(F.concat(F.length(text).cast("string"), F.lit(":"), text))


def internal_value(column: Any, type_: DataType) -> Any:
    """The first value of an Arrow column as an internal value (see `lakebed.format.binary_row`)."""
    import pyarrow as pa

    value = column[0]
    if not value.is_valid:
        return None
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())[0].as_py() * _UNIT_NANOS[column.type.unit]
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32())[0].as_py()
    return value.as_py()

"""Scan an explicit list of files of one format, listing nothing; apply deletion vectors.

The list goes to Spark as the log of a streaming file sink in a scratch directory: Spark then takes paths and sizes from
it and touches no file before the query runs. Each entry's modification time is ours to choose, so it carries a number
for its file (the ordinal of its partition). Spark compares filters on that metadata column with the list itself, before
it opens a file: a filter on a partition column prunes files although the column's values come from the manifests.

Of a blob file only the index at its end is read where descriptors are wanted in place of the values. Where Spark has no
connector for the storage, the workers' Python reads the files.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructType

from lakebed.arrow.blob_file import PLACEHOLDER, BlobPlace, Placeholder
from lakebed.arrow.blob_values import IS_PLACEHOLDER
from lakebed.arrow.decode_files import ORDINAL, POSITION, decoder, to_arrow_schema
from lakebed.arrow.read_blobs import read_places
from lakebed.arrow.scan_files import pieces, scanner
from lakebed.convert.scan_types import scan_schema
from lakebed.errors import NotFoundError, StoreError
from lakebed.format.blob_columns import BlobDescriptor
from lakebed.physical.paimon_types import DataField
from lakebed.spark.sql_names import spark_pattern, spark_url
from lakebed.store import LocalStore, temporary
from lakebed.store.base import Store
from lakebed.store.safe_delete import Inside

_MOST_TRIES = 5
_IGNORE_LOG = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
_BLOCK = 128 << 20
_ORDER = "_LAKEBED_ORDER"
#: What a session could have set otherwise: a file that is missing or broken fails the query, instead of losing its
#: rows, and days before 1582 are those of the table format's calendar.
_OPTIONS = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    "orc.force.positional.evolution": "false",
}


@dataclass(frozen=True, slots=True)
class ScanFile:
    """A file to scan: path or URL, exact size in bytes (a wrong size loses rows), and the number that it carries."""

    path: str
    size: int
    ordinal: int = 0


def page_checks(verify: bool = True) -> dict[str, str]:
    """The reader option that says whether pages of Parquet files are held against their checksums, where they have any.

    It does not depend on what the session says.
    """
    return {"parquet.page.verify-checksum.enabled": str(verify).lower()}


class FileFormat(StrEnum):
    """The formats of data files, by the extension of their names."""

    PARQUET = "parquet"
    ORC = "orc"
    AVRO = "avro"
    BLOB = "blob"


#: Spark's own readers, by the names that no setting of a session gives to another one.
_READERS = {
    FileFormat.PARQUET: "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat",
    FileFormat.ORC: "org.apache.spark.sql.execution.datasources.orc.OrcFileFormat",
}
#: What Spark has a reader for.
NATIVE = tuple(_READERS)


@dataclass(frozen=True, slots=True)
class Scanned:
    """The rows of a scan, the ordinal that each row's file carries, and the row's place in its file, from 0.

    The place may be NULL unless it was asked for.
    """

    frame: DataFrame
    ordinal: Column
    position: Column


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where file lists are written for Spark to read: a store and a directory that Spark's driver sees too.

    `is_own`: the directory is there for nothing else, and goes when nothing is in it any more.
    """

    store: Store
    directory: str
    is_own: bool = False

    def publish(self, root: str, log: bytes) -> None:
        """Write the log of a list to the directory `root` in the scratch directory."""
        for left in reversed(range(_MOST_TRIES)):
            try:
                self.store.make_directory(f"{root}/_spark_metadata")
                self.store.create_if_absent(f"{root}/_spark_metadata/0", log)
            except NotFoundError:
                # Whoever is done removes the empty scratch directory, perhaps between two steps of this one.
                if not left:
                    raise
            else:
                return

    def remove(self, root: str) -> None:
        """Take a list away, and the scratch directory if it was the last one in it."""
        inside = Inside(self.store, self.directory)
        inside.delete_tree(root)
        if self.is_own:
            with contextlib.suppress(StoreError):
                inside.remove_directory(self.directory)


def choose_scratch(spark: SparkSession, store: Store, warehouse: str, directory: str | None) -> Scratch:
    """`directory` if given; a temporary directory if Spark runs on this machine; else a place in the warehouse."""
    if directory is not None:
        return Scratch(LocalStore() if "://" not in directory else store, directory.rstrip("/"))
    if (spark.conf.get("spark.master", "") or "").startswith("local"):
        return Scratch(LocalStore(), tempfile.gettempdir())
    return Scratch(store, f"{warehouse}/{temporary.SCRATCH}", is_own=True)


def format_of(path: str) -> FileFormat:
    """The format of a data file, whatever the table's options say now."""
    return FileFormat(path.rpartition(".")[2].lower())


def scan(
    spark: SparkSession,
    format: FileFormat,
    schema: StructType,
    files: Sequence[ScanFile],
    scratch: Scratch,
    *,
    positions: bool = False,
    verify_checksums: bool = True,
) -> Scanned:
    """The rows of `files` as columns of `schema`. At least one file, all of one format.

    `verify_checksums`: see `page_checks`.
    """
    if format in NATIVE:
        reader = spark.read.format(_READERS[format]).options(**_OPTIONS, **page_checks(verify_checksums))
        found = _load(spark, reader.schema(schema), files, scratch)
        return _positioned(found, format) if positions else found
    whole = _load(spark, spark.read.format("binaryFile").options(**_OPTIONS), files, scratch)
    contents = whole.frame.select(F.col("content"), whole.ordinal.alias(ORDINAL), F.col("path"))
    extended = schema.add(ORDINAL, IntegerType()).add(POSITION, LongType())
    decoded = contents.mapInArrow(decoder(format.value, to_arrow_schema(extended)), extended)
    return Scanned(decoded, F.col(ORDINAL), F.col(POSITION))


def scan_by_workers(
    spark: SparkSession, store: Store, fields: Sequence[DataField], files: Sequence[ScanFile], *, verify_checksums: bool
) -> Scanned:
    """The rows of `files` as columns `fields`, read by the workers' Python through the store of the table."""
    table, tasks = pieces((f.path, f.size, f.ordinal) for f in files)
    schema = scan_schema(fields).add(ORDINAL, IntegerType()).add(POSITION, LongType())
    parts = spark.createDataFrame(table).repartition(tasks)
    read = parts.mapInArrow(scanner(store, fields, verify_checksums=verify_checksums), schema)
    return Scanned(read, F.col(ORDINAL), F.col(POSITION))


def _load(spark: SparkSession, reader: DataFrameReader, files: Sequence[ScanFile], scratch: Scratch) -> Scanned:
    if not log_is_usable(spark):
        frame = reader.load([spark_pattern(f.path) for f in files])
        return Scanned(frame, _looked_up(frame, files), F.lit(None))
    with _published_log(spark, files, scratch) as root:
        frame = reader.option("recursiveFileLookup", "true").load(spark_url(root))
        ordinal = F.unix_millis(_metadata(frame, "file_modification_time")).cast("int")
        return Scanned(frame, ordinal, F.lit(None))


def _metadata(frame: DataFrame, name: str) -> Column:
    return frame.metadataColumn("_metadata").getField(name)


def _positioned(scanned: Scanned, format: FileFormat) -> Scanned:
    """The scan with the row's place in its file; ordinals tell the files apart."""
    frame = scanned.frame
    if format is FileFormat.PARQUET:
        named = frame.select("*", scanned.ordinal.alias(ORDINAL), _metadata(frame, "row_index").alias(POSITION))
    else:
        # ORC has no row index. Within a part of a file rows keep their order, and parts have their place in the file.
        start = _metadata(frame, "file_block_start")
        numbered = frame.select(
            "*",
            scanned.ordinal.alias(ORDINAL),
            F.struct(start, F.monotonically_increasing_id()).alias(_ORDER),
        )
        place = F.row_number().over(Window.partitionBy(ORDINAL).orderBy(_ORDER)).cast("bigint") - F.lit(1)
        named = numbered.withColumn(POSITION, place).drop(_ORDER)
    return Scanned(named, F.col(ORDINAL), F.col(POSITION))


def without_deleted(spark: SparkSession, scanned: Scanned, deleted: Mapping[int, Sequence[int]]) -> Scanned:
    """The rows of a scan with positions, less the positions that `deleted` names by ordinal."""
    import pyarrow as pa

    counts = [len(positions) for positions in deleted.values()]
    ordinals = pa.concat_arrays([pa.repeat(pa.scalar(o, pa.int32()), n) for o, n in zip(deleted, counts, strict=True)])
    places = pa.concat_arrays([pa.array(p, pa.int64()) for p in deleted.values()])
    table = pa.table({ORDINAL: ordinals, POSITION: places})
    gone = F.broadcast(spark.createDataFrame(table))
    return Scanned(scanned.frame.join(gone, [ORDINAL, POSITION], "left_anti"), scanned.ordinal, scanned.position)


def log_is_usable(spark: SparkSession) -> bool:
    """Whether the session reads sink logs; one that ignores them would silently give no rows."""
    return (spark.conf.get(_IGNORE_LOG, "false") or "false").lower() != "true"


def _looked_up(frame: DataFrame, files: Sequence[ScanFile]) -> Column:
    """The ordinals by the ends of the paths, where Spark was given the paths and looks at each file itself.

    A name is enough for most tables; where two directories have files of one name, so much more of the path is taken.
    """
    paths = [f.path.split("/") for f in files]
    ends = (["/".join(p[-depth:]) for p in paths] for depth in range(1, max(map(len, paths)) + 1))
    depth, names = next((d, e) for d, e in enumerate(ends, 1) if len(set(e)) == len(e) or d == max(map(len, paths)))
    table = F.from_json(F.lit(json.dumps(dict(zip(names, (f.ordinal for f in files), strict=True)))), "map<string,int>")
    parts = F.split(file_path(frame), "/")
    return F.element_at(table, F.array_join(F.slice(parts, -depth, depth), "/"))


def file_path(frame: DataFrame) -> Column:
    """The path or URL of each row's file, of a frame that Spark's own readers gave and nothing was done to."""
    # Which characters of a name are quoted in that URL is Hadoop's to choose; in it a plus stands for itself.
    decoded = F.url_decode(F.replace(_metadata(frame, "file_path"), F.lit("+"), F.lit("%2B")))
    return F.regexp_replace(decoded, "^file:/+", "/")


@contextlib.contextmanager
def _published_log(spark: SparkSession, files: Sequence[ScanFile], scratch: Scratch) -> Iterator[str]:
    """Write the list; take it away when it is not needed any more.

    A classic session reads the list while the DataFrame is made. A Spark Connect session reads it again with every
    query, so there it stays until the process ends.
    """
    root = f"{scratch.directory}/{temporary.scratch_list()}"
    scratch.publish(root, _log_text(files).encode())
    if is_connect(spark):
        atexit.register(scratch.remove, root)
        yield root
        return
    try:
        yield root
    finally:
        scratch.remove(root)


def _log_text(files: Sequence[ScanFile]) -> str:
    lines = ["v1"]
    lines += [
        json.dumps(
            {
                "path": _log_url(f.path),
                "size": f.size,
                "isDir": False,
                "modificationTime": f.ordinal,
                "blockReplication": 1,
                "blockSize": _BLOCK,
                "action": "add",
            }
        )
        for f in files
    ]
    return "\n".join(lines)


def _log_url(path: str) -> str:
    """A path as the log has it: a URL with its special characters quoted."""
    scheme, rest = spark_url(path).split("://", 1)
    return f"{scheme}://{quote(rest)}"


def is_connect(spark: SparkSession) -> bool:
    """Whether the session speaks Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def described(spark: SparkSession, store: Store, schema: StructType, files: Sequence[ScanFile]) -> Scanned:
    """The rows of blob files as columns of `schema`: a descriptor in place of each value.

    The indexes are read here and now: about two bytes a row. Raises CorruptMetadataError for one that is damaged.
    """
    import pyarrow as pa

    arrow = to_arrow_schema(StructType([*schema.fields]).add(ORDINAL, IntegerType()).add(POSITION, LongType()))
    tables = [_rows(file, read_places(store, file.path, file.size), arrow) for file in files]
    return Scanned(spark.createDataFrame(pa.concat_tables(tables)), F.col(ORDINAL), F.col(POSITION))


def _rows(file: ScanFile, places: Sequence[BlobPlace | Placeholder | None], schema: Any) -> Any:
    import pyarrow as pa

    value, *others, ordinal, position = schema
    descriptors = [_descriptor(file, p) if isinstance(p, BlobPlace) else None for p in places]
    flags = [p is PLACEHOLDER for p in places]
    between = [
        pa.array(flags) if field.name == IS_PLACEHOLDER else pa.nulls(len(places), field.type) for field in others
    ]
    numbers = pa.repeat(pa.scalar(file.ordinal, ordinal.type), len(places))
    columns = [pa.array(descriptors, value.type), *between, numbers, pa.array(range(len(places)), position.type)]
    return pa.Table.from_arrays(columns, schema=schema)


def _descriptor(file: ScanFile, place: BlobPlace) -> bytes:
    return BlobDescriptor(file.path, place.offset, place.length).to_bytes()

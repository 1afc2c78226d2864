"""Read files of a source by the Python of Spark's workers, where Spark has no connector for their storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.arrow.decode_files import to_arrow_schema
from lakebed.arrow.scan_files import pieces
from lakebed.arrow.scan_sources import PLACE, URL, Scanner, line_scanner, parquet_scanner
from lakebed.arrow.text_lines import LinePiece, LineRules, line_pieces, line_tasks
from lakebed.ingest.sources.parquet_rebase import needs_spark
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.sources.source_listing import SourceStorage
from lakebed.spark.reach import needs_workers, not_reached
from lakebed.spark.worker_python import check_workers


def places_of(frame: DataFrame, place: str = "file_block_start") -> tuple[Column, Column]:
    """The URL of the file that a row is from, and where in it: what Spark's metadata calls `place`, or workers say."""
    if URL in frame.columns:
        return F.col(URL), F.col(PLACE)
    metadata = frame.metadataColumn("_metadata")
    return metadata.getField("file_path"), metadata.getField(place)


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """Files of a source, their sizes by their paths, and how workers open them.

    Rows come with the URL of their file, as Spark writes it, and a place: of a line that of the piece of the file that
    it was read in, in bytes; of a row of Parquet its number.
    """

    session: SparkSession
    storage: SourceStorage
    sizes: Mapping[str, int]

    def lines(self, paths: Sequence[str], rules: LineRules) -> DataFrame:
        """The lines of text files, as the bytes `line`."""
        found = line_pieces(((path, self.sizes[path]) for path in paths), rules)
        schema = spark.StructType([spark.StructField("line", spark.BinaryType())])
        return self._read(LinePiece.table(found), line_tasks(found), schema, line_scanner(self.storage.open, rules))

    def parquet(self, paths: Sequence[str], schema: spark.StructType, *, verify_checksums: bool) -> DataFrame:
        """The rows of Parquet files as columns of the types of `schema`, by their places, called `c0`, `c1`, ..."""
        schema = spark.StructType([spark.StructField(f"c{i}", f.dataType) for i, f in enumerate(schema)])
        table, tasks = pieces((path, self.sizes[path], 0) for path in paths)
        read = parquet_scanner(self.storage.open, to_arrow_schema(schema), verify_checksums=verify_checksums)
        return self._read(table, tasks, schema, read)

    def refuse(self, files: Sequence[SourceFile], what: str) -> NoReturn:
        """Raise `UnsupportedError` (LB6462) for files of which only Spark's own readers make rows."""
        raise not_reached(files[0].path, f"it has no connector for them, which {what} needs")

    def refuse_rebased(self, file: SourceFile, footer: Any, *, rebase: bool) -> None:
        """Raise `UnsupportedError` (LB6462) for a file of Parquet that workers would read otherwise than Spark does."""
        if needs_spark(footer, rebase=rebase):
            self.refuse([file], "a file with INT96 inside of other columns, or with days of the Julian calendar,")

    def _read(self, table: pa.Table, tasks: int, schema: spark.StructType, read: Scanner) -> DataFrame:
        placed = spark.StructType([*schema.fields]).add(URL, spark.StringType()).add(PLACE, spark.LongType())
        return self.session.createDataFrame(table).repartition(tasks).mapInArrow(read, placed)


def worker_files(session: SparkSession, files: Sequence[SourceFile], storage: SourceStorage) -> WorkerFiles | None:
    """The files, where workers have to read them; None where Spark has a connector for all.

    Raises `UnsupportedError` where Spark cannot reach them for another reason (LB6462), or its workers cannot run
    Lakebed.
    """
    if not needs_workers(session, [f.path for f in files]):
        return None
    check_workers(session)
    return WorkerFiles(session, storage, {f.path: f.size for f in files})

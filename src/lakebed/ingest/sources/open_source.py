"""Open paths or a DataFrame for reading, as parts that each have columns of one kind.

CSV is read with every column as text, JSON lines as VARIANT, Parquet with the types of each file: what a value becomes
is decided by the checks, never by a reader. Files are grouped by their columns, so that one file with its columns in
another order is not read by the header of its neighbour. Columns get plain names (`c0`, `c1`, ...) and are matched to
the declared schema here, in Python: Spark, which may ignore case, never resolves a name of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.arrow.plain_rows import PlainLines
from lakebed.arrow.text_lines import LineRules
from lakebed.convert.scan_types import scan_schema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, UsageError
from lakebed.format.parquet_footer import read_footer
from lakebed.ingest.sources import json_values
from lakebed.ingest.sources.csv_source import MALFORMED, csv_parts
from lakebed.ingest.sources.json_documents import Documents, document_rows
from lakebed.ingest.sources.parquet_source import ParquetColumns, parquet_columns
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage
from lakebed.ingest.sources.source_option_values import LATIN_1
from lakebed.ingest.sources.source_options import SourceOptions
from lakebed.ingest.sources.source_parts import (
    PlainSource,
    RowFault,
    SourceColumn,
    SourcePart,
    columns_as_json,
    label,
    renamed,
    with_folders,
)
from lakebed.ingest.sources.source_types import Entries, Items, Members, SourceType, from_spark
from lakebed.ingest.sources.worker_files import WorkerFiles, places_of, worker_files
from lakebed.physical.paimon_types import DataField
from lakebed.spark.scan import page_checks
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import file_options, spark_pattern

CASE_CLASH = "LB6114"
NO_FRAME, STREAM = "LB6557", "LB6558"

#: What holds for files that Spark did not write, whatever the session says.
_CORRECTED = {"datetimerebasemode": "CORRECTED", "int96rebasemode": "CORRECTED"}
_CASE_SENSITIVE = "spark.sql.caseSensitive"


def open_files(
    spark_session: SparkSession,
    files: Sequence[SourceFile],
    format_: SourceFormat,
    options: SourceOptions,
    declared: Sequence[str],
    documents: Documents | None = None,
    storage: SourceStorage = LOCAL,
) -> tuple[SourcePart, ...]:
    """The parts of a source of files. `declared` are the columns of CSV files without a header; `documents` says that
    JSON files are one document each.
    """
    parts: list[SourcePart] = []
    workers = None if documents is not None else worker_files(spark_session, files, storage)
    for folders, alike in _by_folders(files).items():
        paths = [f.path for f in alike]
        match format_:
            case SourceFormat.CSV:
                found = tuple(csv_parts(spark_session, alike, options, declared, storage, workers))
            case SourceFormat.JSON if documents is not None:
                found = (_document_part(spark_session, paths, options, documents, storage),)
            case SourceFormat.JSON:
                found = (_json_part(spark_session, paths, options, workers),)
            case SourceFormat.PARQUET:
                found = tuple(_parquet_parts(spark_session, alike, options, storage, workers))
        parts += (with_folders(part, folders, alike) for part in found)
    return tuple(parts)


def _by_folders(files: Sequence[SourceFile]) -> dict[tuple[str, ...], list[SourceFile]]:
    """The files by the names of the folders that say something about them."""
    groups: dict[tuple[str, ...], list[SourceFile]] = {}
    for file in files:
        groups.setdefault(tuple(f.name for f in file.folders), []).append(file)
    return groups


@contextmanager
def open_frame(frame: DataFrame) -> Iterator[tuple[SourcePart, ...]]:
    """The one part of a DataFrame, kept in memory or on disk meanwhile: all passes see the same rows.

    Raises what `check_frame` raises, and `SparkFailedError` where Spark cannot plan the frame.
    """
    part = part_of(frame)
    with spark_errors():
        level = frame.storageLevel
        kept = not (level.useMemory or level.useDisk)
        if kept:
            frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield (part,)
    finally:
        if kept:
            frame.unpersist()


def part_of(frame: DataFrame) -> SourcePart:
    """The one part of a DataFrame whose rows are read once. Raises what `open_frame` raises."""
    check_frame(frame)
    with spark_errors():
        return _part_of(frame)


def part_without_rows(spark: SparkSession, fields: Sequence[DataField]) -> SourcePart:
    """The part of files that hold nothing, not even names: no rows of these columns."""
    return _part_of(spark.createDataFrame([], scan_schema(fields)))


def _part_of(frame: DataFrame) -> SourcePart:
    plain = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
    columns = tuple(
        SourceColumn(f.name, from_spark(f.dataType), F.col(f"c{i}")) for i, f in enumerate(frame.schema.fields)
    )
    nothing = F.lit(None).cast("string")
    no_offset = F.lit(None).cast("bigint")
    return SourcePart(plain, columns, (), columns_as_json(columns), nothing, no_offset, F.spark_partition_id())


def check_frame(frame: object) -> None:
    """Raise `UsageError` for what is no DataFrame (LB6557) and for a stream (LB6558), `IngestError` for columns whose
    names Spark cannot tell apart.
    """
    if not isinstance(frame, DataFrame):
        raise UsageError.of(
            NO_FRAME,
            f"rows come in a DataFrame of Spark, and this is {type(frame).__name__!r}",
            expected="pyspark.sql.DataFrame",
            found=type(frame).__name__,
            remedy="make one with spark.createDataFrame(rows)",
        )
    with spark_errors():
        streams, members = frame.isStreaming, _members(frame.schema)
    if streams:
        raise UsageError.of(
            STREAM,
            "the DataFrame is a stream, of which no single write can be made",
            remedy="write each of its batches: stream.writeStream.foreachBatch(lambda rows, number: "
            'table.append(rows, run_id=f"my-stream-{number}")).option("checkpointLocation", "...").start()',
        )
    _refuse_case_clashes(frame.sparkSession, members, "the DataFrame")


def _members(schema: spark.StructType) -> Members:
    found = from_spark(schema)
    assert isinstance(found, Members)
    return found


def _json_part(
    session: SparkSession, files: Sequence[str], options: SourceOptions, workers: WorkerFiles | None
) -> SourcePart:
    parsing = parsing_options(options)
    if workers is not None:
        frame = workers.lines(files, LineRules(options.get("linesep", "").encode()))
    else:
        lines = {"lineSep": options.reader["linesep"]} if "linesep" in options.reader else {}
        read = session.read.options(**lines, **file_options(files)).text([spark_pattern(f) for f in files])
        frame = read.withColumnRenamed("value", "line")
    is_latin = options.encoding == LATIN_1
    line = F.decode(F.col("line").cast("binary"), LATIN_1) if is_latin else F.col("line").cast("string")
    others = [name for name in frame.columns if name != "line"]
    frame = frame.select(line.alias("line"), *others).where(~json_values.is_nothing(F.col("line"), parsing))
    frame = looked_into(frame, parsing, *others)
    url, start = places_of(frame)
    part = json_rows(frame, files, parsing, url, F.lit(None).cast("bigint"), start)
    return replace(part, plain=_plain_lines(parsing))


def _plain_lines(parsing: dict[str, str]) -> PlainSource:
    def restored(rows: DataFrame) -> DataFrame:
        return looked_into(rows, parsing, *(name for name in rows.columns if name != "line"))

    def shown(name: str) -> Column:
        return F.get_json_object("line", f"$.{name}") if name.isidentifier() else F.lit(None)

    return PlainSource(PlainLines("line"), ("line",), lambda name: name, shown, restored)


def _document_part(
    session: SparkSession,
    files: Sequence[str],
    options: SourceOptions,
    documents: Documents,
    storage: SourceStorage,
) -> SourcePart:
    parsing = parsing_options(options)
    frame = looked_into(document_rows(session, files, documents, storage), parsing, "source", "number")
    return json_rows(frame, files, parsing, F.col("source"), F.col("number"), F.spark_partition_id())


def parsing_options(options: SourceOptions) -> dict[str, str]:
    """The options that let JSON be less than that."""
    return {k: v for k, v in options.reader.items() if k.startswith("allow")}


def looked_into(frame: DataFrame, parsing: dict[str, str], *others: str) -> DataFrame:
    """`line`, its value as `record`, and whether it is `good`; and `others` of the frame."""
    line, parsed = F.col("line"), F.col("parsed")
    frame = frame.withColumn("parsed", json_values.parse_line(line, parsing))
    good = json_values.is_one_object(line, parsed, parsing) & F.is_valid_utf8(line)
    record = json_values.record(parsed)
    return frame.select("line", record.alias("record"), good.alias("good"), *others)


def json_rows(
    frame: DataFrame, files: Sequence[str], parsing: dict[str, str], url: Column, offset: Column, start: Column
) -> SourcePart:
    """The part of rows that were looked into."""
    good = F.coalesce(F.col("good"), F.lit(False))
    return SourcePart(
        frame,
        None,
        tuple(
            RowFault(~good & when, MALFORMED, expected)
            for when, expected in json_values.json_faults(F.col("line"), parsing)
        ),
        # In JSON line breaks stand between values only: a record of a document becomes one line.
        F.make_valid_utf8(F.regexp_replace("line", r"[\r\n]+", " ")),
        url,
        offset,
        start,
        shape=F.when(good, F.col("record")),
        label=label(files) if files else "",
        allowed=parsing,
    )


def _parquet_parts(
    session: SparkSession,
    files: Sequence[SourceFile],
    options: SourceOptions,
    storage: SourceStorage,
    workers: WorkerFiles | None,
) -> Iterator[SourcePart]:
    groups: dict[ParquetColumns, list[str]] = {}
    rebase = options.get("datetimerebasemode", "CORRECTED").upper() != "CORRECTED"
    for file in files:
        footer = read_footer(*storage.open(file.path))
        if workers is not None:
            other_days = rebase or options.get("int96rebasemode", "CORRECTED") != "CORRECTED"
            workers.refuse_rebased(file, footer, rebase=other_days)
        groups.setdefault(parquet_columns(file.path, footer, rebase=rebase), []).append(file.path)
    for group, paths in groups.items():
        _refuse_case_clashes(session, group.members, paths[0])
        checks = page_checks(options.verify_checksums)
        if workers is not None:
            frame = workers.parquet(paths, group.schema, verify_checksums=options.verify_checksums)
        else:
            reader = session.read.options(**(_CORRECTED | dict(options.reader)), **file_options(paths), **checks)
            frame = reader.schema(group.schema).parquet(*(spark_pattern(p) for p in paths))
            frame = frame.select(*renamed([n for n, _ in group.members.fields]))
        columns = tuple(SourceColumn(n, t, F.col(f"c{i}")) for i, (n, t) in enumerate(group.members.fields))
        url, offset = places_of(frame, "row_index")
        _, start = places_of(frame)
        yield SourcePart(frame, columns, (), columns_as_json(columns), url, offset, start, label=label(paths))


def _refuse_case_clashes(session: SparkSession, members: Members, where: str) -> None:
    """Raise `IngestError` for names that Spark cannot tell apart: the same ones, and those that differ only in case."""
    told_apart = (session.conf.get(_CASE_SENSITIVE, "false") or "false").lower() == "true"
    clashes = [(path, names) for path, names in _clashes(members, ()) if not told_apart or len(set(names)) < len(names)]
    if clashes:
        raise IngestError(
            *(
                Diagnostic(
                    CASE_CLASH,
                    f"{where} has {_how_alike(names)}: {', '.join(map(repr, names))}",
                    path=".".join(path) or None,
                    found=", ".join(names),
                    remedy="rename one of them"
                    + (f", or set {_CASE_SENSITIVE}=true" if len(set(names)) == len(names) else ""),
                )
                for path, names in clashes
            )
        )


def _how_alike(names: Sequence[str]) -> str:
    return "names that differ only in case" if len(set(names)) == len(names) else "a name more than once"


def _clashes(type_: SourceType, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    match type_:
        case Members(fields=fields):
            by_folded: dict[str, list[str]] = {}
            for name, inner in fields:
                by_folded.setdefault(name.casefold(), []).append(name)
                yield from _clashes(inner, (*path, name))
            yield from ((path, names) for names in by_folded.values() if len(names) > 1)
        case Items(item=item):
            yield from _clashes(item, path)
        case Entries(key=key, value=value):
            yield from _clashes(key, path)
            yield from _clashes(value, path)
        case _:
            return

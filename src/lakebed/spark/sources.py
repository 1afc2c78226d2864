"""What is ingested, opened for reading: paths or a DataFrame, as parts that each have columns of one kind.

CSV is read with every column as text, JSON lines as VARIANT, Parquet with the types of each file: what a value becomes
is decided by the checks, never by a reader. Files are grouped by their columns, so that one file with its columns in
another order is not read by the header of its neighbour. Columns get plain names (`c0`, `c1`, ...) and are matched to
the declared schema here, in Python: Spark, which may ignore case, never resolves a name of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, UsageError
from lakebed.spark import json_values
from lakebed.spark.addresses import quote_name, spark_pattern
from lakebed.spark.csv_header import read_header
from lakebed.spark.parquet_source import ParquetColumns, parquet_columns
from lakebed.spark.source_files import SourceFormat
from lakebed.spark.source_options import BAD_OPTION, SourceOptions
from lakebed.spark.source_types import Entries, Items, Json, Members, SourceType, Text, from_spark

CASE_CLASH = "LB6114"

_STRICT_FILES = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
#: JSON in these is turned into UTF-8 value by value; the others could hide a line break inside of a character.
_JSON_ENCODINGS = {"utf-8": None, "utf8": None, "us-ascii": None, "iso-8859-1": "ISO-8859-1", "latin1": "ISO-8859-1"}
_CASE_SENSITIVE = "spark.sql.caseSensitive"


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A top-level column of a part: its name in the source, its type, and its values."""

    name: str
    type: SourceType
    value: Column


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Rows of one kind, as a frame that the other parts are expressions over.

    `columns` is None for JSON, where any name may be asked for. `shape` is the VARIANT of a JSON row, for its keys.
    `raw` is the row as it was read, `url` the file that it is from, `offset` its position there; each may be NULL.
    """

    frame: DataFrame
    columns: tuple[SourceColumn, ...] | None
    malformed: Column
    well_formed: str
    raw: Column
    url: Column
    offset: Column
    shape: Column | None = None
    label: str = ""

    def column(self, name: str, *, flat: bool) -> SourceColumn | None:
        """The column of exactly this name. `flat` says that a flat type is declared, which JSON gives as text."""
        if self.columns is not None:
            return next((c for c in self.columns if c.name == name), None)
        record = F.col("record")
        if flat:
            return SourceColumn(name, Text(base64=True), json_values.child(record, name, "string"))
        return SourceColumn(name, Json(), json_values.child(record, name))


def open_files(
    spark_session: SparkSession,
    files: Sequence[str],
    format_: SourceFormat,
    options: SourceOptions,
    declared: Sequence[str],
) -> tuple[SourcePart, ...]:
    """The parts of a source of files. `declared` are the table's columns, for CSV without a header."""
    match format_:
        case SourceFormat.CSV:
            return tuple(_csv_parts(spark_session, files, options, declared))
        case SourceFormat.JSON:
            return (_json_part(spark_session, files, options),)
        case SourceFormat.PARQUET:
            return tuple(_parquet_parts(spark_session, files, options))


@contextmanager
def open_frame(frame: DataFrame) -> Iterator[tuple[SourcePart, ...]]:
    """The one part of a DataFrame, kept in memory or on disk meanwhile: both passes see the same rows."""
    _refuse_case_clashes(frame.sparkSession, _members(frame.schema), "the DataFrame")
    level = frame.storageLevel
    kept = not (level.useMemory or level.useDisk)
    if kept:
        frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        renamed = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
        columns = tuple(
            SourceColumn(f.name, from_spark(f.dataType), F.col(f"c{i}")) for i, f in enumerate(frame.schema.fields)
        )
        nothing = F.lit(None).cast("string")
        yield (SourcePart(renamed, columns, F.lit(False), "", _as_json(columns), nothing, F.lit(None).cast("bigint")),)
    finally:
        if kept:
            frame.unpersist()


def _members(schema: spark.StructType) -> Members:
    found = from_spark(schema)
    assert isinstance(found, Members)
    return found


def _as_json(columns: Sequence[SourceColumn]) -> Column:
    """A row as JSON text, NULLs included."""
    row = F.struct(*(c.value.alias(c.name) for c in columns))
    return F.to_json(row, {"ignoreNullFields": "false", "timeZone": "UTC"})


def _csv_parts(
    session: SparkSession, files: Sequence[str], options: SourceOptions, declared: Sequence[str]
) -> Iterator[SourcePart]:
    headers: dict[tuple[str, ...], list[str]] = {}
    if not options.is_on("header", True):
        headers[tuple(declared)] = list(files)
    else:
        for path in files:
            names = read_header(path, options)
            if names is not None:
                headers.setdefault(names, []).append(path)
    for names, paths in headers.items():
        yield _csv_part(session, paths, names, options)


def _csv_part(session: SparkSession, files: Sequence[str], names: Sequence[str], options: SourceOptions) -> SourcePart:
    # Spark warns of every header that is not the schema's; it cannot have names that it takes for the same.
    usable = all(names) and len({n.casefold() for n in names}) == len(names)
    as_read = list(names) if usable else [f"c{i}" for i in range(len(names))]
    corrupt = "malformed"
    while corrupt in {n.casefold() for n in as_read}:
        corrupt += "_"
    forced = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": corrupt,
        "columnPruning": "false",
        "enforceSchema": "true",
        "inferSchema": "false",
    }
    # RFC 4180: a quote inside of quotes is doubled. Spark's own default, a backslash, leaves such values in quotes.
    own = {"header": "true", "escape": '"', **options.reader}
    reader = session.read.options(**own, **_STRICT_FILES, **forced)
    schema = spark.StructType([spark.StructField(n, spark.StringType()) for n in (*as_read, corrupt)])
    frame = reader.schema(schema).csv([spark_pattern(f) for f in files])
    frame = frame.select(*_renamed(as_read), F.col(quote_name(corrupt)).alias("malformed"))
    columns = tuple(SourceColumn(n, Text(), F.col(f"c{i}")) for i, n in enumerate(names))
    malformed = F.col("malformed")
    return SourcePart(
        frame,
        columns,
        malformed.isNotNull(),
        f"{len(names)} values",
        F.coalesce(malformed, _as_json(columns)),
        frame.metadataColumn("_metadata").getField("file_path"),
        F.lit(None).cast("bigint"),
        label=_label(files),
    )


def _json_part(session: SparkSession, files: Sequence[str], options: SourceOptions) -> SourcePart:
    encoding = options.get("encoding", options.get("charset", "UTF-8"))
    if encoding.lower() not in _JSON_ENCODINGS:
        raise UsageError.of(
            BAD_OPTION,
            f"JSON lines in {encoding} are not read",
            path="encoding",
            expected=", ".join(_JSON_ENCODINGS),
            found=encoding,
            remedy="convert the source to UTF-8",
        )
    lines = {"lineSep": options.reader["linesep"]} if "linesep" in options.reader else {}
    parsing = {k: v for k, v in options.reader.items() if k.startswith("allow")}
    frame = session.read.options(**lines, **_STRICT_FILES).text([spark_pattern(f) for f in files])
    decoder = _JSON_ENCODINGS[encoding.lower()]
    line = F.col("value") if decoder is None else F.decode(F.col("value").cast("binary"), decoder)
    frame = frame.select(line.alias("line")).where(F.trim("line") != "")
    frame = frame.withColumn("parsed", json_values.parse_line(F.col("line"), parsing))
    good = json_values.is_one_object(F.col("line"), F.col("parsed")) & F.is_valid_utf8(F.col("line"))
    frame = frame.select("line", json_values.record(F.col("parsed")).alias("record"), good.alias("good"))
    good = F.coalesce(F.col("good"), F.lit(False))
    return SourcePart(
        frame,
        None,
        ~good,
        "one JSON object, no key twice",
        F.make_valid_utf8(F.col("line")),
        frame.metadataColumn("_metadata").getField("file_path"),
        F.lit(None).cast("bigint"),
        shape=F.when(good, F.col("record")),
        label=_label(files),
    )


def _parquet_parts(session: SparkSession, files: Sequence[str], options: SourceOptions) -> Iterator[SourcePart]:
    groups: dict[ParquetColumns, list[str]] = {}
    for path in files:
        groups.setdefault(parquet_columns(path), []).append(path)
    for group, paths in groups.items():
        _refuse_case_clashes(session, group.members, paths[0])
        reader = session.read.options(**options.reader, **_STRICT_FILES).schema(group.schema)
        frame = reader.parquet(*(spark_pattern(p) for p in paths))
        frame = frame.select(*_renamed([n for n, _ in group.members.fields]))
        place = frame.metadataColumn("_metadata")
        columns = tuple(SourceColumn(n, t, F.col(f"c{i}")) for i, (n, t) in enumerate(group.members.fields))
        url, offset = place.getField("file_path"), place.getField("row_index")
        yield SourcePart(frame, columns, F.lit(False), "", _as_json(columns), url, offset, label=_label(paths))


def _renamed(names: Sequence[str]) -> list[Column]:
    return [F.col(quote_name(name)).alias(f"c{i}") for i, name in enumerate(names)]


def plain_path(url: Column) -> Column:
    """The path of a file as people write it, from the quoted URL that Spark gives."""
    path = F.regexp_replace(url, "^file:(//)?(?=/)", "")
    return F.url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))


def _label(files: Sequence[str]) -> str:
    return f" {files[0]!r}" if len(files) == 1 else f" {files[0]!r} and {len(files) - 1} more"


def _refuse_case_clashes(session: SparkSession, members: Members, where: str) -> None:
    """Raise `IngestError` for struct members that Spark cannot tell apart: names that differ only in case."""
    if (session.conf.get(_CASE_SENSITIVE, "false") or "false").lower() == "true":
        return
    clashes = list(_clashes(members, ()))
    if clashes:
        raise IngestError(
            *(
                Diagnostic(
                    CASE_CLASH,
                    f"{where} has names that differ only in case: {', '.join(map(repr, names))}",
                    path=".".join(path) or None,
                    found=", ".join(names),
                    remedy=f"rename one of them, or set {_CASE_SENSITIVE}=true",
                )
                for path, names in clashes
            )
        )


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

"""Open CSV files as text columns; mark malformed, cut or undecodable lines as bad rows.

Where a file has quotes, or is no proper text, its lines are looked at before they are split: a quoted value that does
not end in its line would be cut there, what cannot be decoded would become U+FFFD, and what the parser takes for marks
of its own would be lost, all without a word. All other files are split by Spark's reader right away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.arrow.plain_rows import PlainTexts
from lakebed.arrow.text_lines import LineRules
from lakebed.diagnostics import Diagnostic
from lakebed.errors import SourceMismatchError
from lakebed.ingest.raw_rows import line_as_json
from lakebed.ingest.sources.csv_header import read_header
from lakebed.ingest.sources.remedies import both
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat, compression_of
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage
from lakebed.ingest.sources.source_option_values import LATIN_1, is_wide
from lakebed.ingest.sources.source_options import SourceOptions
from lakebed.ingest.sources.source_parts import (
    PlainSource,
    RowFault,
    SourceColumn,
    SourcePart,
    columns_as_json,
    label,
    renamed,
)
from lakebed.ingest.sources.source_types import Text
from lakebed.ingest.sources.text_scan import MARKS, GzipStart, Scan, TextScan
from lakebed.ingest.sources.worker_files import WorkerFiles, places_of
from lakebed.spark.sql_names import file_options, quote_name, spark_pattern

MALFORMED = "LB6208"
CUT = "LB6410"
NOT_TEXT = "LB6411"
HAS_MARKS = "LB6412"

_REPLACEMENT = "\ufffd"
#: Separates nothing: two code points that are no characters.
_NO_SEPARATOR = "\uffff\ufffe"
#: What Spark's reader gives for a quoted empty value, to be told from an unquoted one: no text has it.
_EMPTY = "\ufffe\uffff"
#: Options that say where lines and files begin and end, for reading whole lines.
_OF_LINES = ("header", "encoding", "charset", "linesep", "comment")
_READER = {"columnPruning": "false", "enforceSchema": "true", "inferSchema": "false", "mode": "PERMISSIVE"}


def text_scan(format_: SourceFormat, options: SourceOptions, path: str) -> Scan | None:
    """What looks at the bytes of a file while it is identified; None for a format that needs no look."""
    compression = compression_of(path)
    is_gzip = compression == ".gz"
    match format_:
        case SourceFormat.CSV:
            usual = TextScan(options.encoding, options.get("quote", '"'), compression)
            return GzipStart() if is_gzip and _is_decoded_by_line(options) else usual
        case SourceFormat.JSON if compression:
            # Of what is no bzip2 file, and of blocks of one that do not begin as they should, Spark reads no rows,
            # without a word.
            return GzipStart() if is_gzip else TextScan(None, "", compression)
        case _:
            return None


def _is_decoded_by_line(options: SourceOptions) -> bool:
    """Whether lines can be taken as bytes, and it can be asked of each whether it is text."""
    of_bytes = all(options.get(name, "").isascii() for name in ("linesep", "comment"))
    return options.encoding in ("UTF-8", LATIN_1) and of_bytes and not options.is_on("multiline", False)


def csv_parts(
    session: SparkSession,
    files: Sequence[SourceFile],
    options: SourceOptions,
    declared: Sequence[str],
    storage: SourceStorage = LOCAL,
    workers: WorkerFiles | None = None,
) -> Iterator[SourcePart]:
    """The parts of CSV files: those with the same header, and the same need of being looked at, together.

    `declared` are the columns by position of files without a header; `workers` read the files where Spark cannot. What
    these cannot either is refused (LB6462).
    """
    if workers is not None and not _is_decoded_by_line(options):
        workers.refuse(files, "CSV that goes over lines, or is neither UTF-8 nor ISO-8859-1")
    groups: dict[tuple[tuple[str, ...], bool, bool, bool, bool], list[str]] = {}
    refuse_marks(files, options)
    for file in files:
        names = read_header(file.path, options, storage) if options.is_on("header", True) else tuple(declared)
        if names is not None:
            said = file.text
            invalid = said is not None and said.invalid_at is not None
            quoted = said is None or said.has_quotes
            marked = said is None or said.has_marks or not said.is_decoded
            as_bytes = (invalid or marked) and options.encoding == "UTF-8" and _is_decoded_by_line(options)
            groups.setdefault((names, quoted, invalid, marked, as_bytes), []).append(file.path)
    for (names, quoted, invalid, marked, as_bytes), paths in groups.items():
        is_plain = not (quoted or invalid or marked)
        if options.is_on("multiline", is_wide(options.encoding)) or (is_plain and workers is None):
            yield _split_by_reader(session, paths, names, options, invalid=invalid)
        else:
            lines = _Lines(invalid, marked, as_bytes)
            frame = _read_lines(session, paths, options, lines, workers)
            yield _split_by_line(frame, paths, names, options, lines)


def refuse_marks(files: Sequence[SourceFile], options: SourceOptions) -> None:
    """Raise `SourceMismatchError` (LB6412) for files with NUL or U+FFFF of which the rows with them cannot be told."""
    if _is_decoded_by_line(options):
        return
    found = (f.path for f in files if f.text is not None and f.text.has_marks)
    problems = [
        Diagnostic(
            HAS_MARKS,
            f"{path!r} has NUL or U+FFFF characters, which Spark's reader of CSV takes for marks of its own, and in "
            "which rows cannot be told where they are not lines of UTF-8 or ISO-8859-1",
            path=path,
            **both("take the characters out, such as by `tr -d '\\000'`, or make JSON lines of the file").parts,
        )
        for path in found
    ]
    if problems:
        raise SourceMismatchError(*problems)


@dataclass(frozen=True, slots=True)
class _Lines:
    """What lines of files may be: no text, with characters that Spark takes for marks, read as bytes."""

    invalid: bool
    marked: bool
    as_bytes: bool


def _own(options: SourceOptions) -> dict[str, str]:
    # RFC 4180: a quote inside of quotes is doubled. Spark's own default, a backslash, leaves such values in quotes.
    wide = {"multiline": "true"} if is_wide(options.encoding) else {}
    return {"header": "true", "escape": '"', **wide, **options.reader, "emptyvalue": _EMPTY}


def _split_by_reader(
    session: SparkSession, files: Sequence[str], names: Sequence[str], options: SourceOptions, *, invalid: bool
) -> SourcePart:
    # Spark warns of every header that is not the schema's; it cannot have names that it takes for the same.
    usable = all(names) and len({n.casefold() for n in names}) == len(names)
    as_read = list(names) if usable else [f"c{i}" for i in range(len(names))]
    corrupt = "malformed"
    while corrupt in {n.casefold() for n in as_read}:
        corrupt += "_"
    reader = session.read.options(**_own(options), **file_options(files), **_READER, columnNameOfCorruptRecord=corrupt)
    schema = spark.StructType([spark.StructField(n, spark.StringType()) for n in (*as_read, corrupt)])
    frame = reader.schema(schema).csv([spark_pattern(f) for f in files])
    frame = frame.select(*renamed(as_read), F.col(quote_name(corrupt)).alias("malformed"))
    columns = text_columns(names, options)
    not_text = _has_replacement(F.coalesce(F.col("malformed"), columns_as_json(columns)))
    faults = [RowFault(not_text, NOT_TEXT, "text in the file's encoding")] if invalid else []
    return _part(frame, files, columns, faults, options)


def _has_replacement(decoded: Column) -> Column:
    """Whether a text has what Spark puts for what it cannot decode."""
    return decoded.contains(_REPLACEMENT)


def _read_lines(
    session: SparkSession,
    files: Sequence[str],
    options: SourceOptions,
    lines_are: _Lines,
    workers: WorkerFiles | None,
) -> DataFrame:
    """The lines that are rows, as texts; as they are in the file where they are read `as_bytes`."""
    of_lines = {k: v for k, v in _own(options).items() if k in _OF_LINES}
    if workers is not None:
        end, comment = (of_lines.get(name, "").encode() for name in ("linesep", "comment"))
        rules = LineRules(end, skips_blank=True, comment=comment, header=options.is_on("header", True))
        read = workers.lines(files, rules)
        text = F.decode("line", LATIN_1) if options.encoding == LATIN_1 else F.col("line").cast("string")
        return read.withColumn("line", text)
    if lines_are.as_bytes:
        of_lines = {k: v for k, v in of_lines.items() if k != "charset"} | {"encoding": LATIN_1}
    reader = session.read.options(**of_lines, **file_options(files), **_READER, quote="", sep=_NO_SEPARATOR)
    lines = reader.schema("line string").csv([spark_pattern(f) for f in files])
    if lines_are.as_bytes:
        # Every byte came as a character: the line is what they are in UTF-8.
        return lines.select(F.encode("line", LATIN_1).cast("string").alias("line"))
    return lines


def _split_by_line(
    frame: DataFrame,
    files: Sequence[str],
    names: Sequence[str],
    options: SourceOptions,
    lines_are: _Lines,
) -> SourcePart:
    not_text = _has_replacement(F.col("line")) if lines_are.invalid else None
    if lines_are.as_bytes:
        others = [name for name in frame.columns if name != "line"]
        is_text = F.is_valid_utf8("line")
        line = F.when(is_text, F.col("line")).otherwise(F.make_valid_utf8("line"))
        frame, not_text = frame.select(line.alias("line"), (~is_text).alias("not_text"), *others), F.col("not_text")
    split = split_lines(frame, names, options, marked=lines_are.marked, not_text=not_text)
    # Whoever says that a row is a line has the rows with open quotes in quarantine; else the source is read wrongly.
    cut = None if "multiline" in options.reader else split.cut
    return _part(split.frame, files, text_columns(names, options), split.faults, options, cut)


@dataclass(frozen=True, slots=True)
class SplitLines:
    """Lines of CSV that are split: `c0`, ... are their values, `malformed` is a line that has too few or too many.

    `faults` are what else makes a line bad; where `cut` holds it ends inside of a quoted value.
    """

    frame: DataFrame
    faults: tuple[RowFault, ...]
    cut: Column | None


def split_lines(
    lines: DataFrame, names: Sequence[str], options: SourceOptions, *, marked: bool, not_text: Column | None = None
) -> SplitLines:
    """Split the texts `line` of a frame, whose other columns stay. `marked` says that some may have what Spark takes
    for marks of its own; where `not_text` holds a line could not be decoded.
    """
    schema = ", ".join([f"c{i} string" for i in range(len(names))] + ["malformed string"])
    of_values = {k: v for k, v in _own(options).items() if k not in ("header", "encoding", "charset", "linesep")}
    has_marks = reduce(or_, (F.contains("line", F.lit(m)) for m in MARKS)) if marked else None
    # The parser would take the lines behind such a one for others, too.
    whole = F.col("line") if has_marks is None else F.when(~has_marks, F.col("line"))
    split = F.from_csv(whole, schema, {**of_values, **_READER, "columnNameOfCorruptRecord": "malformed"})
    kept = lines.columns
    frame = lines.select(*kept, split.alias("split"))
    malformed = F.col("split.malformed")
    malformed = malformed if has_marks is None else F.when(has_marks, F.col("line")).otherwise(malformed)
    frame = frame.select(*kept, *(F.col(f"split.c{i}") for i in range(len(names))), malformed.alias("malformed"))
    quote = options.get("quote", '"')
    cut = None
    if quote:
        cut = F.col("line").contains(quote) & ~F.col("line").rlike(complete_line(options))
    faults = (
        (not_text, NOT_TEXT, "text in the file's encoding"),
        (has_marks, HAS_MARKS, "no NUL and no U+FFFF"),
        (cut, CUT, "a quoted value that ends in its line"),
    )
    return SplitLines(frame, tuple(RowFault(w, code, expected) for w, code, expected in faults if w is not None), cut)


def text_columns(names: Sequence[str], options: SourceOptions) -> tuple[SourceColumn, ...]:
    """Every column as text. A quoted empty value is what `emptyValue` says, an empty text by default, or NULL where
    that is also what `nullValue` says, as Spark has it.
    """
    meant = F.lit(_meant_by_empty(options)).cast("string")

    def value(i: int) -> Column:
        read = F.col(f"c{i}")
        return F.when(read == F.lit(_EMPTY), meant).otherwise(read)

    return tuple(SourceColumn(n, Text(), value(i)) for i, n in enumerate(names))


def _part(
    frame: DataFrame,
    files: Sequence[str],
    columns: tuple[SourceColumn, ...],
    faults: Sequence[RowFault],
    options: SourceOptions,
    cut: Column | None = None,
) -> SourcePart:
    malformed, values = F.col("malformed"), columns_as_json(columns)
    faults = [*faults, RowFault(malformed.isNotNull(), MALFORMED, f"{len(columns)} values")]
    url, start = places_of(frame)
    return SourcePart(
        frame,
        columns,
        tuple(RowFault(F.coalesce(f.when, F.lit(False)), f.code, f.expected) for f in faults),
        F.coalesce(line_as_json(malformed), values),
        url,
        F.lit(None).cast("bigint"),
        start,
        cut=cut,
        line=F.coalesce(malformed, values),
        label=label(files),
        header=tuple(c.name for c in columns),
        plain=_plain(frame, columns, options),
    )


def _plain(frame: DataFrame, columns: tuple[SourceColumn, ...], options: SourceOptions) -> PlainSource:
    names = [c.name for c in columns]
    form = PlainTexts(_EMPTY, _meant_by_empty(options))

    def texts(name: str) -> str:
        return f"c{names.index(name)}"

    return PlainSource(form, tuple(frame.columns), texts, lambda name: F.col(texts(name)), lambda rows: rows)


def _meant_by_empty(options: SourceOptions) -> str | None:
    """What a quoted empty value is."""
    empty = options.reader.get("emptyvalue")
    return None if empty is not None and empty == options.get("nullvalue", "") else empty or ""


def complete_line(options: SourceOptions) -> str:
    """A pattern of the lines in which every quoted value ends; it never goes back over what it has matched.

    A value is quoted if a quote is its first character, blanks before it left out where the reader leaves them out.
    Behind the closing quote Spark takes everything up to the separator.
    """
    quote = re.escape(options.get("quote", '"'))
    escape = options.get("escape", '"')
    separator = "".join(f"\\x{{{ord(c):x}}}" for c in options.separator)
    blank = r"[ \t]*+" if options.is_on("ignoreleadingwhitespace", False) else ""
    if escape == options.get("quote", '"') or not escape:
        inside = f"(?:[^{quote}]++|{quote}{quote})*+"
    else:
        inside = f"(?:[^{quote}{re.escape(escape)}]++|{re.escape(escape)}.)*+"
    rest = f"(?:(?!{separator}).)*+" if len(options.separator) > 1 else f"[^{separator}]*+"
    quoted = f"{blank}{quote}{inside}{quote}{rest}"
    bare = f"(?!{blank}{quote}){rest}"
    return f"(?s)^(?:(?:{quoted}|{bare})(?:{separator}|\\z))*+\\z"

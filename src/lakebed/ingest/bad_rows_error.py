"""Raise the error for more bad rows than allowed, telling all about them."""

from __future__ import annotations

from typing import Any, ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.arrow.line_numbers import LINE
from lakebed.diagnostics import Diagnostic
from lakebed.errors import SourceMismatchError
from lakebed.ingest.sources.remedies import reader_options, say
from lakebed.spark.spark_errors import spark_errors

TOO_MANY_BAD = "LB6120"
BAD_ROW_FAILS = "LB6121"
CUT = "LB6410"

_RELAX = "mend the source, or relax the columns in the manifest"
#: How many kinds of problems the error tells of.
_SHOWN_KINDS = 5
_SHOWN_OF_LINE = 200
_MULTI_LINE = say(
    "where values have line breaks give {}; {} puts such lines into quarantine",
    reader_options(multiLine="true"),
    reader_options(multiLine="false"),
)


class BadRowsError(SourceMismatchError):
    """There are bad rows, and more of them than the caller or the manifest allows."""

    exit_code: ClassVar[int] = 14


def rows_of(count: int, of: int) -> str:
    """Some of the rows, as the subject of a sentence, with its verb: `2 of 3 rows are`."""
    if count == of:
        return "the only row is" if of == 1 else f"all {of} rows are"
    return f"{count} of {of} rows {'is' if count == 1 else 'are'}"


def bad_rows_error(rows: DataFrame, code: str, message: str, remedy: str = _RELAX) -> BadRowsError:
    """The error, with the most frequent kinds of problems of `rows` (see `PreparedRows.shown`)."""
    kinds = kinds_of_problems(rows, _SHOWN_KINDS)
    return BadRowsError(Diagnostic(code, message, remedy=f"{remedy}; nothing was written"), *kinds)


def kinds_of_problems(rows: DataFrame, most: int) -> tuple[Diagnostic, ...]:
    """The most frequent kinds of problems of `rows` (see `PreparedRows.shown`), each with an example."""
    place = F.regexp_replace(F.col("p.path"), r"\[[^\]]*\]", "[]").alias("path")
    examples = [
        F.count(F.lit(1)).alias("rows"),
        # One row's, so that what was found is in the file that is named.
        F.first(F.struct("p.expected", "p.found", "file", "offset", LINE)).alias("example"),
    ]
    with spark_errors():
        kinds = (
            rows.select(F.explode("problems").alias("p"), "file", "offset", LINE)
            .groupBy(place, F.col("p.code").alias("code"))
            .agg(*examples)
            .orderBy(F.desc("rows"), "path", "code")
            .limit(most)
            .collect()
        )
    return tuple(map(_kind, kinds))


def _kind(kind: Any) -> Diagnostic:
    example = kind["example"]
    times = "once" if kind["rows"] == 1 else f"{kind['rows']} times"
    where = "malformed" if kind["path"] is None else f"column {kind['path']}"
    expected, found = example["expected"], example["found"]
    return Diagnostic(
        kind["code"],
        f"{times}: {where}, expected {expected}, found for example {found!r}{_place(example)}",
        path=kind["path"],
        expected=expected,
        found=found,
    )


def _place(example: Any) -> str:
    """The file of a row, and its line or its number there where these are known; nothing for a row of a DataFrame."""
    if example["file"] is None:
        return ""
    if example[LINE] is not None:
        return f" in {example['file'] + ':' + str(example[LINE])!r}"
    at = "" if example["offset"] is None else f" at offset {example['offset']}"
    return f" in {example['file']!r}{at}"


def _shortened(line: str | None) -> str:
    text = line or ""
    return text if len(text) <= _SHOWN_OF_LINE else f"{text[:_SHOWN_OF_LINE]}..."


def cut_rows_error(rows: DataFrame, count: int) -> SourceMismatchError:
    """The error for rows that end inside of quotes, with the first of them."""
    with spark_errors():
        told = rows.where(F.exists("problems", lambda p: p.getField("code") == F.lit(CUT)))
        found = F.get("problems", F.lit(0)).getField("found").alias("found")
        first = told.orderBy("file", LINE).select("file", LINE, found).limit(1).collect()
    path, number, line = first[0] if first else (None, None, None)
    place = repr(path if number is None else f"{path}:{number}")
    if count == 1:
        message = f"a line of {place} ends inside of a quoted value: {_shortened(line)}"
    else:
        message = f"{count} lines end inside of quoted values; the first, of {place}: {_shortened(line)}"
    return SourceMismatchError.of(
        CUT,
        message,
        path=path,
        found=line,
        **_MULTI_LINE.parts,
    )

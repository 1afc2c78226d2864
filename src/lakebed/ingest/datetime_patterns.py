"""Refuse datetime patterns that Spark does not read as it should, before a row is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakebed.diagnostics import Diagnostic
from lakebed.errors import UsageError
from lakebed.ingest.columns.values import TextFormats
from lakebed.ingest.sources.source_option_values import BAD_OPTION
from lakebed.spark.spark_errors import SparkFailedError, spark_errors

LEGACY_PATTERNS = "LB6123"

_PARSER_POLICY = "spark.sql.legacy.timeParserPolicy"
_LETTERS = "https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html"


def refuse_patterns(of: Callable[[], SparkSession], formats: TextFormats) -> None:
    """Raise `UsageError` for patterns that are none (LB6107), all at once, and under Spark's old parser (LB6123).

    The session is asked for where there are patterns only.
    """
    named = tuple(_named(formats))
    if not named:
        return
    session = of()
    policy = (session.conf.get(_PARSER_POLICY, "CORRECTED") or "CORRECTED").upper()
    if policy != "CORRECTED":
        raise UsageError.of(
            LEGACY_PATTERNS,
            "datetime patterns need Spark's present parser",
            expected=f"{_PARSER_POLICY}=CORRECTED",
            found=policy,
            remedy=f"set {_PARSER_POLICY}=CORRECTED, or leave the patterns out",
        )
    if _are_read(session, [pattern for _, pattern in named]):
        return
    wrong = [_none(name, pattern) for name, pattern in named if not _are_read(session, [pattern])]
    if wrong:
        raise UsageError(*wrong)


def _named(formats: TextFormats) -> Iterator[tuple[str, str]]:
    """Each pattern with the name of its option."""
    options = (("dateFormat", formats.date), ("timestampFormat", formats.timestamp))
    for name, texts in (*options, ("timestampNTZFormat", formats.wall_clock)):
        yield from ((name, pattern) for pattern in (texts or "").splitlines())


def _are_read(session: SparkSession, patterns: Sequence[str]) -> bool:
    """Whether Spark takes all of these for patterns: it says so when it reads a text by them, be it none."""
    read = (F.try_to_timestamp(F.lit("?"), F.lit(pattern)).alias(f"p{i}") for i, pattern in enumerate(patterns))
    try:
        with spark_errors():
            session.range(1).select(*read).collect()
    except SparkFailedError as error:
        # The condition's name, or Java's own words.
        if "pattern" not in (error.diagnostics[0].found or "").lower():
            raise
        return False
    return True


def _none(name: str, pattern: str) -> Diagnostic:
    return Diagnostic(
        BAD_OPTION,
        f"the reader's option {name} cannot be {pattern!r}",
        path=name,
        expected="a datetime pattern of Spark, such as dd.MM.yyyy HH:mm",
        found=pattern,
        remedy=f"give a datetime pattern of Spark, such as dd.MM.yyyy HH:mm; its letters are at {_LETTERS}",
    )

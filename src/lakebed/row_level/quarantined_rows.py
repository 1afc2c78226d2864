"""Choose rows of a quarantine, and tell which runs they belong to and which are mended."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from lakebed.arrow.line_numbers import SOURCE_LINE
from lakebed.catalog.table_schema import TableSchema
from lakebed.codes import register
from lakebed.diagnostics import near_names
from lakebed.errors import UsageError
from lakebed.ingest.columns.checkers import PROBLEM
from lakebed.ingest.mask_personal_data import column_of
from lakebed.ingest.quarantine_table import REPLAYS
from lakebed.physical.paimon_types import Array, Map
from lakebed.spark.clocks import UTC, instant_to_wall
from lakebed.spark.spark_errors import spark_errors
from lakebed.write.write_result import wrong_name

BAD_CHOICE = "LB6560"
#: The columns of bad rows as they are shown.
COLUMNS = (
    "run_id",
    "ingested_at",
    "source_file",
    "source_offset",
    SOURCE_LINE,
    "raw",
    "schema_id",
    "problems",
    "mended_by",
)
#: How many files of a run are named.
_FILES = 20


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Which bad rows are meant: those of these runs, with one of these codes, that the filter is true for."""

    runs: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    where: str | None = None

    @classmethod
    def of(
        cls, run_id: str | Collection[str] | None, code: str | Collection[str] | None, where: str | None
    ) -> RowChoice:
        """The choice that keywords make.

        Raises `UsageError` (LB6560) for what is no text, for a list of none, and for a code that there is not.
        """
        codes = _texts("code", code)
        _check_codes(codes)
        return cls(_texts("run_id", run_id), codes, where)

    def condition(self) -> Column:
        """Whether a row, whose `problems` are structs, is chosen by its run and its codes."""
        found = F.lit(True)
        if self.runs:
            found = found & F.col("run_id").isin(list(self.runs))
        if self.codes:
            found = found & F.exists("problems", lambda p: p.getField("code").isin(list(self.codes)))
        return found


def _check_codes(codes: Collection[str]) -> None:
    """Raise `UsageError` (LB6560) for codes that no row can have."""
    known = register()
    for code in codes:
        if code not in known:
            raise UsageError.of(
                BAD_CHOICE,
                f"no bad row has the code {code!r}: there is none",
                expected="a code such as LB6202",
                found=code,
                suggestions=near_names(code, known),
                remedy="`lakebed quarantine list TABLE` shows the codes that rows have",
                python_remedy="lake.quarantine(table).list(spark) has the codes that rows have",
            )


def _texts(name: str, given: str | Collection[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    texts = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    # To whom names are computed an empty list means no row, and not every one.
    if not texts or any(wrong_name(text) for text in texts):
        raise UsageError.of(
            BAD_CHOICE,
            f"{name} chooses bad rows by texts: {given!r}",
            expected="a text, or a list of texts",
            found=repr(given),
            remedy=f'give for example {name}="..."',
        )
    return texts


def problems_of(schema: TableSchema) -> Column:
    """The problems of a row as structs, which they are not in the mini layout."""
    field = schema.field("problems")
    problems = F.col("problems")
    if field is not None and isinstance(field.type, Array) and isinstance(field.type.element, Map):
        parts = ("path", "code", "expected", "found")
        problems = F.transform(problems, lambda p: F.struct(*(p[part].alias(part) for part in parts)))
    return problems.cast(f"array<{PROBLEM}>")


def mended_by(schema: TableSchema, claims: Collection[str]) -> Column:
    """The run that has mended a row, NULL for one that is bad still. `claims` are those of replays in the table."""
    if not claims or schema.field(REPLAYS) is None:
        return F.lit(None).cast("string")
    done = F.from_json(F.lit(json.dumps(sorted(claims))), "array<string>")
    claim = F.get(F.array_intersect(F.col(REPLAYS), done), F.lit(0))
    return F.regexp_extract(claim, r"(?s)^(.*)/[^/]*$", 1)


@dataclass(frozen=True, slots=True)
class BadRowKind:
    """Rows of a run with a problem of one kind: the top-level column, None for the whole row, and the code."""

    column: str | None
    code: str
    rows: int
    mended: int = 0

    def to_json(self) -> dict[str, Any]:
        """An object of `kinds`."""
        return {"column": self.column, "code": self.code, "rows": self.rows, "mended": self.mended}


@dataclass(frozen=True, slots=True)
class QuarantinedRun:
    """A run that has bad rows: when, of which files (the first 20 of `file_count`), how many, of which kinds.

    `mended` of the rows are in the table by now. `ingested_at` is UTC. A row with problems of two kinds counts in both.
    """

    run_id: str
    ingested_at: datetime
    files: tuple[str, ...]
    file_count: int
    rows: int
    mended: int
    kinds: tuple[BadRowKind, ...] = ()

    @classmethod
    def of(
        cls,
        run_id: str,
        moment: datetime,
        files: tuple[str, ...],
        file_count: int,
        rows: tuple[int, int],
        kinds: Iterable[BadRowKind],
    ) -> QuarantinedRun:
        """The run with the kinds that most rows have first; `rows` are all and those of them that are mended."""
        ordered = tuple(sorted(kinds, key=lambda k: (-k.rows, k.column or "", k.code)))
        return cls(run_id, moment, files, file_count, *rows, ordered)

    def to_json(self) -> dict[str, Any]:
        """An object of the result of `lakebed quarantine list --json`."""
        return {
            "run_id": self.run_id,
            "ingested_at": f"{self.ingested_at.isoformat()}Z",
            "files": list(self.files),
            "file_count": self.file_count,
            "rows": self.rows,
            "mended": self.mended,
            "kinds": [kind.to_json() for kind in self.kinds],
        }


def kinds_of(problems: Column) -> Column:
    """The kinds of the problems of a row, each once: `column` and `code`."""

    def kind(p: Column) -> Column:
        return F.struct(column_of(p.getField("path")).alias("column"), p.getField("code").alias("code"))

    return F.array_distinct(F.transform(problems, kind))


def quarantined_runs(rows: DataFrame) -> tuple[QuarantinedRun, ...]:
    """The runs of bad rows (`COLUMNS`), the newest first; one job."""
    # A kind of NULL stands for the row itself.
    kinds = kinds_of(F.col("problems"))
    every = F.concat(kinds, F.array(F.lit(None)))
    is_row = F.col("kind").isNull()
    files = F.collect_set(F.when(is_row, F.col("source_file")))
    counted = (
        rows.select("run_id", "ingested_at", "source_file", "mended_by", F.explode(every).alias("kind"))
        .groupBy("run_id", "kind")
        .agg(
            F.count(F.lit(1)).alias("rows"),
            F.count("mended_by").alias("mended"),
            F.min("ingested_at").alias("first"),
            F.slice(F.sort_array(files), 1, _FILES).alias("files"),
            F.size(files).alias("file_count"),
        )
    )
    is_instant = isinstance(rows.schema["ingested_at"].dataType, TimestampType)
    wall = instant_to_wall(F.col("first"), UTC) if is_instant else F.col("first")
    with spark_errors():
        found = counted.withColumn("first", wall.cast("string")).collect()
    by_run: dict[str, list[BadRowKind]] = {}
    for row in found:
        if row["kind"] is not None:
            kind = BadRowKind(row["kind"]["column"], row["kind"]["code"], row["rows"], row["mended"])
            by_run.setdefault(row["run_id"], []).append(kind)
    return newest_first(_run(row, by_run) for row in found if row["kind"] is None)


def newest_first(runs: Iterable[QuarantinedRun]) -> tuple[QuarantinedRun, ...]:
    """The runs in the order in which they are told."""
    return tuple(sorted(runs, key=lambda run: (run.ingested_at, run.run_id), reverse=True))


def first_files(files: Iterable[str]) -> tuple[str, ...]:
    """Those of the files that are named."""
    return tuple(sorted(files)[:_FILES])


def _run(row: Row, kinds: Mapping[str, list[BadRowKind]]) -> QuarantinedRun:
    moment, files = datetime.fromisoformat(row["first"]), tuple(row["files"])
    rows = (row["rows"], row["mended"])
    return QuarantinedRun.of(row["run_id"], moment, files, row["file_count"], rows, kinds.get(row["run_id"], ()))

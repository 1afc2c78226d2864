"""Choose sources whose plain rows workers convert by themselves, to the values that the checks would make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakebed.arrow.plain_rows import FAULT, PART, PROBLEMS, PlainPart, PlainRows, PlainTexts
from lakebed.arrow.plain_values import PlainColumn, can_be_plain, is_plain
from lakebed.ingest.checked_part import CheckedColumn, CheckedPart
from lakebed.ingest.checked_rows import PreparedRows
from lakebed.ingest.columns.checkers import PROBLEM, FlatChecker, any_of
from lakebed.ingest.columns.unknown_values import are_there
from lakebed.ingest.columns.values import RANGES, TextFormats
from lakebed.ingest.nulled_values import FAIL, NULL
from lakebed.ingest.sources.source_parts import PlainSource
from lakebed.model import types as logical
from lakebed.physical import paimon_types as physical
from lakebed.physical import path_text
from lakebed.spark.clocks import UTC

#: Columns of rows that are not checked yet: the file that they are from, and where in it.
_URL, _START = "_LAKEBED_URL", "_LAKEBED_START"
_NOT_PLAIN = (logical.Time, logical.Float16)


@dataclass(frozen=True, slots=True)
class PlainFrame:
    """Rows of a source as they come, and what makes rows of the table of them; see `RowsToWrite`."""

    frame: DataFrame
    rows: PlainRows

    @property
    def kept(self) -> StructType:
        """What is kept of rows that are not plain."""
        problems = F.lit(None).cast(f"array<{PROBLEM}>").alias(PROBLEMS)
        return self.frame.select("*", problems).schema


def plain_frame(rows: PreparedRows, places: Sequence[int]) -> PlainFrame | None:
    """The rows as workers make those of the table of them; None where the checks have to.

    `places` are those of columns by which the rows are brought together.
    """
    if rows.system is not None or rows.unique is not None:
        return None
    made = [_plain_part(part, i, places) for i, part in enumerate(rows.parts)]
    found = [some for some in made if some is not None]
    if len(found) < len(made):
        return None
    frames, parts = zip(*found, strict=True)
    return PlainFrame(reduce(partial(DataFrame.unionByName, allowMissingColumns=True), frames), PlainRows(parts))


def in_doubt(rows: PreparedRows, left: DataFrame) -> PreparedRows:
    """The rows of `plain_frame` that workers have left in doubt, as they came, in place of all."""
    return replace(rows, parts=_left(rows, left.where(F.col(PROBLEMS).isNull())))


def known_bad(rows: PreparedRows, left: DataFrame) -> DataFrame:
    """Those of the rows that workers have left whose problems they know, as `PreparedRows.bad` gives them."""
    parts = _left(rows, left.where(F.col(PROBLEMS).isNotNull()))
    return reduce(DataFrame.union, (part.told_with(F.col(PROBLEMS)) for part in parts))


def _left(rows: PreparedRows, left: DataFrame) -> tuple[CheckedPart, ...]:
    """The parts of rows, with those of their rows that are left."""
    return tuple(_with_rows(part, left.where(F.col(PART) == i)) for i, part in enumerate(rows.parts))


def _with_rows(checked: CheckedPart, rows: DataFrame) -> CheckedPart:
    plain = checked.part.plain
    assert plain is not None
    frame = plain.restored(rows.select(*plain.kept, _URL, _START, PROBLEMS))
    return replace(checked, part=replace(checked.part, frame=frame, url=F.col(_URL), start=F.col(_START)))


def _plain_part(checked: CheckedPart, number: int, places: Sequence[int]) -> tuple[DataFrame, PlainPart] | None:
    """The rows as they come, and how workers read them; None where they cannot."""
    part, plain = checked.part, checked.part.plain
    if plain is None or part.folders:
        return None
    made = [_plain_column(c, checked, plain) for c in checked.columns]
    found = [(c.source is not None, column) for c, column in zip(checked.columns, made, strict=True) if column]
    if len(found) < len(made):
        return None
    of_source, absent = (tuple(column for there, column in found if there is wanted) for wanted in (True, False))
    unknown = () if checked.unknown is None else (are_there(checked.unknown),)
    fault = F.when(any_of([*(fault.when for fault in part.faults), *unknown]), F.lit(True))
    beside = [fault.alias(FAULT)] if isinstance(plain.form, PlainTexts) else []
    beside += [F.lit(number).alias(PART), part.url.alias(_URL), part.start.alias(_START)]
    for c in (checked.columns[place] for place in places):
        text = F.lit(None) if c.source is None else plain.shown(c.source.name)
        beside.append(text.cast("string").alias(f"v{c.index}"))
    return part.frame.select(*plain.kept, *beside), PlainPart(plain.form, of_source, absent)


def _plain_column(column: CheckedColumn, part: CheckedPart, plain: PlainSource) -> PlainColumn | None:
    """The column as workers convert it; None where they cannot."""
    stored, own, checker, rules = column.node.stored, column.node.own, column.checker, part.rules
    if checker is not None and (not isinstance(checker, FlatChecker) or checker.has_rules):
        return None
    limits, default = RANGES.get(type(own)), column.default_text
    if not can_be_plain(stored) or isinstance(own, _NOT_PLAIN) or not _is_usual(stored, rules.formats):
        return None
    if limits is not None and isinstance(stored, physical.Decimal):
        return None
    source = "" if column.source is None else plain.texts(column.source.name)
    takes_null = column.node.nullable if checker is None else checker.presence.nullable
    # A row that ends the run, or loses a value, is counted by the checks.
    told = None if checker is None or part.action(column) in (FAIL, NULL) else checker.presence.expected
    made = PlainColumn(
        source,
        f"v{column.index}",
        stored,
        limits=limits,
        takes_null=takes_null,
        default=default,
        utc=rules.time_zone == UTC,
        path=path_text(column.node.path),
        expected=told,
    )
    return made if default is None or is_plain(default, made) else None


def _is_usual(stored: physical.DataType, formats: TextFormats) -> bool:
    """Whether the source writes values of a type in the usual form."""
    match stored:
        case physical.Date():
            return formats.date is None
        case physical.Timestamp() | physical.LocalZonedTimestamp():
            return formats.timestamp is None and formats.wall_clock is None
        case physical.Float() | physical.Double():
            names = (formats.nan, formats.infinity, formats.minus_infinity)
            return formats.has_usual_numbers and all(name is None for name in names)
        case physical.TinyInt() | physical.SmallInt() | physical.Int() | physical.BigInt() | physical.Decimal():
            return formats.has_usual_numbers
        case _:
            return True

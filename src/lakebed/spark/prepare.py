"""From the parts of a source to one frame of checked rows.

Its columns: `v0`, `v1`, ... are the declared columns as they are written, `bad` says whether anything is wrong with the
row, `fatal` whether something is wrong that ends the run, `problems` what. `raw`, `file` and `offset` say where the row
comes from; `shape` is there for JSON only. Spark computes what a query asks for: counting and writing good rows never
builds problems or raw texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import IngestError
from lakebed.model.extra import DEFAULT, ON_BAD_ROW
from lakebed.physical import DataField, path_text, with_nullability
from lakebed.physical.types import Array, Map, Multiset, Row
from lakebed.spark.checkers import Checker, any_of, no_problems, problem
from lakebed.spark.checks import CheckBuilder, Place, unknown_column
from lakebed.spark.source_types import Text
from lakebed.spark.sources import SourcePart
from lakebed.spark.values import Rules
from lakebed.spark.write_types import write_type

MALFORMED = "LB6208"
BAD_DEFAULT = "LB6116"

_NESTED = (Row, Array, Map, Multiset)
_FAIL = "fail"


@dataclass(frozen=True, slots=True)
class _Column:
    """A declared column and what one part has for it."""

    index: int
    field: DataField
    place: Place
    checker: Checker | None
    source: Column | None
    default: Column | None

    @property
    def fails_the_run(self) -> bool:
        return self.place.extra.get(ON_BAD_ROW) == _FAIL


def prepare(
    session: SparkSession, parts: Sequence[SourcePart], schema: TableSchema, rules: Rules, *, ignore_unknown: bool
) -> DataFrame | None:
    """The checked rows of all parts; None for a source without parts.

    Raises `IngestError` with everything that makes the source unfit as a whole: required columns that are missing,
    columns that are not declared, types that cannot become the declared ones, defaults that are no values.
    """
    builder = CheckBuilder(rules, ignore_unknown)
    places = [
        Place(column.type, member.type, (column.name,), member.extra)
        for column, member in zip(schema.fields, schema.logical.fields, strict=True)
    ]
    defaults = [_default(builder, place, f) for place, f in zip(places, schema.fields, strict=True)]
    planned = [_columns(builder, part, places, defaults, schema) for part in parts]
    if not builder.problems:
        _check_defaults(session, builder, places, defaults)
    if builder.problems:
        raise IngestError(*builder.problems)
    fatal_rows = schema.logical.extra.get(ON_BAD_ROW) == _FAIL
    frames = [_checked(part, columns, rules, fatal_rows) for part, columns in zip(parts, planned, strict=True)]
    return reduce(DataFrame.union, frames) if frames else None


@dataclass(frozen=True, slots=True)
class _Default:
    """The default of a column: its text and what checks it."""

    text: str
    checker: Checker

    @property
    def value(self) -> Column:
        return self.checker.value(F.lit(self.text))


def _default(builder: CheckBuilder, place: Place, column: DataField) -> _Default | None:
    text = column.default_value
    if text is None or not column.type.nullable:
        return None
    declared = place.extra.get(DEFAULT)
    if isinstance(column.type, _NESTED):
        if not isinstance(declared, (list, dict)):
            builder.problems.append(_bad_default(place, text))
            return None
        text = json.dumps(declared)
    elif len(text) > 1 and text[0] == text[-1] == "'":
        text = text[1:-1]
    stored = with_nullability(place.stored, False)
    checker = builder.checker(Place(stored, place.meant, place.path, place.extra), Text(base64=True))
    return None if checker is None else _Default(text, checker)


def _check_defaults(
    session: SparkSession, builder: CheckBuilder, places: Sequence[Place], defaults: Sequence[_Default | None]
) -> None:
    """Note defaults that cannot be converted; a NULL in their place would be silent."""
    given = [(p, d) for p, d in zip(places, defaults, strict=True) if d is not None]
    if not given:
        return
    tests = [F.coalesce(d.checker.bad(F.lit(d.text), d.value), F.lit(False)) for _, d in given]
    found = session.sql("SELECT 1").select(*(t.alias(f"d{i}") for i, t in enumerate(tests))).collect()[0]
    for is_bad, (place, default) in zip(found, given, strict=True):
        if is_bad:
            builder.problems.append(_bad_default(place, default.text))


def _bad_default(place: Place, text: str) -> Diagnostic:
    name = path_text(place.path)
    return Diagnostic(
        BAD_DEFAULT,
        f"the default of column {name} cannot be used as its value: {text!r}",
        path=name,
        found=text,
        remedy="change the default in the manifest and apply it",
    )


def _columns(
    builder: CheckBuilder,
    part: SourcePart,
    places: Sequence[Place],
    defaults: Sequence[_Default | None],
    schema: TableSchema,
) -> list[_Column]:
    found = []
    for i, (place, default) in enumerate(zip(places, defaults, strict=True)):
        source = part.column(place.path[0], flat=not isinstance(place.stored, _NESTED))
        checker = None
        if source is not None:
            checker = builder.checker(place, source.type)
        elif not place.stored.nullable:
            builder.note_missing(place, [c.name for c in part.columns or ()], part.label)
        value = None if source is None else source.value
        found.append(_Column(i, schema.fields[i], place, checker, value, None if default is None else default.value))
    if not builder.ignore_unknown:
        names = schema.field_names
        for column in part.columns or ():
            if column.name not in names:
                near = near_names(column.name, names)
                builder.problems.append(unknown_column(path_text((column.name,)), near, part.label))
    return found


def _checked(part: SourcePart, columns: Sequence[_Column], rules: Rules, fatal_rows: bool) -> DataFrame:
    """The checked rows of one part, in steps, so that no value is computed twice."""
    read = [(c, c.checker) for c in columns if c.checker is not None and c.source is not None]
    own = [part.malformed.alias("malformed"), part.raw.alias("raw"), part.file.alias("file")]
    own.append(part.offset.alias("offset"))
    if part.shape is not None:
        own.append(part.shape.alias("shape"))
    frame = part.frame.select(*(c.source.alias(f"s{c.index}") for c, _ in read if c.source is not None), *own)
    frame = frame.select("*", *(checker.value(_s(c)).alias(f"x{c.index}") for c, checker in read))
    malformed = F.col("malformed")
    bad_parts = [(c, checker.bad(_s(c), _x(c))) for c, checker in read]
    bad = any_of([malformed, *(condition for _, condition in bad_parts)])
    fatal = bad if fatal_rows else any_of([condition for c, condition in bad_parts if c.fails_the_run])
    found = [checker.problems(_s(c), _x(c), F.lit(path_text(c.place.path))) for c, checker in read]
    whole_row = problem(F.lit(None).cast("string"), MALFORMED, part.well_formed, F.col("raw"))
    problems = F.when(malformed, F.array(whole_row)).otherwise(
        F.array_compact(F.flatten(F.array(*found))) if found else no_problems()
    )
    kept = ["raw", "file", "offset", *(["shape"] if part.shape is not None else [])]
    return frame.select(
        *(_written(c, rules).alias(f"v{c.index}") for c in columns),
        F.coalesce(bad, F.lit(False)).alias("bad"),
        F.coalesce(fatal, F.lit(False)).alias("fatal"),
        problems.alias("problems"),
        *kept,
    )


def _s(column: _Column) -> Column:
    return F.col(f"s{column.index}")


def _x(column: _Column) -> Column:
    return F.col(f"x{column.index}")


def _written(column: _Column, rules: Rules) -> Column:
    """The value that is written. NULL in a column with a default becomes the default, as the table format has it."""
    type_ = write_type(column.field.type, rules.stamps)
    value = F.lit(None) if column.checker is None else _x(column)
    value = value.cast(type_)
    return value if column.default is None else F.coalesce(value, column.default.cast(type_))

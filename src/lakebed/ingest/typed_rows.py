"""Make a frame of the rows of a source, whose columns are those of the table that the source has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.errors import SourceMismatchError
from lakebed.ingest.bad_rows_error import cut_rows_error
from lakebed.ingest.checked_rows import prepare
from lakebed.ingest.checked_write import CheckedWrite
from lakebed.ingest.repeated_values import unique_columns
from lakebed.ingest.run_history import RunCounts
from lakebed.ingest.sources.json_values import read_shape, shape_of_all
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.write_frame import refuse_bad_rows
from lakebed.spark.spark_errors import spark_errors

COLUMNS_DIFFER = "LB6572"


def typed_rows(checked: CheckedWrite, parts: Sequence[SourcePart]) -> DataFrame:
    """The rows, with the values that an ingest would write. Raises `SourceMismatchError` for columns that the table has
    not or that only some files have, and `BadRowsError` where a row is bad.
    """
    schema = checked.schema
    with spark_errors():
        names = [_names(checked, part) for part in parts]
    # Of JSON without a row no key is known.
    present = tuple(f for f in schema.fields if any(f.name in some for some in names)) or schema.fields
    for some, part in zip(names, parts, strict=True):
        missing = [f.name for f in present if f.name not in some]
        # A row of JSON lacks what it lacks.
        if missing and part.columns is not None:
            raise SourceMismatchError.of(
                COLUMNS_DIFFER,
                f"{part.label.strip() or 'the source'} has no column {missing[0]!r}, which other files have",
                path=missing[0],
                remedy="merge files with other columns by themselves: a column that a file has not stays as it is",
            )
    of_source = replace(schema, fields=present, partition_keys=(), primary_keys=())
    with spark_errors():
        rows = prepare(
            checked.spark,
            parts,
            of_source,
            checked.rules,
            unknown=checked.unknown,
            declared=checked.declared,
            former=checked.former,
        )
        rows = replace(rows, lines=checked.lines).with_unique(unique_columns(of_source))
        flags = [F.count(F.lit(1)), *(F.count_if(F.col(flag)) for flag in ("bad", "cut"))]
        number, bad, cut = rows.all().agg(*flags).collect()[0]
    if cut:
        raise cut_rows_error(rows.shown(), cut)
    refuse_bad_rows(str(checked.name), rows, RunCounts(number - bad, bad))
    return rows.all().select(*(F.col(f"v{i}").alias(f.name) for i, f in enumerate(present)))


def _names(checked: CheckedWrite, part: SourcePart) -> frozenset[str]:
    """The columns of a part; of JSON they are known when it has been read."""
    folders = frozenset(c.name for c in part.folders)
    if part.columns is not None:
        return folders | {c.name for c in part.columns}
    if part.shape is None:
        return folders
    shape = read_shape(part.frame.agg(shape_of_all(part.shape, few=not checked.is_large)).collect()[0][0])
    problems, _ = checked.unknown_columns(shape)
    if problems:
        raise SourceMismatchError(*problems)
    return folders | set(shape.keys)

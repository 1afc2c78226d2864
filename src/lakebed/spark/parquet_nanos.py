"""Read timestamps that Parquet stores as 64-bit nanoseconds.

TIMESTAMP(7..9) has two forms in Parquet under one schema: INT96, which Spark reads to the microsecond, and 64-bit
nanoseconds, which it reads as a number only. Which of them a file has stands in its footer alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.convert.scan_types import MAX_MICROS
from lakebed.errors import UnsupportedError
from lakebed.format.parquet_footer import read_footer
from lakebed.format.refuse_unsupported import holds_nanoseconds
from lakebed.physical.paimon_types import DataField, DataType, LocalZonedTimestamp, Timestamp
from lakebed.spark.clocks import UTC, floor_div, instant_to_wall
from lakebed.spark.footers import of_each_file
from lakebed.spark.scanned_values import Change
from lakebed.store.base import Store


def has_nanoseconds(fields: Iterable[DataField]) -> bool:
    """Whether a timestamp finer than microseconds is in columns, at any depth."""
    return any(holds_nanoseconds(f.type) for f in fields)


def from_nanoseconds(type_: DataType) -> Change | None:
    """The change from nanoseconds since 1970 to a timestamp, down to whole microseconds."""
    match type_:
        case Timestamp(precision=p) if p > MAX_MICROS:
            return lambda nanos, _: instant_to_wall(_instant(nanos), UTC)
        case LocalZonedTimestamp(precision=p) if p > MAX_MICROS:
            return lambda nanos, _: _instant(nanos)
        case _:
            return None


def _instant(nanos: Column) -> Column:
    return F.timestamp_micros(floor_div(nanos, 1000))


def stored_as_long(store: Store, paths: Sequence[str], names: Sequence[frozenset[str]]) -> Iterator[bool]:
    """Of each Parquet file, whether the timestamps in its columns of these names are 64-bit nanoseconds.

    Raises UnsupportedError for a file that has both forms.
    """
    return of_each_file(lambda path, wanted: _stored_as_long(store, path, wanted), paths, names)


def _stored_as_long(store: Store, path: str, names: frozenset[str]) -> bool:
    schema = read_footer(store, path).schema
    forms = set()
    for i in range(len(schema)):
        leaf = schema.column(i)
        if any(leaf.path == name or leaf.path.startswith(f"{name}.") for name in names):
            logical = str(leaf.logical_type)
            if "timeUnit=nanoseconds" in logical:
                forms.add("64-bit nanoseconds")
            elif leaf.physical_type == "INT96" or "timeUnit=" in logical:
                forms.add("another form")
    if len(forms) > 1:
        raise UnsupportedError.of(
            "LB5057",
            f"data file {path} stores some timestamps as 64-bit nanoseconds and others not",
            path=path,
            remedy="leave the columns with either form out",
        )
    return forms == {"64-bit nanoseconds"}

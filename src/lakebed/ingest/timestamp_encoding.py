"""Choose how timestamps are written to Parquet, as every reader of the table format expects (section 6.6).

Spark has microseconds only, and one output type for all `timestamp` columns of a write. TIMESTAMP(0..3) of both kinds
has to be INT64 milliseconds and is written as `timestamp` under TIMESTAMP_MILLIS. TIMESTAMP(4..6) is INT64
microseconds: without a zone always as `timestamp_ntz`; with local time zone as `timestamp` where no column needs
milliseconds, else as `timestamp_ntz` of the UTC wall clock, which readers take for the same instant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import types as spark

from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    DataField,
    LocalZonedTimestamp,
    Timestamp,
)
from lakebed.spark.clocks import UTC, instant_to_wall, wall_to_instant

_MILLIS = 3


@dataclass(frozen=True, slots=True)
class StampForms:
    """The forms of one write. `millis`: the write's `timestamp` columns are stored as milliseconds."""

    millis: bool

    @property
    def output_type(self) -> str:
        """The value of Spark's writer option `spark.sql.parquet.outputTimestampType`."""
        return "TIMESTAMP_MILLIS" if self.millis else "TIMESTAMP_MICROS"

    def spark_type(self, type_: Timestamp | LocalZonedTimestamp) -> spark.DataType:
        """The Spark type that a column of this type is written as."""
        return spark.TimestampType() if self._as_instant(type_) else spark.TimestampNTZType()

    def of_wall(self, wall: Column, type_: Timestamp) -> Column:
        """The written form of a `timestamp_ntz` for a TIMESTAMP column."""
        return wall_to_instant(wall, UTC) if self._as_instant(type_) else wall

    def of_instant(self, instant: Column, type_: LocalZonedTimestamp) -> Column:
        """The written form of a `timestamp` for a TIMESTAMP WITH LOCAL TIME ZONE column."""
        return instant if self._as_instant(type_) else instant_to_wall(instant, UTC)

    def _as_instant(self, type_: Timestamp | LocalZonedTimestamp) -> bool:
        if type_.precision <= _MILLIS:
            return True
        return isinstance(type_, LocalZonedTimestamp) and not self.millis


def stamp_forms(fields: Iterable[DataField]) -> StampForms:
    """The forms for a table of these columns."""
    stamps = (t for f in fields for t in types_inside(f.type) if isinstance(t, (Timestamp, LocalZonedTimestamp)))
    return StampForms(any(t.precision <= _MILLIS for t in stamps))

"""Choose rows of data files by their places.

What was chosen is known by the place of each row from then on. A condition that says something else when it is asked
again, such as one with the time of the day, can so neither lose a row nor give one twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from lakebed.arrow.row_positions import BITMAP, TIMES, bitmaps_table, merge_bitmaps, to_bitmaps, to_positions
from lakebed.format.live_files import DataFile
from lakebed.row_level.row_target import PLACE
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.worker_python import check_workers

#: So many places go to every worker; more are brought together with the rows.
_FEW = 1 << 20
_FILE, _POSITION = PLACE


@dataclass(frozen=True, slots=True)
class ChosenRows:
    """Rows of one file: their positions as a portable Roaring bitmap, and how many they are.

    `times` is how often they were chosen, all together: more than `rows` where one was chosen several times.
    """

    file: DataFile
    positions: bytes
    rows: int
    times: int


def choose_rows(rows: DataFrame, files: Sequence[DataFile]) -> tuple[ChosenRows, ...]:
    """The places of `rows`, which has the columns `PLACE` for `files`; files without such a row are left out."""
    check_workers(rows.sparkSession)
    made = rows.select(*PLACE).mapInArrow(
        partial(to_bitmaps, file=_FILE), f"{_FILE} int, {BITMAP} binary, {TIMES} bigint"
    )
    with spark_errors():
        messages = made.collect()
    return tuple(
        ChosenRows(files[number], found.bitmap.serialize(), len(found.bitmap), found.times)
        for number, found in merge_bitmaps(messages).items()
    )


def with_chosen(rows: DataFrame, chosen: Sequence[ChosenRows]) -> DataFrame:
    """Those of `rows` that were chosen; `rows` has the columns `PLACE`, for the files of `chosen` in their order."""
    return rows.join(_places(rows.sparkSession, chosen), list(PLACE), "left_semi")


def without_chosen(rows: DataFrame, chosen: Sequence[ChosenRows]) -> DataFrame:
    """Those of `rows` that were not chosen; see `with_chosen`."""
    return rows.join(_places(rows.sparkSession, chosen), list(PLACE), "left_anti")


def _places(spark: SparkSession, chosen: Sequence[ChosenRows]) -> DataFrame:
    """A row with `PLACE` for each that was chosen, made in Spark's workers."""
    table = bitmaps_table([c.positions for c in chosen], _FILE)
    make = partial(to_positions, names=(_FILE, _POSITION))
    places = spark.createDataFrame(table).mapInArrow(make, f"{_FILE} int, {_POSITION} bigint")
    # Spark takes the frame for as small as the bitmaps are.
    return places.hint("broadcast" if sum(c.rows for c in chosen) <= _FEW else "merge")

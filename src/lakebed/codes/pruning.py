"""Codes of filters that choose files: LB5630 to LB5659."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB5630",
        "A filter is empty",
        "A filter says which rows are wanted. A text without an expression says nothing; whether all rows or none were "
        "meant is not guessed.",
        '    lakebed read shop.orders --where ""',
        "Give a boolean expression of Spark SQL, such as `amount > 10`, or leave the filter out.",
    ),
    Code(
        "LB5640",
        "A file index is damaged or cannot be read",
        "An index says which data files a filter does not need. One that is cut, that does not hold together, or that "
        "cannot be fetched says nothing: the data file is read as if it had no index, so that no row is lost and only "
        "the time is.",
        "    data-1.parquet.index, which the manifest names and which is not there",
        "Nothing has to be done for right results. Compacting the table, or rewriting its indexes with the engine that "
        "made them, brings the speed back.",
    ),
    Code(
        "LB5650",
        "The rows cannot be counted from metadata",
        "A file's row count is exact, but which rows of a file match a filter, or how many are left of files that have "
        "to be merged, is only known once they are read.",
        '    lake.count("nyc.flights", where="dep_delay > 120")',
        "Give a Spark session, which reads the files that are in doubt: lake.count(table, where=..., spark=spark).",
    ),
    Code(
        "LB5651",
        "A system table has no read plan",
        "`db.t$files` and the like are made from metadata; no data files are opened for them.",
        "    lakebed read 'nyc.flights$files' --explain",
        "Leave the option out.",
    ),
)

"""Codes of reading: LB67nn."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB6701",
        "Two ways of time travel at once",
        "A snapshot id, a tag and a moment each choose a state of the table; together they may contradict each other.",
        '    lake.read(spark, "nyc.flights", snapshot=3, tag="monthly")',
        "Give one of them.",
    ),
    Code(
        "LB6702",
        "No snapshot at or before the moment",
        "The table had no data yet, or the snapshots of that time have been expired.",
        '    lake.read(spark, "nyc.flights", as_of="1999-01-01T00:00:00")',
        "`lakebed history TABLE` lists the snapshots and their times.",
    ),
    Code(
        "LB6703",
        "That does not choose a schema",
        "A read is made under one schema: the travelled snapshot's own, the newest, or a version that is named.",
        '    lake.read(spark, "nyc.flights", schema="newest")',
        'Give a schema id, "latest" or "snapshot".',
    ),
    Code(
        "LB6704",
        "That is no moment",
        "A moment without a time zone would mean something else on another machine.",
        '    lake.read(spark, "nyc.flights", as_of=datetime(2013, 2, 1))',
        "Give an aware datetime, ISO text (of the lake's zone where it names none), or milliseconds since 1970.",
    ),
    Code(
        "LB6705",
        "A partition key is not a column",
        "The schema file names a partition key that is not among its columns; it was damaged or edited by hand.",
        '    "partitionKeys" : [ "month" ], and no field "month"',
        "Restore the schema file, or read an older version of the schema.",
    ),
    Code(
        "LB6706",
        "Columns that differ only in case",
        "Spark takes `id` and `ID` for one column unless the session says otherwise, and would mix them up.",
        '    two columns "id" and "ID", written by an engine that tells them apart',
        "Set `spark.sql.caseSensitive=true` in the Spark session.",
    ),
    Code(
        "LB6707",
        "A map's key type differs between versions",
        "Keys of a map cannot be converted: two keys might become one.",
        "    map<int, ...> in the file, map<bigint, ...> in the schema",
        "Read the table under the older schema, or copy it.",
    ),
    Code(
        "LB5066",
        "The time zone of Spark's JVMs is not known",
        "ORC keeps a TIMESTAMP as the wall clock that its writer saw, and Spark reads it as an instant by the zone "
        "of the JVM that reads it. Without that zone, or with executors in different ones, the clock cannot be "
        "told.",
        "    executors that run in Europe/Berlin, and a driver that runs in UTC",
        "Start Spark with `-Duser.timezone=UTC` in `spark.driver.extraJavaOptions` and "
        "`spark.executor.extraJavaOptions`.",
    ),
    Code(
        "LB5067",
        "A clock that the JVM's zone does not have",
        "When a zone puts its clocks forward, it skips some. Spark reads such a clock from ORC as a later one, "
        "which may be in the file too; which of the two was written cannot be told.",
        "    2024-03-10 02:30:00 in an ORC file, read by a JVM in America/New_York",
        "Start Spark with `-Duser.timezone=UTC` in `spark.driver.extraJavaOptions` and "
        "`spark.executor.extraJavaOptions`.",
    ),
)

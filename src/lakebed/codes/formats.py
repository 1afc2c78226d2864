"""Codes of data file formats: LB553n."""

from __future__ import annotations

from lakebed.codes import Code

_UTC = (
    "Start Spark with `-Duser.timezone=UTC` in `spark.driver.extraJavaOptions` and `spark.executor.extraJavaOptions`."
)

CODES: tuple[Code, ...] = (
    Code(
        "LB5530",
        "An old instant in an ORC file",
        "Before 1900 most zones went by local mean time, which Spark, Java and ORC take for different offsets. In "
        "a zone other than UTC, of Spark's JVM or of the JVM that wrote the file, the instant cannot be told to "
        "the minute.",
        "    TIMESTAMP WITH LOCAL TIME ZONE of 1850 in an ORC file, read by a JVM in America/New_York",
        _UTC + " Values that a JVM in another zone wrote under `orc.timestamp-ltz.legacy.type` stay unreadable.",
    ),
    Code(
        "LB5531",
        "A day that two days come out as",
        "Spark takes days before 1582-10-15 in ORC files for days of the Julian calendar. The leap days of the "
        "years 100, 200, 300, 500 and so on to 1500 are there in that calendar only and come out as the first of "
        "March, as does the day after them.",
        "    a DATE of 1500-03-10 or 1500-03-11 in an ORC file",
        "Leave the rows or the column out, or let an engine rewrite the file as Parquet.",
    ),
    Code(
        "LB5532",
        "The end of an ORC file cannot be read",
        "The end of the file says where the rest of it lies, and which zone it was written in. It was cut off, or "
        "it is something else.",
        "    a data file that ends in `.orc` and is still being copied",
        "Restore the file from a copy of the warehouse, or read an older snapshot that does not need it.",
    ),
    Code(
        "LB5533",
        "An ORC file in a codec that is not known",
        "The zone of the file's writer stands in a compressed part of it, and there is nothing to decompress it with.",
        "    an ORC file in LZO or Brotli with TIMESTAMP WITH LOCAL TIME ZONE columns",
        "Let an engine rewrite the file with zstd, or set the option `orc.timestamp-ltz.legacy.type` to `false` if "
        "every writer ran in UTC.",
    ),
    Code(
        "LB5534",
        "A name that Spark cannot find in ORC files",
        "Spark finds columns of ORC files by a text in which backticks stand around names. One whose name holds a "
        "backtick is not found, and would be read as NULL without a word.",
        "    a column called a`b in a table with ORC files",
        "Rename the column and let an engine rewrite the files, or leave it out.",
    ),
    Code(
        "LB5535",
        "Columns that Spark takes by their places",
        "Where all columns of an ORC file are called `_col0`, `_col1` and so on, as Hive once did, Spark takes them by "
        "their places and not by their names. It would mix them up where some are left out.",
        "    an ORC file of the columns _col0 and _col1, of which _col0 was dropped",
        "Rename a column, and let an engine rewrite the files.",
    ),
)

"""Codes of where Spark runs, and of what it can do there: LB646n and LB648n."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB6460",
        "An ORC file with instants, and a Spark that does not know them",
        "Before 4.2, Spark's ORC reader fails on every file that has a column of the type TIMESTAMP WITH LOCAL TIME "
        "ZONE, also where that column is not wanted. Java writers of Paimon that go by "
        "`orc.timestamp-ltz.legacy.type` store another type and are not concerned.",
        "    PySpark 4.0, and an ORC file that pypaimon wrote with a TIMESTAMP_LTZ column",
        "Use PySpark 4.2 or newer; or let an engine rewrite the files as Parquet.",
    ),
    Code(
        "LB6461",
        "Spark's workers have no Python that can run Lakebed",
        'Avro files, blobs and `spark.read.format("lakebed")` are read by Python processes that Spark starts beside '
        "its JVMs. They run the Python that `PYSPARK_PYTHON` names, else `python3`, which need not be the one of the "
        "program: `.venv/bin/python job.py` does not make `python3` that of `.venv`. All other reads, and ingest, need "
        "no Python there.",
        "    .venv/bin/python job.py, where python3 has no pyarrow",
        "Set `PYSPARK_PYTHON` before Spark starts (`PYSPARK_PYTHON=.venv/bin/python .venv/bin/python job.py`), for "
        "Spark Connect where the server starts; on a cluster install `lakebed[spark]` wherever tasks run.",
    ),
    Code(
        "LB6462",
        "Spark cannot reach a place",
        "Lakebed reaches metadata by itself, through fsspec where the place is a URL. The rows are Spark's: it opens "
        "the same URLs by a connector and by credentials of its own, and a server elsewhere sees the paths of its own "
        "machine. This is looked at before a job starts.",
        "    lake.read(spark, ...) of a warehouse on s3://, by a Spark without a connector for S3",
        "See the message; docs/how-to/object-stores.md says how Spark gets a connector. "
        '`spark.read.format("lakebed")` needs none: it reads through fsspec.',
    ),
    Code(
        "LB6463",
        "There is no such column",
        "A filter, or what is selected, names something that the table does not have in the schema that is read. This "
        "is looked at before Spark starts; what only Spark can tell of an expression, it tells as LB7011.",
        "    lakebed read nyc.flights --where 'distanse > 500'",
        "See the suggestion; `lakebed show TABLE` lists the columns, `--schema` chooses an older schema.",
    ),
    Code(
        "LB6480",
        "Spark's JVM ended",
        "Spark works in a JVM beside the program, and it ended by itself: the system ended it for want of memory, "
        "somebody did, or it never came up. Tables are changed by the program and not by the JVM, one commit at "
        "a time, so that none is half changed. What is not known is how far the run got: rows in quarantine are "
        "committed before the good rows, and data files without a commit may have stayed.",
        "    kill -9 of the process `java` while `lakebed ingest` runs",
        "`lakebed history TABLE` says what was committed; repeat the run, which finds what is done, and remove what it "
        "had half written with `lakebed orphans TABLE --remove`. If memory was short: fewer `--cores`, or more "
        "`spark.driver.memory` in a session of your own.",
    ),
)

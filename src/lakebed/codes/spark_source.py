"""Codes of the Spark data source: LB5600 to LB5614 reads, LB5615 to LB5629 streams."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB5600",
        "An option of the data source makes no sense",
        "A misspelt option, or one with a strange value, must not mean another table or another state of it.",
        '    spark.read.format("lakebed").option("snapshto", "3").load("shop.orders")',
        "See what the message expects; docs/how-to/read-with-spark-format.md lists the options.",
    ),
    Code(
        "LB5601",
        "The schema that is given names a column that the table does not have",
        "With `.schema(...)` a read chooses among the table's columns. Another name cannot be filled.",
        '    spark.read.format("lakebed").schema("orderid BIGINT").load("shop.orders"), where it is order_id',
        "Give names of the table's columns, as `lakebed schema TABLE` lists them.",
    ),
    Code(
        "LB5602",
        "The schema that is given says another type than the table",
        "With `.schema(...)` a read chooses columns; it does not convert them.",
        '    spark.read.format("lakebed").schema("order_id STRING").load("shop.orders"), where it is BIGINT',
        "Say the table's own type, and cast the column after the read.",
    ),
    Code(
        "LB5603",
        "The data source does not convert this changed type",
        "Files hold a column under the type that it had when they were written. The data source converts where that is "
        "exact (wider integers, FLOAT to DOUBLE, wider DECIMAL, longer text); all other conversions are done in Spark "
        "alone.",
        "    a column that was INT and is STRING now, read with spark.read.format",
        "Use `lake.read(...)`, or leave the column out with `.schema(...)`.",
    ),
    Code(
        "LB5604",
        "The data source does not read values of this kind",
        "Some values are stored in ways that only Spark's own readers decode as they were meant: timestamps in ORC, "
        "days by the calendar of Spark before 3.0, INT96 timestamps from the year 2262 on, VARIANT, BLOB.",
        "    a TIMESTAMP column in ORC files, read with spark.read.format",
        "Use `lake.read(...)`, or leave the column out with `.schema(...)`.",
    ),
    Code(
        "LB5605",
        "The data source does not merge these files",
        "Several files hold what becomes one row: by merge engines other than deduplicate, or by data evolution. That "
        "is done in Spark alone.",
        "    a table with merge-engine=aggregation that is not compacted, read with spark.read.format",
        "Use `lake.read(...)`, or compact the table.",
    ),
    Code(
        "LB5606",
        "A data file does not hold what its schema says",
        "The file's own type of a column is not one in which the type of its schema version is stored.",
        "    a Parquet file with a DOUBLE where the schema has BIGINT",
        "Use `lake.read(...)`, which leaves it to Spark's readers, or rewrite the file.",
    ),
    Code(
        "LB5607",
        "The data source only reads",
        "Rows are checked, numbered and committed by `lake.ingest`. What Spark hands to a source in Python goes past "
        "that, and of CREATE TABLE Spark makes a table of its own.",
        '    rows.write.format("lakebed").mode("append").save("shop.orders")',
        "Write with `lake.ingest(spark, TABLE, rows)`; in SQL use CREATE TEMPORARY VIEW ... USING lakebed.",
    ),
    Code(
        "LB5615",
        "An option of a stream makes no sense",
        "A misspelt or contradictory option must not mean something else than what was wanted.",
        '    spark.readStream.format("lakebed").option("start", "newest")',
        "See what the message expects; docs/how-to/stream-a-table.md lists the options.",
    ),
    Code(
        "LB5616",
        "The checkpoint holds an offset that is not understood",
        "Where a stream goes on is in the checkpoint of its query. Another source, or a newer version, wrote this one; "
        "guessing would lose rows or give them twice.",
        "    a checkpoint of a Delta stream, used for a Lakebed stream",
        "Use the checkpoint with the source and the version that wrote it, or begin with a new one.",
    ),
    Code(
        "LB5617",
        "The snapshot at which the stream goes on is gone",
        "The stream read slower than snapshots expired, or was stopped for longer than they are kept. What the commits "
        "in between changed cannot be told any more.",
        "    the checkpoint stands at snapshot 8, and the table has snapshots 12 to 20",
        "Begin with a new checkpoint, which reads the whole table again, and keep snapshots for longer than the stream "
        "ever stops: table options `snapshot.time-retained` and `snapshot.num-retained.min`.",
    ),
    Code(
        "LB5618",
        "The table has another history than the stream has read",
        "The table was rolled back, or dropped and made anew: the snapshots that the checkpoint says were read are not "
        "those that the table has now.",
        "    the checkpoint stands after snapshot 8, and the table was rolled back to snapshot 5",
        "Begin with a new checkpoint.",
    ),
    Code(
        "LB5619",
        "A commit replaced or deleted rows",
        "A stream gives rows that are added. This commit also took some away (an overwrite, a delete, an update), "
        "which the stream cannot tell; going on silently would leave its target different from the table.",
        '    INSERT OVERWRITE t PARTITION (dt = "2024-05-14") ..., while the table is streamed',
        "Set `on-overwrite` to `ignore` (the change is left out) or `added` (the rows of the files that the commit "
        "added come, also those that were there before), or begin with a new checkpoint.",
    ),
    Code(
        "LB5620",
        "What a commit changed is not understood",
        "The commit is of a kind that is not known, or adds rows and takes away files at once.",
        "    a commit of the kind APPEND with a DELETE entry",
        "Begin with a new checkpoint after this snapshot, or read the table with a newer Lakebed.",
    ),
    Code(
        "LB5621",
        "The table's schema changed under the running stream",
        "Spark fixes the columns of a query when it starts. These rows have columns that were added since, or values "
        "of other types, which the running query would leave out.",
        "    a column is added to the table while its stream runs",
        "Start the query again with the same checkpoint: it goes on from the same place, with the new columns. Or set "
        "`on-schema-change` to `project`.",
    ),
    Code(
        "LB5622",
        "The changes of this table cannot be streamed",
        "Some tables' commits hold what is no row of the table, or not yet: those of first-row, partial-update and "
        "aggregation tables without a changelog, of postponed buckets, of tables with data evolution.",
        "    readStream of a table with merge-engine=aggregation, without changelog-producer",
        "Set `changelog-producer` on the table, read it with `spark.read`, or in steps with `lake.read_changes`.",
    ),
    Code(
        "LB5623",
        "A stream of a table with a primary key needs row kinds",
        "Rows of such a table are updated and deleted. Without a column that says what each row of the stream means, "
        "an update would look like a second row, and a delete like an insert.",
        '    spark.readStream.format("lakebed").load("shop.customers"), where customers has a primary key',
        'Set `.option("row-kinds", "true")`: the first column, `rowkind`, is `+I`, `-U`, `+U` or `-D`.',
    ),
    Code(
        "LB5624",
        "The stream cannot begin there",
        "The snapshot from which changes are wanted is not there, or some of the changes since that moment are gone.",
        '    .option("from-snapshot", "3"), where the first snapshot is 7',
        "Begin at a snapshot that is there (`lakebed history TABLE`), or with the whole state: leave the option out.",
    ),
)

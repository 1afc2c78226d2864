"""Codes of system tables, of changes between two states, and of views: LB5590 to LB5629."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB5590",
        "There is no such system table",
        "What follows `$` in a table's name is a system table or `branch_NAME`.",
        "    lakebed read 'shop.orders$file'",
        "Take one of the names that the message lists.",
    ),
    Code(
        "LB5591",
        "This system table is not made",
        "Other engines have this table; Lakebed makes those that follow from the metadata alone.",
        "    lakebed read 'shop.orders$consumers'",
        "For changes of rows (`audit_log`, `binlog`) use `lake.read_changes(spark, TABLE, row_kinds=True)`.",
    ),
    Code(
        "LB5592",
        "This system table has no earlier states",
        "Snapshots, schema versions, tags, branches and options are listed as they are now; only files, manifests, "
        "partitions and buckets belong to one snapshot.",
        "    lakebed read 'shop.orders$tags' --snapshot 3",
        "Leave the snapshot, tag or moment out, and filter the rows instead.",
    ),
    Code(
        "LB5593",
        "The changes are no longer all there",
        "Changes between two states are what each snapshot after the first added. One of these snapshots has expired, "
        "so that some changes would be missing.",
        '    lake.read_changes(spark, "shop.orders", since=1), where snapshots 1 to 4 have expired',
        'Begin at a later snapshot, or compare two states that are there (tags keep them) with mode="diff".',
    ),
    Code(
        "LB5594",
        "The first state is after the second",
        "Changes run from an earlier state, exclusive, to a later one, inclusive.",
        '    lake.read_changes(spark, "shop.orders", since=5, until=3)',
        "Exchange the two.",
    ),
    Code(
        "LB5595",
        "There is no such way to read changes",
        "A misspelt choice must not mean another one.",
        '    lake.read_changes(spark, "shop.orders", since=1, mode="changes")',
        "Say `auto`, `delta`, `changelog` or `diff`.",
    ),
    Code(
        "LB5596",
        "The changes of this table cannot be told that way",
        "A changelog is there only where `changelog-producer` is set. And the commits of first-row tables, of tables "
        "with a postponed bucket and of tables with data evolution hold what is not, or not yet, a row of the table.",
        '    lake.read_changes(spark, "shop.orders", since=1, mode="changelog"), without changelog-producer',
        'Use mode="delta" or mode="diff".',
    ),
    Code(
        "LB5597",
        "Rows with a map cannot be compared",
        "The difference of two states compares whole rows, and Spark compares no maps.",
        '    lake.read_changes(spark, "shop.orders", since=1, mode="diff"), where a column is MAP<STRING, INT>',
        'Use mode="delta", or a schema version without the column.',
    ),
    Code(
        "LB5598",
        "Two tables would be one view",
        "Spark does not tell capital from small letters in the names of views, and the names of tables differ in "
        "nothing else.",
        "    the tables shop.Orders and shop.orders",
        'Make the views of one database only, `lake.views(spark, "shop")`, or rename a table.',
    ),
    Code(
        "LB5599",
        "A table has no view",
        "It cannot be read, so it was left out when the views of the warehouse were made.",
        "    lake.views(spark)",
        "See the reason in the message; the other tables have their views.",
    ),
)

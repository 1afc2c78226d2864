"""Codes of merging schemas on write and of types of the future: LB4500 to LB4549."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB4500",
        "A table with a column of an unknown type is not changed",
        "The schema was written by a newer engine. What a type of the future demands of a table, and what else such a "
        "schema file says, is not known here and would be lost in a new version.",
        '    "type" : "TENSOR(3)"',
        "Use a newer Lakebed, or the engine that made the column. The other columns can be read.",
    ),
    Code(
        "LB4501",
        "A column of the table and one of the data have types that cannot be merged",
        "Where types are merged, the table takes the data's type if that is a wider one. A narrower type, decimals of "
        "another scale, or types that nothing casts between, are never merged by guess.",
        "    amount is DECIMAL(10, 2) in the table and DECIMAL(10, 4) in the data",
        "Cast the data to the table's type, or merge only new columns.",
    ),
    Code(
        "LB4502",
        "The name of a column can mean several columns",
        "Columns are matched by name. Where case is ignored, two names may fold to one.",
        "    the data has ID, the table has id and Id",
        "Rename one of them, or match names with their case.",
    ),
    Code(
        "LB4503",
        "A merge cannot change the keys of a map or the elements of a multiset",
        "Stored files hold them as they are, and no reader converts them: two keys might become one. Other "
        "implementations merge them, and then cannot read the old files.",
        "    m is MAP<INT, STRING> in the table and MAP<BIGINT, STRING> in the data",
        "Cast the data to the table's type, or make a new column.",
    ),
    Code(
        "LB4504",
        "A new column would differ from another one in nothing but case",
        "Engines that ignore case, as Spark does by default, cannot read a table with both names.",
        "    the table has carrier, the data has Carrier",
        "Match names without their case, rename the data's column, or give leave.",
    ),
    Code(
        "LB4505",
        "That says no columns",
        "What is merged into a table is a DataFrame, its schema, a declared schema, or a list of columns.",
        '    lake.merge_schema("nyc.flights", "flights.csv")',
        'Give a list, such as `["id BIGINT", "note STRING"]`, or a DataFrame.',
    ),
    Code(
        "LB4506",
        "There is no such way to merge types",
        "A misspelt choice must not mean another one.",
        '    lake.merge_schema("nyc.flights", frame, types="widen-all")',
        "Say `add`, `widen` or `cast`.",
    ),
    Code(
        "LB4507",
        "A column of an unknown type is left out of what is read",
        "The schema was written by a newer engine. The column is named, the others are read as always.",
        "    column embedding has the type TENSOR(3)",
        "Read the table with a newer version to see the column.",
    ),
    Code(
        "LB4509",
        "The source says no types that could be merged",
        "The values of text files are read as what the table declares; a file that is CSV or JSON can add columns, but "
        "widen none.",
        "    lakebed ingest nyc.flights flights.csv --merge-schema widen",
        "Merge with `add`, or change the column's type in the manifest.",
    ),
)

"""Codes of rows whose parts lie in several files, and of blobs: LB5560 to LB5589."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB5560",
        "Files that share rows do not fit together",
        "In a table with data evolution the columns of one range of rows lie in several files. Those files hold the "
        "same rows, and the blob files of a column together hold each of them. Otherwise rows would come out twice or "
        "without some of their values.",
        "    a file with the rows 0 to 9 and another one with the rows 5 to 14",
        "Restore the table's metadata, or travel to a snapshot before the damage.",
    ),
    Code(
        "LB5561",
        "A data file cannot be decoded",
        "The file is damaged, or it is no file of the format that its name says.",
        "    data-1.blob whose checksum is wrong",
        "Restore the file, or travel to a snapshot without it.",
    ),
    Code(
        "LB5562",
        "A data file is too big to be read at once",
        "Files of blobs and of Avro are read whole, and Spark holds at most 2 GiB as one value.",
        "    data-1.blob of 3 GiB",
        'Read blobs with `blobs="descriptor"`; `lake.fetch_blobs` then gets the values of the rows that are wanted.',
    ),
    Code(
        "LB5563",
        "No descriptors of nested blobs",
        "Elements of an ARRAY or values of a MAP have no entry in the index of a blob file, so where they lie is not "
        "known without reading them.",
        '    lake.read(spark, "lab.scans", blobs="descriptor"), where a column is ARRAY<BLOB>',
        'Read their contents with `blobs="content"`.',
    ),
    Code(
        "LB5564",
        "The blobs of a column lie outside of the table",
        "The table's data files hold descriptors of the values, and the contents may be anywhere. They are not fetched "
        "while rows are read, and the bytes of a descriptor must not be taken for content.",
        "    option blob-descriptor-field = photo",
        'Read with `blobs="descriptor"`; `lake.fetch_blobs` then gets the values of the rows that are wanted.',
    ),
    Code(
        "LB5565",
        "Columns that view blobs of another table are not read",
        "Their values are references to rows of another table, which would have to be looked up.",
        "    option blob-view-field = photo",
        "Read the table that the blobs are in.",
    ),
    Code(
        "LB5566",
        "The table has no such metadata column",
        "`_ROW_ID` and `_SEQUENCE_NUMBER` are known of rows of append tables with `row-tracking.enabled` only.",
        '    lake.read(spark, "nyc.flights", metadata_columns=["_ROW_ID"]), without row tracking',
        "Leave the column out, or set the option when the table is made.",
    ),
    Code(
        "LB5567",
        "That is no descriptor of a blob",
        "A descriptor is a version, a URI, an offset and a length, as bytes.",
        '    lake.read_blob(b"hello")',
        'Give a value that a read with `blobs="descriptor"` gave.',
    ),
    Code(
        "LB5568",
        "There is no such way to read blobs",
        "A misspelt choice must not mean another one.",
        '    lake.read(spark, "lab.scans", blobs="descriptors")',
        "Say `content` or `descriptor`.",
    ),
    Code(
        "LB5569",
        "Metadata columns do not go together with a fallback branch",
        "The branches number their rows by themselves: one id would mean two rows.",
        '    lake.read(spark, "lab.scans", metadata_columns=["_ROW_ID"]), with scan.fallback-branch set',
        "Read one branch at a time, by name.",
    ),
    Code(
        "LB5570",
        "That is no column of descriptors",
        "Contents are fetched for columns of bytes that say where a blob lies.",
        '    lake.fetch_blobs(rows, "name"), where name is text',
        'Name a BLOB column of rows that were read with `blobs="descriptor"`.',
    ),
)

"""Codes of the table format: snapshots, manifests, data files, what is read and written of it, commits."""

from __future__ import annotations

from lakebed.codes import Code

_OTHER_ENGINE = "Use an engine that supports it for this table, or copy the rows into a table without the feature."
_DAMAGED = (
    "Restore the file from a copy of the warehouse, or read an older snapshot (`TABLE@snap:N`) that does not need it. "
    "A file that is still being copied is damaged until the copy is complete."
)

CODES: tuple[Code, ...] = (
    Code(
        "LB5001",
        "A snapshot file cannot be understood",
        "A snapshot names everything that belongs to a state of the table. If it lacks a part, there is no telling "
        "which rows the table has.",
        "`snapshot/snapshot-7` is cut off in the middle of its JSON, or has no `baseManifestList`.",
        _DAMAGED,
    ),
    Code(
        "LB5002",
        "A snapshot of a newer version",
        "A later version of the format may mean something else by the same keys.",
        '`"version" : 4` in a snapshot file; versions 1 to 3 are known.',
        "Read the table with a newer Lakebed.",
    ),
    Code(
        "LB5003",
        "No such snapshot",
        "Snapshots are removed when they expire, and numbers beyond the newest do not exist yet.",
        "`lakebed read nyc.flights@snap:3` where the snapshots 5 to 9 are left.",
        "`lakebed history TABLE` lists the snapshots. To keep one, make a tag of it before it expires.",
    ),
    Code(
        "LB5004",
        "No such tag",
        "Each branch has tags of its own.",
        "`lakebed read nyc.flights@tag:releese` where the tag is called `release`.",
        "Check the name; the message suggests near ones.",
    ),
    Code(
        "LB5010",
        "A manifest cannot be understood",
        "Manifests say which data files are live. One that is damaged or shorter than promised would hide rows or "
        "bring deleted ones back.",
        "A manifest list promises 12 entries, its manifest holds 11.",
        _DAMAGED,
    ),
    Code(
        "LB5011",
        "Manifests in another format",
        "The option `manifest.format` lets an engine write manifests in other formats. Lakebed reads Avro and, with "
        "PyArrow, ORC; it writes Avro, the default.",
        "A commit to a table with `manifest.format` = `orc`, or manifests in Parquet.",
        "Set `manifest.format` to `avro` and let the engine that wrote the table rewrite it, by a compaction.",
    ),
    Code(
        "LB5012",
        "A codec is not installed",
        "Manifests are compressed; some codecs need a library of their own.",
        "Manifests with `manifest.compression` = `lz4` where the library `lz4` is not installed.",
        "Install the library that the message names.",
    ),
    Code(
        "LB5013",
        "A manifest of a newer version",
        "A later version of the format may mean something else by the same fields.",
        "`_VERSION` is 3 in a manifest; 2 is known.",
        "Read the table with a newer Lakebed.",
    ),
    Code(
        "LB5015",
        "A partition key is not a column",
        "Every partition key of a schema names one of its columns, whose type says how partitions are stored.",
        "`partitionKeys` holds `dt`, and no field is called `dt`.",
        "Repair the schema file; another engine wrote it without checking.",
    ),
    Code(
        "LB5020",
        "A binary row cannot be decoded",
        "Partitions and statistics are stored as rows of bytes whose types come from the schema. Bytes of another "
        "shape mean a damaged manifest or the wrong schema.",
        "A partition row has two fields where the table has one partition key.",
        _DAMAGED,
    ),
    Code(
        "LB5021",
        "A nested value inside a binary row",
        "Partitions and statistics hold plain values only.",
        "Statistics with bounds for an ARRAY column.",
        "None is needed for tables that engines write today; the table uses a feature that Lakebed does not know.",
    ),
    Code(
        "LB5030",
        "A partition value has no text",
        "The directory of a partition is spelled from its values. For bytes and nested types there is no spelling that "
        "all engines share.",
        "A table partitioned by a BINARY column under `partition.legacy-name` = `true`.",
        "Partition by a STRING or INT column, or set `partition.legacy-name` to `false` when the table is made.",
    ),
    Code(
        "LB5040",
        "Not a complete Parquet file",
        "The statistics of a data file come from its footer, the last thing that is written. Without it the file was "
        "not finished or is something else.",
        "A Parquet file that was cut off while it was copied.",
        "Write the file again.",
    ),
    Code(
        "LB5041",
        "An encrypted Parquet file",
        "The footer of the file is encrypted; neither its rows nor its statistics can be read without a key.",
        "A data file that ends in `PARE`.",
        "Write the data without encryption, or encrypt the storage instead.",
    ),
    Code(
        "LB5050",
        "A table with a primary key",
        "The files of such a table hold several versions of a row, which must be merged when it is read and sorted "
        "when it is written. Reading the files plainly would return rows that were replaced or deleted.",
        "A table made with `PRIMARY KEY (id)`.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5051",
        "A table of another kind",
        "The option `type` makes a table something else than rows in data files with snapshots.",
        "`type` = `format-table` or `object-table`.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5052",
        "Data files with a part of the columns",
        "With `data-evolution.enabled` a row is spread over several files that have to be put together by row number. "
        "Each file alone would show the other columns as NULL.",
        "A table with `data-evolution.enabled` = `true`, or a file with `_WRITE_COLS` in its manifest.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5053",
        "A table that reads from another branch too",
        "With `scan.fallback-branch` or `scan.primary-branch`, partitions that one branch lacks come from the other. "
        "Reading one of them alone would lose rows.",
        "`scan.fallback-branch` = `rt`.",
        "Read the branches one by one (`TABLE@branch:rt`), or use another engine.",
    ),
    Code(
        "LB5054",
        "A column of a type that is not supported",
        "There is no form for the column's values in Spark, or none that keeps them.",
        "A BLOB, VECTOR or GEOMETRY column, or a type that this version does not know; when writing also TIMESTAMP(9), "
        "VARIANT, a struct without fields, and a map inside of the key of a map.",
        "Leave the column out when reading. For writing use another engine, or a table without such a column.",
    ),
    Code(
        "LB5055",
        "Deletion vectors",
        "Deletion vectors say which rows of a data file are gone. Without them deleted rows would come back.",
        "A snapshot whose index manifest lists `DELETION_VECTORS`, after a DELETE by another engine.",
        "Compact the table fully with the engine that made them, then read the new snapshot.",
    ),
    Code(
        "LB5056",
        "Data files in another format",
        "Data files in Parquet, ORC, Avro and of blobs are read, by the extensions of their names; Parquet is written.",
        "`data-3f2c-0.lance` in a table whose `file.format` was once `lance`, or a write with `file.format` = `orc`.",
        "Set `file.format` to `parquet` and let the engine that wrote the table rewrite the files, then read again.",
    ),
    Code(
        "LB5057",
        "Timestamps in two forms",
        "A TIMESTAMP(7) to (9) column has two physical forms in Parquet, INT96 and 64-bit nanoseconds. Either is "
        "read to the microsecond, but not both within one file.",
        "A file of two TIMESTAMP(9) columns, one as INT96 and one as 64-bit nanoseconds.",
        "Read the columns one by one, or let the engine rewrite the file.",
    ),
    Code(
        "LB5058",
        "A hidden data file",
        "Spark takes files whose names start with `_` or `.` for no data and reads no rows from them, without a word.",
        "`_part-1.parquet`, written by an engine under `data-file.prefix` = `_part-`.",
        "Let the engine rewrite the file under another prefix.",
    ),
    Code(
        "LB5060",
        "Row tracking",
        "With `row-tracking.enabled` every commit hands out row ids, which Lakebed does not do. Rows without ids would "
        "break the readers that need them.",
        "A table with `row-tracking.enabled` = `true`.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5061",
        "A changelog",
        "With a `changelog-producer` every commit writes what changed. Consumers would miss the changes of a commit "
        "without it.",
        "`changelog-producer` = `input`.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5062",
        "Data outside of the table",
        "With `data-file.external-paths` new files belong elsewhere. Such files are read, but not written.",
        "`data-file.external-paths` = `s3://other/place`.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5063",
        "A table with buckets",
        "Rows of a table with `bucket` above 0 must lie in the bucket that their key's hash says, in the order of "
        "their sequence. Such tables are read, but not written yet.",
        "An append table with `bucket` = `4` and `bucket-key` = `id`.",
        _OTHER_ENGINE,
    ),
    Code(
        "LB5064",
        "A schema of a newer version",
        "Rows written without knowing what a later version demands could break the table for its other users.",
        '`"version" : 4` in the newest schema file; up to 3 is known.',
        "Write the table with a newer Lakebed.",
    ),
    Code(
        "LB5065",
        "A prefix of data files that Spark does not read",
        "Names of data files start with the option `data-file.prefix`. Spark reads no file whose name starts with `_` "
        "or `.`, and none whose name has a colon; a slash would put the file into another directory.",
        "`data-file.prefix` = `_part-`.",
        "Set the option to another text, such as `part-`.",
    ),
    Code(
        "LB5070",
        "The commit lost every race",
        "Each snapshot has one number, and somebody else took it each time. Nothing was made visible; the data files "
        "are still there, so that the commit can be repeated.",
        "Many writers commit to one table at the same moment.",
        "Repeat the commit with the same commit user or run id, or raise the table option `commit.max-retries`.",
    ),
    Code(
        "LB5071",
        "The outcome of the commit is unknown",
        "The storage failed while the snapshot was published: it may be visible or not. Nothing was removed.",
        "The network broke after the request was sent.",
        "Repeat it with the same commit user or run id. If it was made, it is found and not made again.",
    ),
    Code(
        "LB5072",
        "A new file does not fit the table",
        "A manifest entry with a wrong partition, bucket or schema id makes rows unreadable or misplaces them.",
        "A file is committed with two partition values to a table with one partition key.",
        "Describe the file by the schema that it was written under and the partition keys of the table.",
    ),
    Code(
        "LB5073",
        "An option's value cannot be read",
        "The option holds a number or a size, and its text is neither.",
        "`manifest.target-file-size` = `eight`.",
        "Set the option to a value of the expected form, or remove it.",
    ),
    Code(
        "LB5074",
        "A page of a Parquet file does not fit its checksum",
        "Lakebed and Spark write a checksum with each page of a Parquet file, and every read holds the pages against "
        "them. Bytes that have changed since could otherwise come out as wrong values. Files of writers that leave "
        "checksums out are read without.",
        "A data file on a disk with a flipped bit. A DataFrame of `lake.read(...)` fails with Spark's own "
        "`FAILED_READ_FILE`, which names the file; everything else fails with this code.",
        "Restore the file from a copy of the warehouse, or read an older snapshot (`TABLE@snap:N`) that does not need "
        "it. To save what can be saved, read without verification: `lakebed.open(..., verify_checksums=False)`, "
        "`--no-verify-checksums`, `verify_checksums = false` in `lakebed.toml`, or the option `verify-checksums` of "
        "the data source. Values may be wrong then.",
    ),
    Code(
        "LB5075",
        "An index manifest does not fit what it names",
        "An index manifest says where the deletion vectors of data files lie. If it names fewer than an index file "
        "holds, or a file in another bucket than it is live in, rows that were deleted would come back.",
        "An index file of three vectors, of which the index manifest names two.",
        _DAMAGED,
    ),
    Code(
        "LB5076",
        "An entry of an index manifest that is not known",
        "Deletion vectors, hash indexes and global indexes are known. Something else may say that rows are deleted, "
        "and passing over it could bring them back.",
        "An index manifest entry of kind 7, or of type `DELETION_VECTORS_2`.",
        "Read the table with a newer Lakebed, or an older snapshot without the entry.",
    ),
    Code(
        "LB5077",
        "A snapshot with a key that is nearly a known one",
        "Keys that are not known are passed over, as newer writers may add some. One that looks like a known key, "
        "which is missing, may be that key, damaged: without `indexManifest` deleted rows come back.",
        "`indexManifset` in `snapshot/snapshot-7`, which has no `indexManifest`.",
        _DAMAGED,
    ),
    Code(
        "LB5078",
        "Deletion vectors for files that are not live",
        "The vectors delete nothing. Some engines leave them behind when they rewrite or overwrite the files; "
        "otherwise their names are damaged, and rows that they delete have come back.",
        "A full compaction by Paimon Java 1.4 of a table with deletion vectors.",
        "Compare the names in the warning with `TABLE$files`. Where a name differs in a few characters only, restore "
        "the index manifest from a copy of the warehouse.",
    ),
    Code(
        "LB5079",
        "A snapshot whose files have other rows than it says",
        "A snapshot counts the rows of all its data files. Where the manifests give another number, one of them may "
        "have lost entries, or an engine has counted wrongly.",
        "`totalRecordCount` is 120 and the live files have 100 rows.",
        "Compare with an older snapshot. If a manifest is damaged, restore it from a copy of the warehouse.",
    ),
    Code(
        "LB5080",
        "No process for ORC files",
        "A damaged ORC file can end the process that the ORC library runs in. So manifests in ORC are decoded in a "
        "process apart, by the same Python interpreter.",
        "Lakebed inside of another program, where `sys.executable` is not a Python interpreter.",
        "Set `sys.executable` to the path of a Python interpreter that can import `lakebed` and `pyarrow`.",
    ),
    Code(
        "LB5081",
        "A time that no calendar has",
        "The file says a number of milliseconds since 1970 that is outside of the years 1 to 9999. A system table "
        "shows NULL in its place, the record of a table the nearest time within them; everything else of the "
        "file is used.",
        '`"timeMillis" : 99999999999999999` in `snapshot/snapshot-7`.',
        _DAMAGED,
    ),
    Code(
        "LB5082",
        "A snapshot of an unknown kind of commit",
        "The kind says what the changes of a snapshot mean: rows that are new, the same rows in other files, or rows "
        "that replace others. One that is not known cannot be read rightly.",
        '`"commitKind" : "FOO"` in `snapshot/snapshot-7`.',
        "If a newer engine wrote the table, use a newer Lakebed. If the file is damaged, restore it from a copy of the "
        "warehouse.",
    ),
    Code(
        "LB5083",
        "A snapshot of a version that does not exist",
        "A snapshot says under which version of the schema it was made. One that names a version that is not there "
        "was edited, is damaged, or has lost the file of that version.",
        '`"schemaId" : 77` in `snapshot/snapshot-7` of a table with the versions 0 to 3.',
        _DAMAGED,
    ),
)

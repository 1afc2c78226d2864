"""Codes of stores, databases and names of tables: LB3700 to LB3749."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB3700",
        "Whether a file was published is not known",
        "The storage reported a failure, for example because its answer was lost, and did not say afterwards whether "
        "the file is there.",
        "    a put to S3 that timed out, and a network that is gone",
        "Look at the table when the storage answers again, then repeat the command: what was made already is not made "
        "again.",
    ),
    Code(
        "LB3701",
        "A directory is not empty",
        "Only an empty one is removed, so that nothing is lost that somebody put there meanwhile.",
        "    a table that was made while its database was dropped",
        "Look at what is in the directory.",
    ),
    Code(
        "LB3702",
        "The database exists already",
        "A database is made once.",
        "    lakebed database create shop, twice",
        "Choose another name, use the database as it is, or give `--if-not-exists`.",
    ),
    Code(
        "LB3703",
        "The database holds tables",
        "Dropping it would drop them.",
        "    lakebed database drop shop",
        "Drop the tables first, or give `--cascade`.",
    ),
    Code(
        "LB3704",
        "The database holds other things than tables",
        "Nobody can tell what they are and whether they are needed.",
        "    warehouse/shop.db/notes.txt",
        "Move them away, or give `--cascade`, which deletes them.",
    ),
    Code(
        "LB3705",
        "A table on an object store cannot be renamed",
        "An object store moves nothing in one step. While a table is copied, a reader finds half of it, and what a "
        "writer adds is lost.",
        "    lakebed rename shop.orders shop.sales, on s3://",
        "Make a table of the new name from `lakebed infer`, copy the rows and drop the old one.",
    ),
    Code(
        "LB3706",
        "Something has the new name already",
        "A table is renamed to a name only where nothing is in the place of its directory or of its quarantine's.",
        "    warehouse/shop.db/sales, a directory without a schema",
        "Choose another name, or look at the directory and move it away.",
    ),
    Code(
        "LB3707",
        "A rename was interrupted",
        "The table has its new name, its quarantine has still the old one. A new table of the old name would get it.",
        "    a crash in the middle of lakebed rename",
        "Repeat the rename that the message names: it is finished.",
    ),
    Code(
        "LB3708",
        "The existing table is defined differently",
        "An external table is taken as it is only if it is what the caller believes it to be.",
        '    create_table("shop", "orders", [("id", "INT")], external=True), where id is a BIGINT',
        "Leave out the columns, keys and options, or change the table by a plan.",
    ),
    Code(
        "LB3709",
        "System tables can only be read",
        "`t$snapshots` and the like are made up from the metadata of `t`: they have no schema versions, rows or "
        "options of their own.",
        "    lakebed show 'shop.orders$snapshots'",
        "Use `lakebed read`, `lake.read` or `lake.inspect`.",
    ),
    Code(
        "LB3710",
        "The name of a quarantine",
        "`t__quarantine` belongs to the table `t`: it is made by ingest, and renamed and dropped with its table.",
        "    name: shop.orders__quarantine",
        "Choose another name.",
    ),
    Code(
        "LB3712",
        "A storage that ignores the condition of a put",
        "Lakebed has put an object twice under the condition that it does not exist, and both puts succeeded. Two "
        "writers of the same version would both believe that they have won, and one change would be lost.",
        "    an S3-compatible server that does not know `If-None-Match`",
        "Use a storage with conditional writes. Where only one process ever writes, say so: "
        "`allow_overwrite_races = true` in lakebed.toml, or `allow_overwrite_races=True`.",
    ),
    Code(
        "LB3713",
        "Storage options that cannot be used",
        "The driver of the storage does not know an option, or a local path was given options. An unknown option would "
        "be ignored, and the data might go to another place.",
        "    [storage]\n    endpoint_ulr = ...",
        "Check the spelling; the driver's documentation lists its options.",
    ),
)

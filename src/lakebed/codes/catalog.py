"""Codes of the catalog and the stores: LB3nnn. Those of the rules for tables are in `validation`."""

from __future__ import annotations

from lakebed.codes import Code
from lakebed.codes.validation import CODES as _VALIDATION

_NAMES = (
    Code(
        "LB3101",
        "A name cannot be used",
        "The name of a database or table becomes the name of one directory. What could leave the directory, or cannot "
        "be "
        "written everywhere, is refused.",
        "    ../other, a/b, an empty name",
        "Letters, digits, spaces, dots inside and quotes are fine; slashes, control characters and a leading dot are "
        "not.",
    ),
    Code(
        "LB3102",
        "The database sys is reserved",
        "Engines show their system tables there.",
        "    sys.orders",
        "Choose another database.",
    ),
    Code(
        "LB3103",
        "A table name with `$`",
        "The format writes system tables and branches that way (`orders$snapshots`).",
        "    orders$2024",
        "Leave `$` out; a branch is written `orders@branch:NAME`.",
    ),
    Code(
        "LB3104",
        "Text that is no table name",
        "Backticks are not closed, or a version follows where only a table can stand.",
        "    `my.db.orders",
        "Write `db.table`; put a part with a dot, a backtick or an @ in backticks, and double a backtick inside.",
    ),
    Code(
        "LB3105",
        "Text that names no version",
        "After the @ comes a schema id, or `snap:`, `tag:` or `branch:` and a value.",
        "    orders@latest",
        "Write `orders@3`, `orders@snap:5`, `orders@tag:NAME` or `orders@branch:NAME`.",
    ),
    Code(
        "LB3106",
        "There is no such layout",
        "A warehouse is laid out as Apache Paimon does it, or as Mini Paimon does it.",
        "    layout=hive",
        "Choose paimon, mini or auto.",
    ),
    Code(
        "LB3107",
        "A branch cannot have this name",
        "The name of a branch becomes the name of a directory.",
        "    orders@branch:../x",
        "Name a branch of the table.",
    ),
)

_PLACES = (
    Code(
        "LB3111",
        "A directory is no warehouse",
        "It holds other things and no database, so a wrong path is likelier than a new warehouse.",
        '    lakebed.open("documents")',
        "Check the path, or make a warehouse elsewhere with `lakebed init`.",
    ),
    Code(
        "LB3112",
        "There is no such directory",
        "A warehouse is not made by opening it, so that a misspelt path is noticed.",
        '    lakebed.open("warehuose")',
        "Check the path, or make a warehouse with `lakebed init`.",
    ),
    Code(
        "LB3113",
        "A warehouse is a directory",
        "The path names a file.",
        '    lakebed.open("orders.yaml")',
        "Name a directory.",
    ),
    Code(
        "LB3114",
        "A warehouse has two layouts",
        "Databases of both layouts lie side by side, and tables of one would be overlooked.",
        "    warehouse/shop.db and warehouse/example_db",
        "Give the layout, or move one of them elsewhere.",
    ),
    Code(
        "LB3115",
        "The path leads into a warehouse",
        "It is the directory of a database or of a table.",
        '    lakebed.open("warehouse/shop.db")',
        "Open the directory that holds the databases.",
    ),
    Code(
        "LB3116",
        "There is no such time zone",
        "The zone rules every zoned cast, so it is never guessed.",
        '    lakebed.open("warehouse", time_zone="Europe/Pariss")',
        "Give a name of the tz database or an offset such as +02:00.",
    ),
)

_TABLES = (
    Code(
        "LB3121",
        "There is no such database",
        "A database is a directory of the warehouse.",
        "    lakebed tables shopp",
        "Check the name; a database is made with its first table.",
    ),
    Code(
        "LB3122",
        "There is no such table",
        "A table is a directory with at least one schema file; an empty directory is none.",
        "    lakebed show shop.ordres",
        "Check the name, or create the table.",
    ),
    Code(
        "LB3123",
        "The table exists already",
        "A table is made once; of two that make it at the same moment one is told so.",
        "    create_table twice",
        "Choose another name, or change the table by a plan.",
    ),
    Code(
        "LB3124",
        "The rest of an earlier table is in the way",
        "Its snapshots would come alive under the new table, and a drop that was interrupted would take the new one "
        "away.",
        "    create_table after a drop that crashed",
        "Drop the table again to finish it, or look at the directory and delete it.",
    ),
    Code(
        "LB3125",
        "A table may have data elsewhere",
        "Files outside of the table's directory are not deleted with it, and nothing would find them any more.",
        "    data-file.external-paths: s3://bucket/x",
        "Drop it with `purge` to give these files up.",
    ),
    Code(
        "LB3126",
        "A table manager that cannot judge changes",
        "A `TableManager` made by hand has no change evaluator.",
        "    TableManager(PathFactory(path)).alter_table(...)",
        "Use the `tables` of `lakebed.open(...)`.",
    ),
    Code(
        "LB3127",
        "A table starts with schema 0",
        "The first version of a table has the id 0 and a format version that can be written.",
        "    create(name, schema with id 4)",
        "Give the schema the id 0.",
    ),
    Code(
        "LB3128",
        "Somebody else changed the columns first",
        "A name in the changes now stands for another column, so they would do something else than was meant.",
        "    rename a to b, while another program renames c to a",
        "Look at the present schema and make the changes again.",
    ),
)

_VERSIONS = (
    Code(
        "LB3201",
        "There is no such schema version",
        "Versions are counted from 0; old ones may have been removed.",
        "    lakebed show shop.orders@99",
        "Choose one of the versions that the message lists.",
    ),
    Code(
        "LB3202",
        "A table without a schema",
        "There is no schema file in the table's directory, so there is no such table.",
        "    load_latest_schema() of an empty directory",
        "Check the name, or create the table.",
    ),
    Code(
        "LB3203",
        "Somebody else made a version first",
        "The newest version is another one than the change was made for; columns might be lost.",
        "    two programs that add a column to version 3",
        "Load the present schema and make the change again.",
    ),
    Code(
        "LB3204",
        "The keys of a table cannot change",
        "Its data files are laid out by them.",
        "    create_new_schema_version(fields, primary_keys=[other])",
        "Give the table's own keys; for others make a new table and copy the rows.",
    ),
    Code(
        "LB3206",
        "A column cannot be understood",
        "A column is a field, a JSON object, a tuple or text; its type a type, text or a JSON object.",
        '    ("id",)',
        'Write for example ("id", "INT NOT NULL") or Field("id", DataType.INT, nullable=False).',
    ),
    Code(
        "LB3207",
        "A field id belongs to no column",
        "Ids say which column is meant; an unknown one would attach old values to a new column.",
        "    DataField(99, 'a', ...) in a table with ids 0 to 3",
        "Leave the id out to add a column.",
    ),
    Code(
        "LB3208",
        "A change is not allowed",
        "Rows that are stored already could not be read, or a key would break.",
        "    a new column that is NOT NULL",
        "The message says what is possible instead.",
    ),
)

_MINI = (
    Code(
        "LB3401",
        "A schema file of the mini layout cannot be read",
        "It is not JSON, or its members are missing or of the wrong kind.",
        "    an empty file",
        "Restore it from a copy.",
    ),
    Code(
        "LB3402",
        "The mini layout has no such type",
        "It knows INT, LONG, STRING, BOOLEAN, DOUBLE, TIMESTAMP, DECIMAL, ARRAY and MAP.",
        "    DATE in a mini warehouse",
        "Use one of these, or a warehouse of the paimon layout.",
    ),
    Code(
        "LB3403",
        "The mini layout has no place for something",
        "Its schema files hold names, types, nullability and keys, nothing else; a table's options and its description "
        "are in its `metadata` file.",
        "    a column's description",
        "Leave it out, or make a Paimon warehouse with `lakebed migrate`.",
    ),
    Code(
        "LB3404",
        "The mini layout cannot tell these columns apart",
        "Its schema files hold no field ids: a column is the one of the same name in the version before. A renamed "
        "column would be read as a new one, without its values, and a new column of an old name as the old one.",
        "    in the mini layout city cannot become town",
        "Choose a new name and drop the old column, or make a Paimon warehouse with `lakebed migrate` first.",
    ),
    Code(
        "LB3405",
        "A table holds rows that Mini Paimon wrote",
        "Mini Paimon's specification describes schemas and the `metadata` file, no data files. Lakebed keeps the rows "
        "of such a table in Paimon's own files; those of Mini Paimon are neither read nor mixed with.",
        "    shop/users/data/data-0-000.sst",
        "Export the rows with Mini Paimon, take the schema over with `lakebed migrate --schema-only`, and ingest them.",
    ),
    Code(
        "LB3411",
        "The metadata record cannot be read",
        "It is not JSON, or its members are missing or of the wrong kind. The schema files are not concerned.",
        '    "createTime" : "yesterday"',
        "Delete the file; it is a convenience only.",
    ),
    Code(
        "LB3412",
        "There is no metadata record",
        "There is neither a record nor a schema file, so there is no such table.",
        '    TableMetadata.load(paths, "shop", "nothing")',
        "Check the name, or create the table.",
    ),
)

_STORES = (
    Code(
        "LB3601",
        "A file does not exist",
        "Something names it, and it is not there.",
        "    a schema file that was deleted by hand",
        "Check the path, or restore the file.",
    ),
    Code(
        "LB3602",
        "A file is in the way",
        "A file is moved only to a place where nothing is.",
        "    moving a data file onto another",
        "Choose another target or delete it first.",
    ),
    Code(
        "LB3603",
        "A file system without hard links",
        "Versions are published by a hard link, which fails if the name is taken; a rename would overwrite another "
        "writer's "
        "version.",
        "    a warehouse on a FAT or some FUSE file systems",
        "Put the warehouse on another file system, or on an object store with conditional writes.",
    ),
    Code(
        "LB3604",
        "The storage failed",
        "Reading or writing was refused: permissions, space, network.",
        "    Permission denied",
        "The message holds what the storage said.",
    ),
    Code(
        "LB3605",
        "A storage without conditional writes",
        "Two writers of the same version could both believe that they have won, and one change would be lost.",
        "    an fsspec file system that ignores mode=create",
        "Use S3, GCS, Azure or a local path, or say that only one process ever writes.",
    ),
    Code(
        "LB3606",
        "A directory where a file should be",
        "Or a file where a directory should be.",
        "    a directory named schema-0",
        "Look at the path and move away what does not belong there.",
    ),
    Code(
        "LB3607",
        "A URL that nothing understands",
        "The scheme is unknown, or the driver of the storage is not installed.",
        "    s3://bucket/warehouse without s3fs",
        "Check the URL, or install the extra `fsspec` and the driver.",
    ),
)

CODES: tuple[Code, ...] = (
    *_NAMES,
    *_PLACES,
    *_TABLES,
    *_VERSIONS,
    *_VALIDATION,
    *_MINI,
    *_STORES,
)

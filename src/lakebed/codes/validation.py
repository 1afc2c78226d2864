"""Codes of the rules for tables: LB33nn. Part of the catalog's codes."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB3301",
        "A table without columns",
        "Neither rows nor files can be made of it.",
        "    fields: []",
        "Declare a column.",
    ),
    Code(
        "LB3302",
        "A column is declared twice",
        "Columns, and the members of one ROW, are told apart by name when rows are written.",
        "    id INT, id STRING",
        "Give each a name of its own.",
    ),
    Code(
        "LB3303",
        "A column has a blank name",
        "A name needs a character that can be seen.",
        '    " " INT',
        "Give the column a name.",
    ),
    Code(
        "LB3304",
        "A field id cannot be used",
        "Field ids are the identity of columns: unique over all levels, not negative, below the ids of system columns,"
        " and "
        "never above `highestFieldId`.",
        "    two fields with the id 3",
        "Leave ids out; Lakebed gives them.",
    ),
    Code(
        "LB3305",
        "The type of a column is not valid",
        "A parameter is beyond its limits.",
        "    DECIMAL(50, 2)",
        "Stay within the limits: DECIMAL up to 38 digits, TIMESTAMP and TIME up to 9, lengths from 1.",
    ),
    Code(
        "LB3306",
        "Keys are given twice",
        "The options `primary-key` and `partition` are another way to give the keys; with both ways nobody can tell "
        "which is "
        "meant.",
        "    primaryKeys: [id] and the option primary-key: id",
        "Give them once.",
    ),
    Code(
        "LB3307",
        "A key names no column",
        "Keys are made of top-level columns.",
        "    primaryKeys: [ids] in a table with the column id",
        "Name a column of the table.",
    ),
    Code(
        "LB3308",
        "A key names a column twice",
        "A column can be part of a key once.",
        "    primaryKeys: [id, id]",
        "Name it once.",
    ),
    Code(
        "LB3309",
        "A primary key that says nothing",
        "Within a partition, rows are told apart by the primary key less the partition keys; something has to be left."
        " And "
        "`primary-key.nullable` needs a primary key.",
        "    primaryKeys: [dt], partitionKeys: [dt]",
        "Add a column to the primary key, or leave it out.",
    ),
    Code(
        "LB3310",
        "A default is not a value of its type",
        "The text of a default is cast to the column's type for each row that has none.",
        "    amount INT with the default abc",
        "Give text that can be cast to the type.",
    ),
    Code(
        "LB3311",
        "An option that a warehouse does not take",
        "Where a table lies is decided by the warehouse, and its tables are made explicitly.",
        "    path: /elsewhere",
        "Leave the option out.",
    ),
    Code(
        "LB3312",
        "A column of this type cannot be a key",
        "Nested types, VARIANT and geospatial types have no order and no partition path.",
        "    primaryKeys: [tags] with tags ARRAY<STRING>",
        "Use a column of an atomic type.",
    ),
    Code(
        "LB3313",
        "The number of buckets does not fit",
        "A positive number is a fixed number of buckets, -1 leaves it open, -2 postpones it and needs a primary key; "
        "an append "
        "table with buckets needs a `bucket-key`.",
        "    bucket: 4 without bucket-key and primary key",
        "Set `bucket` to -1, or give a `bucket-key`.",
    ),
    Code(
        "LB3314",
        "The bucket key does not fit",
        "It names columns, no partition column, and only columns of the primary key where there is one. Names are "
        "separated "
        "by commas without spaces.",
        "    bucket-key: k, v",
        "Name columns of an atomic type, separated by commas alone.",
    ),
    Code(
        "LB3315",
        "A column name is reserved",
        "System columns are stored beside the table's own; one of the same name would be hidden or unreadable.",
        "    _ROW_ID, rowkind, _KEY_id",
        "Choose another name.",
    ),
    Code(
        "LB3316",
        "An option of columns does not fit",
        "In `fields.<column>.<option>` the middle part names top-level columns, separated by commas.",
        "    fields.amuont.aggregate-function: sum",
        "Name a column of the table.",
    ),
    Code(
        "LB3317",
        "The sequence field does not fit",
        "It names columns without an aggregate function, each once; first-row tables, and primary keys that do not "
        "hold all "
        "partition keys, allow none.",
        "    sequence.field: ts,ts",
        "Name each column once, or leave the option out.",
    ),
    Code(
        "LB3318",
        "There is no such merge engine",
        "The merge engine says how rows with one primary key become one row.",
        "    merge-engine: replace",
        "Choose deduplicate, partial-update, aggregation or first-row.",
    ),
    Code(
        "LB3319",
        "There is no such aggregate function",
        "A name that no engine knows makes the table unreadable.",
        "    fields.v.aggregate-function: average",
        "Choose one of the known functions, such as sum, max or last_value.",
    ),
    Code(
        "LB3320",
        "A sequence group does not fit",
        "A group names columns that exist and are in no other group, ordered by columns that are no BLOB; a column "
        "with an "
        "aggregate function needs a group in a partial-update table.",
        "    fields.ts.sequence-group: nothing",
        "Name columns of the table, each in one group.",
    ),
    Code(
        "LB3321",
        "The changelog producer does not fit",
        "It needs a primary key and excludes some other options.",
        "    changelog-producer: lookup in an append table",
        "Leave it out, or choose one that fits.",
    ),
    Code(
        "LB3322",
        "An option names a column that does not fit",
        "`rowkind.field`, `record-level.time-field`, `vector-field` and file indexes work on columns of certain types.",
        "    record-level.time-field: name (a STRING)",
        "Name a column of a type that the option takes.",
    ),
    Code(
        "LB3323",
        "Deletion vectors do not fit",
        "They exclude the merge engine first-row and the changelog producer full-compaction.",
        "    deletion-vectors.enabled: true, merge-engine: first-row",
        "Leave one of the two out.",
    ),
    Code(
        "LB3324",
        "Row tracking does not fit",
        "Row tracking is for append tables without fixed buckets; data evolution needs it.",
        "    data-evolution.enabled: true without row-tracking.enabled",
        "Set both, without a primary key and with `bucket` -1.",
    ),
    Code(
        "LB3325",
        "A limit does not fit",
        "What is kept at least is one or more, and not more than what is kept at most.",
        "    snapshot.num-retained.max: 5 (the least is 10 by default)",
        "Set both limits.",
    ),
    Code(
        "LB3326",
        "Scan options exclude each other",
        "A scan starts in one place.",
        "    scan.snapshot-id: 3 and scan.tag-name: v1",
        "Keep one of them.",
    ),
    Code(
        "LB3327",
        "A branch option does not fit",
        "A branch that is read in place of missing partitions has to exist, and there is only one.",
        "    scan.fallback-branch: nothing",
        "Make the branch first, or leave the option out.",
    ),
    Code(
        "LB3328",
        "Ordering by snapshot does not fit",
        "`sequence.snapshot-ordering` needs a primary key, no `sequence.field` and `write-only`.",
        "    sequence.snapshot-ordering: true in an append table",
        "Leave it out, or see to what it needs.",
    ),
    Code(
        "LB3329",
        "There is no such file format",
        "Data files have to be written in a format that engines know.",
        "    file.format: xlsx",
        "Choose parquet, orc or avro.",
    ),
    Code(
        "LB3330",
        "The file format cannot store a type",
        "Avro has no nanoseconds, ORC no VARIANT, and only Parquet has geospatial types.",
        "    TIMESTAMP(9) with file.format: avro",
        "Choose parquet, or another type.",
    ),
    Code(
        "LB3331",
        "A BLOB column does not fit",
        "BLOBs are kept in files of their own, which needs row tracking and data evolution, at least one other column,"
        " and a "
        "place at the top level outside of all keys.",
        "    a single column of type BLOB",
        "Set the options, or store the bytes as BYTES.",
    ),
    Code(
        "LB3332",
        "The value of an option has the wrong form",
        "Many options are numbers, sizes, durations, true or false, or one of a few words. An engine that meets "
        "another value fails when it opens the table.",
        "    bucket: many",
        "Give a value of the right form.",
    ),
    Code(
        "LB3333",
        "The value of an option cannot be stored",
        "Options are text; numbers and truth values have a spelling, lists and objects have none.",
        "    options: {bucket: [1]}",
        "Write the value as text.",
    ),
)

"""Codes of schema evolution: LB4nnn. Those of verdicts, plans and their application are in `verdicts`."""

from __future__ import annotations

from lakebed.codes import Code
from lakebed.codes.verdicts import CODES as _VERDICTS

_CHANGES = (
    Code(
        "LB4001",
        "A change names a column that is not there",
        "Columns are found by their exact name, step by step from the top level, as the changes before in the same "
        "list have left them.",
        "    renameColumn [dep_dely] to departure_delay",
        "Check the name and the case. A step into a list is `element`, into the value of a map `value`.",
    ),
    Code(
        "LB4002",
        "The name is taken",
        "Two columns beside each other cannot have one name, not even for a moment within a list of changes.",
        "    renameColumn [a] to b, while there is a b",
        "Choose another name. To swap two names, go through a temporary third one; a plan does so by itself.",
    ),
    Code(
        "LB4003",
        "The path leads into something that has no members",
        "Only structs have members. A list is entered by `element`, a map by `value`; the keys of a map, multisets and "
        "vectors cannot be changed. Other implementations take such a change and do nothing.",
        "    addColumn [k, x], where k is an INT; addColumn [tags, x], where tags is an ARRAY<ROW>",
        "Name the struct's path, such as `tags.element.x`.",
    ),
    Code(
        "LB4004",
        "A blank column name",
        "A column needs at least one character that is not blank.",
        "    renameColumn [a] to ' '",
        "Give it a name.",
    ),
    Code(
        "LB4005",
        "A partition column cannot be changed",
        "Its values are the directories that the files lie in. It cannot be renamed, dropped or get another type.",
        "    dropColumn [month] of a table partitioned by month",
        "Make a new table with the wanted definition and copy the rows.",
    ),
    Code(
        "LB4006",
        "A primary key column cannot be changed so",
        "Rows are sorted, merged and put into buckets by it. It can be renamed and moved, but not be dropped, become "
        "nullable or get another type.",
        "    updateColumnType [id] to BIGINT, where id is the primary key",
        "Make a new table with the wanted definition and copy the rows.",
    ),
    Code(
        "LB4007",
        "The column has a primary-key index",
        "Index files name the column and hold values of its type.",
        "    dropColumn [price] with pk-btree.index.columns = price",
        "Take the column out of the option of the index first.",
    ),
    Code(
        "LB4008",
        "A BLOB column cannot be changed so",
        "Its values lie in files of their own, which are found by the column's name.",
        "    renameColumn [photo] to picture",
        "Add a new column.",
    ),
    Code(
        "LB4009",
        "The last column cannot be dropped",
        "A table and a struct need at least one column.",
        "    dropColumn [place, lat], where place has no other member",
        "Add another member first, or drop the whole struct. A plan does so by itself.",
    ),
    Code(
        "LB4010",
        "A new column must be nullable",
        "Rows that are stored have no value for it and read as null.",
        "    addColumn [x] INT NOT NULL",
        "Add it nullable; rows that come can still be checked.",
    ),
    Code(
        "LB4011",
        "A nullable column cannot become NOT NULL",
        "Rows that are stored may hold nulls, and nothing looks at them.",
        "    updateColumnNullability [x] to false",
        "Leave it nullable, or set the table option `alter-column-null-to-not-null.disabled` to false when no row is "
        "null there.",
    ),
    Code(
        "LB4012",
        "The type cannot become the other one",
        "Files keep the old type. A column may only get a type that every reader of the format can turn the stored "
        "values into.",
        "    updateColumnType [flag] from BOOLEAN to DATE; any change from one struct to another as a whole",
        "Add a new column of the wanted type. Change structs member by member.",
    ),
    Code(
        "LB4013",
        "The default is no value of the column's type",
        "The text of a default is cast to the type of the column when a row is written.",
        "    default 'abc' of an INT",
        "Give a text that can be cast, or take the default away before the type changes.",
    ),
    Code(
        "LB4014",
        "A comment that would be an instruction",
        "Comments of new columns that start with __BLOB or __VECTOR change the column's type in Paimon.",
        "    comment '__BLOB_FIELDS'",
        "Use one of the known directives on a new top-level column, or word the comment differently.",
    ),
    Code(
        "LB4015",
        "The move moves nothing",
        "A column cannot be put next to itself or where it is already.",
        "    move a FIRST, where a is first",
        "Leave the move out.",
    ),
    Code(
        "LB4016",
        "The option cannot change once there is data",
        "Files that are stored were written under the old value and would be read wrongly under another.",
        "    setOption merge-engine = aggregation on a table with snapshots",
        "Make a new table with the wanted options and copy the rows.",
    ),
    Code(
        "LB4017",
        "The option can never change",
        "The type of a table and the place where it lies are settled when it is made.",
        "    setOption type = format-table",
        "Make a new table.",
    ),
    Code(
        "LB4018",
        "The bucket mode cannot change once there is data",
        "A fixed number of buckets may become another (the data has to be rescaled then), but not dynamic ones, nor "
        "the other way round.",
        "    setOption bucket = -1 on a table of 4 buckets with snapshots",
        "Keep the mode, or make a new table and copy the rows.",
    ),
    Code(
        "LB4019",
        "The table has keys already",
        "The options `primary-key` and `partition` define keys only where there are none and no data either.",
        "    setOption primary-key = id on a table with another key",
        "Make a new table with the wanted keys and copy the rows.",
    ),
    Code(
        "LB4020",
        "The primary key cannot be dropped once there is data",
        "Files of a primary-key table hold several versions of a row, which only a merge by the key tells apart.",
        "    dropPrimaryKey on a table with snapshots",
        "Make a new table without a key and copy the rows.",
    ),
    Code(
        "LB4021",
        "JSON that is no change",
        "Changes have the form of Paimon's REST interface; a member that is misspelt would do nothing without a word.",
        '    {"action": "addColum", "fieldNames": ["x"], "dataType": "INT"}',
        "Check the action, its members and their types.",
    ),
    Code(
        "LB4022",
        "The schema file is of a later format",
        "What this version does not know would be lost.",
        '    "version" : 4',
        "Use a newer Lakebed.",
    ),
    Code(
        "LB4023",
        "No changes lead from one schema to the other",
        "Other keys on a table that has keys, or a struct without members, cannot be reached.",
        "    from primary key id to primary key (id, day)",
        "Make a new table and copy the rows.",
    ),
    Code(
        "LB4024",
        "An option that nobody knows",
        "An option whose name is not known is stored and does nothing. This one is named much like one that is known; "
        "options of other engines, which resemble none, are not looked at.",
        "    options: {bukcet: '4'}",
        "Write the name that is suggested, or take the option out.",
    ),
    Code(
        "LB4025",
        "Files of an earlier version could not be read",
        "Data files are read as the newest schema directly. Each of two changes may be possible while the first type "
        "cannot become the last.",
        "    BIGINT to STRING in version 1, then STRING to DATE in version 2",
        "Add a new column of the wanted type.",
    ),
)

_DECLARING = (
    Code(
        "LB4026",
        "A table that no manifest can declare",
        "Other engines store what a manifest refuses: columns whose names differ only in case, reserved names, types "
        "that have no logical type. The manifest is printed to be looked at, and cannot be planned.",
        "    lakebed infer db.t, where db.t has the columns id and ID",
        "Rename the columns that are named, with `alter_table` or the engine that made them, and infer again.",
    ),
)

_IDENTITY = (
    Code(
        "LB4101",
        "The pinned field id is none of the table's here",
        "`lakebed.dev/fieldId` says which stored column a declared one is. Ids are looked for beside each other only: "
        "a field cannot move into or out of a struct.",
        "    lakebed.dev/fieldId: 99",
        "Take the pin out to declare a new column, or pin an id that `lakebed show` lists.",
    ),
    Code(
        "LB4102",
        "Two columns claim one stored column",
        "Pins and renames of two declared columns lead to the same field id.",
        "    two columns with lakebed.dev/renamedFrom: a",
        "Leave the attribute on one of them.",
    ),
    Code(
        "LB4103",
        "A rename from a column that is not there",
        "`lakebed.dev/renamedFrom` is the old name of a column beside the declared one, never a path.",
        "    lakebed.dev/renamedFrom: dep_dely, where the table has dep_delay",
        "Name a column that the table has, or take the attribute out.",
    ),
    Code(
        "LB4104",
        "Is this a rename?",
        "A column goes and one of the same type comes at its place or with a similar name. Dropped values do not come "
        "back, renamed ones stay; a rename is never guessed.",
        "    dep_delay: Float64 goes, departure_delay: Float64 comes",
        "For a rename add `lakebed.dev/renamedFrom: dep_delay` to the new column.",
    ),
    Code(
        "LB4105",
        "A pin in a table that is not there yet",
        "The columns of a new table get their ids in order; a pin that says another one cannot be followed.",
        "    lakebed.dev/fieldId: 7 on the first column",
        "Take the pin out.",
    ),
    Code(
        "LB4107",
        "A key column that is declared as an Option",
        "The columns of the primary key are stored as required, whatever the declaration says.",
        "    primaryKeys: [id] with id: {kind: Option, inner: {kind: Int64}}",
        "Declare it without Option.",
    ),
    Code(
        "LB4108",
        "An option that belongs to Lakebed",
        "Options that start with `lakebed.` hold annotations, which a manifest says in its schema.",
        "    options: {lakebed.schema: '{}'}",
        "Take it out.",
    ),
    Code(
        "LB4109",
        "Keys that are given twice",
        "The keys are declared as keys and differently as an option.",
        "    primaryKeys: [id] and options: {primary-key: day}",
        "Leave the option out.",
    ),
)

CODES: tuple[Code, ...] = (*_CHANGES, *_DECLARING, *_IDENTITY, *_VERDICTS)

"""Codes of planned changes and of plans: LB42nn and LB43nn."""

from __future__ import annotations

from lakebed.codes import Code

_VERDICTS = (
    Code(
        "LB4201",
        "An optional column is added",
        "Safe. Rows that are stored read as null there; its id is new, so that values of a dropped column of the same "
        "name do not come back.",
        "    + tail_number: Option<String>",
        "Nothing need be done.",
    ),
    Code(
        "LB4202",
        "A required column is added",
        "Forbidden. Rows that are stored have no value for it.",
        "    + tail_number: String",
        "Declare it as an `Option`.",
    ),
    Code(
        "LB4203",
        "A column is dropped",
        "Breaking. Its values are no longer read, queries that use it fail, and a later column of the same name does "
        "not bring the values back.",
        "    - dep_time: Option<Int32>",
        "`--allow LB4203:dep_time`, or keep the column. Is it a rename? Then declare that.",
    ),
    Code(
        "LB4204",
        "A column is renamed",
        "Caution. Values stay, for they are found by the field's id, but queries that use the old name fail. Options "
        "that name the column follow.",
        "    lakebed.dev/renamedFrom: dep_delay",
        "Tell those who read the table.",
    ),
    Code(
        "LB4205",
        "A type is widened",
        "Safe. The new type holds every value of the old one, in what is stored and in what was declared.",
        "    Int32 to Int64, UInt8 to UInt16, Decimal(10, 2) to Decimal(12, 2)",
        "Nothing need be done.",
    ),
    Code(
        "LB4206",
        "A type changes and values may be lost",
        "Breaking. Stored values are turned into the new type when they are read: what does not fit is cut, wrapped, "
        "nulled, or fails the read. A change to another sign or a fixed length is not checked at all.",
        "    Int64 to Int32, String to Int32, Int32 to UInt32",
        "`--allow LB4206:column` when all values fit, or add a new column.",
    ),
    Code(
        "LB4208",
        "A fixed length grows",
        "Caution. Nothing is lost, but stored values are filled up to the new length when they are read: CHAR with "
        "blanks, BINARY with zero bytes.",
        "    Binary(4) to Binary(8)",
        "Use a variable length to keep the values as they are.",
    ),
    Code(
        "LB4209",
        "A column becomes optional",
        "Caution. No row is touched, but those who read the column must expect nulls.",
        "    Int32 to Option<Int32>",
        "Tell those who read the table.",
    ),
    Code(
        "LB4210",
        "A column becomes required",
        "Forbidden, for rows that are stored may hold nulls. Breaking where the table's option "
        "`alter-column-null-to-not-null.disabled` is false.",
        "    Option<Int32> to Int32",
        "Keep the Option.",
    ),
    Code(
        "LB4211",
        "A column is moved",
        "Safe. Columns are found by id, not by place.",
        "    move column b after d",
        "Nothing need be done.",
    ),
    Code(
        "LB4212",
        "A description changes",
        "Safe. It is text for people.",
        "    opendatafabric.org/description: Minutes after the scheduled departure",
        "Nothing need be done.",
    ),
    Code(
        "LB4213",
        "A default changes",
        "Safe. It counts for rows that are written from now on; rows that are stored keep what they have.",
        "    lakebed.dev/default: 0",
        "Nothing need be done.",
    ),
    Code(
        "LB4214",
        "An annotation changes",
        "Safe. Stored rows are not touched; checks that an annotation asks for count for rows that come.",
        "    example.org/owner: traffic-team",
        "Nothing need be done.",
    ),
    Code(
        "LB4215",
        "An option changes",
        "Caution. Every engine that reads or writes the table follows its options. The options of a manifest are all "
        "the options that a user gives: one that is left out is removed.",
        "    options: {snapshot.num-retained.max: '20'}",
        "List every option that the table is to keep; `lakebed infer` prints them.",
    ),
    Code(
        "LB4216",
        "An option of the keys changes",
        "Forbidden. Keys are settled when a table is made.",
        "    options: {primary-key.nullable: 'true'}",
        "Make a new table with the wanted definition and copy the rows.",
    ),
    Code(
        "LB4217",
        "The primary key changes",
        "Forbidden. Files are sorted, merged and put into buckets by it.",
        "    primaryKeys: [id] to primaryKeys: [id, day]",
        "Make a new table with the wanted key and copy the rows.",
    ),
    Code(
        "LB4218",
        "The partition keys change",
        "Forbidden. Files lie in directories by them.",
        "    partitionKeys: [month] to partitionKeys: [day]",
        "Make a new table with the wanted partitions and copy the rows.",
    ),
    Code(
        "LB4220",
        "Open Data Fabric's migration rule refuses the change",
        "A dataset's schema may get other attributes, another order, and new optional fields, but nothing else. It "
        "gates only where the manifest says `compatibility: ODF`.",
        "    a renamed, dropped, widened or relaxed column; a field added inside a Map",
        "`--allow LB4220:column`, or leave `compatibility` out.",
    ),
    Code(
        "LB4221",
        "Stored numbers would be taken in another unit",
        "Forbidden. Both types are stored as the same plain number, which nothing converts.",
        "    Duration(Millisecond) to Duration(Second)",
        "Add a new column of the wanted type.",
    ),
    Code(
        "LB4222",
        "A table is made",
        "Safe. There is no table of this name yet.",
        "    create table nyc.flights (19 columns)",
        "Nothing need be done.",
    ),
    Code(
        "LB4223",
        "An approval of nothing",
        "An approval names, behind a code, something that is no change of the plan. It is most likely misspelt, or "
        "what it approves was done before.",
        "    --allow LB4203:dep_tiem, where dep_time is dropped",
        "Approve what the plan prints, or take the approval out.",
    ),
    Code(
        "LB4231",
        "It would undo what was made outside of `apply`",
        "Needs leave. Another engine, `alter_table` or a merge on ingest made a version after the one that `apply` "
        "made last, and the manifest does not say what that version did. Nobody may have asked for it to be undone.",
        "    pypaimon set option snapshot.num-retained.max; the manifest does not declare it",
        "Declare it, list an option that others own under `ignoreOptions`, or undo it with what the plan prints, "
        "such as `--allow LB4231:column`, or `--allow LB4231:.comment` for the comment of the table itself.",
    ),
)

_PLANS = (
    Code(
        "LB4301",
        "A plan of another format",
        "A plan runs exactly as it was reviewed or not at all; a format that is not known cannot be run exactly.",
        '    {"format_version": 99, ...}',
        "Make the plan again with this version.",
    ),
    Code(
        "LB4302",
        "A plan that was changed or is damaged",
        "What was reviewed is what runs. The digest of the file does not fit its content, or its changes do not lead "
        "to the version that it shows.",
        "    a verdict edited by hand",
        "Make the plan again.",
    ),
    Code(
        "LB4232",
        "A file that is no saved plan",
        "`lakebed show` takes a table or a plan that `lakebed plan --out` saved. There is no table of that name, and "
        "the file of that name holds something else: a manifest, other JSON, or a plan that was cut off.",
        "    lakebed show orders.yaml",
        "Give the saved plan; of a manifest `lakebed plan orders.yaml` shows what it asks for.",
    ),
    Code(
        "LB4303",
        "The plan is stale",
        "The table is not what it was when the plan was made: its fingerprint is another one, it is gone, or it has "
        "been made in the meantime. Nothing was written.",
        "    another engine added a column after `lakebed plan --out`",
        "Make the plan again, and look at it again.",
    ),
    Code(
        "LB4306",
        "Somebody else was quicker",
        "Two writers made the same version at the same time; the other one's was kept and this one was not written.",
        "    two runs of `lakebed apply`",
        "Make the plan again.",
    ),
    Code(
        "LB4307",
        "Leave for a code that does not exist",
        "Leave that allows nothing is most likely misspelt.",
        "    --allow LB4230:dep_time",
        "`CODE` or `CODE:column`, as the refusal prints it.",
    ),
    Code(
        "LB4308",
        "A plan of several tables stopped on the way",
        "Tables are changed in order, one version each, and the first failure stops. What was done before stays.",
        "    done before that: nyc.planes (schema 2); not done: nyc.flights",
        "Mend what failed, and make the plan again.",
    ),
)

CODES: tuple[Code, ...] = (*_VERDICTS, *_PLANS)

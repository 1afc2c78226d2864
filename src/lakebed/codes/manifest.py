"""Codes of manifests: LB1nnn."""

from __future__ import annotations

from lakebed.codes import Code

_TEXT = (
    Code(
        "LB1001",
        "The manifest cannot be read",
        "The file does not exist, is a directory, or may not be read. Nothing can be planned from it.",
        "    lakebed plan oders.yaml",
        "Check the path; the files beside it that are named alike are suggested.",
    ),
    Code(
        "LB1002",
        "The manifest is not UTF-8",
        "Names and descriptions would be read wrongly in any other encoding, so none is guessed.",
        "    name: caf\\xe9        # Latin-1",
        "Save the file as UTF-8. A byte order mark is allowed.",
    ),
    Code(
        "LB1003",
        "The text is not YAML",
        "Manifests are YAML 1.2, of which JSON is a part. Where the syntax breaks, the rest of the file cannot be "
        "understood; the problems before that place are still reported.",
        "    name: nyc.flights\n      primaryKeys: []     # indented further than the line above",
        "Mend the syntax at the position. Indent with spaces; put text that holds `: ` or ` #`, or starts with a sign "
        "such as `@` or `*`, in quotes.",
    ),
    Code(
        "LB1004",
        "The manifest is too large",
        "A manifest may have 4 MiB and 500,000 values, where the values under an alias count at each use. The bounds "
        "keep "
        "a hostile file from using up the machine.",
        "    a: &a [x, x]\n    b: &b [*a, *a]\n    c: &c [*b, *b]     # and so on: two to the power of n",
        "Split it into several files, or use fewer aliases.",
    ),
    Code(
        "LB1005",
        "Values or types are nested too deeply",
        "A manifest may be nested 350 deep and a type 100 deep. Nothing that reads the table could follow further.",
        "    type: {kind: List, itemType: {kind: List, itemType: ...}}",
        "Flatten the type.",
    ),
    Code(
        "LB1006",
        "A key stands twice in one mapping",
        "Most YAML readers keep one of the two without a word, and not all the same one.",
        "    options:\n      bucket: 4\n      bucket: 8",
        "Keep one; the message names both places.",
    ),
    Code(
        "LB1007",
        "A key is not text",
        "Keys are names. A list, a mapping or nothing at all cannot be one.",
        "    ? [a, b]\n    : 1",
        'Write a name, in quotes if need be; `""` is the empty one.',
    ),
    Code(
        "LB1008",
        "A tag means nothing here",
        "A manifest is plain data: nothing is built from a tag.",
        "    owner: !!python/object:os.system {}",
        "Leave the tag out. The tags of text, numbers, lists and mappings are allowed.",
    ),
    Code(
        "LB1009",
        "An alias names nothing, or what it is part of",
        "An alias repeats what an anchor before it in the same document named.",
        "    extra: *defaults        # there is no &defaults",
        "Name the anchor first, or write the value out.",
    ),
    Code(
        "LB1010",
        "JSON cannot hold the value",
        "Attributes are JSON values. JSON has no NaN, no infinity and no halves of characters, and readers refuse "
        "numbers "
        "of thousands of digits.",
        "    example.org/limit: .inf",
        "Put it in quotes to keep it as text.",
    ),
)

_ENVELOPES = (
    Code(
        "LB1020",
        "The manifest is empty",
        "There is no document in the file, or only comments. That is more often a mistake than meant.",
        "    # TODO",
        "Write `kind: Table`, `version: 1` and `content: ...`.",
    ),
    Code(
        "LB1021",
        "The document is no manifest",
        "A manifest is a mapping that says its `kind`, or a list of Open Data Fabric events.",
        "    fields:\n    - {name: id, type: Int64}",
        "Put the schema into an envelope: `kind: Table`, `version: 1`, `content: {name: ..., schema: ...}`.",
    ),
    Code(
        "LB1022",
        "The kind of manifest is unknown",
        "Tables are declared by `kind: Table`, by `kind: DatasetSnapshot`, by the resource form with `$schema`, by "
        "`kind: MetadataEvent`, or by a list of events.",
        "    kind: Tabel",
        "Correct the kind.",
    ),
    Code(
        "LB1023",
        "The version of the envelope is unknown",
        "A later version may mean something else by the same words, so it is not guessed at.",
        "    kind: Table\n    version: 2",
        "Write `version: 1`, or use a newer Lakebed.",
    ),
    Code(
        "LB1024",
        "Events do not say which table they declare",
        "A list of events and a `MetadataEvent` have no place for a name.",
        "    - kind: SetDataSchema\n      schema: ...",
        'Give the name beside the file (`load_manifest(path, name="db.table")`), or put the events under `metadata` '
        "of a "
        "`kind: DatasetSnapshot`, which has a name.",
    ),
    Code(
        "LB1025",
        "The name of the table cannot be used",
        "A name is `db.table`; both parts become directories. A part that holds a dot, a backtick or an `@` is put in "
        "backticks. `database` beside a `name` that says one too leaves open which is meant.",
        "    name: nyc/flights",
        "Choose a plain name, or quote the part: `` `my.db`.flights ``.",
    ),
    Code(
        "LB1026",
        "A table is declared twice",
        "Two declarations of one table would be applied one after the other, the second undoing the first. `flights` "
        "and "
        "`default.flights` are the same table.",
        "    kind: Table\n    content: {name: nyc.flights, ...}\n    ---\n    kind: Table\n"
        "    content: {name: nyc.flights, ...}",
        "Keep one of the two.",
    ),
    Code(
        "LB1027",
        "No event declares the columns",
        "Of the events of Open Data Fabric, `SetDataSchema` has the schema. Without it there is no table to plan.",
        "    metadata:\n    - {kind: SetVocab, eventTimeColumn: measured_at}",
        "Add the event, with every column.",
    ),
    Code(
        "LB1028",
        "A later schema event replaces this one (warning)",
        "In a chain of events the newest schema counts. Two in one manifest are allowed, but seldom meant.",
        "    - {kind: SetDataSchema, schema: ...}\n    - {kind: SetDataSchema, schema: ...}",
        "Keep the last one.",
    ),
    Code(
        "LB1029",
        "The schema is in Arrow's binary form",
        "Events from before RFC-016 hold their schema as Arrow bytes, which say nothing of descriptions and often the "
        "wrong "
        "thing about nulls. A table cannot be declared from them.",
        "    kind: SetDataSchema\n    rawArrowSchema: DAAAAAgACAAA...",
        "Write the schema out under `schema`, with ODF types.",
    ),
    Code(
        "LB1030",
        "The event cannot stand in a manifest",
        "The event does not exist, or it is one that a running dataset writes (`Seed`, `AddData`, `ExecuteTransform` "
        "and the "
        "two that disable sources).",
        "    - kind: SetDataShema",
        "Correct the kind, or leave the event out.",
    ),
)

_SHAPE = (
    Code(
        "LB1040",
        "A value has the wrong shape",
        "A list stands where a mapping is wanted, text where a number is, and so on. Nothing is converted: a quoted "
        "number "
        "is text, and YAML 1.2 knows `true` and `false` only, not `yes` and `no`.",
        "    primaryKeys: id",
        "Write the shape that the message names, for example `primaryKeys: [id]`.",
    ),
    Code(
        "LB1041",
        "There is no such property",
        "A property that is not known would otherwise do nothing without a word.",
        "    - name: id\n      type: Int64\n      nullable: true",
        "Correct the name. What you want to say beyond the known properties goes into `extra`, under a domain of your "
        "own; "
        "nullability is the type `Option`.",
    ),
    Code(
        "LB1042",
        "A property is missing",
        "The property is required. Written without a value it counts as missing.",
        "    type: {kind: List}",
        "Add it, for example `type: {kind: List, itemType: String}`. `Decimal` needs both `precision` and `scale`.",
    ),
)

_TYPES = (
    Code(
        "LB1050",
        "There is no such type",
        "The types are the 24 kinds of Open Data Fabric. Each has three spellings: `UInt8`, `uInt8` and `uint8`. Type "
        "text "
        "of other systems is not read here.",
        "    type: Varchar(20)",
        "Use the kind that is suggested; parameters are properties: `{kind: Decimal, precision: 10, scale: 2}`.",
    ),
    Code(
        "LB1051",
        "An Option of an Option",
        "A value is null or it is not; there is no second way to be null.",
        "    type: {kind: Option, inner: {kind: Option, inner: String}}",
        "Write one Option.",
    ),
    Code(
        "LB1053",
        "There is no such unit of time",
        "The units are `Second`, `Millisecond`, `Microsecond` and `Nanosecond`.",
        "    type: {kind: Timestamp, unit: ms}",
        "Write one of the four. An absent unit means `Millisecond`.",
    ),
    Code(
        "LB1054",
        "There is no such time zone",
        "A misspelt zone would be taken for UTC by some readers and refused by others.",
        "    type: {kind: Timestamp, timezone: Europe/Pariss}",
        "Use a name of the tz database (`Europe/Paris`) or an offset (`+07:30`). An absent zone means `UTC`.",
    ),
    Code(
        "LB1055",
        "A number is out of range",
        "The parameter of the type cannot have this value.",
        "    type: {kind: Decimal, precision: 0, scale: 0}",
        "Choose a number within the range that the message names.",
    ),
    Code(
        "LB1056",
        "The property has no such value",
        "The property takes one of a few names, and this is none of them.",
        "    compatibility: OFD",
        "Choose one of the names that are expected.",
    ),
)

_NAMES = (
    Code(
        "LB1060",
        "Two columns have the same name",
        "Names have to be unique among siblings: at the top level, and within each struct.",
        "    - {name: id, type: Int64}\n    - {name: id, type: String}",
        "Rename or remove one.",
    ),
    Code(
        "LB1061",
        "Two columns differ only in the case of their names",
        "The table format keeps them apart; Spark, Hive and others by default do not, and then read the wrong one or "
        "none.",
        "    - {name: id, type: Int64}\n    - {name: ID, type: String}",
        "Give one of them another name.",
    ),
    Code(
        "LB1062",
        "A column has no name",
        "An empty or blank name cannot be selected, and the table format refuses it.",
        '    - {name: "", type: Int64}',
        "Name the column.",
    ),
    Code(
        "LB1063",
        "The name of a column is reserved",
        "`_SEQUENCE_NUMBER`, `_VALUE_KIND`, `_LEVEL`, `_ROW_ID`, `rowkind` and names that start with `_KEY_` are "
        "columns that "
        "the table format itself adds. A column of yours would be hidden by them. Within structs the names are free.",
        "    - {name: rowkind, type: String}",
        "Choose another name.",
    ),
)

_ATTRIBUTES = (
    Code(
        "LB1070",
        "The key in `extra` is no attribute name",
        "Attribute names are `domain/name`, with exactly one slash, so that extensions cannot collide. A domain has "
        "letters, "
        "digits, dots and dashes; a name letters, digits, underscores and dashes.",
        "    extra:\n      owner: traffic-team",
        "Put it under a domain, for example `example.org/owner`.",
    ),
    Code(
        "LB1071",
        "Lakebed has no such attribute",
        "Names under `lakebed.dev/` are instructions. One that is misspelt would be ignored: a rename would become a "
        "drop.",
        "    extra:\n      lakebed.dev/renamedfrom: dep_delay",
        "Correct the name. Attributes of your own belong under a domain of your own.",
    ),
    Code(
        "LB1072",
        "The attribute stands in the wrong place",
        "Some attributes are for fields, some for the schema, and keys and options are attributes only where the "
        "envelope "
        "has no properties for them (the manifests of Open Data Fabric).",
        "    kind: Table\n    content:\n      schema:\n        extra:\n          lakebed.dev/primaryKeys: [id]",
        "Move it; in a `kind: Table` write `primaryKeys`, `partitionKeys` and `options` under `content`.",
    ),
    Code(
        "LB1073",
        "The value of the attribute cannot be used",
        "Attributes that are acted upon have to have the right shape: `fieldId` is an integer, `renamedFrom` a name, "
        "`enum` a "
        "list of values of the column's type, `default` a value of the column's type, `pattern` a text on a String "
        "column, "
        "`onBadRow` one of quarantine and fail, a description text.",
        "    extra:\n      lakebed.dev/fieldId: seven",
        "Write the value that the message expects.",
    ),
    Code(
        "LB1074",
        "A column is renamed from itself",
        "`lakebed.dev/renamedFrom` has the former name. The same name as now says nothing.",
        "    - name: delay\n      extra: {lakebed.dev/renamedFrom: delay}",
        "Name the former name, or leave it out.",
    ),
    Code(
        "LB1075",
        "A former name is a path",
        "`lakebed.dev/renamedFrom` names what a column was called among its siblings. Columns cannot move from one "
        "struct to another, so a path has no meaning. Whether a name with a dot is one is told when a plan knows the "
        "columns of the table: a sibling of that very name comes first.",
        "    - name: town\n      extra: {lakebed.dev/renamedFrom: address.city}",
        "Write the name alone. To move a column, add a new one and copy the values.",
    ),
    Code(
        "LB1076",
        "Two columns are renamed from the same one",
        "The values of a column can go on under one name only.",
        "    - {name: a, type: Int64, extra: {lakebed.dev/renamedFrom: x}}\n"
        "    - {name: b, type: Int64, extra: {lakebed.dev/renamedFrom: x}}",
        "Leave it out of the column that is new.",
    ),
    Code(
        "LB1077",
        "A field id is given twice",
        "Ids identify columns over all levels of a schema; two columns with one id are one column.",
        "    - {name: a, type: Int64, extra: {lakebed.dev/fieldId: 3}}\n"
        "    - {name: b, type: Int64, extra: {lakebed.dev/fieldId: 3}}",
        "Correct one, or leave ids out: they are given by themselves.",
    ),
    Code(
        "LB1078",
        "A description starts with an instruction",
        "Paimon takes descriptions that start with `__BLOB` or `__VECTOR` as instructions to store the column in "
        "another way.",
        "    opendatafabric.org/description: __BLOB of the scan",
        "Start the description with another word.",
    ),
    Code(
        "LB1079",
        "An attribute looks misspelt (warning)",
        "Attributes that nobody knows are kept as they are. This one is in the domain of a known one and nearly named "
        "like it.",
        "    opendatafabric.org/descripton: Minutes of delay",
        "Correct the name, if it was meant to be the suggested one.",
    ),
)

_TABLE = (
    Code(
        "LB1080",
        "A key names a column that is not declared",
        "Primary keys and partition keys are columns of the table.",
        "    partitionKeys: [mnth]",
        "Correct the name, or declare the column.",
    ),
    Code(
        "LB1081",
        "A key names a column twice",
        "Each column is once part of a key.",
        "    primaryKeys: [id, id]",
        "Name it once.",
    ),
    Code(
        "LB1083",
        "The table is described twice, differently",
        "`description` under `content` and `opendatafabric.org/description` on the schema are the same thing: the "
        "comment "
        "of the table.",
        "    description: Flights\n    schema:\n      extra: {opendatafabric.org/description: Departures}",
        "Keep one.",
    ),
    Code(
        "LB1084",
        "An option is declared and ignored",
        "`ignoreOptions` gives options up to other engines: a plan neither sets nor removes them. An option under "
        "`options` is set by the plan. It cannot be both. A pattern with `*` leaves declared options alone.",
        "    options: {bucket: 4}\n    ignoreOptions: [bucket]",
        "Leave it out of one of the two.",
    ),
    Code(
        "LB1090",
        "A system column has the wrong type",
        "Where `systemColumns` asks for the system columns of Open Data Fabric, one that is declared all the same has "
        "to be "
        "what others expect: `offset` UInt64 or Int64, `op` UInt8 or Int32, `system_time` a Timestamp in milliseconds "
        "and "
        "UTC, `event_time` a Timestamp or a Date.",
        "    systemColumns: spec\n    schema: {fields: [{name: offset, type: String}]}",
        "Leave the column out, so that it is put in, or correct its type.",
    ),
)

CODES: tuple[Code, ...] = (*_TEXT, *_ENVELOPES, *_SHAPE, *_TYPES, *_NAMES, *_ATTRIBUTES, *_TABLE)

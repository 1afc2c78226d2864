"""Codes of data types and conversions (LB2...), and of schema files and their annotations (LB35..)."""

from __future__ import annotations

from lakebed.codes import Code

_TYPES: tuple[Code, ...] = (
    Code(
        "LB2001",
        "The text of a data type cannot be parsed",
        "The text does not follow the grammar of Paimon's data types, so nobody can say what it means.",
        "`INT NOT` (`NULL` is missing), `INT(3)` (INT takes no parameter), `VARCHAR(x)`.",
        "Mend the text at the position that the message names.",
    ),
    Code(
        "LB2002",
        "Unknown data type",
        "The name is not one of Paimon's data types. In the schema file of a table the column is kept as it "
        "is and the other columns stay readable; in what you write yourself it is an error.",
        "`INTT`, `UUID`.",
        "Correct the name. `lakebed` suggests the nearest ones.",
    ),
    Code(
        "LB2003",
        "A parameter of a data type is out of range",
        "Lengths, precisions and scales have limits, and other engines fail on a table that breaks them.",
        "`DECIMAL(39, 0)`, `DECIMAL(5, 6)`, `VARCHAR(0)`, `TIMESTAMP(10)`.",
        "Use a value within the limits that the message names.",
    ),
    Code(
        "LB2004",
        "A nested type written as text",
        "ARRAY, MAP, MULTISET and ROW are JSON objects in a schema file; no engine reads a text such as `ARRAY<INT>`.",
        '`ARRAY<INT>` instead of `{"type": "ARRAY", "element": "INT"}`.',
        "Write the type as a JSON object.",
    ),
    Code(
        "LB2005",
        "The JSON form of a data type is malformed",
        "An object that stands for a type lacks a part, or a part has the wrong JSON type.",
        '`{"type": "ARRAY"}` has no `element`; `{"type": "array", "element": "INT"}` is in lower case.',
        "Add or correct the part that the message names.",
    ),
    Code(
        "LB2006",
        "A field is malformed",
        "A field of a table or ROW needs a name that its siblings do not have and an id that is its identity for life.",
        '`{"name": "a", "type": "INT"}` has no `id`.',
        "Add the id, or give the field another name.",
    ),
    Code(
        "LB2007",
        "A type is nested too deeply",
        "A limit keeps hostile or broken files from exhausting the stack.",
        "An ARRAY of ARRAY of ARRAY, more than a hundred levels deep.",
        "Flatten the type.",
    ),
)

_CONVERSIONS: tuple[Code, ...] = (
    Code(
        "LB2101",
        "A type that cannot be stored",
        "Paimon has no column type whose values are only null.",
        "`type: Null`.",
        "Leave the field out, or declare the type that its values will have.",
    ),
    Code(
        "LB2102",
        "A Decimal that cannot be stored",
        "Paimon's DECIMAL has up to 38 digits, and a scale from 0 to the number of digits.",
        "`{kind: Decimal, precision: 50, scale: 2}`, `{kind: Decimal, precision: 3, scale: -2}`.",
        "Use a smaller Decimal, or a String.",
    ),
    Code(
        "LB2103",
        "A fixed length is out of range",
        "Lengths in Paimon are 32 bit numbers, and bytes of length 0 have no type.",
        "`{kind: Binary, fixedLength: 0}`.",
        "Use a length within the range, or leave `fixedLength` out.",
    ),
    Code(
        "LB2104",
        "An Option of an Option",
        "A value is there or it is not; two levels of absence cannot be told apart.",
        "`{kind: Option, inner: {kind: Option, inner: {kind: String}}}`.",
        "Leave one `Option` out.",
    ),
    Code(
        "LB2105",
        "The hint `paimon.apache.org/type` does not fit",
        "The hint names the exact Paimon type of a field. It must be able to store the logical type, and must "
        "agree with it about what is nullable.",
        "`type: Int32` with `paimon.apache.org/type: VARCHAR(20)`.",
        "Change the hint or the type, or leave the hint out to get the usual type.",
    ),
    Code(
        "LB2106",
        "A reserved beginning of a description",
        "Java Paimon takes a column comment that begins with `__BLOB` or `__VECTOR` as an order to change the type.",
        "`opendatafabric.org/description: __BLOB_FIELD; photo`.",
        "Reword the beginning of the description.",
    ),
    Code(
        "LB2107",
        "A conversion would lose something",
        "The other type system cannot say everything that the schema says, and losing it silently is not allowed.",
        "Printing `UInt64` values, descriptions or attributes as a DDL column list.",
        "Allow losses, or change the schema so that it can be said there.",
    ),
    Code(
        "LB2108",
        "A blank or repeated field name",
        "Members of one struct are told apart by their names.",
        "Two columns `a` in one table.",
        "Rename one of them.",
    ),
    Code(
        "LB2109",
        "A column type that Spark cannot scan",
        "Spark's file readers have no type for the column. Reading it as something else would give wrong values.",
        "BLOB, GEOMETRY, VECTOR, or a type of a newer Paimon.",
        "Read the other columns.",
    ),
    Code(
        "LB2110",
        "A Spark type without a logical type",
        "The schema language has no such type.",
        "`CalendarIntervalType`, a user defined type, a string with a collation.",
        "Cast the column before its schema is taken.",
    ),
    Code(
        "LB2111",
        "Column metadata that does not fit the column",
        "The metadata under `lakebed`, or Spark's own under `__CHAR_VARCHAR_TYPE_STRING`, says a type that is not "
        "stored as the type that the column has now.",
        "A column was cast to another type and its old metadata was put on the result.",
        "Drop the metadata, or cast the column back.",
    ),
    Code(
        "LB2112",
        "The JSON of a logical type is malformed",
        "A stored annotation is not the long form of a type.",
        '`{"kind": "Uint8"}` (it is `UInt8`).',
        "Apply the manifest again, which writes the annotations anew.",
    ),
    Code(
        "LB2114",
        "A declared field is not stored",
        "Annotations belong to columns by id; a declared field without a column of its name and kind cannot have one.",
        "The manifest declares `a: Int32`, the columns have no `a`.",
        "Bring the columns up to the declared schema first.",
    ),
    Code(
        "LB2201",
        "A DDL column list cannot be parsed",
        "The text is not a list of `name TYPE [NOT NULL]` separated by commas; a STRUCT holds such a list in `<` and "
        "`>`.",
        "`a STRING b INT` (a comma is missing).",
        "Mend the text at the position that the message names.",
    ),
    Code(
        "LB2202",
        "Unsupported SQL type",
        "Only some SQL types are defined in a DDL column list; the others differ between databases.",
        "`a TIME`, `b INTERVAL`, `c INT[]`.",
        "Use one of the types that the message names, or declare the schema in a manifest.",
    ),
    Code(
        "LB2203",
        "A type that a DDL column list cannot say",
        "DDL column lists know few types; there is none near enough to this one.",
        "`Time`, `Duration`, `Float16`.",
        "Print the schema as YAML or JSON.",
    ),
)

_FILES: tuple[Code, ...] = (
    Code(
        "LB3501",
        "A schema file cannot be read",
        "The file is empty, is not UTF-8, or does not hold one JSON object. A crash of a writer leaves an empty file.",
        "`schema-4` has 0 bytes.",
        "Restore the file from a copy. If no snapshot and no data file names this version, it may be removed.",
    ),
    Code(
        "LB3502",
        "A schema file lacks a part",
        "A key that every schema file has is missing, or its value has the wrong JSON type.",
        "No `highestFieldId`.",
        "Restore the file from a copy.",
    ),
    Code(
        "LB3503",
        "A column in a schema file cannot be understood",
        "The column's type, id or name is malformed. The table is not read partly on a guess.",
        '`"type": "INT(3)"`; two columns of the same name; a column without an id.',
        "Restore the file from a copy, or mend the table with the engine that wrote it.",
    ),
    Code(
        "LB3504",
        "A schema file says another id than its name",
        "Data files name their schema by its id; a schema file that was renamed or copied would decode them wrongly.",
        '`schema-5` holds `"id": 4`.',
        "Restore the right file.",
    ),
    Code(
        "LB3506",
        "Two fields have the same id",
        "Old files are read by field id, so the values of two columns with one id cannot be told apart.",
        'Two columns with `"id": 3`.',
        "Copy the rows into a new table.",
    ),
    Code(
        "LB3507",
        "A schema file of a newer version",
        "A newer engine changed the table. It is read as far as it is understood, and never written.",
        '`"version": 4`.',
        "Use a newer Lakebed to change the table.",
    ),
    Code(
        "LB3508",
        "A column of an unknown type",
        "A newer engine made a column of a type that this version does not know. The other columns stay readable.",
        '`"type": "TENSOR(3)"`.',
        "Read the other columns, or use a newer Lakebed.",
    ),
    Code(
        "LB3511",
        "Annotations cannot be read",
        "The option `lakebed.schema`, or an entry in it, is not what Lakebed writes. The columns are read without it.",
        "Somebody edited the option by hand.",
        "Apply the manifest again, which writes the annotations anew.",
    ),
    Code(
        "LB3512",
        "The column of an annotation is gone",
        "Another engine dropped the column, so its annotation has no owner.",
        "`ALTER TABLE ... DROP COLUMN` in Flink.",
        "Take the column out of the manifest and apply it.",
    ),
    Code(
        "LB3513",
        "An annotated column was retyped",
        "Another engine changed the column's type, so that the declared logical type is no longer what is stored. The "
        "columns are right.",
        "A column declared as `UInt8` (stored as SMALLINT) is BIGINT now.",
        "Declare the new type in the manifest, or change the column back.",
    ),
    Code(
        "LB3514",
        "The id of an annotated column belongs to another column",
        "Another engine replaced the table, which starts ids afresh. The annotation is attached to no other column.",
        "`CREATE OR REPLACE TABLE` in Flink kept the options of the old table.",
        "Declare the columns in the manifest and apply it.",
    ),
    Code(
        "LB3515",
        "Annotations of a newer format",
        "A newer Lakebed wrote the annotations. They are read as far as they are understood and never written over.",
        '`"format": 2`.',
        "Use a newer Lakebed to change the table.",
    ),
    Code(
        "LB3516",
        "A default value was changed elsewhere",
        "Another engine changed the default value of an annotated column. The column is right.",
        "The manifest says 7, the column says 8.",
        "Declare the new default in the manifest, or change the column back.",
    ),
    Code(
        "LB3520",
        "The field ids are used up",
        "Ids from 1073741823 on belong to system columns, and ids are never used twice.",
        "A table whose `highestFieldId` is 1073741822.",
        "Copy the rows into a new table.",
    ),
)

CODES: tuple[Code, ...] = (*_TYPES, *_CONVERSIONS, *_FILES)

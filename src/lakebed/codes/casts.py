"""Codes of casts on read: LB69nn."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB6901",
        "A stored value cannot be read as the wanted type",
        "The column's type was changed after rows had been written, and one of the old values has no counterpart in "
        "the new type. A value is never replaced by a guess.",
        "    STRING -> INT over the value 'abc'",
        'Leave the column out of the query, read with `on_cast_error="null"` (`lake.cast_errors` counts such '
        "values), or read under the schema from before the "
        "change.",
    ),
    Code(
        "LB6902",
        "There is no conversion between two types",
        "The schema of a data file and the wanted schema give a column types that the table format does not convert.",
        "    DOUBLE -> BOOLEAN",
        "Read the table under a schema version from before the change.",
    ),
    Code(
        "LB6903",
        "There is no such way to treat values that cannot be read",
        "A value that cannot be converted either fails the query or is NULL; a misspelt choice must not mean either.",
        '    on_error="ignore"',
        'Say "error" or "null".',
    ),
)

"""Codes of Arrow and Parquet schemas: LB24.."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB2401",
        "An Arrow type has no logical type",
        "Open Data Fabric has no intervals and no unions, and an extension type whose parameters nobody tells cannot "
        "be kept either.",
        "`month_day_nano_interval`, `sparse_union<...>`.",
        "Cast the column to another type, or leave it out.",
    ),
    Code(
        "LB2402",
        "An encoding hint is malformed",
        "Attributes such as `arrow.apache.org/bufferEncoding` say how Arrow lays values out, and this one says nothing "
        "that Arrow has.",
        "`arrow.apache.org/bufferEncoding: View` instead of `{kind: View}`.",
        "Mend the attribute, or drop it: the values mean the same without it.",
    ),
    Code(
        "LB2403",
        "Fields of an Arrow schema cannot be told apart",
        "Arrow lets two columns have one name, and a column have none. A schema goes by names.",
        "The result of a join that has `id` twice.",
        "Rename the columns.",
    ),
    Code(
        "LB2404",
        "A timestamp without zone was to be refused",
        'The conversion was asked to refuse wall clocks (`naive="error"`). A logical Timestamp is an instant, and '
        "which instant a wall clock shows depends on where it hangs.",
        "`timestamp[us]`.",
        'Cast the column to a zone. `naive="keep"` marks it as a wall clock, `naive="utc"` takes it as UTC.',
    ),
    Code(
        "LB2405",
        "A parameter is beyond what Arrow has",
        "Arrow's decimals have up to 76 digits, and its fixed lengths up to 2147483647.",
        "`{kind: Decimal, precision: 100, scale: 0}`.",
        "Use a smaller number, or a String.",
    ),
    Code(
        "LB2406",
        "An encoding hint does not fit its type",
        "A hint for buffers belongs to String, Binary and List of any length, one for dates to Date, one for decimals "
        "to Decimal; and not every width exists for each.",
        "`arrow.apache.org/dateEncoding` on a String.",
        "Drop the attribute, or give the one that the type has.",
    ),
    Code(
        "LB2407",
        "The schema in the metadata cannot be read",
        "The metadata key `lakebed.schema` of an Arrow schema or Parquet file holds the logical schema that it was "
        "written with. This one is damaged, or of a newer version.",
        "A program that cut long metadata.",
        "Drop the key: the columns say their types without it.",
    ),
    Code(
        "LB2408",
        "No Parquet type holds the column",
        "Parquet has no group without members, and its decimals have a scale from 0 to the precision.",
        "`{kind: Struct, fields: []}`.",
        "Leave the field out, or give it another type.",
    ),
    Code(
        "LB2409",
        "No Arrow schema in JSON",
        "Arrow has no standard JSON form. Read is what `--to arrow-json` prints, which is the form of Arrow's Rust "
        "implementation.",
        '`{"fields": [{"name": "a", "type": "int8"}]}` has no `data_type`.',
        "Give the schema in that form, or as an IPC message with `--from arrow`.",
    ),
)

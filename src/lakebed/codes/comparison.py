"""Codes of comparing schemas and of ODF's migration rule: LB4700 to LB4749."""

from __future__ import annotations

from lakebed.codes import Code

_RULE = "Open Data Fabric's rule lets a schema event change attributes and order, and add optional fields."

CODES = (
    Code(
        "LB4700",
        "A schema event removes or renames a field",
        f"{_RULE} Consumers that read the field would find it gone.",
        "    fields: [{name: id, type: Int64}]           # before: id, city\n",
        "Keep the field under its name; anything else needs a new dataset and a migration of its rows.",
    ),
    Code(
        "LB4701",
        "A schema event changes the type of a field",
        f"{_RULE} Data files that were written before hold values of the old type. A field that is changed while "
        "another is added is found as well.",
        "    - {name: population, type: UInt64}          # before: UInt32",
        "Keep the type, and add an optional field of the wanted type.",
    ),
    Code(
        "LB4702",
        "A schema event adds a required field",
        f"{_RULE} Rows that are stored have no value for a required one.",
        "    - {name: census, type: String}              # new",
        "Declare it as `{kind: Option, inner: ...}`.",
    ),
    Code(
        "LB4703",
        "A schema event adds a field inside a map",
        f"{_RULE} What is inside a map counts as one type, so a new member is a change of that type.",
        "    valueType: {kind: Struct, fields: [..., {name: new, type: ...}]}",
        "Add a field outside of the map.",
    ),
    Code(
        "LB4704",
        "A schema event makes a required field optional",
        f"{_RULE} Consumers that rely on a value would meet nulls. It is allowed once, where the event before holds a "
        "legacy `rawArrowSchema`.",
        "    - {name: city, type: {kind: Option, inner: String}}    # before: String",
        "Keep it required.",
    ),
    Code(
        "LB4705",
        "A schema event makes an optional field required",
        f"{_RULE} Rows that are stored may be null there. It is allowed once, where the event before holds a legacy "
        "`rawArrowSchema`.",
        "    - {name: city, type: String}                # before: Option of String",
        "Keep it an `Option`.",
    ),
    Code(
        "LB4706",
        "A schema event changes nothing",
        "A block that repeats the schema in force, attributes and order included, says nothing and is refused by those "
        "who verify the chain.",
        "    two SetDataSchema events in a row with the same schema",
        "Leave the second one out.",
    ),
)

"""Codes of attributes: what a project declares of its own, known attributes, edits of manifests. LB1600 to LB1649."""

from __future__ import annotations

from lakebed.codes import Code

_ENFORCED = (
    Code(
        "LB1600",
        "The project declares no such attribute",
        "The attribute is in a domain that the project keeps for declared attributes (`domains` of its `kind: "
        "Attributes`), so that a misspelt name does not pass for another attribute.",
        "    extra: {example.org/ownr: traffic-team}",
        "Correct the name, or declare the attribute.",
    ),
    Code(
        "LB1601",
        "An attribute of the project stands in the wrong place",
        "The project says what an attribute is for: the schema as a whole, a column, a member of a struct.",
        "    fields: [{name: id, type: Int64, extra: {example.org/owner: traffic-team}}]   # on: [schema]",
        "Move it to where the message says, or let the declaration allow the place.",
    ),
    Code(
        "LB1602",
        "An attribute of the project is on a column of the wrong type",
        "The project says for which types an attribute is, such as a unit for numbers.",
        "    - {name: city, type: String, extra: {example.org/unit: m}}      # types: [Float64, Decimal]",
        "Take it off, or let the declaration allow the type.",
    ),
    Code(
        "LB1603",
        "The value of an attribute is not as the project declares it",
        "The project gives a JSON Schema for the attribute's values, which this one breaks.",
        "    extra: {example.org/pii: private}       # value: {enum: [none, personal, sensitive]}",
        "Write a value that the message expects.",
    ),
    Code(
        "LB1604",
        "An attribute that the project requires is missing",
        "The project requires it there. A table that lacks it is not planned, and no rows are ingested into it.",
        "    - {name: email, type: String}           # example.org/pii is required on columns",
        "Add it to `extra` in the manifest, plan and apply; then ingest.",
    ),
)

_DECLARED = (
    Code(
        "LB1610",
        "The declaration of an attribute is faulty",
        "A declared attribute has a name in a domain of the project's own and the places it belongs `on`: schema, "
        "column, "
        "member. A `*` may stand in the name after the slash, unless the attribute is required.",
        "    - {name: owner, on: [table]}",
        "Write for example `{name: example.org/owner, on: [schema], value: {type: string}}`.",
    ),
    Code(
        "LB1611",
        "An attribute is declared twice",
        "Two declarations of one name could contradict each other.",
        "    attributes:\n      - {name: example.org/owner, on: [schema]}\n      - {name: example.org/owner, on: "
        "[column]}",
        "Keep one, with all places in `on`.",
    ),
    Code(
        "LB1612",
        "The JSON Schema of an attribute is faulty",
        "Values are checked against it, so it has to be a valid JSON Schema that needs nothing from elsewhere: "
        "nothing is "
        "fetched.",
        "    value: {type: text}",
        "Correct it; a `$ref` may name only a part of the same schema.",
    ),
)

_KNOWN = (
    Code(
        "LB1620",
        "A known attribute has a value that cannot be understood",
        "The attribute is kept as it is, but what it says cannot be acted upon: an extended type that does not "
        "exist, a "
        "count that is no number.",
        "    opendatafabric.org/type: {kind: Multihsh}",
        "Write the form that the message expects.",
    ),
)

_EDITS = (
    Code(
        "LB1630",
        "The manifest cannot be edited at this place",
        "An edit keeps all that it does not change: comments, order, quotes. That is possible only where the file "
        "has one "
        "place for what is edited: not inside an alias, and not in a document that is not there.",
        "    fields: *shared",
        "Write the part out in the file, then edit it.",
    ),
    Code(
        "LB1631",
        "The edited manifest would not be what was asked for",
        "After an edit the file is read again and compared with what it is to declare. Where they differ, the file "
        "is left "
        "as it was.",
        "    a manifest whose table is declared by several documents",
        "Edit the manifest by hand; `lakebed infer` prints what the table is.",
    ),
)

_ROWS = (
    Code(
        "LB1640",
        "A value is no DID",
        "The column is declared as `opendatafabric.org/type: {kind: Did}`, so every text in it is a decentralised "
        "identifier of the form `did:<method>:<id>`.",
        "    did:odf        # no id",
        "Correct the value in the source, or take the attribute off the column.",
    ),
    Code(
        "LB1641",
        "A value is no multihash",
        "The column is declared as `{kind: Multihash}`, or as an `ObjectLink` by one, so every text in it is the "
        "multibase text of a hash: `f` and hexadecimal digits that say function, length and as many bytes, or `z` and "
        "base 58.",
        "    f1620ab        # says 32 bytes and has one",
        "Correct the value in the source, or take the attribute off the column.",
    ),
)

CODES: tuple[Code, ...] = (*_ROWS, *_ENFORCED, *_DECLARED, *_KNOWN, *_EDITS)

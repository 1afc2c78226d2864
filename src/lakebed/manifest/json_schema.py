"""Generate the JSON Schema of manifests for editors: what stands where, with descriptions.

It accepts what the decoder accepts, and rejects all that the decoder rejects but for `REMAINDER`: what has to be
compared with something else in the document, looked up, or read from the text rather than from the value. Where the
attributes of a project are declared, they are part of it.

A document with several `SetDataSchema` events is the exception: the decoder warns of all but the last and does not look
into them; the schema checks them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakebed.manifest.json_schema_parts import (
    APPROVAL_LIST,
    COMPATIBILITY_MODE,
    CONSUMER_LIST,
    KEYS,
    NAME,
    PATTERNS,
    TEXT,
    TEXT_MAP,
    Json,
    definitions,
    one_of_names,
)
from lakebed.manifest.odf import DATASET_KINDS, EVENT_KINDS, HISTORY_ONLY, SCHEMA_EVENT
from lakebed.manifest.read_step import DATE_PATTERNS, STEP_PROPERTIES
from lakebed.manifest.substitutions import VARIABLE_NAME
from lakebed.manifest.table_manifest import ReadKind, SystemColumns, Vocabulary
from lakebed.manifest.table_properties import AUTO

if TYPE_CHECKING:
    from lakebed.manifest.attribute_registry import AttributeRegistry

DIALECT = "http://json-schema.org/draft-07/schema#"
#: Codes of what the decoder refuses and JSON Schema cannot say.
REMAINDER = frozenset(
    {
        "LB1001",  # the file cannot be read
        "LB1002",  # its encoding
        "LB1003",  # its syntax
        "LB1004",  # its size
        "LB1005",  # how deep types are nested
        "LB1006",  # a key that stands twice
        "LB1007",  # a key that is no text
        "LB1008",
        "LB1009",
        "LB1010",  # a number that JSON does not have
        "LB1024",  # the name of events without an envelope
        "LB1025",  # the grammar of table names
        "LB1026",  # two documents that declare one table
        "LB1031",  # whether a variable has a value
        "LB1054",  # whether a time zone exists
        "LB1060",  # siblings of one name
        "LB1061",  # or of names that differ only in case
        "LB1073",  # values that depend on the column's type
        "LB1074",  # renames that contradict the names
        "LB1076",
        "LB1077",  # field ids that are given twice
        "LB1080",  # keys that are not columns
        "LB1081",  # or stand there twice
        "LB1083",  # two descriptions that differ
        "LB1084",  # an option that is declared and ignored
        "LB1085",  # whether a code exists
        "LB1086",  # and a day
        "LB1087",  # consumers of one name
        "LB1088",  # columns of consumers that are not declared
        "LB3710",  # the name of a quarantine
        "LB1090",  # the type of a declared system column
        "LB1602",  # an attribute of the project on a column of the wrong kind
    }
)


def editor_schema(registry: AttributeRegistry | None = None) -> dict[str, Any]:
    """The JSON Schema of one YAML document, in draft 7, which is also read right as draft 2020-12.

    `registry` has the attributes that the project declares.
    """
    table = {"$ref": "#/$defs/table"}
    named = {
        "Table": table,
        "DatasetSnapshot": {"$ref": "#/$defs/snapshot"},
        "MetadataEvent": {"$ref": "#/$defs/metadataEvent"},
        SCHEMA_EVENT: {"$ref": "#/$defs/schemaEvent"},
    }
    by_kind = [
        {"if": {"properties": {"kind": {"enum": one_of_names([kind])}}}, "then": then} for kind, then in named.items()
    ]
    kinds = {"description": "What is declared: usually `Table`.", "enum": one_of_names(named)}
    parts = definitions(registry)
    return {
        "$schema": DIALECT,
        "title": "Lakebed manifest",
        "description": "Declares a table: its columns with logical types, keys, options and annotations.",
        "type": ["object", "array"],
        "if": {"type": "array"},
        "then": {"$ref": "#/$defs/events"},
        "else": {
            "if": {"required": ["$schema"]},
            "then": {"$ref": "#/$defs/resource"},
            "else": {"required": ["kind"], "properties": {"kind": kinds}, "allOf": by_kind},
        },
        "$defs": {**_envelopes(), **parts, "tableSchema": _or_variable(parts["tableSchema"])},
    }


def _object(description: str, properties: Json, required: list[str], *, more: bool = False) -> Json:
    out = {"description": description, "type": "object", "properties": properties, "required": required}
    return out if more else {**out, "additionalProperties": False}


def _envelope(description: str, kind: str, content: Json) -> Json:
    properties = {
        "kind": {"enum": one_of_names([kind])},
        "version": {"description": "Version 1 is the only one.", "type": "integer", "const": 1},
        "content": content,
    }
    return _object(description, properties, ["kind", "version", "content"])


def _envelopes() -> Json:
    schema_event = {"$ref": "#/$defs/schemaEvent"}
    headers = _object("Name and other headers of the resource.", {"name": NAME}, ["name"], more=True)
    resource = {
        "$schema": {"type": "string", "pattern": r"^https://opendatafabric\.org/schemas/dataset/([^\n]*/)?Dataset$"},
        "headers": headers,
        "spec": _object("The dataset.", _dataset(), ["metadata"]),
    }
    snapshot = _object("The dataset.", {"name": NAME, **_dataset()}, ["name", "metadata"])
    return {
        "table": _envelope("A table of a Lakebed warehouse.", "Table", _table()),
        "snapshot": _envelope("A dataset of Open Data Fabric.", "DatasetSnapshot", snapshot),
        "metadataEvent": _envelope("One event of Open Data Fabric.", "MetadataEvent", schema_event),
        "resource": _object("A dataset of Open Data Fabric, as a resource.", resource, ["$schema", "headers", "spec"]),
        "schemaEvent": _schema_event(),
        "events": _events("Metadata events of Open Data Fabric.", EVENT_KINDS),
    }


def _table() -> Json:
    properties = {
        "name": {"description": "db.table, or table in the database `default`.", **NAME},
        "database": {"description": "The database, where `name` has only the table.", **TEXT},
        "description": {
            "description": "The table's comment.",
            **TEXT,
            "not": {"type": "string", "pattern": "^__(BLOB|VECTOR)"},
        },
        "primaryKeys": {"description": "Columns of the primary key; none makes an append table.", **KEYS},
        "partitionKeys": {"description": "Columns that rows are partitioned by.", **KEYS},
        "options": {"description": "Options of the table, text to text.", **TEXT_MAP},
        "ignoreOptions": {"description": "Options that others own, as names or as patterns with `*`.", **PATTERNS},
        "systemColumns": {
            "description": "Put in the system columns of Open Data Fabric that are not declared.",
            "anyOf": [
                {"enum": [*one_of_names([AUTO, *(c.value for c in SystemColumns)]), None]},
                {
                    "type": "object",
                    "properties": {
                        "profile": {"enum": [*one_of_names([AUTO, *(c.value for c in SystemColumns)]), None]},
                        **dict.fromkeys(Vocabulary.KEYS, TEXT),
                    },
                    "additionalProperties": False,
                },
            ],
        },
        "compatibility": {"description": "Which changes of the schema need leave.", **COMPATIBILITY_MODE},
        "consumers": {"description": "Who reads which columns, in which mode.", **CONSUMER_LIST},
        "read": {
            "description": "How source rows are read.",
            "anyOf": [{"type": "null"}, _read_by_format(), *(_read_step(kind) for kind in ReadKind)],
        },
        "approvals": {"description": "Changes that may happen although they need leave.", **APPROVAL_LIST},
        "schema": {"$ref": "#/$defs/tableSchema"},
    }
    return _object("The table.", _with_variables(properties), ["name", "schema"])


_VARIABLE: Json = {"type": "string", "pattern": rf"(^|[^$])\$\{{{VARIABLE_NAME}\}}"}


def _with_variables(properties: Json) -> Json:
    """These properties, whose values may have variables: of what such a text will be, nothing is known."""
    return {name: _or_variable(schema) for name, schema in properties.items()}


def _or_variable(schema: Json) -> Json:
    about = {"description": schema["description"]} if "description" in schema else {}
    if "enum" in schema or "pattern" in schema:
        return {**about, "anyOf": [{key: part for key, part in schema.items() if key not in about}, _VARIABLE]}
    out = dict(schema)
    if "properties" in schema:
        out["properties"] = _with_variables(schema["properties"])
    if "items" in schema:
        out["items"] = _or_variable(schema["items"])
    if "anyOf" in schema:
        out["anyOf"] = [_or_variable(one) for one in schema["anyOf"]]
    return out


_FILE_PATTERN: Json = {**NAME, "pattern": "[^/ ]"}
_FILE_PATTERNS: Json = {"anyOf": [_FILE_PATTERN, {"type": "array", "items": _FILE_PATTERN}]}
_READ_COLUMNS: Json = {
    "schema": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tableSchema"}]},
    "ddlSchema": {"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": {"type": "string"}}]},
    "include": _FILE_PATTERNS,
    "exclude": _FILE_PATTERNS,
    "eventTime": {
        "anyOf": [
            {"type": "null"},
            {
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": {"enum": one_of_names(["FromSystemTime", "FromMetadata"])}},
                "additionalProperties": False,
            },
            {
                "type": "object",
                "required": ["kind", "pattern"],
                "properties": {"kind": {"enum": one_of_names(["FromPath"])}, "pattern": TEXT, "timestampFormat": TEXT},
                "additionalProperties": False,
            },
        ]
    },
}


#: A text, or several in a list.
_TEXTS: Json = {"anyOf": [TEXT, {"type": "array", "minItems": 1, "items": TEXT}]}
_OPTIONS: Json = {**TEXT_MAP, "patternProperties": {r"^(?i:date|timestamp|timestampntz)format$": _TEXTS}}


def _read_by_format() -> Json:
    formats: Json = {"type": ["string", "null"], "pattern": "^(?i:csv|json|parquet)$"}
    return {
        "type": "object",
        "properties": {"format": formats, "options": _OPTIONS, **_READ_COLUMNS},
        "additionalProperties": False,
    }


def _read_step(kind: ReadKind) -> Json:
    named: Json = {n: _TEXTS if n in DATE_PATTERNS else TEXT for n in STEP_PROPERTIES[kind]}
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": one_of_names([kind.value])}, **named, **_READ_COLUMNS},
        "additionalProperties": False,
    }


def _dataset() -> Json:
    kinds = [kind for kind in EVENT_KINDS if kind not in HISTORY_ONLY]
    return {
        "kind": {"description": "Root or Derivative.", "enum": [*one_of_names(DATASET_KINDS), None]},
        "metadata": _events("Events, one of which is SetDataSchema.", kinds),
    }


def _events(description: str, kinds: tuple[str, ...] | list[str]) -> Json:
    is_schema = {"type": "object", "required": ["kind"], "properties": {"kind": {"enum": one_of_names([SCHEMA_EVENT])}}}
    event = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": one_of_names(kinds)}},
        "if": is_schema,
        "then": {"$ref": "#/$defs/schemaEvent"},
    }
    return {"description": description, "type": "array", "items": event, "contains": is_schema}


def _schema_event() -> Json:
    properties = {
        "kind": {"enum": one_of_names([SCHEMA_EVENT])},
        "schema": {"$ref": "#/$defs/odfSchema"},
        "rawArrowSchema": {"description": "The legacy form, from which no table is declared."},
    }
    return _object("The schema of the dataset's rows.", properties, ["kind", "schema"])

"""Generate the parts of the editor schema below the envelopes: types, fields, schemas, attributes.

Only keywords that draft 7 and draft 2020-12 read alike are used, for editors know now the one, now the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lakebed.manifest.approvals import DAY_PATTERN
from lakebed.manifest.attributes import (
    APPROVALS,
    BAD_ROW_ACTIONS,
    DOMAIN,
    IGNORE_OPTIONS,
    MAX_FIELD_ID,
    OPTIONS,
    PARTITION_KEYS,
    PLACES,
    PRIMARY_KEYS,
    AttributePlace,
)
from lakebed.manifest.compatibility import CONSUMER_MODES, Compatibility
from lakebed.manifest.field_decoder import RESERVED_NAMES, RESERVED_PREFIX
from lakebed.manifest.properties import spellings
from lakebed.model import BY_KIND, TimeUnit
from lakebed.model.extra import (
    COMPATIBILITY,
    CONSUMERS,
    DEFAULT,
    DESCRIPTION,
    ENUM,
    EXTENDED_TYPE,
    FIELD_ID,
    MAXIMUM,
    MINIMUM,
    ON_BAD_ROW,
    PAIMON_TYPE,
    PATTERN,
    PERSONAL_DATA,
    RENAMED_FROM,
    UNIQUE,
)

if TYPE_CHECKING:
    from lakebed.manifest.attribute_registry import AttributeRegistry, Target

Json = dict[str, Any]

#: Any single value: where a name or text is wanted, what is written is the text, be it `no`, `null` or `1e3`.
NAME: Json = {"type": ["string", "number", "boolean", "null"]}
#: An optional text; null is the same as absent.
TEXT: Json = NAME
TEXT_MAP: Json = {
    "type": ["object", "null"],
    "propertyNames": {"pattern": r"\S"},
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}
KEYS: Json = {"type": ["array", "null"], "items": NAME}
#: As `KEYS`; a text that is blank is no name of an option.
PATTERNS: Json = {"type": ["array", "null"], "items": {**NAME, "pattern": r"\S"}}
_SOME_TEXT: Json = {**NAME, "pattern": r"\S"}
#: Changes that may happen although they need leave.
APPROVAL_LIST: Json = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "required": ["code", "reason", "until"],
        "properties": {
            "code": {"description": "The code that a plan tells, such as LB4203.", "type": "string"},
            "path": {"description": "The column, the option, or a part of the table such as .comment.", **TEXT},
            "reason": {"description": "Why the change may happen.", **_SOME_TEXT},
            "until": {"description": "The last day on which it counts.", "type": "string", "pattern": DAY_PATTERN},
            "by": {"description": "Who has given leave.", **TEXT},
        },
        "additionalProperties": False,
    },
}

_MEANING = {
    "Binary": "Bytes; of one length with `fixedLength`.",
    "Bool": "True or false.",
    "Date": "A calendar date.",
    "Decimal": "Fixed point: `precision` digits, `scale` of them after the point.",
    "Duration": "Elapsed time, in milliseconds unless `unit` says otherwise.",
    "Float16": "Floating point of 16 bits.",
    "Float32": "Floating point of 32 bits.",
    "Float64": "Floating point of 64 bits.",
    "Int8": "Integer of 8 bits.",
    "Int16": "Integer of 16 bits.",
    "Int32": "Integer of 32 bits.",
    "Int64": "Integer of 64 bits.",
    "UInt8": "Integer from 0 to 255.",
    "UInt16": "Integer from 0 to 65535.",
    "UInt32": "Integer from 0 to 4294967295.",
    "UInt64": "Integer from 0 to 18446744073709551615.",
    "List": "A list of items of one type; of one length with `fixedLength`.",
    "Map": "Entries of a key and a value.",
    "Null": "Only null.",
    "Option": "A value of `inner`, or null. Everything else is required.",
    "Struct": "Named members, each a field of its own.",
    "Time": "Time of day, in milliseconds unless `unit` says otherwise.",
    "Timestamp": "An instant, in milliseconds and UTC unless `unit` and `timezone` say otherwise.",
    "String": "Unicode text.",
}
_LENGTH: Json = {"type": ["integer", "null"], "minimum": 0, "maximum": 2**64 - 1}
_TYPE: Json = {"$ref": "#/$defs/type"}


def one_of_names(names: Iterable[str]) -> list[str]:
    """The three accepted spellings of each name, those that Lakebed writes first."""
    names = list(names)
    return [*names, *(spelling for spelling in spellings(names) if spelling not in names)]


COMPATIBILITY_MODE: Json = {"enum": [*one_of_names(mode.value for mode in Compatibility), None]}
CONSUMER_LIST: Json = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"description": "Who or what reads the table.", **_SOME_TEXT},
            "owner": {"description": "The team to ask.", **TEXT},
            "columns": {
                "description": "The columns that are read, or paths such as address.city; all without it.",
                "type": ["array", "null"],
                "minItems": 1,
                "items": _SOME_TEXT,
            },
            "mode": {
                "description": "FORWARD unless said: it goes on reading as before while the table changes.",
                "enum": [*one_of_names(mode.value for mode in CONSUMER_MODES), None],
            },
        },
        "additionalProperties": False,
    },
}


_UNIT: Json = {
    "description": "The unit; Millisecond where it is left out.",
    "enum": [*one_of_names(unit.value for unit in TimeUnit), None],
}
#: Parameters of each kind that has some, and which of them it needs.
_PARAMETERS: dict[str, tuple[Json, list[str]]] = {
    "Binary": ({"fixedLength": _LENGTH}, []),
    "Decimal": (
        {
            "precision": {"type": "integer", "minimum": 1, "maximum": 2**32 - 1},
            "scale": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
        },
        ["precision", "scale"],
    ),
    "Duration": ({"unit": _UNIT}, []),
    "Time": ({"unit": _UNIT}, []),
    "Timestamp": (
        {
            "unit": _UNIT,
            "timezone": {
                "description": "A name of the tz database such as Europe/Paris, or an offset such as +07:30; UTC where "
                "it is left out.",
                **TEXT,
            },
        },
        [],
    ),
    "List": ({"itemType": _TYPE, "fixedLength": _LENGTH}, ["itemType"]),
    "Map": (
        {"keyType": _TYPE, "valueType": _TYPE, "keysSorted": {"type": ["boolean", "null"]}},
        ["keyType", "valueType"],
    ),
    "Option": (
        {
            "inner": {
                "allOf": [_TYPE],
                "not": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {"kind": {"enum": one_of_names(["Option"])}},
                },
            }
        },
        ["inner"],
    ),
    "Struct": ({"fields": {"type": "array", "items": {"$ref": "#/$defs/field"}}}, ["fields"]),
}


def definitions(registry: AttributeRegistry | None) -> Json:
    """What the envelopes refer to: `type`, one definition a kind, `field`, `column`, and the schemas of both places."""
    kinds = {f"type{kind}": _kind(kind) for kind in BY_KIND}
    return {
        "type": _type(),
        **kinds,
        "field": _field("A member of a Struct.", registry, "member"),
        "column": _column(registry),
        "tableSchema": _schema(AttributePlace.TABLE, registry),
        "odfSchema": _schema(AttributePlace.ODF, registry),
        **(registry.json_definitions() if registry is not None else {}),
    }


def _spelt(kind: str) -> list[str | None]:
    """How a kind may be written; a bare null is the kind `Null`, as it is written the same."""
    return [*one_of_names([kind]), *([None] if kind == "Null" else [])]


def _type() -> Json:
    short = [kind for kind in BY_KIND if not _PARAMETERS.get(kind, ({}, []))[1]]
    chosen = [
        {
            "if": {"required": ["kind"], "properties": {"kind": {"enum": _spelt(kind)}}},
            "then": {"$ref": f"#/$defs/type{kind}"},
        }
        for kind in BY_KIND
    ]
    return {
        "title": "Type",
        "description": "A logical type of Open Data Fabric: a mapping with a `kind` and parameters, or just the kind.",
        "if": {"type": "object"},
        "then": {
            "required": ["kind"],
            "properties": {"kind": {"enum": [*one_of_names(BY_KIND), None]}},
            "allOf": chosen,
        },
        "else": {"enum": [*one_of_names(short), None]},
    }


def _kind(kind: str) -> Json:
    parameters, needed = _PARAMETERS.get(kind, ({}, []))
    return {
        "title": kind,
        "description": _MEANING[kind],
        "type": "object",
        "properties": {"kind": {"description": _MEANING[kind], "enum": _spelt(kind)}, **parameters},
        "required": ["kind", *needed],
        "additionalProperties": False,
    }


def _field(description: str, registry: AttributeRegistry | None, target: Target) -> Json:
    extra, needed = _extra(AttributePlace.FIELD, registry, target)
    name = {"description": "The name, unique among its siblings in any case.", **NAME, "pattern": r"\S"}
    return {
        "title": "Field",
        "description": description,
        "type": "object",
        "properties": {"name": name, "type": _TYPE, "extra": extra},
        "required": ["name", "type", *(["extra"] if needed else [])],
        "additionalProperties": False,
    }


def _column(registry: AttributeRegistry | None) -> Json:
    """As a field, but some names are the table format's own."""
    column = _field("A column of the table.", registry, "column")
    reserved = {"anyOf": [{"enum": sorted(RESERVED_NAMES)}, {"type": "string", "pattern": f"^{RESERVED_PREFIX}"}]}
    column["properties"]["name"]["not"] = reserved
    return column


def _schema(place: AttributePlace, registry: AttributeRegistry | None) -> Json:
    extra, needed = _extra(place, registry, "schema")
    return {
        "title": "Schema",
        "description": "The columns, and what is said of the whole.",
        "type": "object",
        "properties": {
            "fields": {"description": "The columns, in order.", "type": "array", "items": {"$ref": "#/$defs/column"}},
            "extra": extra,
        },
        "required": ["fields", *(["extra"] if needed else [])],
        "additionalProperties": False,
    }


_ATTRIBUTES: dict[str, Json] = {
    DESCRIPTION: {
        "description": "What it is, for people. Paimon's comment.",
        "type": ["string", "number", "boolean"],
        "not": {"type": "string", "pattern": "^__(BLOB|VECTOR)"},
    },
    EXTENDED_TYPE: {
        "description": "What a String means: {kind: Did}, {kind: Multihash}, or {kind: ObjectLink, linkType: ...}.",
    },
    PAIMON_TYPE: {
        "description": "The exact Paimon type, where the logical type says less: VARCHAR(20).",
        "type": ["string", "number", "boolean"],
    },
    RENAMED_FROM: {
        "description": "The former name of this column among its siblings; never a path.",
        **NAME,
        "pattern": r"\S",
    },
    FIELD_ID: {
        "description": "The id that identifies the column over all versions; given by itself where it is left out.",
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_FIELD_ID,
    },
    DEFAULT: {"description": "What a row that lacks the column gets, from now on.", "not": {"type": "null"}},
    ENUM: {
        "description": "The allowed values; rows with others are bad rows.",
        "type": "array",
        "minItems": 1,
        "items": {"type": ["string", "number", "boolean"]},
    },
    PATTERN: {
        "description": "A regular expression that the whole text has to match; other rows are bad rows.",
        "type": ["string", "number", "boolean"],
        "minLength": 1,
    },
    MINIMUM: {
        "description": "The least value of a number, date or time; rows with less, or with NaN, are bad rows.",
        "type": ["string", "number"],
    },
    MAXIMUM: {
        "description": "The greatest value of a number, date or time; rows with more, or with NaN, are bad rows.",
        "type": ["string", "number"],
    },
    UNIQUE: {
        "description": "Whether no two rows of a run may have the same value; all rows that have it are bad rows.",
        "type": "boolean",
    },
    ON_BAD_ROW: {
        "description": "What happens to a row that breaks a rule of this column, or of the table: it goes to "
        "quarantine, the value becomes NULL, or the run fails.",
        "enum": [*BAD_ROW_ACTIONS, None],
    },
    PERSONAL_DATA: {
        "description": "Whether the values are personal data, which are masked where bad rows are shown.",
        "type": "boolean",
    },
    PRIMARY_KEYS: {"description": "The columns of the primary key.", **KEYS},
    PARTITION_KEYS: {"description": "The columns that rows are partitioned by.", **KEYS},
    OPTIONS: {"description": "Options of the table, text to text.", **TEXT_MAP},
    IGNORE_OPTIONS: {"description": "Options that others own, as names or as patterns with `*`.", **PATTERNS},
    APPROVALS: {"description": "Changes that may happen although they need leave.", **APPROVAL_LIST},
    COMPATIBILITY: {"description": "Which changes of the schema need leave.", **COMPATIBILITY_MODE},
    CONSUMERS: {"description": "Who reads which columns, in which mode.", **CONSUMER_LIST},
}


def _extra(place: AttributePlace, registry: AttributeRegistry | None, target: Target) -> tuple[Json, list[str]]:
    """The schema of an `extra`, and the attributes that it must have."""
    own = [name for name in PLACES if place in PLACES[name]]
    known = {name: s for name, s in _ATTRIBUTES.items() if name in own or not name.startswith(f"{DOMAIN}/")}
    declared = registry.json_schemas(target) if registry is not None else {}
    patterns = registry.json_schemas(target, patterns=True) if registry is not None else {}
    needed = registry.required_names(target) if registry is not None else []
    closed = [re.escape(domain) for domain in registry.domains] if registry is not None else []
    forbidden = "|".join([_any_case(DOMAIN), *closed])
    names = [{"enum": sorted({*own, *declared})}, *({"pattern": pattern} for pattern in patterns)]
    elsewhere = registry.names_elsewhere(target) if registry is not None else []
    free: Json = {"pattern": f"^(?!(?:{forbidden})/)[a-zA-Z0-9.-]+/[a-zA-Z0-9_-]+$"}
    if elsewhere:
        free["not"] = {"anyOf": [{"pattern": pattern} for pattern in elsewhere]}
    extra: Json = {
        "description": "Attributes: any JSON value under a name of the form domain/name.",
        "type": "object" if needed else ["object", "null"],
        "propertyNames": {"anyOf": [*names, free]},
        "properties": {**known, **declared},
        **({"patternProperties": patterns} if patterns else {}),
        **({"required": needed} if needed else {}),
    }
    return extra, needed


def _any_case(text: str) -> str:
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else re.escape(c) for c in text)

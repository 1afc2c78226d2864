"""Read Spark's JSON form of a schema, and name the part of it that is broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

#: The members that hold types, by the kind of the type, and the one beside each that says whether values may be NULL.
_INNER = {
    "array": (("elementType", "containsNull"),),
    "map": (("keyType", None), ("valueType", "valueContainsNull")),
}


def from_spark_json(value: object) -> StructType:
    """The schema that a JSON value says. Raises `ValueError`, which names the first part that is broken."""
    from pyspark.sql.types import StructType

    if not isinstance(value, dict) or value.get("type", "struct") != "struct":
        raise ValueError("it is no object of the type 'struct'")
    for fault in _struct_faults(value, ""):
        raise ValueError(fault)
    return StructType.fromJson(value)


def _type_faults(value: Any, at: str) -> Iterator[str]:
    """What is wrong with a type. `at` is the path of the column that it stands in."""
    if isinstance(value, str):
        yield from _name_faults(value, at)
    elif not isinstance(value, dict):
        yield f"the type of {_column(at)} is {_said(value)}, and should be a text or an object"
    elif "type" not in value:
        yield f"the type of {_column(at)} has no 'type'"
    elif not isinstance(value["type"], str):
        yield f"the type of {_column(at)} has {_said(value['type'])} as 'type'"
    elif value["type"] == "struct":
        yield from _struct_faults(value, at)
    elif value["type"] == "udt":
        yield f"the type of {_column(at)} is made by a program (udt), which a schema in JSON cannot bring along"
    elif value["type"] in _INNER:
        for member, null in _INNER[value["type"]]:
            if member not in value or (null is not None and null not in value):
                yield f"the {value['type']} of {_column(at)} has no {(member if member not in value else null)!r}"
            else:
                yield from _type_faults(value[member], f"{at}.{member}")
    else:
        yield f"the type of {_column(at)} is {_said(value['type'])}, which is none of Spark's"


def _struct_faults(value: dict[str, Any], at: str) -> Iterator[str]:
    """What is wrong with the fields of a struct; `at` is empty for the whole schema."""
    fields = value.get("fields")
    if not isinstance(fields, list):
        yield f"{_column(at)} has {'no' if fields is None else 'no list as'} 'fields'"
        return
    for number, field in enumerate(fields):
        name = field.get("name") if isinstance(field, dict) else None
        where = f"{at}.{name}" if at else f"{name}"
        if not isinstance(field, dict):
            yield f"field {number} of {_column(at)} is {_said(field)}, and should be an object"
        elif not isinstance(name, str):
            yield f"field {number} of {_column(at)} has {'no' if name is None else 'no text as'} 'name'"
        elif "type" not in field:
            yield f"{_column(where)} has no 'type'"
        elif not isinstance(field.get("metadata") or {}, dict):
            yield f"the 'metadata' of {_column(where)} is {_said(field['metadata'])}, and should be an object"
        elif not isinstance(field.get("nullable", True), bool):
            yield f"'nullable' of {_column(where)} is {_said(field['nullable'])}, and should be true or false"
        else:
            yield from _type_faults(field["type"], where)


def _name_faults(name: str, at: str) -> Iterator[str]:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    field = {"name": "x", "type": name, "nullable": True, "metadata": {}}
    try:
        StructType.fromJson({"type": "struct", "fields": [field]})
    except (PySparkException, KeyError, ValueError, TypeError):
        yield f"the type of {_column(at)} is {name!r}, which is none of Spark's"


def _column(at: str) -> str:
    return repr(at) if at else "the schema"


def _said(value: Any) -> str:
    match value:
        case None:
            return "null"
        case str():
            return repr(value[:40])
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return str(value).lower()

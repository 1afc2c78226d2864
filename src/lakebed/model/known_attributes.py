"""Interpret the attributes that Open Data Fabric and kamu define (RFC-016, RFC-017).

An attribute is interpreted when it is asked for, never while a schema is read: one whose value nobody understands is
kept as it is, and fails here. The hints of Arrow encodings are read by `lakebed.convert.arrow_hints`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeAlias

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import ConversionError
from lakebed.model.extra import DESCRIPTION, EXTENDED_TYPE, Extra, canonical_json
from lakebed.model.from_json import type_from_json
from lakebed.model.types import BY_KIND, LogicalType

LINKED_OBJECTS = "opendatafabric.org/linkedObjects"
ARCHETYPE = "kamu.dev/archetype"
MALFORMED = "LB1620"


@dataclass(frozen=True, slots=True)
class Did:
    """A decentralised identifier, `did:<method>:<id>`. The core type is String."""


@dataclass(frozen=True, slots=True)
class Multihash:
    """The multibase text of a multihash, such as `f1620...`. The core type is String."""


@dataclass(frozen=True, slots=True)
class ObjectLink:
    """A reference to an object that lies beside the data, by a text of type `link`. The core type is String."""

    link: ExtendedType


@dataclass(frozen=True, slots=True)
class Core:
    """A core type as an extended type."""

    type: LogicalType


ExtendedType: TypeAlias = Did | Multihash | ObjectLink | Core


class Archetype(StrEnum):
    """What a dataset is used as."""

    COLLECTION = "Collection"
    VERSIONED_FILE = "VersionedFile"


@dataclass(frozen=True, slots=True)
class LinkedObjects:
    """How many non-null references a slice of data holds and how many bytes they link to, each counted anew."""

    count: int
    size: int


_EXTENDED = ("Did", "Multihash", "ObjectLink")
_MAX_DEPTH = 16


def description(extra: Extra) -> str | None:
    """`opendatafabric.org/description`, None where it is absent. Raises `ConversionError` (LB1620) for no text."""
    if DESCRIPTION not in extra:
        return None
    value = extra[DESCRIPTION]
    return value if isinstance(value, str) else _malformed(DESCRIPTION, value, "text")


def extended_type(extra: Extra) -> ExtendedType | None:
    """`opendatafabric.org/type`, None where it is absent; the short form `Did` is understood too.

    Raises `ConversionError` (LB1620) for a kind that does not exist, a missing or an unknown property.
    """
    return _extended(extra[EXTENDED_TYPE], 0) if EXTENDED_TYPE in extra else None


def extended_type_json(type_: ExtendedType) -> dict[str, Any]:
    """The value of the attribute, in the long form."""
    from lakebed.model.types import type_json

    match type_:
        case Core():
            return type_json(type_.type)
        case ObjectLink():
            return {"kind": "ObjectLink", "linkType": extended_type_json(type_.link)}
        case _:
            return {"kind": type(type_).__name__}


def linked_objects(extra: Extra) -> LinkedObjects | None:
    """`opendatafabric.org/linkedObjects` of an `AddData` event. Raises `ConversionError` (LB1620)."""
    if LINKED_OBJECTS not in extra:
        return None
    value = extra[LINKED_OBJECTS]
    expected = "{numObjectsNaive: ..., sizeNaive: ...}, both counts below 2^64"
    if not isinstance(value, Mapping) or value.keys() != {"numObjectsNaive", "sizeNaive"}:
        _malformed(LINKED_OBJECTS, value, expected)
    count, size = value["numObjectsNaive"], value["sizeNaive"]
    if any(type(n) is not int or not 0 <= n < 1 << 64 for n in (count, size)):
        _malformed(LINKED_OBJECTS, value, expected)
    return LinkedObjects(count, size)


def archetype(extra: Extra) -> Archetype | None:
    """`kamu.dev/archetype` of a schema. Raises `ConversionError` (LB1620) for one that does not exist."""
    if ARCHETYPE not in extra:
        return None
    value = extra[ARCHETYPE]
    found = next((a for a in Archetype if value in _spellings(a.value)), None)
    return found if found is not None else _malformed(ARCHETYPE, value, " or ".join(Archetype))


def _spellings(name: str) -> tuple[str, str, str]:
    return name, name[0].lower() + name[1:], name.lower()


def _extended(value: object, depth: int) -> ExtendedType:
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
        _malformed(EXTENDED_TYPE, value, "a mapping such as {kind: Did}")
    kind = value.get("kind")
    known = next((k for k in (*_EXTENDED, *BY_KIND) if isinstance(kind, str) and kind in _spellings(k)), None)
    match known:
        case None:
            expected = ", ".join([*_EXTENDED, "or a core type"])
            suggestions = near_names(kind, [*_EXTENDED, *BY_KIND]) if isinstance(kind, str) else ()
            return _malformed(EXTENDED_TYPE, value, expected, suggestions)
        case "ObjectLink":
            if value.keys() != {"kind", "linkType"}:
                _malformed(EXTENDED_TYPE, value, "{kind: ObjectLink, linkType: {kind: Multihash}}")
            return ObjectLink(_extended(value["linkType"], depth + 1))
        case "Did" | "Multihash":
            if value.keys() != {"kind"}:
                _malformed(EXTENDED_TYPE, value, f"{{kind: {known}}}, without other properties")
            return Did() if known == "Did" else Multihash()
        case _:
            return _core({**value, "kind": known})


def _core(value: dict[str, Any]) -> Core:
    problem: Diagnostic
    try:
        return Core(type_from_json(value))
    except ConversionError as error:
        problem = error.diagnostics[0]
    return _malformed(EXTENDED_TYPE, value, problem.message, problem.suggestions)


def _malformed(key: str, value: object, expected: str, suggestions: tuple[str, ...] = ()) -> NoReturn:
    found = canonical_json(value)[:200]  # type: ignore[arg-type]
    message = f"the attribute {key} is {found}, which cannot be understood"
    raise ConversionError.of(MALFORMED, message, path=key, expected=expected, found=found, suggestions=suggestions)

"""Read data types and fields from the JSON of a schema file (Paimon specification, "DataField").

Atomic types are text, ARRAY, MAP, MULTISET, ROW and VECTOR are objects. The reader is tolerant where other writers are
sloppy without being ambiguous: ids as text, descriptions as numbers, null for an absent description, an outer text such
as `MAP<STRING NOT NULL, INT>`, and an extra `nullable` member, which is ignored. Whether a nested type is NOT NULL is
said at the end of its outer text and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from lakebed.diagnostics import Diagnostic, path_text
from lakebed.errors import TypeTextError, UnknownTypeError
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    STRING,
    UNASSIGNED,
    Array,
    DataField,
    DataType,
    Map,
    Multiset,
    Row,
    Unknown,
    Vector,
)
from lakebed.physical.text import VECTOR_ELEMENTS, parse_text

#: What to do with a type keyword that this version does not know.
Unknowns: TypeAlias = Literal["keep", "error"]

#: Levels of nesting beyond which a type is refused rather than risking the stack.
MAX_DEPTH = 128
MAX_LONG = 2**63 - 1

_NESTED = re.compile(r"(ARRAY|MAP|MULTISET|ROW|VECTOR)(?=\s|<|\Z)")
_NOT_NULL = re.compile(r"\s+NOT\s+NULL\s*\Z", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")


def parse_json(value: object, *, unknown: Unknowns = "error", allow_missing_ids: bool = False) -> DataType:
    """The type of its JSON form: text or an object.

    Fields of a ROW must carry their ids, unless `allow_missing_ids`: then an absent (or negative) one is `UNASSIGNED`.
    With `unknown="keep"` a type of the future becomes `Unknown` instead of an error, at any level. Raises
    `TypeTextError` with every problem found, each with the path inside the type.
    """
    reader = TypeReader(unknown=unknown, allow_missing_ids=allow_missing_ids)
    found = reader.type(value, ())
    if reader.problems:
        raise TypeTextError(*reader.problems)
    return found


def whole_number(value: object) -> int | None:
    """A whole number of at most 64 bits, also from text such as `"7"`; None for anything else."""
    match value:
        case bool():
            return None
        case int():
            number = value
        case str() if _WHOLE_NUMBER.fullmatch(value):
            number = int(value)
        case float() if value.is_integer():
            number = int(value)
        case _:
            return None
    return number if -MAX_LONG - 1 <= number <= MAX_LONG else None


def text_of(value: object) -> str:
    """The text that stands for a JSON value where text is wanted: `4`, `true`, `null`; nothing for an empty object."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict) and not value:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class TypeReader:
    """Reads types and fields, and collects what is wrong in `problems` instead of stopping at the first one.

    A value that cannot be read yields some type or field that stands in for it; it is of use only while `problems` is
    empty.
    """

    def __init__(self, *, unknown: Unknowns, allow_missing_ids: bool) -> None:
        self.problems: list[Diagnostic] = []
        self._of_fields: list[Diagnostic] = []
        self._unknown = unknown
        self._allow_missing_ids = allow_missing_ids

    @property
    def type_problems(self) -> tuple[Diagnostic, ...]:
        """The problems less those of the names and ids of fields."""
        return tuple(problem for problem in self.problems if problem not in self._of_fields)

    def type(self, value: object, path: tuple[str, ...], depth: int = 0) -> DataType:
        """The type of a JSON value; `path` is that of the field, or of the element, key or value, that has the type."""
        if depth > MAX_DEPTH:
            self._problem("LB2007", path, f"a type is nested more than {MAX_DEPTH} levels deep")
        elif isinstance(value, str):
            return self._text(value, path)
        elif isinstance(value, Mapping):
            return self._object(value, path, depth)
        else:
            self._problem("LB2005", path, "a type must be text or an object", found=_shown(value))
        return STRING

    def fields(self, value: object, path: tuple[str, ...], depth: int = 0) -> tuple[DataField, ...]:
        """The fields of a table or a ROW; names must be unique among siblings."""
        if not isinstance(value, list):
            self._problem("LB2005", path, "'fields' must be a list", found=_shown(value))
            return ()
        found = tuple(self.field(item, path, depth) for item in value)
        seen: set[str] = set()
        for field in found:
            if field.name and field.name in seen:
                self._field_problem((*path, field.name), f"the field name {field.name!r} is used twice")
            seen.add(field.name)
        return found

    def field(self, value: object, path: tuple[str, ...], depth: int = 0) -> DataField:
        """One field object; unknown members are ignored."""
        if not isinstance(value, Mapping):
            self._problem("LB2005", path, "a field must be an object", found=_shown(value))
            return DataField(UNASSIGNED, "", STRING)
        name = value.get("name")
        if not isinstance(name, str) or not name.strip():
            self._field_problem(path, "a field needs a name that is not blank", found=_shown(name))
            name = ""
        here = (*path, name) if name else path
        if "type" in value:
            type_ = self.type(value["type"], here, depth)
        else:
            self._problem("LB2005", here, "the field has no 'type'")
            type_ = STRING
        description, default = value.get("description"), value.get("defaultValue")
        return DataField(
            id=self._id(value, here),
            name=name,
            type=type_,
            description=None if description is None else text_of(description),
            default_value=None if default is None else text_of(default),
        )

    def _id(self, value: Mapping[str, Any], path: tuple[str, ...]) -> int:
        given = value.get("id")
        if self._allow_missing_ids and (given is None or given == UNASSIGNED):
            return UNASSIGNED
        number = whole_number(given)
        if number is None or number < 0:
            found = _shown(given) if "id" in value else "nothing"
            self._field_problem(path, "a field needs an 'id' that is a whole number from 0", found=found)
            return UNASSIGNED
        return number

    def _text(self, text: str, path: tuple[str, ...]) -> DataType:
        try:
            return parse_text(text)
        except TypeTextError as error:
            if self._unknown == "keep" and isinstance(error, UnknownTypeError):
                base, nullable = _split_nullability(text.strip())
                return Unknown(base, nullable)
            self._take(error, path)
            return STRING

    def _object(self, value: Mapping[str, Any], path: tuple[str, ...], depth: int) -> DataType:
        outer = value.get("type")
        if not isinstance(outer, str):
            self._problem("LB2005", path, "a type object needs a 'type' that is text", found=_shown(outer))
            return STRING
        keyword = _NESTED.match(outer)
        if keyword is None:
            return self._object_of_other(value, outer, path)
        nullable = self._outer_nullability(outer, keyword.end(), path)
        match keyword.group(1):
            case "ARRAY":
                return Array(self._part(value, "element", path, depth), nullable)
            case "MULTISET":
                return Multiset(self._part(value, "element", path, depth), nullable)
            case "MAP":
                return Map(self._part(value, "key", path, depth), self._part(value, "value", path, depth), nullable)
            case "VECTOR":
                return self._vector(value, nullable, path, depth)
            case _:
                return Row(self.fields(value.get("fields"), path, depth + 1), nullable)

    def _object_of_other(self, value: Mapping[str, Any], outer: str, path: tuple[str, ...]) -> DataType:
        """An object whose type is not nested: an atomic type in an object, or a type of the future."""
        if _NESTED.match(outer.strip().upper()):
            self._problem("LB2005", path, "the keyword of a nested type is written in upper case", found=outer)
            return STRING
        try:
            return parse_text(outer)
        except TypeTextError as error:
            if self._unknown == "keep" and isinstance(error, UnknownTypeError):
                base, nullable = _split_nullability(outer)
                return Unknown(json.dumps({**value, "type": base}, ensure_ascii=False), nullable)
            self._take(error, path)
            return STRING

    def _outer_nullability(self, outer: str, end: int, path: tuple[str, ...]) -> bool:
        """Nullability from the end of the outer text; what stands between `<` and the last `>` says nothing."""
        rest = outer[end:].strip()
        if rest.startswith("<"):
            rest = rest[rest.rfind(">") + 1 :].strip()
        if rest not in ("", "NULL", "NOT NULL"):
            self._problem(
                "LB2005",
                path,
                f"cannot understand the type {_shown(outer)}",
                expected="NOT NULL or nothing",
                found=rest,
            )
        return rest != "NOT NULL"

    def _part(self, value: Mapping[str, Any], key: str, path: tuple[str, ...], depth: int) -> DataType:
        here = (*path, key)
        if key in value:
            return self.type(value[key], here, depth + 1)
        self._problem("LB2005", here, f"a type object of {_shown(value['type'])} needs {key!r}")
        return STRING

    def _vector(self, value: Mapping[str, Any], nullable: bool, path: tuple[str, ...], depth: int) -> Vector:
        element = self._part(value, "element", path, depth)
        length = whole_number(value.get("length"))
        if length is None or not 1 <= length <= MAX_LENGTH:
            found = _shown(value.get("length"))
            self._problem("LB2003", path, f"the 'length' of a VECTOR is a number from 1 to {MAX_LENGTH}", found=found)
            length = 1
        if not isinstance(element, (*VECTOR_ELEMENTS, Unknown)):
            allowed = "one of " + ", ".join(e.root for e in VECTOR_ELEMENTS)
            self._problem("LB2003", path, "a VECTOR cannot hold this type", expected=allowed, found=element.root)
        return Vector(element, length, nullable)

    def _take(self, error: TypeTextError, path: tuple[str, ...]) -> None:
        self.problems += [replace(d, path=path_text(path) or None) for d in error.diagnostics]

    def _field_problem(self, path: tuple[str, ...], message: str, **parts: Any) -> None:
        self._problem("LB2006", path, message, **parts)
        self._of_fields.append(self.problems[-1])

    def _problem(self, code: str, path: tuple[str, ...], message: str, **parts: Any) -> None:
        self.problems.append(Diagnostic(code, message, path=path_text(path) or None, **parts))


def _split_nullability(text: str) -> tuple[str, bool]:
    base = _NOT_NULL.sub("", text)
    return base, base == text


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."

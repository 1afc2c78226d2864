"""Check the shape of foreign schemas in JSON or YAML, and refuse what is in none of its forms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from lakebed.diagnostics import near_names, reason_of
from lakebed.errors import ConversionError
from lakebed.physical import path_text

Path = tuple[str, ...]
UNREADABLE, NO_TYPE = "LB2602", "LB2603"


def refuse(path: Path, message: str, expected: str, value: object) -> NoReturn:
    """Raise `ConversionError` (LB2602) for a part of a schema that is not of the shape that its form has."""
    where = path_text(path) or None
    raise ConversionError.of(UNREADABLE, _at(where, message), path=where, expected=expected, found=found_text(value))


def refuse_type(path: Path, type_: object, form: str, known: Iterable[str] = ()) -> NoReturn:
    """Raise `ConversionError` (LB2603) for a foreign type that has no logical type."""
    names = tuple(known)
    near = near_names(type_, names) if isinstance(type_, str) else ()
    message = f"{found_text(type_)} is no type of {form} that a column here can have"
    listed, where = ", ".join(names) or None, path_text(path) or None
    raise ConversionError.of(NO_TYPE, _at(where, message), path=where, expected=listed, suggestions=near)


def _at(where: str | None, message: str) -> str:
    """The message with the column in front, which the path of a diagnostic alone does not show in a terminal."""
    return message if where is None else f"{where}: {message}"


def found_text(value: object) -> str:
    """A value as it is told in a message, on one line and not for ever."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case Mapping():
            return "an object" if not value else f"an object with {', '.join(map(str, list(value)[:6]))}"
        case list() | tuple():
            return f"a list of {len(value)}"
        case _:
            return str(value)[:80]


def as_mapping(value: Any, path: Path, what: str) -> Mapping[str, Any]:
    """The value, which has to be an object."""
    return value if isinstance(value, Mapping) else refuse(path, f"{what} is no object", "an object", value)


def as_list(value: Any, path: Path, what: str) -> list[Any]:
    """The value, which has to be a list."""
    return value if isinstance(value, list) else refuse(path, f"{what} is no list", "a list", value)


def as_text(value: Any, path: Path, what: str) -> str:
    """The value, which has to be text."""
    return value if isinstance(value, str) else refuse(path, f"{what} is no text", "text", value)


def as_number(value: Any, path: Path, what: str) -> int:
    """The value, which has to be a whole number from 0 on."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return refuse(path, f"{what} is no whole number", "a whole number", value)


def as_flag(value: Any, path: Path, what: str) -> bool:
    """The value, which has to be true or false."""
    return (
        value if isinstance(value, bool) else refuse(path, f"{what} is neither true nor false", "true or false", value)
    )


def parsed(text: Any, path: Path, what: str) -> Any:
    """The value of a JSON text in a text."""
    try:
        return json.loads(as_text(text, path, what))
    except (ValueError, RecursionError) as error:
        refuse(path, f"{what} is no JSON: {reason_of(error)}", "JSON", text)


def by_name(values: Any, path: Path, what: str) -> dict[str, Mapping[str, Any]]:
    """The objects of a list by their names, which they have to have."""
    found = [as_mapping(value, path, f"a member of {what}") for value in as_list(values, path, what)]
    return {as_text(needed(value, "name", path, f"a member of {what}"), path, "`name`"): value for value in found}


def needed(of: Mapping[str, Any], key: str, path: Path, what: str) -> Any:
    """A member that has to be there."""
    return of[key] if key in of else refuse(path, f"{what} has no `{key}`", f"`{key}`", of)


def unread(of: Mapping[str, Any], known: Iterable[str]) -> list[str]:
    """The members of an object that nobody asks for, sorted."""
    return sorted(str(key) for key in of.keys() - set(known))

"""Carry out comments of new columns that turn BYTES into BLOB and ARRAY into VECTOR (Paimon).

`__BLOB_FIELD`, `__BLOB_DESCRIPTOR_FIELD` and `__BLOB_VIEW_FIELD` stand alone or before `; text`; `__VECTOR_FIELD` needs
a dimension: `__VECTOR_FIELD;128; text`. The column is entered in the option that lists columns of that sort.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakebed.catalog.options import BLOB_DESCRIPTOR_FIELD, BLOB_FIELD, BLOB_VIEW_FIELD, VECTOR_FIELD
from lakebed.errors import ValidationError
from lakebed.evolve.schema_changes import problem
from lakebed.physical.paimon_types import Array, Binary, Blob, DataType, Map, VarBinary, Vector, type_line

_BLOB_OPTIONS = {
    "__BLOB_FIELD": BLOB_FIELD,
    "__BLOB_DESCRIPTOR_FIELD": BLOB_DESCRIPTOR_FIELD,
    "__BLOB_VIEW_FIELD": BLOB_VIEW_FIELD,
}
_VECTOR = "__VECTOR_FIELD"


@dataclass(frozen=True, slots=True)
class Directed:
    """What a directive makes of a new column; `options` are the entries that it sets."""

    type: DataType
    comment: str | None
    options: dict[str, str]


def is_directive(comment: str | None) -> bool:
    """Whether a comment is, or looks like, a directive."""
    return comment is not None and comment.strip().startswith(("__BLOB", "__VECTOR"))


def directed(name: str, type_: DataType, comment: str, options: dict[str, str]) -> Directed:
    """Carry out the directive in `comment`. Raises `ValidationError` (LB4014) where it is unknown or does not fit."""
    word, _, rest = comment.strip().partition(";")
    if word == _VECTOR:
        return _vector(name, type_, rest, options)
    option = _BLOB_OPTIONS.get(word)
    if option is None:
        known = ", ".join([*_BLOB_OPTIONS, _VECTOR])
        raise _refused(f"{word!r} is no directive", found=comment, expected=known)
    return Directed(_blob(name, type_, word), rest.strip() or None, {option: _appended(options.get(option), name)})


def _blob(name: str, type_: DataType, word: str) -> DataType:
    match type_:
        case Binary() | VarBinary() | Blob():
            return Blob(type_.nullable)
        case Array(element=Binary() | VarBinary() | Blob() as inner) if word == "__BLOB_FIELD":
            return Array(Blob(inner.nullable), type_.nullable)
        case Map(value=Binary() | VarBinary() | Blob() as inner) if word == "__BLOB_FIELD":
            return Map(type_.key, Blob(inner.nullable), type_.nullable)
        case _:
            raise _refused(f"column {name} cannot be a BLOB", found=type_line(type_), expected="BYTES or BINARY")


def _vector(name: str, type_: DataType, rest: str, options: dict[str, str]) -> Directed:
    size, _, text = rest.partition(";")
    if not size.strip().isdecimal() or int(size) < 1:
        raise _refused(f"{_VECTOR} needs a dimension", found=rest, expected=f"{_VECTOR};128")
    if not isinstance(type_, Array):
        raise _refused(f"column {name} cannot be a VECTOR", found=type_line(type_), expected="an ARRAY of numbers")
    entries = {
        VECTOR_FIELD: _appended(options.get(VECTOR_FIELD), name),
        f"field.{name}.vector-dim": str(int(size)),
    }
    return Directed(Vector(type_.element, int(size), type_.nullable), text.strip() or None, entries)


def _appended(value: str | None, name: str) -> str:
    return f"{value},{name}" if value else name


def _refused(message: str, *, found: str, expected: str) -> ValidationError:
    return problem("LB4014", message, found=found, expected=expected)

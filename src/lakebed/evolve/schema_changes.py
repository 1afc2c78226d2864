"""Define the changes of a table schema, and their REST JSON (Paimon REST API, "SchemaChange").

A path is a tuple of names from the top-level column down. A step into an ARRAY is `element`, into a MAP's value
`value`; map keys cannot be changed. `("r", "x")` is the member `x` of the ROW `r`, `("ar", "element", "x")` the member
`x` of the rows in the array `ar`, `("ai", "element")` the element type of the array `ai`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, assert_never

from lakebed.diagnostics import near_names
from lakebed.errors import LakebedError, ValidationError
from lakebed.physical import DataType, parse_json

Path: TypeAlias = tuple[str, ...]

#: The step into an ARRAY's element and into a MAP's value.
ELEMENT = "element"
VALUE = "value"


class MoveKind(StrEnum):
    """Where a column goes."""

    FIRST = "FIRST"
    LAST = "LAST"
    AFTER = "AFTER"
    BEFORE = "BEFORE"


@dataclass(frozen=True, slots=True)
class Move:
    """A place among siblings for `field`; `reference` is a sibling's name, for AFTER and BEFORE only."""

    field: str
    reference: str | None = None
    kind: MoveKind = MoveKind.FIRST

    @classmethod
    def first(cls, field: str) -> Move:
        return cls(field, None, MoveKind.FIRST)

    @classmethod
    def last(cls, field: str) -> Move:
        return cls(field, None, MoveKind.LAST)

    @classmethod
    def after(cls, field: str, reference: str) -> Move:
        return cls(field, reference, MoveKind.AFTER)

    @classmethod
    def before(cls, field: str, reference: str) -> Move:
        return cls(field, reference, MoveKind.BEFORE)


@dataclass(frozen=True, slots=True)
class SetOption:
    """Give a table option a value. On a table without keys, `primary-key` and `partition` define them."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class RemoveOption:
    """Take a table option away; one that is not there is no error."""

    key: str


@dataclass(frozen=True, slots=True)
class UpdateComment:
    """Change the table's comment; None removes it."""

    comment: str | None


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a nullable column or struct member under a new id; ids inside `type` are given afresh."""

    path: Path
    type: DataType
    comment: str | None = None
    move: Move | None = None


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Give a column or struct member another name; the id, and so the data, stays."""

    path: Path
    new_name: str


@dataclass(frozen=True, slots=True)
class DropColumn:
    """Take a column or struct member out of the schema; its id is never used again."""

    path: Path


@dataclass(frozen=True, slots=True)
class UpdateColumnType:
    """Change the type at a path. With `keep_nullability` the nullability of `type` is not looked at."""

    path: Path
    type: DataType
    keep_nullability: bool = False


@dataclass(frozen=True, slots=True)
class UpdateColumnNullability:
    """Make the type at a path nullable or not."""

    path: Path
    nullable: bool


@dataclass(frozen=True, slots=True)
class UpdateColumnComment:
    """Change a column's description; None removes it."""

    path: Path
    comment: str | None


@dataclass(frozen=True, slots=True)
class UpdateColumnDefaultValue:
    """Change the default that writers put for NULL; None removes it. Old rows are not touched."""

    path: Path
    default: str | None


@dataclass(frozen=True, slots=True)
class UpdateColumnPosition:
    """Move a column among its siblings. `parent` is the path of the ROW that holds it, which REST does not know."""

    move: Move
    parent: Path = ()


@dataclass(frozen=True, slots=True)
class DropPrimaryKey:
    """Make a primary-key table without snapshots an append table; the columns stay NOT NULL."""


Change: TypeAlias = (
    SetOption
    | RemoveOption
    | UpdateComment
    | AddColumn
    | RenameColumn
    | DropColumn
    | UpdateColumnType
    | UpdateColumnNullability
    | UpdateColumnComment
    | UpdateColumnDefaultValue
    | UpdateColumnPosition
    | DropPrimaryKey
)


def problem(code: str, message: str, **parts: Any) -> ValidationError:
    """The error of a change that breaks a rule; `parts` are the other fields of `Diagnostic`."""
    return ValidationError.of(code, message, **parts)


def path_of(change: Change) -> Path:
    """The path that a change is about; empty for a change of the table as a whole."""
    match change:
        case UpdateColumnPosition(move=move, parent=parent):
            return (*parent, move.field)
        case SetOption() | RemoveOption() | UpdateComment() | DropPrimaryKey():
            return ()
        case _:
            return change.path


def to_json(change: Change) -> dict[str, Any]:
    """The REST JSON object of a change, keys in Java's order."""
    match change:
        case SetOption(key, value):
            return {"action": "setOption", "key": key, "value": value}
        case RemoveOption(key):
            return {"action": "removeOption", "key": key}
        case UpdateComment(comment):
            return {"action": "updateComment", "comment": comment}
        case AddColumn(path, type_, comment, move):
            placed = _move_json(move) if move else None
            return _of("addColumn", path, dataType=type_.to_json(), comment=comment, move=placed)
        case RenameColumn(path, new_name):
            return _of("renameColumn", path, newName=new_name)
        case DropColumn(path):
            return _of("dropColumn", path)
        case UpdateColumnType(path, type_, keep):
            return _of("updateColumnType", path, newDataType=type_.to_json(), keepNullability=keep)
        case UpdateColumnNullability(path, nullable):
            return _of("updateColumnNullability", path, newNullability=nullable)
        case UpdateColumnComment(path, comment):
            return _of("updateColumnComment", path, newComment=comment)
        case UpdateColumnDefaultValue(path, default):
            return _of("updateColumnDefaultValue", path, newDefaultValue=default)
        case UpdateColumnPosition(move, parent):
            out: dict[str, Any] = {"action": "updateColumnPosition", "move": _move_json(move)}
            return out | {"parent": list(parent)} if parent else out
        case DropPrimaryKey():
            return {"action": "dropPrimaryKey"}
        case _:
            assert_never(change)


def _of(action: str, path: Path, **parts: Any) -> dict[str, Any]:
    return {"action": action, "fieldNames": list(path), **parts}


def _move_json(move: Move) -> dict[str, Any]:
    return {"fieldName": move.field, "referenceFieldName": move.reference, "type": move.kind.value}


def from_json(value: Any) -> Change:
    """The change of a REST JSON object. Raises `ValidationError` (LB4021) for one that says no change."""
    if not isinstance(value, Mapping):
        raise _malformed("a change is a JSON object", found=repr(value))
    action = value.get("action")
    read = _READERS.get(action) if isinstance(action, str) else None
    if read is None:
        raise _malformed(
            "a change needs an `action` that is known",
            found=repr(action),
            expected=", ".join(_READERS),
            suggestions=near_names(str(action), _READERS),
        )
    parts = _Parts(value)
    change = read(parts)
    parts.finish()
    return change


class _Parts:
    """Reads the members of one object and knows which of them were asked for."""

    def __init__(self, value: Mapping[str, Any], where: str | None = None) -> None:
        self._value = value
        self._where = where or str(value.get("action"))
        self._known = {"action"} if where is None else set()

    def _get(self, key: str, kind: type, *, optional: bool = False) -> Any:
        self._known.add(key)
        found = self._value.get(key)
        if found is None and optional:
            return None
        if not isinstance(found, kind):
            raise _malformed(f"`{key}` of {self._where} must be a {kind.__name__}", found=repr(found))
        return found

    def text(self, key: str) -> str:
        return str(self._get(key, str))

    def text_or_none(self, key: str) -> str | None:
        found = self._get(key, str, optional=True)
        return None if found is None else str(found)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        found = self._get(key, bool, optional=default is not None)
        return bool(default) if found is None else bool(found)

    def path(self, key: str, *, optional: bool = False) -> Path:
        found = self._get(key, list, optional=optional) or []
        if not all(isinstance(p, str) for p in found) or not (found or optional):
            raise _malformed(f"`{key}` of {self._where} must be a list of names", found=repr(found))
        return tuple(found)

    def type(self, key: str) -> DataType:
        self._known.add(key)
        try:
            return parse_json(self._value.get(key), unknown="error", allow_missing_ids=True)
        except LakebedError as error:
            raise ValidationError(*error.diagnostics) from error

    def move(self, *, optional: bool = False) -> Move | None:
        found = self._get("move", dict, optional=optional)
        if found is None:
            return None
        parts = _Parts(found, "move")
        kind = parts.text("type")
        if kind not in MoveKind.__members__:
            raise _malformed(f"a move has a `type`, not {kind!r}", found=repr(kind), expected=", ".join(MoveKind))
        move = Move(parts.text("fieldName"), parts.text_or_none("referenceFieldName"), MoveKind(kind))
        parts.finish()
        return move

    def finish(self) -> None:
        for key in self._value:
            if key not in self._known:
                near = near_names(str(key), self._known)
                raise _malformed(f"`{key}` is no part of {self._where}", found=repr(key), suggestions=near)


def _required_move(parts: _Parts) -> Move:
    move = parts.move()
    assert move is not None
    return move


_READERS: dict[str, Callable[[_Parts], Change]] = {
    "setOption": lambda p: SetOption(p.text("key"), p.text("value")),
    "removeOption": lambda p: RemoveOption(p.text("key")),
    "updateComment": lambda p: UpdateComment(p.text_or_none("comment")),
    "addColumn": lambda p: AddColumn(
        p.path("fieldNames"), p.type("dataType"), p.text_or_none("comment"), p.move(optional=True)
    ),
    "renameColumn": lambda p: RenameColumn(p.path("fieldNames"), p.text("newName")),
    "dropColumn": lambda p: DropColumn(p.path("fieldNames")),
    "updateColumnType": lambda p: UpdateColumnType(
        p.path("fieldNames"), p.type("newDataType"), p.flag("keepNullability", default=False)
    ),
    "updateColumnNullability": lambda p: UpdateColumnNullability(p.path("fieldNames"), p.flag("newNullability")),
    "updateColumnComment": lambda p: UpdateColumnComment(p.path("fieldNames"), p.text_or_none("newComment")),
    "updateColumnDefaultValue": lambda p: UpdateColumnDefaultValue(
        p.path("fieldNames"), p.text_or_none("newDefaultValue")
    ),
    "updateColumnPosition": lambda p: UpdateColumnPosition(_required_move(p), p.path("parent", optional=True)),
    "dropPrimaryKey": lambda _: DropPrimaryKey(),
}


def _malformed(message: str, **parts: Any) -> ValidationError:
    return problem("LB4021", message, **parts)

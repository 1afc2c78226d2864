"""Make a batch of changes on a working copy, refusing what Paimon forbids, as NULL to NOT NULL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from lakebed.catalog import options as table_options
from lakebed.catalog.defaults import is_default_for
from lakebed.catalog.ids import assign
from lakebed.catalog.option_values import is_flagged
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import near_names
from lakebed.errors import ColumnMismatchError, NotCastableError, ValidationError
from lakebed.evolve import option_guards as guards
from lakebed.evolve.cast_rules import castable
from lakebed.evolve.column_list import ColumnList
from lakebed.evolve.comment_directives import directed, is_directive
from lakebed.evolve.nested_paths import (
    Fields,
    edit_siblings,
    edit_type,
)
from lakebed.evolve.option_names import follow_drop, follow_rename, is_blob, primary_key_index_columns
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
    Move,
    MoveKind,
    Path,
    RemoveOption,
    RenameColumn,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefaultValue,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
    UpdateComment,
    path_of,
    problem,
)
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import highest_id, walk_fields, without_ids
from lakebed.physical.paimon_types import (
    UNASSIGNED,
    DataField,
    DataType,
    equal_ignoring_nullability,
    type_line,
    with_nullability,
)


@dataclass(slots=True)
class WorkingCopy:
    """What changes work on. `has_snapshots` is asked at most when a guard needs it."""

    columns: ColumnList
    options: dict[str, str]
    comment: str | None
    highest: int
    primary_keys: tuple[str, ...]
    partition_keys: tuple[str, ...]
    has_snapshots: Callable[[], bool]

    @classmethod
    def of(cls, base: TableSchema, has_snapshots: Callable[[], bool]) -> WorkingCopy:
        highest = max(base.highest_field_id, highest_id(base.fields))
        keys = base.primary_keys, base.partition_keys
        return cls(ColumnList(base.fields), dict(base.options), base.comment, highest, *keys, has_snapshots)

    @property
    def fields(self) -> Fields:
        """The top-level columns as they are now."""
        return self.columns.fields

    def apply(self, change: Change) -> None:
        """Do one change. Raises `ValidationError` and leaves the copy as it was when a rule forbids it."""
        if "path" in getattr(change, "__slots__", ()) and not path_of(change):
            raise problem("LB4021", f"a {type(change).__name__} names no column", expected="a path of one name or more")
        match change:
            case SetOption(key, value):
                self._set_option(key, value)
            case RemoveOption(key):
                self._remove_option(key)
            case UpdateComment(comment):
                self.comment = comment
            case AddColumn():
                self._add(change)
            case RenameColumn(path, new_name):
                self._rename(path, new_name)
            case DropColumn(path):
                self._drop(path)
            case UpdateColumnType(path, type_, keep):
                self._retype(path, type_, keep)
            case UpdateColumnNullability(path, nullable):
                self._set_nullability(path, nullable)
            case UpdateColumnComment(path, comment):
                self._describe(path, comment)
            case UpdateColumnDefaultValue(path, default):
                self._set_default(path, default)
            case UpdateColumnPosition(move, parent):
                self._edit_siblings(parent, lambda siblings: _move(siblings, move, parent))
            case DropPrimaryKey():
                self._drop_primary_key()
            case _:
                assert_never(change)

    # Options and keys

    def _set_option(self, key: str, value: str) -> None:
        if key in (table_options.PRIMARY_KEY, table_options.PARTITION):
            self._define_keys(key, value)
            return
        if self.options.get(key) != value:
            guards.check_change(self.options, key, value, self.has_snapshots)
            self.options[key] = value

    def _remove_option(self, key: str) -> None:
        if key in self.options or key == "type":
            guards.check_change(self.options, key, None, self.has_snapshots)
            del self.options[key]

    def _define_keys(self, key: str, value: str) -> None:
        names = tuple(part.strip() for part in value.split(",") if part.strip())
        present = self.primary_keys if key == table_options.PRIMARY_KEY else self.partition_keys
        if names == present:
            return
        if present or self.has_snapshots():
            why = "the table has keys already" if present else "the table holds data"
            raise problem("LB4019", f"{key} cannot be defined: {why}", path=key, found=value, remedy=guards.NEW_TABLE)
        if key == table_options.PRIMARY_KEY:
            self.primary_keys = names
        else:
            self.partition_keys = names

    def _drop_primary_key(self) -> None:
        if self.primary_keys and self.has_snapshots():
            message = "the primary key of a table that holds data cannot be dropped"
            raise problem("LB4020", message, found=", ".join(self.primary_keys), remedy=guards.NEW_TABLE)
        self.primary_keys = ()

    # Columns

    def _guard(self, path: Path, what: str, *, partition: bool, primary: bool) -> None:
        """Refuse `what` on a column that keys or an index rest on. Only top-level columns can be such."""
        if len(path) != 1:
            return
        name = path[0]
        if partition and name in self.partition_keys:
            raise self._key_refusal("LB4005", f"partition column {name} cannot {what}", path)
        if primary and name in self.primary_keys:
            raise self._key_refusal("LB4006", f"primary key column {name} cannot {what}", path)
        if name in primary_key_index_columns(self.options):
            remedy = "take the column out of the index option first"
            raise problem("LB4007", f"column {name} of a primary-key index cannot {what}", path=name, remedy=remedy)

    @staticmethod
    def _key_refusal(code: str, message: str, path: Path) -> ValidationError:
        return problem(code, message, path=path_text(path), remedy=guards.NEW_TABLE)

    def _add(self, change: AddColumn) -> None:
        path, comment, type_ = change.path, change.comment, change.type
        options = self.options
        if not path[-1].strip():
            raise problem("LB4004", "a column needs a name with a character that is not blank", path=path_text(path))
        if comment is not None and is_directive(comment):
            if len(path) > 1:
                raise problem("LB4014", "a nested column cannot have a directive as its comment", path=path_text(path))
            outcome = directed(path[0], type_, comment, options)
            type_, comment, options = outcome.type, outcome.comment, options | outcome.options
        if not type_.nullable:
            remedy = "add it nullable; only later rows can be required to have a value"
            message = f"new column {path_text(path)} must be nullable: rows that are stored have no value for it"
            raise problem("LB4010", message, path=path_text(path), found=type_line(type_), remedy=remedy)
        new = DataField(UNASSIGNED, path[-1], without_ids(type_), comment)
        (field,), highest = assign((new,), self.highest)
        self._edit_siblings(path[:-1], lambda siblings: self._insert(siblings, field, change))
        self.highest, self.options = highest, options

    def _insert(self, siblings: ColumnList, field: DataField, change: AddColumn) -> None:
        path, move = change.path, change.move
        if field.name in siblings:
            raise ColumnMismatchError.of("LB4002", f"there is a column {path_text(path)} already", path=path_text(path))
        if move is not None:
            if move.field != field.name:
                raise ColumnMismatchError.of(
                    "LB4015", "the move of a new column names another one", path=path_text(path)
                )
            siblings.insert(_place(siblings.names, move, path[:-1]), field)
        elif len(path) == 1 and is_flagged(self.options, table_options.ADD_COLUMN_BEFORE_PARTITION):
            siblings.insert(siblings.first_of(self.partition_keys), field)
        else:
            siblings.insert(len(siblings), field)

    def _rename(self, path: Path, new_name: str) -> None:
        self._guard(path, "be renamed", partition=True, primary=False)
        where = path_text(path)
        if not new_name.strip():
            raise problem("LB4004", "a column needs a name with a character that is not blank", path=where)
        columns = tuple(self.columns.names)

        def rename(siblings: ColumnList) -> None:
            field = siblings.get(path)
            if len(path) == 1 and is_blob(field.type):
                raise problem("LB4008", f"BLOB column {where} cannot be renamed", path=where)
            if new_name in siblings:
                taken = path_text((*path[:-1], new_name))
                raise ColumnMismatchError.of("LB4002", f"there is a column {taken} already", path=where)
            siblings.rename(field.name, replace(field, name=new_name))

        self._edit_siblings(path[:-1], rename)
        self.options = follow_rename(self.options, path, new_name, columns)
        if len(path) == 1:
            self.primary_keys = tuple(new_name if k == path[0] else k for k in self.primary_keys)

    def _drop(self, path: Path) -> None:
        self._guard(path, "be dropped", partition=True, primary=True)
        dropped: list[DataField] = []

        def drop(siblings: ColumnList) -> None:
            field = siblings.get(path)
            if len(siblings) == 1:
                whole = path_text(path[:-1]) or "the table"
                remedy = "add another column first, or drop the whole struct" if len(path) > 1 else None
                message = f"{path_text(path)} is the last column of {whole} and cannot be dropped"
                raise ColumnMismatchError.of("LB4009", message, path=path_text(path), remedy=remedy)
            dropped.append(field)
            siblings.remove(field.name)

        self._edit_siblings(path[:-1], drop)
        if len(path) == 1:
            self.options = follow_drop(self.options, dropped[0])

    def _retype(self, path: Path, type_: DataType, keep_nullability: bool) -> None:
        self._guard(path, "change its type", partition=True, primary=True)
        explicit = not is_flagged(self.options, table_options.DISABLE_EXPLICIT_TYPE_CASTING)

        def retype(old: DataType) -> DataType:
            new = with_nullability(type_, old.nullable) if keep_nullability else type_
            if is_blob(old) or is_blob(new):
                raise problem("LB4008", f"BLOB column {path_text(path)} cannot change its type", path=path_text(path))
            self._check_nullability(path, old, new.nullable, forbidden=not explicit)
            if not castable(old, new, explicit=explicit):
                same = equal_ignoring_nullability(without_ids(old), without_ids(new))
                remedy = "change only the nullability" if same else "add a new column of the wanted type"
                raise NotCastableError.of(
                    "LB4012",
                    f"{path_text(path)} cannot change from {type_line(old)} to {type_line(new)}",
                    path=path_text(path),
                    expected=f"a type that stored {type_line(old)} values can be read as",
                    found=type_line(new),
                    remedy=remedy,
                )
            return new

        self._edit_type(path, retype, check=lambda before, after: _check_kept_defaults(before, after, path))

    def _set_nullability(self, path: Path, nullable: bool) -> None:
        if nullable and len(path) == 1 and path[0] in self.primary_keys:
            raise self._key_refusal("LB4006", f"primary key column {path[0]} cannot be nullable", path)

        def change(old: DataType) -> DataType:
            self._check_nullability(path, old, nullable, forbidden=False)
            return with_nullability(old, nullable)

        self._edit_type(path, change)

    def _check_nullability(self, path: Path, old: DataType, nullable: bool, *, forbidden: bool) -> None:
        tightens = old.nullable and not nullable
        if tightens and (forbidden or is_flagged(self.options, table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED)):
            message = f"{path_text(path)} is nullable and cannot become NOT NULL: stored rows may hold nulls"
            gate = table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED
            remedy = f"keep it nullable, or set option {gate} to false if no row is null"
            raise problem("LB4011", message, path=path_text(path), remedy=remedy)

    def _describe(self, path: Path, comment: str | None) -> None:
        if is_directive(comment):
            message = "the comment of a column that is there cannot be a directive"
            raise problem("LB4014", message, path=path_text(path), found=comment)
        self._edit_field(path, lambda f: replace(f, description=comment))

    def _set_default(self, path: Path, default: str | None) -> None:
        def change(field: DataField) -> DataField:
            if default is not None and not is_default_for(default, field.type):
                raise _default_refusal(path, field.type, default)
            return replace(field, default_value=default)

        self._edit_field(path, change)

    # Reaching a column. What an edit raises leaves everything as it was.

    def _edit_siblings(self, parent: Path, edit: Callable[[ColumnList], None]) -> None:
        """Edit the columns of the table, or the members of the ROW at `parent`."""
        if not parent:
            edit(self.columns)
            return

        def edited(fields: Fields) -> Fields:
            siblings = ColumnList(fields)
            edit(siblings)
            return siblings.fields

        (column,) = edit_siblings((self.columns.get(parent[:1]),), parent, edited)
        self.columns.put(column)

    def _edit_field(self, path: Path, edit: Callable[[DataField], DataField]) -> None:
        """Put `edit` of the column at `path` in its place."""
        self._edit_siblings(path[:-1], lambda siblings: siblings.put(edit(siblings.get(path))))

    def _edit_type(
        self,
        path: Path,
        edit: Callable[[DataType], DataType],
        *,
        check: Callable[[DataField, DataField], None] = lambda before, after: None,
    ) -> None:
        """Put `edit` of the type at `path` in its place; `check` sees the top-level column before and after it."""
        before = self.columns.get(path[:1])
        (after,) = edit_type((before,), path, edit)
        check(before, after)
        self.columns.put(after)


def _move(siblings: ColumnList, move: Move, parent: Path) -> None:
    field = siblings.get((*parent, move.field))
    at = siblings.names.index(field.name)
    edge = {MoveKind.FIRST: 0, MoveKind.LAST: len(siblings) - 1}.get(move.kind)
    if move.reference == move.field or at == edge:
        where = path_text((*parent, move.field))
        raise ColumnMismatchError.of("LB4015", f"{where} is there already", path=where, found=move.kind.value)
    others = siblings.names[:at] + siblings.names[at + 1 :]
    place = _place(others, move, parent)
    siblings.remove(field.name)
    siblings.insert(place, field)


def _place(names: list[str], move: Move, parent: Path) -> int:
    """Where among the other columns a move puts its column."""
    match move.kind:
        case MoveKind.FIRST:
            return 0
        case MoveKind.LAST:
            return len(names)
        case MoveKind.AFTER | MoveKind.BEFORE:
            reference = move.reference or ""
            if reference not in names:
                raise ColumnMismatchError.of(
                    "LB4001",
                    f"there is no column {path_text((*parent, reference))} to put {move.field} next to",
                    path=path_text((*parent, move.field)),
                    suggestions=near_names(reference, names),
                )
            return names.index(reference) + (move.kind is MoveKind.AFTER)
        case _:
            assert_never(move.kind)


def _check_kept_defaults(before: DataField, after: DataField, path: Path) -> None:
    """Refuse a new type of a top-level column under which a default in it is no value any more."""
    types = {f.id: f.type for f in walk_fields((before,))}
    for field in walk_fields((after,)):
        default = field.default_value
        if default is not None and field.type != types.get(field.id) and not is_default_for(default, field.type):
            raise _default_refusal(path, field.type, default)


def _default_refusal(path: Path, type_: DataType, default: str) -> ValidationError:
    message = f"default {default!r} of {path_text(path)} is no {type_line(type_)}"
    return problem("LB4013", message, path=path_text(path), expected=type_line(type_), found=default)

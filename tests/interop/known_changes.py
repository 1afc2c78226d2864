"""Where pypaimon and Lakebed are known to differ over changes of a schema: each with a case that shows it.

`number` is that of the reference's list of differences, None for one that it does not list. A difference that a random
change meets has to be explained by an entry; an entry whose case no longer shows it has to go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakebed.catalog.ids import assign
from lakebed.catalog.schema_file import loads
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, LakebedError
from lakebed.evolve.evaluate import evaluate
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
    Move,
    RenameColumn,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefaultValue,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
)
from lakebed.physical import paimon_types as t

UNREADABLE = "pypaimon wrote what is no schema"
OPEN = "alter-column-null-to-not-null.disabled"


@dataclass(frozen=True, slots=True)
class Step:
    """Changes of a schema, and what both made of them: a schema, or why not (codes; pypaimon's words).

    `theirs` is `UNREADABLE` where pypaimon wrote what is no schema.
    """

    before: TableSchema
    changes: tuple[Change, ...]
    ours: TableSchema | tuple[str, ...]
    theirs: TableSchema | str

    @property
    def agree(self) -> bool:
        refused = isinstance(self.theirs, str) and self.theirs != UNREADABLE
        return self.ours == self.theirs or (isinstance(self.ours, tuple) and refused)

    @property
    def codes(self) -> tuple[str, ...]:
        """Why Lakebed refuses what pypaimon does; empty otherwise."""
        return self.ours if isinstance(self.ours, tuple) else ()

    @property
    def words(self) -> str:
        """Why pypaimon refuses what Lakebed does; empty otherwise."""
        return self.theirs if isinstance(self.theirs, str) and not self.codes else ""


def our_answer(before: TableSchema, changes: Sequence[Change]) -> TableSchema | tuple[str, ...]:
    try:
        return evaluate(before, changes, has_snapshots=lambda: False, now=0)
    except LakebedError as error:
        return tuple(d.code for d in error.diagnostics)


def their_answer(answer: dict[str, Any]) -> TableSchema | str:
    """pypaimon's schema as Lakebed reads it, so that texts of types and spaces do not matter."""
    if "refused" in answer:
        return str(answer["refused"])
    try:
        return replace(loads(json.dumps(answer["schema"]).encode(), source="pypaimon"), id=1, time_millis=0)
    except CorruptMetadataError:
        return UNREADABLE


@dataclass(frozen=True, slots=True)
class Known:
    """A difference: a case, and which steps it explains."""

    number: int | None
    name: str
    before: TableSchema
    changes: tuple[Change, ...]
    explains: Callable[[Step], bool]


def _table(*columns: tuple[str, t.DataType], keys: tuple[str, ...] = (), **options: str) -> TableSchema:
    fields, highest = assign((t.DataField(t.UNASSIGNED, n, x) for n, x in columns), -1)
    return TableSchema(0, fields, highest, (), keys, options)


_INT, _STRING = t.Int(), t.STRING
_PLAIN = _table(("k", _INT), ("v", _STRING), ("b", t.Boolean()), ("d", t.Date()), ("l", t.Array(_INT)))
_KEYED = _table(("k", t.Int(False)), ("v", _STRING), ("w", _INT), keys=("k",), bucket="1")
#: What the rules of tables say of the result, none of which pypaimon asks about.
_VALIDATION = "LB33"


def _of(step: Step, *kinds: type) -> bool:
    return any(isinstance(change, kinds) for change in step.changes)


def _only(step: Step, *codes: str) -> bool:
    return bool(step.codes) and set(step.codes) <= set(codes)


def _validation(step: Step) -> bool:
    own = ("LB3315", "LB3317")
    return bool(step.codes) and all(c.startswith(_VALIDATION) and c not in own for c in step.codes)


def _but_names(theirs: TableSchema, ours: TableSchema) -> TableSchema:
    return replace(theirs, primary_keys=ours.primary_keys, options=ours.options, fields=ours.fields)


def _keys_differ(step: Step) -> bool:
    """The same but for keys and options that name columns, which follow one rename of a batch only in pypaimon."""
    ours, theirs = step.ours, step.theirs
    if not isinstance(ours, TableSchema) or not isinstance(theirs, TableSchema):
        return False
    renames = sum(isinstance(c, RenameColumn) for c in step.changes)
    return renames > 1 and _but_names(theirs, ours) == ours


KNOWN = (
    Known(
        11,
        "drop primary key",
        _KEYED,
        (DropPrimaryKey(), SetOption("bucket", "-1")),
        lambda s: "dropPrimaryKey" in s.words,
    ),
    Known(
        11,
        "default value",
        _PLAIN,
        (UpdateColumnDefaultValue(("v",), "x"),),
        lambda s: "updateColumnDefaultValue" in s.words,
    ),
    Known(
        1, "blank name", _PLAIN, (RenameColumn(("v",), " "),), lambda s: _only(s, "LB4004") and s.theirs == UNREADABLE
    ),
    Known(12, "reserved name", _PLAIN, (RenameColumn(("v",), "_ROW_ID"),), lambda s: _only(s, "LB3315")),
    Known(12, "bad option", _PLAIN, (SetOption("file.format", "nonsense"),), _validation),
    Known(
        12,
        "dropped sequence field",
        replace(_KEYED, options={"bucket": "1", "sequence.field": "w"}),
        (DropColumn(("w",)),),
        lambda s: _only(s, "LB3317"),
    ),
    Known(
        13,
        "below an atomic column",
        _PLAIN,
        (AddColumn(("v", "x"), _INT),),
        lambda s: _only(s, "LB4003") and _of(s, AddColumn),
    ),
    Known(
        13,
        "moved to where it is",
        _PLAIN,
        (UpdateColumnPosition(Move.first("k")),),
        lambda s: _only(s, "LB4015") and _of(s, UpdateColumnPosition),
    ),
    Known(
        15,
        "a type that it cannot read",
        _PLAIN,
        (UpdateColumnType(("b",), t.Decimal(5, 2)),),
        lambda s: "Column type" in s.words and _of(s, UpdateColumnType),
    ),
    Known(
        15,
        "a type that cannot be read",
        _PLAIN,
        (UpdateColumnType(("d",), t.VarChar(9)),),
        lambda s: _only(s, "LB4012") and _of(s, UpdateColumnType),
    ),
    Known(
        27,
        "a guard over the name before the batch",
        _KEYED,
        (RenameColumn(("k",), "x"), RenameColumn(("w",), "k"), UpdateColumnType(("k",), t.BigInt())),
        lambda s: len(s.changes) > 1 and ("primary key" in s.words or "partition" in s.words),
    ),
    Known(
        27,
        "a guard over the option before the batch",
        replace(_PLAIN, options={OPEN: "false"}),
        (SetOption(OPEN, "true"), UpdateColumnNullability(("v",), False)),
        lambda s: len(s.changes) > 1 and _only(s, "LB4011", "LB4012", "LB4018"),
    ),
    Known(
        27,
        "a key that is renamed twice",
        _KEYED,
        (RenameColumn(("k",), "x"), RenameColumn(("x",), "y")),
        lambda s: _keys_differ(s),
    ),
    Known(
        None,
        "a drop of an element, which drops the column",
        _table(("k", _INT), ("l", t.Array(_INT)), ("z", _INT)),
        (DropColumn(("l", "element")),),
        lambda s: _only(s, "LB4003") and _of(s, DropColumn),
    ),
    Known(
        None,
        "a comment on an element",
        _PLAIN,
        (UpdateColumnComment(("l", "element"), "text"),),
        lambda s: _only(s, "LB4003") and _of(s, UpdateColumnComment),
    ),
)

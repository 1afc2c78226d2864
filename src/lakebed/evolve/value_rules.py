"""Tell what stored values have to be like for a change to be harmless. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Context
from decimal import Decimal as Number
from typing import Any, TypeAlias

from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.column_places import ColumnPlaces
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import Meanings
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import Path
from lakebed.evolve.verdicts import REQUIRED_CODE, STRICTER_CODE, TYPE_CODE, Judgement, is_read_as_text
from lakebed.model import LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.model.extra import ENUM, MAXIMUM, MINIMUM, PATTERN, PERSONAL_DATA, UNIQUE
from lakebed.model.logical_tree import fields_inside
from lakebed.model.value_order import RANGES
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_types import DataType, equal_ignoring_nullability, type_line


@dataclass(frozen=True, slots=True)
class Present:
    """No NULL. What is inside of a NULL is not asked."""


@dataclass(frozen=True, slots=True)
class Within:
    """From `low` to `high`, both included, as an attribute says them; None is no bound. NaN lies within none."""

    low: Any = None
    high: Any = None


@dataclass(frozen=True, slots=True)
class Among:
    """One of these, as an attribute says them."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The whole text matches a regular expression of Java."""

    pattern: str


@dataclass(frozen=True, slots=True)
class NoLonger:
    """At most so many characters or bytes, or `exact`ly so many; of a list so many items."""

    length: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Exact:
    """A value of another type, without loss; of a text in its usual form."""

    type: DataType


@dataclass(frozen=True, slots=True)
class Unique:
    """No two rows have the same in these top-level columns. NULL is no value; in a `key` it may not be."""

    columns: tuple[str, ...]
    key: bool = False


@dataclass(frozen=True, slots=True)
class Untold:
    """What Lakebed cannot look for in rows, and why."""

    why: str


Test: TypeAlias = Present | Within | Among | Matching | NoLonger | Exact | Unique | Untold


@dataclass(frozen=True, slots=True)
class ValueRule:
    """What all stored values at a place have to pass.

    `path` has the names of the stored version, and `stored` and `meant` are its types there. Values of `personal` data
    are shown to nobody. Values that are to get another type are `cast`.
    """

    path: Path
    stored: DataType
    meant: LogicalType
    test: Test
    personal: bool = False
    cast: bool = False


#: The integers that a floating point number holds without a gap.
_WHOLE: dict[type[DataType], int] = {p.Float: 1 << 24, p.Double: 1 << 53}
_INTEGER_KINDS = frozenset(RANGES) - {logical.Duration.kind}
_INTEGERS = (p.TinyInt, p.SmallInt, p.Int, p.BigInt)
_TEXTS, _BYTES = (p.Char, p.VarChar), (p.Binary, p.VarBinary)
_NESTED = (p.Row, p.Array, p.Map, p.Multiset, p.Variant, p.Vector, p.Blob, p.Unknown)
#: Digits of a second that rows have when they are read.
_MICROS = 6
#: So many values of an enumeration are named.
_MOST_SHOWN = 8
_EXACT = Context(prec=100)


@dataclass(frozen=True, slots=True)
class RuleMaker:
    """Makes the rules of the edits from the stored version `base` to the columns `fields`, declared as `schema`."""

    base: TableSchema
    fields: Fields
    schema: Schema
    meanings: Meanings

    def rule(self, edit: Edit, judgement: Judgement) -> ValueRule | None:
        """What the judgement on an edit leaves open about the rows; None where it does not depend on them."""
        if edit.kind is EditKind.PRIMARY_KEYS:
            return self._key(edit)
        if judgement.code not in (REQUIRED_CODE, STRICTER_CODE, TYPE_CODE) or is_read_as_text(judgement):
            return None
        before, after = ColumnPlaces.of(self.base.fields), ColumnPlaces.of(self.fields)
        place = after.places.get(edit.path, ())
        stored, path = before.types.get(place), next((k for k, v in before.places.items() if v == place), ())
        old, new = self.meanings.before.get(edit.path), self.meanings.after.get(edit.path)
        if stored is None or old is None or new is None:
            return None
        test = self._test(edit, stored, after.types[place], (required(old), required(new)))
        personal, is_cast = self._is_personal({path[0], edit.path[0]}), edit.kind in (EditKind.TYPE, EditKind.MEANING)
        return ValueRule(path, stored, required(old), test, personal, is_cast)

    def _test(self, edit: Edit, stored: DataType, wanted: DataType, meant: tuple[LogicalType, LogicalType]) -> Test:
        if edit.kind is EditKind.NULLABILITY:
            return Present()
        if edit.kind is not EditKind.ANNOTATION:
            return cast_test(stored, wanted, *meant)
        if edit.name == UNIQUE and len(edit.path) == 1:
            return _unique(stored, ColumnPlaces.of(self.base.fields), ColumnPlaces.of(self.fields), edit.path)
        are_whole = isinstance(stored, _INTEGERS) and isinstance(wanted, _INTEGERS)
        if not are_whole and not equal_ignoring_nullability(stored, wanted):
            return Untold("the type of the column changes, too")
        value = json.loads(edit.after_text or "null")
        return attribute_test(edit.name or "", value)

    def _key(self, edit: Edit) -> ValueRule | None:
        """The rule of a key where there was none, of columns that are stored."""
        ids = {f.name: f.id for f in self.fields}
        stored = {f.id: f for f in self.base.fields}
        names = (edit.after_text or "").split(", ")
        columns = [stored.get(ids.get(name, -1)) for name in names]
        if self.base.primary_keys or None in columns:
            return None
        found = tuple(c for c in columns if c is not None)
        test = Unique(tuple(c.name for c in found), key=True)
        first = found[0]
        personal = self._is_personal({*names, *test.columns})
        meant = next(f.type for f in self.base.logical.fields if f.name == first.name)
        return ValueRule((first.name,), first.type, required(meant), test, personal)

    def _is_personal(self, names: Collection[str]) -> bool:
        """Whether one of the columns is declared as personal data, before or after."""
        own = tuple(f for f in (*self.base.logical.fields, *self.schema.fields) if f.name in names)
        return any(f.extra.get(PERSONAL_DATA) is True for _, f in fields_inside(own))


def _unique(stored: DataType, before: ColumnPlaces, after: ColumnPlaces, path: Path) -> Test:
    if isinstance(stored, _NESTED):
        return Untold("values of this type are not compared")
    return Unique((before.fields[after.places[path]].name,))


def attribute_test(key: str, value: Any) -> Test:
    """What an attribute of a column asks of its values."""
    match key, value:
        case _ if key == ENUM and isinstance(value, list):
            return Among(tuple(item for item in value if item is not None))
        case _ if key == PATTERN and isinstance(value, str):
            return Matching(value)
        case _ if key == MINIMUM:
            return Within(low=value)
        case _ if key == MAXIMUM:
            return Within(high=value)
        case _:
            return Untold(f"stored values are not held against {key}")


def cast_test(old: DataType, new: DataType, meant: LogicalType, wanted: LogicalType) -> Test:
    """What values of a stored type have to be like so that a new one holds them; `meant` and `wanted` are declared."""
    if isinstance(wanted, logical.List) and wanted.fixed_length is not None:
        return NoLonger(wanted.fixed_length, exact=True)
    if wanted.kind in _INTEGER_KINDS and (meant.kind in _INTEGER_KINDS or _is_whole(meant)):
        return Within(*RANGES[wanted.kind])
    match old, new:
        case _ if meant.kind in _INTEGER_KINDS and isinstance(old, _INTEGERS) and isinstance(new, p.Decimal):
            most = 10 ** (new.precision - new.scale) - 1
            return Within(-most, most)
        case _ if meant.kind in _INTEGER_KINDS and isinstance(wanted, logical.Float32 | logical.Float64):
            return Within(-_WHOLE[type(new)], _WHOLE[type(new)])
        case p.Decimal(), p.Decimal() if new.scale >= old.scale:
            return _decimals(new.precision - new.scale, old.scale)
        case ((p.Char() | p.VarChar()), (p.Char() | p.VarChar())):
            # A shorter value of CHAR is filled up.
            return NoLonger(new.length, exact=isinstance(new, p.Char))
        case ((p.Binary() | p.VarBinary()), (p.Binary() | p.VarBinary())):
            return NoLonger(new.length, exact=isinstance(new, p.Binary))
        case _ if _is_exact_or_not(old, new, wanted):
            return Exact(new)
        case _:
            return Untold(f"rows do not tell whether a {meant.kind} stays what it is as {wanted.kind}")


def _is_whole(type_: LogicalType) -> bool:
    return isinstance(type_, logical.Decimal) and type_.scale == 0


def _decimals(before: int, scale: int) -> Within:
    """So many digits before the point, and any after it that the stored type has."""
    most = _EXACT.subtract(Number(10) ** before, Number(1).scaleb(-scale))
    return Within(str(-most), str(most))


def _is_exact_or_not(old: DataType, new: DataType, wanted: LogicalType) -> bool:
    """Whether it can be told of each value if it stays what it is; what is `wanted` may be less than its carrier."""
    own_integers = wanted.kind in ("Int8", "Int16", "Int32", "Int64")
    match old, new:
        case ((p.Float() | p.Double()), p.Float()):
            return isinstance(wanted, logical.Float32)
        case p.Decimal(), p.Decimal():
            return isinstance(wanted, logical.Decimal)
        case ((p.Char() | p.VarChar()), (p.Date() | p.Boolean())):
            return isinstance(wanted, logical.Date | logical.Bool)
        case ((p.Char() | p.VarChar()), p.Decimal()):
            return isinstance(wanted, logical.Decimal)
        case ((p.Float() | p.Double() | p.Decimal() | p.Char() | p.VarChar()), _) if isinstance(new, _INTEGERS):
            return own_integers
        case (p.Timestamp(), p.Timestamp()) | (p.LocalZonedTimestamp(), p.LocalZonedTimestamp()):
            return _precision(old) <= _MICROS
        case _:
            return False


def _precision(type_: DataType) -> int:
    assert isinstance(type_, p.Timestamp | p.LocalZonedTimestamp)
    return type_.precision


def broken_words(rule: ValueRule) -> str:
    """What a value that does not pass is, after `is` or `are`."""
    match rule.test:
        case Present():
            return "NULL"
        case Within(low=None, high=high):
            return f"more than {high}"
        case Within(low=low, high=None):
            return f"less than {low}"
        case Within(low=low, high=high):
            return f"outside of {low} to {high}"
        case Among(values=values):
            shown = ", ".join(map(str, values[:_MOST_SHOWN]))
            return f"none of {shown}" if len(values) <= _MOST_SHOWN else f"none of {len(values):,} values: {shown}, ..."
        case Matching(pattern=pattern):
            return f"no match of {pattern}"
        case NoLonger(length=length, exact=exact):
            return f"{'not' if exact else 'longer than'} {length} {_unit(rule.stored)}{' long' if exact else ''}"
        case Exact(type=type_):
            return f"no exact {type_line(type_)}"
        case Unique(columns=columns, key=True):
            return f"NULL or repeated in {', '.join(columns)}"
        case Unique():
            return "repeated"
        case Untold():
            return "in the way"


def _unit(type_: DataType) -> str:
    return "characters" if isinstance(type_, _TEXTS) else "bytes" if isinstance(type_, _BYTES) else "items"

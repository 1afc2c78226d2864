"""Generate types that files can hold, and rows of them as Spark gives them to a worker and as they come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context
from decimal import Decimal as Number
from functools import cache
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lakebed.catalog.ids import assign
from lakebed.physical import UNASSIGNED, DataField, DataType, with_nullability
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_tree import fold

#: Microseconds of the years 1 to 9999, and beyond what nanoseconds of 64 bits hold.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@cache
def leaf_types() -> st.SearchStrategy[DataType]:
    """Every type without parts that is written."""
    plain = (p.Boolean(), p.TinyInt(), p.SmallInt(), p.Int(), p.BigInt(), p.Float(), p.Double(), p.Date())
    return st.one_of(
        st.sampled_from((*plain, p.STRING, p.BYTES, p.Char(3), p.VarChar(20), p.Binary(3), p.VarBinary(9))),
        st.integers(1, 38).flatmap(lambda n: st.builds(p.Decimal, st.just(n), st.integers(0, n))),
        st.builds(p.Time, st.integers(0, 3)),
        st.builds(p.Timestamp, st.integers(0, 6)),
        st.builds(p.LocalZonedTimestamp, st.integers(0, 6)),
    )


@st.composite
def types(draw: st.DrawFn, *, depth: int = 2) -> DataType:
    """Types that are written, nullable or not, nested up to `depth` levels."""
    inner = types(depth=depth - 1)
    made: DataType
    match draw(st.sampled_from(("leaf", "leaf", "ARRAY", "MAP", "MULTISET", "ROW"))) if depth else "leaf":
        case "ARRAY":
            made = p.Array(draw(inner))
        case "MAP":
            made = p.Map(with_nullability(draw(leaf_types()), False), draw(inner))
        case "MULTISET":
            made = p.Multiset(with_nullability(draw(leaf_types()), False))
        case "ROW":
            names = draw(st.lists(st.sampled_from(("a", "B", "c d", "é")), min_size=1, max_size=3, unique=True))
            made = p.Row(tuple(DataField(UNASSIGNED, name, draw(inner)) for name in names))
        case _:
            made = draw(leaf_types())
    return with_nullability(made, draw(st.booleans()))


@st.composite
def columns(draw: st.DrawFn, *, most: int = 4, depth: int = 2) -> tuple[DataField, ...]:
    """Columns with their ids."""
    names = draw(st.lists(st.sampled_from(("a", "b", "é", "x y", "D.e", "_f")), min_size=1, max_size=most, unique=True))
    fields, _ = assign(tuple(DataField(UNASSIGNED, name, draw(types(depth=depth))) for name in names), -1)
    return fields


def given_type(type_: DataType) -> pa.DataType:
    """The Arrow type in which Spark gives values to a worker, all of it nullable."""

    def make(part: DataType, inner: tuple[pa.DataType, ...]) -> pa.DataType:
        match part:
            case p.Row():
                return pa.struct([(f.name, t) for f, t in zip(part.fields, inner, strict=True)])
            case p.Array():
                return pa.list_(pa.field("element", inner[0]))
            case p.Map():
                return pa.map_(*inner)
            case p.Multiset():
                return pa.map_(inner[0], pa.int32())
            case p.Decimal():
                return pa.decimal128(part.precision, part.scale)
            case p.Timestamp():
                return pa.timestamp("us")
            case p.LocalZonedTimestamp():
                return pa.timestamp("us", "Europe/Paris")
            case p.Time():
                return pa.int32()
            case _:
                return _GIVEN[type(part)]

    return fold(type_, make)


_GIVEN = {
    p.Boolean: pa.bool_(),
    p.TinyInt: pa.int8(),
    p.SmallInt: pa.int16(),
    p.Int: pa.int32(),
    p.BigInt: pa.int64(),
    p.Float: pa.float32(),
    p.Double: pa.float64(),
    p.Char: pa.string(),
    p.VarChar: pa.string(),
    p.Binary: pa.binary(),
    p.VarBinary: pa.binary(),
    p.Date: pa.date32(),
}


def values(type_: DataType) -> st.SearchStrategy[Any]:
    """Values in the form of `raw`: numbers for times, lists of pairs for maps, dictionaries for structs."""

    def make(part: DataType, inner: tuple[st.SearchStrategy[Any], ...]) -> st.SearchStrategy[Any]:
        found = _values(part, inner)
        return st.none() | found if part.nullable else found

    return fold(type_, make)


def _values(part: DataType, inner: tuple[st.SearchStrategy[Any], ...]) -> st.SearchStrategy[Any]:
    match part:
        case p.Row():
            return st.fixed_dictionaries({f.name: s for f, s in zip(part.fields, inner, strict=True)})
        case p.Array():
            return st.lists(inner[0], max_size=3)
        case p.Map():
            return st.lists(st.tuples(inner[0], inner[1]), max_size=3, unique_by=lambda pair: repr(pair[0]))
        case p.Multiset():
            return st.lists(st.tuples(inner[0], st.integers(1, 9)), max_size=3, unique_by=lambda pair: repr(pair[0]))
        case p.Boolean():
            return st.booleans()
        case p.TinyInt() | p.SmallInt() | p.Int() | p.BigInt():
            bits = _GIVEN[type(part)].bit_width
            return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        case p.Float():
            return st.floats(width=32)
        case p.Double():
            return st.floats()
        case p.Decimal(precision=n, scale=s):
            return st.integers(-(10**n) + 1, 10**n - 1).map(lambda v: Number(v).scaleb(-s, Context(prec=100)))
        case p.Char() | p.VarChar():
            return _TEXT
        case p.Binary() | p.VarBinary():
            return st.binary(max_size=9)
        case p.Date():
            return st.integers(-719_162, 2_932_896)
        case p.Time():
            return st.integers(0, 86_399_999)
        case p.Timestamp(precision=n) | p.LocalZonedTimestamp(precision=n):
            step = 1000 if n <= 3 else 1
            return st.integers(_FIRST // step, _LAST // step).map(lambda v: v * step)
        case _:
            raise AssertionError(part)


def array(raw: Sequence[Any], type_: DataType) -> pa.Array:
    """Values in the form of `raw` as Spark gives them."""
    return pa.array(raw, raw_type(given_type(type_))).cast(given_type(type_))


def raw_type(type_: pa.DataType) -> pa.DataType:
    """The type with numbers for all times, which Python's own values do not hold in full."""
    if pa.types.is_struct(type_):
        return pa.struct([f.with_type(raw_type(f.type)) for f in type_])
    if pa.types.is_map(type_):
        return pa.map_(raw_type(type_.key_type), type_.item_field.with_type(raw_type(type_.item_type)))
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(raw_type(type_.value_type)))
    if pa.types.is_date32(type_) or pa.types.is_time32(type_):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(type_) else type_


def raw(values: pa.Array) -> list[Any]:
    """The values of an array in the form of `raw`, NaN as a text and zeros with their sign, so that they compare."""
    return [_comparable(v) for v in values.cast(raw_type(values.type)).to_pylist()]


def comparable(values: Sequence[Any]) -> list[Any]:
    """The same of values as `values` makes them."""
    return [_comparable(v) for v in values]


def _comparable(value: Any) -> Any:
    match value:
        case float():
            return repr(value)
        case list():
            return [_comparable(v) for v in value]
        case tuple():
            return tuple(_comparable(v) for v in value)
        case dict():
            return {k: _comparable(v) for k, v in value.items()}
        case _:
            return value


@dataclass(frozen=True)
class Rows:
    """Columns of a table and rows of them."""

    fields: tuple[DataField, ...]
    columns: tuple[tuple[Any, ...], ...]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.columns[0])

    def batch(self, start: int = 0, end: int | None = None) -> pa.RecordBatch:
        """Some of the rows as a batch of Spark's."""
        arrays = [array(c[start:end], f.type) for c, f in zip(self.columns, self.fields, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=[f.name for f in self.fields])

    def batches(self, size: int) -> list[pa.RecordBatch]:
        """All rows, `size` to a batch."""
        return [self.batch(i, i + size) for i in range(0, self.count, size)]


@st.composite
def rows(draw: st.DrawFn, *, most: int = 12, depth: int = 2) -> Rows:
    """Columns and rows of them."""
    fields = draw(columns(depth=depth))
    count = draw(st.integers(1, most))
    made = [tuple(draw(st.lists(values(f.type), min_size=count, max_size=count))) for f in fields]
    return Rows(fields, tuple(made))

"""Generate Paimon types, table schemas, and logical schemas that a Paimon table can store."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from lakebed.catalog.ids import assign
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.paimon import hint
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, ENUM, PAIMON_TYPE, RENAMED_FROM
from lakebed.physical import MAX_LENGTH, UNASSIGNED, DataField, DataType, with_nullability
from lakebed.physical import paimon_types as physical
from lakebed.physical.text import ALGORITHMS

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
_LENGTH = st.integers(1, MAX_LENGTH)
_PRECISION = st.integers(0, 9)
_TRICKY_NAMES = ("a", "A", "a.b", "a b", "`a`", "on", "null", "1e3", "é", "日本", "🦆", "_x", "fields", "0")


@cache
def names() -> st.SearchStrategy[str]:
    """Field names: ordinary ones, and those that trip programs up."""
    return st.sampled_from(_TRICKY_NAMES) | _TEXT.filter(lambda name: name.strip() != "")


@cache
def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=5
    )


@st.composite
def _decimals(draw: st.DrawFn) -> DataType:
    precision = draw(st.integers(1, 38))
    return physical.Decimal(precision, draw(st.integers(0, precision)))


@cache
def atomic_types() -> st.SearchStrategy[DataType]:
    """Every type that is written as text, nullable or not."""
    crs = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10) | st.sampled_from(("OGC:CRS84", "4326", "int"))
    plain: tuple[DataType, ...] = (
        *(physical.Boolean(), physical.TinyInt(), physical.SmallInt(), physical.Int(), physical.BigInt()),
        *(physical.Float(), physical.Double(), physical.Date(), physical.Variant(), physical.Blob()),
        *(physical.STRING, physical.BYTES),
    )
    any_of: st.SearchStrategy[DataType] = st.one_of(
        st.sampled_from(plain),
        _decimals(),
        st.builds(physical.Char, _LENGTH),
        st.builds(physical.VarChar, _LENGTH),
        st.builds(physical.Binary, _LENGTH),
        st.builds(physical.VarBinary, _LENGTH),
        st.builds(physical.Time, _PRECISION),
        st.builds(physical.Timestamp, _PRECISION),
        st.builds(physical.LocalZonedTimestamp, _PRECISION),
        st.builds(physical.Geometry, crs),
        st.builds(physical.Geography, crs, st.sampled_from(ALGORITHMS)),
        st.builds(
            physical.Vector,
            st.sampled_from((physical.Boolean(), physical.Int(False), physical.Float(), physical.Double())),
            _LENGTH,
        ),
    )
    return _nullable_or_not(any_of)


def _nullable_or_not(types: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    return st.builds(with_nullability, types, st.booleans())


@cache
def unknown_types() -> st.SearchStrategy[DataType]:
    """Types of the future, as text and as an object."""
    texts = st.sampled_from(("TENSOR(3)", "UUID", '{"type": "UNION", "of": ["INT", "STRING"]}'))
    return st.builds(physical.Unknown, texts, st.booleans())


@st.composite
def data_types(draw: st.DrawFn, *, unknown: bool = False, depth: int = 3) -> DataType:
    """Any type, nested up to `depth` levels; ROW fields have no ids yet. With `unknown`, also types of the future."""
    leaf = atomic_types() | unknown_types() if unknown else atomic_types()
    inner = data_types(unknown=unknown, depth=depth - 1)
    nullable = draw(st.booleans())
    match draw(st.sampled_from(("leaf", "ARRAY", "MULTISET", "MAP", "ROW"))) if depth else "leaf":
        case "ARRAY":
            return physical.Array(draw(inner), nullable)
        case "MULTISET":
            return physical.Multiset(draw(inner), nullable)
        case "MAP":
            return physical.Map(draw(inner), draw(inner), nullable)
        case "ROW":
            return physical.Row(draw(_fields(inner, min_size=0)), nullable)
        case _:
            return draw(leaf)


@st.composite
def _fields(draw: st.DrawFn, types: st.SearchStrategy[DataType], min_size: int) -> tuple[DataField, ...]:
    used = draw(st.lists(names(), min_size=min_size, max_size=3, unique=True))
    text = st.none() | _TEXT
    return tuple(DataField(UNASSIGNED, name, draw(types), draw(text), draw(text)) for name in used)


@st.composite
def table_schemas(draw: st.DrawFn, *, unknown: bool = False) -> TableSchema:
    """A schema version of any table, its ids given; not necessarily one that the rules of tables allow."""
    fields, highest = assign(draw(_fields(data_types(unknown=unknown), min_size=1)), draw(st.integers(-1, 1000)))
    columns = [f.name for f in fields]
    return TableSchema(
        id=draw(st.integers(0, 2**40)),
        fields=fields,
        highest_field_id=highest,
        partition_keys=tuple(draw(st.lists(st.sampled_from(columns), max_size=2, unique=True))),
        primary_keys=tuple(draw(st.lists(st.sampled_from(columns), max_size=2, unique=True))),
        options=draw(st.dictionaries(_TEXT, _TEXT, max_size=3)),
        comment=draw(st.none() | _TEXT),
        time_millis=draw(st.integers(0, 2**42)),
    )


@cache
def _storable_leaves() -> st.SearchStrategy[LogicalType]:
    unit = st.none() | st.sampled_from(TimeUnit)
    zone = st.none() | st.sampled_from(("UTC", "Europe/Paris", "+07:30"))
    plain: tuple[LogicalType, ...] = (
        *(logical.Bool(), logical.Date(), logical.String(), logical.Binary()),
        *(logical.Int8(), logical.Int16(), logical.Int32(), logical.Int64()),
        *(logical.UInt8(), logical.UInt16(), logical.UInt32(), logical.UInt64()),
        *(logical.Float16(), logical.Float32(), logical.Float64()),
    )
    return st.one_of(
        st.sampled_from(plain),
        st.builds(logical.Binary, st.integers(1, MAX_LENGTH)),
        st.integers(1, 38).flatmap(lambda p: st.builds(logical.Decimal, st.just(p), st.integers(0, p))),
        st.builds(logical.Duration, unit),
        st.builds(logical.Time, unit),
        st.builds(logical.Timestamp, unit, zone),
    )


@st.composite
def storable_types(draw: st.DrawFn, *, depth: int = 3) -> LogicalType:
    """Required logical types that have a carrier, nested up to `depth` levels, members of Structs annotated."""
    inner = storable_types(depth=depth - 1)
    maybe = st.booleans().flatmap(lambda optional: st.builds(logical.Option, inner) if optional else inner)
    match draw(st.sampled_from(("leaf", "leaf", "List", "Map", "Struct"))) if depth else "leaf":
        case "List":
            return logical.List(draw(maybe), draw(st.none() | st.integers(0, 5)))
        case "Map":
            return logical.Map(draw(maybe), draw(maybe), draw(st.none() | st.booleans()))
        case "Struct":
            return logical.Struct(draw(_members(inner, min_size=0)))
        case _:
            return draw(_storable_leaves())


def storable_schemas() -> st.SearchStrategy[Schema]:
    """Annotated logical schemas that a Paimon table can store: nested attributes, descriptions, defaults, hints."""
    return st.builds(Schema, _members(storable_types(), min_size=1), _extras(of_field=False))


@st.composite
def _members(draw: st.DrawFn, types: st.SearchStrategy[LogicalType], min_size: int) -> tuple[Field, ...]:
    used = draw(st.lists(names(), min_size=min_size, max_size=3, unique=True))
    return tuple(draw(_member(name, types)) for name in used)


@st.composite
def _member(draw: st.DrawFn, name: str, types: st.SearchStrategy[LogicalType]) -> Field:
    extra = draw(_extras(of_field=True))
    if draw(st.integers(0, 3)) == 0:
        type_, stored = draw(_hinted())
        extra = extra.merged({PAIMON_TYPE: hint(stored).get(PAIMON_TYPE, str(stored))})
    else:
        type_ = draw(types)
    return Field(name, logical.Option(type_) if draw(st.booleans()) else type_, extra)


@cache
def _extras(*, of_field: bool) -> st.SearchStrategy[Extra]:
    """Attributes: free ones with any value, a description, and for fields a default, an enumeration and an old name."""
    free = st.dictionaries(st.sampled_from(("example.org/a", "b.com/x-y", "c.com/z")), json_values(), max_size=2)
    known: dict[str, st.SearchStrategy[Any]] = {DESCRIPTION: _TEXT.filter(lambda t: not t.startswith("__"))}
    if of_field:
        known |= {DEFAULT: json_values(), ENUM: st.just(["a", "b"]), RENAMED_FROM: st.just("old")}
    return st.builds(lambda a, b: Extra(a | b), free, st.fixed_dictionaries({}, optional=known))


@cache
def _hinted() -> st.SearchStrategy[tuple[LogicalType, DataType]]:
    """Logical types with a Paimon type that they would not get without the hint `paimon.apache.org/type`."""
    return st.one_of(
        st.builds(lambda n: (logical.String(), physical.VarChar(n)), st.integers(1, 99)),
        st.builds(lambda n: (logical.String(), physical.Char(n)), st.integers(1, 99)),
        st.builds(lambda n: (logical.Binary(), physical.VarBinary(n)), st.integers(1, 99)),
        st.sampled_from(
            (
                (logical.String(), physical.Variant()),
                (logical.Timestamp(), physical.Timestamp(3)),
                (logical.Timestamp(TimeUnit.NANOSECOND), physical.Timestamp(7)),
                (logical.Timestamp(TimeUnit.SECOND, "Europe/Paris"), physical.LocalZonedTimestamp(6)),
                (logical.Time(TimeUnit.SECOND), physical.Time(3)),
                (logical.Time(), physical.Time(6)),
                (logical.List(logical.Option(logical.String())), physical.Array(physical.VarChar(3))),
                (logical.Map(logical.String(), logical.Int32()), physical.Multiset(physical.VarChar(nullable=False))),
                (logical.Int32(), physical.Int()),
            )
        ),
    )

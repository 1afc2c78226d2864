"""Generate logical types, attributes, fields and schemas.

What they give is valid in a manifest. `logical_types`, `fields` and `schemas` cover everything that can be declared;
the `paimon_` strategies only what a Paimon table can hold.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from lakebed.model import (
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
    Extra,
    Field,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    List,
    LogicalType,
    Map,
    Null,
    Option,
    Schema,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)
from lakebed.model.extra import DESCRIPTION

_RESERVED = frozenset({"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID", "rowkind"})
#: Names that YAML, SQL or Spark are known to trip over.
_ODD_NAMES = (
    *("no", "on", "off", "y", "n", "yes", "null", "true", "~", "1e3", "0777", "0x1F", "1_000", "12:30", "2024-01-01"),
    *(
        ".5",
        "+1",
        "-",
        "=",
        "<<",
        "a b",
        " a",
        "a.b",
        "a`b",
        "a:b",
        "a: b",
        "a #b",
        "#",
        "a/b",
        "a,b",
        "[a]",
        "{a}",
        "%",
    ),
    *(
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "@a",
        '"',
        "'",
        "\\",
        "select",
        "element",
        "value",
        "key",
        "列",
        "größe",
        "👍",
        "\t",
        "a\nb",
    ),
)
_UNITS = st.none() | st.sampled_from(TimeUnit)
_ZONES = st.none() | st.sampled_from(["UTC", "Europe/Paris", "America/New_York", "Z", "+07:30", "-03:00", "GMT+05:00"])
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_ATTRIBUTE_NAMES = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=8)
_DOMAINS = st.sampled_from(["example.org", "a.b", "x", "opendatafabric.org", "kamu.dev"])
_SIMPLE: tuple[LogicalType, ...] = (
    *(Bool(), Date(), Float16(), Float32(), Float64(), Int8(), Int16(), Int32(), Int64()),
    *(String(), UInt8(), UInt16(), UInt32(), UInt64(), Binary()),
)


@cache
def column_names() -> SearchStrategy[str]:
    """Names of columns that may stand at the top level: plain ones, odd ones, any text that is not blank."""
    plain = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
    odd = st.sampled_from([name for name in _ODD_NAMES if name.strip()])
    return (plain | odd | _TEXT.filter(str.strip)).filter(_is_free)


@cache
def json_values() -> SearchStrategy[Any]:
    """Any JSON value, with integers beyond 64 bits, finite floats and nested lists and objects."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
    odd = st.sampled_from(_ODD_NAMES)
    return st.recursive(
        scalars | odd,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT | odd, inner, max_size=3),
        max_leaves=6,
    )


@cache
def extras() -> SearchStrategy[Extra]:
    """Attributes that nobody acts upon, and sometimes a description."""
    keys = st.builds("{}/{}".format, _DOMAINS, _ATTRIBUTE_NAMES).filter(lambda key: not key.endswith("/description"))
    unknown = st.dictionaries(keys.filter(lambda key: key != "opendatafabric.org/type"), json_values(), max_size=2)
    described = st.fixed_dictionaries({}, optional={DESCRIPTION: _TEXT.filter(lambda text: not text.startswith("__"))})
    return st.builds(lambda a, b: Extra({**a, **b}), unknown, described)


@cache
def logical_types(max_leaves: int = 6) -> SearchStrategy[LogicalType]:
    """Any of the 24 types, nested; `max_leaves` bounds how much there is inside."""
    decimals = st.builds(Decimal, st.integers(1, 2**32 - 1), st.integers(-(2**31), 2**31 - 1))
    lengths = st.none() | st.integers(0, 2**64 - 1)
    leaves = _leaves(st.builds(Binary, lengths), decimals, st.just(Null()))
    return st.recursive(
        _maybe_optional(leaves), lambda inner: _maybe_optional(_nested(inner, lengths)), max_leaves=max_leaves
    )


@st.composite
def fields(draw: DrawFn, types: SearchStrategy[LogicalType] | None = None) -> Field:
    """One field, with attributes; of any type, or of one of `types`."""
    type_ = draw(types if types is not None else logical_types())
    return Field(draw(column_names()), type_, draw(extras()))


def schemas(*, min_size: int = 0, max_size: int = 5) -> SearchStrategy[Schema]:
    """A schema of up to `max_size` columns, with attributes; no two names differ only in case."""
    return st.builds(Schema, _siblings(fields(), min_size, max_size), extras())


@cache
def paimon_types(max_leaves: int = 6) -> SearchStrategy[LogicalType]:
    """A type that a Paimon table can hold: no `Null`, decimals of up to 38 digits, keys of maps simple and required."""
    decimals = st.integers(1, 38).flatmap(lambda p: st.builds(Decimal, st.just(p), st.integers(0, p)))
    leaves = _leaves(st.builds(Binary, st.integers(1, 64)), decimals)
    keys: SearchStrategy[LogicalType] = st.sampled_from([String(), Int32(), Int64(), Date(), UInt8()])
    lengths = st.none() | st.integers(1, 4)
    return st.recursive(
        _maybe_optional(leaves),
        lambda inner: _maybe_optional(_nested(inner, lengths, keys=keys, min_members=1)),
        max_leaves=max_leaves,
    )


def paimon_fields() -> SearchStrategy[Field]:
    """One field that a Paimon table can hold."""
    return fields(paimon_types())


def paimon_schemas(*, min_size: int = 1, max_size: int = 5) -> SearchStrategy[Schema]:
    """A schema that a Paimon table can hold, of at least one column."""
    return st.builds(Schema, _siblings(paimon_fields(), min_size, max_size), extras())


def _leaves(*others: SearchStrategy[Any]) -> SearchStrategy[LogicalType]:
    """The types without types inside, each kind as often as the others."""
    temporal = (st.builds(Time, _UNITS), st.builds(Duration, _UNITS), st.builds(Timestamp, _UNITS, _ZONES))
    return st.one_of(*(st.just(type_) for type_ in _SIMPLE), *temporal, *others)


def _maybe_optional(types: SearchStrategy[LogicalType]) -> SearchStrategy[LogicalType]:
    return types | types.map(lambda type_: type_ if isinstance(type_, Option) else Option(type_))


def _nested(
    inner: SearchStrategy[LogicalType],
    lengths: SearchStrategy[int | None],
    *,
    keys: SearchStrategy[LogicalType] | None = None,
    min_members: int = 0,
) -> SearchStrategy[LogicalType]:
    members = st.builds(Field, column_names(), inner, extras())
    return st.one_of(
        st.builds(List, inner, lengths),
        st.builds(Map, keys if keys is not None else inner, inner, st.none() | st.booleans()),
        st.builds(Struct, _siblings(members, min_members, 3)),
    )


def _siblings(members: SearchStrategy[Field], min_size: int, max_size: int) -> SearchStrategy[tuple[Field, ...]]:
    listed = st.lists(members, min_size=min_size, max_size=max_size, unique_by=lambda field: field.name.lower())
    return listed.map(_as_tuple)


def _as_tuple(members: Sequence[Field]) -> tuple[Field, ...]:
    return tuple(members)


def _is_free(name: str) -> bool:
    return name not in _RESERVED and not name.startswith("_KEY_")

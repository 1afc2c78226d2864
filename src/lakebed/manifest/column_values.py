"""Check values that a manifest declares against the type of their column.

They are `lakebed.dev/default`, `lakebed.dev/enum`, `lakebed.dev/minimum` and `lakebed.dev/maximum`.

Numbers and truth values are JSON numbers and booleans; everything else is text as the author wrote it, so that a
decimal keeps its digits and a date its spelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from lakebed.manifest.nodes import Node, ScalarNode, is_null, scalar_value
from lakebed.model import (
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
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
    String,
    Struct,
    Time,
    Timestamp,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    required,
)
from lakebed.model.value_order import RANGES


@dataclass(frozen=True, slots=True)
class Literal:
    """A value, or None where the node holds none; `expected` says what may stand there."""

    value: bool | int | float | str | None
    expected: str


def literal_for(type_: LogicalType, node: Node) -> Literal:
    """What `node` says for a column of this type."""
    inner = required(type_)
    match inner:
        case Bool():
            value = _value(node)
            return Literal(value if isinstance(value, bool) else None, "true or false")
        case Int8() | Int16() | Int32() | Int64() | UInt8() | UInt16() | UInt32() | UInt64() | Duration():
            return _integer(node, *RANGES[inner.kind])
        case Float16() | Float32() | Float64():
            return _number(node)
        case Null():
            return Literal(None, "nothing")
        case Binary() | Date() | Decimal() | String() | Time() | Timestamp() | List() | Map() | Struct() | Option():
            text = node.text if isinstance(node, ScalarNode) and not is_null(node) else None
            return Literal(text, "text")
        case _:
            assert_never(inner)


def _number(node: Node) -> Literal:
    value = _value(node)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return Literal(value if fits else None, "a number")


def _integer(node: Node, low: int, high: int) -> Literal:
    value = _value(node)
    fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    return Literal(value if fits else None, f"an integer from {low} to {high}")


def _value(node: Node) -> bool | int | float | str | None:
    if not isinstance(node, ScalarNode):
        return None
    try:
        return scalar_value(node)
    except ValueError:
        return None

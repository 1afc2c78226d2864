"""Judge whether a change of attributes refuses values that a column allowed before: enum, pattern, bounds. Pure."""

from __future__ import annotations

from typing import Any, TypeAlias

from lakebed.errors import ConversionError
from lakebed.model import extra
from lakebed.model.extra import Extra, canonical_json
from lakebed.model.known_attributes import Did, Multihash, ObjectLink, extended_type
from lakebed.model.types import LogicalType
from lakebed.model.value_order import Ranked, order_of

#: An attribute's value with the type of its column; the value is None where the attribute is absent.
Declared: TypeAlias = tuple[Any, LogicalType | None]


def refuses_more(key: str, before: Declared, after: Declared) -> bool:
    """Whether values that were allowed before are bad ones after the attribute `key` of a column changed.

    What cannot be compared, such as two patterns, is taken to refuse more. False for attributes that allow everything.
    """
    if after[0] is None or before == after:
        return False
    match key:
        case extra.ENUM:
            return before[0] is None or not _members(before) <= _members(after)
        case extra.PATTERN:
            return True
        case extra.MINIMUM:
            return not _in_order(after, before)
        case extra.MAXIMUM:
            return not _in_order(before, after)
        case extra.UNIQUE:
            return after[0] is True and before[0] is not True
        case extra.EXTENDED_TYPE:
            return _checked_as(after[0]) not in (None, _checked_as(before[0]))
        case _:
            return False


def _members(declared: Declared) -> frozenset[object]:
    values, type_ = declared
    return frozenset(_place(value, type_) for value in values) if isinstance(values, list | tuple) else frozenset()


def _place(value: Any, type_: LogicalType | None) -> Ranked | str:
    """The place of a value in the order of its type, or its text where there is none."""
    order = None if type_ is None else order_of(type_)
    rank = None if order is None else order.rank(value)
    return canonical_json(value) if rank is None else rank


def _in_order(lower: Declared, upper: Declared) -> bool:
    """Whether the one bound is known not to lie above the other."""
    low, high = _place(*lower), _place(*upper)
    if isinstance(low, str) or isinstance(high, str) or low.scale != high.scale:
        return low == high
    return bool(low.place <= high.place)


def _checked_as(value: Any) -> type | None:
    """What values are checked to be: DIDs or multihashes; None where they are not checked."""
    try:
        found = extended_type(Extra({extra.EXTENDED_TYPE: value}))
    except ConversionError:
        return None
    while isinstance(found, ObjectLink):
        found = found.link
    return type(found) if isinstance(found, Did | Multihash) else None

"""Spell a logical type on one line, alike in plans, listings, histories and messages."""

from __future__ import annotations

from lakebed.model import types as logical
from lakebed.model.types import LogicalType


def type_name(type_: LogicalType, *, members: bool = True) -> str:
    """`Option<Int32>`, `Decimal(12, 2)`, `List<Struct<a: Int32>>`; without `members` a struct is `Struct` alone.

    Units and zones that are not declared are said too, as what they are.
    """
    match type_:
        case logical.Option():
            return f"Option<{type_name(type_.inner, members=members)}>"
        case logical.Decimal():
            return f"Decimal({type_.precision}, {type_.scale})"
        case logical.Binary(fixed_length=int() as length):
            return f"Binary({length})"
        case logical.Time() | logical.Duration():
            return f"{type_.kind}({type_.effective_unit})"
        case logical.Timestamp():
            return f"Timestamp({type_.effective_unit}, {type_.effective_timezone})"
        case logical.List():
            length_text = f", {type_.fixed_length}" if type_.fixed_length is not None else ""
            return f"List<{type_name(type_.item_type, members=members)}{length_text}>"
        case logical.Map():
            inner = (type_name(t, members=members) for t in (type_.key_type, type_.value_type))
            return f"Map<{', '.join(inner)}{', sorted' if type_.keys_sorted else ''}>"
        case logical.Struct():
            inside = ", ".join(f"{f.name}: {type_name(f.type)}" for f in type_.fields)
            return f"Struct<{inside}>" if members else "Struct"
        case _:
            return type_.kind

"""Spell a logical type on one line, alike in plans, listings, histories and messages."""

from __future__ import annotations

import re

from lakebed.model import types as logical
from lakebed.model.logical_tree import fold
from lakebed.model.types import LogicalType

_WALL_CLOCK = re.compile(r"TIMESTAMP(?! *(\(\d+\))? *WITH\b)", re.IGNORECASE)


def type_name(type_: LogicalType, *, members: bool = True, hint: object = None) -> str:
    """`Option<Int32>`, `Decimal(12, 2)`, `List<Struct<a: Int32>>`; without `members` a struct is `Struct` alone.

    Units and zones that are not declared are said too, as what they are. `hint` is the text of the type that stores the
    column, where that is said: a wall clock, which is declared as a timestamp with a hint, is in no time zone.
    """
    is_wall_clock = isinstance(hint, str) and _WALL_CLOCK.match(hint) is not None

    def spell(part: LogicalType, inner: tuple[str, ...]) -> str:
        match part:
            case logical.Decimal():
                return f"Decimal({part.precision}, {part.scale})"
            case logical.Binary(fixed_length=int() as length):
                return f"Binary({length})"
            case logical.Time() | logical.Duration():
                return f"{part.kind}({part.effective_unit})"
            case logical.Timestamp():
                zone = "no time zone" if is_wall_clock else part.effective_timezone
                return f"Timestamp({part.effective_unit}, {zone})"
            case logical.List(fixed_length=int() as length):
                return f"List<{inner[0]}, {length}>"
            case logical.Map(keys_sorted=True):
                return f"Map<{', '.join(inner)}, sorted>"
            case logical.Struct():
                inside = ", ".join(f"{f.name}: {text}" for f, text in zip(part.fields, inner, strict=True))
                return f"Struct<{inside}>" if members else "Struct"
            case _:
                return f"{part.kind}<{', '.join(inner)}>" if inner else part.kind

    return fold(type_, spell)

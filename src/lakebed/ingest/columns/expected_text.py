"""Name declared types in the problems of rows."""

from __future__ import annotations

from lakebed.model import Extra, LogicalType
from lakebed.model import types as logical
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.logical_tree import fold


def expected_text(type_: LogicalType, extra: Extra = Extra()) -> str:
    """A type as people write it: `Int32`, `Decimal(10, 2)`, `Timestamp(Millisecond)`, `VARCHAR(5)`."""
    hint = extra.get(PAIMON_TYPE)
    if isinstance(hint, str) and not hint.startswith("{"):
        return hint

    def spell(part: LogicalType, inner: tuple[str, ...]) -> str:
        match part:
            case logical.Decimal():
                return f"Decimal({part.precision}, {part.scale})"
            case logical.Time() | logical.Timestamp() | logical.Duration():
                return f"{part.kind}({part.effective_unit.value})"
            case logical.Binary(fixed_length=int() as length):
                return f"Binary({length})"
            case logical.List(fixed_length=int() as length):
                return f"List({inner[0]}, {length})"
            case logical.List() | logical.Map():
                return f"{part.kind}({', '.join(inner)})"
            case logical.Struct():
                return f"Struct({', '.join(f.name for f in part.fields)})"
            case logical.Option():
                return inner[0]
            case _:
                return part.kind

    return fold(type_, spell)

"""Name declared types in the problems of rows."""

from __future__ import annotations

from lakebed.model import Extra, LogicalType, required
from lakebed.model import types as logical
from lakebed.model.extra import PAIMON_TYPE


def expected_text(type_: LogicalType, extra: Extra = Extra()) -> str:
    """A type as people write it: `Int32`, `Decimal(10, 2)`, `Timestamp(Millisecond)`, `VARCHAR(5)`."""
    hint = extra.get(PAIMON_TYPE)
    if isinstance(hint, str) and not hint.startswith("{"):
        return hint
    own = required(type_)
    match own:
        case logical.Decimal():
            return f"Decimal({own.precision}, {own.scale})"
        case logical.Time() | logical.Timestamp() | logical.Duration():
            return f"{own.kind}({own.effective_unit.value})"
        case logical.Binary() if own.fixed_length is not None:
            return f"Binary({own.fixed_length})"
        case logical.List():
            length = "" if own.fixed_length is None else f", {own.fixed_length}"
            return f"List({expected_text(own.item_type)}{length})"
        case logical.Map():
            return f"Map({expected_text(own.key_type)}, {expected_text(own.value_type)})"
        case logical.Struct():
            return f"Struct({', '.join(f.name for f in own.fields)})"
        case _:
            return own.kind

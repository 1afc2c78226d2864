"""Name declared types in the problems of rows."""

from __future__ import annotations

from lakebed.model import Extra, LogicalType, required
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.type_name import type_name
from lakebed.model.types import Timestamp


def expected_text(type_: LogicalType, extra: Extra = Extra()) -> str:
    """A type as plans spell it, less the Option around it; or the one that stores it, which may be a shorter one."""
    hint, meant = extra.get(PAIMON_TYPE), required(type_)
    if isinstance(hint, str) and not hint.startswith("{") and not isinstance(meant, Timestamp):
        return hint
    return type_name(meant, hint=hint)

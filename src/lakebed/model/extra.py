"""Hold the attributes of a field or schema as immutable JSON: `Extra` (RFC-016, "Extra Attributes Format").

An immutable mapping from `<domain>/<name>` to any JSON value. Equality and hash are over the JSON values; key order is
not significant, and canonical text has sorted keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None

DESCRIPTION = "opendatafabric.org/description"
EXTENDED_TYPE = "opendatafabric.org/type"
RENAMED_FROM = "lakebed.dev/renamedFrom"
FIELD_ID = "lakebed.dev/fieldId"
DEFAULT = "lakebed.dev/default"
ENUM = "lakebed.dev/enum"
PATTERN = "lakebed.dev/pattern"
MINIMUM = "lakebed.dev/minimum"
MAXIMUM = "lakebed.dev/maximum"
UNIQUE = "lakebed.dev/unique"
ON_BAD_ROW = "lakebed.dev/onBadRow"
PERSONAL_DATA = "lakebed.dev/personalData"
SYSTEM_COLUMN = "lakebed.dev/systemColumn"
READ = "lakebed.dev/read"
COMPATIBILITY = "lakebed.dev/compatibility"
CONSUMERS = "lakebed.dev/consumers"
ODF_SYSTEM_COLUMN = "opendatafabric.org/systemColumn"
PAIMON_TYPE = "paimon.apache.org/type"

KEY_PATTERN = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9_-]+")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: JsonValue) -> str:
    """Compact JSON with sorted keys and unescaped non-ASCII characters: the form of RFC-016's attribute text."""
    return _CANONICAL.encode(value)


class Extra(Mapping[str, Any]):
    """Attributes of a field or schema. `Extra()` and an absent `extra` are the same thing."""

    __slots__ = ("_text", "_values")

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = dict(values or {})
        self._text: str = canonical_json(self._values) if self._values else "{}"

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Extra):
            return self._text == other._text
        return isinstance(other, Mapping) and self == Extra(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Extra({self._values!r})"

    @property
    def text(self) -> str:
        """Canonical JSON text of the whole map."""
        return self._text

    @property
    def description(self) -> str | None:
        """`opendatafabric.org/description`, or None when absent or not a string."""
        value = self._values.get(DESCRIPTION)
        return value if isinstance(value, str) else None

    def merged(self, values: Mapping[str, Any]) -> Extra:
        """These attributes, with `values` put over them."""
        return Extra({**self._values, **values}) if values else self

    def without(self, *keys: str) -> Extra:
        """These attributes, less `keys` (absent keys are no error)."""
        kept = {k: v for k, v in self._values.items() if k not in keys}
        return self if len(kept) == len(self._values) else Extra(kept)

    def to_json(self) -> dict[str, Any]:
        """A plain dict with sorted keys at every level, safe to change."""
        loaded: dict[str, Any] = json.loads(self._text)
        return loaded

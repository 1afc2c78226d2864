"""Keep the annotations option in step with changes that do not set it themselves.

Names in it follow renames, entries of dropped columns go, and what an entry says about the type or the default of a
column goes when that changes, for it does not describe the column any more.
"""

from __future__ import annotations

import json
from typing import Any

from lakebed.catalog.annotations import FORMAT
from lakebed.catalog.table_schema import walk_fields
from lakebed.convert.fit import bare, without_nullability
from lakebed.evolve.nested_paths import Fields
from lakebed.model.extra import DEFAULT, PAIMON_TYPE, canonical_json
from lakebed.physical.paimon_types import DataField


def follow(text: str, before: Fields, after: Fields) -> str:
    """The option's text after `before` became `after`. Text that is not understood stays as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict) or value.get("format") != FORMAT or not isinstance(value.get("fields"), dict):
        return text
    old = {str(f.id): f for f in walk_fields(before)}
    new = {str(f.id): f for f in walk_fields(after)}
    entries: dict[str, Any] = {}
    for key, entry in value["fields"].items():
        if key in old and key in new and isinstance(entry, dict):
            entry = _followed(entry, old[key], new[key])
        if key in new or key not in old:
            entries[key] = entry
    return text if entries == value["fields"] else canonical_json({**value, "fields": entries})


def _followed(entry: dict[str, Any], before: DataField, after: DataField) -> dict[str, Any]:
    out = dict(entry)
    if out.get("name") == before.name:
        out["name"] = after.name
    stale = set()
    if without_nullability(bare(before.type)) != without_nullability(bare(after.type)):
        out.pop("type", None)
        stale.add(PAIMON_TYPE)
    if before.default_value != after.default_value:
        stale.add(DEFAULT)
    if isinstance(out.get("extra"), dict):
        out["extra"] = {k: v for k, v in out["extra"].items() if k not in stale}
    return out

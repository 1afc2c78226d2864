"""Parse the JSON text of attributes from untrusted bytes (RFC-016, "Extra Attributes Format")."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lakebed.errors import CorruptMetadataError
from lakebed.model import canonical_json

#: Objects and lists within each other.
MAX_DEPTH = 100


def parse_json(text: str) -> dict[str, Any]:
    """The object of a JSON text. Raises `CorruptMetadataError` for other values and for what JSON cannot say again.

    Keys that stand twice, numbers that are not finite, lone surrogates and deep nesting are refused.
    """
    try:
        value = json.loads(text, object_pairs_hook=_members, parse_constant=_not_a_number)
        too_deep = _depth(value) > MAX_DEPTH
        if not too_deep:
            canonical_json(value).encode("utf-8")
    except RecursionError as error:
        raise _faulty(f"nested more than {MAX_DEPTH} levels deep", text) from error
    except ValueError as error:
        raise _faulty(str(error), text) from error
    if too_deep:
        raise _faulty(f"nested more than {MAX_DEPTH} levels deep", text)
    if not isinstance(value, dict):
        raise _faulty("not an object", text)
    return value


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return members


def _not_a_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        inner, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(inner, dict):
            pending += [(v, depth + 1) for v in inner.values()]
        elif isinstance(inner, list):
            pending += [(v, depth + 1) for v in inner]
    return deepest


def _faulty(why: str, text: str) -> CorruptMetadataError:
    shown = text[:60] + ("..." if len(text) > 60 else "")
    return CorruptMetadataError.of("LB2504", f"the attributes are no JSON object: {why}", found=shown)

"""Multiset comparison of rows in the encoding of `encoding.py`, aware of Paimon types where they are given."""

from __future__ import annotations

import collections
import datetime
import json
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from referees.encoding import Row, Value

Columns = Sequence[tuple[str, str]]
"""Column names with Paimon type texts; nested types are spelt `ARRAY<...>`, `MAP<..., ...>`, ``ROW<`a` INT, ...>``."""

_NANOSECONDS = re.compile(r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{6})\d{3}(Z?)$")
_TOKEN = re.compile(r"`(?:[^`]|``)*`|'(?:[^']|'')*'|[<>,()]|[^\s<>,()`']+")


def assert_same_rows(
    expected: Sequence[Row], actual: Sequence[Row], columns: Columns | None = None, *, micros: bool = False
) -> None:
    """Raises AssertionError, with the first differences, unless both hold the same rows in whatever order.

    With `columns`, floats compare by their precision, whole floats equal integers, and a TIME may be its integer of
    milliseconds. `micros` cuts nanoseconds to microseconds on both sides, in timestamps and in texts made from them.
    """
    left, right = (_multiset(rows, columns, micros) for rows in (expected, actual))
    missing, unexpected = left - right, right - left
    if missing or unexpected:
        lines = [f"{sum(left.values())} rows expected, {sum(right.values())} found"]
        lines += _sample("missing", missing) + _sample("unexpected", unexpected)
        raise AssertionError("\n".join(lines))


def _sample(title: str, rows: collections.Counter[str], limit: int = 10) -> list[str]:
    lines = [f"{title}: {text[:400]}{f'  x{n}' if n > 1 else ''}" for text, n in sorted(rows.items())[:limit]]
    return lines + ([f"{title}: ... {len(rows) - limit} more"] if len(rows) > limit else [])


def _multiset(rows: Sequence[Row], columns: Columns | None, micros: bool) -> collections.Counter[str]:
    types = None if columns is None else [TypeTree.parse(text) for _, text in columns]
    return collections.Counter(json.dumps(_canonical_row(row, types, micros), ensure_ascii=False) for row in rows)


def _canonical_row(row: Row, types: list[TypeTree] | None, micros: bool) -> Value:
    if micros:
        row = _cut(row)
    if types is None:
        return row
    if len(row) != len(types):
        return [f"{len(row)} values for {len(types)} columns", row]
    return [_canonical(value, kind) for value, kind in zip(row, types, strict=True)]


def _cut(value: Value) -> Value:
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return _NANOSECONDS.sub(r"\g<1>000\2", value) if isinstance(value, str) else value


def _canonical(value: Value, kind: TypeTree) -> Value:
    if value is None:
        return None
    match kind.name:
        case "MAP":
            pairs = [[_canonical(k, kind.children[0]), _canonical(v, kind.children[1])] for k, v in value]
            return sorted(pairs, key=json.dumps)
        case "ARRAY" | "VECTOR":
            return [_canonical(item, kind.children[0]) for item in value]
        case "ROW" if len(value) == len(kind.children):
            return [_canonical(item, child) for item, child in zip(value, kind.children, strict=True)]
        case "FLOAT" | "DOUBLE" if isinstance(value, int | float) and not isinstance(value, bool):
            return struct.unpack("<f", struct.pack("<f", value))[0] if kind.name == "FLOAT" else float(value)
        case "TIME" if isinstance(value, int):
            return (datetime.datetime.min + datetime.timedelta(milliseconds=value)).time().isoformat()
    return value


@dataclass(frozen=True, slots=True)
class TypeTree:
    """The skeleton of a type: its name and the types inside; lengths, precisions and nullability are left out."""

    name: str
    children: tuple[TypeTree, ...] = ()

    @staticmethod
    def parse(text: str) -> TypeTree:
        """Reads a Paimon type text."""
        tokens = collections.deque(_TOKEN.findall(text))
        tree = _type(tokens)
        if tokens:
            raise ValueError(f"{text!r} goes on after the type")
        return tree


def _type(tokens: collections.deque[str]) -> TypeTree:
    name, children = tokens.popleft(), []
    if tokens and tokens[0] == "<":
        while tokens.popleft() != ">":
            if name == "ROW":
                if tokens[0] == ">":  # a row without fields
                    continue
                tokens.popleft()
            children.append(_type(tokens))
    # What else belongs to this type: `(10, 2)`, `NOT NULL`, `WITH LOCAL TIME ZONE`, a comment, a vector's length.
    depth = 0
    while tokens and (depth or tokens[0] not in {",", ">"}):
        depth += {"(": 1, ")": -1}.get(tokens.popleft(), 0)
    if name == "VECTOR":
        children = children[:1]
    return TypeTree(name.upper(), tuple(children))

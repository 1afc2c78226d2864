"""Manifests as people write them: in blocks and braces, with comments and empty lines anywhere."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st


class Author:
    """Writes values as YAML in any of the ways that people do; `said` are what comments may say."""

    def __init__(self, chance: random.Random, said: Sequence[str] = ("comment",)) -> None:
        self._chance = chance
        self._said = said
        self._comments = 0

    def document(self, value: dict[str, Any]) -> str:
        return "\n".join([*self._above(""), *self._block(value, ""), *self._above("")]) + "\n" * self._chance.randint(
            1, 3
        )

    def _comment(self) -> str:
        self._comments += 1
        return f"# {self._chance.choice(self._said)} {self._comments}"

    def _above(self, pad: str) -> list[str]:
        kinds = self._chance.choices(["none", "blank", "comment"], [12, 2, 2], k=2)
        return [
            line for kind in kinds for line in {"none": [], "blank": [""], "comment": [pad + self._comment()]}[kind]
        ]

    def _beside(self) -> str:
        return f" {self._comment()}" if self._chance.random() < 0.1 else ""

    def _block(self, value: Any, pad: str) -> list[str]:
        lines: list[str] = []
        step = " " * self._chance.randint(2, 4)
        entries = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
        for key, member in entries:
            lines += self._above(pad)
            prefix = "-" if key is None else f"{self._scalar(key)}:"
            if isinstance(member, dict | list) and member and self._chance.random() < 0.7:
                no_step = key is not None and isinstance(member, list) and self._chance.random() < 0.5
                lines += [f"{pad}{prefix}{self._beside()}", *self._block(member, pad + ("" if no_step else step))]
            else:
                lines.append(f"{pad}{prefix} {self._inline(member, pad + step)}{self._beside()}")
        return lines + ([pad + self._comment()] if self._chance.random() < 0.05 else [])

    def _inline(self, value: Any, pad: str) -> str:
        if not isinstance(value, dict | list):
            return self._scalar(value)
        inner = [
            (f"{self._scalar(k)}: {self._inline(v, pad)}" for k, v in value.items())
            if isinstance(value, dict)
            else (self._inline(v, pad) for v in value)
        ][0]
        sign = self._chance.choice([", ", " ,  ", f",\n{pad}", f", {self._comment()}\n{pad}" if value else ","])
        text = sign.join(inner)
        return f"{{ {text} }}" if isinstance(value, dict) else f"[{text}]"

    def _scalar(self, value: Any) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        if re.fullmatch("[A-Za-z][A-Za-z0-9_./]*", value) and value.lower() not in ("true", "false", "null"):
            return self._chance.choice([value, value, f"'{value}'", json.dumps(value)])
        return json.dumps(value)


WORDS = st.sampled_from(
    ["a", "note", "no", "1e3", "a #b", "x: y", "don't", "[z", "*", "", " two ", "日本", "line\nbreak", "é"]
)
VALUES = st.recursive(
    st.one_of(WORDS, st.booleans(), st.none(), st.integers(-9, 99)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)
TYPES = st.sampled_from(
    [
        "Int32",
        {"kind": "int32"},
        {"kind": "Option", "inner": {"kind": "String"}},
        {"scale": 2, "kind": "Decimal", "precision": 9},
        {
            "kind": "Struct",
            "fields": [{"type": "Date", "name": "d"}, {"name": "e", "type": {"kind": "list", "itemType": "bool"}}],
        },
        {"kind": "Timestamp", "unit": "microsecond"},
    ]
)


@st.composite
def texts(draw: st.DrawFn, said: Sequence[str] = ("comment",)) -> str:
    """Manifests of tables as anybody might write them."""
    extras = st.dictionaries(st.sampled_from(["x.org/a", "x.org/b"]), VALUES, max_size=2)
    names = draw(
        st.lists(
            st.sampled_from(["id", "day", "no", "null", "a b", "#x", "email"]), min_size=1, max_size=4, unique=True
        )
    )
    fields = [{"name": name, "type": draw(TYPES), "extra": draw(extras)} for name in names]
    keys = draw(st.sampled_from([[], names[:1]]))
    content = {"name": "shop.orders", "description": draw(WORDS), "options": {"bucket": 4}, "primaryKeys": keys}
    value = {"version": 1, "kind": "table", "content": {**content, "schema": {"extra": draw(extras), "fields": fields}}}
    return Author(random.Random(draw(st.integers(0, 2**16))), said).document(value)

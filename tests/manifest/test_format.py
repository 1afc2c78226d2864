"""Canonical form: it declares the same, keeps every comment, and is its own canonical form, however it was written."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import ManifestError
from lakebed.manifest import dump_table, parse_manifest
from lakebed.manifest.format_manifest import WIDTH, format_manifest
from lakebed.manifest.load import LoadedFile
from lakebed.testing import manifests

REPOSITORY = Path(__file__).resolve().parents[2]
WRITTEN = """\
# yaml-language-server: $schema=x

# about the version
version:   1
kind: "table"   # kind
content:
    schema:
        fields:
        -   type: {kind: int32}   # the id
            name: 'id'
        # a price


        -   name:  amount
            type:
                scale: 2
                kind: Decimal
                precision: 9
            # end of amount
        - {name: note, type: {kind: Option,
             inner: {kind: string}}} # flow
        - # comment of dash
          name: more
          type: {kind: Option, # why
            # own
            inner: String
            # tail
          }
        # tail of fields
        extra: {a.b/c: "1", a.b/d: 1.50, a.b/e: 'x: y', a.b/f: [a, "b, c"]}
    # options follow
    options:
        bucket: 4

        # nothing else
    name: shop.orders
    description: >-
        folded text
        more

        para
# the very end
"""
CANONICAL = """\
# yaml-language-server: $schema=x

kind: Table  # kind

# about the version
version: 1
content:
  name: shop.orders
  description: >-
    folded text
    more

    para
  # options follow
  options:
    bucket: 4

    # nothing else
  schema:
    fields:
      - name: id
        type: Int32  # the id
      # a price

      - name: amount
        type:
          kind: Decimal
          precision: 9
          scale: 2
        # end of amount
      - {name: note, type: {kind: Option, inner: String}}  # flow
      -  # comment of dash
        name: more
        type:
          kind: Option  # why
          # own
          inner: String
          # tail
    # tail of fields
    extra: {a.b/c: "1", a.b/d: 1.50, a.b/e: "x: y", a.b/f: [a, "b, c"]}
# the very end
"""


def test_the_canonical_form() -> None:
    assert format_manifest(WRITTEN) == CANONICAL
    assert format_manifest(CANONICAL) == CANONICAL


class Author:
    """Writes values as YAML in any of the ways that people do."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._comments = 0

    def document(self, value: dict[str, Any]) -> str:
        return "\n".join([*self._above(""), *self._block(value, ""), *self._above("")]) + "\n" * self._chance.randint(
            1, 3
        )

    def _comment(self) -> str:
        self._comments += 1
        return f"# comment {self._comments}"

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
def texts(draw: st.DrawFn) -> str:
    """Manifests of tables as anybody might write them."""
    extras = st.dictionaries(st.sampled_from(["x.org/a", "x.org/b"]), VALUES, max_size=2)
    names = draw(
        st.lists(st.sampled_from(["id", "day", "no", "null", "a b", "#x"]), min_size=1, max_size=4, unique=True)
    )
    fields = [{"name": name, "type": draw(TYPES), "extra": draw(extras)} for name in names]
    content = {"name": "shop.orders", "description": draw(WORDS), "options": {"bucket": 4}, "primaryKeys": []}
    value = {"version": 1, "kind": "table", "content": {**content, "schema": {"extra": draw(extras), "fields": fields}}}
    return Author(random.Random(draw(st.integers(0, 2**16)))).document(value)


@given(texts())
def test_laws_of_any_text(text: str) -> None:
    made = format_manifest(text)
    assert format_manifest(made) == made
    assert LoadedFile.parse(made, "").tables == LoadedFile.parse(text, "").tables
    said = [sorted(re.findall("# comment [0-9]+", t)) for t in (text, made)]
    assert said[0] == said[1]
    assert LoadedFile.parse(text, "").tables
    assert all(line == line.rstrip() for line in made.split("\n"))
    assert "\n\n\n" not in made


@given(manifests.table_manifests())
def test_laws_of_what_lakebed_writes(table: Any) -> None:
    text = dump_table(table)
    made = format_manifest(text)
    assert format_manifest(made) == made
    assert parse_manifest(made, name=table.name).tables == parse_manifest(text, name=table.name).tables


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a: 1", "a: 1\n"),
        ("a:    1\r\nb:\r\n- 2\r\n", "a: 1\nb:\n  - 2\n"),
        ("\ufeffa: 1\n\n\n\n", "a: 1\n"),
        ("---\na: 1\n...\n---\n\n\nb: 2\n", "---\na: 1\n---\nb: 2\n"),
        ("# x\n---  # y\n# z\na: 1\n# end\n---\n# w\nb: 2", "# x\n---  # y\n# z\na: 1\n# end\n---\n# w\nb: 2\n"),
        ("# only a comment\n", "# only a comment\n"),
        ("a: &x [1]\nb: *x\nc: !!str  5\n", "a: &x [1]\nb: *x\nc: !!str 5\n"),
        ("a: &x\n   b: 1\nc:\n- &y\n    d: 1\n", "a: &x\n  b: 1\nc:\n  - &y\n    d: 1\n"),
        ('a: plain\n   text  # c\nb: "dq\n\n   more"\n', 'a: plain\n  text  # c\nb: "dq\n\n  more"\n'),
        ("a: |   # why\n     x\n       y\n\nb: 1\n", "a: |  # why\n  x\n    y\n\nb: 1\n"),
        ("a: |+\n  x\n\nb: 1\n", 'a: "x\\n\\n"\n\nb: 1\n'),
        ("a: |2\n    x\n", 'a: "  x\\n"\n'),
        ("a:\n- - 1\n  - 2\n-\n  - 3\n- # c\n  d: 4\n", "a:\n  - - 1\n    - 2\n  - - 3\n  -  # c\n    d: 4\n"),
        ("a: {b: , c: ~}\nd:\n", "a: {b: null, c: ~}\nd:\n"),
        ("? a\n: 1\n", "a: 1\n"),
        ('{"a": 1}', '{"a": 1}'),
        ("a: 'no'\nb: no\nc: '1'\n", 'a: "no"\nb: no\nc: "1"\n'),
        ("a: #c\n  b: 1\n", "a:  #c\n  b: 1\n"),
        ("a: [\n  # c\n]\nb: 1\n", "a: []\n# c\nb: 1\n"),
    ],
)
def test_what_becomes_of_a_text(text: str, made: str) -> None:
    assert format_manifest(text) == made
    assert format_manifest(made) == made


def test_manifests_of_the_docs_are_in_canonical_form() -> None:
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    blocks = [block for page in pages for block in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)]
    declared = [block for block in blocks if LoadedFile.parse(block, "").tables]
    assert len(declared) >= 5
    assert [block for block in declared if format_manifest(block) != block] == []


def test_what_does_not_fit_into_a_line_becomes_a_block() -> None:
    wide = "a: [" + ", ".join(["word"] * 30) + "]\n"
    made = format_manifest(wide)
    assert made == "a:\n" + "  - word\n" * 30
    fits = wide.replace(", word" * 10, "")
    assert (len(fits) <= WIDTH, format_manifest(fits)) == (True, fits)


@pytest.mark.parametrize("text", ["%YAML 1.2\n---\na: 1\n", "[1]: 2\n", "a: [\n", "a: 1\na: : 2\n"])
def test_what_has_no_canonical_form_is_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        format_manifest(text)


def test_order_stays_where_an_anchor_would_come_behind_its_alias() -> None:
    text = "version: &one 1\nkind: Table\ncontent: *one\n"
    assert format_manifest(text) == text

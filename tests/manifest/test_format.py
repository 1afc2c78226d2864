"""Canonical form: it declares the same, keeps every comment, and is its own canonical form, however it was written."""

from __future__ import annotations

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
from manifest.written_texts import texts

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
      # comment of dash
      - name: more
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
        ("a: |+  # why\n  x\n\nb: 1\n", "a: |+  # why\n  x\n\nb: 1\n"),
        ("a: |+\n  x\n\n\n# c\nb: 1\n", "a: |+\n  x\n\n\n# c\nb: 1\n"),
        ("a: |+\n  x\nb: 1\n", "a: |\n  x\nb: 1\n"),
        ("a: |1- # why\n   x\n  y\n", "a: |2-  # why\n    x\n   y\n"),
        ("a:\n    b: >3+\n          x\n\n         y\n\n", "a:\n  b: >2+\n       x\n\n      y\n\n"),
        ("a: |+  # why\n\nb: 1\n", 'a: "\\n"  # why\n\nb: 1\n'),
        ("a: |  # why\n  \tx\n", 'a: "\\tx\\n"  # why\n'),
        ("- |2\n    x\n- - >-\n   y\n", "- |2\n    x\n- - >-\n    y\n"),
        ("a: |\n  no line at the end", "a: |-\n  no line at the end\n"),
        ("a:\n- - 1\n  - 2\n-\n  - 3\n- # c\n  d: 4\n", "a:\n  - - 1\n    - 2\n  - - 3\n  # c\n  - d: 4\n"),
        ("- b: 2\n\n-\n  # c\n  d: 4\n", "- b: 2\n\n# c\n- d: 4\n"),
        ("# h\n\n{a: 1}  # c\n", "# h\n# c\n\n{a: 1}\n"),
        ("a: [b, # c\n] # d\n", "a:\n  # d\n  - b  # c\n"),
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


BLOCKS = st.lists(st.sampled_from(["", " ", "a", "# b", " c: d", "   e", "f "]), min_size=1, max_size=5).map("\n".join)


@given(st.lists(BLOCKS, min_size=1, max_size=3), st.sampled_from("|>"), st.sampled_from(["", "-", "+"]), st.booleans())
def test_laws_of_texts_in_blocks(values: list[str], style: str, chomp: str, in_list: bool) -> None:
    lines: list[str] = ["kind: Table", "version: 1", "content:", "  name: x.t", "  schema:", "    fields:"]
    lines += ["    - {name: a, type: Int8}", "    extra:", "      x.org/a:"]
    for number, value in enumerate(values):
        mark = "-" if in_list else f"k{number}:"
        lines += [f"      {'' if in_list else ' '}{mark} {style}2{chomp}  # why {number}"]
        lines += [f"{'' if in_list else ' '}        {line}" for line in value.split("\n")]
    text = "\n".join(lines) + "\n"
    (declared,) = LoadedFile.parse(text, "").tables
    made = format_manifest(text)
    assert LoadedFile.parse(made, "").tables == (declared,)
    assert format_manifest(made) == made
    assert all(made.count(f"  # why {number}\n") == 1 for number in range(len(values)))
    if all(value.strip() for value in values):
        assert re.findall(r"(?:-|k\d:) [|>]", made) == [
            f"{'-' if in_list else f'k{n}:'} {style}" for n in range(len(values))
        ]


@pytest.mark.parametrize("depth", [60, 200, 340])
@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ("{a: ", "}")])
def test_deep_nesting_is_formatted(depth: int, open_: str, close: str) -> None:
    value = open_ * depth + "1" + close * depth
    text = CANONICAL.replace('a.b/c: "1"', f"a.b/c: {value}")
    made = format_manifest(text)
    assert LoadedFile.parse(made, "").tables == LoadedFile.parse(text, "").tables
    assert format_manifest(made) == made
    with pytest.raises(ManifestError):
        format_manifest(text.replace("1" + close, open_ * 400 + "1" + close * 400 + close))


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029"])
def test_what_ended_a_line_in_yaml_1_1_stays_a_character(char: str) -> None:
    for said in (f"a{char}b", f'"a{char}b"', f"'a{char}b'", f"|\n    a{char}b\n", f"c # a{char}b: ["):
        text = f"kind: Table\nversion: 1\ncontent:\n  name: x.t\n  description: {said}\n  schema:\n    fields: []\n"
        made = format_manifest(text)
        assert LoadedFile.parse(made, "").tables == LoadedFile.parse(text, "").tables
        assert LoadedFile.parse(text, "").tables
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

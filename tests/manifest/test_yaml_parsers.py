"""libyaml reads a manifest as ruamel.yaml does, or leaves it to that."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.manifest import parse_manifest
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode
from lakebed.manifest.parse_yaml import _composed_by_libyaml, _composed_by_ruamel, compose
from lakebed.manifest.problems import Problems

MANIFEST = """\
# Orders.
kind: Table
version: 1
content:
  name: shop.orders  # in the shop
  description: >-
    What was ordered,
    line by line.

  primaryKeys: [id]
  options: {bucket: '4', "file.format": parquet, empty: ''}
  schema:
    fields:
      - name: id
        type: Int64
      - {name: "text", type: {kind: Option, inner: String}, extra: {a.b/c: [1, ], a.b/d: two
          lines}}
      -
        name: café
        type: String
        extra:
          a.b/text: |-
            two
              lines
          opendatafabric.org/description: 'It''s a place: "here"'
          a.b/list: [1, 2.5, ~, true, "\\u00e9\\n"]
---
- second: document
-
"""
#: What is put into a text, or taken for one together: characters that mean something, and some that do not.
PIECES = [
    *(" ", "\n", "\n  ", "\n\n", "\r\n", "  ", ": ", ":", "- ", "-", "#", " #", "'", '"', "''", '""', "\\", "\\n", "?"),
    *(
        "{",
        "}",
        "[",
        "]",
        ",",
        ", ",
        "|",
        "|\n",
        ">-\n",
        "|2\n  ",
        ">+\n",
        "---\n",
        "...\n",
        "%",
        "@",
        "`",
        "~",
        "null",
    ),
    *(
        "a",
        "1",
        "1e3",
        "0x1",
        "é",
        "\U0001f600",
        "key: ",
        "a: b\n",
        "- a\n",
        "{a: b}",
        "[a, b]",
        "a:b",
        "a#b",
        "<<",
        "=",
    ),
    *("\t", "!", "!!str ", "&a ", "*a", "\x85", "\u2028", "\ufeff", "kind: Table\n", "\\u0041", "\\/", "::", "--"),
]


def shape(node: Node) -> Any:
    """All that a node holds, with where it stands."""
    place = (node.position.line, node.position.column)
    match node:
        case ScalarNode():
            return place, node.text, node.plain
        case SequenceNode():
            return place, [shape(item) for item in node.items]
        case MappingNode():
            return place, [(shape(key), shape(value)) for key, value in node.entries]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Pieces in a row, or a part of a manifest with a few characters changed."""
    pieces = st.sampled_from(PIECES)
    if draw(st.booleans()):
        return "".join(draw(st.lists(pieces, max_size=12)))
    lines = MANIFEST.splitlines(keepends=True)
    first = draw(st.integers(0, len(lines) - 1))
    text = "".join(lines[first : first + draw(st.integers(1, len(lines)))])
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(pieces) + text[at + draw(st.integers(0, 1)) :]
    return text


@settings(max_examples=400)
@given(texts())
def test_what_libyaml_reads_is_what_ruamel_reads(text: str) -> None:
    text = text.removeprefix("\ufeff")
    found, problems = _composed_by_libyaml(text, "t.yaml"), Problems()
    if found is not None:
        expected = _composed_by_ruamel(text, "t.yaml", problems)
        assert [shape(node) for node in found] == [shape(node) for node in expected]
        assert not problems.errors


def test_libyaml_reads_manifests() -> None:
    found = _composed_by_libyaml(MANIFEST, None)
    assert found is not None
    assert [shape(node) for node in found] == [shape(node) for node in _composed_by_ruamel(MANIFEST, None, Problems())]


@pytest.mark.parametrize(
    "text",
    [
        "a: !!str 1",
        "a:\tb",
        "? a\n: b",
        "a: &x 1\nb: *x",
        "%YAML 1.1\n---\na: b",
        "a: b\n...\n",
        "a: |\n   \n  b\n",
        "|\n#",
    ],
)
def test_what_is_not_the_same_to_both_is_left_to_ruamel(text: str) -> None:
    assert _composed_by_libyaml(text, None) is None


@pytest.mark.parametrize("text", ["a: b: c", "a: [1", "a: 1\na: 2", "{a: b", "a: 'b", "- a\nb"])
def test_what_is_wrong_is_left_to_ruamel(text: str) -> None:
    assert _composed_by_libyaml(text, None) is None
    problems = Problems()
    compose(text, "t.yaml", problems)
    assert problems.errors


def test_without_libyaml_ruamel_reads_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    text = MANIFEST.partition("---")[0]
    expected = parse_manifest(text)
    monkeypatch.setattr("yaml.__with_libyaml__", False)
    assert _composed_by_libyaml(text, None) is None
    assert parse_manifest(text) == expected


def test_ruamel_is_imported_where_it_is_needed() -> None:
    code = (
        "import sys; from lakebed.manifest.parse_yaml import compose; from lakebed.manifest.problems import Problems\n"
        "for text in ('a: b', 'a: [b'):\n"
        "    compose(text, None, Problems()); print('ruamel.yaml' in sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.split() == ["False", "True"]

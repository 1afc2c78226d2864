"""Texts that want to use up the machine, or are no text at all: bounded, and said where."""

from __future__ import annotations

import random

import pytest

from lakebed.errors import ManifestError
from lakebed.manifest import parse_manifest
from lakebed.manifest.parse_yaml import MAX_BYTES, MAX_DEPTH
from manifest.marked import places_of, problems_of, table
from manifest.test_envelopes import FLIGHTS, GREENHOUSE

# pytest ends a test that hangs by faulthandler; what is checked here is that each of these answers at once.


def bomb(width: int, levels: int) -> str:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(bomb(9, 100), "LB1004", id="aliases of aliases"),
        pytest.param(
            "\n---\n".join(bomb(2, 18) for _ in range(10)), "LB1004", id="bombs below the bound, many of them"
        ),
        pytest.param(bomb(1, 1000), "LB1005", id="aliases that nest"),
        pytest.param("[" * 1000, "LB1005", id="flow lists 1000 deep"),
        pytest.param("{a: " * 1000, "LB1005", id="flow mappings 1000 deep"),
        pytest.param("- " * 1000, "LB1005", id="block lists 1000 deep"),
        pytest.param("\n".join(" " * i + "a:" for i in range(1000)), "LB1005", id="block mappings 1000 deep"),
        pytest.param("? " * 1000, "LB1005", id="keys of keys"),
        pytest.param("a: &a {b: *a}", "LB1009", id="a mapping inside of itself"),
        pytest.param("#" * (MAX_BYTES + 1), "LB1004", id="a comment without end"),
        pytest.param("\ufeff\ufeff\ufeff", "LB1021", id="only byte order marks"),
        pytest.param("&a " * 1000, "LB1003", id="only anchors"),
        pytest.param("%" * 1000, "LB1003", id="only percent signs"),
        pytest.param("'" * 1001, "LB1003", id="only quotes"),
        pytest.param("!!python/object/apply:os.system [echo]", "LB1008", id="a call"),
    ],
)
def test_is_refused(text: str, code: str) -> None:
    assert problems_of(text)[0].code == code


def test_types_deeper_than_the_bound_are_refused_at_their_place() -> None:
    text = "Int8"
    for _ in range(101):
        text = f"{{kind: List, itemType: {text}}}"
    (problem,) = problems_of(table(f"- {{name: x, type: {text}}}"))
    assert problem.code == "LB1005"
    assert problem.path == "x" + ".element" * 101


def test_attributes_as_deep_as_allowed_are_read() -> None:
    depth = MAX_DEPTH - 7
    text = table("- {name: x, type: Int8, extra: {a/b: " + "[" * depth + "]" * depth + "}}")
    assert problems_of(text) == ()


def test_shared_values_below_the_bound_are_read() -> None:
    shared = "- {name: c0, type: &t {kind: Struct, fields: [{name: x, type: Int8}]}, extra: {a/b: &v [1, 2, 3]}}\n"
    more = "\n".join(f"- {{name: c{i}, type: *t, extra: {{a/b: *v}}}}" for i in range(1, 500))
    (declared,) = parse_manifest(table(shared + more)).tables
    assert len(declared.schema.fields) == 500


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"a: caf\xe9\n", ("LB1002", 1, 7)),
        (b"a: 1\r\nb: \xc3\xa9\xff\n", ("LB1002", 2, 5)),
        (b"\xef\xbb\xbf\xff", ("LB1002", 1, 1)),
        ("kind: Table\n".encode("utf-16"), ("LB1002", 1, 1)),
        (b"a: 1\x00\n", ("LB1003", 1, 5)),
        (b"a: 1\n\x1bb: 1\n", ("LB1003", 2, 1)),
        (b"", ("LB1020", 1, 1)),
        (b"\xef\xbb\xbf", ("LB1020", 1, 1)),
        (b"#" * (MAX_BYTES + 1), ("LB1004", 1, 1)),
    ],
)
def test_bytes_that_are_no_manifest(data: bytes, place: tuple[str, int, int]) -> None:
    with pytest.raises(ManifestError) as error:
        parse_manifest(data, source="t.yaml")
    assert places_of(error.value.diagnostics) == [place]


def test_utf_16_is_named() -> None:
    with pytest.raises(ManifestError, match="UTF-16"):
        parse_manifest("kind: Table".encode("utf-16"))


def test_byte_order_mark_and_windows_line_ends_are_read() -> None:
    text = table("- {name: größe, type: Int8}\n- {name: «y», type: Int8}")
    plain = parse_manifest(text).tables[0]
    windows = parse_manifest(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()).tables[0]
    assert windows == plain
    assert windows.positions == plain.positions


def test_problems_before_a_syntax_error_are_still_said() -> None:
    codes = [p.code for p in problems_of(table("- {name: x, type: Nope}") + "---\n[\n")]
    assert codes == ["LB1050", "LB1003"]


def test_no_document_makes_anything_but_a_manifest_error() -> None:
    random_ = random.Random(16)
    pieces = [
        "&a ",
        "*a",
        "!!str ",
        "|\n",
        ">\n",
        "---\n",
        "? ",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\t",
        "\n",
        '"',
        "\\",
    ]
    pieces += [
        "%YAML 1.2\n",
        "\\UFFFFFFFF",
        "\\ud800",
        "#",
        "@",
        "`",
        "\x85",
        "\u2028",
        "<<: *a",
        "0x",
        "\r",
        "!<t:x>",
        "!!",
    ]
    for _ in range(400):
        text = list(random_.choice((FLIGHTS, GREENHOUSE)))
        for _ in range(random_.randint(1, 6)):
            at = random_.randrange(len(text))
            text[at : at + random_.choice((0, 0, 1, 5))] = random_.choice(pieces)
        places_of(problems_of("".join(text)))

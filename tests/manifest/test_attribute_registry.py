"""A project's own attributes: their declaration, and what breaks it."""

from __future__ import annotations

import pytest

from lakebed.diagnostics import Severity
from lakebed.errors import ManifestError
from lakebed.manifest import parse_manifest
from lakebed.manifest.attribute_document import parse_attributes
from lakebed.manifest.attribute_registry import check_declared

HEAD = "kind: Attributes\nversion: 1\ncontent:\n  domains: [example.org]\n  attributes:\n"
DECLARED = (
    HEAD
    + """\
    - {name: example.org/owner, on: [schema], required: true, value: {type: string}, description: Who answers}
    - {name: example.org/pii, on: [column, member], required: true, value: {enum: [none, personal]}}
    - {name: example.org/unit, on: [column], types: [float64], value: {type: string, minLength: 1}}
    - {name: "example.org/tag-*", on: [schema, column], value: {type: integer}}
    - {name: a.b/soft, on: [schema], required: true, severity: warning}
"""
)


def table(fields: str, extra: str = "{example.org/owner: me, a.b/soft: 1}") -> str:
    return f"kind: Table\nversion: 1\ncontent:\n  name: a.b\n  schema:\n    fields:\n{fields}\n    extra: {extra}\n"


def problems(text: str) -> list[tuple[str, str | None, int]]:
    tables = parse_manifest(text, source="t.yaml").tables
    try:
        found = check_declared(parse_attributes(DECLARED), tables)
    except ManifestError as error:
        found = error.diagnostics
    return [(d.code, d.path, d.position.line if d.position else 0) for d in found]


GOOD = "    - {name: x, type: Float64, extra: {example.org/pii: none, example.org/unit: m, example.org/tag-1: 3}}"


def test_a_good_table() -> None:
    assert problems(table(GOOD)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (table("    - {name: x, type: Int8}"), [("LB1604", "x", 7)]),
        (table(GOOD, "{a.b/soft: 1}"), [("LB1604", None, 4)]),
        (table(GOOD, "{example.org/owner: 1, a.b/soft: 1}"), [("LB1603", None, 8)]),
        (table(GOOD, "{example.org/owner: me}"), [("LB1604", None, 4)]),
        (table(GOOD.replace("pii: none", "pii: no")), [("LB1603", "x", 7)]),
        (table(GOOD.replace("Float64", "Int8")), [("LB1602", "x", 7)]),
        (table(GOOD.replace("unit: m", "units: m")), [("LB1600", "x", 7)]),
        (table(GOOD.replace("unit: m", "owner: m")), [("LB1601", "x", 7)]),
        (table(GOOD.replace("tag-1: 3", "tag-1: x")), [("LB1603", "x", 7)]),
        (
            table("    - {name: x, type: {kind: List, itemType: {kind: Struct, fields: [{name: y, type: Int8}]}}, "
                  "extra: {example.org/pii: none}}"),
            [("LB1604", "x.element.y", 7)],
        ),
    ],
)  # fmt: skip
def test_what_breaks_a_declaration(text: str, expected: list[tuple[str, str | None, int]]) -> None:
    assert problems(text) == expected


def test_a_warning_does_not_stop() -> None:
    tables = parse_manifest(table(GOOD, "{example.org/owner: me}")).tables
    (found,) = check_declared(parse_attributes(DECLARED), tables)
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("{name: owner, on: [schema]}", "LB1610"),
        ("{name: lakebed.dev/x, on: [schema]}", "LB1610"),
        ("{name: a.b/x, on: [table]}", "LB1610"),
        ("{name: 'a.*/x', on: [schema]}", "LB1610"),
        ("{name: 'a.b/x*', on: [schema], required: true}", "LB1610"),
        ("{name: a.b/x, on: [column], types: [Option]}", "LB1610"),
        ("{name: a.b/x}", "LB1042"),
        ("{name: a.b/x, on: [schema], default: 1}", "LB1041"),
        ("{name: a.b/x, on: [schema], severity: fatal}", "LB1056"),
        ("{name: a.b/x, on: [schema], value: {type: text}}", "LB1612"),
        ("{name: a.b/x, on: [schema], value: {pattern: '('}}", "LB1612"),
        ("{name: a.b/x, on: [schema], value: string}", "LB1612"),
        ("{name: a.b/x, on: [schema], value: {$ref: 'https://example.org/s.json'}}", "LB1612"),
        ("{name: a.b/x, on: [schema]}\n    - {name: a.b/x, on: [column]}", "LB1611"),
    ],
)
def test_faulty_declarations(rule: str, code: str) -> None:
    with pytest.raises(ManifestError) as error:
        parse_attributes(f"{HEAD}    - {rule}\n", source="a.yaml")
    assert [d.code for d in error.value.diagnostics] == [code]
    assert error.value.diagnostics[0].position is not None


def test_another_document() -> None:
    with pytest.raises(ManifestError) as error:
        parse_attributes("kind: Table\nversion: 1\ncontent: {}\n")
    assert error.value.code == "LB1022"
    with pytest.raises(ManifestError) as error:
        parse_manifest(DECLARED)
    assert "lakebed.toml" in (error.value.diagnostics[0].remedy or "")

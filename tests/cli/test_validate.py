"""`lakebed validate`: every problem of every manifest, without a warehouse."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST

FAULTY = """\
kind: Table
version: 1
content:
  name: shop.orders
  partitionKeys: [day, dya]
  schema:
    fields:
      - {name: day, type: Date}
      - {name: id, type: Integer}
---
kind: Table
version: 1
content:
  name: shop.items
  schema:
    fields:
      - {name: day, type: Dat}
"""
#: What is a manifest, and cannot be a table.
UNSTORABLE = """\
kind: Table
version: 1
content:
  name: shop.wide
  options:
    bucket: x
  schema:
    fields:
      - name: price
        type: {kind: Decimal, precision: 50, scale: 2}
"""


def put(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_manifests_that_are_sound(lakebed: CommandLine) -> None:
    put("schemas/orders.yaml", MANIFEST)
    put("schemas/deep/items.yml", MANIFEST.replace("orders", "items") + "---\n" + MANIFEST.replace("orders", "more"))
    for words in ([], ["schemas"], ["schemas/orders.yaml", "schemas/deep"]):
        result = lakebed("validate", *words)
        assert (result.code, result.out, result.err) == (0, "2 files with 3 tables: valid.\n", "")


def test_every_problem_of_every_file_has_its_place_and_line(lakebed: CommandLine) -> None:
    put("a.yaml", FAULTY)
    put("b.yaml", UNSTORABLE)
    result = lakebed("validate", "a.yaml", "b.yaml", "c.yaml")
    assert (result.code, result.out) == (1, "6 errors: 3 of 3 files cannot be used.\n")
    heads = [line.partition(": error")[0] for line in result.err.splitlines() if ": error[" in line]
    assert heads == ["a.yaml:5:24", "a.yaml:9:26", "a.yaml:17:27", "b.yaml:6:5", "b.yaml:9:15"]
    assert "    9 |       - {name: id, type: Integer}\n      |                          ^^^^^^^\n" in result.err
    assert result.codes_of_text == ["LB1080", "LB1050", "LB1050", "LB3332", "LB2102", "LB1001"]


def test_json_tells_each_file(lakebed: CommandLine) -> None:
    put("a.yaml", FAULTY)
    put("b.yaml", MANIFEST)
    result = lakebed("validate", "--json")
    assert (result.code, result.json["ok"]) == (1, False)
    assert result.json["result"]["files"] == [
        {"file": "a.yaml", "tables": [], "errors": 3, "warnings": 0},
        {"file": "b.yaml", "tables": ["shop.orders"], "errors": 0, "warnings": 0},
    ]
    assert [d["position"]["line"] for d in result.json["diagnostics"]] == [5, 9, 17]


def test_one_table_in_two_files(lakebed: CommandLine) -> None:
    put("a.yaml", MANIFEST)
    put("b.yaml", MANIFEST)
    result = lakebed("validate")
    assert (result.code, result.codes_of_text) == (1, ["LB1026"])
    assert result.err.startswith(
        "b.yaml:4:9: error[LB1026]: the table 'shop.orders' is declared twice; the first is in a.y"
    )
    assert lakebed("validate", "a.yaml", "a.yaml").code == 0


@pytest.mark.parametrize("type_", ["Integer", "{kind: Decimal, precision: 50, scale: 2}", "Date"])
def test_options_are_told_beside_what_is_wrong_with_columns(lakebed: CommandLine, type_: str) -> None:
    options = "  options: {bucket: many, bukcet: '1', write-buffer-size: big}\n  schema:"
    put("a.yaml", MANIFEST.replace("  schema:", options).replace("type: Date", f"type: {type_}"))
    codes = [d["code"] for d in lakebed("validate", "a.yaml", "--json").json["diagnostics"]]
    wrong = {"Integer": ["LB1050"], "Date": []}.get(type_, ["LB2102"])
    assert sorted(codes) == sorted([*wrong, "LB3332", "LB3332", "LB4024"])


def test_a_warning_stops_nothing(lakebed: CommandLine) -> None:
    put("a.yaml", MANIFEST.replace("  schema:", "  options: {bukcet: 4}\n  schema:"))
    result = lakebed("validate", "a.yaml")
    assert (result.code, result.out) == (0, "1 file with 1 table: valid, 1 warning.\n")
    assert result.err.startswith("a.yaml:7:13: warning[LB4024]")


def test_a_pin_is_no_problem_without_the_table(lakebed: CommandLine) -> None:
    put("a.yaml", MANIFEST.replace("x.org/unit: EUR", "lakebed.dev/fieldId: 7"))
    assert lakebed("validate", "a.yaml").code == 0


def test_attributes_of_the_project(lakebed: CommandLine) -> None:
    put("lakebed.toml", 'attributes = "attributes.yaml"\n')
    rule = "{name: x.org/owner, on: [schema], required: true, value: {type: string}}"
    put("attributes.yaml", f"kind: Attributes\nversion: 1\ncontent:\n  attributes: [{rule}]\n")
    put("schemas/a.yaml", MANIFEST)
    assert lakebed("validate", "schemas").codes_of_text == ["LB1604"]


def test_standard_input(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FAULTY.encode())))
    result = lakebed("validate", "-")
    assert (result.code, result.err.splitlines()[0][:15]) == (1, "<stdin>:5:24: e")


def test_manifests_in_json_are_named_one_by_one(lakebed: CommandLine) -> None:
    put("a/t.json", '{"kind": "Table", "version": 1, "content": {"name": "a.t", "schema": {"fields": []}}}')
    put("a/package.json", '{"name": "x", "kind": "Table"}')
    empty = lakebed("validate", "a")
    assert (empty.code, empty.codes_of_text) == (1, ["LB1001"])
    assert "holds no manifest but 1 in JSON" in empty.err
    put("a/t.yaml", MANIFEST)
    assert "Passed over in directories: 1 manifest in JSON" in lakebed.ok("validate", "a")
    assert "Passed over" not in lakebed.ok("validate", "a/t.yaml")


def test_a_directory_without_manifests(lakebed: CommandLine) -> None:
    assert lakebed("validate").codes_of_text == ["LB1001"]


@pytest.mark.parametrize("line", ["fs.s3a.secret.key: abc", "url: https://me:word@host/x"])
def test_a_line_that_may_hold_a_secret_is_not_shown(lakebed: CommandLine, line: str) -> None:
    put("a.yaml", MANIFEST.replace("  schema:", f"  {line}\n  schema:"))
    result = lakebed("validate", "a.yaml")
    assert result.code == 1
    assert result.err.splitlines()[1].endswith(" | (not shown: the line may hold a secret)")
    assert line not in result.err


def test_what_a_line_holds_commands_no_terminal_and_is_underlined_where_it_stands(lakebed: CommandLine) -> None:
    put("a.yaml", MANIFEST.replace("{name: id, type: Int32}", '{name: "日本\x9b", type: Int33}'))
    put("a.yaml", Path("a.yaml").read_text(encoding="utf-8").replace("\x9b", "\u202e"))
    shown = lakebed("validate", "a.yaml").err.splitlines()[1:3]
    assert "\u202e" not in shown[0]
    assert shown[0].index("Int33") + len("日本") == shown[1].index("^^^^^")


def test_a_long_line_is_cut_around_the_place(lakebed: CommandLine) -> None:
    put("a.yaml", MANIFEST.replace("type: Int32}", f"extra: {{x.org/a: {'y' * 5000}}}, type: Int33}}"))
    shown = lakebed("validate", "a.yaml").err.splitlines()[1:3]
    assert len(shown[0]) < 200
    assert shown[0][shown[1].index("^") :].startswith("Int33")

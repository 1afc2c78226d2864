"""Rules find what they are about and nothing else; what is ignored says why; fixes change only what they mend."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given

from lakebed.catalog import TableSchema
from lakebed.codes import register
from lakebed.errors import UsageError
from lakebed.lint import LintReport, LintSettings, MendedText, fix_text, lint_files
from lakebed.lint.engine_types import ENGINES, unreadable_columns
from lakebed.lint.lint_settings import DEFAULT_LEVELS
from lakebed.manifest import TableManifest, dump_table, parse_manifest
from lakebed.manifest.edit import edit_manifest
from lakebed.manifest.format_manifest import format_manifest
from lakebed.manifest.load import LoadedFile
from lakebed.model.encoding import without_attributes
from lakebed.model.extra import PERSONAL_DATA
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.testing import manifests
from manifest.written_texts import texts

ALL = LintSettings(dict.fromkeys(DEFAULT_LEVELS, "warning"))


def table(fields: str = "- {name: id, type: Int64}", more: str = "", name: str = "shop.orders") -> str:
    """A manifest that says what all rules want, but for what is given."""
    lines = "\n".join(f"      {line}" for line in fields.split("\n"))
    return f"""\
kind: Table
version: 1
content:
  name: {name}
  description: Orders
{more}  schema:
    fields:
{lines}
    extra: {{x.org/owner: us}}
"""


def report(text: str, settings: LintSettings) -> LintReport:
    (found,) = lint_files([LoadedFile.parse(text, "a.yaml")], settings)
    return found


def codes(text: str, settings: LintSettings | None = None) -> list[str]:
    return [d.code for d in report(text, settings or LintSettings()).diagnostics]


def fields(name: str, type_: str) -> str:
    return table(f"- {{name: {name}, type: {type_}}}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (table(), []),
        (fields("customerId", "Int64"), ["LB1700"]),
        (fields("place", "{kind: List, itemType: {kind: Struct, fields: [{name: Lat, type: Int8}]}}"), ["LB1700"]),
        (table(name="shop.Orders"), ["LB1701"]),
        (table().replace("description: Orders", "description: ''"), ["LB1702"]),
        (fields("email", "String"), ["LB1705"]),
        (fields("customer_email", "{kind: Option, inner: String}"), ["LB1705"]),
        (fields("phone_number", "String"), ["LB1705"]),
        (fields("birth_date", "Date"), ["LB1705"]),
        (fields("email_template", "String"), []),
        (fields("email_verified", "Bool"), []),
        (fields("email", "Bool"), []),
        (fields("description", "String"), []),
        (fields("place", "{kind: Struct, fields: [{name: street, type: String}]}"), ["LB1705"]),
        (table("- {name: email, type: String, extra: {lakebed.dev/personalData: false}}"), []),
        (fields("unit_price", "Float64"), ["LB1706"]),
        (fields("amount_eur", "{kind: Option, inner: Float32}"), ["LB1706"]),
        (fields("amount", "{kind: Decimal, precision: 9, scale: 2}"), []),
        (fields("priced", "Float64"), []),
        (table("- {name: id, type: {kind: Option, inner: Int8}}", "  primaryKeys: [id]\n"), ["LB1707"]),
        (table("- {name: day, type: {kind: Option, inner: Date}}", "  partitionKeys: [day]\n"), ["LB1707"]),
        (table("- {name: at, type: Timestamp}", "  partitionKeys: [at]\n"), ["LB1708"]),
        (table("- {name: order_id, type: Int64}", "  partitionKeys: [order_id]\n"), ["LB1708"]),
        (table("- {name: day, type: Date}", "  partitionKeys: [day]\n"), []),
        (table(more="  options: {merge-engine: first-row}\n"), ["LB1709"]),
        (table(more="  options: {file.compression: lz4, file.compression.zstd-level: 9}\n"), ["LB1709"]),
        (table(more="  options: {file.compression.zstd-level: 9}\n"), []),
    ],
)
def test_what_a_rule_finds(text: str, found: list[str]) -> None:
    assert codes(text) == found


def test_rules_that_are_off_until_they_are_asked_for() -> None:
    text = table().replace("x.org/owner", "x.org/unit")
    assert codes(text) == []
    assert codes(text, LintSettings.of({"owner": "y.org/owner"})) == ["LB1704"]
    assert codes(table(), LintSettings.of({"owner": "x.org/owner"})) == []
    assert codes(text, LintSettings.of({"owner": "y.org/owner", "LB1704": "off"})) == []
    assert codes(text, LintSettings.of({"LB1703": "note", "LB1704": "note"})) == ["LB1704", "LB1703"]


def test_columns_that_systemcolumns_puts_in_need_no_description() -> None:
    asked = LintSettings.of({"LB1703": "note"})
    for system in ("kamu", "{profile: kamu}"):
        text = table("- {name: op, type: Int32}\n- {name: id, type: Int64}", f"  systemColumns: {system}\n")
        assert [d.path for d in report(text, asked).diagnostics] == ["op", "id"]


def test_levels_and_styles() -> None:
    (found,) = report(fields("customerId", "Int64"), LintSettings.of({"LB1700": "error"})).diagnostics
    assert (found.severity.value, str(found.position), found.path) == ("error", "a.yaml:8:16", "customerId")
    assert codes(fields("customerId", "Int64"), LintSettings.of({"columns": "camelCase"})) == []
    assert codes(fields("c_id", "Int64"), LintSettings.of({"columns": "[a-z]_[a-z]+"})) == []
    assert codes(fields("id", "Int64"), LintSettings.of({"columns": "[a-z]_[a-z]+"})) == ["LB1700"]


@pytest.mark.parametrize(
    ("lint", "engines", "said"),
    [
        ({"LB1799": "error"}, (), "there is no setting 'lint.LB1799'"),
        ({"LB1700": "loud"}, (), "must be one of error, warning, note, off, not 'loud'"),
        ({"columns": "["}, (), "or a regular expression, not '['"),
        ({"owner": 3}, (), "must be a text, not 3"),
        ({}, ["sparc"], "there is no engine 'sparc' (did you mean 'spark'?)"),
    ],
)
def test_settings_that_cannot_be_used(lint: dict[str, Any], engines: list[str], said: str) -> None:
    with pytest.raises(UsageError, match="LB7002") as error:
        LintSettings.of(lint, engines)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("type_", "cannot"),
    [
        ("INT", set()),
        ("TIMESTAMP(6)", set()),
        ("TIMESTAMP(9)", {"spark"}),
        ({"type": "ARRAY", "element": "TIMESTAMP(7) WITH LOCAL TIME ZONE"}, {"spark"}),
        ("VARIANT", {"java-0.9", "paimon-cpp"}),
        ({"type": "MULTISET", "element": "STRING"}, {"paimon-cpp", "pypaimon"}),
        ("BLOB", {"java-0.9", "paimon-cpp"}),
    ],
)
def test_types_that_engines_cannot_read(type_: Any, cannot: set[str]) -> None:
    schema = TableSchema(0, (DataField(0, "c", parse(type_)),), 0, (), (), {}, None)
    assert {engine for engine in ENGINES if list(unreadable_columns(schema, engine))} == cannot


def test_a_finding_about_an_engine() -> None:
    text = fields("at", "{kind: Timestamp, unit: Nanosecond}")
    assert codes(text, LintSettings(engines=("pypaimon", "flink"))) == []
    (found,) = report(text, LintSettings(engines=("pypaimon", "spark"))).diagnostics
    assert found.message == "the column at: spark reads TIMESTAMP(9) WITH LOCAL TIME ZONE in microseconds"


def test_a_partition_column_that_an_engine_cannot_read() -> None:
    text = table("- {name: x, type: Float64}", "  partitionKeys: [x]\n")
    asked = LintSettings.of({"LB1708": "off"}, ["paimon-rust", "pypaimon"])
    assert codes(text, asked) == ["LB1710"]


class TestIgnore:
    COLUMN = "- {name: email, type: String}"

    @pytest.mark.parametrize(
        ("text", "found", "ignored"),
        [
            (f"{COLUMN}  # lakebed: ignore LB1705 the shop's own", [], 1),
            (f"# lakebed: ignore LB1705 the shop's own\n{COLUMN}", [], 1),
            (f"# lakebed: ignore LB1705 the shop's own\n# more\n\n{COLUMN}", [], 1),
            (f"# lakebed: ignore LB1705\n{COLUMN}", ["LB1711", "LB1705"], 0),
            (f"# lakebed: ignore LB1706 why\n{COLUMN}", ["LB1711", "LB1705"], 0),
            (f"# lakebed: ignore LB1050 why\n{COLUMN}", ["LB1711", "LB1705"], 0),
            (f"# lakebed: ignore\n{COLUMN}", ["LB1711", "LB1705"], 0),
            (f"# lakebed: ignore LB1705, LB1700 both\n{COLUMN}", ["LB1711"], 1),
            (f"# lakebed: ignore LB1705, LB1700 both\n{COLUMN.replace('email', 'eMail')}", [], 2),
            (f"- {{name: a, type: String}}  # lakebed: ignore LB1705 x\n{COLUMN}", ["LB1711", "LB1705"], 0),
            (f"# a comment\n{COLUMN}", ["LB1705"], 0),
        ],
    )
    def test_a_finding_is_left_out_where_a_comment_says_why(self, text: str, found: list[str], ignored: int) -> None:
        made = report(table(text), LintSettings())
        assert ([d.code for d in made.diagnostics], made.ignored) == (found, ignored)

    BLOCK = "- name: email\n  type: String"

    @pytest.mark.parametrize(
        ("text", "found", "ignored"),
        [
            (BLOCK.replace("String", "String  # lakebed: ignore LB1705 x"), [], 1),
            (BLOCK.replace("email", "email  # lakebed: ignore LB1705 x"), [], 1),
            (f"-  # lakebed: ignore LB1705 x\n{BLOCK.replace('-', ' ')}", [], 1),
            (f"-\n  # lakebed: ignore LB1705 x\n{BLOCK.replace('-', ' ')}", [], 1),
            (BLOCK.replace("  type", "  # lakebed: ignore LB1705 x\n  type"), [], 1),
            ("- {name: email,\n   type: String}  # lakebed: ignore LB1705 x", [], 1),
            (
                f"{BLOCK}\n  # lakebed: ignore LB1705 x\n{BLOCK.replace('email', 'phone')}",
                ["LB1705"] * 2 + ["LB1711"],
                0,
            ),
            (f"# lakebed: ignore LB1705 x\n{BLOCK}\n{BLOCK.replace('email', 'phone')}", ["LB1705"], 1),
        ],
    )
    def test_a_comment_is_about_a_whole_item(self, text: str, found: list[str], ignored: int) -> None:
        made = report(table(text), LintSettings())
        assert (sorted(d.code for d in made.diagnostics), made.ignored) == (found, ignored)

    def test_a_comment_is_about_all_that_it_stands_above_or_beside(self) -> None:
        two = table("- {name: email, type: String}\n- {name: phone, type: String}")
        said = "# lakebed: ignore LB1705 of shops only\n"
        for text in (f"{said}\n{two}", f"--- {said}{two}", two.replace("fields:\n", f"fields: {said}")):
            assert (codes(text), report(text, LintSettings()).ignored) == ([], 2)
            assert codes(text.replace("\n", "\r\n")) == []
        assert codes(f"{said}{two}") == ["LB1711", "LB1705", "LB1705"]

    @given(texts([f"lakebed: ignore {code} since" for code in ("LB1700", "LB1702", "LB1703, LB1700", "LB1704")]))
    def test_what_is_found_is_the_same_in_canonical_form(self, text: str) -> None:
        told = [report(made, ALL) for made in (text, format_manifest(text))]
        found = [sorted((d.code, str(d.path)) for d in each.diagnostics) for each in told]
        assert (found[0], told[0].ignored) == (found[1], told[1].ignored)

    @pytest.mark.parametrize("code", sorted(set(DEFAULT_LEVELS) - {"LB1711"}))
    def test_the_remedy_names_the_code_that_is_there(self, code: str) -> None:
        (found,) = report(table(f"# lakebed: ignore {code}\n- {{name: id, type: Int64}}"), LintSettings()).diagnostics
        assert (found.code, f"ignore {code} why" in str(found.remedy)) == ("LB1711", True)

    def test_a_value_that_looks_so_is_no_instruction(self) -> None:
        text = table('- {name: a, type: String, extra: {x.org/a: " # lakebed: ignore LB1705 x"}}')
        assert codes(text) == []


class TestFix:
    TEXT = table(
        "# who\n- {name: id, type: {kind: Option, inner: Int64}}  # the key\n- {name: email, type: String}\n"
        "- {name: phone, type: String}  # lakebed: ignore LB1705 the shop's own",
        "  primaryKeys: [id]\n",
    )

    def test_what_is_safe_is_mended_and_all_else_stays(self) -> None:
        file = LoadedFile.parse(self.TEXT, "a.yaml")
        made = fix_text(file, LintSettings()).text
        assert made == self.TEXT.replace("{kind: Option, inner: Int64}", "Int64").replace(
            "email, type: String", "email, type: String, extra: {lakebed.dev/personalData: true}"
        )
        assert fix_text(LoadedFile.parse(made, "a.yaml"), LintSettings()) == MendedText(made)
        assert report(made, LintSettings()).fixes == 0

    def test_one_that_cannot_be_mended_costs_few_edits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        edits: list[str] = []

        def noted(text: str, *change: Any, **more: Any) -> str:
            edits.append(text)
            return edit_manifest(text, *change, **more)

        monkeypatch.setattr(sys.modules["lakebed.lint.lint_files"], "edit_manifest", noted)
        columns = [f"- {{name: c{number}_email, type: String}}" for number in range(32)]
        columns[11:11] = [
            "- {name: phone, type: String, extra: &x {e.org/a: 1}}",
            "- {name: q, type: String, extra: *x}",
        ]
        made = fix_text(LoadedFile.parse(table("\n".join(columns)), "a.yaml"), LintSettings())
        assert ([d.path for d in made.diagnostics], made.text.count("personalData")) == (["phone"], 32)
        assert len(edits) <= 13

    def test_json_stays_json(self) -> None:
        fields = [{"name": "id", "type": {"kind": "Option", "inner": "Int64"}}, {"name": "email", "type": "String"}]
        content = {"name": "x.j", "description": "J", "primaryKeys": ["id"], "schema": {"fields": fields}}
        text = json.dumps({"kind": "Table", "version": 1, "content": content})
        made = json.loads(fix_text(LoadedFile.parse(text, "a.json"), LintSettings()).text)
        changed = [{"name": "id", "type": "Int64"}, {**fields[1], "extra": {PERSONAL_DATA: True}}]
        assert made["content"] == {**content, "schema": {"fields": changed}}

    def test_comments_stay(self) -> None:
        type_ = "type:  # a\n    kind: Option  # b\n    # c\n    inner: Int64  # d\n  # e"
        text = table(f"- name: id\n  {type_}", "  primaryKeys: [id]\n")
        made = fix_text(LoadedFile.parse(text, "a.yaml"), LintSettings()).text
        lines = ["# a", "# b", "# c", "type: Int64  # d", "# e"]
        assert made == table("- name: id\n  " + "\n  ".join(lines), "  primaryKeys: [id]\n")
        assert codes(made) == []

    def test_what_cannot_be_mended_is_told_and_hinders_nothing(self) -> None:
        text = table(
            "- {name: email, type: String}\n- {name: phone, type: String, extra: &x {e.org/a: 1}}\n"
            "- {name: q, type: String, extra: *x}"
        )
        made = fix_text(LoadedFile.parse(text, "a.yaml"), LintSettings())
        assert made.text == text.replace(
            "email, type: String", "email, type: String, extra: {lakebed.dev/personalData: true}"
        )
        (note,) = made.diagnostics
        assert (note.severity.value, note.path, note.code) == ("note", "phone", "LB1631")
        assert note.message.startswith("LB1705 of phone is not mended: ")
        shifted = text.replace("- {name: email, type: String}", "- name: email\n        type: String")
        (note,) = fix_text(LoadedFile.parse(shifted, "a.yaml"), LintSettings()).diagnostics
        assert note.position is not None
        assert note.position.line == 11

    @given(texts())
    def test_comments_stay_wherever_they_are(self, text: str) -> None:
        file = LoadedFile.parse(text, "a.yaml")
        made = fix_text(file, ALL)
        said = [sorted(re.findall("# comment [0-9]+", each)) for each in (text, made.text)]
        assert said[0] == said[1]
        left = report(made.text, ALL)
        assert left.fixes == len(made.diagnostics)

    @pytest.mark.parametrize("line_break", ["\n", "\r\n"])
    def test_line_breaks_stay(self, line_break: str) -> None:
        text = table("- name: email\n  type: String\n- name: phone\n  type: String").replace("\n", line_break)
        made = fix_text(LoadedFile.parse(text, "a.yaml"), LintSettings()).text
        assert (made.count("personalData"), made.count("\n")) == (2, made.count(line_break))

    @given(manifests.table_manifests())
    def test_laws(self, declared: TableManifest) -> None:
        text = dump_table(declared)
        file = LoadedFile.parse(text, "a.yaml")
        made = LoadedFile.parse(fix_text(file, ALL).text, "a.yaml")
        assert fix_text(made, ALL) == MendedText(made.text)
        ((old,), (new,)) = file.tables, made.tables
        plain = [without_attributes(t.schema, (PERSONAL_DATA,)) for t in (old, new)]
        kept = [[f for f in schema.fields if f.name not in old.primary_keys] for schema in plain]
        assert kept[0] == kept[1]
        assert replace(old, schema=new.schema) == new


def test_every_rule_has_a_page_and_every_engine_a_name() -> None:
    assert set(DEFAULT_LEVELS) == {code for code in register() if code.startswith("LB17")}
    assert {"flink", "spark", "trino", "pypaimon"} <= set(ENGINES)


@given(manifests.table_manifests())
def test_every_finding_stands_in_the_text(declared: TableManifest) -> None:
    text = dump_table(declared)
    assert parse_manifest(text).tables
    for finding in report(text, ALL).diagnostics:
        assert finding.position is not None
        assert 0 < finding.position.line <= text.count("\n")


def mended(text: str) -> str:
    return fix_text(LoadedFile.parse(text, "a.yaml"), LintSettings()).text


@pytest.mark.parametrize(
    "type_",
    [
        "{kind: Struct, fields: [{name: street, type: String}]}",
        "{kind: Option, inner: {kind: List, itemType: {kind: Struct, fields: [{name: street, type: String}]}}}",
        "{kind: Map, keyType: String, valueType: {kind: Struct, fields: [{name: street, type: String}]}}",
    ],
)
def test_members_with_personal_data_are_tagged_too(type_: str) -> None:
    text = fields("place", type_)
    (found,) = report(text, LintSettings()).diagnostics
    assert (found.code, (found.path or "").endswith("street")) == ("LB1705", True)
    after = mended(text)
    assert "street, type: String, extra: {lakebed.dev/personalData: true}" in after
    assert codes(after) == []


def test_what_is_said_of_a_column_is_said_of_its_members() -> None:
    inside = "type: {kind: Struct, fields: [{name: street, type: String}]}"
    assert codes(table(f"- {{name: place, {inside}, extra: {{lakebed.dev/personalData: true}}}}")) == []


class TestScopes:
    LINT: ClassVar[dict[str, Any]] = {
        "LB1702": "error",
        "scopes": [
            {"for_tables": ["staging.*"], "LB1705": "off", "columns": "camelCase", "engines": ["pypaimon"]},
            {"for_files": ["legacy/*.yaml"], "LB1705": "error"},
        ],
    }

    @pytest.mark.parametrize(
        ("name", "file", "found"),
        [
            ("shop.orders", "a.yaml", [("LB1705", "warning")]),
            ("staging.orders", "a.yaml", []),
            ("shop.orders", "schemas/legacy/a.yaml", [("LB1705", "error")]),
            ("staging.orders", "legacy/a.yaml", [("LB1705", "error")]),
            ("shop.orders", "legacy-a.yaml", [("LB1705", "warning")]),
        ],
    )
    def test_settings_count_for_tables_and_files(self, name: str, file: str, found: list[tuple[str, str]]) -> None:
        settings = LintSettings.of(self.LINT)
        text = table("- {name: email, type: String}", name=name)
        (told,) = lint_files([LoadedFile.parse(text, file)], settings)
        assert [(d.code, d.severity.value) for d in told.diagnostics] == found

    def test_what_a_scope_does_not_say_is_that_of_the_project(self) -> None:
        settings = LintSettings.of(self.LINT, ["spark"])
        own, other = settings.of_table("staging.t", "a.yaml"), settings.of_table("shop.t", "a.yaml")
        assert (own.columns, own.engines, own.level("LB1702")) == ("camelCase", ("pypaimon",), "error")
        assert (other.columns, other.engines, other.level("LB1705")) == ("snake_case", ("spark",), "warning")

    @pytest.mark.parametrize(
        ("scopes", "said"),
        [
            ({}, "must be tables [[lint.scopes]]"),
            ([{"LB1705": "off"}], "for_tables or for_files"),
            ([{"for_tables": "staging.*"}], "'lint.scopes.for_tables' must be a list of texts"),
            ([{"for_tables": ["a.*"], "LB1705": "never"}], "'lint.LB1705' must be one of"),
            ([{"for_tables": ["a.*"], "engines": ["sparc"]}], "there is no engine 'sparc'"),
            ([{"for_tables": ["a.*"], "fore_files": ["b"]}], "there is no setting 'lint.fore_files'"),
        ],
    )
    def test_scopes_that_cannot_be_used(self, scopes: Any, said: str) -> None:
        with pytest.raises(UsageError) as caught:
            LintSettings.of({"scopes": scopes})
        assert said in str(caught.value)

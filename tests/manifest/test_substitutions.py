"""What variables and other names of databases make of a manifest."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import ManifestError
from lakebed.manifest import Substitutions, TableManifest, dump_table, parse_manifest
from lakebed.manifest.edit import edit_manifest
from lakebed.manifest.format_manifest import format_manifest
from lakebed.manifest.load import LoadedFile
from lakebed.model import Extra, Field, Int32, Schema
from lakebed.model.extra import DESCRIPTION

TEXT = """\
kind: Table
version: 1
content:
  name: ${db}.orders_${suffix}   # of this environment
  description: "Of ${owner}, not of $${owner} or ${a.b}"
  options:
    snapshot.time-retained: ${retention}
  schema:
    fields:
      - name: id
        type: Int32
        extra:
          opendatafabric.org/description: Costs ${owner}
    extra:
      example.org/owner: ${owner}
      example.org/tags: [a, "${owner}"]
"""
GIVEN = Substitutions({"db": "shop", "suffix": "eu", "owner": "true", "retention": "7 d"})


def test_values_stand_in_the_place_of_variables_and_are_text() -> None:
    (table,) = parse_manifest(TEXT, substitutions=GIVEN).tables
    assert (table.name, table.options) == ("shop.orders_eu", {"snapshot.time-retained": "7 d"})
    assert table.description == "Of true, not of ${owner} or ${a.b}"
    assert (table.schema.extra["example.org/owner"], table.schema.extra["example.org/tags"]) == ("true", ["a", "true"])


def test_columns_are_the_same_in_every_environment() -> None:
    (table,) = parse_manifest(TEXT, substitutions=GIVEN).tables
    assert table.schema.fields[0].extra.description == "Costs ${owner}"


def test_a_variable_without_a_value_is_told_where_it_stands_and_each_use_of_it() -> None:
    with pytest.raises(ManifestError) as error:
        parse_manifest(TEXT, source="a.yaml", substitutions=Substitutions({"db": "shop", "sufix": "eu", "owner": "x"}))
    found = [(d.code, str(d.position), d.found, d.suggestions) for d in error.value.diagnostics]
    assert found == [
        ("LB1031", "a.yaml:4:22", "${suffix}", ("sufix",)),
        ("LB1031", "a.yaml:7:29", "${retention}", ()),
    ]


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("a ${x} b", "5:18"),
        ("'a ${x}'", "5:19"),
        ('"${x}"', "5:17"),
        ('"\\t ${x}"', "5:16"),
        ("'it''s ${x}'", "5:16"),
        (">-\n    a\n    ${x}", "5:16"),
        ("a\n    ${x}", "5:16"),
    ],
)
def test_a_variable_is_told_at_its_own_column_where_the_text_stands_so(written: str, place: str) -> None:
    text = f"kind: Table\nversion: 1\ncontent:\n  name: a\n  description: {written}\n  schema: {{fields: []}}\n"
    with pytest.raises(ManifestError) as error:
        parse_manifest(text)
    assert [str(d.position) for d in error.value.diagnostics] == [f"<text>:{place}"]


@pytest.mark.parametrize(
    ("declared", "there"),
    [
        ("shop.orders", "eu.orders"),
        ("orders", "dev_default.orders"),
        ("`my.db`.`a@b`", "`dev_my.db`.`a@b`"),
        ("other.orders", "dev_other.orders"),
    ],
)
def test_tables_lie_in_other_databases(declared: str, there: str) -> None:
    given = Substitutions(databases={"shop": "eu"}, database_prefix="dev_")
    text = TEXT.replace("${db}.orders_${suffix}", f"'{declared}'").replace("${", "$${")
    (table,) = parse_manifest(text, substitutions=given).tables
    assert table.name == there
    snapshot = (
        f"kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: '{declared}'\n  kind: Root\n"
        "  metadata: [{kind: SetDataSchema, schema: {fields: [{name: id, type: Int32}]}}]\n"
    )
    assert parse_manifest(snapshot, substitutions=given).tables[0].name == there
    assert Substitutions().table_name(declared) == declared


def test_two_tables_that_lie_in_one_place_are_told() -> None:
    text = TEXT + "---\n" + TEXT.replace("${db}", "other")
    with pytest.raises(ManifestError, match="LB1026"):
        parse_manifest(text, substitutions=Substitutions(GIVEN.variables, {"other": "shop"}))


def test_an_edit_leaves_variables_where_they_are() -> None:
    def change(table: TableManifest) -> TableManifest:
        (column,) = table.schema.fields
        fields = (replace(column, extra=Extra({DESCRIPTION: "New"})),)
        return replace(table, schema=replace(table.schema, fields=fields), options={**table.options, "bucket": "-1"})

    new = edit_manifest(TEXT, change, table="shop.orders_eu", substitutions=GIVEN)
    assert new == TEXT.replace("Costs ${owner}", "New").replace("  schema:", '    bucket: "-1"\n  schema:', 1)


@pytest.mark.parametrize("given", [GIVEN, None], ids=["known", "unknown"])
def test_the_canonical_form_keeps_variables(given: Substitutions | None) -> None:
    untidy = TEXT.replace("    snapshot", "      snapshot")
    assert format_manifest(untidy, substitutions=given) == format_manifest(TEXT, substitutions=given)
    assert LoadedFile.parse(format_manifest(untidy), "", GIVEN).tables == LoadedFile.parse(TEXT, "", GIVEN).tables


@given(st.text("ab$ {}_x", max_size=12))
def test_what_is_escaped_is_the_text_itself(text: str) -> None:
    escaped = re.sub(r"\$(?=\{[a-z_]+\})", "$$$$", text)
    document = re.sub("description: .*", lambda _: f'description: "x{escaped}x"', TEXT, count=1)
    assert parse_manifest(document, substitutions=GIVEN).tables[0].description == f"x{text}x"


LITERAL = "$${a} ${b}, $$$${c} and ${d.e}"


def test_what_looks_like_a_variable_in_a_stored_table_is_declared_as_text() -> None:
    column = Field("id", Int32(), Extra({DESCRIPTION: LITERAL}))
    schema = Schema((column,), Extra({"a.b/c": [LITERAL, {"${d}": LITERAL}]}))
    table = TableManifest("db.t", schema, options={"a": LITERAL}, ignore_options=("${x}",))
    table = replace(table, description=LITERAL)
    text = dump_table(table)
    (read,) = parse_manifest(text).tables
    assert (read.schema, read.options, read.ignore_options) == (table.schema, table.options, table.ignore_options)
    bare = replace(table, schema=Schema((column,)), options={}, ignore_options=(), description=None)
    assert edit_manifest(dump_table(bare), lambda _: table).count("$") == text.count("$")


@pytest.mark.parametrize("value", ["{bucket: ${n}}", "{a: [x, ${n}]}", "{bucket: ${n}, more: 1}"])
def test_a_variable_without_quotes_inside_of_braces_is_told_as_that(value: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(f"kind: Table\nversion: 1\ncontent:\n  options: {value}\n")
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.remedy) == (
        "LB1003",
        'Put a variable in quotes inside of braces and brackets: "${name}".',
    )

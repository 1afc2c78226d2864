"""Branches and system tables by the table format's names, external tables, and options that no table may store."""

from __future__ import annotations

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableName, TableRef
from lakebed.errors import AlreadyExistsError, NotFoundError, UnsupportedError, UsageError, ValidationError
from lakebed.testing.memory_store import MemoryStore

ID = Field("id", DataType.INT, False)
ADD = {"action": "addColumn", "fieldNames": ["added"], "dataType": "INT"}


@pytest.fixture
def tables() -> TableManager:
    store = MemoryStore()
    tables = TableManager(PathFactory("/w", store=store), store, lambda: 1000)
    tables.create_table("d", "t", [ID])
    store.replace("/w/d.db/t/branch/branch-b/schema/schema-0", store.read("/w/d.db/t/schema/schema-0"))
    return tables


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("d.t$branch_b", TableRef(TableName("d", "t"), branch="b")),
        ("t$branch_b", TableRef(TableName("default", "t"), branch="b")),
        ("d.`a.b$branch_x y`", TableRef(TableName("d", "a.b"), branch="x y")),
        ("d.t$branch_main", TableRef(TableName("d", "t"))),
        ("d.t$branch_b@3", TableRef(TableName("d", "t"), schema_id=3, branch="b")),
    ],
)
def test_a_branch_by_the_formats_name(text, ref):
    assert TableRef.parse(text) == ref
    assert TableRef.parse(str(ref)) == ref


@pytest.mark.parametrize("text", ["d.t$snapshots", "d.t$branch_b$files", "d.t$SCHEMAS", "d.t$branch_b$audit_log@1"])
def test_system_tables_are_told_from_bad_names(text):
    with pytest.raises(UnsupportedError) as caught:
        TableRef.parse(text)
    assert caught.value.code == "LB3709"
    assert "lake.history('d.t')" in str(caught.value)


@pytest.mark.parametrize("text", ["d.t$x", "d.t$", "d.$branch_b", "d.t$branch_", "d.t$a$b$c", "d.t$branch_b$x", "d.$"])
def test_other_names_with_a_dollar(text):
    with pytest.raises(ValidationError):
        TableRef.parse(text)


def test_a_branch_has_one_version_only():
    with pytest.raises(UsageError):
        TableRef.parse("d.t$branch_b@tag:x")


def test_a_branch_can_be_altered_and_nothing_else(tables):
    assert tables.get_schema_manager("d", "t$branch_b").branch == "b"
    assert tables.alter_table("d", "t$branch_b", [ADD]).field_names == ("id", "added")
    assert tables.get_schema_manager("d", "t", "b").get_current_schema().id == 1
    assert tables.get_schema_manager("d", "t").get_current_schema().id == 0
    with pytest.raises(NotFoundError, match="no branch 'c'"):
        tables.alter_table("d", "t$branch_c", [ADD])
    with pytest.raises(UnsupportedError):
        tables.alter_table("d", "t$options", [ADD])
    for name in ("t$branch_b", "t$snapshots", "u$branch_b"):
        for call in (
            lambda n: tables.create_table("d", n, [ID]),
            lambda n: tables.drop_table("d", n),
            lambda n: tables.rename_table(TableName("d", "t"), TableName("d", n)),
            lambda n: tables.rename_table(TableName("d", n), TableName("d", "u")),
        ):
            with pytest.raises(ValidationError) as caught:
                call(name)
            assert caught.value.code == "LB3103"


@pytest.mark.parametrize("branch", ["../b", "a/b", "..", "a\\b", "a\0b"])
def test_hostile_branches(tables, branch):
    for call in (
        lambda: tables.get_schema_manager("d", "t", branch),
        lambda: tables.get_schema_manager("d", f"t$branch_{branch}"),
        lambda: tables.alter_table("d", "t", [ADD], branch=branch),
    ):
        with pytest.raises(ValidationError):
            call()


@pytest.mark.parametrize("option", ["branch", "path"])
def test_options_of_an_opened_table_are_not_stored(tables, option):
    before = tables.store.snapshot()
    with pytest.raises(ValidationError) as caught:
        tables.create_table("d", "u", [ID], options={option: "b"})
    assert [d.path for d in caught.value.diagnostics] == [f"options.{option}"]
    with pytest.raises(ValidationError):
        tables.alter_table("d", "t", [{"action": "setOption", "key": option, "value": "b"}])
    assert tables.store.snapshot() == before


NESTED = {"type": "ROW", "fields": [{"name": "x", "type": "INT"}]}


class TestExternal:
    @pytest.fixture
    def external(self, tables: TableManager) -> TableManager:
        tables.create_table(
            "d",
            "e",
            [("k", "INT NOT NULL"), ("p", "STRING"), ("r", NESTED)],
            ["k", "p"],
            ["p"],
            options={"bucket": 2},
        )
        tables.alter_table("d", "e", [ADD])
        return tables

    @pytest.mark.parametrize(
        "given",
        [
            {"fields": []},
            {"fields": [("k", "INT NOT NULL"), ("p", "STRING NOT NULL"), ("r", NESTED), ("added", "INT")]},
            {"fields": [], "primary_keys": ["k", "p"], "partition_keys": ["p"], "options": {"bucket": "2"}},
            {"fields": [], "options": {"owner": "me", "path": "/w/d.db/e"}},
        ],
        ids=["nothing", "columns", "keys and options", "owner and path"],
    )
    def test_an_existing_table_is_taken_as_it_is(self, external, given):
        before = external.store.snapshot()
        assert external.create_table("d", "e", external=True, **given).current_schema_id == 1
        assert external.store.snapshot() == before

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"fields": [("k", "BIGINT NOT NULL")]}, "columns"),
            ({"fields": [("k", "INT NOT NULL"), ("p", "STRING NOT NULL")]}, "columns"),
            ({"fields": [], "primary_keys": ["k"]}, "primary key"),
            ({"fields": [], "partition_keys": ["k"]}, "partition key"),
            ({"fields": [], "options": {"bucket": "3"}}, "option 'bucket'"),
            ({"fields": [], "options": {"file.format": "orc"}}, "option 'file.format'"),
        ],
    )
    def test_another_definition_is_refused(self, external, given, said):
        with pytest.raises(AlreadyExistsError) as caught:
            external.create_table("d", "e", external=True, **given)
        assert caught.value.code == "LB3708"
        assert said in str(caught.value)

    def test_a_new_one_is_made(self, external):
        assert external.create_table("d", "n", [ID], external=True).current_schema_id == 0
        with pytest.raises(ValidationError):
            external.create_table("d", "m", [], external=True)

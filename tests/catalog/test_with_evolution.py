"""The managers with the change evaluator in them, as a lake has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed import model
from lakebed.catalog import DataType, Field, PathFactory, TableManager
from lakebed.catalog.commit_version import says_the_same
from lakebed.catalog.jackson import pretty
from lakebed.errors import LakebedError, UnsupportedError, ValidationError
from lakebed.evolve.make_version import with_changes
from lakebed.evolve.schema_changes import AddColumn, DropColumn, RenameColumn, UpdateColumnType
from lakebed.physical.paimon_types import BigInt, DataField, Int, VarChar
from lakebed.testing.memory_store import MemoryStore


@pytest.fixture(params=["paimon", "mini"])
def tables(request) -> TableManager:
    store = MemoryStore()
    paths = PathFactory("/w", request.param, store=store)
    found = TableManager(paths, store, lambda: 1000)
    found.create_table("d", "t", [Field("id", DataType.INT, False), Field("n", DataType.INT)], ["id"])
    return found


def test_types_may_change_where_the_format_allows(tables):
    manager = tables.get_schema_manager("d", "t")
    wider = manager.create_new_schema_version(["id INT NOT NULL", "n BIGINT", "m STRING"], ["id"])
    assert wider.fields[1] == DataField(1, "n", BigInt())
    assert wider.fields[2].id == 2
    assert wider.time_millis == 1000
    assert manager.load_latest_schema().fields == wider.fields
    assert manager.create_new_schema_version(["id INT NOT NULL", "n BIGINT", "m STRING"], ["id"]).id == 1
    for wrong in (["id BIGINT NOT NULL", "n BIGINT"], ["id INT NOT NULL", "n BOOLEAN", "x INT NOT NULL"], ["n BIGINT"]):
        with pytest.raises(LakebedError):
            manager.create_new_schema_version(wrong, ["id"])
    assert manager.ids() == [0, 1]


def test_lists_of_changes_in_both_forms(tables):
    add = {"action": "addColumn", "fieldNames": ["x"], "dataType": "INT", "comment": None, "move": None}
    rename = RenameColumn(("n",), "m")
    if tables.path_factory.layout == "mini":
        with pytest.raises(UnsupportedError) as caught:
            tables.alter_table("d", "t", [add, rename])
        assert caught.value.code == "LB3404"
        assert tables.get_schema_manager("d", "t").ids() == [0]
        rename = AddColumn(("m",), Int())
    new = tables.alter_table("d", "t", [add, rename])
    assert new.id == 1
    assert set(new.field_names) >= {"id", "m", "x"}
    assert tables.get_table_metadata("d", "t").current_schema_id == 1
    with pytest.raises(ValidationError):
        tables.alter_table("d", "t", [{"action": "dropEverything"}])


def test_annotations_follow_a_changed_type():
    store = MemoryStore()
    tables = TableManager(PathFactory("/w", store=store), store, lambda: 1000)
    tables.create_table("d", "t", [model.Field("u", model.Option(model.UInt8())), ("n", "INT")])
    manager = tables.get_schema_manager("d", "t")
    new = manager.create_new_schema_version([model.Field("u", model.Option(model.UInt32())), ("n", "BIGINT")])
    assert new.logical.fields[0].type == model.Option(model.UInt32())
    assert str(new.fields[0].type) == "BIGINT"


_CHANGES = st.one_of(
    st.builds(AddColumn, st.sampled_from("abcd").map(lambda n: (n,)), st.sampled_from([Int(), BigInt()])),
    st.builds(RenameColumn, st.sampled_from("abcd").map(lambda n: (n,)), st.sampled_from("abcd")),
    st.builds(DropColumn, st.sampled_from("abcd").map(lambda n: (n,))),
    st.builds(UpdateColumnType, st.sampled_from("abcd").map(lambda n: (n,)), st.sampled_from([BigInt(), VarChar()])),
)


def _outcome(act):
    """What comes out, or the problems."""
    try:
        return act(), ()
    except LakebedError as error:
        return None, error.diagnostics


@given(st.lists(_CHANGES, max_size=8))
def test_versions_made_on_what_is_kept_are_those_made_on_what_is_read_anew(changes):
    store = MemoryStore()

    def opened():
        return TableManager(PathFactory("/w", store=store), store, lambda: 1000)

    kept = opened()
    kept.create_table("d", "t", ["k INT NOT NULL", "a INT"])
    for change in changes:
        manager = opened().get_schema_manager("d", "t")
        base = manager.load_latest_schema()
        wanted, problems = _outcome(
            lambda b=base, c=change: with_changes(b, [c], has_snapshots=lambda: False, now=1000)
        )
        made, found = _outcome(lambda c=change: kept.alter_table("d", "t", [c]))
        assert found == problems
        assert made == (base if wanted is not None and says_the_same(base, wanted) else wanted)
        if made is not None:
            assert store.read(manager.path(made.id)) == pretty(made.to_json())
    assert (
        opened().get_schema_manager("d", "t").load_latest_schema()
        == kept.get_schema_manager("d", "t").load_latest_schema()
    )

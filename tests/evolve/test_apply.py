"""Applying plans: exactly what was reviewed, once, or a refusal that writes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.declarations import Warehouse, manifest
from lakebed.catalog import SchemaManager, TableName
from lakebed.errors import RefusedError, StalePlanError, UsageError
from lakebed.evolve import AppliedTable, Plan, with_changes, with_fields
from lakebed.evolve.schema_changes import AddColumn, SetOption
from lakebed.physical import paimon_types as t

A = "{name: a, type: Int32}\n{name: b, type: {kind: Option, inner: Int32}}"
WIDE = A.replace("a, type: Int32", "a, type: Int64")


@pytest.fixture
def lake() -> Warehouse:
    return Warehouse()


def versions(lake: Warehouse, table: str = "t") -> list[int]:
    return lake.tables.get_schema_manager("db", table).ids()


def alter(lake: Warehouse, table: str = "t") -> None:
    """Another writer changes the table."""
    manager = lake.tables.get_schema_manager("db", table)
    changes = [SetOption("somebody", "else")]
    manager.publish(with_changes(manager.load_latest_schema(), changes, has_snapshots=lambda: False, now=1))


def test_create_change_and_again(lake: Warehouse) -> None:
    applied = lake.apply(manifest(A))
    made = ("create table db.t (2 columns)", "add column a: Int32", "add column b: Option<Int32>")
    assert applied.tables == (AppliedTable("db.t", 0, created=True, changed=True, changes=made),)
    assert lake.newest().time_millis == 101
    done = ("change type of a from Int32 to Int64",)
    assert lake.apply(manifest(WIDE)).tables == (AppliedTable("db.t", 1, created=False, changed=True, changes=done),)
    assert lake.newest().time_millis == 102
    plan = lake.plan(manifest(WIDE))
    assert plan.is_noop
    assert lake.apply(plan).tables == (AppliedTable("db.t", 1, created=False, changed=False),)
    assert versions(lake) == [0, 1]
    assert lake.tables.get_table_metadata("db", "t").current_schema_id == 1


def test_what_was_reviewed_is_what_is_stored(lake: Warehouse) -> None:
    for text in (manifest(A), manifest(WIDE, head="options: {x: '1'}", extra="{x.org/o: me}")):
        plan = Plan.from_json(lake.plan(text).to_json())
        lake.apply(plan)
        assert plan.tables[0].target is not None
        assert lake.newest().fingerprint == plan.tables[0].target.fingerprint
        assert replace(lake.newest(), time_millis=0) == plan.tables[0].target


def test_all_leave_that_is_missing_is_asked_for_at_once(lake: Warehouse) -> None:
    lake.apply(manifest(A + "\n{name: c, type: Int64}"))
    narrow = lake.plan(manifest("{name: c, type: Int8}"))
    with pytest.raises(RefusedError) as caught:
        lake.apply(narrow, "LB4203:a")
    assert [(d.code, d.path, d.remedy) for d in caught.value.diagnostics] == [
        ("LB4203", "b", "--allow LB4203:b"),
        ("LB4206", "c", "--allow LB4206:c"),
    ]
    assert all(d.position is not None for d in caught.value.diagnostics)
    assert versions(lake) == [0]
    assert narrow.leave_needed() == ("LB4203:a", "LB4203:b", "LB4206:c")
    lake.apply(narrow, "LB4203", "LB4206:c")
    assert versions(lake) == [0, 1]


def test_what_is_forbidden_stays_so_with_all_leave(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest(A + "\n{name: c, type: Int32}"))
    with pytest.raises(RefusedError) as caught:
        lake.apply(plan, "LB4202", "LB4202:c")
    assert [d.code for d in caught.value.diagnostics] == ["LB4202"]
    assert caught.value.exit_code == 11


def test_the_odf_rule_needs_leave_of_its_own(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest(WIDE, head="compatibility: ODF"))
    with pytest.raises(RefusedError) as caught:
        lake.apply(plan)
    assert [d.code for d in caught.value.diagnostics] == ["LB4220"]
    lake.apply(plan, "LB4220:a")


def test_leave_for_an_unknown_code_is_a_slip(lake: Warehouse) -> None:
    with pytest.raises(UsageError) as caught:
        lake.apply(manifest(A), "LB4230:a", "drop")
    assert [d.found for d in caught.value.diagnostics] == ["LB4230:a", "drop"]
    assert not lake.tables.exists("db.t")


def test_approvals_are_the_plans_own_and_those_given_now(lake: Warehouse) -> None:
    lake.apply(manifest(A + "\n{name: c, type: Int64}"))
    plan = lake.plan(manifest("{name: c, type: Int8}")).approved(["LB4203:a", "LB4206:c"])
    assert plan.approvals_missing() == ("LB4203:b",)
    with pytest.raises(RefusedError):
        lake.apply(plan)
    assert plan.approved(["LB4203:b"]).approvals_missing() == ()
    assert lake.apply(Plan.from_json(plan.to_json()), "LB4203:b").diagnostics == ()
    assert versions(lake) == [0, 1]


def test_an_approval_of_nothing_is_told(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest("{name: a, type: Int64}"))
    applied = lake.apply(plan, "LB4203:b", "LB4203:nocol", "LB4205:a", "LB4206")
    assert [(d.code, d.found, d.suggestions) for d in applied.diagnostics] == [
        ("LB4223", "LB4203:nocol", ("LB4203:b",)),
    ]


def test_a_suggestion_has_the_code_of_what_was_given(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest("{name: a, type: Int64}"))
    (note,) = lake.apply(plan, "LB4203:b", "LB4231:b").diagnostics
    assert (note.code, note.found, note.suggestions) == ("LB4223", "LB4231:b", ())


class TestStale:
    def test_a_changed_table(self, lake: Warehouse) -> None:
        lake.apply(manifest(A))
        plan = lake.plan(manifest(WIDE))
        alter(lake)
        with pytest.raises(StalePlanError) as caught:
            lake.apply(plan)
        assert caught.value.code == "LB4303"
        assert caught.value.exit_code == 12
        assert versions(lake) == [0, 1]

    def test_a_plan_that_was_applied(self, lake: Warehouse) -> None:
        lake.apply(manifest(A))
        plan = lake.plan(manifest(WIDE))
        lake.apply(plan)
        (again,) = lake.apply(plan).tables
        assert (again.schema_id, again.changed, again.already_applied, versions(lake)) == (1, False, True, [0, 1])

    def test_a_plan_of_which_some_was_applied_is_finished(self, lake: Warehouse) -> None:
        plan = lake.plan(manifest(A), manifest(A, name="db.u"))
        lake.apply(manifest(A))
        assert [(t.already_applied, t.created) for t in lake.apply(plan).tables] == [(True, False), (False, True)]

    def test_a_table_that_was_made_or_dropped(self, lake: Warehouse) -> None:
        plan = lake.plan(manifest(A))
        lake.apply(manifest(WIDE))
        with pytest.raises(StalePlanError):
            lake.apply(plan)
        lake.tables.drop_table("db", "t")
        lake.apply(plan)
        later = lake.plan(manifest(WIDE))
        lake.tables.drop_table("db", "t")
        with pytest.raises(StalePlanError):
            lake.apply(later)

    def test_a_plan_without_changes_is_stale_too(self, lake: Warehouse) -> None:
        lake.apply(manifest(A))
        plan = lake.plan(manifest(A))
        alter(lake)
        with pytest.raises(StalePlanError):
            lake.apply(plan)

    def test_nothing_is_written_when_any_table_is_stale(self, lake: Warehouse) -> None:
        lake.apply(manifest(A))
        lake.apply(manifest(A, name="db.u"))
        plan = lake.plan(manifest(WIDE), manifest(WIDE, name="db.u"))
        alter(lake, "u")
        with pytest.raises(StalePlanError):
            lake.apply(plan)
        assert versions(lake) == [0]

    def test_a_lost_race(self, lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
        lake.apply(manifest(A))
        plan = lake.plan(manifest(WIDE))
        publish = SchemaManager.publish

        def late(self: SchemaManager, schema: object) -> bool:
            monkeypatch.setattr(SchemaManager, "publish", publish)
            alter(lake)
            return publish(self, schema)  # type: ignore[arg-type]

        monkeypatch.setattr(SchemaManager, "publish", late)
        with pytest.raises(StalePlanError) as caught:
            lake.apply(plan)
        assert caught.value.code == "LB4306"
        assert lake.newest().options == {"somebody": "else"}


def test_the_first_failure_stops_and_says_what_was_done(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("db.t", "db.u", "db.v")
    for name in names:
        lake.apply(manifest(A, name=name))
    plan = lake.plan(*(manifest(WIDE, name=name) for name in names))
    publish = SchemaManager.publish
    monkeypatch.setattr(
        SchemaManager, "publish", lambda self, schema: publish(self, schema) if self.name.table == "t" else False
    )
    with pytest.raises(StalePlanError) as caught:
        lake.apply(plan)
    last = caught.value.diagnostics[-1]
    assert last.code == "LB4308"
    assert last.message == "done before that: db.t (schema 1); not done: db.u, db.v"
    assert [versions(lake, n[3:]) for n in names] == [[0, 1], [0], [0]]


def test_rules_are_asked_again_when_data_came_between_plan_and_apply(lake: Warehouse) -> None:
    from lakebed.errors import ValidationError

    head = "primaryKeys: [a]\noptions: {bucket: '1', merge-engine: first-row}"
    lake.apply(manifest(A, head=head))
    plan = lake.plan(manifest(A, head=head.replace("first-row", "deduplicate")))
    lake.put_data()
    with pytest.raises(ValidationError) as caught:
        lake.apply(plan)
    assert caught.value.code == "LB4016"
    assert versions(lake) == [0]


@pytest.mark.parametrize("steps", [(), (AddColumn(("x",), t.Int()),)], ids=["none", "others"])
def test_steps_that_do_not_lead_to_the_target_are_refused(lake: Warehouse, steps: tuple[AddColumn, ...]) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest(WIDE))
    forged = Plan((replace(plan.tables[0], steps=steps),))
    with pytest.raises(RefusedError) as caught:
        lake.apply(forged)
    assert caught.value.code == "LB4302"
    assert versions(lake) == [0]


def test_an_empty_plan(lake: Warehouse) -> None:
    assert lake.apply(Plan(())).to_json() == {"tables": []}


class TestWithoutPlan:
    def test_changes_in_their_json_form_all_problems_at_once(self, lake: Warehouse) -> None:
        from lakebed.errors import ValidationError

        lake.apply(manifest(A))
        base = lake.newest()
        new = with_changes(
            base,
            [{"action": "addColumn", "fieldNames": ["x"], "dataType": "INT"}, SetOption("y", "z")],
            has_snapshots=lambda: True,
            now=3,
        )
        assert new.field_names == ("a", "b", "x")
        with pytest.raises(ValidationError) as caught:
            with_changes(base, [{"action": "x"}, {"action": "y"}], has_snapshots=lambda: True, now=3)
        assert len(caught.value.diagnostics) == 2

    def test_wanted_columns(self, lake: Warehouse) -> None:
        head = "primaryKeys: [a]\noptions: {bucket: '1', sequence.field: b}"
        lake.apply(manifest(A, head=head))
        base = lake.newest()
        a, b = base.fields
        wanted = (replace(b, name="bb"), replace(a, name="aa"), t.DataField(t.UNASSIGNED, "c", t.Date()))
        new = with_fields(base, wanted, has_snapshots=lambda: True)
        assert new.field_names == ("bb", "aa", "c")
        assert (new.primary_keys, new.options["sequence.field"]) == (("aa",), "bb")

    def test_alter_table_uses_the_evaluator(self, lake: Warehouse) -> None:
        from lakebed.catalog import PathFactory, TableManager

        tables = TableManager(PathFactory("/wh"), lake.store)
        lake.apply(manifest(A))
        new = tables.alter_table("db", "t", [AddColumn(("x",), t.Int()), {"action": "dropColumn", "fieldNames": ["b"]}])
        assert new.field_names == ("a", "x")
        assert tables.exists(TableName("db", "t"))
        again = tables.get_schema_manager("db", "t").load_latest_schema()
        assert again.fields == new.fields

"""Compatibility modes and declared consumers: what a plan has against changes, and whom it names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from evolve.declarations import Warehouse, declared, manifest
from evolve.test_plan_laws import declarations
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError, RefusedError
from lakebed.evolve import Plan, TablePlan, plan_table
from lakebed.evolve.plan import PlannedChange
from lakebed.evolve.planner import Past
from lakebed.evolve.schema_changes import AddColumn
from lakebed.evolve.without_warehouse import check_against, plan_between
from lakebed.manifest import Compatibility, Consumer, TableManifest
from lakebed.manifest.encode_manifest import table_manifest_of
from lakebed.model.compare import compare
from lakebed.model.differences import DifferenceKind, Party
from lakebed.model.migration_rule import migration_problems
from lakebed.physical.paimon_types import Int

LAW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
BACKWARD, FORWARD, CONSUMER = "LB4241", "LB4242", "LB4243"
OPENED = "options: {alter-column-null-to-not-null.disabled: 'false'}"


def said(plan: TablePlan) -> dict[str, list[str]]:
    """The codes that modes and consumers have against each column."""
    return {c.column: [i.code for i in c.incompatible] for c in plan.changes if c.incompatible}


def mode_codes(plan: TablePlan) -> set[tuple[str, str, str]]:
    return {(c.kind.value, c.approved_as, i.code) for c in plan.changes for i in c.incompatible if i.code != CONSUMER}


def planned(before: str, after: str, mode: str | None, head: str = "") -> TablePlan:
    lake = Warehouse()
    lake.apply(manifest(before, head=head))
    said = head if mode is None else f"compatibility: {mode}\n{head}"
    return lake.plan_one(manifest(after, head=said))


OPTION = "{kind: Option, inner: %s}"
ENUM = "{name: a, type: String, extra: {lakebed.dev/enum: [%s]}}"
PATTERN = "{name: a, type: String, extra: {lakebed.dev/pattern: '%s'}}"
MAXIMUM = "{name: a, type: Int32, extra: {lakebed.dev/maximum: %s}}"
STRUCT = "{name: a, type: {kind: Struct, fields: [%s]}}"
KEPT = "{name: k, type: Int64}"
CASES = {
    "an optional column more": (KEPT, "{name: a, type: {kind: Option, inner: Int32}}", "", ""),
    "a column is dropped": ("{name: a, type: Int32}", KEPT, "", "F"),
    "an optional column is dropped": ("{name: a, type: {kind: Option, inner: Int32}}", KEPT, "", "F"),
    "a rename": ("{name: a, type: Int32}", "{name: b, type: Int32, extra: {lakebed.dev/renamedFrom: a}}", "", "F"),
    "wider": ("{name: a, type: Int32}", "{name: a, type: Int64}", "", "F"),
    "narrower": ("{name: a, type: Int64}", "{name: a, type: Int32}", "B", ""),
    "another type": ("{name: a, type: Int64}", "{name: a, type: String}", "B", "F"),
    "nulls": ("{name: a, type: Int32}", "{name: a, type: {kind: Option, inner: Int32}}", "", "F"),
    "no nulls": ("{name: a, type: {kind: Option, inner: Int32}}", "{name: a, type: Int32}", "B", ""),
    "fewer values": (ENUM % "x, y", ENUM % "x", "B", ""),
    "more values": (ENUM % "x", ENUM % "x, y", "", "F"),
    "other values": (ENUM % "x", ENUM % "y", "B", "F"),
    "another pattern": (PATTERN % "x", PATTERN % "y", "B", "F"),
    "a lower bound": (MAXIMUM % "9", MAXIMUM % "8", "B", ""),
    "a higher bound": (MAXIMUM % "8", MAXIMUM % "9", "", "F"),
    "a default": ("{name: a, type: Int32}", "{name: a, type: Int32, extra: {lakebed.dev/default: 7}}", "", ""),
    "a description": (
        "{name: a, type: Int32}",
        "{name: a, type: Int32, extra: {opendatafabric.org/description: x}}",
        "",
        "",
    ),
    "a member more": (
        STRUCT % "{name: x, type: Int32}",
        STRUCT % "{name: x, type: Int32}, {name: y, type: {kind: Option, inner: Int32}}",
        "",
        "",
    ),
    "a member is wider": (STRUCT % "{name: x, type: Int32}", STRUCT % "{name: x, type: Int64}", "", "F"),
    "a member is gone": (
        STRUCT % "{name: x, type: Int32}, {name: y, type: Int32}",
        STRUCT % "{name: x, type: Int32}",
        "",
        "F",
    ),
    "an item is narrower": (
        "{name: a, type: {kind: List, itemType: Int64}}",
        "{name: a, type: {kind: List, itemType: Int32}}",
        "B",
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_change_breaks_whom_it_breaks(case: str) -> None:
    before, after, backward, forward = CASES[case]
    before, after = (side if side == KEPT else f"{KEPT}\n{side}" for side in (before, after))
    expected = {BACKWARD: bool(backward), FORWARD: bool(forward)}
    for mode, codes in {
        "BACKWARD": [BACKWARD],
        "FORWARD": [FORWARD],
        "FULL": [BACKWARD, FORWARD],
        "FULL_TRANSITIVE": [BACKWARD, FORWARD],
        "NONE": [BACKWARD, FORWARD],
        "ODF": [],
    }.items():
        plan = planned(before, after, mode, OPENED)
        found = {code for codes in said(plan).values() for code in codes}
        assert found == {code for code in codes if expected[code]}, mode
        wanted = {code for _, code in plan.leave_needed()} & {BACKWARD, FORWARD}
        assert wanted == (set() if mode == "NONE" else found)
        assert Plan.from_json(json.loads(json.dumps(Plan((plan,)).to_json()))) == Plan((plan,))
    assert said(planned(before, after, None, OPENED)) == {}


def test_leave_is_given_by_code_and_column_and_none_needs_none() -> None:
    lake = Warehouse()
    lake.apply(manifest("{name: a, type: Int32}\n{name: b, type: Int32}"))
    wider = "{name: a, type: Int64}\n{name: b, type: Int32}"
    plan = lake.plan(manifest(wider, head="compatibility: FORWARD"))
    assert plan.leave_needed() == ("LB4242:a",)
    assert plan.is_breaking
    (change,) = (c for c in plan.tables[0].changes if c.column == "a")
    assert (change.verdict.value, change.code) == ("breaking", FORWARD)
    with pytest.raises(RefusedError, match="LB4242"):
        lake.apply(plan)
    approvals = "approvals: [{code: LB4242, path: a, reason: agreed, until: 2999-01-01}]"
    lake.apply(lake.plan(manifest(wider, head=f"compatibility: FORWARD\n{approvals}")))
    # NONE lets a column be dropped without leave, and tells what it is all the same.
    plan = lake.plan(manifest("{name: a, type: Int64}", head="compatibility: NONE"))
    assert plan.leave_needed() == ()
    assert [(c.code, c.verdict.value) for c in plan.tables[0].changes if c.column == "b"] == [("LB4203", "breaking")]
    assert said(plan.tables[0])["b"] == [FORWARD]
    lake.apply(plan)
    assert [f.name for f in lake.newest().fields] == ["a"]


def test_what_becomes_of_consumers_is_told_in_words() -> None:
    lake = Warehouse()
    field = "{name: a, type: Int32}"
    both = "consumers: [{name: report, owner: Finance, columns: [a]}, {name: all, mode: FULL}]"
    lake.apply(manifest(field, head=both))
    plan = lake.plan_one(manifest(field, head="consumers: [{name: report, columns: [a]}]"))
    assert [c.summary for c in plan.changes] == [
        "change consumers from report (Finance): a (FORWARD); all: all columns (FULL) to report: a (FORWARD)"
    ]


def test_none_does_not_undo_the_work_of_others_without_leave() -> None:
    lake = Warehouse(marks=True)
    text = manifest("{name: a, type: Int32}", head="compatibility: NONE")
    lake.apply(text)
    manager = lake.tables.get_schema_manager("db", "t")
    manager.alter([AddColumn(("b",), Int())])
    assert lake.plan(text).leave_needed() == ("LB4231:b",)


def test_a_transitive_mode_knows_the_names_of_older_versions() -> None:
    lake = Warehouse()
    first = "{name: k, type: Int64}\n{name: a, type: String}"
    lake.apply(manifest(first))
    lake.apply(lake.plan(manifest("{name: k, type: Int64}")), "LB4203")
    again = f"{KEPT}\n{{name: a, type: {OPTION % 'Int32'}}}"
    assert said(lake.plan_one(manifest(again, head="compatibility: FULL"))) == {}
    plan = lake.plan_one(manifest(again, head="compatibility: FULL_TRANSITIVE"))
    assert said(plan) == {"a": [BACKWARD, FORWARD]}
    (found, _) = next(c for c in plan.changes if c.column == "a").incompatible
    assert "schema 0" in found.reason
    assert "String" in found.reason
    assert said(lake.plan_one(manifest(again, head="compatibility: BACKWARD_TRANSITIVE"))) == {"a": [BACKWARD]}
    same = f"{KEPT}\n{{name: a, type: {OPTION % 'String'}}}"
    assert said(lake.plan_one(manifest(same, head="compatibility: FULL_TRANSITIVE"))) == {}
    # What an earlier change broke does not stand in the way of later ones.
    lake.apply(lake.plan(manifest(again)))
    more = f"{again}\n{{name: z, type: {OPTION % 'Int32'}}}"
    assert said(lake.plan_one(manifest(more, head="compatibility: FULL_TRANSITIVE"))) == {}


REPORT = "consumers: [{name: report, owner: Finance, columns: [%s]}, {name: other, columns: [k]}]"


class TestConsumers:
    @pytest.fixture
    def lake(self) -> Warehouse:
        lake = Warehouse()
        address = "{kind: Struct, fields: [{name: city, type: String}, {name: zip, type: Int32}]}"
        self.fields = f"{KEPT}\n{{name: total, type: Int32}}\n{{name: address, type: {address}}}"
        lake.apply(manifest(self.fields, head=REPORT % "total, address.city"))
        return lake

    def named(self, plan: TablePlan) -> dict[str, list[str | None]]:
        return {c.column: [i.consumer for i in c.incompatible] for c in plan.changes if c.incompatible}

    def test_the_team_whose_columns_are_touched_is_named(self, lake: Warehouse) -> None:
        head = REPORT % "total, address.city"
        plan = lake.plan_one(manifest(self.fields.replace("total, type: Int32", "total, type: Int64"), head=head))
        assert self.named(plan) == {"total": ["report"]}
        (found,) = next(c for c in plan.changes if c.column == "total").incompatible
        assert (found.code, found.owner, found.gates) == (CONSUMER, "Finance", True)
        assert "report (Finance)" in found.reason
        assert Plan((plan,)).leave_needed() == ("LB4243:total",)
        member = lake.plan_one(manifest(self.fields.replace("zip, type: Int32", "zip, type: Int64"), head=head))
        assert self.named(member) == {}
        city = lake.plan_one(
            manifest(self.fields.replace("city, type: String", "town, type: String"), head=REPORT % "total")
        )
        assert self.named(city) == {"address.city": ["report"]}

    def test_taking_the_column_or_the_consumer_out_does_not_hide_them(self, lake: Warehouse) -> None:
        kept = "\n".join(line for line in self.fields.splitlines() if "total" not in line)
        for head in (REPORT % "address.city", ""):
            assert self.named(lake.plan_one(manifest(kept, head=head))) == {"total": ["report"]}
        # A consumer that left in a version of its own is not asked any more.
        lake.apply(manifest(self.fields, head=REPORT % "address.city"))
        assert self.named(lake.plan_one(manifest(kept, head=REPORT % "address.city"))) == {}

    def test_a_rename_is_followed(self, lake: Warehouse) -> None:
        fields = self.fields.replace(
            "{name: total, type: Int32}", "{name: sum, type: Int32, extra: {lakebed.dev/renamedFrom: total}}"
        )
        assert self.named(lake.plan_one(manifest(fields, head=REPORT % "sum"))) == {"sum": ["report"]}
        lake.apply(lake.plan(manifest(fields, head=REPORT % "sum")), CONSUMER)
        wider = fields.replace("sum, type: Int32", "sum, type: Int64")
        assert self.named(lake.plan_one(manifest(wider, head=REPORT % "sum"))) == {"sum": ["report"]}

    @pytest.mark.parametrize(
        ("mode", "wider", "narrower"), [("FORWARD", True, False), ("BACKWARD", False, True), ("FULL", True, True)]
    )
    def test_the_mode_says_which_way_it_is_to_hold(self, mode: str, wider: bool, narrower: bool) -> None:
        head = f"consumers: [{{name: c, mode: {mode}}}]"
        assert bool(said(planned("{name: a, type: Int32}", "{name: a, type: Int64}", None, head))) == wider
        assert bool(said(planned("{name: a, type: Int64}", "{name: a, type: Int32}", None, head))) == narrower

    def test_without_gates_it_is_told_only(self) -> None:
        for head in ("consumers: [{name: c, mode: NONE}]", "compatibility: NONE\nconsumers: [{name: c}]"):
            plan = planned("{name: a, type: Int32}", "{name: a, type: Int64}", None, head)
            assert [i.consumer for c in plan.changes for i in c.incompatible if i.consumer] == ["c"]
            assert plan.leave_needed() == ()

    def test_a_table_that_goes_breaks_all_of_them(self) -> None:
        old = declared(manifest(KEPT, head="consumers: [{name: c}, {name: d}]"))
        plan = check_against([old], [], date(2026, 1, 1), limits=lambda _schema: ())
        assert [i.consumer for i in plan.tables[0].changes[0].incompatible] == ["c", "d"]
        assert {code for _, _, code in plan.leave_missing()} == {"LB4240", CONSUMER}

    def test_they_are_stored_and_come_back(self, lake: Warehouse) -> None:
        lake.apply(manifest(self.fields, head="compatibility: FULL\n" + REPORT % "total, address.city"))
        found = table_manifest_of("db.t", lake.newest())
        assert found.compatibility is Compatibility.FULL
        assert found.consumers == (
            Consumer("report", ("total", "address.city"), "Finance"),
            Consumer("other", ("k",)),
        )


# Laws


@st.composite
def pairs(draw: st.DrawFn) -> tuple[TableManifest, TableManifest]:
    return draw(declarations()), draw(declarations())


def in_mode(pair: tuple[TableManifest, TableManifest], mode: Compatibility | None, *more: Consumer) -> TablePlan:
    before, after = pair
    try:
        return plan_between(before, replace(after, compatibility=mode, consumers=more))
    except LakebedError:
        assume(False)
        raise


@LAW
@given(pairs())
def test_full_is_backward_and_forward(pair: tuple[TableManifest, TableManifest]) -> None:
    backward, forward, full = (mode_codes(in_mode(pair, Compatibility(m))) for m in ("BACKWARD", "FORWARD", "FULL"))
    assert full == backward | forward


@LAW
@given(declarations(), declarations(), declarations())
def test_a_transitive_mode_allows_no_more(first: TableManifest, second: TableManifest, third: TableManifest) -> None:
    try:
        old = plan_table(first, None, lambda: False).target
        assert old is not None
        base = plan_table(second, old, lambda: False).target
        assume(base is not None and base.id == 1)
        assert base is not None
        versions = (old, base)

        def history() -> Iterator[TableSchema]:
            yield from versions

        for plain in (Compatibility.BACKWARD, Compatibility.FORWARD, Compatibility.FULL):
            modes = plain, Compatibility(f"{plain.value}_TRANSITIVE")
            loose, strict = (
                mode_codes(plan_table(replace(third, compatibility=m), base, lambda: False, past=Past(history)))
                for m in modes
            )
            assert loose <= strict
    except LakebedError:
        assume(False)


@LAW
@given(pairs(), st.data())
def test_a_consumer_of_untouched_columns_is_never_named(
    pair: tuple[TableManifest, TableManifest], data: st.DataObject
) -> None:
    names = [f.name for f in pair[0].schema.fields]
    column = data.draw(st.sampled_from(names))
    consumer = Consumer("c", (column,), mode=data.draw(st.sampled_from([Compatibility.FULL, Compatibility.FORWARD])))
    before = replace(pair[0], consumers=(consumer,))
    plan = in_mode((before, pair[1]), None)
    for change in plan.changes:
        if change.path[:1] != (column,) and change.before != column:
            assert not [i for i in change.incompatible if i.consumer], change.summary
    # And where one of all columns is named under FULL, the column is named whose consumer it is.
    touched = [c for c in plan.changes if c.path[:1] == (column,) and Party.CONSUMER in c.breaks]
    assert all(any(i.consumer == "c" for i in c.incompatible) for c in touched)


@LAW
@given(pairs())
def test_modes_agree_with_the_comparison_of_schemas(pair: tuple[TableManifest, TableManifest]) -> None:
    """Without renames: FORWARD with what breaks consumers, BACKWARD with what breaks producers but for what is gone."""
    full = in_mode(pair, Compatibility.FULL)
    found = compare(pair[0], pair[1]).differences
    by_code = {
        code: {c.path for c in full.changes for i in c.incompatible if i.code == code} for code in (BACKWARD, FORWARD)
    }
    assert by_code[FORWARD] == {d.path for d in found if Party.CONSUMER in d.breaks}
    lost = {d.path for d in found if Party.PRODUCER in d.breaks and d.kind is not DifferenceKind.REMOVED}
    assert by_code[BACKWARD] == lost


@LAW
@given(pairs())
def test_what_odf_allows_keeps_full_but_for_attributes(pair: tuple[TableManifest, TableManifest]) -> None:
    problems = [p for p in migration_problems(pair[0].schema, pair[1].schema) if p.code != "LB4706"]
    plan = in_mode(pair, Compatibility.FULL)
    if not problems:
        against: list[PlannedChange] = [c for c in plan.changes if c.incompatible]
        assert {c.kind.value for c in against} <= {"annotation"}

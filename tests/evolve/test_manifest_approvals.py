"""Approvals of manifests: they give the leave that they say and no other, and are kept with the version."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.declarations import Warehouse, declared, manifest
from lakebed.catalog.annotations import applied_version, approvals_of, used_approvals
from lakebed.errors import RefusedError
from lakebed.evolve import Plan, TablePlan
from lakebed.evolve.manifest_approvals import day_of, plan_with_approvals
from lakebed.manifest import TableManifest, parse_manifest
from lakebed.manifest.approvals import Approval
from lakebed.manifest.encode_manifest import dump_table

UNTIL = date(2026, 6, 1)
A = """{name: a, type: Int32}
{name: b, type: {kind: Option, inner: Int32}}
{name: c, type: {kind: Option, inner: String}}"""
#: Drops `b` and `c`, narrows `a`.
CHANGED = "{name: a, type: Int16}\n{name: d, type: {kind: Option, inner: Date}}"


@pytest.fixture
def lake() -> Warehouse:
    lake = Warehouse(marks=True)
    lake.apply(manifest(A))
    return lake


def head(*approvals: str) -> str:
    entries = [f"{{code: {a.partition(':')[0]}, {path(a)}reason: r, until: 2026-06-01}}" for a in approvals]
    return f"approvals: [{', '.join(entries)}]"


def path(approval: str) -> str:
    said = approval.partition(":")[2]
    return f"path: '{said}', " if said else ""


def notes(plan: TablePlan) -> list[tuple[str, str, str | None]]:
    return [(d.code, d.severity.value, d.path) for d in plan.diagnostics if d.code in ("LB4237", "LB4238")]


@given(st.sets(st.sampled_from(["LB4203:b", "LB4203:c", "LB4206:a", "LB4203", "LB4206", "LB4203:d", "LB4231"])))
def test_leave_is_what_the_command_line_would_give(approvals: set[str]) -> None:
    lake = Warehouse(marks=True)
    lake.apply(manifest(A))
    approved = lake.plan(manifest(CHANGED, head=head(*sorted(approvals))))
    plain = lake.plan(manifest(CHANGED))
    assert approved.approvals_missing() == plain.approved(approvals).approvals_missing()
    assert approved.leave_needed() == plain.leave_needed()
    said = [(c.summary, c.verdict, c.code) for c in plain.tables[0].changes]
    assert [(c.summary, c.verdict, c.code) for c in approved.tables[0].changes] == said
    assert Plan.from_json(json.loads(json.dumps(approved.to_json()))) == approved
    used = {a.text for a in approved.tables[0].approvals}
    assert used == {a for a in approvals if a not in ("LB4203:d", "LB4231")}
    if approved.approvals_missing():
        with pytest.raises(RefusedError):
            lake.apply(approved)
        assert lake.newest().id == 0
    else:
        lake.apply(approved)
        assert used_approvals(lake.newest()) == tuple((1, text) for text in sorted(approvals) if text in used)


def test_the_version_keeps_what_it_was_made_with_until_apply_makes_another(lake: Warehouse) -> None:
    first = manifest(CHANGED, head=head("LB4203", "LB4206:a"))
    lake.apply(first)
    kept = lake.newest()
    assert [a["code"] for a in approvals_of(kept)] == ["LB4203", "LB4206"]
    # Planning again changes nothing, with the approvals and without them.
    assert lake.plan(first).is_noop
    assert lake.plan(manifest(CHANGED)).is_noop
    lake.apply(manifest(CHANGED + "\n{name: e, type: {kind: Option, inner: Int8}}"))
    assert (applied_version(lake.newest()), approvals_of(lake.newest())) == (2, ())
    assert approvals_of(kept)


def test_what_is_forbidden_stays_so(lake: Warehouse) -> None:
    plan = lake.plan(manifest(A + "\n{name: z, type: Int32}", head=head("LB4202:z")))
    assert plan.is_forbidden
    with pytest.raises(RefusedError) as caught:
        lake.apply(plan)
    assert caught.value.code == "LB4202"


def test_odfs_rule_and_the_work_of_others_can_be_approved(lake: Warehouse) -> None:
    wider = A.replace("Int32}\n{name: b", "Int64}\n{name: b")
    gated = lake.plan(manifest(wider, head="compatibility: ODF\n" + head("LB4220:a")))
    assert (gated.leave_needed(), gated.approvals_missing()) == (("LB4220:a",), ())
    lake.apply(gated)
    others = lake.newest().with_options({**lake.newest().options, "x.y": "1"})
    manager = lake.tables.get_schema_manager("db", "t")
    assert manager.publish(replace(others, id=others.id + 1))
    for text, missing in (("LB4231:x.y", ()), ("LB4231:.comment", ("LB4231:x.y",))):
        assert lake.plan(manifest(wider, head=head(text))).approvals_missing() == missing


def test_a_layout_without_a_place_for_them_honours_them(lake: Warehouse) -> None:
    lake = Warehouse(marks=False)
    lake.apply(manifest(A))
    lake.apply(manifest(CHANGED, head=head("LB4203", "LB4206")))
    assert (lake.newest().id, approvals_of(lake.newest())) == (1, ())


@pytest.mark.parametrize(("approval", "asked"), [("LB4203:b", 0), ("LB4203", 1), ("LB4203:c", 1)])
def test_a_drop_that_is_approved_by_name_is_not_asked_about(lake: Warehouse, approval: str, asked: int) -> None:
    other = A.replace("name: b", "name: z")
    plan = lake.plan_one(manifest(other, head=head(approval)))
    assert [d.code for d in plan.diagnostics].count("LB4104") == asked


class TestNotes:
    def plan(self, lake: Warehouse, fields: str, approvals: str, today: date, *, known: bool = False) -> TablePlan:
        table = declared(manifest(fields, head=approvals))
        versions = lake.tables.get_schema_manager("db", "t").versions

        def make(asked: TableManifest) -> TablePlan:
            return lake.plan_one(dump_table(asked))

        return plan_with_approvals(table, today, make, versions=versions, known=table.approvals if known else ())

    def test_until_its_day_and_not_longer(self, lake: Warehouse) -> None:
        good = self.plan(lake, CHANGED, head("LB4203", "LB4206:a"), UNTIL)
        assert (notes(good), Plan((good,)).approvals_missing()) == ([], ())
        late = self.plan(lake, CHANGED, head("LB4203", "LB4206:a"), date(2026, 6, 2))
        assert notes(late) == [("LB4237", "warning", None), ("LB4237", "warning", "a")]
        assert "it takes another one to drop column b" in next(d.message for d in late.diagnostics)
        assert Plan((late,)).approvals_missing() == ("LB4203:b", "LB4203:c", "LB4206:a")
        vain = self.plan(lake, A, head("LB4203:b"), date(2026, 6, 2))
        assert notes(vain) == [("LB4237", "warning", "b")]
        assert "matches no change" in vain.diagnostics[0].message

    def test_what_does_nothing_and_what_has_done_its_work(self, lake: Warehouse) -> None:
        assert notes(self.plan(lake, A, head("LB4203:b"), UNTIL)) == [("LB4238", "warning", "b")]
        assert notes(self.plan(lake, A, head("LB4203:b"), UNTIL, known=True)) == []
        lake.apply(manifest(CHANGED, head=head("LB4203", "LB4206:a")))
        done = self.plan(lake, CHANGED, head("LB4203", "LB4206:a", "LB4203:b"), UNTIL)
        assert notes(done) == [("LB4238", "note", None), ("LB4238", "note", "a"), ("LB4238", "warning", "b")]

    def test_what_has_done_its_work_is_known_after_later_versions(self, lake: Warehouse) -> None:
        lake.apply(manifest(CHANGED, head=head("LB4203", "LB4206:a")))
        wider = CHANGED + "\n{name: e, type: {kind: Option, inner: Date}}"
        lake.apply(manifest(wider))
        done = self.plan(lake, wider, head("LB4203", "LB4206:a"), UNTIL)
        assert notes(done) == [("LB4238", "note", None), ("LB4238", "note", "a")]
        assert "was used for schema 1" in done.diagnostics[0].message

    def test_what_approves_a_change_that_needs_no_leave(self, lake: Warehouse) -> None:
        renamed = A.replace("name: b, ", "name: d, ").replace(
            "}}\n{name: c", "}, extra: {lakebed.dev/renamedFrom: b}}\n{name: c"
        )
        plan = self.plan(lake, renamed, head("LB4204:d"), UNTIL)
        (told,) = plan.diagnostics
        assert told.message == "db.t: the approval LB4204:d is not needed to rename column b to d"
        assert (told.severity.value, told.remedy) == ("warning", "take it out")

    def test_a_new_table_needs_none_and_nothing_is_said(self) -> None:
        lake = Warehouse(marks=True)
        table = declared(manifest(A, head=head("LB4203")))
        plan = plan_with_approvals(table, UNTIL, lambda asked: lake.plan_one(dump_table(asked)))
        assert (plan.create, notes(plan), plan.approvals) == (True, [], ())


@pytest.mark.parametrize(
    ("millis", "zone", "day"),
    [
        (0, "UTC", date(1970, 1, 1)),
        (-1, "UTC", date(1969, 12, 31)),
        (0, "America/New_York", date(1969, 12, 31)),
        (1_780_272_000_000 - 1, "Europe/Paris", date(2026, 6, 1)),
    ],
)
def test_a_day_is_that_of_a_zone(millis: int, zone: str, day: date) -> None:
    assert day_of(millis, zone) == day


def test_an_approval_is_read_as_it_is_written() -> None:
    (table,) = parse_manifest(manifest(A, head=head("LB4203:`b c`", "LB4206")), source="t.yaml").tables
    first, second = table.approvals
    assert first == Approval("LB4203", "r", UNTIL, "`b c`")
    assert (first.text, second.text, str(first.position)) == ("LB4203:`b c`", "LB4206", "t.yaml:5:15")
    assert parse_manifest(dump_table(table)).tables[0] == table

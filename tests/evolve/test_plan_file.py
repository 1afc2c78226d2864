"""Plan files: an exact round trip, and refusal of what was changed or is not known."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from evolve.declarations import Warehouse, manifest
from lakebed.errors import RefusedError
from lakebed.evolve import Plan


@pytest.fixture
def plan() -> Plan:
    lake = Warehouse()
    lake.settle(
        manifest("{name: a, type: Int32}\n{name: b, type: Int32}\n{name: ü, type: {kind: Option, inner: String}}")
    )
    changed = manifest(
        """{name: b, type: Int64, extra: {lakebed.dev/renamedFrom: a, x.org/p: [1, {q: null}]}}
        {name: a, type: Int32, extra: {lakebed.dev/renamedFrom: b}}
        {name: s, type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: UInt64}]}}}""",
        head="compatibility: ODF\noptions: {x: '1'}",
    )
    forbidden = manifest("{name: a, type: Int32}\n{name: z, type: Int32}")
    return Plan((*lake.plan(changed, forbidden, manifest("{name: a, type: Date}", name="db.new")).tables,))


def test_the_round_trip_is_exact(plan: Plan) -> None:
    text = json.dumps(plan.to_json(), ensure_ascii=False, indent=2)
    again = Plan.from_json(json.loads(text))
    assert again == plan
    assert again.to_json() == plan.to_json()
    assert [t.is_noop for t in again.tables] == [False, False, False]


def test_what_a_reader_of_the_file_finds(plan: Plan) -> None:
    value = plan.to_json()
    assert value["format_version"] == 3
    assert (value["approvals"], value["undeclared"]) == ([], [])
    changed, forbidden, new = value["tables"]
    assert set(changed["base"]) == {"schema_id", "fingerprint"}
    assert changed["base"]["fingerprint"].startswith("sha256:")
    assert new["base"] is None
    assert forbidden["target"] is None
    assert changed["odf"]["gates"]
    assert changed["steps"][0]["action"] == "dropColumn"
    assert {c["verdict"] for c in changed["changes"]} == {"safe", "caution", "breaking"}


def edited(value: dict[str, Any], edit: str) -> dict[str, Any]:
    out = copy.deepcopy(value)
    match edit:
        case "verdict":
            out["tables"][0]["changes"][0]["verdict"] = "safe"
        case "fingerprint":
            out["tables"][0]["base"]["fingerprint"] = "sha256:00"
        case "step":
            out["tables"][0]["steps"].pop()
        case "table":
            del out["tables"][1]
        case "digest":
            del out["digest"]
        case "approval":
            out["approvals"].append("LB4203")
        case "key":
            out["extra"] = 1
    return out


@pytest.mark.parametrize("edit", ["verdict", "fingerprint", "step", "table", "digest", "approval", "key"])
def test_an_edited_plan_is_refused(plan: Plan, edit: str) -> None:
    with pytest.raises(RefusedError) as caught:
        Plan.from_json(edited(plan.to_json(), edit))
    assert caught.value.code == "LB4302"


@pytest.mark.parametrize(("version", "later"), [(1, {"approvals", "undeclared", "abandoned"}), (2, {"abandoned"})])
def test_a_plan_of_an_earlier_format_is_read(plan: Plan, version: int, later: set[str]) -> None:
    from lakebed.evolve.plan import _digest

    value = {k: v for k, v in plan.to_json().items() if k not in later | {"digest"}}
    value["format_version"] = version
    for table in value["tables"]:
        del table["approvals"]
        for change in table["changes"]:
            del change["field_id"], change["breaks"]
    without = [replace(t, changes=tuple(replace(c, field_id=None, breaks=()) for c in t.changes)) for t in plan.tables]
    assert Plan.from_json({**value, "digest": _digest(value)}) == replace(plan, tables=tuple(without))


def test_approvals_and_undeclared_tables_survive(plan: Plan) -> None:
    wanted = replace(plan.approved(["LB4203:x", "LB4206"]), undeclared=("db.u", "db.v"), abandoned=("db.v",))
    again = Plan.from_json(json.loads(json.dumps(wanted.to_json())))
    assert again == wanted
    assert again.approvals == ("LB4203:x", "LB4206")


@pytest.mark.parametrize("version", [0, 4, "1", "3", None, True])
def test_another_format_is_refused(plan: Plan, version: object) -> None:
    with pytest.raises(RefusedError) as caught:
        Plan.from_json({**plan.to_json(), "format_version": version})
    assert caught.value.code == "LB4301"


@pytest.mark.parametrize("value", [[], None, "plan", 1])
def test_what_is_no_object_is_refused(value: Any) -> None:
    with pytest.raises(RefusedError) as caught:
        Plan.from_json(value)
    assert caught.value.code == "LB4302"


def test_a_name_that_is_no_text_is_refused(plan: Plan) -> None:
    from lakebed.evolve.plan import _digest

    value = plan.to_json()
    value["tables"][0]["name"] = 5
    with pytest.raises(RefusedError) as caught:
        Plan.from_json({**value, "digest": _digest({k: v for k, v in value.items() if k != "digest"})})
    assert caught.value.code == "LB4302"


@pytest.mark.parametrize("value", [{"format_version": 1}, {"format_version": 1, "tables": [1], "diagnostics": []}])
def test_nonsense_with_a_right_digest_is_refused(value: dict[str, Any]) -> None:
    from lakebed.evolve.plan import _digest

    with pytest.raises(RefusedError) as caught:
        Plan.from_json({**value, "digest": _digest(value)})
    assert caught.value.code == "LB4302"


def test_a_saved_plan_says_that_annotations_have_drifted(plan: Plan) -> None:
    assert not plan.annotations_drifted
    assert all("annotations_drifted" not in table for table in plan.to_json()["tables"])
    drifted = replace(plan, tables=(replace(plan.tables[0], annotations_drifted=True), *plan.tables[1:]))
    assert drifted.annotations_drifted
    assert Plan.from_json(drifted.to_json()) == drifted

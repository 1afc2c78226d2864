"""Plans and chains of events are judged by one ODF rule."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from evolve.declarations import Warehouse, manifest
from evolve.test_plan_laws import declarations
from lakebed.errors import LakebedError
from lakebed.evolve import plan_table
from lakebed.manifest import TableManifest
from lakebed.model.migration_rule import migration_problems
from lakebed.render.plan_text import render_plan


@given(declarations(), declarations())
def test_a_plan_and_the_rule_agree(first: TableManifest, second: TableManifest) -> None:
    """What a plan lists as refused by ODF's rule is what the rule finds between the two schemas, and the other way."""
    try:
        base = plan_table(first, None, lambda: False).target
        assert base is not None
        plan = plan_table(second, base, lambda: False)
    except LakebedError:
        assume(False)
    refused = {c.path for c in plan.refused_by_odf}
    problems = migration_problems(base.logical, second.schema)
    found = {tuple((d.path or "").split(".")) for d in problems if d.code != "LB4706"}
    assert refused == found


GATED = "compatibility: ODF"


@pytest.mark.parametrize(("head", "gates"), [("", False), (GATED, True)])
def test_a_plan_says_how_to_leave_the_rule(head: str, gates: bool) -> None:
    warehouse = Warehouse()
    warehouse.apply(manifest("{name: a, type: Int32}\n{name: b, type: {kind: Option, inner: String}}"))
    after = manifest("{name: a, type: {kind: Option, inner: Int32}}\n{name: b c, type: String}", head=head)
    plan = warehouse.plan(after)
    # Nobody who does not ask for the rule, and whom it does not gate, is told of it.
    assert ("ODF" in render_plan(plan)) == gates
    text = render_plan(plan, odf=True)
    assert "ODF migration rule (LB4220): refused for b, a" in text
    assert ("leave: --allow LB4220:b --allow LB4220:a --allow 'LB4220:`b c`'" in text) == gates
    assert ("`compatibility: ODF`" in text) == gates

"""Laws of the change algebra over random schemas and random edits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from evolve.random_edits import edits, schemas
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ValidationError
from lakebed.evolve.diff import diff
from lakebed.evolve.evaluate import evaluate
from lakebed.evolve.inverse import inverse, inverses
from lakebed.evolve.schema_changes import (
    from_json,
    to_json,
)
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_tree import highest_id, map_fields, walk_fields


def run(schema: TableSchema, changes: list, *versions: TableSchema) -> TableSchema:
    """With earlier versions, as on a table that holds data written under them."""
    return evaluate(schema, changes, has_snapshots=lambda: bool(versions), now=0, history=lambda: versions)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[TableSchema, TableSchema]:
    base = draw(schemas())
    target, versions = base, [base]
    for _ in range(draw(st.integers(1, 6))):
        try:
            target = run(target, draw(edits(target)), *versions)
            versions.append(target)
        except ValidationError:
            continue
    return base, target


def comparable(schema: TableSchema, known: set[int]) -> TableSchema:
    """The schema without id, time, and the ids of columns that are new."""

    def forget(field: t.DataField) -> t.DataField:
        return field if field.id in known else replace(field, id=t.UNASSIGNED)

    (whole,) = (map_fields(t.Row(schema.fields), forget),)
    assert isinstance(whole, t.Row)
    return replace(schema, id=0, time_millis=0, highest_field_id=0, fields=whole.fields)


MANY = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(schemas())
def test_a_schema_does_not_differ_from_itself(schema: TableSchema) -> None:
    assert diff(schema, schema) == ()


@MANY
@given(pairs())
def test_the_difference_leads_to_the_target(pair: tuple[TableSchema, TableSchema]) -> None:
    base, target = pair
    changes = diff(base, target)
    reached = run(base, list(changes))
    known = {f.id for f in walk_fields(base.fields)}
    assert comparable(reached, known) == comparable(target, known)
    assert diff(reached, reached) == ()


@MANY
@given(pairs())
def test_ids_are_unique_and_the_counter_only_grows(pair: tuple[TableSchema, TableSchema]) -> None:
    base, target = pair
    reached = run(base, list(diff(base, target)))
    ids = [f.id for f in walk_fields(reached.fields)]
    assert len(ids) == len(set(ids))
    assert t.UNASSIGNED not in ids
    assert reached.highest_field_id >= max(base.highest_field_id, highest_id(reached.fields))
    old = {f.id for f in walk_fields(base.fields)}
    assert all(i in old or i > base.highest_field_id for i in ids)


@MANY
@given(pairs())
def test_changes_survive_their_rest_form(pair: tuple[TableSchema, TableSchema]) -> None:
    for change in diff(*pair):
        assert from_json(to_json(change)) == change


@MANY
@given(schemas(), st.data())
def test_each_inverse_takes_its_change_back(schema: TableSchema, data: st.DataObject) -> None:
    base = schema.with_options({**schema.options, "alter-column-null-to-not-null.disabled": "false"})
    for change in data.draw(edits(base)):
        try:
            changed = run(base, [change])
        except ValidationError:
            return
        back = inverse(change, base)
        if back is not None and getattr(change, "key", "")[:5] != "alter":
            known = {f.id for f in walk_fields(base.fields)}
            assert comparable(run(changed, [back]), known) == comparable(base, known)
        base = changed


@MANY
@given(pairs())
def test_inverses_lead_back(pair: tuple[TableSchema, TableSchema]) -> None:
    base, target = pair
    changes = diff(base, target)
    back = inverses(base, changes)
    assume(all(change is not None for change in back))
    reached = run(base, list(changes))
    opened = reached.with_options({**reached.options, "alter-column-null-to-not-null.disabled": "false"})
    returned = run(opened, [c for c in back if c is not None and getattr(c, "key", "")[:5] != "alter"])
    known = {f.id for f in walk_fields(base.fields)}
    options = replace(base, options={}), replace(returned, options={})
    assert comparable(options[1], known) == comparable(options[0], known)


@MANY
@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, 3, t.UNASSIGNED]), st.sampled_from("abcdef")), min_size=1), st.data()
)
def test_any_names_are_reached_unless_two_columns_have_one(wanted: list, data: st.DataObject) -> None:
    """Names are dealt out anew, also in circles, and at times one name twice, at the top or within a struct."""
    wanted = [w for i, w in enumerate(wanted) if w[0] == t.UNASSIGNED or w[0] not in {n for n, _ in wanted[:i]}]
    first = tuple(t.DataField(i, name, t.Int()) for i, name in enumerate("abcd"))
    target = tuple(t.DataField(number, name, t.Int()) for number, name in wanted)
    if data.draw(st.booleans()):
        first, target = ((t.DataField(4, "r", t.Row(members)),) for members in (first, target))
    base = TableSchema(0, first, 4)
    changes = diff(base, replace(base, fields=target))
    if len({name for _, name in wanted}) == len(wanted):
        reached = comparable(run(base, list(changes)), {0, 1, 2, 3, 4})
        assert reached.fields == target
    else:
        with pytest.raises(ValidationError) as caught:
            run(base, list(changes))
        assert "LB4002" in {d.code for d in caught.value.diagnostics}

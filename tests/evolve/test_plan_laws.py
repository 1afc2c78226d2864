"""Laws of plans over random declared schemas: what is applied is what was declared, and then nothing is left to do."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakebed import model as m
from lakebed.catalog import TableSchema
from lakebed.errors import ManifestError
from lakebed.evolve import Plan, evaluate, plan_table
from lakebed.manifest import TableManifest
from lakebed.model.extra import FIELD_ID, RENAMED_FROM

NAMES = ["a", "b", "c", "d", "e"]
#: Types that mostly can become one another, so that most plans are not forbidden.
ATOMIC = st.sampled_from(
    [
        m.Int32(),
        m.Int64(),
        m.UInt8(),
        m.UInt16(),
        m.UInt64(),
        m.String(),
        m.Decimal(10, 2),
        m.Timestamp(m.TimeUnit.MICROSECOND),
        m.Timestamp(m.TimeUnit.SECOND, "Europe/Paris"),
    ]
)
EXTRA = st.dictionaries(
    st.sampled_from(["x.org/p", "x.org/q", "opendatafabric.org/description"]), st.sampled_from(["u", "v"]), max_size=2
)
MOSTLY = st.sampled_from([True] * 9 + [False])


@st.composite
def members(draw: st.DrawFn, renames: bool, depth: int = 0) -> tuple[m.Field, ...]:
    """Fields whose names say whether they are atomic, structs, lists or maps of structs."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    out = []
    for name in names:
        type_ = draw(typed(name, renames, depth))
        extra = dict(draw(EXTRA))
        if renames and not draw(MOSTLY):
            extra[RENAMED_FROM] = draw(st.sampled_from(NAMES))
        out.append(m.Field(name, m.optional(type_) if draw(MOSTLY) else type_, m.Extra(extra)))
    return tuple(out)


def typed(name: str, renames: bool, depth: int) -> st.SearchStrategy[m.LogicalType]:
    if name in "ab" or depth == 2:
        return ATOMIC
    struct = members(renames, depth + 1).map(m.Struct)
    match name:
        case "c":
            return struct
        case "d":
            return struct.map(lambda x: m.List(m.optional(x)))
        case _:
            return struct.map(lambda x: m.Map(m.String(), m.optional(x)))


@st.composite
def declarations(draw: st.DrawFn, renames: bool = False) -> TableManifest:
    fields = draw(members(renames))
    options = draw(st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]), max_size=2))
    return TableManifest("db.t", m.Schema(fields, m.Extra(draw(EXTRA))), options=options)


def plain(schema: m.Schema) -> m.Schema:
    """Without the attributes that only say which column is meant."""

    def field(f: m.Field) -> m.Field:
        return m.Field(f.name, type_(f.type), f.extra.without(RENAMED_FROM, FIELD_ID))

    def type_(t: m.LogicalType) -> m.LogicalType:
        match t:
            case m.Struct():
                return m.Struct(tuple(field(f) for f in t.fields))
            case m.Option():
                return m.Option(type_(t.inner))
            case m.List():
                return replace(t, item_type=type_(t.item_type))
            case m.Map():
                return replace(t, value_type=type_(t.value_type))
            case _:
                return t

    return m.Schema(tuple(field(f) for f in schema.fields), schema.extra)


def made(declared: TableManifest) -> TableSchema:
    plan = plan_table(declared, None, lambda: False)
    assert plan.target is not None
    return plan.target


LAW = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@LAW
@given(declarations())
def test_a_new_table_is_as_declared_and_planning_again_finds_nothing(declared: TableManifest) -> None:
    target = made(declared)
    assert target.logical == declared.schema
    assert plan_table(declared, target, lambda: True).is_noop


@LAW
@given(declarations(), st.lists(declarations(renames=True), min_size=1, max_size=3))
def test_any_plan_that_is_not_forbidden_leads_to_the_declaration(
    first: TableManifest, later: list[TableManifest]
) -> None:
    base = made(first)
    for declared in later:
        try:
            plan = plan_table(declared, base, lambda: True)
        except ManifestError:
            continue
        assert Plan.from_json(json.loads(json.dumps(Plan((plan,)).to_json()))) == Plan((plan,))
        if plan.target is None:
            assert plan.forbidden
            continue
        if plan.is_noop:
            assert plan.target == base
        else:
            assert evaluate(base, plan.steps, has_snapshots=lambda: True, now=0) == plan.target
        assert plain(plan.target.logical) == plain(declared.schema)
        assert {k: v for k, v in plan.target.options.items() if k != "lakebed.schema"} == dict(declared.options)
        again = plan_table(declared, plan.target, lambda: True)
        assert again.is_noop, [c.summary for c in again.changes]
        base = plan.target

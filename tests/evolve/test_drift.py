"""What was made outside of `apply` is told apart from what a manifest asks for, and is not undone without leave."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.declarations import Warehouse, by_summary, manifest
from evolve.tables import ids
from evolve.test_plan_laws import LAW, declarations
from lakebed import model as m
from lakebed.catalog import TableSchema
from lakebed.catalog.annotations import OPTION, applied_version
from lakebed.errors import ManifestError, RefusedError, ValidationError
from lakebed.evolve import Plan, evaluate, plan_table, with_changes
from lakebed.evolve.adopt_drift import adopt_drift
from lakebed.evolve.diff import diff
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.plan import PlannedChange, TablePlan
from lakebed.evolve.planner import Past
from lakebed.evolve.verdicts import Verdict
from lakebed.manifest import TableManifest
from lakebed.physical.paimon_tree import walk_fields
from lakebed.physical.paimon_types import with_nullability

POINT = "{kind: Option, inner: {kind: Struct, fields: [{name: lat, type: {kind: Option, inner: Float32}}]}}"
FIELDS = f"""
{{name: id, type: Int64}}
{{name: note, type: {{kind: Option, inner: String}}, extra: {{x.org/owner: us}}}}
{{name: count, type: {{kind: Option, inner: Int32}}}}
{{name: geo, type: {POINT}}}
{{name: list, type: {{kind: Option, inner: {{kind: List, itemType: {POINT}}}}}}}
{{name: map, type: {{kind: Option, inner: {{kind: Map, keyType: String, valueType: {POINT}}}}}}}
"""
WHERE = {"top": [], "struct": ["geo"], "list": ["list", "element"], "map": ["map", "value"]}


@pytest.fixture
def lake() -> Warehouse:
    lake = Warehouse(marks=True)
    lake.apply(manifest(FIELDS, head="options: {size: 4}\ndescription: ours"))
    return lake


def ours(fields: str = FIELDS, *, head: str = "") -> str:
    return manifest(fields, head=f"options: {{size: 4}}\ndescription: ours\n{head}")


def others(lake: Warehouse, *changes: dict[str, Any]) -> TableSchema:
    """A version that copies options as every engine does, and makes each change in a version of its own."""
    manager = lake.tables.get_schema_manager("db", "t")
    for change in changes:
        new = with_changes(manager.load_latest_schema(), [change], has_snapshots=lambda: False, now=lake.clock())
        assert manager.publish(new)
    return manager.load_latest_schema()


def add(place: str, name: str = "theirs") -> dict[str, Any]:
    return {"action": "addColumn", "fieldNames": [*WHERE[place], name], "dataType": "STRING", "comment": None}


def undone(plan: TablePlan) -> set[str]:
    return {c.summary for c in plan.changes if c.undoes_others}


def test_every_version_that_apply_makes_is_marked_and_no_other_one(lake: Warehouse) -> None:
    assert applied_version(lake.newest()) == 0
    lake.apply(ours(FIELDS + "{name: more, type: {kind: Option, inner: String}}"))
    assert applied_version(lake.newest()) == lake.newest().id == 1
    assert applied_version(others(lake, add("top"))) == 1
    assert lake.newest().id == 2
    fields = lake.newest().logical.fields
    lake.tables.get_schema_manager("db", "t").create_new_schema_version(
        replace(lake.newest().logical, fields=fields[1:])
    )
    assert (lake.newest().id, applied_version(lake.newest())) == (3, 1)


def test_what_is_not_applied_has_no_mark() -> None:
    lake = Warehouse(marks=True)
    lake.tables.create_table("db", "t", ["id BIGINT"])
    assert OPTION not in lake.newest().options


def test_applying_what_is_there_writes_no_mark() -> None:
    lake = Warehouse(marks=True)
    lake.tables.create_table("db", "t", ["id BIGINT NOT NULL"])
    text = manifest("{name: id, type: Int64}")
    lake.apply(text)
    assert (lake.newest().id, applied_version(lake.newest())) == (0, None)
    lake.apply(manifest("{name: id, type: Int64}\n{name: a, type: {kind: Option, inner: Int64}}"))
    assert (lake.newest().id, applied_version(lake.newest())) == (1, 1)


def test_a_mark_above_the_number_is_that_of_another_table(lake: Warehouse) -> None:
    lake.apply(ours(FIELDS + "{name: more, type: {kind: Option, inner: String}}"))
    copied = replace(lake.newest(), id=0)
    assert applied_version(copied) is None
    assert applied_version(replace(copied, id=1)) == 1


@pytest.mark.parametrize("mark", ["-1", "true", '"0"', "1.0", "null", "[]"])
def test_a_mark_that_is_no_number_of_a_version_is_none(lake: Warehouse, mark: str) -> None:
    newest = lake.newest()
    text = json.dumps({**json.loads(newest.options[OPTION]), "applied": json.loads(mark)})
    assert applied_version(replace(newest.with_options({**newest.options, OPTION: text}), id=5)) is None


def test_an_option_that_others_set_is_not_removed_without_leave(lake: Warehouse) -> None:
    others(lake, {"action": "setOption", "key": "consumer.expiration-time", "value": "7 d"})
    plan = lake.plan_one(ours())
    (change,) = plan.changes
    assert (change.verdict, change.code, change.undoes_others) == (Verdict.BREAKING, "LB4231", True)
    assert plan.drift is not None
    assert (plan.drift.versions, plan.drift.changes) == ("version 1", ("set option consumer.expiration-time to 7 d",))
    with pytest.raises(RefusedError) as caught:
        lake.apply(ours())
    assert [(d.code, d.remedy) for d in caught.value.diagnostics] == [
        ("LB4231", "--allow LB4231:consumer.expiration-time")
    ]
    assert lake.newest().id == 1
    lake.apply(ours(), "LB4231:consumer.expiration-time")
    assert "consumer.expiration-time" not in lake.newest().options
    assert lake.plan_one(ours()).drift is None


@pytest.mark.parametrize("place", WHERE)
class TestAtEveryLevel:
    def test_a_column_that_others_added_is_not_dropped_as_one_s_own_wish(self, lake: Warehouse, place: str) -> None:
        others(lake, add(place))
        plan = lake.plan_one(ours())
        (change,) = plan.changes
        assert (change.kind, change.code, change.undoes_others) == (EditKind.DROP, "LB4203", True)
        assert set(plan.leave_needed()) == {(change, "LB4203"), (change, "LB4231")}
        with pytest.raises(RefusedError):
            lake.apply(ours(), "LB4203")
        lake.apply(ours(), "LB4203", f"LB4231:{change.column}")
        assert "theirs" not in ids(lake.newest())

    def test_a_column_that_others_dropped_is_not_brought_back(self, lake: Warehouse, place: str) -> None:
        added = FIELDS.replace("{name: lat,", "{name: extra, type: {kind: Option, inner: Int32}}, {name: lat,")
        added += "{name: extra, type: {kind: Option, inner: Int32}}"
        lake.apply(ours(added))
        others(lake, {"action": "dropColumn", "fieldNames": [*WHERE[place], "extra"]})
        plan = lake.plan_one(ours(added))
        assert [c.kind for c in plan.changes if c.undoes_others][:1] == [EditKind.ADD]
        assert plan.drift is not None
        (drop,) = [c for c in plan.changes if c.kind is EditKind.ADD]
        assert (drop.verdict, drop.code) == (Verdict.BREAKING, "LB4231")

    def test_a_rename_by_others_is_renamed_back_and_never_dropped(self, lake: Warehouse, place: str) -> None:
        name = "lat" if WHERE[place] else "note"
        before = {f.id for f in walk_fields(lake.newest().fields)}
        others(lake, {"action": "renameColumn", "fieldNames": [*WHERE[place], name], "newName": "other"})
        plan = lake.plan_one(ours())
        (change,) = plan.changes
        assert (change.kind, change.undoes_others, change.code) == (EditKind.RENAME, True, "LB4231")
        lake.apply(ours(), "LB4231")
        assert {f.id for f in walk_fields(lake.newest().fields)} == before
        assert "other" not in ids(lake.newest())

    def test_a_type_that_others_changed_is_not_changed_back(self, lake: Warehouse, place: str) -> None:
        path, wider = ([*WHERE[place], "lat"], "DOUBLE") if WHERE[place] else (["count"], "BIGINT")
        others(lake, {"action": "updateColumnType", "fieldNames": path, "newDataType": wider})
        plan = lake.plan_one(ours())
        (change,) = plan.changes
        assert (change.kind, change.undoes_others) == (EditKind.TYPE, True)
        assert {code for _, code in plan.leave_needed()} == {"LB4206", "LB4231"}

    def test_a_column_that_others_worked_on_is_not_dropped_without_leave(self, lake: Warehouse, place: str) -> None:
        path = [*WHERE[place], "lat"] if WHERE[place] else ["count"]
        others(lake, {"action": "updateColumnComment", "fieldNames": path, "newComment": "theirs"})
        name = path[0]
        rest = "\n".join(line for line in FIELDS.splitlines() if f"name: {name}," not in line)
        (change,) = lake.plan_one(ours(rest)).changes
        assert (change.kind, change.undoes_others) == (EditKind.DROP, True)


def test_a_column_that_others_dropped_is_no_half_of_a_rename(lake: Warehouse) -> None:
    two = "{name: w, type: {kind: Option, inner: Bool}}\n{name: v, type: {kind: Option, inner: Bool}}"
    lake.apply(ours(FIELDS + two))
    others(lake, {"action": "dropColumn", "fieldNames": ["v"]})
    plan = lake.plan_one(ours(FIELDS + "{name: v, type: {kind: Option, inner: Bool}}"))
    assert {c.kind for c in plan.changes} == {EditKind.ADD, EditKind.DROP}
    assert [d for d in plan.diagnostics if d.code == "LB4104"] == []
    plan = lake.plan_one(ours(FIELDS + "{name: x, type: {kind: Option, inner: Bool}}"))
    assert len([d for d in plan.diagnostics if d.code == "LB4104"]) == 1


def questions(plan: TablePlan) -> list[str]:
    return [d.message for d in plan.diagnostics if d.code == "LB4104"]


@pytest.mark.parametrize("place", WHERE)
def test_a_column_that_others_added_is_no_half_of_a_rename(lake: Warehouse, place: str) -> None:
    def declared(*names: str) -> str:
        fields = [f"{{name: {name}, type: {{kind: Option, inner: Float64}}}}" for name in names]
        if not WHERE[place]:
            return ours(FIELDS + "\n".join(fields))
        line = next(line for line in FIELDS.splitlines() if f"name: {WHERE[place][0]}," in line)
        return ours(FIELDS.replace(line, line.replace("[{name: lat", f"[{', '.join(fields)}, {{name: lat")))

    where = ".".join([*WHERE[place], ""])
    lake.apply(declared("speed_max"))
    others(lake, {"action": "addColumn", "fieldNames": [*WHERE[place], "speed_mean"], "dataType": "DOUBLE"})
    plan = lake.plan_one(declared("speed_max", "speed_means"))
    assert {c.kind for c in plan.changes} == {EditKind.ADD, EditKind.DROP}
    assert questions(plan) == []
    # One's own column that goes is asked about, also where one of others would look more alike.
    (question,) = questions(lake.plan_one(declared("speed_means")))
    assert question == (f"{where}speed_max goes and {where}speed_means of the same type comes: is it a rename?")


def test_where_nobody_knows_who_added_a_column_it_is_asked_about(lake: Warehouse) -> None:
    others(lake, {"action": "addColumn", "fieldNames": ["speed_mean"], "dataType": "DOUBLE"})
    manager = lake.tables.get_schema_manager("db", "t")
    lake.tables.store.delete(manager.path(0))
    plan = lake.plan_one(ours(FIELDS + "{name: speed_means, type: {kind: Option, inner: Float64}}"))
    assert len(questions(plan)) == 1


def test_leave_for_a_part_of_the_table_is_for_that_part_alone(lake: Warehouse) -> None:
    others(
        lake,
        {"action": "updateComment", "comment": "theirs"},
        {"action": "updateColumnComment", "fieldNames": ["count"], "newComment": "theirs"},
        {"action": "setOption", "key": "comment", "value": "theirs"},
    )
    plan = Plan((lake.plan_one(ours()),))
    assert set(plan.leave_needed()) == {"LB4231:.comment", "LB4231:count", "LB4231:comment"}
    with pytest.raises(RefusedError) as caught:
        lake.apply(ours(), "LB4231:.comment")
    assert [d.remedy for d in caught.value.diagnostics] == [
        f"--allow {text}" for text in plan.leave_needed() if text != "LB4231:.comment"
    ]
    lake.apply(ours(), *plan.leave_needed())
    assert lake.newest().comment == "ours"


def test_no_column_is_called_like_a_part_of_the_table(lake: Warehouse) -> None:
    fields = "{name: id, type: Int64}\n{name: .comment, type: {kind: Option, inner: Int32}}"
    lake.apply(manifest(fields), "LB4203")
    others(lake, {"action": "updateColumnComment", "fieldNames": [".comment"], "newComment": "theirs"})
    assert Plan((lake.plan_one(manifest(fields)),)).leave_needed() == ("LB4231:`.comment`",)


def test_one_s_own_wishes_beside_are_judged_as_ever(lake: Warehouse) -> None:
    others(lake, add("top"), {"action": "setOption", "key": "a", "value": "1"})
    wishes = FIELDS.replace("{name: count, type: {kind: Option, inner: Int32}}\n", "")
    plan = lake.plan_one(ours(wishes + "{name: more, type: {kind: Option, inner: String}}"))
    assert undone(plan) == {"drop column theirs (Option<String>)", "remove option a (was 1)"}
    assert plan.drift is not None
    assert plan.drift.versions == "versions 1 to 2"
    kept = {s: (c.verdict.value, c.code) for s, c in by_summary(plan).items() if not c.undoes_others}
    assert kept == {
        "drop column count (Option<Int32>)": ("breaking", "LB4203"),
        "add column more: Option<String>": ("safe", "LB4201"),
    }


def test_what_the_manifest_agrees_with_is_no_drift(lake: Warehouse) -> None:
    others(lake, add("top"), {"action": "setOption", "key": "a", "value": "1"})
    agreed = FIELDS + "{name: theirs, type: {kind: Option, inner: String}}"
    text = manifest(agreed, head="options: {size: 4, a: 1}\ndescription: ours")
    assert lake.plan_one(text).is_noop
    plan = lake.plan_one(text.replace("size: 4", "size: 8"))
    assert (plan.drift, undone(plan)) == (None, set())
    lake.apply(Plan((plan,)))
    assert applied_version(lake.newest()) == lake.newest().id == 3


def test_a_rename_that_others_made_as_declared_is_agreed_with(lake: Warehouse) -> None:
    before = ids(lake.newest())["note"]
    others(lake, {"action": "renameColumn", "fieldNames": ["note"], "newName": "remark"})
    text = ours(
        FIELDS.replace("{name: note,", "{name: remark,").replace(
            "x.org/owner: us", "x.org/owner: us, lakebed.dev/renamedFrom: note"
        )
    )
    assert lake.plan_one(text).is_noop
    assert ids(lake.newest())["remark"] == before


def test_a_meaning_can_be_declared_for_what_others_made(lake: Warehouse) -> None:
    others(
        lake,
        {"action": "addColumn", "fieldNames": ["theirs"], "dataType": "INT", "comment": None},
        {"action": "updateColumnType", "fieldNames": ["count"], "newDataType": "BIGINT"},
    )
    adopted = FIELDS.replace("Int32", "UInt32") + "{name: theirs, type: {kind: Option, inner: UInt16}}"
    plan = lake.plan_one(ours(adopted))
    assert {c.kind for c in plan.changes} == {EditKind.MEANING}
    assert (plan.drift, undone(plan)) == (None, set())


def test_a_meaning_that_others_took_away_is_not_put_back_without_leave(lake: Warehouse) -> None:
    unsigned = ours(FIELDS + "{name: u, type: {kind: Option, inner: UInt16}}")
    lake.apply(unsigned)
    logical = lake.newest().logical
    plain = replace(logical, fields=(*logical.fields[:-1], replace(logical.fields[-1], type=m.optional(m.Int32()))))
    lake.tables.get_schema_manager("db", "t").create_new_schema_version(plain)
    (change,) = lake.plan_one(unsigned).changes
    assert (change.kind, change.undoes_others) == (EditKind.MEANING, True)


def test_both_changed_one_thing_otherwise_which_needs_leave(lake: Warehouse) -> None:
    others(lake, {"action": "setOption", "key": "size", "value": "8"}, {"action": "updateComment", "comment": "theirs"})
    text = manifest(FIELDS, head="options: {size: 16}\ndescription: new")
    plan = lake.plan_one(text)
    assert [c.undoes_others for c in plan.changes] == [True, True]


def test_an_order_that_others_made_is_not_put_back_without_leave(lake: Warehouse) -> None:
    move = {"fieldName": "count", "referenceFieldName": None, "type": "FIRST"}
    others(lake, {"action": "updateColumnPosition", "move": move})
    (change,) = lake.plan_one(ours()).changes
    assert (change.kind, change.undoes_others, change.code) == (EditKind.POSITION, True, "LB4231")


def test_a_merge_of_data_is_made_outside_of_apply(lake: Warehouse) -> None:
    from lakebed.catalog import TableName
    from lakebed.evolve.merge_input import incoming_columns
    from lakebed.evolve.merge_schema import SchemaMerge, merge_rules, merge_schema

    merge = SchemaMerge(incoming_columns(["extra STRING"]), merge_rules("add", case_sensitive=True))
    merge_schema(lake.tables, TableName("db", "t"), merge, branch="main", clock=lake.clock)
    assert (lake.newest().id, applied_version(lake.newest())) == (1, 0)
    (change,) = lake.plan_one(ours()).changes
    assert (change.kind, change.undoes_others) == (EditKind.DROP, True)


def test_where_the_applied_version_is_gone_all_that_is_there_may_be_others(lake: Warehouse) -> None:
    others(lake, {"action": "setOption", "key": "a", "value": "1"})
    lake.store.delete(lake.tables.get_schema_manager("db", "t").path(0))
    more = FIELDS.replace("{name: count, type: {kind: Option, inner: Int32}}\n", "")
    plan = lake.plan_one(ours(more + "{name: more, type: {kind: Option, inner: String}}"))
    assert plan.drift is not None
    assert plan.drift.changes is None
    assert undone(plan) == {"drop column count (Option<Int32>)", "remove option a (was 1)"}


def test_a_plan_file_tells_drift_too(lake: Warehouse) -> None:
    others(lake, add("top"))
    plan = lake.plan(ours())
    read = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert read == plan
    assert plan.to_json()["tables"][0]["drift"] == {
        "applied": 0,
        "last": 1,
        "changes": ["add column theirs: Option<String>"],
        "broken": [],
    }
    with pytest.raises(RefusedError):
        lake.apply(read, "LB4203")


class TestIgnoredOptions:
    def test_they_are_neither_removed_nor_set_nor_told(self, lake: Warehouse) -> None:
        others(lake, {"action": "setOption", "key": "consumer.expiration-time", "value": "7 d"})
        for patterns in ("consumer.expiration-time", "consumer.*", "'*'"):
            assert lake.plan_one(ours(head=f"ignoreOptions: [{patterns}]")).is_noop
        assert undone(lake.plan_one(ours(head="ignoreOptions: [consumer, x.*]")))

    def test_they_stay_when_something_else_changes(self, lake: Warehouse) -> None:
        others(lake, {"action": "setOption", "key": "a.b", "value": "7 d"})
        lake.apply(ours(FIELDS + "{name: more, type: {kind: Option, inner: String}}", head="ignoreOptions: [a.*]"))
        assert lake.newest().options["a.b"] == "7 d"

    def test_a_pattern_leaves_declared_options_alone(self, lake: Warehouse) -> None:
        others(lake, {"action": "setOption", "key": "size", "value": "8"})
        assert undone(lake.plan_one(ours(head="ignoreOptions: [s*]"))) == {"change option size from 8 to 4"}

    def test_they_count_without_a_mark_too(self) -> None:
        lake = Warehouse()
        lake.tables.create_table("db", "t", ["id BIGINT NOT NULL"], options={"a.b": "7", "c": "1"})
        plan = lake.plan_one(manifest("{name: id, type: Int64}", head="ignoreOptions: ['*.b']"))
        assert [c.summary for c in plan.changes] == ["remove option c (was 1)"]


# Laws of any three versions


def marked(declared: TableManifest, base: TableSchema | None, versions: list[TableSchema]) -> TablePlan:
    by_id = {v.id: v for v in versions}
    return plan_table(declared, base, lambda: False, past=Past(applied=by_id.get))


def said(schema: TableSchema) -> dict[Any, Any]:
    """What one version says, thing by thing, so that two versions can be held against each other."""
    found: dict[Any, Any] = {("option", k): v for k, v in schema.options.items() if k != OPTION}
    found["comment"] = schema.comment
    for f in walk_fields(schema.fields):
        found |= {(f.id, "name"): f.name, (f.id, "description"): f.description, (f.id, "default"): f.default_value}
        found |= {(f.id, "there"): True, (f.id, "nullable"): f.type.nullable}
        if not isinstance(f.type.to_json(), dict):
            found[f.id, "type"] = str(with_nullability(f.type, True))
    return found


@st.composite
def three(draw: st.DrawFn) -> tuple[TableManifest, TableManifest, TableManifest]:
    """What was applied, what others made of it, and what is wanted; mostly something that agrees with the others."""
    first, theirs, wanted = draw(declarations()), draw(declarations()), draw(declarations())
    if not draw(st.integers(0, 3)):
        return first, theirs, wanted
    agreed = {f.name: f for f in theirs.schema.fields}
    fields = (*agreed.values(), *(f for f in wanted.schema.fields if f.name not in agreed))
    kept = [f for f in fields if f.name in agreed or f.type.kind == "Option"]
    options = {**wanted.options, **theirs.options}
    return first, theirs, replace(theirs, schema=replace(theirs.schema, fields=tuple(kept)), options=options)


@LAW
@given(three())
def test_without_leave_nothing_of_others_is_undone(
    versions: tuple[TableManifest, TableManifest, TableManifest],
) -> None:
    """Of any three: what others changed between the first and the second is in the result, or the plan needs leave."""
    first, theirs, wanted = versions
    applied = marked(first, None, []).target
    assert applied is not None
    newest = _made_by_others(applied, theirs)
    if newest is None:
        return
    try:
        plan = marked(wanted, newest, [applied])
    except (ManifestError, ValidationError):
        return
    if plan.target is None or any(code == "LB4231" for _, code in plan.leave_needed()):
        return
    before, now, after = said(applied), said(newest), said(plan.target)
    changed = {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}
    assert {key: after.get(key) for key in changed} == {key: now.get(key) for key in changed}


@LAW
@given(three())
def test_a_plan_is_wishes_and_what_undoes_others(
    versions: tuple[TableManifest, TableManifest, TableManifest],
) -> None:
    """What does not undo others is what the manifest would have asked of the version that was applied last."""
    first, theirs, wanted = versions
    applied = marked(first, None, []).target
    assert applied is not None
    newest = _made_by_others(applied, theirs)
    if newest is None:
        return
    try:
        plan, alone = marked(wanted, newest, [applied]), marked(wanted, applied, [applied])
    except (ManifestError, ValidationError):
        return
    assert alone.drift is None
    wishes = {_thing(c) for c in alone.changes}
    added = {c.path for c in alone.changes if c.kind is EditKind.ADD}
    for change in plan.changes:
        in_new = any(change.path[: len(path)] == path for path in added)
        assert change.undoes_others or change.kind is EditKind.POSITION or in_new or _thing(change) in wishes
    assert (plan.drift is None) == (not any(c.undoes_others for c in plan.changes))


@LAW
@given(declarations(), declarations())
def test_going_back_to_what_was_applied_undoes_others_only(first: TableManifest, theirs: TableManifest) -> None:
    applied = marked(first, None, []).target
    assert applied is not None
    newest = _made_by_others(applied, theirs)
    if newest is not None:
        assert all(c.undoes_others for c in marked(first, newest, [applied]).changes)


@LAW
@given(three())
def test_what_is_adopted_stays_and_what_else_is_wanted_is_planned(
    versions: tuple[TableManifest, TableManifest, TableManifest],
) -> None:
    """Of any three: with what others did adopted, a plan keeps it, and asks for nothing that it did not ask before."""
    first, theirs, wanted = versions
    applied = marked(first, None, []).target
    assert applied is not None
    newest = _made_by_others(applied, theirs)
    if newest is None:
        return
    try:
        plan = marked(wanted, newest, [applied])
        adopted = adopt_drift(wanted, newest, {applied.id: applied}.get)
    except (ManifestError, ValidationError):
        return
    try:
        again = marked(adopted.manifest, newest, [applied])
    except ValidationError:
        # Where others dropped all that is declared, nothing would be left.
        return
    assert (adopted.drift is None) == (plan.drift is None)
    assert not any(c.undoes_others for c in again.changes)
    assert {c.summary for c in again.changes} <= {c.summary for c in plan.changes}
    if not any(c.kind is EditKind.RENAME and c.undoes_others for c in plan.changes):
        own = {c.summary for c in plan.changes if not c.undoes_others and c.kind is not EditKind.POSITION}
        assert own <= {c.summary for c in again.changes}
    assert adopt_drift(adopted.manifest, newest, {applied.id: applied}.get).manifest == adopted.manifest


def _thing(change: PlannedChange) -> tuple[Any, ...]:
    # Of a wanted type others may have made the stored part already.
    kind = EditKind.TYPE if change.kind is EditKind.MEANING else change.kind
    return kind, change.path, change.name, change.after


def _made_by_others(base: TableSchema, theirs: TableManifest) -> TableSchema | None:
    """The version that an engine makes which knows columns and options, and copies the option of annotations."""
    target = plan_table(theirs, base, lambda: False).target
    if target is None or target.id == base.id:
        return None
    wanted = target.with_options({**target.options, OPTION: base.options[OPTION]})
    return replace(evaluate(base, diff(base, wanted), has_snapshots=lambda: False, now=1))

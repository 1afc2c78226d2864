"""Identity of declared fields: pins, renames that are fulfilled once, names; at every level; and questions."""

from __future__ import annotations

from typing import Any

import pytest

from evolve.declarations import Warehouse, manifest, verdicts
from evolve.tables import ids
from lakebed.errors import ManifestError

OPT = "{kind: Option, inner: Int32}"
RENAMED = "extra: {lakebed.dev/renamedFrom: %s}"


def column(name: str, *, old: str | None = None, pin: int | None = None, type_: str = OPT) -> str:
    extra = []
    if old is not None:
        extra.append(f"lakebed.dev/renamedFrom: {old}")
    if pin is not None:
        extra.append(f"lakebed.dev/fieldId: {pin}")
    return f"{{name: {name}, type: {type_}, extra: {{{', '.join(extra)}}}}}"


def fields(*columns: str) -> str:
    return manifest("\n".join(columns))


def wrapped(wrapper: str, *columns: str) -> str:
    """The columns as members of a struct at the place that `wrapper` says."""
    struct = f"{{kind: Struct, fields: [{', '.join(columns)}]}}"
    return manifest("{name: k, type: Int64}\n{name: s, type: " + wrapper.replace("STRUCT", struct) + "}")


PLACES = {
    "top": fields,
    "struct": lambda *c: wrapped("{kind: Option, inner: STRUCT}", *c),
    "list": lambda *c: wrapped("{kind: List, itemType: STRUCT}", *c),
    "map": lambda *c: wrapped("{kind: Map, keyType: String, valueType: STRUCT}", *c),
    "list of maps": lambda *c: wrapped("{kind: List, itemType: {kind: Map, keyType: String, valueType: STRUCT}}", *c),
}


@pytest.fixture
def lake() -> Warehouse:
    return Warehouse()


@pytest.mark.parametrize("place", PLACES)
class TestAtEveryLevel:
    def test_a_declared_rename_keeps_the_id_and_stays_fulfilled(self, lake: Warehouse, place: str) -> None:
        at = PLACES[place]
        before = ids(lake.settle(at(column("a"), column("b"))))
        after = ids(lake.settle(at(column("aa", old="a"), column("b"))))
        assert (after["aa"], after["b"]) == (before["a"], before["b"])
        assert lake.plan(at(column("aa"), column("b"))).is_noop

    def test_a_swap_swaps_once(self, lake: Warehouse, place: str) -> None:
        at = PLACES[place]
        before = ids(lake.settle(at(column("a"), column("b"))))
        after = ids(lake.settle(at(column("a", old="b"), column("b", old="a"))))
        assert (after["a"], after["b"]) == (before["b"], before["a"])
        assert not [n for n in after if n.startswith("lakebed")]
        assert lake.newest().id == 1

    def test_the_old_name_may_come_again_as_a_new_column(self, lake: Warehouse, place: str) -> None:
        at = PLACES[place]
        before = ids(lake.settle(at(column("a"), column("b"))))
        after = ids(lake.settle(at(column("b"), column("c", old="a"), column("a"))))
        assert after["c"] == before["a"]
        assert after["a"] > max(before.values())

    def test_a_pin_is_stronger_than_names(self, lake: Warehouse, place: str) -> None:
        at = PLACES[place]
        before = ids(lake.settle(at(column("a"), column("b"))))
        pinned = at(column("b", pin=before["a"]), column("a", pin=before["b"]))
        after = ids(lake.settle(pinned))
        assert (after["b"], after["a"]) == (before["a"], before["b"])

    def test_drop_and_add_of_a_name_with_another_type_needs_a_new_name_for_the_old(
        self, lake: Warehouse, place: str
    ) -> None:
        at = PLACES[place]
        before = ids(lake.settle(at(column("a"), column("b"))))
        lake.settle(at(column("b")))
        after = ids(lake.settle(at(column("b"), column("a", type_="{kind: Option, inner: Bool}"))))
        assert after["a"] > max(before.values())

    def test_a_dot_in_a_former_name_is_no_path_where_a_sibling_bears_the_name(
        self, lake: Warehouse, place: str
    ) -> None:
        at, point = PLACES[place], "{kind: Struct, fields: [{name: lat, type: Float64}]}"
        geo = column("geo", type_=point)
        before = ids(lake.settle(at(column("geo.lat"), geo)))
        after = ids(lake.settle(at(column("latitude", old="geo.lat"), geo)))
        assert after["latitude"] == before["geo.lat"]

    @pytest.mark.parametrize("old", ["geo.lat", "geo.lat.deep", "`geo.x`.lat"])
    def test_a_former_name_that_is_a_path_is_told_so(self, lake: Warehouse, place: str, old: str) -> None:
        at, deep = PLACES[place], "{kind: Struct, fields: [{name: deep, type: Int32}]}"
        point = "{kind: Struct, fields: [{name: lat, type: " + deep + "}]}"
        lake.settle(at(column("a"), column("geo", type_=point), column("geo.x", type_=point)))
        with pytest.raises(ManifestError) as caught:
            lake.plan(at(column("a"), column("geo", type_=point), column("latitude", old=f"'{old}'")))
        (problem,) = caught.value.diagnostics
        assert (problem.code, problem.found) == ("LB1075", old)
        assert problem.remedy is not None
        assert "cannot move" in problem.remedy

    def test_a_former_name_with_a_dot_that_is_nothing_is_as_any_other(self, lake: Warehouse, place: str) -> None:
        at = PLACES[place]
        lake.settle(at(column("a"), column("b")))
        with pytest.raises(ManifestError) as caught:
            lake.plan(at(column("a"), column("c", old="x.y")))
        assert [d.code for d in caught.value.diagnostics] == ["LB4103"]

    @pytest.mark.parametrize(("said", "code"), [({"old": "x.y"}, "LB4103"), ({"pin": 99}, "LB4101")])
    def test_what_leads_nowhere_and_could_not_be_new_is_told_both(
        self, lake: Warehouse, place: str, said: dict[str, Any], code: str
    ) -> None:
        at = PLACES[place]
        lake.settle(at(column("a"), column("b")))
        with pytest.raises(ManifestError) as caught:
            lake.plan(at(column("a"), column("c", type_="Int32", **said), column("d", type_="Int32")))
        assert [d.code for d in caught.value.diagnostics] == [code, "LB4202"]
        found = caught.value.diagnostics
        assert found[0].path == found[1].path
        assert found[0].position == found[1].position
        assert "Option" in (found[1].remedy or "")
        with pytest.raises(ManifestError) as caught:
            lake.plan(at(column("a"), column("b", type_="Int32", **said)))
        assert [d.code for d in caught.value.diagnostics] == [code]

    def test_a_struct_may_be_replaced_as_a_whole(self, lake: Warehouse, place: str) -> None:
        at = PLACES[place]
        before = ids(lake.settle(at(column("a", type_=OPT))))
        after = ids(lake.settle(at(column("x"), column("y"))))
        assert {"x", "y"} <= set(after)
        assert "a" not in after
        assert min(after["x"], after["y"]) > max(before.values())


def test_the_path_of_a_sibling_is_told_the_name_to_write(lake: Warehouse) -> None:
    at = PLACES["struct"]
    lake.settle(at(column("a"), column("b")))
    with pytest.raises(ManifestError) as caught:
        lake.plan(at(column("aa", old="s.a"), column("b")))
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.remedy) == ("LB1075", "write the name alone: a")


def test_a_replaced_member_of_the_same_name_goes_through_a_temporary_name(lake: Warehouse) -> None:
    at = PLACES["struct"]
    lake.settle(at(column("a")))
    new = lake.settle(at(column("b", old="a")))
    lake.settle(at(column("c"), column("b")))
    after = lake.settle(at(column("c")))
    again = lake.settle(at(column("a", old="c")))
    assert ids(new)["b"] == 2
    assert ids(again)["a"] == ids(after)["c"]


def test_a_circle_of_three(lake: Warehouse) -> None:
    before = ids(lake.settle(fields(column("a"), column("b"), column("c"))))
    text = fields(column("a", old="c"), column("b", old="a"), column("c", old="b"))
    plan = lake.plan_one(text)
    assert verdicts(plan) == {f"rename {n}": "caution LB4204" for n in "abc"} | {"position a": "safe LB4211"}
    after = ids(lake.settle(text))
    assert (after["a"], after["b"], after["c"]) == (before["c"], before["a"], before["b"])


def test_taking_a_fulfilled_rename_out_plans_nothing_and_goes_with_the_next_version(lake: Warehouse) -> None:
    lake.settle(fields(column("a"), column("b")))
    lake.settle(fields(column("aa", old="a"), column("b")))
    assert "renamedFrom" in lake.newest().options["lakebed.schema"]
    assert lake.plan(fields(column("aa"), column("b"))).is_noop
    lake.settle(fields(column("aa"), column("b"), column("c")))
    assert "lakebed.schema" not in lake.newest().options


def test_a_second_swap_can_be_declared_by_pins(lake: Warehouse) -> None:
    before = ids(lake.settle(fields(column("a"), column("b"))))
    lake.settle(fields(column("a", old="b"), column("b", old="a")))
    after = ids(lake.settle(fields(column("a", pin=before["a"]), column("b", pin=before["b"]))))
    assert after == before


def test_renames_are_not_looked_at_when_a_table_is_made_and_count_as_fulfilled(lake: Warehouse) -> None:
    lake.settle(fields(column("a", old="b"), column("b", old="a"), column("c", old="z")))
    assert lake.newest().id == 0


def test_adding_a_pin_that_says_what_is_so_plans_nothing(lake: Warehouse) -> None:
    lake.settle(fields(column("a"), column("b")))
    assert lake.plan(fields(column("a", pin=0), column("b", pin=1))).is_noop


def problems(lake: Warehouse, text: str) -> list[tuple[str, int]]:
    with pytest.raises(ManifestError) as caught:
        lake.plan(text)
    return [(d.code, d.position.line if d.position else 0) for d in caught.value.diagnostics]


def test_all_problems_of_identity_are_told_with_their_places(lake: Warehouse) -> None:
    lake.settle(fields(column("a"), column("b"), column("dep_delay")))
    text = fields(
        column("x", old="dep_dely"),
        column("y", pin=99),
        column("c", pin=0),
        column("d", old="a"),
    )
    assert problems(lake, text) == [("LB4101", 8), ("LB4103", 7), ("LB4102", 10)]
    with pytest.raises(ManifestError) as caught:
        lake.plan(text)
    assert caught.value.diagnostics[1].suggestions == ("dep_delay",)


def test_the_remedy_of_a_rename_that_leads_nowhere_knows_what_happened(lake: Warehouse) -> None:
    lake.settle(fields(column("a"), column("b")))
    lake.settle(fields(column("aa", old="a"), column("b")))
    for text, word in (
        (fields(column("aaa", old="a"), column("b")), "renamedFrom: aa"),
        (fields(column("aa", old="zz"), column("b")), "already"),
    ):
        with pytest.raises(ManifestError) as caught:
            lake.plan(text)
        assert word in (caught.value.diagnostics[0].remedy or "")


def test_a_field_cannot_be_pinned_into_a_struct(lake: Warehouse) -> None:
    lake.settle(fields(column("a"), column("b")))
    text = manifest(
        f"{column('a')}\n{{name: s, type: {{kind: Option, inner: {{kind: Struct, fields: [{column('b', pin=1)}]}}}}}}"
    )
    assert [code for code, _ in problems(lake, text)] == ["LB4101"]


def test_pins_of_a_new_table_must_say_the_ids_that_come_out(lake: Warehouse) -> None:
    assert problems(lake, fields(column("a", pin=1), column("b"))) == [("LB4105", 7)]
    lake.settle(fields(column("a", pin=0), column("b", pin=1)))


class TestLookAlikes:
    def questions(self, lake: Warehouse, text: str) -> list[str]:
        plan = lake.plan_one(text)
        return [d.message for d in plan.diagnostics if d.code == "LB4104"]

    def test_a_similar_name_or_the_same_place_is_asked_about_and_never_guessed(self, lake: Warehouse) -> None:
        lake.settle(fields(column("k"), column("dep_delay"), column("zzz")))
        asked = self.questions(lake, fields(column("k"), column("www"), column("departure_delay")))
        assert asked == ["zzz goes and www of the same type comes: is it a rename?"] or len(asked) == 2
        plan = lake.plan_one(fields(column("k"), column("dep_dely"), column("zzz")))
        assert verdicts(plan) == {"drop dep_delay": "breaking LB4203", "add dep_dely": "safe LB4201"}
        (question,) = [d for d in plan.diagnostics if d.code == "LB4104"]
        assert question.position is not None
        assert question.position.line == 8
        assert "renamedFrom: dep_delay" in (question.remedy or "")

    def test_nested(self, lake: Warehouse) -> None:
        at = PLACES["list"]
        lake.settle(at(column("lat"), column("lon")))
        assert self.questions(lake, at(column("lat"), column("long"))) == [
            "s.element.lon goes and s.element.long of the same type comes: is it a rename?"
        ]

    def test_a_wider_type_under_a_similar_name_is_asked_about(self, lake: Warehouse) -> None:
        lake.settle(fields(column("k"), column("delay", type_="{kind: Option, inner: Int32}")))
        text = fields(column("k"), column("delays", type_="{kind: Option, inner: Int64}"))
        assert self.questions(lake, text) == ["delay goes and delays of a wider type comes: is it a rename?"]
        narrower = fields(column("k"), column("delays", type_="{kind: Option, inner: Int16}"))
        assert self.questions(lake, narrower) == []
        elsewhere = fields(column("k"), column("zzz", type_="{kind: Option, inner: Int64}"))
        assert self.questions(lake, elsewhere) == []

    def test_another_type_is_not_asked_about(self, lake: Warehouse) -> None:
        lake.settle(fields(column("k"), column("delay")))
        text = fields(column("k"), column("delayed", type_="{kind: Option, inner: Bool}"))
        assert self.questions(lake, text) == []

    def test_a_declared_rename_is_not_asked_about(self, lake: Warehouse) -> None:
        lake.settle(fields(column("k"), column("delay")))
        assert self.questions(lake, fields(column("k"), column("delays", old="delay"))) == []


def test_names_that_move_on_along_a_chain(lake: Warehouse) -> None:
    before = ids(lake.settle(fields(column("a"), column("b"), column("c"))))
    lake.settle(fields(column("a", old="b"), column("b", old="a"), column("c")))
    # The rename of a to d is new, so `a` is the present b now, although the same words are stored with another field.
    after = ids(lake.settle(fields(column("d", old="a"), column("a", old="b"), column("c"))))
    assert (after["d"], after["a"], after["c"]) == (before["b"], before["a"], before["c"])

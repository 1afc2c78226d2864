"""Edits of a manifest: the wanted table comes out, and what is not edited stays to the character."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from lakebed.errors import ManifestError
from lakebed.manifest import TableManifest, dump_table, parse_manifest
from lakebed.manifest.edit import Path, edit_manifest
from lakebed.model import Extra, Field, Int64, List, LogicalType, Option, String, Struct
from lakebed.testing import fields, table_manifests

TEXT = """\
# Flights, by the traffic team.
kind: Table
version: 1
content:
  name: nyc.flights   # with the airport
  options: {bucket: 4, 'file.format': parquet}

  schema:
    fields:
      # keys first
      - {name: year, type: int32}   # of departure
      - name: "delay"   # minutes
        type: {kind: option, inner: float64}
        extra:
          # for people
          opendatafabric.org/description: >-
            Minutes after
            the schedule
          a.b/unit: min   # UCUM
      - name: plane
        type:
          kind: Struct
          fields:
            - name: tail   # number
              type: String
            - {name: seats, type: Int32}

      # the last one
      - {name: carrier, type: String, extra: {a.b/c: 1, a.b/d: [x, y]}}
"""


def edited(
    change: Callable[[TableManifest], TableManifest], text: str = TEXT, renames: dict[Path, str] | None = None
) -> str:
    return edit_manifest(text, change, renames=renames)


def with_field(name: str, change: Callable[[Field], Field | None]) -> Callable[[TableManifest], TableManifest]:
    def apply(table: TableManifest) -> TableManifest:
        new = tuple(x for f in table.schema.fields if (x := change(f) if f.name == name else f) is not None)
        return replace(table, schema=replace(table.schema, fields=new))

    return apply


def retyped(type_: LogicalType) -> Callable[[Field], Field]:
    return lambda f: replace(f, type=type_)


def annotated(**values: object) -> Callable[[Field], Field]:
    return lambda f: replace(f, extra=f.extra.merged({f"a.b/{k}": v for k, v in values.items()}))


PLANE = Struct((Field("tail", Option(String())), Field("seats", List(Int64()))))


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (with_field("year", retyped(Int64())), "type: int32}", "type: Int64}"),
        (with_field("delay", annotated(unit="h")), "a.b/unit: min   #", "a.b/unit: h   #"),
        (with_field("delay", annotated(x=[1])), "   # UCUM\n", "   # UCUM\n          a.b/x: [1]\n"),
        (with_field("carrier", annotated(c="a, b")), "a.b/c: 1", 'a.b/c: "a, b"'),
        (with_field("carrier", lambda f: replace(f, extra=f.extra.without("a.b/c"))), "a.b/c: 1, ", ""),
        (with_field("carrier", lambda f: replace(f, extra=Extra())), ", extra: {a.b/c: 1, a.b/d: [x, y]}", ""),
        (with_field("year", lambda f: None), "      - {name: year, type: int32}   # of departure\n", ""),
        (with_field("plane", retyped(PLANE)), "type: String\n            - {name: seats, type: Int32}",
         "type: {kind: Option, inner: String}\n            - {name: seats, type: {kind: List, itemType: Int64}}"),
        (lambda t: replace(t, options={"bucket": "8", "file.format": "parquet"}), "bucket: 4", 'bucket: "8"'),
        (lambda t: replace(t, description="Said: all"), "a.b/d: [x, y]}}\n", None),
        (lambda t: replace(t, primary_keys=("year",)), "a.b/d: [x, y]}}\n", None),
    ],
)  # fmt: skip
def test_only_what_is_edited_changes(
    change: Callable[[TableManifest], TableManifest], old: str, new: str | None
) -> None:
    text = edited(change)
    assert TEXT.count(old) == 1
    if new is not None:
        assert text == TEXT.replace(old, new)
    else:
        assert text.startswith(TEXT)
    assert parse_manifest(text).tables[0] == change(parse_manifest(TEXT).tables[0])


def test_a_rename_keeps_the_place_and_the_comments() -> None:
    text = edited(with_field("delay", lambda f: replace(f, name="late")), renames={("delay",): "late"})
    assert text == TEXT.replace('"delay"', "late")


def test_members_are_renamed_and_put_in_order_inside_of_columns_that_are_so_too() -> None:
    def change(table: TableManifest) -> TableManifest:
        *others, plane, carrier = table.schema.fields
        tail, seats = plane.type.fields  # type: ignore[attr-defined]
        craft = replace(plane, name="craft", type=Struct((replace(seats, name="places"), replace(tail, name="sign"))))
        return replace(table, schema=replace(table.schema, fields=(carrier, craft, *others)))

    renames = {("plane",): "craft", ("plane", "tail"): "sign", ("plane", "seats"): "places"}
    text = edited(change, renames=renames)
    assert parse_manifest(text).tables[0] == change(parse_manifest(TEXT).tables[0])
    assert "- name: sign   # number\n" in text
    assert text.index("# the last one") < text.index("name: craft") < text.index("name: places") < text.index("sign")


def test_an_added_field_comes_where_it_is_wanted() -> None:
    new = Field("to", Option(String()), Extra({"a.b/c": 1}))

    def add(table: TableManifest) -> TableManifest:
        first, *rest = table.schema.fields
        return replace(table, schema=replace(table.schema, fields=(first, new, *rest)))

    added = "      - name: to\n        type: {kind: Option, inner: String}\n        extra:\n          a.b/c: 1\n"
    line = "      - {name: year, type: int32}   # of departure\n"
    assert edited(add) == TEXT.replace(line, line + added)


def test_another_order_takes_the_comments_along() -> None:
    def turn(table: TableManifest) -> TableManifest:
        return replace(table, schema=replace(table.schema, fields=table.schema.fields[::-1]))

    text = edited(turn)
    assert sorted(text.splitlines()) == sorted(TEXT.splitlines())
    assert (
        text.index("# the last one\n      - {name: carrier") < text.index("name: plane") < text.index("# of departure")
    )
    assert [f.name for f in parse_manifest(text).tables[0].schema.fields] == ["carrier", "plane", "delay", "year"]


@pytest.mark.parametrize(
    "text", ["kind: SetDataSchema\nschema: {fields: []}\n", f"{TEXT}---\n{TEXT.replace('nyc.', 'x.')}"]
)
def test_what_cannot_be_edited(text: str) -> None:
    with pytest.raises(ManifestError):
        edit_manifest(text, lambda t: t)


@pytest.mark.parametrize("flow", [False, True])
def test_what_comes_at_the_end_of_several_parts_comes_into_each(flow: bool) -> None:
    head = "kind: Table\nversion: 1\ncontent:\n  name: d.t\n  schema:\n    fields:"
    field = (
        "{name: a, type: Int64}" if flow else "name: a\n        type:\n          kind: Option\n          inner: Int64"
    )
    text = f"{head}\n      - {field}   # key\n"

    def change(table: TableManifest) -> TableManifest:
        (first,) = table.schema.fields
        new = (replace(first, extra=Extra({"a.b/c": 1})), Field("b", Option(Int64())))
        schema = replace(table.schema, fields=new, extra=Extra({"a.b/d": 2}))
        return replace(table, schema=schema, options={"bucket": "2"}, primary_keys=("a",) if flow else ())

    new = edited(change, text)
    assert parse_manifest(new).tables == (change(parse_manifest(text).tables[0]),)
    assert new.startswith(head)
    assert "# key" in new


def test_an_alias_is_not_edited_at_both_places() -> None:
    text = TEXT.replace("type: {kind: option, inner: float64}", "type: &t {kind: Option, inner: Float64}")
    text = text.replace("seats, type: Int32", "seats, type: *t")
    with pytest.raises(ManifestError) as error:
        edit_manifest(text, with_field("delay", retyped(Option(String()))))
    assert error.value.code in ("LB1630", "LB1631")


@st.composite
def tables(draw: st.DrawFn) -> tuple[TableManifest, TableManifest]:
    """A table, and what became of it."""
    before = draw(table_manifests())
    old = before.schema.fields
    new = [
        draw(st.sampled_from([f, f, replace(f, type=Option(String())), replace(f, extra=Extra({"x/y": 1}))]))
        for f in old
    ]
    if len(new) > 1 and draw(st.booleans()):
        new.pop(draw(st.integers(0, len(new) - 1)))
    added = draw(st.none() | fields())
    if added is not None and added.name.lower() not in {f.name.lower() for f in old}:
        new.insert(draw(st.integers(0, len(new))), added)
    names = {f.name for f in new}
    keys = tuple(k for k in before.primary_keys if k in names), tuple(k for k in before.partition_keys if k in names)
    schema = replace(before.schema, fields=tuple(draw(st.permutations(new))))
    options = draw(st.sampled_from([before.options, {**before.options, "bucket": "3", "x.y": "z"}, {}]))
    schema = draw(st.sampled_from([schema, replace(schema, extra=Extra({"x/z": [1]}))]))
    # A consumer of a column that goes would be an error of the wanted table.
    before = replace(before, consumers=())
    return before, replace(before, schema=schema, options=options, primary_keys=keys[0], partition_keys=keys[1])


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(tables(), st.booleans())
def test_any_table_can_become_another(pair: tuple[TableManifest, TableManifest], as_json: bool) -> None:
    """The edited text declares the wanted table, or the edit is refused; never something else. JSON stays JSON."""
    before, wanted = pair
    text = dump_table(before)
    try:
        made = edit_manifest(json.dumps(YAML(typ="safe").load(text)) if as_json else text, lambda _: wanted)
    except ManifestError as error:
        # System columns are of types of their own, in an order of their own.
        if error.code != "LB1630" and not (error.code == "LB1631" and before.system_columns):
            raise
        return
    found = parse_manifest(made).tables[0]
    assert (found.schema, found.options) == (wanted.schema, wanted.options)
    assert not as_json or json.loads(made)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30)
@given(table_manifests())
def test_no_change_changes_nothing(table: TableManifest) -> None:
    text = dump_table(table)
    assert edit_manifest(text, lambda t: t) == text

"""What people read of plans, of what became of them, and of differences."""

from __future__ import annotations

import re

import pytest

from evolve.declarations import Warehouse, manifest
from evolve.tables import row, run, table
from lakebed.evolve import Plan, describe_changes
from lakebed.evolve.schema_changes import (
    AddColumn,
    DropColumn,
    Move,
    RenameColumn,
    SetOption,
    UpdateColumnType,
    UpdateComment,
)
from lakebed.physical import paimon_types as t
from lakebed.render.plan_text import render_applied, render_plan

A = "{name: a, type: Int32}\n{name: b, type: {kind: Option, inner: Int32}}"


@pytest.fixture
def lake() -> Warehouse:
    return Warehouse()


def test_a_new_table(lake: Warehouse) -> None:
    assert render_plan(lake.plan(manifest(A))).splitlines() == [
        "db.t: new table",
        "  + a: Int32",
        "  + b: Option<Int32>",
        "",
        "Tables: 1 to create.",
    ]


def test_a_new_table_shows_what_is_settled_with_it(lake: Warehouse) -> None:
    head = """
        description: Readings
        primaryKeys: [a, b]
        partitionKeys: [b]
        options: {bucket: '4', merge-engine: partial-update}
        read: {format: csv, options: {sep: ';'}}
    """
    plan = lake.plan(manifest("{name: a, type: Int32}\n{name: b, type: Int32}", head=head, extra="{x.org/p: 1}"))
    assert render_plan(plan).splitlines()[3:-2] == [
        "  + primary keys: a, b",
        "  + partition keys: b",
        "  + buckets: 4, by a",
        "  + set option merge-engine to partial-update",
        '  + set description of the table to "Readings"',
        '  + set lakebed.dev/read of the table to {"format": "csv", "options": {"sep": ";"}}',
        "  + set x.org/p of the table to 1",
    ]
    shown = {
        (c["kind"], c["name"]): (c["after"], c["position"]["line"]) for c in plan.to_json()["tables"][0]["changes"]
    }
    assert shown["primary keys", None] == ("a, b", 6)
    assert shown["buckets", "bucket"] == ("4, by a", 8)


def test_a_long_value_of_an_attribute_is_cut(lake: Warehouse) -> None:
    plan = lake.plan(manifest("{name: a, type: Int32}", extra=f"{{x.org/p: {'v' * 200}}}"))
    (line,) = [line for line in render_plan(plan).splitlines() if "x.org/p" in line]
    assert line.endswith("v...")
    assert len(line) < 140


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("primaryKeys: [a]", "buckets: dynamic (-1)"),
        ("primaryKeys: [a]\noptions: {bucket: '-2'}", "buckets: postponed (-2)"),
        ("options: {bucket: '3', bucket-key: 'a'}", "buckets: 3, by a"),
        ("options: {bucket: '-1'}", "buckets: none (-1)"),
        ("", None),
    ],
)
def test_how_rows_of_a_new_table_are_spread(lake: Warehouse, head: str, wanted: str | None) -> None:
    (table,) = lake.plan(manifest(A, head=head)).tables
    assert [c.summary for c in table.changes if c.kind == "buckets"] == ([wanted] if wanted else [])


def test_who_upgrades_first_knows_columns_by_their_present_names(lake: Warehouse) -> None:
    point = "{kind: Struct, fields: [{name: %s, type: %s}]}"
    lake.apply(manifest(f"{A}\n{{name: p, type: {point % ('x', 'Int32')}}}"))
    renamed = "{name: c, type: Int64, extra: {lakebed.dev/renamedFrom: a}}\n" + A.splitlines()[1]
    inner = point % ("y", "Int64, extra: {lakebed.dev/renamedFrom: x}")
    text = manifest(f"{renamed}\n{{name: q, type: {inner}, extra: {{lakebed.dev/renamedFrom: p}}}}")
    (line,) = [line for line in render_plan(lake.plan(text)).splitlines() if "upgrade first" in line]
    assert line == "  upgrade first: readers of a, p, p.x; writers of a, p, p.x"


def test_only_what_changes_is_printed(lake: Warehouse) -> None:
    tables = [manifest(A, name=f"db.t{i}") for i in range(20)]
    lake.apply(lake.plan(*tables[:-1]))
    lines = render_plan(lake.plan(*tables)).splitlines()
    assert lines[0] == "db.t19: new table"
    assert lines[-1] == "Tables: 1 to create, 19 unchanged."
    assert len(lines) == 5
    lake.apply(tables[-1])
    assert render_plan(lake.plan(*tables)) == "No changes: 20 tables are as declared."
    assert render_applied(lake.apply(lake.plan(*tables))) == "20 tables: unchanged"


def test_changes_with_reasons_leave_and_places(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest("{name: a, type: Int64, extra: {x.org/p: [1]}}"), manifest(A, name="db.u"))
    assert render_plan(plan).splitlines() == [
        "db.t: schema 0 to 1",
        "  - breaking   drop column b (Option<Int32>)",
        "               LB4203: its values are no longer read, "
        "and a later column of the same name does not bring them back",
        "               remedy: give leave to drop it, or keep it declared",
        "               leave: --allow LB4203:b",
        "               at t.yaml:4:9",
        "  ~ safe       change type of a from Int32 to Int64",
        "               LB4205: the new type holds every value of the old one",
        "  ~ safe       set x.org/p of a to [1]",
        "               LB4214: no stored row is touched",
        "  upgrade first: readers of b, a; writers of b",
        "",
        "db.u: new table",
        "  + a: Int32",
        "  + b: Option<Int32>",
        "",
        "Tables: 1 to create, 1 to change. Changes: 2 safe, 1 breaking.",
    ]
    assert render_applied(lake.apply(plan, "LB4203")).splitlines() == [
        "db.t: now at schema 1",
        "  drop column b (Option<Int32>)",
        "  change type of a from Int32 to Int64",
        "  set x.org/p of a to [1]",
        "db.u: created, schema 0",
        "  create table db.u (2 columns)",
        "  add column a: Int32",
        "  add column b: Option<Int32>",
    ]


def test_forbidden_and_unchanged(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    text = render_plan(lake.plan(manifest(A + "\n{name: c, type: Int32}")))
    assert text.startswith("db.t: cannot be changed as declared (schema 0)")
    assert "remedy: declare it as an Option" in text
    noop = lake.plan(manifest(A))
    assert render_plan(noop) == "No changes: db.t is as declared (schema 0)."
    assert render_applied(lake.apply(noop)) == "db.t: unchanged, at schema 0"


NESTED = (
    "{name: n, type: {kind: Option, inner: {kind: List, itemType: {kind: Struct, fields: [{name: x, type: Int32}]}}}}"
)


@pytest.mark.parametrize(
    ("after", "code", "reason"),
    [
        (
            "{kind: Option, inner: Date}",
            "LB4012",
            "values that are stored as ARRAY<ROW<x INT NOT NULL> NOT NULL>",
        ),
        ("{kind: Option, inner: String}", "LB4206", "stored values are read as their text: what computes with them"),
    ],
)
def test_reasons_of_changed_types(lake: Warehouse, after: str, code: str, reason: str) -> None:
    lake.settle(manifest(f"{A}\n{NESTED}"))
    (table,) = lake.plan(manifest(f"{A}\n{{name: n, type: {after}}}")).tables
    (change,) = table.changes
    assert (change.code, change.reason[: len(reason)]) == (code, reason)
    assert not set('{}"[]') & set(change.reason + change.summary)


@pytest.mark.parametrize(("before", "loses"), [("Int32", False), ("Date", False), ("Bool", False), ("Binary", True)])
def test_what_text_means_for_stored_values(lake: Warehouse, before: str, loses: bool) -> None:
    lake.settle(manifest(f"{{name: a, type: {{kind: Option, inner: {before}}}}}"))
    (change,) = lake.plan(manifest("{name: a, type: {kind: Option, inner: String}}")).tables[0].changes
    assert (change.code, "may not fit" in change.reason) == ("LB4206", loses)


def test_colours_are_those_of_a_terminal_and_of_nothing_declared(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest(A, extra=r'{x.org/p: "\e[31mred"}'))
    coloured = render_plan(plan, colour=True)
    assert "\x1b[1mdb.t\x1b[0m: schema 0 to 1" in coloured
    assert "\x1b[32msafe     \x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_plan(plan).replace("\x1b", r"\x1b")


def test_a_terminal_gets_lines_that_fit(lake: Warehouse) -> None:
    lake.apply(manifest(A))
    plan = lake.plan(manifest("{name: a, type: Int32}\n{name: c, type: Int32}"))
    narrow = render_plan(plan, width=60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.split() == render_plan(plan).split()
    assert "               LB4203: its values are no longer read, and a\n               later column" in narrow


def test_an_empty_plan() -> None:
    assert render_plan(Plan(())).strip() == "No changes."


class TestDifferences:
    def base(self) -> t.DataType:
        return row(("x", t.Int()), ("y", t.STRING))

    def test_every_kind_in_words(self) -> None:
        old = table(("a", t.Int()), ("r", self.base()), ("c", t.Date()), options={"x": "1"})
        new = run(
            old,
            RenameColumn(("a",), "z"),
            UpdateColumnType(("r", "x"), t.BigInt()),
            RenameColumn(("r", "y"), "yy"),
            DropColumn(("c",)),
            AddColumn(("n",), t.Array(t.Int()), "text", Move.first("n")),
            SetOption("x", "2"),
            UpdateComment("hello"),
        )
        assert describe_changes(old, new) == (
            "drop column c (Option<Date>)",
            "rename column a to z",
            "rename column r.y to yy",
            "change type of r.x from Int32 to Int64",
            "add column n: Option<List<Option<Int32>>>",
            "change option x from 1 to 2",
            'set description of the table to "hello"',
        )
        assert describe_changes(old, old) == ()

    def test_other_keys_are_told_and_no_error(self) -> None:
        old = table(("a", t.Int()), ("b", t.Int()), primary=("a",))
        new = table(("a", t.Int()), ("b", t.Int()), primary=("b",), partition=("a",))
        assert describe_changes(old, new)[:2] == (
            "change primary keys from a to b",
            "change partition keys from none to a",
        )

    def test_two_tables_are_compared_by_name(self) -> None:
        old = table(("a", t.Int()), ("r", row(("x", t.Int()))), ("b", t.Date()))
        new = table(("b", t.Date()), ("r", row(("w", t.Int()), ("x", t.BigInt()))), ("a", t.Int()))
        lines = describe_changes(old, new, by_name=True)
        assert "change type of r.x from Int32 to Int64" in lines
        assert "add column r.w: Option<Int32>" in lines
        assert not [line for line in lines if "rename" in line or "drop" in line]
        assert describe_changes(old, table(*((f.name, f.type) for f in old.fields)), by_name=True) == ()

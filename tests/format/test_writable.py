"""What can be written is known before rows come: of every type in every place, of every known option; plans say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import lakebed
from format.every_place import LEAVES, Case, is_valid, options, schema, types
from lakebed.catalog import TableName
from lakebed.catalog.options import KNOWN
from lakebed.diagnostics import Severity
from lakebed.errors import LakebedWarning, UnsupportedError
from lakebed.evolve.verdicts import Verdict
from lakebed.format.refuse_unsupported import limits, refuse_unwritable, write_problems
from lakebed.manifest import Manifest
from lakebed.physical import paimon_types as t
from lakebed.write.plan_write import plan_write

TYPES, OPTIONS = tuple(types()), tuple(options())


def test_every_type_is_tried() -> None:
    parts = {t.Array, t.Map, t.Multiset}
    assert {type(leaf) for leaf in LEAVES} | parts == set(get_args(t.DataType))


def test_every_known_option_is_tried_that_an_append_table_can_have() -> None:
    tried = {case.about.partition(" = ")[0] for case in OPTIONS}
    assert len(tried) > 0.9 * len(KNOWN)


@pytest.mark.parametrize("cases", [TYPES, OPTIONS], ids=["types", "options"])
def test_what_cannot_be_written_is_refused_by_its_code_and_nothing_else(cases: tuple[Case, ...]) -> None:
    wrong = {}
    for case in cases:
        assert is_valid(case.schema), case.about
        codes = {d.code for d in write_problems(case.schema)}
        if codes != case.codes:
            wrong[case.about] = codes, set(case.codes)
    assert wrong == {}


def test_ingest_refuses_by_what_a_plan_warns_of() -> None:
    for case in (*TYPES, *OPTIONS):
        told = limits(case.schema)
        assert {d.severity for d in told} <= {Severity.WARNING}
        try:
            refuse_unwritable(case.schema)
            found: tuple[str, ...] = ()
        except UnsupportedError as error:
            found = tuple(d.code for d in error.diagnostics)
        assert tuple(d.code for d in told) == found, case.about


DECLARED = {
    "a struct without fields": ("{name: c, type: {kind: Struct, fields: []}}", "", "LB6505", 10),
    "one inside of a list": ("{name: c, type: {kind: List, itemType: {kind: Struct, fields: []}}}", "", "LB6505", 10),
    "bytes as a partition key": ("{name: c, type: Binary}", "partitionKeys: [c]", "LB5030", 10),
    "a map as a key": (
        "{name: c, type: {kind: Map, keyType: {kind: Map, keyType: String, valueType: Int32}, valueType: Int32}}",
        "",
        "LB5054",
        10,
    ),
    "nanoseconds": ("{name: c, type: {kind: Timestamp, unit: Nanosecond}}", "", "LB6505", 10),
    "rows that wait for their buckets": (
        "{name: c, type: Int32}",
        "primaryKeys: [c]\n  options: {bucket: -2}",
        "LB5050",
        6,
    ),
    "an index of a type that it is not made of": (
        "{name: c, type: Bool}",
        "options: {file-index.bloom-filter.columns: c}",
        "LB5087",
        5,
    ),
    "an index that is none": (
        "{name: c, type: Int32}",
        'options: {file-index.bloom-filter.columns: c, file-index.bloom-filter.c.fpp: "2"}',
        "LB5089",
        5,
    ),
    "another format": ("{name: c, type: Int32}", "options: {manifest.format: orc}", "LB5011", 5),
}


@pytest.mark.parametrize("what", DECLARED)
def test_the_plan_says_what_lakebed_reads_and_cannot_write(tmp_path: Path, what: str) -> None:
    column, head, code, line = DECLARED[what]
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    path = tmp_path / "t.yaml"
    lines = ["kind: Table", "version: 1", "content:", "  name: db.t", f"  {head or 'description: x'}"]
    lines += ["  schema:", "    fields:", "      - {name: id, type: Int32}", "", f"      - {column}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = lake.plan(path)
    (warning,) = plan.tables[0].diagnostics
    assert (warning.code, warning.severity) == (code, Severity.WARNING)
    assert warning.position is not None
    assert (warning.position.file, warning.position.line) == (str(path), line)
    assert warning.message.startswith("Lakebed reads such a table, it cannot write it: ")
    lake.apply(plan)
    assert lake.plan(path).all_diagnostics == ()
    with pytest.raises(UnsupportedError) as caught:
        refuse_unwritable(lake.schema("db.t"))
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_indexes_of_unknown_kinds_are_told_and_rows_are_written_without(tmp_path: Path) -> None:
    lake = lakebed.open(tmp_path, layout="paimon")
    table = schema(("id", t.Int()), ("c", t.STRING))
    lake.tables.create(TableName("db", "t"), table)
    declared = lake.infer("db.t")
    more = replace(declared, options={**declared.options, "file-index.ngram.columns": "c"})
    plan = lake.plan(Manifest((more,)))
    (told,) = plan.tables[0].diagnostics
    assert (told.code, told.severity, told.path) == ("LB5088", Severity.WARNING, "file-index.ngram.columns")
    lake.apply(plan)
    with pytest.warns(LakebedWarning, match="LB5088"):
        plan_write(lake.schema("db.t"))


def test_a_plan_tells_only_of_limits_that_come_with_it(tmp_path: Path) -> None:
    lake = lakebed.open(tmp_path, layout="paimon")
    table = schema(("id", t.Int()), ("c", t.STRING), primary=("id",))
    lake.tables.create(TableName("db", "t"), table)
    declared = lake.infer("db.t")
    more = replace(declared, options={**declared.options, "changelog-producer": "lookup"})
    (plan,) = lake.plan(Manifest((more,))).tables
    assert [d.code for d in plan.diagnostics] == ["LB5061"]


def test_no_change_is_called_safe_after_which_the_table_cannot_be_written(tmp_path: Path) -> None:
    lake = lakebed.open(tmp_path, layout="paimon")
    every = {"changelog-producer": "lookup", "file-index.foo.columns": "id"}
    table = schema(("id", t.Int()), ("fine", t.Timestamp(9)), primary=("id",))
    lake.tables.create(TableName("db", "seen"), table)
    declared = lake.infer("db.seen")
    (made,) = lake.plan(Manifest((replace(declared, name="db.new", options={**declared.options, **every}),))).tables
    careful = {c.column or c.name for c in made.changes if c.verdict is Verdict.CAUTION}
    assert careful == {d.path.removeprefix("options.") for d in made.diagnostics if d.path}
    assert {"fine", *every} <= careful
    assert {c.code for c in made.changes if (c.column or c.name) in careful} == {"LB4233"}


def test_a_merge_on_ingest_makes_no_version_that_cannot_be_written(tmp_path: Path) -> None:
    from lakebed.evolve.merge_input import incoming_columns
    from lakebed.evolve.merge_schema import SchemaMerge, merge_rules, merge_schema

    lake = lakebed.open(tmp_path, layout="paimon")
    lake.tables.create(TableName("db", "t"), schema(("id", t.Int())))
    columns = incoming_columns([lakebed.Field("c", t.Array(t.Row(())))])
    merge = SchemaMerge(columns, merge_rules("add", case_sensitive=True), check=refuse_unwritable)
    with pytest.raises(UnsupportedError):
        merge_schema(lake.tables, TableName("db", "t"), merge, branch="main", clock=lambda: 1)
    assert lake.schema("db.t").id == 0

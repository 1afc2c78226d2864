"""Plans: verdicts with their reasons, annotations, options, keys, ODF's rule, and tables that are made."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evolve.declarations import Warehouse, by_summary, declared, manifest, verdicts
from evolve.tables import row, table
from lakebed.errors import ConversionError, ManifestError, UnsupportedError, ValidationError
from lakebed.evolve import Plan, Verdict, plan_table
from lakebed.evolve.schema_changes import SetOption
from lakebed.manifest import table_manifest_of
from lakebed.physical import paimon_types as t


def opt(type_: str) -> str:
    return f"{{kind: Option, inner: {type_}}}"


def one(type_: str, *, name: str = "x") -> str:
    return manifest(f"{{name: k, type: Int64}}\n{{name: {name}, type: {type_}}}")


@pytest.fixture
def lake() -> Warehouse:
    return Warehouse()


CHANGES = {
    # what is declared before and after, and the verdict on it
    ("Int32", "Int64"): "safe LB4205",
    ("Int8", "Int32"): "safe LB4205",
    ("Float32", "Float64"): "safe LB4205",
    ("Int8", "Float32"): "safe LB4205",
    ("Int32", "Float64"): "safe LB4205",
    ("Int64", "Float64"): "breaking LB4206",
    ("Int32", "Float32"): "breaking LB4206",
    ("Int32", "{kind: Decimal, precision: 12, scale: 2}"): "safe LB4205",
    ("Int32", "{kind: Decimal, precision: 11, scale: 2}"): "breaking LB4206",
    ("{kind: Decimal, precision: 10, scale: 2}", "{kind: Decimal, precision: 12, scale: 3}"): "safe LB4205",
    ("{kind: Decimal, precision: 10, scale: 2}", "{kind: Decimal, precision: 10, scale: 3}"): "breaking LB4206",
    ("UInt8", "UInt16"): "safe LB4205",
    ("UInt8", "Int16"): "safe LB4205",
    ("UInt32", "Int64"): "safe LB4205",
    ("UInt32", "UInt64"): "safe LB4205",
    ("Int32", "UInt32"): "breaking LB4206",
    ("Int16", "UInt8"): "breaking LB4206",
    ("UInt16", "Int16"): "breaking LB4206",
    ("Float16", "Float32"): "safe LB4205",
    ("Float32", "Float16"): "breaking LB4206",
    ("Int64", "Int32"): "breaking LB4206",
    ("Float64", "Int32"): "breaking LB4206",
    ("Int32", "String"): "breaking LB4206",
    ("String", "Int32"): "breaking LB4206",
    ("Bool", "Date"): "forbidden LB4012",
    ("Date", "Int32"): "forbidden LB4012",
    ("{kind: Time, unit: Second}", "{kind: Time, unit: Millisecond}"): "forbidden LB4012",
    ("{kind: Time, unit: Microsecond}", "{kind: Time, unit: Nanosecond}"): "forbidden LB4221",
    ("{kind: Duration, unit: Second}", "{kind: Duration, unit: Millisecond}"): "forbidden LB4221",
    ("{kind: Duration}", "Int64"): "breaking LB4206",
    ("{kind: Timestamp, unit: Second}", "{kind: Timestamp, unit: Microsecond}"): "safe LB4205",
    ("{kind: Timestamp, unit: Microsecond}", "{kind: Timestamp, unit: Millisecond}"): "breaking LB4206",
    ("{kind: Timestamp}", "{kind: Timestamp, timezone: Europe/Paris}"): "safe LB4205",
    ("{kind: Binary, fixedLength: 4}", "Binary"): "safe LB4205",
    ("{kind: Binary, fixedLength: 4}", "{kind: Binary, fixedLength: 8}"): "caution LB4208",
    ("Binary", "{kind: Binary, fixedLength: 8}"): "breaking LB4206",
}


class TestVerdictsOnTypes:
    @pytest.mark.parametrize(("before", "after"), CHANGES)
    def test_top_level(self, lake: Warehouse, before: str, after: str) -> None:
        lake.settle(one(before))
        assert (
            verdicts(lake.plan_one(one(after)))[
                "type x" if "type x" in verdicts(lake.plan_one(one(after))) else "meaning x"
            ]
            == CHANGES[before, after]
        )

    @pytest.mark.parametrize(
        ("wrapper", "path"),
        [
            ("{kind: List, itemType: TYPE}", "x.element"),
            ("{kind: Map, keyType: String, valueType: TYPE}", "x.value"),
            ("{kind: Struct, fields: [{name: y, type: TYPE}]}", "x.y"),
            ("{kind: Option, inner: {kind: List, itemType: {kind: Option, inner: TYPE}}}", "x.element"),
        ],
    )
    def test_nested(self, lake: Warehouse, wrapper: str, path: str) -> None:
        lake.settle(one(wrapper.replace("TYPE", "UInt8")))
        for type_, verdict in (("UInt16", "type {} safe LB4205"), ("Int16", "meaning {} safe LB4205")):
            plan = lake.plan_one(one(wrapper.replace("TYPE", type_)))
            found = [f"{c.kind} {c.column} {c.verdict} {c.code}" for c in plan.changes]
            assert found == [verdict.format(path)]
        lake.settle(one(wrapper.replace("TYPE", "Int16")))

    def test_stored_types_by_hint(self, lake: Warehouse) -> None:
        def text(type_: str) -> str:
            return manifest(f"{{name: x, type: String, extra: {{paimon.apache.org/type: {type_}}}}}")

        lake.settle(text("VARCHAR(5)"))
        assert verdicts(lake.plan_one(text("VARCHAR(9)"))) == {"type x": "safe LB4205"}
        assert verdicts(lake.plan_one(text("VARCHAR(3)"))) == {"type x": "breaking LB4206"}
        assert verdicts(lake.plan_one(text("CHAR(9)"))) == {"type x": "caution LB4208"}
        assert by_summary(lake.plan_one(text("VARCHAR(9)"))).keys() == {
            "change type of x from VARCHAR(5) to VARCHAR(9)"
        }

    def test_another_struct_as_a_whole_or_another_key_is_forbidden(self, lake: Warehouse) -> None:
        lake.settle(one("{kind: Map, keyType: Int32, valueType: Int32}"))
        plan = lake.plan_one(one("{kind: Map, keyType: Int64, valueType: Int32}"))
        assert verdicts(plan) == {"type x": "forbidden LB4012"}
        assert plan.target is None
        assert "new column" in (plan.changes[0].remedy or "")

    def test_lists_of_one_length(self, lake: Warehouse) -> None:
        lake.settle(one("{kind: List, itemType: Int32, fixedLength: 3}"))
        assert verdicts(lake.plan_one(one("{kind: List, itemType: Int32, fixedLength: 4}"))) == {
            "meaning x": "breaking LB4206"
        }
        lake.settle(one("{kind: List, itemType: Int32}"))

    def test_old_files_count(self, lake: Warehouse) -> None:
        lake.settle(one(opt("Int64")))
        lake.settle(one(opt("String")))
        assert verdicts(lake.plan_one(one(opt("Date")))) == {"type x": "breaking LB4206"}
        lake.put_data()
        assert verdicts(lake.plan_one(one(opt("Date")))) == {"type x": "forbidden LB4025"}


class TestVerdictsOnColumns:
    def test_each_kind(self, lake: Warehouse) -> None:
        lake.settle(
            manifest(f"{{name: a, type: Int32}}\n{{name: b, type: {opt('String')}}}\n{{name: c, type: {opt('Date')}}}")
        )
        text = manifest(
            f"""{{name: n, type: {opt("Int32")}}}
            {{name: bb, type: {opt("String")}, extra: {{lakebed.dev/renamedFrom: b}}}}
            {{name: a, type: {opt("Int32")}, extra: {{opendatafabric.org/description: N, lakebed.dev/default: 5}}}}
            {{name: r, type: Int32}}""",
            head="description: The table\noptions: {x: '1'}",
        )
        plan = lake.plan_one(text)
        assert verdicts(plan) == {
            "drop c": "breaking LB4203",
            "rename bb": "caution LB4204",
            "nullability a": "caution LB4209",
            "description a": "safe LB4212",
            "default a": "safe LB4213",
            "add n": "safe LB4201",
            "position bb": "safe LB4211",
            "add r": "forbidden LB4202",
            "option x": "caution LB4215",
            "comment": "safe LB4212",
        }
        assert plan.worst is Verdict.FORBIDDEN
        assert plan.target is None
        found = by_summary(plan)
        assert found["rename column b to bb"].position is not None
        assert found["rename column b to bb"].position.line == 10
        assert found["set option x to 1"].position is not None
        assert found["set option x to 1"].position.line == 6
        assert "Option" in (found["add column r: Int32"].remedy or "")

    def test_an_option_that_becomes_required(self, lake: Warehouse) -> None:
        lake.settle(one(opt("Int32")))
        assert verdicts(lake.plan_one(one("Int32"))) == {"nullability x": "forbidden LB4210"}
        head = "options: {alter-column-null-to-not-null.disabled: 'false'}"
        text = manifest("{name: k, type: Int64}\n{name: x, type: Int32}", head=head)
        plan = lake.plan_one(text)
        assert verdicts(plan)["nullability x"] == "breaking LB4210"
        assert not lake.settle(text).fields[1].type.nullable

    def test_a_rename_out_of_an_option_takes_the_option_along(self, lake: Warehouse) -> None:
        text = "{name: a, type: Int32}\n{name: b, type: Int32}"
        lake.settle(manifest(text, head="primaryKeys: [a]\noptions: {bucket: '2', sequence.field: b}"))
        lake.put_data()
        renamed = text.replace("name: b, type: Int32", "name: c, type: Int32, extra: {lakebed.dev/renamedFrom: b}")
        head = "primaryKeys: [a]\noptions: {bucket: '2', sequence.field: c}"
        assert verdicts(lake.plan_one(manifest(renamed, head=head))) == {"rename c": "caution LB4204"}
        with pytest.raises(ValidationError) as caught:
            lake.plan(manifest(renamed, head=head.replace("field: c", "field: b")))
        assert caught.value.diagnostics[0].position is not None
        assert caught.value.diagnostics[0].position.line == 6


class TestKeys:
    TEXT = "{name: id, type: Int64}\n{name: day, type: Date}\n{name: v, type: Int32}"
    HEAD = "primaryKeys: [id, day]\npartitionKeys: [day]\noptions: {bucket: '1'}"

    def test_other_keys_are_forbidden_with_the_way_out(self, lake: Warehouse) -> None:
        lake.settle(manifest(self.TEXT, head=self.HEAD))
        plan = lake.plan_one(manifest(self.TEXT, head="primaryKeys: [id]\noptions: {bucket: '1'}"))
        assert verdicts(plan) == {"primary keys": "forbidden LB4217", "partition keys": "forbidden LB4218"}
        assert all("new table" in (c.remedy or "") and "copy" in (c.remedy or "") for c in plan.changes)
        assert plan.steps == ()

    def test_a_key_column_can_be_renamed_and_moved_and_nothing_else(self, lake: Warehouse) -> None:
        lake.settle(manifest(self.TEXT, head=self.HEAD))
        renamed = "{name: key, type: Int64, extra: {lakebed.dev/renamedFrom: id}}"
        text = self.TEXT.replace("{name: id, type: Int64}", renamed)
        head = self.HEAD.replace("[id, day]", "[key, day]")
        assert verdicts(lake.plan_one(manifest(text, head=head))) == {"rename key": "caution LB4204"}
        wide = self.TEXT.replace("v, type: Int32", "v, type: Int64").replace("id, type: Int64", "id, type: String")
        found = verdicts(lake.plan_one(manifest(wide, head=self.HEAD)))
        assert found == {"type id": "forbidden LB4006", "type v": "safe LB4205"}
        day = self.TEXT.replace("name: day, type: Date", "name: d, type: Date, extra: {lakebed.dev/renamedFrom: day}")
        found = verdicts(lake.plan_one(manifest(day, head=self.HEAD.replace("day]", "d]"))))
        assert found["rename d"] == "forbidden LB4005"

    def test_a_dropped_key_column(self, lake: Warehouse) -> None:
        lake.settle(manifest(self.TEXT, head=self.HEAD))
        found = verdicts(lake.plan_one(manifest("{name: id, type: Int64}", head="primaryKeys: [id]")))
        assert found["drop day"] == "forbidden LB4005"
        assert found["primary keys"] == "forbidden LB4217"

    def test_options_of_the_keys(self, lake: Warehouse) -> None:
        lake.settle(manifest(self.TEXT, head=self.HEAD))
        head = self.HEAD.replace("'1'", "'1', primary-key.nullable: 'true'")
        assert verdicts(lake.plan_one(manifest(self.TEXT, head=head)))["option primary-key.nullable"] == (
            "forbidden LB4216"
        )
        lake.put_data()
        head = self.HEAD.replace("'1'", "'1', bucket-key: id")
        assert verdicts(lake.plan_one(manifest(self.TEXT, head=head))) == {"option bucket-key": "forbidden LB4016"}

    def test_keys_as_options(self, lake: Warehouse) -> None:
        new = lake.settle(manifest(self.TEXT, head="options: {primary-key: 'id, day', bucket: '1'}"))
        assert new.primary_keys == ("id", "day")
        assert lake.plan(manifest(self.TEXT, head="primaryKeys: [id, day]\noptions: {bucket: '1'}")).is_noop
        with pytest.raises(ManifestError) as caught:
            lake.plan(manifest(self.TEXT, head="primaryKeys: [id]\noptions: {primary-key: day}"))
        assert caught.value.code == "LB4109"

    def test_an_optional_key_column_is_stored_as_required_and_said_so(self, lake: Warehouse) -> None:
        text = manifest(f"{{name: id, type: {opt('Int64')}}}", head="primaryKeys: [id]\noptions: {bucket: '1'}")
        assert [d.code for d in lake.plan_one(text).diagnostics] == ["LB4107"]
        assert not lake.settle(text).fields[0].type.nullable


class TestOptions:
    def test_a_manifest_lists_all_options_of_a_user(self, lake: Warehouse) -> None:
        fields = "{name: a, type: Int32}"
        lake.settle(manifest(fields, head="options: {x: '1', y: '2'}", extra="{example.org/owner: me}"))
        plan = lake.plan_one(manifest(fields, head="options: {y: '3'}", extra="{example.org/owner: me}"))
        assert by_summary(plan).keys() == {"remove option x (was 1)", "change option y from 2 to 3"}
        assert set(lake.settle(manifest(fields, extra="{example.org/owner: me}")).options) == {"lakebed.schema"}

    def test_options_of_lakebed_are_not_declared(self, lake: Warehouse) -> None:
        with pytest.raises(ManifestError) as caught:
            lake.plan(manifest("{name: a, type: Int32}", head="options: {lakebed.schema: '{}'}"))
        assert caught.value.code == "LB4108"
        assert caught.value.diagnostics[0].position is not None

    def test_immutable_options_are_forbidden_once_there_is_data(self, lake: Warehouse) -> None:
        head = "primaryKeys: [a]\noptions: {bucket: '1', merge-engine: first-row}"
        lake.settle(manifest("{name: a, type: Int32}", head=head))
        changed = manifest("{name: a, type: Int32}", head=head.replace("first-row", "deduplicate"))
        assert verdicts(lake.plan_one(changed)) == {"option merge-engine": "caution LB4215"}
        lake.put_data()
        assert verdicts(lake.plan_one(changed)) == {"option merge-engine": "forbidden LB4016"}

    def test_other_buckets_need_leave_once_there_is_data(self, lake: Warehouse) -> None:
        head = "primaryKeys: [a]\noptions: {bucket: '2'}"
        lake.settle(manifest("{name: a, type: Int32}", head=head))
        changed = manifest("{name: a, type: Int32}", head=head.replace("2", "4"))
        assert verdicts(lake.plan_one(changed)) == {"option bucket": "caution LB4215"}
        lake.put_data()
        (change,) = lake.plan_one(changed).changes
        assert (change.verdict, change.code) == (Verdict.BREAKING, "LB4245")
        assert "overwritten as a whole" in change.reason
        lake.apply(changed, "LB4245:bucket")


class TestAnnotations:
    def test_each_attribute_is_one_change_and_the_raw_option_is_none(self, lake: Warehouse) -> None:
        lake.settle(manifest("{name: a, type: Int32, extra: {x.org/p: 1, x.org/q: [a]}}", extra="{x.org/o: me}"))
        text = manifest("{name: a, type: Int32, extra: {x.org/p: {b: 2}, x.org/r: true}}", extra="{x.org/o: you}")
        plan = lake.plan_one(text)
        assert [c.summary for c in plan.changes] == [
            'change x.org/o of the table from "me" to "you"',
            'change x.org/p of a from 1 to {"b": 2}',
            'remove x.org/q of a (was ["a"])',
            "set x.org/r of a to true",
        ]
        assert {c.code for c in plan.changes} == {"LB4214"}
        assert {c.verdict for c in plan.changes} == {Verdict.SAFE}
        (step,) = plan.steps
        assert isinstance(step, SetOption)
        assert step.key == "lakebed.schema"
        assert all(c.changes == (step,) for c in plan.changes)
        lake.settle(text)

    @pytest.mark.parametrize(
        ("type_", "less", "more"),
        [
            ("Int32", "lakebed.dev/minimum: 1", "lakebed.dev/minimum: 0"),
            ("Int32", "lakebed.dev/maximum: 1", "lakebed.dev/maximum: 2"),
            ("String", "lakebed.dev/enum: [a]", "lakebed.dev/enum: [b, a]"),
            ("String", "lakebed.dev/pattern: a", None),
            ("String", "lakebed.dev/unique: true", "lakebed.dev/unique: false"),
            ("String", "opendatafabric.org/type: Did", None),
        ],
    )
    def test_fewer_values_are_a_caution_and_more_are_safe(
        self, lake: Warehouse, type_: str, less: str, more: str | None
    ) -> None:
        def text(extra: str | None) -> str:
            return manifest(f"{{name: x, type: {type_}, extra: {{{extra or ''}}}}}")

        def verdict(extra: str | None) -> list[str]:
            return [f"{c.verdict} {c.code}" for c in lake.plan_one(text(extra)).changes]

        lake.settle(text(more))
        assert verdict(less) == ["caution LB4234"]
        lake.settle(text(less))
        assert verdict(more) == verdict(None) == ["safe LB4214"]

    def test_attributes_of_nested_fields(self, lake: Warehouse) -> None:
        def text(value: str) -> str:
            inner = f"{{kind: Struct, fields: [{{name: x, type: Int32, extra: {{x.org/p: {value}}}}}]}}"
            return one(f"{{kind: List, itemType: {inner}}}", name="l")

        lake.settle(text("1"))
        plan = lake.plan_one(text("2"))
        assert [c.summary for c in plan.changes] == ["change x.org/p of l.element.x from 1 to 2"]
        lake.settle(text("2"))

    def test_fewer_values_of_nested_fields(self, lake: Warehouse) -> None:
        def text(value: str) -> str:
            inner = f"{{kind: Struct, fields: [{{name: x, type: Int32, extra: {{lakebed.dev/minimum: {value}}}}}]}}"
            return one(f"{{kind: List, itemType: {inner}}}", name="l")

        lake.settle(text("9"))
        assert [c.code for c in lake.plan_one(text("10")).changes] == ["LB4234"]
        assert [c.code for c in lake.plan_one(text("8")).changes] == ["LB4214"]

    def test_annotations_of_new_and_renamed_columns_come_along(self, lake: Warehouse) -> None:
        lake.settle(manifest("{name: a, type: UInt8, extra: {x.org/p: 1}}"))
        text = manifest(
            f"""{{name: n, type: {opt("UInt16")}, extra: {{x.org/p: 2}}}}
            {{name: b, type: UInt8, extra: {{x.org/p: 1, lakebed.dev/renamedFrom: a}}}}"""
        )
        assert verdicts(lake.plan_one(text)) == {"rename b": "caution LB4204", "add n": "safe LB4201"}
        new = lake.settle(text)
        entries = json.loads(new.options["lakebed.schema"])["fields"]
        assert {(k, v["name"]) for k, v in entries.items()} == {("0", "b"), ("1", "n")}
        assert [f.type.kind for f in new.logical.fields] == ["Option", "UInt8"]

    def test_the_last_annotation_takes_the_option_away(self, lake: Warehouse) -> None:
        lake.settle(manifest("{name: a, type: Int32, extra: {x.org/p: 1}}"))
        assert "lakebed.schema" not in lake.settle(manifest("{name: a, type: Int32}")).options

    def test_a_default_that_is_no_text(self, lake: Warehouse) -> None:
        lake.settle(manifest("{name: a, type: Int32, extra: {lakebed.dev/default: 7}}"))
        plan = lake.plan_one(manifest("{name: a, type: Int32, extra: {lakebed.dev/default: 8}}"))
        assert [c.summary for c in plan.changes] == ['change default of a from "7" to "8"']
        assert lake.settle(manifest("{name: a, type: Int32}")).fields[0].default_value is None


class TestOdfRule:
    BASE = f"{{name: a, type: Int32}}\n{{name: b, type: {opt('Int32')}}}"

    @pytest.mark.parametrize(
        ("fields", "refused"),
        [
            (BASE + f"\n{{name: c, type: {opt('Int32')}}}", []),
            ("\n".join(reversed(BASE.splitlines())), []),
            (BASE.replace("name: a,", "name: a, extra: {x.org/p: 1},"), []),
            (BASE.replace("Int32}\n", "Int64}\n"), ["a"]),
            (BASE.replace("name: a, type: Int32", f"name: a, type: {opt('Int32')}"), ["a"]),
            (BASE.splitlines()[0], ["b"]),
            (BASE.replace("name: b,", "name: c, extra: {lakebed.dev/renamedFrom: b},"), ["c"]),
        ],
    )
    def test_it_gates_where_it_is_asked_for_and_only_speaks_else(
        self, lake: Warehouse, fields: str, refused: list[str]
    ) -> None:
        lake.settle(manifest(self.BASE))
        plain = lake.plan_one(manifest(fields))
        gated = lake.plan_one(manifest(fields, head="compatibility: ODF"))
        assert [c.column for c in plain.refused_by_odf] == refused
        assert (plain.compatibility, gated.compatibility) == (None, "ODF")
        needed = Plan((gated,)).leave_needed()
        assert [n for n in needed if n.startswith("LB4220")] == [f"LB4220:{name}" for name in refused]
        assert not [n for n in Plan((plain,)).leave_needed() if n.startswith("LB4220")]
        assert gated.worst.rank >= (Verdict.BREAKING.rank if refused else 0)

    def test_structs_and_lists_may_grow_but_maps_may_not(self, lake: Warehouse) -> None:
        def text(*names: str) -> str:
            members = ", ".join(f"{{name: {n}, type: {opt('Int32')}}}" for n in names)
            struct = f"{{kind: Struct, fields: [{members}]}}"
            return manifest(
                f"""{{name: l, type: {{kind: List, itemType: {struct}}}}}
                {{name: m, type: {{kind: Map, keyType: String, valueType: {struct}}}}}"""
            )

        lake.settle(text("a"))
        plan = lake.plan_one(text("a", "value"))
        assert [c.column for c in plan.refused_by_odf] == ["m.value.value"]


class TestCreation:
    def test_the_columns_are_listed_and_the_target_is_complete(self, lake: Warehouse) -> None:
        text = manifest(
            "{name: a, type: UInt8}\n{name: r, type: {kind: Struct, fields: [{name: x, type: Int32}]}}\n"
            "{name: z, type: Date}",
            head="description: A table\npartitionKeys: [z]\noptions: {x: '1'}",
        )
        plan = lake.plan_one(text)
        assert (plan.create, plan.base_id, plan.base_fingerprint, plan.is_noop) == (True, None, None, False)
        assert [c.summary for c in plan.changes] == [
            "create table db.t (3 columns)",
            "add column a: UInt8",
            "add column r: Struct<x: Int32>",
            "add column z: Date",
            "partition keys: z",
            "set option x to 1",
            'set description of the table to "A table"',
        ]
        target = plan.target
        assert target is not None
        assert [f.id for f in target.fields] == [0, 1, 3]
        assert (target.id, target.highest_field_id, target.comment, target.partition_keys) == (0, 3, "A table", ("z",))
        assert set(target.options) == {"x", "lakebed.schema"}
        assert plan.worst is Verdict.SAFE

    def test_a_table_that_the_format_does_not_allow(self, lake: Warehouse) -> None:
        with pytest.raises(ValidationError) as caught:
            lake.plan(manifest("{name: a, type: Int32}", head="options: {bucket: '0', merge-engine: nonsense}"))
        assert len(caught.value.diagnostics) == 2
        assert all(d.position is not None and d.position.line == 5 for d in caught.value.diagnostics)

    def test_a_type_that_cannot_be_stored(self, lake: Warehouse) -> None:
        with pytest.raises(ConversionError) as caught:
            lake.plan(manifest("{name: a, type: {kind: Decimal, precision: 50, scale: 2}}"))
        assert caught.value.diagnostics[0].position is not None
        assert caught.value.diagnostics[0].position.line == 7


def test_a_table_of_another_engine_as_it_is_declared_by_itself_gives_no_change() -> None:
    base = table(
        t.DataField(-1, "k", t.BigInt(), "text", "5"),
        ("c", t.Char(3)),
        ("v", t.Array(t.VarChar(7))),
        ("ms", t.Multiset(t.STRING)),
        ("ts", t.Timestamp(6)),
        ("t1", t.Time(0)),
        ("r", row(("x", t.Map(t.Int(False), row(("y", t.Timestamp(9))))))),
        ("b", t.Blob()),
        ("f", t.Unknown("FANCY(3)")),
        options={"bucket": "1", "some": "option"},
        primary=("k",),
        comment="a table",
    )
    manifest_of = table_manifest_of("db.t", base)
    assert plan_table(manifest_of, base, lambda: True).is_noop


def test_schemas_of_real_tables_give_no_change(shared: object) -> None:
    from pathlib import Path

    from lakebed.catalog import schema_file

    assert isinstance(shared, Path)
    files = sorted((shared / "tables").rglob("schema-*"))
    assert len(files) > 50
    for file in files:
        base = schema_file.loads(file.read_bytes(), source=str(file))
        plan = plan_table(table_manifest_of("db.t", base), base, lambda: True)
        assert plan.is_noop, (file, [c.summary for c in plan.changes])


def test_a_plan_touches_nothing_and_is_the_same_again(lake: Warehouse) -> None:
    lake.settle(one("Int32"))
    assert lake.plan(one("Int64")) == lake.plan(one("Int64"))
    assert lake.newest().id == 0


def test_drift_is_told_with_the_plan(lake: Warehouse) -> None:
    base = lake.settle(manifest("{name: a, type: UInt8}"))
    foreign = base.with_options({"lakebed.schema": '{"format":1,"fields":{"9":{"name":"gone","extra":{}}}}'})
    plan = plan_table(declared(manifest("{name: a, type: Int16}")), foreign, lambda: False)
    (told,) = plan.diagnostics
    assert (told.code, told.message) == ("LB3512", "db.t: the column 'gone' (id 9) is gone, its annotation is left")


def test_keys_that_another_engine_left_as_options_stay_what_they_are() -> None:
    base = table(("id", t.Int()), ("v", t.Int()), options={"primary-key": "id", "file.format": "parquet"})
    inferred = table_manifest_of("db.t", base)
    assert plan_table(inferred, base, lambda: True).is_noop
    changed = replace(inferred, description="text")
    plan = plan_table(changed, base, lambda: True)
    assert verdicts(plan) == {"comment": "safe LB4212"}
    assert plan.target is not None
    assert plan.target.options == base.options


def test_a_schema_file_of_a_later_format_can_be_compared_but_not_changed() -> None:
    base = replace(table(("a", t.Int())), version=4)
    inferred = table_manifest_of("db.t", base)
    assert plan_table(inferred, base, lambda: True).is_noop
    with pytest.raises(UnsupportedError):
        plan_table(replace(inferred, description="text"), base, lambda: True)

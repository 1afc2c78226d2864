"""Options: which may change when, and how those that name columns follow a rename."""

from __future__ import annotations

import json

import pytest

from evolve.declarations import Warehouse, manifest
from evolve.tables import refused, row, run, table
from lakebed.catalog.options import IMMUTABLE, OPTIONS, OptionKind
from lakebed.errors import ValidationError
from lakebed.evolve import TablePlan
from lakebed.evolve.option_names import follow_drop, follow_rename
from lakebed.evolve.schema_changes import DropColumn, RemoveOption, RenameColumn, SetOption, UpdateColumnType
from lakebed.physical import paimon_types as t

INT = t.Int()
NAMES = ("a", "b", "a.b", "ab")


@pytest.mark.parametrize(
    ("key", "value", "new_key", "new_value"),
    [
        ("bucket-key", "a,b", "bucket-key", "z,b"),
        ("sequence.field", "b, a", "sequence.field", "b, z"),
        ("clustering.columns", "a", "clustering.columns", "z"),
        ("rowkind.field", "a", "rowkind.field", "z"),
        ("record-level.time-field", "a", "record-level.time-field", "z"),
        ("vector-field", "b,a", "vector-field", "b,z"),
        ("blob-descriptor-field", "a", "blob-descriptor-field", "z"),
        ("pk-btree.index.columns", "a", "pk-btree.index.columns", "z"),
        ("file-index.bloom-filter.columns", "a,b,a[k]", "file-index.bloom-filter.columns", "z,b,z[k]"),
        ("file-index.bloom-filter.a.fpp", "0.1", "file-index.bloom-filter.z.fpp", "0.1"),
        ("fields.a.aggregate-function", "sum", "fields.z.aggregate-function", "sum"),
        ("fields.a.ignore-retract", "true", "fields.z.ignore-retract", "true"),
        ("fields.a.map.storage-layout", "x", "fields.z.map.storage-layout", "x"),
        ("fields.a,b.sequence-group", "a,ab", "fields.z,b.sequence-group", "z,ab"),
        ("fields.a.nested-key", "a,b", "fields.z.nested-key", "a,b"),
        ("field.a.vector-dim", "3", "field.z.vector-dim", "3"),
        ("upsert-key", "a", "upsert-key", "z"),
        ("primary-key", "b,a", "primary-key", "b,z"),
        (
            "changelog-producer.row-deduplicate-ignore-fields",
            "b,a",
            "changelog-producer.row-deduplicate-ignore-fields",
            "b,z",
        ),
        ("partial-update.remove-record-on-sequence-group", "a", "partial-update.remove-record-on-sequence-group", "z"),
        ("orc.bloom.filter.columns", "a,ab", "orc.bloom.filter.columns", "z,ab"),
        ("fields.a.nested-sequence-field", "a", "fields.z.nested-sequence-field", "a"),
        ("parquet.bloom.filter.enabled#a", "true", "parquet.bloom.filter.enabled#z", "true"),
        ("parquet.enable.dictionary#a.list.element", "true", "parquet.enable.dictionary#z.list.element", "true"),
        ("parquet.enable.dictionary#ab", "true", "parquet.enable.dictionary#ab", "true"),
        ("parquet.page.size", "a", "parquet.page.size", "a"),
        (
            "variant.shreddingSchema",
            '{"type":"ROW","fields":[{"name":"a","type":"INT"},{"name":"b","type":"INT"}]}',
            "variant.shreddingSchema",
            '{"type":"ROW","fields":[{"name":"z","type":"INT"},{"name":"b","type":"INT"}]}',
        ),
        ("variant.shreddingSchema", "{not JSON a", "variant.shreddingSchema", "{not JSON a"),
        ("bucket-key", "ab", "bucket-key", "ab"),
        ("fields.ab.aggregate-function", "sum", "fields.ab.aggregate-function", "sum"),
        ("fields.a.b.aggregate-function", "sum", "fields.a.b.aggregate-function", "sum"),
        ("fields.default-aggregate-function", "sum", "fields.default-aggregate-function", "sum"),
        ("snapshot.num-retained.max", "a", "snapshot.num-retained.max", "a"),
    ],
)
def test_options_follow_a_rename(key: str, value: str, new_key: str, new_value: str) -> None:
    assert follow_rename({key: value}, ("a",), "z", NAMES) == {new_key: new_value}


def test_a_nested_rename_touches_only_what_names_members() -> None:
    members = {"fields.r.nested-sequence-field": "x", "parquet.enable.dictionary#r.list.element.x": "true"}
    assert follow_rename(members, ("r", "element", "x"), "z", ("r", "x")) == {
        "fields.r.nested-sequence-field": "z",
        "parquet.enable.dictionary#r.list.element.z": "true",
    }
    options = {"fields.r.nested-key": "x,y", "bucket-key": "x", "fields.r.aggregate-function": "nested_update"}
    assert follow_rename(options, ("r", "element", "x"), "z", ("r", "x")) == {**options, "fields.r.nested-key": "z,y"}
    assert follow_rename(options, ("r", "x"), "z", ("r", "x")) == options


def test_a_swap_of_two_names_swaps_them_in_options() -> None:
    base = table(("a", INT), ("b", INT), ("c", INT), primary=("c",), options={"sequence.field": "a"})
    swap = RenameColumn(("a",), "t"), RenameColumn(("b",), "a"), RenameColumn(("t",), "b")
    assert run(base, *swap).options["sequence.field"] == "b"


def test_options_that_only_a_dropped_map_needs_go_with_it() -> None:
    field = t.DataField(3, "m", t.Map(t.STRING, INT))
    options = {"fields.m.map.storage-layout": "shared", "fields.m.aggregate-function": "x", "fields.n.map.x": "1"}
    assert follow_drop(options, field) == {"fields.m.aggregate-function": "x", "fields.n.map.x": "1"}


def stored_value(key: str) -> str:
    """A value that the option can have."""
    option = OPTIONS[key]
    return {OptionKind.BOOLEAN: "true", OptionKind.INT: "1"}.get(
        option.kind, option.words[0] if option.words else "old"
    )


@pytest.mark.parametrize("key", sorted(IMMUTABLE - {"type", "primary-key", "partition"}))
def test_immutable_options_change_only_before_the_first_snapshot(key: str) -> None:
    base = table(("a", INT), options={key: stored_value(key)})
    assert "LB4016" in refused(base, SetOption(key, "new"), data=True)
    assert "LB4016" in refused(base, RemoveOption(key), data=True)
    assert "LB4016" in refused(table(("a", INT)), SetOption(key, "new"), data=True)


@pytest.mark.parametrize(
    ("key", "stored", "mended"),
    [
        ("data-evolution.enabled", "no", "false"),
        ("merge-engine", " deduplicate", "deduplicate"),
        ("partition.legacy-name", "1", "true"),
        ("deletion-vectors.enabled", " true", "true"),
    ],
)
def test_a_text_that_is_no_value_can_be_put_right_beside_data(key: str, stored: str, mended: str) -> None:
    base = table(("a", INT), options={key: stored})
    assert run(base, SetOption(key, mended), data=True).options[key] == mended
    assert key not in run(base, RemoveOption(key), data=True).options


def test_an_equal_value_and_an_absent_option_are_never_refused() -> None:
    base = table(("a", INT), primary=("a",), options={"merge-engine": "deduplicate"})
    assert run(base, SetOption("merge-engine", "deduplicate"), data=True).options == base.options
    assert run(base, RemoveOption("force-lookup"), data=True).options == base.options
    assert run(base, SetOption("anything", "x"), data=True).options["anything"] == "x"


def test_the_type_and_the_path_never_change() -> None:
    base = table(("a", INT))
    assert refused(base, SetOption("type", "format-table")) == ["LB4017"]
    assert run(base, SetOption("type", "TABLE")).options["type"] == "TABLE"
    assert refused(table(("a", INT), options={"type": "table"}), RemoveOption("type")) == ["LB4017"]
    assert refused(base, RemoveOption("type")) == ["LB4017"]
    assert refused(base, SetOption("path", "x")) == ["LB4017"]


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [("2", "3", True), ("2", "-1", False), (None, "2", False), ("2", None, False), (None, "-1", True)],
)
def test_buckets_with_data(old: str | None, new: str | None, allowed: bool) -> None:
    base = table(("a", INT), primary=("a",), options={} if old is None else {"bucket": old})
    change = RemoveOption("bucket") if new is None else SetOption("bucket", new)
    assert run(base, change)
    if allowed:
        assert run(base, change, data=True)
    else:
        assert refused(base, change, data=True) == ["LB4018"]


def test_switches_that_go_one_way_with_data() -> None:
    base = table(("a", INT), primary=("a",), options={"ignore-delete": "true", "deletion-vectors.enabled": "true"})
    for key in ("ignore-delete", "deletion-vectors.enabled"):
        assert refused(base, SetOption(key, "false"), data=True) == ["LB4016"]
        assert refused(base, RemoveOption(key), data=True) == ["LB4016"]
    free = SetOption("deletion-vectors.modifiable", "true")
    assert run(base, free, SetOption("deletion-vectors.enabled", "false"), data=True)
    assert run(table(("a", INT), primary=("a",)), SetOption("ignore-delete", "true"), data=True)


@pytest.mark.parametrize(
    ("key", "default", "other"),
    [("partition.default-name", "__DEFAULT_PARTITION__", "none"), ("partition.legacy-name", "TRUE", "false")],
)
def test_directories_of_stored_partitions_keep_their_names(key: str, default: str, other: str) -> None:
    base = table(("a", INT), ("p", INT), partition=("p",))
    assert run(base, SetOption(key, other)).options[key] == other
    assert refused(base, SetOption(key, other), data=True) == ["LB4016"]
    assert run(base, SetOption(key, default), data=True).options[key] == default
    assert key not in run(base.with_options({key: default}), RemoveOption(key), data=True).options
    assert refused(base.with_options({key: other}), RemoveOption(key), data=True) == ["LB4016"]


def test_annotations_follow_changes_that_do_not_set_them() -> None:
    entries = {
        "0": {"name": "a", "extra": {"x.y/z": 1, "lakebed.dev/default": 7}},
        "1": {"name": "b", "type": {"kind": "UInt8"}, "extra": {"x.y/z": 2}},
        "3": {"name": "m", "extra": {"x.y/z": 3}},
        "9": {"name": "of another engine"},
    }
    text = json.dumps({"format": 1, "fields": entries, "extra": {"x.y/w": 1}})
    base = table(
        t.DataField(-1, "a", INT, None, "7"),
        ("b", t.SmallInt()),
        ("r", row(("m", INT), ("n", INT))),
        options={"lakebed.schema": text},
    )
    changes = RenameColumn(("a",), "aa"), UpdateColumnType(("b",), INT), DropColumn(("r", "m"))
    found = json.loads(run(base, *changes).options["lakebed.schema"])
    assert found["fields"] == {
        "0": {"name": "aa", "extra": {"x.y/z": 1, "lakebed.dev/default": 7}},
        "1": {"name": "b", "extra": {"x.y/z": 2}},
        "9": {"name": "of another engine"},
    }
    assert found["extra"] == {"x.y/w": 1}
    assert run(base, SetOption("x", "y")).options["lakebed.schema"] == text
    assert run(base, changes[0], SetOption("lakebed.schema", "{}")).options["lakebed.schema"] == "{}"


class TestOptionsOfAManifest:
    """Names that nobody knows are asked about, values that an option cannot have are refused; both at their place."""

    def plan(self, lake: Warehouse, options: str) -> TablePlan:
        (found,) = lake.plan(manifest("{name: a, type: Int32}", head=f"options: {{\n{options}}}")).tables
        return found

    @pytest.mark.parametrize("made", [False, True], ids=["new table", "table that is there"])
    def test_a_misspelt_name(self, made: bool) -> None:
        lake = Warehouse()
        if made:
            lake.apply(manifest("{name: a, type: Int32}"))
        (note,) = self.plan(lake, "acme.x: '1',\nfileformat: parquet").diagnostics
        assert (note.code, note.severity, note.suggestions) == ("LB4024", "warning", ("file.format",))
        assert note.position is not None
        assert (note.position.line, note.position.column) == (7, 3)

    @pytest.mark.parametrize("made", [False, True], ids=["new table", "table that is there"])
    def test_wrong_values(self, made: bool) -> None:
        lake = Warehouse()
        if made:
            lake.apply(manifest("{name: a, type: Int32}"))
        with pytest.raises(ValidationError) as caught:
            self.plan(lake, "file.compression: zztd,\nsnapshot.time-retained: soon")
        found = [(d.code, d.found, d.position and d.position.line) for d in caught.value.diagnostics]
        assert found == [("LB3332", "zztd", 6), ("LB3332", "soon", 7)]
        assert caught.value.diagnostics[0].suggestions == ("zstd",)
        assert all(d.expected for d in caught.value.diagnostics)

    def test_a_wrong_value_that_somebody_stored_stops_nothing_else(self) -> None:
        base = table(("a", t.Int()), options={"target-file-size": "large"})
        assert run(base, SetOption("x", "1")).options == {"target-file-size": "large", "x": "1"}
        with pytest.raises(ValidationError):
            run(base, SetOption("target-file-size", "larger"))

"""The rules for tables: the reference's answers, and each rule by name with its code, place and remedy."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog import PathFactory, TableManager
from lakebed.catalog.defaults import is_default_for
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.validate import ensure_valid, validate
from lakebed.codes import register
from lakebed.errors import LakebedError, ValidationError
from lakebed.physical import parse
from lakebed.physical.paimon_tree import highest_id, walk_fields
from lakebed.physical.paimon_types import (
    FIRST_SYSTEM_ID,
    Array,
    BigInt,
    Blob,
    DataField,
    Decimal,
    Int,
    Row,
    Time,
    Timestamp,
    VarChar,
    Variant,
)

_ROW = '{"type":"ROW","fields":[{"id":20,"name":"x","type":"INT"}]}'


def table(columns: str = "k INT, v STRING", *, pk: str = "", pt: str = "", **options: str) -> TableSchema:
    """A schema of `name TYPE` texts separated by `, `, with comma-separated keys and options."""
    fields = []
    for number, text in enumerate(columns.split(", ")):
        name, _, type_ = text.partition(" ")
        fields.append(DataField(number, name, parse(type_)))
    keys = tuple(pk.split(",")) if pk else ()
    parts = tuple(pt.split(",")) if pt else ()
    return TableSchema(0, tuple(fields), highest_id(fields), parts, keys, options)


def codes(schema: TableSchema, **parts) -> list[str]:
    found = validate(schema, **parts)
    for problem in found:
        assert problem.remedy
        assert problem.code in register()
    return [problem.code for problem in found]


def _vectors() -> list[dict]:
    path = Path(__file__).parents[2].parent / "shared" / "vectors" / "paimon" / "create.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@pytest.mark.parametrize("case", _vectors(), ids=lambda c: c["table"])
def test_the_references_answers(case, tmp_path):
    tables = TableManager(PathFactory(tmp_path))

    def create() -> None:
        tables.create_table(
            "d", case["table"], case["columns"], case["primaryKeys"], case["partitionKeys"], options=case["options"]
        )

    if case["result"] == "ok":
        create()
        assert tables.list_tables("d") == [case["table"]]
    else:
        with pytest.raises(LakebedError) as caught:
            create()
        assert all(d.remedy or d.expected for d in caught.value.diagnostics) or case["table"] == "a17"
        assert not list(tmp_path.iterdir())


def test_the_vectors_are_there(shared):
    assert len(_vectors()) == 40


def test_a_plain_table_is_valid():
    assert codes(table()) == []
    assert codes(table(pk="k", bucket="4")) == []
    assert ensure_valid(table()) == table()


VALID = [
    ("k INT, v STRING", {"pk": "k"}),
    ("k INT, v STRING", {"pk": "k", "bucket": "-2"}),
    ("k INT, v STRING", {"bucket": "2", "bucket-key": "k,v"}),
    ("k FLOAT, v BYTES", {"pk": "k,v"}),
    ("k INT, v STRING", {"pk": "k", "sequence.field": "v"}),
    ("k INT, v STRING", {"pk": "k", "fields.v.ignore-retract": "true"}),
    ("k INT, v STRING", {"pk": "k", "fields.default-aggregate-function": "max", "merge-engine": "aggregation"}),
    ("k INT, v STRING", {"pk": "k", "merge-engine": "first-row", "changelog-producer": "lookup"}),
    ("k INT, g INT, v INT", {"pk": "k", "merge-engine": "partial-update", "fields.g.sequence-group": "v"}),
    (
        "k INT, g INT, v INT",
        {
            "pk": "k",
            "merge-engine": "partial-update",
            "fields.g.sequence-group": "v",
            "fields.v.aggregate-function": "sum",
        },
    ),
    (
        "k INT, v INT",
        {"pk": "k", "merge-engine": "partial-update", "fields.v.aggregate-function": "last_non_null_value"},
    ),
    ("k INT, t TIMESTAMP(3)", {"record-level.time-field": "t"}),
    ("k INT, v STRING", {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}),
    ("k INT, v STRING", {"file-index.bloom-filter.columns": "k, v"}),
    ("k INT, v STRING", {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "5"}),
    ("k INT, v STRING", {"scan.mode": "from-snapshot", "scan.snapshot-id": "3"}),
    ("k INT, v STRING", {"scan.timestamp-millis": "1"}),
    ("k INT, v STRING", {"pk": "k", "sequence.snapshot-ordering": "true", "write-only": "true"}),
    ("k INT, t TIMESTAMP(6)", {"file.format": "avro"}),
    ("k INT, g GEOMETRY", {}),
    ("k INT, b BLOB", {"pk": "k"}),
    ("k INT, v STRING", {"unknown.option": "anything"}),
    ("k INT, r " + _ROW.replace(" ", ""), {"fields.r.ignore-retract": "true"}),
]


@pytest.mark.parametrize(("columns", "parts"), VALID)
def test_valid(columns, parts):
    assert codes(table(columns, **parts)) == []


INVALID = [
    ("LB3307", "k INT", {"pk": "kk"}),
    ("LB3309", "k INT, p STRING", {"pk": "p", "pt": "p"}),
    ("LB3309", "k INT", {"primary-key.nullable": "true"}),
    ("LB3312", "k INT, v VARIANT", {"pk": "v"}),
    ("LB3312", "k INT, g GEOGRAPHY", {"pt": "g"}),
    ("LB3313", "k INT", {"bucket": "-3"}),
    ("LB3313", "k INT", {"bucket": "-2"}),
    ("LB3313", "k INT", {"full-compaction.delta-commits": "3"}),
    ("LB3314", "k INT, p STRING", {"pk": "k,p", "pt": "p", "bucket": "2", "bucket-key": "p"}),
    ("LB3314", "k INT, a INT ARRAY", {"bucket": "2", "bucket-key": "a"}),
    ("LB3315", "_SEQUENCE_NUMBER INT", {}),
    ("LB3315", "_VALUE_KIND INT", {}),
    ("LB3316", "k INT", {"fields.zz.ignore-retract": "true"}),
    ("LB3316", "k INT", {"fieldsx": "true"}),
    ("LB3316", "k INT, r " + _ROW, {"fields.r.x.aggregate-function": "sum"}),
    ("LB3317", "k INT, v INT", {"pk": "k", "sequence.field": "v", "merge-engine": "first-row"}),
    ("LB3317", "k INT, p INT, v INT", {"pk": "k", "pt": "p", "sequence.field": "v"}),
    ("LB3317", "k INT, v INT", {"pk": "k", "sequence.field": "v", "fields.v.aggregate-function": "sum"}),
    ("LB3318", "k INT", {"merge-engine": "dedup"}),
    ("LB3319", "k INT", {"merge-engine": "aggregation", "fields.default-aggregate-function": "avg"}),
    ("LB3320", "k INT, v INT", {"pk": "k", "merge-engine": "partial-update", "fields.v.aggregate-function": "sum"}),
    ("LB3321", "k INT", {"changelog-producer": "input"}),
    ("LB3321", "k INT", {"pk": "k", "changelog-producer": "output"}),
    ("LB3321", "k INT", {"pk": "k", "changelog-producer": "lookup", "full-compaction.delta-commits": "2"}),
    ("LB3321", "k INT", {"pk": "k", "changelog-producer": "full-compaction", "streaming-read-overwrite": "true"}),
    ("LB3322", "k INT", {"rowkind.field": "zz"}),
    ("LB3322", "k INT", {"record-level.time-field": "zz"}),
    ("LB3322", "k INT", {"vector-field": "k"}),
    ("LB3322", "k INT", {"file-index.bitmap.columns": "zz"}),
    ("LB3322", "k INT, a INT ARRAY", {"file-index.bitmap.columns": "a"}),
    ("LB3322", "k INT, s STRING", {"file-index.bsi.columns": "s"}),
    ("LB3322", "k INT, s STRING", {"file-index.bitmap.columns": "s[x]"}),
    ("LB3323", "k INT", {"pk": "k", "merge-engine": "first-row", "deletion-vectors.enabled": "true"}),
    (
        "LB3323",
        "k INT",
        {"pk": "k", "changelog-producer": "full-compaction", "deletion-vectors.enabled": "true"},
    ),
    ("LB3324", "k INT", {"pk": "k", "row-tracking.enabled": "true"}),
    ("LB3324", "k INT", {"data-evolution.enabled": "true"}),
    ("LB3325", "k INT", {"snapshot.num-retained.min": "0"}),
    ("LB3325", "k INT", {"snapshot.num-retained.max": "9"}),
    ("LB3325", "k INT", {"target-file-row-num": "0"}),
    ("LB3326", "k INT", {"scan.mode": "from-snapshot"}),
    ("LB3326", "k INT", {"scan.mode": "latest", "scan.snapshot-id": "3"}),
    ("LB3326", "k INT", {"scan.mode": "yesterday"}),
    ("LB3326", "k INT", {"scan.snapshot-id": "3", "scan.tag-name": "v1"}),
    ("LB3327", "k INT", {"scan.fallback-branch": "a", "scan.primary-branch": "b"}),
    ("LB3328", "k INT", {"pk": "k", "sequence.snapshot-ordering": "true"}),
    ("LB3329", "k INT", {"file.format": "parqet"}),
    ("LB3329", "k INT", {"file.format.per.level": "0:avro,5:xlsx"}),
    ("LB3329", "k INT", {"changelog-file.format": "xlsx"}),
    ("LB3329", "k INT", {"manifest.format": "parqet"}),
    ("LB3330", "k INT, t TIMESTAMP(9)", {"file.format.per.level": "0:avro"}),
    ("LB3330", "k INT, t TIME(6)", {"file.format": "avro"}),
    ("LB3331", "b BLOB", {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}),
    ("LB3331", "k INT, b BLOB", {"pk": "k", "merge-engine": "aggregation"}),
    ("LB3332", "k INT", {"bucket": "many"}),
    ("LB3332", "k INT", {"row-tracking.enabled": "yes"}),
    ("LB3332", "k INT", {"fields.k.ignore-retract": "hm"}),
    ("LB3332", "k INT", {"manifest.merge-min-count": "-5"}),
]


@pytest.mark.parametrize(("code", "columns", "parts"), INVALID)
def test_invalid(code, columns, parts):
    assert code in codes(table(columns, **parts))


def test_the_remedy_for_a_name_in_an_option_says_what_became_of_the_column():
    """`file-index.<kind>.columns` stands for every option that names columns."""
    options = {"file-index.bitmap.columns": "a"}
    base = table("k INT, a INT", **options)
    renamed = replace(base, fields=(base.fields[0], replace(base.fields[1], name="b")))
    dropped = replace(base, fields=base.fields[:1])
    told = [d.remedy for target in (renamed, dropped) for d in validate(target, base=base)]
    assert told == ["Write b: so the column is called now.", "Take a out of the option: the column is dropped."]
    assert [d.remedy for d in validate(dropped)] == ["Name a column, or take the name out of the option."]


def test_a_default_is_called_one():
    (told,) = validate(table("k INT", **{"snapshot.num-retained.max": "9"}))
    assert "(10, its default)" in told.message
    (told,) = validate(table("k INT", **{"snapshot.num-retained.max": "9", "snapshot.num-retained.min": "10"}))
    assert "(10)" in told.message


def test_only_one_thing_is_wrong_where_one_is():
    single = [c for c in INVALID if c[0] in ("LB3307", "LB3312", "LB3314", "LB3316", "LB3318", "LB3329", "LB3330")]
    assert all(codes(table(columns, **parts)) == [code] for code, columns, parts in single)


def test_structure():
    schema = table()
    fields = schema.fields
    assert codes(replace(schema, fields=())) == ["LB3301"]
    assert codes(replace(schema, fields=(*fields, DataField(2, "k", Int())), highest_field_id=2)) == ["LB3302"]
    assert codes(replace(schema, fields=(*fields, DataField(2, " ", Int())), highest_field_id=2)) == ["LB3303"]
    assert codes(replace(schema, fields=(*fields, DataField(1, "w", Int())))) == ["LB3304"]
    assert codes(replace(schema, fields=(*fields, DataField(9, "w", Int())))) == ["LB3304"]
    assert codes(replace(schema, fields=(*fields, DataField(-1, "w", Int())))) == ["LB3304"]
    assert codes(replace(schema, fields=(*fields, DataField(2, "w", Decimal(50, 2))), highest_field_id=2)) == ["LB3305"]
    assert codes(replace(schema, fields=(*fields, DataField(2, "w", VarChar(0))), highest_field_id=2)) == ["LB3305"]
    nested = Row((DataField(3, "a", Int()), DataField(4, "a", Int()), DataField(5, "", Int())))
    twice = replace(schema, fields=(*fields, DataField(2, "r", nested)), highest_field_id=5)
    assert codes(twice) == ["LB3302", "LB3303"]
    assert next(d.path for d in validate(twice)) == "r.a"


def test_names_that_differ_only_in_case_are_allowed_and_suggested_right():
    assert codes(table("k INT, K STRING")) == []
    (problem,) = validate(table("Key INT, v STRING", pk="key"))
    assert problem.suggestions == ("Key",)


def test_nested_reserved_names_are_not_checked():
    assert codes(table("r " + _ROW.replace('"x"', '"_ROW_ID"'))) == []


def test_defaults_are_checked_at_every_level():
    bad = DataField(2, "d", Int(), default_value="abc")
    assert codes(replace(table(), fields=(*table().fields, bad), highest_field_id=2)) == ["LB3310"]
    nested = DataField(2, "r", Row((replace(bad, id=3),)))
    assert codes(replace(table(), fields=(*table().fields, nested), highest_field_id=3)) == ["LB3310"]


def test_branches_are_looked_up_where_that_is_possible():
    schema = table(**{"scan.fallback-branch": "b"})
    assert codes(schema) == []
    assert codes(schema, branch_exists=lambda name: name == "b") == []
    assert codes(schema, branch_exists=lambda name: False) == ["LB3327"]


def test_rules_of_the_catalog_are_for_new_tables():
    schema = table(path="/elsewhere", **{"auto-create": "true"})
    assert codes(schema) == ["LB3311", "LB3311"]
    assert codes(schema, base=table()) == []


def test_tables_of_the_first_version_may_go_on():
    legacy = table(bucket="1")
    assert codes(legacy) == ["LB3313"]
    assert codes(legacy, base=legacy) == []
    assert codes(table(bucket="2"), base=legacy) == ["LB3313"]
    assert codes(legacy, base=table()) == ["LB3313"]


def test_all_problems_are_reported_at_once():
    with pytest.raises(ValidationError) as caught:
        ensure_valid(table("_ROW_ID INT, v INT ARRAY", pk="v,zz", **{"file.format": "nope", "merge-engine": "nope"}))
    assert len(caught.value.diagnostics) == 5


def test_types_of_the_future_stay():
    schema = table()
    from lakebed.physical.paimon_types import Unknown

    future = replace(schema, fields=(*schema.fields, DataField(2, "u", Unknown("HYPERLOG(3)"))), highest_field_id=2)
    assert codes(future, base=schema) == []


def test_wide_ids_are_refused():
    schema = table()
    assert codes(replace(schema, fields=(*schema.fields, DataField(1 << 30, "w", BigInt())))) == ["LB3304"]


def test_a_bad_default_that_is_there_already_is_no_obstacle():
    bad = replace(table(), fields=(*table().fields, DataField(2, "d", Int(), default_value="abc")), highest_field_id=2)
    assert codes(bad) == ["LB3310"]
    assert codes(replace(bad, comment="c"), base=bad) == []
    retyped = replace(bad, fields=(*table().fields, DataField(2, "d", BigInt(), default_value="abc")))
    assert codes(retyped, base=bad) == ["LB3310"]


_COLUMN = st.builds(
    DataField,
    st.sampled_from([-1, 0, 1, 2, 2**31]),
    st.sampled_from(["a", "b", " ", "rowkind"]),
    st.sampled_from([Int(), BigInt(nullable=False), Timestamp(9), Time(6), Variant(), Blob(), Array(Blob())])
    | st.builds(
        Row,
        st.lists(
            st.builds(
                DataField,
                st.integers(0, 3),
                st.sampled_from("ab"),
                st.just(Int()),
                st.none(),
                st.sampled_from([None, "1", "x"]),
            ),
            max_size=3,
        ).map(tuple),
    ),
    st.none(),
    st.sampled_from([None, "1", "x"]),
)


@given(
    st.lists(_COLUMN, max_size=5).map(tuple),
    st.lists(_COLUMN, max_size=5).map(tuple),
    st.sampled_from(["parquet", "orc", "avro"]),
)
def test_what_is_told_of_wide_tables_soon_is_what_a_look_at_each_column_tells(fields, before, file_format):
    options = {"file.format": file_format}
    base, schema = (TableSchema(i, f, highest_id(f), options=options) for i, f in enumerate((before, fields)))
    every = list(walk_fields(fields))
    ids = Counter(f.id for f in every)
    known = {f.id: (f.default_value, f.type) for f in walk_fields(before)}
    told = Counter(problem.code for problem in validate(schema, base=base))
    assert told["LB3304"] == sum(count > 1 or not 0 <= id_ < FIRST_SYSTEM_ID for id_, count in ids.items())
    assert told["LB3310"] == sum(
        f.default_value is not None
        and known.get(f.id) != (f.default_value, f.type)
        and not is_default_for(f.default_value, f.type)
        for f in every
    )
    assert told["LB3302"] == sum(
        count > 1
        for siblings in (fields, *(f.type.fields for f in fields if isinstance(f.type, Row)))
        for count in Counter(f.name for f in siblings).values()
    )
    unfit = {"parquet": (), "orc": (Variant,), "avro": (Timestamp, Time)}[file_format]
    assert told["LB3330"] == sum(isinstance(f.type, unfit) for f in fields)

"""What statistics, keys and buckets leave open: never less than what the rows that are read give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.building import table_schema
from format.laid_out import LaidOut
from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.bucket_hash import bucket_of_row
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import (
    ColumnStatistics,
    DataFileMeta,
    Kind,
    ManifestEntry,
    SimpleStats,
    read_list,
    read_manifest,
    write_list,
)
from lakebed.format.statistics import truncate_maximum
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField, DataType, with_nullability
from lakebed.read.bucket_evidence import against_bucket, wanted_buckets
from lakebed.read.needed_files import Manifests, ReadState, Stage, needed_files
from lakebed.read.predicate import (
    And,
    Compare,
    Evidence,
    IsIn,
    IsNull,
    Leaf,
    Operator,
    Predicate,
    StartsWith,
    Truths,
)
from lakebed.read.statistics_evidence import file_evidence, key_evidence
from lakebed.testing.memory_store import MemoryStore
from read.leaf_truth import truths

STEP = 1_000
Law = tuple[str, str, st.SearchStrategy[Any], Callable[[Any], Any]]


def _floor(nanos: int) -> int:
    return nanos // STEP * STEP


def _wrapped(bits: int) -> Callable[[int], int]:
    return lambda value: (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.1"), ROUND_HALF_UP)


def _same(value: Any) -> Any:
    return value


TEXTS = st.text("ab\U0010ffff\ud7ff", max_size=5)
NANOS = st.integers(-3_500, 3_500) | st.integers(-3, 3).map(lambda n: n * 1_000_000)
#: What a column was, what it is, what files hold, and what a read makes of it.
LAWS: tuple[Law, ...] = (
    ("STRING", "STRING", TEXTS, _same),
    ("VARCHAR(5)", "STRING", TEXTS, _same),
    ("VARCHAR(5)", "VARCHAR(1)", TEXTS, lambda text: text[:1]),
    ("INT", "BIGINT", st.integers(-400, 400), _same),
    ("INT", "TINYINT", st.integers(-400, 400), _wrapped(8)),
    ("INT", "STRING", st.integers(-40, 40), str),
    ("DECIMAL(5, 2)", "DECIMAL(20, 4)", st.integers(-99, 99).map(lambda n: Decimal(n).scaleb(-2)), _same),
    ("DECIMAL(5, 2)", "DECIMAL(4, 1)", st.integers(-99, 99).map(lambda n: Decimal(n).scaleb(-2)), _rounded),
    ("TIMESTAMP(9)", "TIMESTAMP(9)", NANOS, _floor),
    ("TIMESTAMP(3)", "TIMESTAMP(3)", NANOS, _floor),
    ("TIMESTAMP(3)", "TIMESTAMP(9)", NANOS, _floor),
    ("TIMESTAMP(6)", "TIMESTAMP(0)", NANOS, lambda nanos: nanos // 10**9 * 10**9),
    ("DATE", "DATE", st.integers(-2, 2), _same),
    ("DOUBLE", "DOUBLE", st.sampled_from([-0.0, 0.0, 1.5, -2.0, float("nan"), float("inf")]), _same),
    ("FLOAT", "DOUBLE", st.sampled_from([-0.0, 0.0, 1.5, float("nan")]), _same),
    ("BOOLEAN", "BOOLEAN", st.booleans(), _same),
)


def _said(draw: st.DrawFn, type_: DataType, values: Sequence[Any]) -> ColumnStatistics:
    """What a writer may say of values; texts may be cut short, and NaN left out."""
    known = [v for v in values if v is not None and v == v]
    nulls = draw(st.sampled_from([None, values.count(None)]))
    if not known or draw(st.integers(0, 4)) == 0:
        return ColumnStatistics(None, None, nulls)
    low, high = min(known), max(known)
    if isinstance(low, str):
        length = draw(st.integers(1, 5))
        low, high = low[:length], truncate_maximum(high, length)
        return ColumnStatistics(None, None, nulls) if high is None else ColumnStatistics(low, high, nulls)
    if type_.root == "TIMESTAMP" and type_.precision <= 3:  # type: ignore[union-attr]
        # Writers cut what the type has no place for: downwards, or towards zero.
        low, high = (draw(st.sampled_from([v // 10**6, int(v / 10**6)])) * 10**6 for v in (low, high))
    return ColumnStatistics(low, high, nulls)


def _leaves(column: DataField, value: st.SearchStrategy[Any]) -> st.SearchStrategy[Leaf]:
    plain = st.builds(Compare, st.just(column), st.sampled_from(Operator), value)
    others = [plain, st.builds(IsIn, st.just(column), st.lists(value, min_size=1, max_size=3).map(tuple))]
    if column.type.root in ("VARCHAR", "STRING"):
        others.append(st.builds(StartsWith, st.just(column), value))
    return st.one_of(*others, st.just(IsNull(column)))


def _file(written: TableSchema, stats: SimpleStats, rows: int, name: str = "f.parquet", **more: Any) -> DataFile:
    meta = DataFileMeta(file_name=name, file_size=1, row_count=rows, schema_id=written.id, value_stats=stats, **more)
    return DataFile(f"/t/{name}", 1, (), 0, -1, meta)


def _of(type_: str, *, id: int = 1, name: str = "c") -> DataField:
    return DataField(id, name, with_nullability(parse(type_), True))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law[0]} as {law[1]}")
@given(data=st.data())
def test_what_is_read_is_among_what_is_left_open(law: Law, data: st.DataObject):
    old, new, stored, read = law
    column = _of(new, name="renamed")
    written = TableSchema(0, (_of("INT", id=0, name="other"), _of(old)), 2)
    values = data.draw(st.lists(stored | st.none(), max_size=4))
    said = _said(data.draw, written.fields[1].type, values)
    if data.draw(st.booleans()):
        dense = SimpleStats.of([written.fields[1].type], [said])
        file = _file(written, dense, len(values), value_stats_cols=("c",))
    else:
        full = SimpleStats.of([f.type for f in written.fields], [ColumnStatistics(), said])
        file = _file(written, full, len(values))
    as_read = [None if v is None else read(v) for v in values]
    leaf = data.draw(_leaves(column, stored.map(read)))
    found = file_evidence(file, written, written.fields)(leaf)
    assert truths(leaf, as_read) in found


def _evidence(type_: str, low: Any, high: Any, nulls: int | None = 0, *, name: str = "f.parquet") -> Evidence:
    written = TableSchema(0, (_of(type_),), 2)
    stats = SimpleStats.of([written.fields[0].type], [ColumnStatistics(low, high, nulls)])
    return file_evidence(_file(written, stats, 3, name), written, written.fields)


def _compared(type_: str, operator: str, value: Any) -> Compare:
    return Compare(_of(type_), Operator(operator), value)


@pytest.mark.parametrize(
    ("type_", "low", "high", "as_read", "operator", "value"),
    [
        ("INT", 1, 9, "INT", ">", 9),
        ("INT", 1, 9, "BIGINT", "=", 99_999_999_999),
        ("DECIMAL(5, 2)", Decimal("0.10"), Decimal("0.90"), "DECIMAL(9, 3)", "<", Decimal("0.1")),
        ("VARCHAR(9)", "ab", "b", "STRING", "=", "c"),
        ("DOUBLE", 1.0, 2.0, "DOUBLE", "<", 1.0),
        ("TIMESTAMP(9)", 5_000, 7_999, "TIMESTAMP(9)", ">", 7_000),
        ("DATE", 10, 20, "DATE", "<=", 9),
    ],
)
def test_statistics_do_rule_out(type_: str, low: Any, high: Any, as_read: str, operator: str, value: Any):
    found = _evidence(type_, low, high)(_compared(as_read, operator, value))
    assert found == Truths.FALSE


@pytest.mark.parametrize(
    ("type_", "value", "name"),
    [
        ("CHAR(5)", "b", "f.orc"),
        ("VARCHAR(5)", "b", "f.orc"),
        ("TIMESTAMP(6)", 9_000_000, "f.orc"),
        ("DATE", 9, "f.orc"),
        ("DOUBLE", 5.0, "f.parquet"),
    ],
)
def test_what_may_be_read_otherwise_is_left_open(type_: str, value: Any, name: str):
    """ORC pads, cuts and moves; and of floats there may be a NaN above the greatest value."""
    low, high = {"CHAR(5)": ("a", "a"), "VARCHAR(5)": ("a", "a"), "DATE": (-150_000, 2)}.get(type_, (0, 0))
    least = float(low) if type_ == "DOUBLE" else low
    found = _evidence(type_, least, least if type_ == "DOUBLE" else high, name=name)(_compared(type_, ">", value))
    assert Truths.TRUE in found


def test_a_column_that_a_file_does_not_hold_is_null_in_all_rows():
    written = TableSchema(0, (_of("INT", id=0, name="other"),), 2)
    evidence = file_evidence(_file(written, SimpleStats(), 3, value_stats_cols=()), written, written.fields)
    assert evidence(_compared("INT", "=", 1)) == Truths.NULL
    assert evidence(IsNull(_of("INT"))) == Truths.TRUE


def test_statistics_that_do_not_fit_say_nothing():
    written = TableSchema(0, (_of("INT"),), 2)
    stats = SimpleStats.of([parse("INT"), parse("INT")], [ColumnStatistics(1, 1, 0), ColumnStatistics(1, 1, 0)])
    assert file_evidence(_file(written, stats, 3), written, written.fields)(_compared("INT", "=", 7)) == Truths.ANY


# --- keys -------------------------------------------------------------------------------------------------------------

KEY = (_of("STRING", id=0, name="s"), _of("INT", id=1, name="n"), _of("DOUBLE", id=2, name="d"))
KEYED = TableSchema(0, KEY, 3, (), ("s", "n", "d"), {"bucket": "3"})


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.sampled_from([-0.0, 0.0, 1.0])), min_size=1),
    st.data(),
)
def test_first_and_last_keys_leave_open_what_rows_give(keys: list[tuple[str, int, float]], data: st.DataObject):
    types = [f.type for f in KEY]
    ends = {"min_key": binary_row.encode(types, min(keys)), "max_key": binary_row.encode(types, max(keys))}
    file = _file(KEYED, SimpleStats(), len(keys), **ends)
    place = data.draw(st.integers(0, 2))
    leaf = data.draw(_leaves(KEY[place], st.sampled_from([k[place] for k in keys]) | st.just(("a", 1, 0.5)[place])))
    assert truths(leaf, [k[place] for k in keys]) in key_evidence(file, KEYED)(leaf)


def test_a_key_range_rules_out_unless_orc_reads_other_values():
    schema = TableSchema(0, (_of("TIMESTAMP(6)"),), 2, (), ("c",), {"bucket": "3"})
    ends = {k: binary_row.encode([schema.fields[0].type], [-500_000_000]) for k in ("min_key", "max_key")}
    # ORC has no place for the second before 1970.
    leaf = _compared("TIMESTAMP(6)", "=", 500_000_000)
    found = {n: key_evidence(_file(schema, SimpleStats(), 1, n, **ends), schema)(leaf) for n in ("f.parquet", "f.orc")}
    assert found == {"f.parquet": Truths.FALSE, "f.orc": Truths.ANY}


def test_a_key_may_be_nan_above_all():
    schema = TableSchema(0, (_of("DOUBLE"),), 2, (), ("c",), {"bucket": "3"})
    low, high = (binary_row.encode([schema.fields[0].type], [value]) for value in (0.0, float("nan")))
    file = _file(schema, SimpleStats(), 2, min_key=low, max_key=high)
    assert key_evidence(file, schema)(_compared("DOUBLE", ">", 5.0)) == Truths.ANY


# --- files that belong together ---------------------------------------------------------------------------------------

TWO = (_of("INT", id=0, name="k"), _of("INT", id=1, name="a"), _of("INT", id=2, name="b"))


def _planned(schema: TableSchema, metas: Sequence[DataFileMeta], predicate: Predicate) -> list[str]:
    """The names of the files that a plan keeps."""
    store = MemoryStore()
    table = LaidOut(store, "/t", schema)
    for meta in metas:
        table.entries.append(ManifestEntry(Kind.ADD, binary_row.EMPTY_ROW, 0, 1, meta))
    plan = needed_files(ReadState(store, "/t", table.commit(), schema, lambda _: schema), predicate)
    return sorted(file.meta.file_name.removesuffix(".parquet") for file in plan.files)


def _part(name: str, bounds: dict[str, tuple[int, int]], **more: Any) -> DataFileMeta:
    types = [parse("INT") for _ in bounds]
    stats = SimpleStats.of(types, [ColumnStatistics(low, high, 0) for low, high in bounds.values()])
    return DataFileMeta(
        file_name=f"{name}.parquet",
        file_size=1,
        row_count=4,
        schema_id=0,
        value_stats=stats,
        value_stats_cols=tuple(bounds),
        **more,
    )


@pytest.mark.parametrize(
    ("engine", "kept"),
    [
        ("deduplicate", {"a < 5": "old new", "a > 99": "", "k > 7": "", "k > 3": "new"}),
        ("partial-update", {"a < 5": "old new", "a > 99": "old new", "k > 7": "", "k > 3": "new"}),
        ("aggregation", {"a < 5": "old new", "a > 99": "old new", "k > 7": "", "k > 3": "new"}),
    ],
)
def test_files_to_be_merged_are_left_out_together_but_by_the_key(engine: str, kept: dict[str, str]):
    schema = TableSchema(0, TWO, 9, (), ("k",), {"bucket": "1", "merge-engine": engine})
    ends = [(0, 3, 1, 2), (0, 7, 10, 20)]
    metas = [
        _part(
            name,
            {"a": (low, high)},
            min_key=binary_row.encode([parse("INT")], [first]),
            max_key=binary_row.encode([parse("INT")], [last]),
            delete_row_count=0,
        )
        for name, (first, last, low, high) in zip(("old", "new"), ends, strict=True)
    ]
    for text, names in kept.items():
        column, operator, value = text.split()
        asked = Compare(TWO["kab".index(column)], Operator(operator), int(value))
        assert _planned(schema, metas, asked) == sorted(names.split()), text


def test_parts_of_rows_answer_together():
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    schema = TableSchema(0, TWO, 9, options=options)
    metas = [
        _part("1", {"a": (1, 2)}, write_cols=("a",), first_row_id=0, max_sequence_number=1),
        _part("2", {"b": (5, 6)}, write_cols=("b",), first_row_id=0, max_sequence_number=2),
    ]
    one, five = Compare(TWO[1], Operator.EQUAL, 1), Compare(TWO[2], Operator.EQUAL, 5)
    assert _planned(schema, metas, And((one, five))) == ["1", "2"]
    assert _planned(schema, metas, And((one, Compare(TWO[2], Operator.EQUAL, 7)))) == []
    assert _planned(schema, metas, IsNull(TWO[0])) == ["1", "2"]
    assert _planned(schema, metas, Compare(TWO[0], Operator.EQUAL, 1)) == []


# --- buckets ----------------------------------------------------------------------------------------------------------

HASHED = tuple(
    _of(text, id=i, name=f"c{i}")
    for i, text in enumerate(("STRING", "BIGINT", "DECIMAL(10, 2)", "DATE", "TIMESTAMP(3)", "DECIMAL(30, 5)"))
)
CELLS: tuple[st.SearchStrategy[Any], ...] = (
    st.text("ab", max_size=9),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-999, 999).map(lambda n: Decimal(n).scaleb(-2)),
    st.integers(-100, 100),
    st.integers(-100, 100).map(lambda n: n * 1_000_000),
    st.integers(-(10**20), 10**20).map(lambda n: Decimal(n).scaleb(-5)),
)


#: Function -> the columns that may be a key by it, and how many at most.
TAKEN: dict[str, tuple[list[int], int]] = {
    "default": ([0, 1, 2, 3, 4, 5], 3),
    "mod": ([1], 1),
    "hive": ([0, 1, 2, 3, 5], 3),
}


@pytest.mark.parametrize("function", sorted(TAKEN))
@given(data=st.data())
def test_a_row_is_in_a_wanted_bucket(function: str, data: st.DataObject):
    taken, most = TAKEN[function]
    places = data.draw(st.lists(st.sampled_from(taken), min_size=1, max_size=most, unique=True))
    options = {"bucket-key": ",".join(HASHED[i].name for i in places), "bucket-function.type": function}
    schema = TableSchema(0, HASHED, 9, options=options)
    row = [data.draw(CELLS[i]) for i in places]
    more = [data.draw(st.lists(CELLS[i], max_size=2)) for i in places]
    parts: list[Predicate] = []
    for i, value, others in zip(places, row, more, strict=True):
        parts.append(IsIn(HASHED[i], (*others, value)) if others else Compare(HASHED[i], Operator.EQUAL, value))
    wanted = wanted_buckets(And(tuple(parts)), schema, [schema])
    assert wanted is not None
    assert bucket_of_row([HASHED[i].type for i in places], row, 7, function) in wanted(7)
    assert len(wanted(1_000)) <= max(1, len(more[0]) + 1) * 9


@pytest.mark.parametrize(
    ("type_", "value", "options"),
    [
        ("DOUBLE", 0.0, {}),
        ("BIGINT", Decimal("1.5"), {}),
        ("BIGINT", 2**70, {}),
        ("CHAR(3)", "a", {}),
        ("TIMESTAMP(9)", 1_000, {}),
        ("BIGINT", 2**70, {"bucket-function.type": "mod"}),
        ("SMALLINT", 1, {"bucket-function.type": "mod"}),
        ("TIMESTAMP(3)", 1_000_000, {"bucket-function.type": "hive"}),
        ("BIGINT", 1, {"bucket-function.type": "another"}),
    ],
)
def test_no_bucket_is_left_out_where_it_is_not_certain(type_: str, value: Any, options: dict[str, str]):
    schema = TableSchema(0, (_of(type_),), 9, options={"bucket-key": "c", **options})
    assert wanted_buckets(_compared(type_, "=", value), schema, [schema]) is None


def test_buckets_under_another_key_or_type_or_of_too_many_keys():
    schema = TableSchema(0, (_of("BIGINT"), _of("INT", id=2, name="d")), 9, options={"bucket-key": "c"})
    asked = _compared("BIGINT", "=", 1)
    assert wanted_buckets(asked, schema, [schema]) is not None
    changed = replace(schema, fields=(_of("INT"), schema.fields[1]))
    assert wanted_buckets(asked, schema, [schema, changed]) is None
    assert wanted_buckets(asked, schema, [schema, schema.with_options({"bucket-key": "d"})]) is None
    by_mod = schema.with_options({"bucket-key": "c", "bucket-function.type": "MOD"})
    assert wanted_buckets(asked, by_mod, [schema, by_mod]) is None
    found = wanted_buckets(asked, by_mod, [by_mod])
    assert found is not None
    assert found(4) == {1}
    assert wanted_buckets(IsIn(schema.fields[0], tuple(range(1_001))), schema, [schema]) is None


@pytest.mark.parametrize(("bucket", "total"), [(-2, -2), (0, -1), (3, -1)])
def test_files_without_fixed_buckets_are_kept(bucket: int, total: int):
    file = replace(_file(KEYED, SimpleStats(), 1), bucket=bucket, total_buckets=total)
    assert against_bucket(file, lambda _: frozenset({9})) is None


# --- manifests --------------------------------------------------------------------------------------------------------


def _laid_out(partition_keys: tuple[str, ...]) -> LaidOut:
    table = LaidOut(MemoryStore(), "/t", table_schema([("p", "INT"), ("v", "INT")], partition_keys=partition_keys))
    for n in range(3):
        table.add(f"f{n}.parquet", b"x", 1, (n,) if partition_keys else (), delete_row_count=0)
        table.commit()
    return table


@pytest.mark.parametrize("keys", [(), ("p",)])
def test_manifests_of_other_partitions_are_not_read(keys: tuple[str, ...]):
    table = _laid_out(keys)
    snapshot = table.commit()
    asked = Compare(table.schema.fields[0], Operator.EQUAL, 5)
    plan = needed_files(ReadState(table.store, "/t", snapshot, table.schema, lambda _: table.schema), asked)
    assert plan.manifests == Manifests(1, 1 if keys else 0)
    assert len(plan.files) == (0 if keys else 3)
    listed = needed_files(
        ReadState(table.store, "/t", snapshot, table.schema, lambda _: table.schema), asked, list_partitions=True
    )
    assert [d.stage for d in listed.dropped] == [Stage.PARTITION] * (3 if keys else 0)


def test_manifests_whose_partitions_are_not_told_are_read():
    table = _laid_out(("p",))
    snapshot = table.commit()
    metas = [
        replace(m, partition_stats=SimpleStats()) for m in read_list(table.store, "/t", snapshot.base_manifest_list)
    ]
    bare = write_list(metas)
    table.store.create_if_absent("/t/manifest/bare", bare)
    snapshot = replace(snapshot, base_manifest_list="bare", base_manifest_list_size=len(bare))
    asked = Compare(table.schema.fields[0], Operator.EQUAL, 1)
    plan = needed_files(ReadState(table.store, "/t", snapshot, table.schema, lambda _: table.schema), asked)
    assert [f.partition for f in plan.files] == [(1,)]
    assert sum(len(read_manifest(table.store, "/t", m)) for m in metas) == 3

from __future__ import annotations

import io
import math
import struct
from datetime import date, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.building import fields, parquet_bytes, table_schema
from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format.manifest import ColumnStatistics, DataFileMeta, SimpleStats
from lakebed.format.parquet_footer import read_footer
from lakebed.format.statistics import (
    FileStatistics,
    file_statistics,
    parquet_statistics,
    statistics_of_column,
    truncate_maximum,
)
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.testing.memory_store import MemoryStore

Stats = ColumnStatistics


def _statistics(
    data: pa.Table, types: dict[str, Any], options: dict[str, str] | None = None, **kw: Any
) -> FileStatistics:
    store = MemoryStore({"/f.parquet": parquet_bytes(data, **kw)})
    found = [DataField(i, name, parse(t)) for i, (name, t) in enumerate(types.items())]
    return parquet_statistics(store, "/f.parquet", found, options)


def _one(values: list[Any], arrow: pa.DataType, type_: Any, options: dict[str, str] | None = None, **kw: Any) -> Stats:
    return _statistics(pa.table({"c": pa.array(values, arrow)}), {"c": type_}, options, **kw).columns[0]


@pytest.mark.parametrize("kw", [{}, {"row_group_size": 1}, {"row_group_size": 2}])
@pytest.mark.parametrize(
    ("values", "arrow", "type_", "expected"),
    [
        ([True, None, False], pa.bool_(), "BOOLEAN", Stats(False, True, 1)),
        ([1, -2, None], pa.int8(), "TINYINT", Stats(-2, 1, 1)),
        ([1, -300, None], pa.int16(), "SMALLINT", Stats(-300, 1, 1)),
        ([3, None, 1], pa.int32(), "INT", Stats(1, 3, 1)),
        ([2**40, -1], pa.int64(), "BIGINT", Stats(-1, 2**40, 0)),
        ([date(1970, 1, 3), None], pa.date32(), "DATE", Stats(2, 2, 1)),
        ([time(0, 0, 1), time(0, 0, 2)], pa.time32("ms"), "TIME(3)", Stats(1000, 2000, 0)),
        ([1, 2], pa.int32(), "TIME(3)", Stats(1, 2, 0)),
        ([1, -1], pa.timestamp("ms"), "TIMESTAMP(3)", Stats(-1_000_000, 1_000_000, 0)),
        ([1, -1], pa.timestamp("us"), "TIMESTAMP(6)", Stats(-1_000, 1_000, 0)),
        ([1, -1], pa.timestamp("ns"), "TIMESTAMP(9)", Stats(-1, 1, 0)),
        ([5], pa.timestamp("us", "UTC"), "TIMESTAMP(6) WITH LOCAL TIME ZONE", Stats(5_000, 5_000, 0)),
        (
            [Decimal("1.20"), Decimal("-3.45")],
            pa.decimal128(9, 2),
            "DECIMAL(9, 2)",
            Stats(Decimal("-3.45"), Decimal("1.20"), 0),
        ),
        ([Decimal("-1")], pa.decimal128(38, 0), "DECIMAL(38, 0)", Stats(Decimal(-1), Decimal(-1), 0)),
        (["b", None, "a"], pa.string(), "STRING", Stats("a", "b", 1)),
        ([b"b", None], pa.binary(), "BYTES", Stats(None, None, 1)),
        ([None, None, None], pa.int32(), "INT", Stats(None, None, 3)),
        ([None, None, 4], pa.int32(), "INT", Stats(4, 4, 2)),
        ([1.5, None], pa.float64(), "DOUBLE", Stats(None, None, 1)),
        ([[1], None], pa.list_(pa.int32()), {"type": "ARRAY", "element": "INT"}, Stats()),
        (
            [[("a", 1)], None],
            pa.map_(pa.string(), pa.int32()),
            {"type": "MAP", "key": "STRING", "value": "INT"},
            Stats(),
        ),
        (
            [{"x": 1}, None],
            pa.struct({"x": pa.int32()}),
            {"type": "ROW", "fields": [{"id": 1, "name": "x", "type": "INT"}]},
            Stats(),
        ),
    ],
)
def test_bounds_of_every_type(
    values: list[Any], arrow: pa.DataType, type_: Any, expected: Stats, kw: dict[str, Any]
) -> None:
    assert _one(values, arrow, type_, **kw) == expected


def test_decimals_stored_as_integers_have_bounds() -> None:
    values = [Decimal("1.20"), Decimal("-3.45")]
    for precision in (9, 18):
        found = _one(values, pa.decimal128(precision, 2), f"DECIMAL({precision}, 2)", store_decimal_as_integer=True)
        assert found == Stats(Decimal("-3.45"), Decimal("1.20"), 0)


@pytest.mark.parametrize(
    ("values", "arrow", "type_"),
    [
        ([1], pa.int64(), "INT"),
        ([1], pa.int32(), "BIGINT"),
        ([Decimal("1.2")], pa.decimal128(9, 1), "DECIMAL(9, 2)"),
        (["a"], pa.string(), "INT"),
        ([b"\xff"], pa.binary(), "STRING"),
        ([1], pa.int64(), "TIMESTAMP(6)"),
        ([time(0, 0, 1)], pa.time64("us"), "TIME(3)"),
    ],
)
def test_a_file_of_another_physical_type_has_null_counts_only(
    values: list[Any], arrow: pa.DataType, type_: str
) -> None:
    assert _one(values, arrow, type_) == Stats(None, None, 0)


def test_int96_timestamps_have_no_bounds() -> None:
    found = _one([1, 2], pa.timestamp("ns"), "TIMESTAMP(9)", use_deprecated_int96_timestamps=True)
    assert (found.minimum, found.maximum) == (None, None)


def test_bounds_are_rounded_outwards_to_the_precision() -> None:
    found = _one([1_500, -1_500], pa.timestamp("us"), "TIMESTAMP(3)")
    assert found == Stats(-2_000_000, 2_000_000, 0)
    assert _one([1_500], pa.timestamp("ns"), "TIMESTAMP(6)") == Stats(1_000, 2_000, 0)
    assert _one([1_500], pa.timestamp("ms"), "TIMESTAMP(0)") == Stats(10**9, 2 * 10**9, 0)


def test_a_name_with_a_dot_is_not_a_nested_column() -> None:
    data = pa.table({"a": pa.array([{"b": 1}]), "a.b": pa.array([7], pa.int64())})
    row = {"type": "ROW", "fields": [{"id": 9, "name": "b", "type": "BIGINT"}]}
    found = _statistics(data, {"a": row, "a.b": "BIGINT"})
    assert found.columns == (Stats(), Stats(7, 7, 0))


def test_a_column_that_the_file_lacks_is_all_null() -> None:
    assert _statistics(pa.table({"a": [1, 2]}), {"a": "BIGINT", "b": "STRING"}).columns[1] == Stats(None, None, 2)


def test_an_empty_file() -> None:
    found = _statistics(pa.table({"a": pa.array([], pa.int64())}), {"a": "BIGINT"})
    assert (found.rows, found.columns) == (0, (Stats(None, None, 0),))


def test_a_file_without_statistics_is_unknown() -> None:
    assert _one([1, 2], pa.int64(), "BIGINT", write_statistics=False) == Stats()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("none", Stats()),
        ("counts", Stats(None, None, 1)),
        ("truncate(3)", Stats("abc", "xyz", 1)),
        ("TRUNCATE(2)", Stats("ab", "xz", 1)),
        ("full", Stats("abcde", "xyz", 1)),
    ],
)
def test_modes(mode: str, expected: Stats) -> None:
    values = ["xyz", None, "abcde"]
    assert _one(values, pa.string(), "STRING", {"metadata.stats-mode": mode}) == expected
    options = {"metadata.stats-mode": "full", "fields.c.stats-mode": mode}
    assert _one(values, pa.string(), "STRING", options) == expected


def test_texts_are_cut_to_sixteen_characters() -> None:
    assert _one(["a long string of text"], pa.string(), "STRING") == Stats("a long string of", "a long string og", 0)


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abd"),
        ("ab\U0010ffffd", 3, "ac"),
        ("\U0010ffff\U0010ffffa", 2, None),
        ("a\ud7ffb", 2, "a\ue000"),
        ("🦆🦆🦆", 2, "🦆🦇"),
        ("", 0, ""),
        ("a", 0, None),
    ],
)
def test_truncating_a_maximum(text: str, length: int, expected: str | None) -> None:
    assert truncate_maximum(text, length) == expected


@given(st.text(max_size=30), st.integers(0, 20))
def test_a_truncated_maximum_is_an_upper_bound_in_bytes(text: str, length: int) -> None:
    bound = truncate_maximum(text, length)
    if bound is not None:
        assert bound.encode() >= text.encode()
        assert len(bound) <= max(length, len(text) if len(text) <= length else 0)


def test_a_maximum_that_cannot_be_cut_drops_both_bounds() -> None:
    assert _one(["\U0010ffff" * 20, "a"], pa.string(), "STRING") == Stats(None, None, 0)


def _java_floats(values: list[float], type_: str, replaced: tuple[bytes, bytes] = (b"", b"")) -> Stats:
    """Statistics of a file that claims to come from Java's writer, which keeps NaN in its bounds."""
    arrow = pa.float32() if type_ == "FLOAT" else pa.float64()
    content = parquet_bytes(pa.table({"c": pa.array(values, arrow)}))
    # The writer's name is one text of the footer; one of the same length keeps all offsets right.
    name = f"parquet-cpp-arrow version {pa.__version__}".encode()
    assert name in content
    content = content.replace(name, b"parquet-mr".ljust(len(name)))
    store = MemoryStore({"/f": content.replace(*replaced) if replaced[0] else content})
    return parquet_statistics(store, "/f", fields(("c", type_))).columns[0]


@pytest.mark.parametrize("type_", ["FLOAT", "DOUBLE"])
def test_floats_of_java_have_bounds_with_zeros_signed_outwards(type_: str) -> None:
    assert _java_floats([1.5, -2.0], type_) == Stats(-2.0, 1.5, 0)
    found = _java_floats([0.0, -0.0], type_)
    assert (math.copysign(1, found.minimum), math.copysign(1, found.maximum)) == (-1, 1)


def test_a_nan_bound_is_no_bound() -> None:
    nan, high = struct.pack("<d", math.nan), struct.pack("<d", 2.5)
    assert _java_floats([1.5, 2.5], "DOUBLE") == Stats(1.5, 2.5, 0)
    assert _java_floats([1.5, 2.5], "DOUBLE", (high, nan)) == Stats(None, None, 0)


def test_only_the_footer_is_read() -> None:
    data = pa.table({"c": list(range(200_000))})
    content = parquet_bytes(data, compression="none", use_dictionary=False)
    store = MemoryStore({"/f": content})
    assert parquet_statistics(store, "/f", fields(("c", "BIGINT"))).rows == 200_000
    assert {o.name for o in store.operations} == {"read_range"}
    assert len(store.operations) == 1


def test_a_footer_larger_than_the_first_read() -> None:
    data = pa.table({f"column_with_a_long_name_{i:04d}": [i] for i in range(1500)})
    store = MemoryStore({"/f": parquet_bytes(data)})
    assert read_footer(store, "/f").num_columns == 1500
    assert len(store.operations) == 2


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + bytes(20), b"x" * 100, b"\xff\xff\xff\x7fPAR1", bytes(8) + b"PAR1"]
)
def test_what_is_no_parquet_file_is_corrupt(content: bytes) -> None:
    with pytest.raises(CorruptMetadataError) as e:
        read_footer(MemoryStore({"/f": content}), "/f")
    assert e.value.code == "LB5040"


def test_a_cut_off_file_is_corrupt() -> None:
    content = parquet_bytes(pa.table({"c": [1, 2]}))
    for length in range(1, len(content)):
        with pytest.raises(CorruptMetadataError):
            read_footer(MemoryStore({"/f": content[:length]}), "/f")


def test_an_encrypted_footer_is_refused() -> None:
    with pytest.raises(UnsupportedError) as e:
        read_footer(MemoryStore({"/f": bytes(100) + b"PARE"}), "/f")
    assert e.value.code == "LB5041"


def test_statistics_are_stored_with_the_full_arity() -> None:
    found = _statistics(pa.table({"a": [1, 2], "s": ["x", None]}), {"a": "BIGINT", "s": "STRING", "n": "INT"})
    assert found.stats.decode([parse("BIGINT"), parse("STRING"), parse("INT")]) == found.columns
    assert found.stats.null_counts == (0, 1, 2)


def _meta(stats: SimpleStats, names: tuple[str, ...] | None = None) -> DataFileMeta:
    return DataFileMeta(file_name="f", file_size=1, row_count=1, schema_id=0, value_stats=stats, value_stats_cols=names)


def test_statistics_of_a_manifest_are_found_by_field_id() -> None:
    schema = table_schema([("a", "INT"), ("b", "STRING")])
    types = [f.type for f in schema.fields]
    full = SimpleStats.of(types, [Stats(1, 2, 0), Stats("x", "y", 0)])
    assert file_statistics(_meta(full), schema) == {0: Stats(1, 2, 0), 1: Stats("x", "y", 0)}
    dense = SimpleStats.of(types[1:], [Stats("x", "y", 0)])
    assert file_statistics(_meta(dense, ("b",)), schema) == {1: Stats("x", "y", 0)}
    assert file_statistics(_meta(SimpleStats(), ()), schema) == {}
    assert [statistics_of_column(_meta(full), schema, i) for i in range(3)] == [
        Stats(1, 2, 0),
        Stats("x", "y", 0),
        None,
    ]
    assert [statistics_of_column(_meta(dense, ("b",)), schema, i) for i in range(2)] == [None, Stats("x", "y", 0)]
    assert statistics_of_column(_meta(SimpleStats(), ()), schema, 0) is None


def test_statistics_that_do_not_fit_the_schema_are_unknown() -> None:
    schema = table_schema([("a", "INT"), ("b", "STRING")])
    assert file_statistics(_meta(SimpleStats()), schema) == {}
    assert statistics_of_column(_meta(SimpleStats()), schema, 0) is None
    gone = _meta(SimpleStats.of([parse("INT")], [Stats(1, 2, 0)]), ("gone",))
    assert file_statistics(gone, schema) == {}
    assert statistics_of_column(gone, schema, 0) is None


def test_spark_like_columns_are_required_and_still_have_statistics() -> None:
    arrow = pa.schema([pa.field("c", pa.int32(), nullable=False)])
    out = io.BytesIO()
    pq.write_table(pa.table({"c": pa.array([1, 2], pa.int32())}, schema=arrow), out)
    store = MemoryStore({"/f": out.getvalue()})
    assert parquet_statistics(store, "/f", fields(("c", "INT NOT NULL"))).columns == (Stats(1, 2, 0),)

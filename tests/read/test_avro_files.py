"""Avro data files: the forms that writers give the same values, values that Python has none for, and damage."""

from __future__ import annotations

import io
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.arrow import avro_file
from lakebed.arrow.avro_file import avro_batches
from lakebed.arrow.decode_files import decoder
from lakebed.errors import CorruptMetadataError

LONG = 2**63 - 1


def container(fields: list[tuple[str, Any]], rows: list[dict[str, Any]], codec: str = "null") -> bytes:
    out = io.BytesIO()
    schema = {"type": "record", "name": "x.y.r", "fields": [{"name": n, "type": t} for n, t in fields]}
    fastavro.writer(out, schema, rows, codec=codec)
    return out.getvalue()


def values(kind: Any, stored: list[Any], wanted: pa.DataType) -> list[Any]:
    """Stored values of an Avro type as an Arrow type; timestamps and days as numbers."""
    data = container([("v", kind)], [{"v": v} for v in stored])
    (batch,) = avro_batches(data, pa.schema([("v", wanted)]))
    column = batch.column(0)
    if pa.types.is_timestamp(wanted):
        column = column.cast(pa.int64())
    if pa.types.is_date(wanted):
        column = column.cast(pa.int32())
    return list(column.to_pylist())


def time_of(base: str, mark: str) -> dict[str, str]:
    return {"type": base, "logicalType": mark}


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("mark", ["timestamp", "local-timestamp"])
def test_timestamps_of_every_unit_and_mark(mark: str, zone: str | None) -> None:
    wanted = pa.timestamp("us", zone)
    beyond = 10**15
    assert values(time_of("long", f"{mark}-millis"), [-1, 0, beyond], wanted) == [-1000, 0, beyond * 1000]
    assert values(time_of("long", f"{mark}-micros"), [-1, LONG], wanted) == [-1, LONG]
    assert values(time_of("long", f"{mark}-nanos"), [-1, 1999, LONG], wanted) == [-1, 1, LONG // 1000]


def test_days_and_times() -> None:
    assert values(time_of("int", "date"), [-(2**31), 2**31 - 1], pa.date32()) == [-(2**31), 2**31 - 1]
    assert values("int", [5], pa.date32()) == [5]
    assert values(time_of("int", "time-millis"), [86_399_999], pa.int32()) == [86_399_999]
    assert values(time_of("long", "time-micros"), [86_399_999_999], pa.int32()) == [86_399_999]


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38))
def test_decimals_of_any_size(unscaled: int, scale: int) -> None:
    raw = unscaled.to_bytes(17, "big", signed=True)
    mark = {"logicalType": "decimal", "precision": 38, "scale": scale}
    wanted = pa.decimal128(38, scale)
    expected = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))
    assert values({"type": "bytes", **mark}, [raw], wanted) == [expected]
    assert values({"type": "fixed", "name": "d", "size": 17, **mark}, [raw], wanted) == [expected]


def test_null_on_either_side_and_names_that_are_used_again() -> None:
    inner = {"type": "record", "name": "inner", "fields": [{"name": "t", "type": time_of("long", "timestamp-millis")}]}
    fields = [
        ("a", ["null", inner]),
        ("b", ["x.y.inner", "null"]),
        ("c", {"type": "array", "items": ["inner", "null"]}),
        ("e", {"type": "enum", "name": "e", "symbols": ["ONE", "TWO"]}),
    ]
    data = container(fields, [{"a": {"t": 1}, "b": {"t": 2}, "c": [{"t": 3}, None], "e": "TWO"}])
    struct = pa.struct([("t", pa.timestamp("us")), ("missing", pa.int32())])
    wanted = pa.schema([("a", struct), ("b", struct), ("c", pa.list_(struct)), ("e", pa.string()), ("n", struct)])
    (batch,) = avro_batches(data, wanted)
    (row,) = batch.to_pylist()
    moments = [row["a"]["t"], row["b"]["t"], row["c"][0]["t"]]
    assert [m.microsecond for m in moments] == [1000, 2000, 3000]
    assert (row["a"]["missing"], row["c"][1], row["e"], row["n"]) == (None, None, "TWO", None)


def test_maps_of_both_forms() -> None:
    entry = {"type": "record", "name": "e", "fields": [
        {"name": "key", "type": time_of("int", "date")},
        {"name": "value", "type": ["null", time_of("long", "timestamp-millis")]},
    ]}  # fmt: skip
    fields: list[tuple[str, Any]] = [
        ("m", {"type": "map", "values": ["null", time_of("long", "timestamp-millis")]}),
        ("n", {"type": "array", "items": entry}),
    ]
    data = container(fields, [{"m": {"k": 1, "": None}, "n": [{"key": 1, "value": 2}, {"key": -1, "value": None}]}])
    micros = pa.timestamp("us")
    (batch,) = avro_batches(data, pa.schema([("m", pa.map_(pa.string(), micros)), ("n", pa.map_(pa.date32(), micros))]))
    found = [dict(batch.column(i)[0].as_py()) for i in (0, 1)]
    assert [v and v.microsecond for v in found[0].values()] == [1000, None]
    assert [v and v.microsecond for v in found[1].values()] == [2000, None]
    assert [k.isoformat() for k in found[1]] == ["1970-01-02", "1969-12-31"]


def decoded(data: bytes, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    added = pa.schema([*wanted, ("ordinal", pa.int32()), ("place", pa.int64())])
    batch = pa.record_batch({"content": [data], "ordinal": pa.array([4], pa.int32()), "path": ["file:/t/data-1.avro"]})
    return decoder("avro", added)(iter([batch]))


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 13, 14, 15, 22])
def test_every_row_comes_once_and_in_its_place_however_many_batches_it_takes(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(avro_file, "_BATCH", 7)
    data = container([("v", "int")], [{"v": i * i} for i in range(rows)])
    batches = list(decoded(data, pa.schema([("v", pa.int32())])))
    assert [row["v"] for b in batches for row in b.to_pylist()] == [i * i for i in range(rows)]
    assert [row["place"] for b in batches for row in b.to_pylist()] == list(range(rows))
    assert {row["ordinal"] for b in batches for row in b.to_pylist()} <= {4}
    assert [b.num_rows for b in batches] == [7] * (rows // 7) + ([rows % 7] if rows % 7 else [])


def test_files_of_one_batch_are_counted_each_by_itself() -> None:
    contents = [container([("v", "int")], [{"v": n} for n in range(rows)]) for rows in (2, 0, 3)]
    added = pa.schema([("v", pa.int32()), ("ordinal", pa.int32()), ("place", pa.int64())])
    batch = pa.record_batch(
        {"content": contents, "ordinal": pa.array([4, 5, 6], pa.int32()), "path": ["file:/a", "file:/b", "file:/c"]}
    )
    found = [tuple(row.values()) for b in decoder("avro", added)(iter([batch])) for row in b.to_pylist()]
    assert found == [(0, 4, 0), (1, 4, 1), (0, 6, 0), (1, 6, 1), (2, 6, 2)]


@pytest.mark.parametrize(
    ("kind", "wanted", "message"),
    [
        ("long", pa.timestamp("us"), "no unit of time"),
        (["int", "string"], pa.int32(), "union of 2 types"),
        ("long", pa.int32(), "v"),
        ("string", pa.int32(), "v"),
    ],
)
def test_what_does_not_fit_names_file_and_column(kind: Any, wanted: pa.DataType, message: str) -> None:
    value = "x" if kind == "string" else 2**31 - 1 if isinstance(kind, list) else LONG
    data = container([("v", kind)], [{"v": value}])
    with pytest.raises(CorruptMetadataError, match=message) as e:
        list(decoded(data, pa.schema([("v", wanted)])))
    assert "/t/data-1.avro" in str(e.value)


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "xz"])
def test_a_cut_off_file_is_an_error(codec: str) -> None:
    data = container([("v", "int")], [{"v": i} for i in range(1000)], codec)
    wanted = pa.schema([("v", pa.int32())])
    assert sum(b.num_rows for b in decoded(data, wanted)) == 1000
    for length in (3, 30, len(data) // 2, len(data) - 1):
        with pytest.raises(CorruptMetadataError, match=r"/t/data-1\.avro"):
            list(decoded(data[:length], wanted))


def test_something_else_than_records() -> None:
    out = io.BytesIO()
    fastavro.writer(out, "int", [1])
    with pytest.raises(ValueError, match="something else than records"):
        list(avro_batches(out.getvalue(), pa.schema([("v", pa.int32())])))

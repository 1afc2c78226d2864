"""Blob files: their bytes, what newer and older files say of a row, and descriptors in place of contents."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from arrow.blob_bytes import Payload, array_bytes, file_bytes, index_bytes, map_bytes
from format.building import parquet_bytes, table_schema
from format.laid_out import LaidOut, Vector
from lakebed.arrow import blob_values
from lakebed.arrow.blob_file import PLACEHOLDER, BlobPlace, blob_payloads, blob_places, index_size
from lakebed.arrow.blob_values import array_value, blob_batches, key_decoder, map_value
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError, UsageError
from lakebed.format.blob_columns import BlobDescriptor
from lakebed.store import LocalStore
from referees.client import Referees
from referees.encoding import spark_rows

EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


# --- bytes ------------------------------------------------------------------------------------------------------------

PAYLOADS = st.lists(st.one_of(st.none(), st.just(PLACEHOLDER), st.binary(max_size=300)), max_size=20)
BYTES = st.binary(max_size=40)


@given(PAYLOADS)
def test_what_is_written_is_read(payloads: list[Payload]) -> None:
    data = file_bytes(payloads)
    assert blob_payloads(data) == payloads
    places = blob_places(data[-index_size(data[-5:]) :], len(data))
    found = [data[p.offset : p.offset + p.length] if isinstance(p, BlobPlace) else p for p in places]
    assert found == payloads


@given(st.lists(st.one_of(st.none(), BYTES)), st.dictionaries(BYTES, st.one_of(st.none(), BYTES)))
def test_nested_values(array: list[bytes | None], entries: dict[bytes, bytes | None]) -> None:
    assert array_value(array_bytes(array)) == array
    assert map_value(map_bytes(list(entries.items())), bytes) == list(entries.items())


@given(st.lists(st.one_of(st.none(), st.just(PLACEHOLDER), st.binary(max_size=30)), min_size=1, max_size=6), st.data())
def test_damage_never_makes_another_content(payloads: list[Payload], data: Any) -> None:
    whole = file_bytes(payloads)
    damaged = bytearray(whole)
    if data.draw(st.booleans()):
        damaged = damaged[: data.draw(st.integers(0, len(whole)))]
    else:
        for _ in range(data.draw(st.integers(1, 3))):
            damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = blob_payloads(bytes(damaged))
    except ValueError:
        return
    assert {p for p in found if isinstance(p, bytes)} <= {p for p in payloads if isinstance(p, bytes)}


@given(st.binary(max_size=80), st.booleans())
def test_damage_of_nested_values(noise: bytes, is_map: bool) -> None:
    good = map_bytes([(b"a", b"12"), (b"b", None)]) if is_map else array_bytes([b"12", None])
    for payload in (noise, good[: len(noise) % len(good)], bytes(a ^ b for a, b in zip(good, noise, strict=False))):
        try:
            found = map_value(payload, bytes) if is_map else array_value(payload)
        except ValueError:
            continue
        assert isinstance(found, list)


@pytest.mark.parametrize(
    "payload",
    [
        array_bytes([b"1"])[:-1],
        array_bytes([b"1"]) + b"\0",
        map_bytes([(b"a", b"1"), (b"a", b"2")]),
        struct.pack("<iBi", 1296188226, 1, 1) + index_bytes([-1]) + index_bytes([-1]) + struct.pack("<ii", 1, 1),
    ],
)
def test_nested_values_that_contradict_themselves(payload: bytes) -> None:
    with pytest.raises(ValueError):
        map_value(payload, bytes)
    with pytest.raises(ValueError):
        array_value(payload)


@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        (pa.int8(), b"\xff", -1),
        (pa.int16(), b"\x01\x02", 513),
        (pa.int32(), b"\xfe\xff\xff\xff", -2),
        (pa.int64(), b"\x01" + b"\0" * 7, 1),
        (pa.bool_(), b"\x01", True),
        (pa.date32(), b"\xff\xff\xff\xff", date(1969, 12, 31)),
        (pa.decimal128(10, 2), struct.pack("<q", -1234), Decimal("-12.34")),
        (pa.decimal128(18, 2), struct.pack("<q", 10**18 - 1), Decimal("9999999999999999.99")),
        (pa.decimal128(19, 2), (-(10**18)).to_bytes(8, "big", signed=True), Decimal("-10000000000000000.00")),
        (pa.decimal128(38, 4), b"\xff\x00", Decimal("-0.0256")),
        (pa.string(), "é".encode(), "é"),
        (pa.binary(), b"\x00", b"\x00"),
    ],
)
def test_keys_of_maps(kind: pa.DataType, data: bytes, value: Any) -> None:
    decode = key_decoder(kind)
    assert decode(data) == value
    if not (kind in (pa.string(), pa.binary()) or (pa.types.is_decimal(kind) and kind.precision > 18)):
        with pytest.raises(ValueError):
            decode(data + b"\0")


@pytest.mark.parametrize("data", [b"\x02", b"\xff", b""])
def test_a_truth_value_as_a_key_is_one_of_two(data: bytes) -> None:
    assert [key_decoder(pa.bool_())(part) for part in (b"\0", b"\1")] == [False, True]
    with pytest.raises(ValueError):
        key_decoder(pa.bool_())(data)


def test_nested_values_use_all_of_their_data() -> None:
    """Bytes that no length accounts for are damage, not something to be passed over."""
    whole = array_bytes([b"12", b"3"])
    assert array_value(whole) == [b"12", b"3"]
    with pytest.raises(ValueError, match="do not fit"):
        array_value(whole[:9] + b"x" + whole[9:])
    entries = map_bytes([(b"a", b"12")])
    with pytest.raises(ValueError, match="do not fit"):
        map_value(entries[:12] + b"x" + entries[12:], bytes)


def test_batches_are_bounded_by_rows_and_bytes() -> None:
    schema = pa.schema([("x", pa.binary()), ("_ROW_ID", pa.int64()), ("_LAKEBED_PLACEHOLDER", pa.bool_())])
    sizes = [b.num_rows for b in blob_batches(file_bytes([None] * 1500), schema)]
    assert sizes == [1024, 476]
    (one, two) = blob_batches(file_bytes([b"x" * (9 << 20), b"y" * (9 << 20), PLACEHOLDER]), schema)
    assert (one.num_rows, two.to_pylist()) == (2, [{"x": None, "_ROW_ID": None, "_LAKEBED_PLACEHOLDER": True}])


def test_unknown_versions_and_too_short_files() -> None:
    for data in (b"", b"1234", struct.pack("<ib", 0, 2), struct.pack("<ib", -1, 1), struct.pack("<ib", 9, 1)):
        with pytest.raises(ValueError):
            blob_payloads(data)


@pytest.mark.parametrize("more", [-1, 1, 8, 100])
def test_an_entry_ends_where_the_index_begins_at_the_latest(more: int) -> None:
    """A place is also given to those who read the payload by themselves, without a look at its checksum."""
    whole = file_bytes([b"one", b"two"])
    sizes = [19, 19 + more]
    index = index_bytes(sizes)
    data = whole[: 2 * 19] + index + struct.pack("<ib", len(index), 1)
    if more < 0:
        assert blob_places(data[-index_size(data) :], len(data))[1] == BlobPlace(19 + 4, 3 + more)
    else:
        with pytest.raises(ValueError, match="at offset 19"):
            blob_places(data[-index_size(data) :], len(data))


def test_an_entry_begins_with_its_mark_whatever_its_checksum_says() -> None:
    body = b"BLOB" + b"one" + struct.pack("<q", 19)
    index = index_bytes([19])
    data = body + struct.pack("<I", zlib.crc32(body)) + index + struct.pack("<ib", len(index), 1)
    with pytest.raises(ValueError, match="no entry of 19 bytes at offset 0"):
        blob_payloads(data)


def test_every_row_of_a_blob_file_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_values, "_ROWS", 3)
    monkeypatch.setattr(blob_values, "_BYTES", 5)
    schema = pa.schema([("x", pa.binary())])
    for sizes in ([], [1], [1, 1, 1], [1, 1, 1, 1], [6, 1, 6], [2, 2, 2, 2, 9], [0] * 7):
        payloads = [bytes([i]) * n for i, n in enumerate(sizes)]
        rows = [row["x"] for b in blob_batches(file_bytes(payloads), schema) for row in b.to_pylist()]
        assert rows == payloads


@given(st.text(max_size=30), st.integers(0, 2**62), st.integers(-1, 2**62), st.binary(max_size=40))
def test_descriptors(uri: str, offset: int, length: int, noise: bytes) -> None:
    said = BlobDescriptor(uri, offset, length)
    data = said.to_bytes()
    assert BlobDescriptor.from_bytes(data) == said
    first = b"\x01" + data[9:]
    assert BlobDescriptor.from_bytes(first) == said
    for bad in (noise, data[:-1], data + b"\0", first[:-1]):
        with pytest.raises(UsageError) as caught:
            BlobDescriptor.from_bytes(bad)
        assert caught.value.code == "LB5567"


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(warehouse: Path, name: str, columns: Sequence[tuple[str, Any]], **parts: Any) -> LaidOut:
    (warehouse / "lab.db").mkdir(parents=True, exist_ok=True)
    schema = table_schema(columns, **({"options": EVOLVING} | parts))
    return LaidOut(LocalStore(), str(warehouse / "lab.db" / name), schema)


def _data(table: LaidOut, name: str, start: int, ids: Sequence[int], sequence: int = 1, **meta: Any) -> None:
    known = {"first_row_id": start, "max_sequence_number": sequence}
    table.add(name, parquet_bytes(pa.table({"id": pa.array(ids, pa.int64())})), len(ids), **known | meta)


def _blobs(table: LaidOut, name: str, start: int, payloads: Sequence[Payload], sequence: int = 1, **meta: Any) -> str:
    known = {"first_row_id": start, "max_sequence_number": sequence, "write_cols": ("x",)}
    return table.add(name, file_bytes(payloads), len(payloads), **known | meta)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`lab.t`, in partitions: contents, updates with placeholders, and what travels."""
    root = tmp_path_factory.mktemp("blobs")
    table = _table(root, "t", [("k", "STRING"), ("id", "BIGINT"), ("x", "BLOB")], partition_keys=["k"])
    # Two files tile the range; the data file names no columns, and the blobs are not among its own.
    _data(table, "a.parquet", 0, range(6), partition=("p",))
    _blobs(table, "a0.blob", 0, [b"zero", None, b""], partition=("p",))
    _blobs(table, "a1.blob", 3, [b"three", b"four", PLACEHOLDER], partition=("p",))
    table.commit()
    # A newer file of the whole range and one of a part; a newer data file says nothing of blobs.
    _blobs(table, "a2.blob", 0, [PLACEHOLDER, b"one", None, PLACEHOLDER, b"FOUR", PLACEHOLDER], 2, partition=("p",))
    _blobs(table, "a3.blob", 3, [PLACEHOLDER, b"four!"], 3, partition=("p",))
    _data(table, "b.parquet", 0, range(10, 16), 4, partition=("p",))
    # Rows of another partition: without blobs, blobs without data, and a row that is deleted.
    _data(table, "c.parquet", 10, [20], partition=("q",))
    _blobs(table, "d.blob", 20, [b"alone", PLACEHOLDER], partition=("q",))
    _data(table, "e.parquet", 30, [30, 31], partition=("q",))
    _blobs(table, "e.blob", 30, [b"gone", b"kept"], partition=("q",))
    table.delete({"e.parquet": Vector([0])}, ("q",))
    table.commit()
    return root


FIRST = [("p", 0, b"zero"), ("p", 1, None), ("p", 2, b""), ("p", 3, b"three"), ("p", 4, b"four"), ("p", 5, None)]
SECOND = [
    *[("p", 10, b"zero"), ("p", 11, b"one"), ("p", 12, None), ("p", 13, b"three"), ("p", 14, b"four!")],
    *[("p", 15, None), ("q", None, None), ("q", None, b"alone"), ("q", 20, None), ("q", 31, b"kept")],
]


def _key(row: Sequence[Any]) -> str:
    return str([row[0], -1 if row[1] is None else row[1] + 100, row[2]])


def test_a_placeholder_stands_for_the_value_of_an_older_file(spark: Any, warehouse: Path) -> None:
    lake = lakebed.open(warehouse)
    assert sorted(map(tuple, lake.read(spark, "lab.t").collect()), key=_key) == sorted(SECOND, key=_key)
    first = lake.read(spark, "lab.t", snapshot=1)
    assert sorted(map(tuple, first.collect()), key=_key) == FIRST
    big = lake.read(spark, "lab.t").where("length(x) > 4 and k = 'p'").select("id")
    assert sorted(row.id for row in big.collect()) == [13, 14]


def test_descriptors_say_where_each_content_lies(spark: Any, warehouse: Path) -> None:
    lake = lakebed.open(warehouse)
    rows = lake.read(spark, "lab.t", blobs="descriptor", metadata_columns=["_ROW_ID"]).collect()
    contents = [(k, i, None if x is None else lake.read_blob(x)) for k, i, x, _ in rows]
    assert sorted(contents, key=_key) == sorted(SECOND, key=_key)
    fetched = lake.fetch_blobs(lake.read(spark, "lab.t", blobs="descriptor"), "x").collect()
    assert sorted(map(tuple, fetched), key=_key) == sorted(SECOND, key=_key)
    (four,) = (r for r in rows if r.id == 14)
    place = BlobDescriptor.from_bytes(four.x)
    assert (Path(place.uri).name, place.offset, place.length, four._ROW_ID) == ("a3.blob", 4, 5, 4)


def test_contents_are_not_read_for_descriptors(spark: Any, tmp_path: Path) -> None:
    """Only the index at the end of a file is looked at: here nothing else is in the file."""
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("x", "BLOB")])
    _data(table, "a.parquet", 0, [1, 2])
    path = _blobs(table, "a.blob", 0, [b"1" * 100_000, b"2" * 100_000])
    whole = Path(path).read_bytes()
    Path(path).write_bytes(b"\0" * 200_000 + whole[200_000:])
    table.commit()
    lake = lakebed.open(tmp_path)
    places = [BlobDescriptor.from_bytes(r.x) for r in lake.read(spark, "lab.t", blobs="descriptor").collect()]
    assert sorted((p.offset, p.length) for p in places) == [(4, 100_000), (100_020, 100_000)]
    with pytest.raises(Exception, match=r"LB5561.*a\.blob.*no entry of 100016 bytes at offset 0"):
        lake.read(spark, "lab.t").collect()


def test_blobs_that_are_not_wanted_are_not_looked_at(spark: Any, tmp_path: Path) -> None:
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("x", "BLOB")])
    _data(table, "a.parquet", 0, [1, 2])
    path = _blobs(table, "a.blob", 0, [b"1", b"2"])
    table.commit()
    Path(path).unlink()
    rows = lakebed.open(tmp_path).read(spark, "lab.t", columns=["id"], metadata_columns=["_ROW_ID"])
    assert sorted(map(tuple, rows.collect())) == [(1, 0), (2, 1)]


def test_a_damaged_index_is_an_error_of_the_file(spark: Any, tmp_path: Path) -> None:
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("x", "BLOB")])
    _data(table, "a.parquet", 0, [1])
    path = _blobs(table, "a.blob", 0, [b"1"])
    table.commit()
    Path(path).write_bytes(Path(path).read_bytes()[:-1] + b"\x07")
    with pytest.raises(CorruptMetadataError, match=r"a\.blob is damaged: version 7") as caught:
        lakebed.open(tmp_path).read(spark, "lab.t", blobs="descriptor")
    assert caught.value.code == "LB5561"


def test_what_is_not_read_is_refused(spark: Any, tmp_path: Path) -> None:
    columns: list[tuple[str, Any]] = [("id", "BIGINT"), ("x", "BLOB")]
    nested = [("id", "BIGINT"), ("x", {"type": "ARRAY", "element": "BLOB"})]
    _table(tmp_path, "described", columns, options=EVOLVING | {"blob-descriptor-field": "x"})
    _table(tmp_path, "viewed", columns, options=EVOLVING | {"blob-view-field": "x"})
    _table(tmp_path, "nested", nested)
    big = _table(tmp_path, "big", columns)
    _data(big, "a.parquet", 0, [1])
    _blobs(big, "a.blob", 0, [b"1"])
    known = {"file_size": 3 << 30}
    big.entries[1] = _with_size(big.entries[1], **known)
    big.commit()
    lake = lakebed.open(tmp_path)
    cases: list[tuple[str, str, str]] = [
        ("described", "content", "LB5564"),
        ("viewed", "content", "LB5565"),
        ("viewed", "descriptor", "LB5565"),
        ("nested", "descriptor", "LB5563"),
        ("big", "content", "LB5562"),
        ("big", "descriptors", "LB5568"),
    ]
    for name, blobs, code in cases:
        with pytest.raises((UnsupportedError, UsageError)) as caught:
            lake.read(spark, f"lab.{name}", blobs=blobs)  # type: ignore[arg-type]
        assert caught.value.code == code
    for name, code in {"described": "LB5564", "viewed": "LB5565"}.items():
        with pytest.raises(UnsupportedError, match=code):
            lake.cast_errors(spark, f"lab.{name}")
    with pytest.raises(LakebedError):
        lake.read_blob(BlobDescriptor(str(tmp_path / "nowhere"), 0, 5).to_bytes())


def _with_size(entry: Any, **parts: Any) -> Any:
    from dataclasses import replace

    return replace(entry, file=replace(entry.file, **parts))


def test_stored_descriptors_are_given_as_they_are(spark: Any, tmp_path: Path) -> None:
    content = tmp_path / "elsewhere.bin"
    content.write_bytes(b"....hello")
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("x", "BLOB")], options=EVOLVING | {"blob-descriptor-field": "x"})
    stored = [
        BlobDescriptor(f"file://{content}", 4, 5).to_bytes(),
        BlobDescriptor(str(content), 4, -1).to_bytes(),
        None,
    ]
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "x": pa.array(stored, pa.binary())})
    table.add("a.parquet", parquet_bytes(rows), 3, first_row_id=0)
    table.commit()
    lake = lakebed.open(tmp_path)
    found = {r.id: r.x for r in lake.read(spark, "lab.t", blobs="descriptor").collect()}
    assert [found[i] for i in (1, 2, 3)] == stored
    assert [lake.read_blob(found[i]) for i in (1, 2)] == [b"hello", b"hello"]
    rows = lake.read(spark, "lab.t", blobs="descriptor").where("id > 1")
    assert sorted(map(tuple, lake.fetch_blobs(rows, "x").collect())) == [(2, b"hello"), (3, None)]
    for bad in ("id", "y"):
        with pytest.raises(UsageError) as caught:
            lake.fetch_blobs(rows, "x", bad)
        assert caught.value.code == "LB5570"
    wrong = rows.selectExpr("id", "encode('no descriptor', 'utf-8') as x")
    with pytest.raises(Exception, match="LB5567"):
        lake.fetch_blobs(wrong, "x").collect()


def test_contents_in_the_data_file_itself(spark: Any, tmp_path: Path) -> None:
    """A file that does not say which columns it holds may hold a column of blobs; blob files come before it."""
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("x", "BLOB")])
    for name, start in (("a", 0), ("b", 10)):
        rows = pa.table({"id": pa.array([start, start + 1], pa.int64()), "x": pa.array([b"in", b"side"], pa.binary())})
        table.add(f"{name}.parquet", parquet_bytes(rows), 2, first_row_id=start, max_sequence_number=5)
    _blobs(table, "b.blob", 10, [b"out", PLACEHOLDER])
    table.commit()
    rows = lakebed.open(tmp_path).read(spark, "lab.t").collect()
    assert sorted(map(tuple, rows)) == [(0, b"in"), (1, b"side"), (10, b"out"), (11, b"side")]


def test_what_another_implementation_writes(spark: Any, tmp_path: Path, referees: Referees) -> None:
    """Scalars, arrays and maps, and updates of some rows of them, which it writes as placeholders."""
    kinds: dict[str, Any] = {
        "x": "BLOB",
        "a": {"type": "ARRAY", "element": "BLOB"},
        "m": {"type": "MAP", "key": "INT", "value": "BLOB"},
        "d": {"type": "MAP", "key": "DECIMAL(20, 2)", "value": "BLOB"},
    }
    fields = [("p", "STRING"), ("id", "INT"), *kinds.items()]
    referees.create(tmp_path, "lab.t", fields, partition_keys=["p"], options=EVOLVING | {"bucket": "-1"})
    rows = [
        ["u", 1, "hex:4142", ["hex:41", None], [[-5, None], [1, "hex:41"]], [["1.50", "hex:"]]],
        ["u", 2, None, [], [], None],
        ["v", 3, "hex:", None, None, []],
    ]
    steps = [
        {"columns": [name for name, _ in fields], "rows": rows},
        {"columns": ["_ROW_ID", "x"], "rows": [[1, "hex:99"]]},
        {"columns": ["_ROW_ID", "x"], "rows": [[0, None], [2, "hex:7777"]]},
    ]
    referees.change_rows(tmp_path, "lab.t", steps)
    ours = sorted(spark_rows(lakebed.open(tmp_path).read(spark, "lab.t")), key=str)
    assert [row[:3] for row in ours] == [["u", 1, None], ["u", 2, "hex:99"], ["v", 3, "hex:7777"]]
    assert [row[3:] for row in ours] == [row[3:] for row in rows]
    assert sorted(referees.rows("pypaimon", tmp_path, "lab.t"), key=str) == ours
    assert sorted(referees.rows("rust", tmp_path, "lab.t"), key=str) == ours

"""Sources that workers read, where Spark has no connector, are the same rows as Spark's own readers give."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import Row

from ingest.ingest_lake import SmallLake
from lakebed.arrow import text_lines
from lakebed.arrow.file_part import FilePart
from lakebed.arrow.scan_sources import URL, parquet_rows
from lakebed.errors import UnsupportedError
from lakebed.ingest.sources import worker_files
from lakebed.ingest.sources.csv_source import text_scan
from lakebed.ingest.sources.open_source import open_files
from lakebed.ingest.sources.source_files import SourceFormat, identify
from lakebed.ingest.sources.source_listing import FoundFile
from lakebed.ingest.sources.source_options import check_options
from lakebed.ingest.sources.source_parts import plain_path
from lakebed.store.local import LocalStore

QUOTED = 'k,s\n1,"a,b"\n\n# no comment\n2,"say ""x"""\n3,cut "here\n  \n4\n5,"",9\n'
CSV: dict[str, tuple[bytes, Mapping[str, object]]] = {
    "plain": (b"\xef\xbb\xbfk,s\r\n1,a\r2,\n\n3,c", {}),
    "quoted": (QUOTED.encode(), {}),
    "comment": (b"# what\nk,s\n#1,a\n2,b\n", {"comment": "#"}),
    "no header": (b"1,a\n2,b\n", {"header": "false"}),
    "no text": (b"k,s\n1,\xff\n2,\xc3\xa4\n3,\0\n", {}),
    "latin": ("k,s\n1,ä\n2,\0\n".encode("latin-1"), {"encoding": "ISO-8859-1"}),
    "ends": (b"k,s|1,a\n|2,b|", {"lineSep": "|"}),
    "only a header": (b"k,s\n", {}),
}
JSON: dict[str, tuple[bytes, Mapping[str, object]]] = {
    "lines": (b'\xef\xbb\xbf{"k": 1, "s": "a"}\r\n\n{"k": 1.50}\n[1]\n{"k": \n{"s": "\xff"}', {}),
    "latin": ('{"s": "ä"}\n'.encode("latin-1"), {"encoding": "ISO-8859-1"}),
    "ends": (b'{"k": 1}|{"k":\n2}|', {"lineSep": "|"}),
}


def rows(lake: SmallLake, paths: list[str], format_: SourceFormat, options: Mapping[str, object]) -> list[list[Row]]:
    """What each part says of its rows."""
    checked = check_options(format_, options)
    files = identify([FoundFile(path, path) for path in paths], partial(text_scan, format_, checked))
    found = []
    for part in open_files(lake.spark, files, format_, checked, ("k", "s")):
        fault = F.coalesce(F.lit(None), *(F.when(fault.when, F.lit(fault.code)) for fault in part.faults))
        shape = [] if part.shape is None else [F.to_json(part.shape)]
        columns = [c.value.cast("string") for c in part.columns or ()]
        values = (part.raw, plain_path(part.url), part.offset, fault, *shape, *columns)
        found.append(part.frame.select(*(v.alias(f"v{i}") for i, v in enumerate(values))).collect())
    return found


@pytest.fixture
def both(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asserts that workers read a source as Spark does, and gives the rows."""
    monkeypatch.setattr(text_lines, "_TASK_BYTES", 8)

    def read(*source: Any) -> list[list[Row]]:
        by_spark = rows(lake, *source)
        with monkeypatch.context() as patched:
            patched.setattr(worker_files, "needs_workers", lambda *_: True)
            by_workers = rows(lake, *source)
        assert [sorted(part, key=repr) for part in by_workers] == [sorted(part, key=repr) for part in by_spark]
        return by_workers

    return read


def test_lines_of_csv_are_split_alike(lake: SmallLake, both: Any) -> None:
    for name, (data, options) in CSV.items():
        found = both([lake.file(f"{name}.csv", data)], SourceFormat.CSV, options)
        assert any(found) == (name != "only a header"), name
    packed = lake.file("packed.csv.gz", gzip.compress(QUOTED.encode()))
    both([packed, lake.file("a b%.csv", QUOTED)], SourceFormat.CSV, {})


def test_lines_of_json_are_parsed_alike(lake: SmallLake, both: Any) -> None:
    for name, (data, options) in JSON.items():
        assert any(both([lake.file(f"{name}.json", data)], SourceFormat.JSON, options)), name


def test_columns_of_parquet_have_the_same_values(lake: SmallLake, both: Any) -> None:
    moments = pa.array([1, None, -1_700_000_000_123_456], pa.int64())
    columns = {
        **{f"i{t}": pa.array([1, None, 0], t) for t in map(str, (pa.int8(), pa.uint8(), pa.uint32(), pa.int64()))},
        "big": pa.array([2**64 - 1, None, 0], pa.uint64()),
        "d": pa.array([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(9, 2)),
        "f": pa.array([float("nan"), -0.0, 1.5], pa.float32()),
        "time": pa.array([1, None, 86_399_999], pa.int32()).cast(pa.time32("ms")),
        "nanos": moments.cast(pa.timestamp("ns")),
        "clock": moments.cast(pa.timestamp("us")),
        "instant": moments.cast(pa.timestamp("us", "Europe/Paris")),
        "long": pa.array([1, None, 2], pa.duration("s")),
        "day": pa.array([0, None, -86_400_000], pa.date64()),
        "bytes": pa.array([b"ab", None, b"\xff\x00"], pa.binary(2)),
        "word": pa.array(["a", None, "a"]).dictionary_encode(),
        "nothing": pa.nulls(3),
        URL: pa.array(["a", None, "c1"]),
        "c0": pa.array([1, 2, 3]),
        "list": pa.array([[1, None], None, []], pa.list_(pa.uint8())),
        "row": pa.array(
            [{"t": 1, "m": [("a", 2)]}, None, {"t": None, "m": None}],
            pa.struct([("t", pa.time64("us")), ("m", pa.map_(pa.string(), pa.int16()))]),
        ),
    }
    lake.parquet("a.parquet", columns, row_group_size=2)
    moment = pa.table({"m": moments.cast(pa.timestamp("us"))})
    pq.write_table(moment, lake.root / "b.parquet", use_deprecated_int96_timestamps=True)
    [first, second] = both([str(lake.root / f"{n}.parquet") for n in "ab"], SourceFormat.PARQUET, {})
    assert (len(first), len(second)) == (3, 3)


def test_what_only_sparks_readers_read_is_refused(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_files, "needs_workers", lambda *_: True)
    csv = lake.file("a.csv", b"k\n1\n")
    days = pa.table({"d": pa.array([0], pa.date32())})
    old = lake.parquet("old.parquet", days.replace_schema_metadata({"org.apache.spark.version": "2.4.8"}))
    inner = pa.table({"s": pa.array([{"m": 0}], pa.struct([("m", pa.timestamp("us"))]))})
    pq.write_table(inner, lake.root / "inner.parquet", use_deprecated_int96_timestamps=True)
    late = pa.table({"m": pa.array([9_214_646_400_000_000], pa.int64()).cast(pa.timestamp("us"))})
    for path, format_, options in [
        (csv, SourceFormat.CSV, {"multiLine": "true"}),
        (csv, SourceFormat.CSV, {"encoding": "UTF-16"}),
        (old, SourceFormat.PARQUET, {}),
        (str(lake.root / "inner.parquet"), SourceFormat.PARQUET, {}),
        (lake.parquet("a.parquet", days), SourceFormat.PARQUET, {"datetimeRebaseMode": "LEGACY"}),
    ]:
        with pytest.raises(UnsupportedError, match="LB6462") as refused:
            rows(lake, [path], format_, options)
        assert path in str(refused.value)
    pq.write_table(late, lake.root / "late.parquet", use_deprecated_int96_timestamps=True)
    path = str(lake.root / "late.parquet")
    part = FilePart(path, (lake.root / "late.parquet").stat().st_size, 0, ())
    with pytest.raises(UnsupportedError, match="LB5604"):
        list(parquet_rows(LocalStore(), path, part, pa.schema([("m", pa.timestamp("us", "UTC"))])))

"""What a source says by saying nothing: empty texts of CSV files, columns without a type; instants out of range."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from ingest.ingest_lake import SmallLake
from lakebed.model import Bool, Date, Field, Int32, Int64, List, Map, Option, String, Struct, Timestamp, TimeUnit

EMPTIES = 'id,t,u,n,l\n1,"",,,\n2,"NA",NA,"",""\n3," ",x,7,[1]\n'


def optional(name: str, type_: Any) -> Field:
    return Field(name, Option(type_))


@pytest.mark.parametrize("quoted_lines", [False, True], ids=["by line", "by reader"])
def test_a_quoted_empty_text_is_a_text_and_an_unquoted_one_is_none(lake: SmallLake, quoted_lines: bool) -> None:
    fields = (optional("t", String()), optional("u", String()), optional("n", Int32()), optional("l", List(Int32())))
    lake.create(Field("id", Int64()), Field("o", Option(Int32())), *fields)
    cases: dict[tuple[tuple[str, str], ...], list[tuple[Any, ...]]] = {
        (): [("", None, None, None), ("NA", "NA", None, None), (" ", "x", 7, [1])],
        (("nullValue", "NA"),): [("", None, None, None), (None, None, None, None), (" ", "x", 7, [1])],
        (("emptyValue", ""),): [(None, None, None, None), ("NA", "NA", None, None), (" ", "x", 7, [1])],
        (("emptyValue", "8"),): [("8", None, None, None), ("NA", "NA", 8, None), (" ", "x", 7, [1])],
    }
    for i, (options, expected) in enumerate(cases.items()):
        text = EMPTIES if i < 3 else EMPTIES.replace('"",""', '"",')
        path = lake.file(f"{i}.csv", text)
        result = lake.ingest(path, options={**dict(options), "multiLine": quoted_lines})
        assert result.rows_quarantined == 0
        rows = lake.rows()[-3:]
        assert [(r["t"], r["u"], r["n"], r["l"]) for r in rows] == expected, options
    lake.ingest(lake.file("bad.csv", 'id,n\n"",1\n'))
    assert lake.problems() == {("id", "LB6201", "NULL")}
    (bad,) = lake.bad()
    assert bad["raw"] == '{"id":"","n":"1"}'


def void_table() -> pa.Table:
    void = pa.null()
    struct = pa.struct([("v", void), ("i", pa.int32())])
    return pa.table(
        {
            "n": pa.nulls(2),
            "b": pa.nulls(2),
            "d": pa.nulls(2),
            "s": pa.array([{"v": None, "i": 1}, None], struct),
            "l": pa.array([[None, None], []], pa.list_(void)),
            "m": pa.array([[("a", None)], None], pa.map_(pa.string(), void)),
            "a": pa.nulls(2),
        }
    )


@pytest.mark.parametrize("source", ["parquet", "frame"])
@pytest.mark.usefixtures("generated_code")
def test_null_without_a_type_fits_every_optional_column(lake: SmallLake, source: str) -> None:
    inner = Struct((optional("v", Date()), optional("i", Int32())))
    fields = [optional("n", Int32()), optional("b", Bool()), optional("d", Timestamp(TimeUnit.MICROSECOND))]
    fields += [optional("s", inner), optional("l", List(Option(String()))), optional("m", Map(String(), Option(inner)))]
    lake.create(*fields, optional("a", List(Int32())))
    frame = lake.spark.sql(
        "select null n, null b, null d, null a, "
        "named_struct('v', null, 'i', 1) s, array(null, null) l, map('a', null) m"
    )
    result = lake.ingest(lake.parquet("a.parquet", void_table()) if source == "parquet" else frame)
    assert result.rows_quarantined == 0
    nothing = dict.fromkeys(("n", "b", "d", "a"))
    assert lake.rows()[0] == {**nothing, "s": {"v": None, "i": 1}, "l": [None, None], "m": [("a", None)]}


@pytest.mark.usefixtures("generated_code")
def test_null_without_a_type_in_a_required_place_makes_the_row_bad(lake: SmallLake) -> None:
    inner = Struct((Field("v", Date()), optional("i", Int32())))
    lake.create(optional("n", Int32()), optional("s", inner), optional("l", List(String())))
    lake.ingest(lake.parquet("a.parquet", void_table().select(["n", "s", "l"])))
    assert lake.problems() == {("s.v", "LB6201", "NULL"), ("l[0]", "LB6201", "NULL"), ("l[1]", "LB6201", "NULL")}
    assert lake.rows() == [{"n": None, "s": None, "l": []}]


@pytest.mark.usefixtures("generated_code")
def test_milliseconds_that_microseconds_do_not_hold_are_bad(lake: SmallLake) -> None:
    stamp = Timestamp(TimeUnit.MILLISECOND)
    lake.create(optional("i", Int32()), optional("t", stamp), optional("l", List(Option(stamp))))
    late = 2**63 - 1
    for zone in (None, "UTC"):
        type_ = pa.timestamp("ms", zone)
        values = [-1, 1_700_000_000_123, None, late]
        columns = {"i": pa.array([1, 2, 3, 4], pa.int32()), "t": pa.array(values, type_)}
        columns["l"] = pa.array([[-1], [None], None, [-late]], pa.list_(type_))
        result = lake.ingest(lake.parquet(f"{zone}.parquet", columns))
        assert (result.rows_written, result.rows_quarantined) == (3, 1)
    assert {(path, code) for path, code, _ in lake.problems()} == {("t", "LB6203"), ("l[0]", "LB6203")}
    before = datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)
    later = datetime(2023, 11, 14, 22, 13, 20, 123000, UTC)
    rows = sorted(lake.rows(), key=lambda r: r["i"])
    assert [r["t"] and r["t"].replace(tzinfo=UTC) for r in rows] == [before, before, later, later, None, None]


@pytest.mark.usefixtures("generated_code")
def test_int96_is_rounded_down_before_1970_and_wraps_beyond_64_bits(lake: SmallLake) -> None:
    """The second is a known limit of Spark's reader: nothing that is read before the values tells of such ones."""
    micro = Timestamp(TimeUnit.MICROSECOND)
    lake.create(optional("t", micro), optional("far", micro))
    nanos = [-1, -999, -1000, -1001, 1, 1001, -86_400 * 10**9 - 1]
    beyond = 2**64 // 10**6 + 1_700_000_000
    columns = {"t": pa.array(nanos, pa.timestamp("ns")), "far": pa.array([beyond] * len(nanos), pa.timestamp("s"))}
    lake.ingest(lake.parquet("a.parquet", columns, use_deprecated_int96_timestamps=True))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    rows = lake.rows()
    found = [(r["t"].replace(tzinfo=UTC) - epoch) // timedelta(microseconds=1) for r in rows]
    assert found == [n // 1000 for n in nanos]
    assert {r["far"].replace(tzinfo=UTC) for r in rows} == {epoch + timedelta(microseconds=beyond * 10**6 - 2**64)}

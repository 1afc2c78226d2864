"""From a file's arrays to a table's columns: nested values of every length, sliced arrays, floors, refusals."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.arrow.convert_arrays import Stored, check_exact, convert, find
from lakebed.convert.arrow_rows import row_type
from lakebed.errors import UnsupportedError
from lakebed.physical import parse
from lakebed.physical.paimon_types import Array, BigInt, DataField, DataType, Int, Map, Row, VarChar

AT = Stored("/data-1.parquet", "c")
#: A file and what is wanted of it: b is renamed and widened, a is dropped, z is new, in a list in a map.
HAVE = Map(VarChar(9), Array(Row((DataField(7, "a", VarChar(9)), DataField(8, "b", Int())))))
WANT = Map(VarChar(9), Array(Row((DataField(9, "z", Int()), DataField(8, "y", BigInt())))))

_text = st.text("ab", max_size=2)
_int = st.none() | st.integers(-(2**31), 2**31 - 1)
_row = st.none() | st.fixed_dictionaries({"a": st.none() | _text, "b": _int})
_value = st.none() | st.dictionaries(_text, st.none() | st.lists(_row, max_size=3), max_size=3)


def type_of(text: str) -> DataType:
    """The type of its text; `[T]` is an array."""
    return Array(parse(text[1:-1])) if text.startswith("[") else parse(text)


@given(st.lists(_value, max_size=6), st.integers(0, 3), st.booleans())
def test_nested_values_are_rebuilt_by_id_also_in_slices(values: list[Any], start: int, large: bool) -> None:
    def wanted(value: Any) -> Any:
        if value is None:
            return None
        rows = {k: None if v is None else [r and {"z": None, "y": r["b"]} for r in v] for k, v in value.items()}
        return list(rows.items())

    inner = pa.struct([("b", pa.int32()), ("a", pa.string())])
    stored = pa.map_(pa.string(), (pa.large_list if large else pa.list_)(inner))
    array = pa.array([None if v is None else list(v.items()) for v in values], stored).slice(start)
    made = convert(array, HAVE, WANT, AT)
    made.validate(full=True)
    assert made.type == row_type(WANT)
    assert made.to_pylist() == [wanted(v) for v in values[start:]]


@given(st.lists(st.none() | st.integers(-(10**15), 10**15)))
def test_nanoseconds_are_cut_down_to_microseconds(nanos: list[int | None]) -> None:
    type_ = parse("TIMESTAMP(9)")
    made = convert(pa.array(nanos, pa.timestamp("ns")), type_, type_, AT)
    assert made.cast(pa.int64()).to_pylist() == [None if n is None else n // 1000 for n in nanos]


def test_a_time_is_milliseconds_and_an_instant_has_a_zone() -> None:
    time, instant = parse("TIME(6)"), parse("TIMESTAMP(3) WITH LOCAL TIME ZONE")
    assert convert(pa.array([1_999], pa.time64("us")), time, time, AT).to_pylist() == [1]
    made = convert(pa.array([-1], pa.timestamp("ms")), instant, instant, AT)
    assert (made.type, made.cast(pa.int64()).to_pylist()) == (pa.timestamp("us", "UTC"), [-1000])


@pytest.mark.parametrize(
    ("have", "want"),
    [
        *(("TINYINT", "BIGINT"), ("FLOAT", "DOUBLE"), ("DECIMAL(9, 2)", "DECIMAL(12, 4)"), ("VARCHAR(3)", "STRING")),
        *(("INT NOT NULL", "INT"), ("VARBINARY(3)", "BYTES"), ("[INT]", "[BIGINT]"), ("[BIGINT]", "[STRING]")),
    ],
)
def test_exact_conversions(have: str, want: str) -> None:
    check_exact(type_of(have), type_of(want), AT, orc=False)
    made = convert(pa.nulls(2, row_type(type_of(have))), type_of(have), type_of(want), AT)
    assert (made.type, made.null_count) == (row_type(type_of(want)), 2)


@pytest.mark.parametrize(
    ("have", "want", "orc", "code"),
    [
        *(
            ("DOUBLE", "STRING", False, "LB5603"),
            ("STRING", "DATE", False, "LB5603"),
            ("INT", "BYTES", False, "LB5603"),
        ),
        *(("DECIMAL(9, 4)", "DECIMAL(12, 2)", False, "LB5603"), ("DECIMAL(9, 2)", "DECIMAL(9, 4)", False, "LB5603")),
        *(("TIMESTAMP(3)", "TIMESTAMP(6)", True, "LB5604"), ("TIMESTAMP(3)", "TIMESTAMP(3)", True, "LB5604")),
        *(("[TIMESTAMP(3)]", "[TIMESTAMP(3)]", True, "LB5604"), ("VARIANT", "VARIANT", False, "LB5604")),
        ("[DOUBLE]", "[STRING]", False, "LB5603"),
    ],
)
def test_all_others_are_refused(have: str, want: str, orc: bool, code: str) -> None:
    with pytest.raises(UnsupportedError, match=r"/data-1\.parquet: column c.*(?s:.*)lake\.read") as refused:
        check_exact(type_of(have), type_of(want), AT, orc=orc)
    assert refused.value.code == code


def test_a_value_whose_cast_is_not_certain_is_refused_by_its_place() -> None:
    have, want = type_of("[STRING]"), type_of("[INT]")
    assert convert(pa.array([["1", None], None]), have, want, AT).to_pylist() == [[1, None], None]
    with pytest.raises(UnsupportedError, match=r"LB5603.*/data-1\.parquet: column c\.element.*'1\.5'"):
        convert(pa.array([["1.5"]]), have, want, AT)


def test_keys_of_maps_never_change() -> None:
    with pytest.raises(UnsupportedError, match="LB5603"):
        check_exact(Map(Int(), Int()), Map(BigInt(), Int()), AT, orc=False)


def test_a_file_that_holds_another_type_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="LB5606"):
        convert(pa.array([1.5]), BigInt(), BigInt(), AT)
    with pytest.raises(UnsupportedError, match="LB5606"):
        convert(pa.array([300], pa.int32()), parse("TINYINT"), parse("TINYINT"), AT)


def test_int96_that_could_mean_two_moments_is_refused() -> None:
    type_ = parse("TIMESTAMP(9)")
    late = pa.array([9_300_000_000_000_000], pa.timestamp("us"))
    assert convert(late, type_, type_, AT).cast(pa.int64()).to_pylist() == [9_300_000_000_000_000]
    with pytest.raises(UnsupportedError, match="LB5604"):
        convert(late, type_, type_, Stored("/data-1.parquet", "c", int96=True))


def test_names_are_found_as_they_are_and_else_in_another_case() -> None:
    assert (find(["A", "a"], "a"), find(["A", "b"], "a"), find(["A", "a"], "À"), find(["Aa", "aA"], "aa")) == (
        1,
        0,
        None,
        None,
    )

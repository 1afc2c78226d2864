"""Generate Arrow types, fields and schemas. Importing this module needs PyArrow."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lakebed.testing.schemas import column_names

_UNITS = st.sampled_from(["s", "ms", "us", "ns"])
_ZONES = st.none() | st.sampled_from(["UTC", "Europe/Paris", "+07:30", "-03:00"])
_INDICES = st.sampled_from(
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
)
_RUN_ENDS = st.sampled_from([pa.int16(), pa.int32(), pa.int64()])
_FIXED = (
    *(pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()),
    *(pa.date32(), pa.date64()),
)
_DIGITS = {"decimal32": 9, "decimal64": 18, "decimal128": 38, "decimal256": 76}


@cache
def arrow_types(max_leaves: int = 6) -> st.SearchStrategy[pa.DataType]:
    """Any Arrow type of this PyArrow that has a logical type, nested, dictionaries and run ends included."""
    return st.recursive(_leaves(), _nested, max_leaves=max_leaves)


@cache
def arrow_metadata() -> st.SearchStrategy[dict[bytes, bytes] | None]:
    """Metadata of a field or a schema, often none; not always text."""
    texts = st.text(max_size=5).map(str.encode) | st.binary(max_size=3)
    keys = texts.filter(lambda key: not key.startswith((b"ARROW:", b"lakebed.")))
    return st.none() | st.dictionaries(keys | st.just(b"PARQUET:field_id"), texts, min_size=1, max_size=2)


def arrow_fields(types: st.SearchStrategy[pa.DataType] | None = None) -> st.SearchStrategy[pa.Field]:
    """A named field, nullable or not, with metadata."""
    return st.builds(_field, column_names(), arrow_types() if types is None else types, st.booleans(), arrow_metadata())


def arrow_schemas(*, max_size: int = 5) -> st.SearchStrategy[pa.Schema]:
    """A schema whose names all differ, with metadata."""
    fields = st.lists(arrow_fields(), max_size=max_size, unique_by=lambda field: field.name)
    return st.builds(pa.schema, fields, arrow_metadata())


def _leaves() -> st.SearchStrategy[pa.DataType]:
    times = st.sampled_from([pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")])
    return st.one_of(
        st.sampled_from(_FIXED),
        times,
        st.builds(pa.timestamp, _UNITS, _ZONES),
        st.builds(pa.duration, _UNITS),
        st.builds(pa.binary, st.integers(0, 64)),
        *(_decimals(getattr(pa, name), digits) for name, digits in _DIGITS.items() if hasattr(pa, name)),
    )


def _decimals(make: Any, digits: int) -> st.SearchStrategy[pa.DataType]:
    return st.builds(make, st.integers(1, digits), st.integers(-5, digits + 5))


def _nested(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    """Types around others. PyArrow refuses some of them; what it makes is what there is."""
    items = _children(inner, "item")
    members = st.lists(arrow_fields(inner), max_size=3, unique_by=lambda field: field.name)
    keys = _children(inner.filter(lambda type_: type_ != pa.null()), "key").map(_never_null)
    return st.one_of(
        st.builds(pa.list_, items),
        st.builds(pa.large_list, items),
        st.builds(pa.list_view, items),
        st.builds(pa.large_list_view, items),
        st.builds(pa.list_, items, st.integers(0, 4)),
        st.builds(pa.struct, members),
        st.builds(pa.map_, keys, _children(inner, "value"), keys_sorted=st.booleans()),
        st.builds(_dictionary, _INDICES, inner, st.booleans()),
        st.builds(pa.run_end_encoded, _RUN_ENDS, inner),
    )


def _children(inner: st.SearchStrategy[pa.DataType], usual: str) -> st.SearchStrategy[pa.Field]:
    names = st.just(usual) | column_names()
    return st.builds(_field, names, inner, st.booleans(), arrow_metadata())


def _field(name: str, type_: pa.DataType, nullable: bool, metadata: dict[bytes, bytes] | None) -> pa.Field:
    return pa.field(name, type_, nullable or type_ == pa.null(), metadata)


def _never_null(field: pa.Field) -> pa.Field:
    return field.with_nullable(False)


def _dictionary(index: pa.DataType, values: pa.DataType, ordered: bool) -> pa.DataType:
    return pa.dictionary(index, values, ordered)

"""Map Arrow types to the logical types that say exactly the same."""

from __future__ import annotations

import pyarrow as pa

from lakebed.model import LogicalType, TimeUnit
from lakebed.model import types as logical

PLAIN: dict[LogicalType, pa.DataType] = {
    logical.Null(): pa.null(),
    logical.Bool(): pa.bool_(),
    logical.Int8(): pa.int8(),
    logical.Int16(): pa.int16(),
    logical.Int32(): pa.int32(),
    logical.Int64(): pa.int64(),
    logical.UInt8(): pa.uint8(),
    logical.UInt16(): pa.uint16(),
    logical.UInt32(): pa.uint32(),
    logical.UInt64(): pa.uint64(),
    logical.Float16(): pa.float16(),
    logical.Float32(): pa.float32(),
    logical.Float64(): pa.float64(),
}
UNITS = {
    TimeUnit.SECOND: "s",
    TimeUnit.MILLISECOND: "ms",
    TimeUnit.MICROSECOND: "us",
    TimeUnit.NANOSECOND: "ns",
}

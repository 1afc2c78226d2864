"""Convert a column's values, as data files hold them, to the keys that file indexes store."""

from __future__ import annotations

import struct

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.physical.paimon_types import Decimal, LocalZonedTimestamp, Timestamp
from lakebed.read.file_index.keys import Coding, float_key

_MICROS, _NANOS_PER_MICRO = 6, 1_000


def index_keys(values: pa.Array, coding: Coding) -> pa.Array:
    """The keys of values, NULL where these are: 64-bit numbers, or bytes."""
    match coding.type:
        case _ if coding.code is None:
            return values.cast(pa.binary())
        case _ if coding.floats:
            return _float_keys(values, coding)
        case Decimal():
            return _unscaled(values).cast(pa.int64())
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p) if p > _MICROS:
            return _floored(values.cast(pa.int64()), _NANOS_PER_MICRO)
        case _ if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
            return values.cast(pa.int32()).cast(pa.int64())
        case _:
            return values.cast(pa.int64())


def in_order(bits: pa.Array, width: int) -> pa.Array:
    """Numbers in the order of the floats whose bits they are, and the other way round."""
    flipped = pc.bit_wise_xor(bits, pa.scalar((1 << (8 * width - 1)) - 1, pa.int64()))
    return pc.if_else(pc.less(bits, 0), flipped, bits)


def _float_keys(values: pa.Array, coding: Coding) -> pa.Array:
    """NaN is one key, whatever its bits are."""
    assert coding.code is not None
    width = struct.calcsize(coding.code)
    bits = values.view(pa.int32() if width == 4 else pa.int64()).cast(pa.int64())
    nan = pa.scalar(float_key(struct.pack(f">{coding.code}", float("nan"))), pa.int64())
    return pc.if_else(pc.is_nan(values), nan, in_order(bits, width))


def _unscaled(values: pa.Array) -> pa.Array:
    """Decimals without their points."""
    whole = pa.decimal128(values.type.precision, 0)
    return pa.Array.from_buffers(whole, len(values), values.buffers(), values.null_count, values.offset)


def _floored(numbers: pa.Array, divisor: int) -> pa.Array:
    toward_zero = pc.divide(numbers, divisor)
    below = pc.less(pc.subtract(numbers, pc.multiply(toward_zero, divisor)), 0)
    return pc.subtract(toward_zero, below.cast(pa.int64()))

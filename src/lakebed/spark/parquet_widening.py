"""Tell which stored types Spark's Parquet reader itself gives as wider ones.

Asked for BIGINT, it reads pages of INT as such, whatever their encoding, in batches and row by row, and it does not
compare a file with a filter that no INT can be compared with.
"""

from __future__ import annotations

from lakebed.physical.paimon_types import (
    DataType,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Timestamp,
    TinyInt,
)
from lakebed.read.file_index.keys import keeps_values


def widens(stored: DataType, wanted: DataType) -> bool:
    """Whether a scan that is asked for the wanted type gives stored values as a cast to it does.

    Decimals and timestamps are left to casts: what is done to filters on them depends on the stored type.
    """
    match stored, wanted:
        case ((TinyInt() | SmallInt() | Int() | Float()), Double()):
            return True
        case ((Decimal() | Timestamp() | LocalZonedTimestamp()), _):
            return False
        case _:
            return keeps_values(stored, wanted)

"""Convert the logical schema from and to Arrow (RFC-016). Importing it needs PyArrow 18.

| logical type | Arrow | with a hint |
|---|---|---|
| Bool, Null, Int8..Int64, UInt8..UInt64, Float16..Float64 | the same | |
| String | string | large_string, string_view |
| Binary; Binary{n} | binary; fixed_size_binary(n) | large_binary, binary_view |
| Date | date32 | date64 |
| Time, Timestamp, Duration | time32 or time64, timestamp, duration, of the unit | timestamp without zone |
| Decimal | decimal128, from 39 digits on decimal256 | decimal32, decimal64, decimal128, decimal256 |
| List; List{n} | list; fixed_size_list(n) | large_list, list_view, large_list_view |
| Map | map | |
| Struct | struct | |
| any | | dictionary, run_end_encoded, extension types |

`Option` is Arrow's nullability, at every level. A conversion to Arrow also puts the schema itself into the metadata,
from where the way back takes it as long as the columns are those that it describes; see
`lakebed.convert.arrow.to_arrow`.
"""

from lakebed.convert.arrow.from_arrow import from_arrow
from lakebed.convert.arrow.settings import ToArrow
from lakebed.convert.arrow.to_arrow import CARRIER_KEY, to_arrow

__all__ = ["CARRIER_KEY", "ToArrow", "from_arrow", "to_arrow"]

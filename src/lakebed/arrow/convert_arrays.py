"""Convert arrays of a data file to the table's columns, by field id, at every nesting level.

Only what is certain to be the value that Spark's own readers and casts give is converted; the rest is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.cast_arrays import find_cast, floor_div
from lakebed.convert.arrow_rows import row_type
from lakebed.errors import LakebedError, UnsupportedError
from lakebed.physical.paimon_types import (
    Array,
    BigInt,
    Char,
    DataField,
    DataType,
    Int,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    Unknown,
    Variant,
    equal_ignoring_nullability,
    type_line,
)

#: From here on, INT96 timestamps may be ones before 1970 that some writers store in a way of their own (2262-04-11).
INT96_END = 9_214_646_400_000_000
_INTEGERS = (TinyInt, SmallInt, Int, BigInt)
_PER_MICRO = {"s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}
#: For the command line and for programs: a Spark without a connector for the storage reads as this does.
_BY_SPARK = "read with --engine spark, in a Spark with a connector for the storage: Spark's own readers read it"
_USE_LAKE_READ = "use lake.read(...) in a Spark with a connector for the storage: Spark's own readers read it"


@dataclass(frozen=True, slots=True)
class Stored:
    """Where an array comes from: the path of its file, the path of its column, and whether the file holds INT96.

    `time_zone` is that of casts between wall clocks and instants; without it there are none.
    """

    file: str
    column: str
    int96: bool = False
    time_zone: str | None = None

    def inside(self, part: str) -> Stored:
        """A part of the column."""
        return replace(self, column=f"{self.column}.{part}")

    def refused(self, code: str, message: str, **parts: Any) -> LakebedError:
        """The refusal of this column of this file."""
        return UnsupportedError.of(
            code,
            f"data file {self.file}: column {self.column}: {message}",
            path=self.file,
            remedy=_BY_SPARK,
            python_remedy=_USE_LAKE_READ,
            **parts,
        )


def check_exact(have: DataType, want: DataType, at: Stored, *, orc: bool) -> None:
    """Raise UnsupportedError where a value stored as `have` would not come out as `lake.read` gives it as `want`."""
    match have, want:
        case Row(), Row():
            wanted = {f.id: f for f in want.fields}
            for member in have.fields:
                if member.id in wanted:
                    check_exact(member.type, wanted[member.id].type, at.inside(member.name), orc=orc)
        case Array(), Array():
            check_exact(have.element, want.element, at.inside("element"), orc=orc)
        case Multiset(), Multiset():
            check_exact(have.element, want.element, at.inside("element"), orc=orc)
        case Map(), Map():
            if not equal_ignoring_nullability(have.key, want.key):
                raise _changed(have.key, want.key, at.inside("key"))
            check_exact(have.key, want.key, at.inside("key"), orc=orc)
            check_exact(have.value, want.value, at.inside("value"), orc=orc)
        case ((Variant() | Unknown()), _):
            raise at.refused("LB5604", f"values of type {have.root} are not read in Arrow")
        case ((Timestamp() | LocalZonedTimestamp()), _) if orc:
            raise at.refused(
                "LB5604", f"values of type {have.root} in ORC depend on clocks that only Spark's JVM knows"
            )
        case Char(), _ if orc:
            raise at.refused("LB5604", f"values of type {have.root} in ORC end with as many blanks as its reader likes")
        case _ if find_cast(have, want, time_zone=at.time_zone) is None:
            raise _changed(have, want, at)


def _changed(have: DataType, want: DataType, at: Stored) -> LakebedError:
    old, new = type_line(have), type_line(want)
    return at.refused("LB5603", f"{old} is not read as {new} in Arrow", expected=new, found=old)


def convert(array: pa.Array, have: DataType, want: DataType, at: Stored) -> pa.Array:
    """The values of `want`, of the type `row_type(want)`, from an array that a file gives for the stored type `have`.

    Members of structs are found by the names of `have` and matched by id; one that is not there is NULL.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    match have, want:
        case Row(), Row() if pa.types.is_struct(array.type):
            return _struct(array, have, want, at)
        case (Array(), Array()) if _is_list(array.type):
            return _list(array, lambda values: convert(values, have.element, want.element, at.inside("element")))
        case Map(), Map() if pa.types.is_map(array.type):
            return _map(array, have.key, want.key, lambda v: convert(v, have.value, want.value, at.inside("value")), at)
        case Multiset(), Multiset() if pa.types.is_map(array.type):
            return _map(array, have.element, want.element, lambda v: v.cast(pa.int32()), at)
        case _:
            return _cast(_leaf(array, have, at), have, want, at)


def _cast(values: pa.Array, have: DataType, want: DataType, at: Stored) -> pa.Array:
    cast = find_cast(have, want, time_zone=at.time_zone)
    if cast is None:
        raise _changed(have, want, at)
    try:
        return cast(values)
    except (ValueError, pa.ArrowException) as e:
        message = f"a value of type {type_line(have)} is not read as {type_line(want)} in Arrow: {e}"
        raise at.refused("LB5603", message, expected=type_line(want), found=type_line(have)) from e


def nulls(count: int, type_: DataType) -> pa.Array:
    """A column that a file does not have."""
    return pa.nulls(count, row_type(type_))


def find(names: Sequence[str], name: str) -> int | None:
    """The place of a name: as it is, or else in another case where that is the only one."""
    exact = [i for i, n in enumerate(names) if n == name]
    found = exact or [i for i, n in enumerate(names) if n.casefold() == name.casefold()]
    return found[0] if len(found) == 1 else None


def _struct(array: pa.Array, have: Row, want: Row, at: Stored) -> pa.Array:
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    children = array.flatten()
    stored = {f.id: f for f in have.fields}
    made = [_member(children, names, stored.get(f.id), f, len(array), at) for f in want.fields]
    fields = list(row_type(want))
    return pa.StructArray.from_arrays(made, fields=fields, mask=array.is_null())


def _member(
    children: Sequence[pa.Array],
    names: Sequence[str],
    stored: DataField | None,
    wanted: DataField,
    count: int,
    at: Stored,
) -> pa.Array:
    place = None if stored is None else find(names, stored.name)
    if stored is None or place is None:
        return nulls(count, wanted.type)
    return convert(children[place], stored.type, wanted.type, at.inside(wanted.name))


def _is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


def _list(array: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    values = change(array.values)
    return pa.ListArray.from_arrays(_offsets(array), values, mask=array.is_null())


def _map(
    array: pa.Array, have: DataType, want: DataType, change: Callable[[pa.Array], pa.Array], at: Stored
) -> pa.Array:
    keys = convert(array.keys, have, want, at.inside("key"))
    return pa.MapArray.from_arrays(_offsets(array), keys, change(array.items), mask=array.is_null())


def _offsets(array: pa.Array) -> pa.Array:
    """The offsets of an array's own part of its buffers, as an array of their own."""
    return pc.add(array.offsets.cast(pa.int32()), pa.scalar(0, pa.int32()))


def _leaf(array: pa.Array, have: DataType, at: Stored) -> pa.Array:
    """The stored values as Spark's readers give them, of the type `row_type(have)`."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type):
        return nulls(len(array), have)
    found, wanted = array.type, row_type(have)
    match have:
        case Timestamp() | LocalZonedTimestamp() if pa.types.is_timestamp(found):
            return _stamps(array, wanted, at)
        case Time() if pa.types.is_time(found):
            return _milliseconds(array)
        case _ if found == wanted or _is_kin(found, wanted):
            try:
                return array.cast(wanted)
            except pa.ArrowInvalid as e:
                raise at.refused("LB5606", f"a value is not of type {have}: {e}") from e
    raise at.refused(
        "LB5606", f"the file holds {found} where its schema says {type_line(have)}", expected=type_line(have)
    )


def _is_kin(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether the file's type holds the same values in another form."""
    t = pa.types
    if t.is_decimal(wanted):
        return bool(t.is_decimal128(found) and found.scale == wanted.scale and found.precision <= wanted.precision)
    bytes_ = t.is_string(found) or t.is_large_string(found) or t.is_binary(found) or t.is_large_binary(found)
    if t.is_string(wanted) or t.is_binary(wanted):
        return bool(bytes_ or (t.is_fixed_size_binary(found) and t.is_binary(wanted)))
    # Parquet has no integers of less than 32 bits.
    return bool(
        t.is_signed_integer(found) and t.is_signed_integer(wanted) and found.bit_width <= max(32, wanted.bit_width)
    )


def _stamps(array: pa.Array, wanted: pa.DataType, at: Stored) -> pa.Array:
    """Down to whole microseconds; the number that is stored counts, whatever the file says of zones."""
    factor, divisor = _PER_MICRO[array.type.unit]
    numbers = array.cast(pa.int64())
    if factor != 1:
        numbers = pc.multiply_checked(numbers, factor)
    micros = floor_div(numbers, divisor)
    if at.int96 and (pc.max(micros).as_py() or 0) >= INT96_END:
        raise at.refused("LB5604", "an INT96 timestamp from the year 2262 on can mean one before 1970, too")
    return micros.cast(wanted)


def _milliseconds(array: pa.Array) -> pa.Array:
    """Milliseconds of the day."""
    factor, divisor = {"s": (1000, 1), "ms": (1, 1), "us": (1, 1000), "ns": (1, 1_000_000)}[array.type.unit]
    numbers = array.cast(pa.int32() if pa.types.is_time32(array.type) else pa.int64()).cast(pa.int64())
    return floor_div(pc.multiply(numbers, factor), divisor).cast(pa.int32())

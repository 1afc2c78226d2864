"""Convert Arrow arrays as Spark gives them to the forms in which data files hold them (section "File Format").

What every reader of the table format expects: TIMESTAMP(0..3) in milliseconds, (4..6) in microseconds, finer ones where
they are asked for in nanoseconds, TIME in milliseconds, members of structs with the ids of their fields, required
columns and members as such. Items of lists and values of maps are optional whatever their types say: the Java reader of
Parquet (0.9) gives NULL for required ones that follow an empty list or map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.convert.arrow_rows import FLAT
from lakebed.diagnostics import reason_of
from lakebed.errors import WriteError
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import ELEMENT, KEY, VALUE, fold
from lakebed.physical.paimon_types import (
    Array,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    type_line,
)

MISFIT = "LB6501"
MISSING = "LB6502"
EARLY_FRACTION = "LB6507"

_MILLIS, _MICROS = 3, 6
_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_Convert = Callable[[pa.Array], pa.Array]


class _MisfitError(ValueError):
    """A part of a column cannot be stored as its type says; `path` leads from the column to it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormatForms:
    """What differs between file formats: the metadata by which PyArrow gives a field its id, and the form of TIME.

    `has_early_fractions`: moments before 1970 may have fractions of a second.
    """

    field_id: bytes
    time: pa.DataType
    has_early_fractions: bool = True


PARQUET = FormatForms(b"PARQUET:field_id", pa.time32("ms"))
#: ORC has no times of day. Of fractions of a second before 1970, PyArrow writes what no other ORC reader takes.
ORC = FormatForms(b"paimon.id", pa.int32(), has_early_fractions=False)


@dataclass(frozen=True, slots=True)
class StoredForm:
    """How files hold values of a type: their Arrow type, and what makes them of an array as Spark gives it.

    `nullable` is the type's own; `convert` leaves NULLs that it forbids for whoever knows where they stand.
    """

    type: pa.DataType
    nullable: bool
    convert: _Convert


@lru_cache(maxsize=1024)
def stored_form(type_: DataType, forms: FormatForms = PARQUET) -> StoredForm:
    """The form of values of a type. Types that `unwritable_in` refuses have none."""
    made: StoredForm = fold(type_, partial(_form, forms))
    return made


def stored_field(field: DataField, forms: FormatForms) -> pa.Field:
    """A column of a file."""
    return _field(forms, field, stored_form(field.type, forms))


def stored_column(array: pa.Array, field: DataField, forms: FormatForms) -> pa.Array:
    """The values of a column as a file holds them. NULL at the top is let through; inside it is where it may be.

    Raises WriteError where a value does not fit the type.
    """
    try:
        return stored_form(field.type, forms).convert(array)
    except _MisfitError as e:
        where = path_text((field.name, *e.path))
        raise WriteError.of(
            e.code, f"column {where}: {e}", path=where, expected=type_line(field.type), found=str(array.type)
        ) from e


def missing_value(name: str, type_: DataType) -> WriteError:
    """The error for a row without a value in a required column."""
    message, mend = f"column {name}: {_NO_VALUE}", "fill it, or leave the row out"
    return WriteError.of(MISSING, message, path=name, expected=type_line(type_), found="NULL", remedy=mend)


_NO_VALUE = "a required value is missing"


def _field(forms: FormatForms, field: DataField, form: StoredForm) -> pa.Field:
    return pa.field(field.name, form.type, form.nullable, {forms.field_id: str(field.id).encode()})


def _form(forms: FormatForms, type_: DataType, inner: tuple[StoredForm, ...]) -> StoredForm:
    wanted: pa.DataType
    convert: _Convert
    match type_:
        case Row():
            fields = [_field(forms, f, form) for f, form in zip(type_.fields, inner, strict=True)]
            wanted = pa.struct(fields)
            convert = partial(_struct, fields, inner)
        case Array():
            wanted = pa.list_(pa.field(ELEMENT, inner[0].type))
            convert = partial(_list, wanted, inner[0])
        case Map():
            wanted = pa.map_(inner[0].type, pa.field(VALUE, inner[1].type))
            convert = partial(_map, wanted, inner)
        case Multiset():
            wanted = pa.map_(inner[0].type, pa.field(VALUE, pa.int32()))
            convert = partial(_map, wanted, (inner[0], _COUNT))
        case Timestamp() | LocalZonedTimestamp():
            wanted = _stamp_type(type_)
            convert = partial(_stamps if forms.has_early_fractions else _orc_stamps, wanted)
        case Time():
            wanted = forms.time
            convert = partial(_times, wanted)
        case Decimal():
            wanted = pa.decimal128(type_.precision, type_.scale)
            convert = partial(_cast, wanted)
        case _:
            wanted = FLAT[type(type_)]
            convert = partial(_cast, wanted)
    return StoredForm(wanted, type_.nullable, convert)


def _stamp_type(type_: Timestamp | LocalZonedTimestamp) -> pa.DataType:
    unit = "ms" if type_.precision <= _MILLIS else "us" if type_.precision <= _MICROS else "ns"
    return pa.timestamp(unit, "UTC" if isinstance(type_, LocalZonedTimestamp) else None)


# --- what holds others ------------------------------------------------------------------------------------------------


def _struct(fields: Sequence[pa.Field], forms: Sequence[StoredForm], array: pa.Array) -> pa.Array:
    array = _plain(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.struct(fields))
    if not pa.types.is_struct(array.type):
        raise _unlike(array, "a struct")
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    if sorted(names) != sorted(f.name for f in fields):
        raise _unlike(array, f"a struct of {', '.join(f.name for f in fields)}")
    # The members of a struct that is NULL are NULL as well.
    members = array.flatten()
    mask = _mask(array)
    made = [
        _part(members[names.index(field.name)], form, field.name, mask)
        for field, form in zip(fields, forms, strict=True)
    ]
    return pa.StructArray.from_arrays(made, fields=list(fields), mask=mask)


def _list(wanted: pa.DataType, form: StoredForm, array: pa.Array) -> pa.Array:
    array = _plain(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        raise _unlike(array, "a list")
    values = _part(array.flatten(), form, ELEMENT, None)
    return pa.ListArray.from_arrays(_offsets(array), values, type=wanted, mask=_mask(array))


def _map(wanted: pa.DataType, forms: Sequence[StoredForm], array: pa.Array) -> pa.Array:
    array = _plain(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if not pa.types.is_map(array.type):
        raise _unlike(array, "a map")
    array = _entries(array)
    keys, values = array.flatten().flatten()
    if keys.null_count:
        raise _inside(_MisfitError(MISSING, _NO_VALUE), KEY)
    made = [_part(keys, forms[0], KEY, None), _part(values, forms[1], VALUE, None)]
    return pa.MapArray.from_arrays(_offsets(array), *made, type=wanted, mask=_mask(array))


def _entries(array: pa.Array) -> pa.Array:
    """A map as a list of its entries, which PyArrow has more functions for."""
    fields = [array.type.key_field, array.type.item_field]
    entries = pa.StructArray.from_arrays([array.keys, array.items], fields=fields)
    own = array.buffers()[:2]
    return pa.Array.from_buffers(pa.list_(entries.type), len(array), own, array.null_count, array.offset, [entries])


def _part(array: pa.Array, form: StoredForm, name: str, outside: pa.Array | None) -> pa.Array:
    """The values of a part; `outside` says which of the structs that it belongs to are not there at all."""
    try:
        made = form.convert(array)
        if form.nullable or not made.null_count:
            return made
        missing = made.is_null() if outside is None else pc.and_not(made.is_null(), outside)
        if pc.any(missing).as_py():
            raise _MisfitError(MISSING, _NO_VALUE)
    except _MisfitError as e:
        raise _inside(e, name) from None
    return _without_nulls(made)


def _without_nulls(array: pa.Array) -> pa.Array:
    """The same array with some value or other where it has NULL: writers want none in what is required."""
    if pa.types.is_struct(array.type):
        fields = [array.type.field(i) for i in range(array.type.num_fields)]
        return pa.StructArray.from_arrays([array.field(i) for i in range(len(fields))], fields=fields)
    children: list[pa.Array] = []
    if pa.types.is_list(array.type):
        children = [array.values]
    elif pa.types.is_map(array.type):
        fields = [array.type.key_field, array.type.item_field]
        children = [pa.StructArray.from_arrays([array.keys, array.items], fields=fields)]
    own = array.buffers()[: 3 if _is_bytes(array.type) else 2]
    return pa.Array.from_buffers(array.type, len(array), [None, *own[1:]], 0, array.offset, children or None)


def _offsets(array: pa.Array) -> pa.Array:
    """The offsets of a list or map whose values follow one another from 0 on, as flattening gives them."""
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int32())
    return pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])


def _mask(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _inside(error: _MisfitError, name: str) -> _MisfitError:
    error.path = (name, *error.path)
    return error


# --- what holds no others ---------------------------------------------------------------------------------------------


def _cast(wanted: pa.DataType, array: pa.Array) -> pa.Array:
    array = _plain(array)
    if array.type == wanted:
        return array
    if not _is_kin(array.type, wanted):
        raise _unlike(array, str(wanted))
    try:
        return array.cast(wanted)
    except pa.ArrowException as e:
        raise _MisfitError(MISFIT, reason_of(e)) from e


def _stamps(wanted: pa.DataType, array: pa.Array) -> pa.Array:
    """Down to whole units of what is stored; the number counts, whatever zone an array names."""
    array = _plain(array)
    if pa.types.is_null(array.type) or array.type == wanted:
        return array.cast(wanted)
    if not pa.types.is_timestamp(array.type):
        raise _unlike(array, "a timestamp")
    return _rescaled(array.cast(pa.int64()), _NANOS[array.type.unit], _NANOS[wanted.unit]).cast(wanted)


def _orc_stamps(wanted: pa.DataType, array: pa.Array) -> pa.Array:
    made = _stamps(wanted, array)
    numbers = made.cast(pa.int64())
    second = _NANOS["s"] // _NANOS[wanted.unit]
    fraction = pc.subtract(numbers, pc.multiply(pc.divide(numbers, second), second))
    if pc.any(pc.less(fraction, 0)).as_py():
        raise _MisfitError(EARLY_FRACTION, "a moment before 1970 with a fraction of a second cannot be written in ORC")
    return made


def _times(wanted: pa.DataType, array: pa.Array) -> pa.Array:
    """Milliseconds of the day, be they given as such, as a number or as a time in another unit."""
    array = _plain(array)
    if array.type == wanted or pa.types.is_null(array.type) or pa.types.is_int32(array.type):
        return array.cast(wanted)
    if not pa.types.is_time(array.type):
        raise _unlike(array, "a time")
    numbers = array.cast(pa.int32() if pa.types.is_time32(array.type) else pa.int64()).cast(pa.int64())
    return _rescaled(numbers, _NANOS[array.type.unit], _NANOS["ms"]).cast(pa.int32()).cast(wanted)


def _rescaled(numbers: pa.Array, have: int, want: int) -> pa.Array:
    """Numbers of units of so many nanoseconds as numbers of others, rounded down."""
    if have >= want:
        try:
            return numbers if have == want else pc.multiply_checked(numbers, have // want)
        except pa.ArrowInvalid as e:
            raise _MisfitError(MISFIT, reason_of(e)) from e
    divisor = want // have
    toward_zero = pc.divide(numbers, divisor)
    below = pc.less(pc.subtract(numbers, pc.multiply(toward_zero, divisor)), 0)
    return pc.subtract(toward_zero, below.cast(pa.int64()))


def _plain(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _is_bytes(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_binary(type_))


def _any_of(*names: str) -> Callable[[pa.DataType], bool]:
    kinds = [getattr(pa.types, name) for name in names if hasattr(pa.types, name)]
    return lambda type_: any(kind(type_) for kind in kinds)


#: How often a value is in a multiset.
_COUNT = StoredForm(pa.int32(), True, partial(_cast, pa.int32()))
_KINDS: Iterable[Callable[[pa.DataType], Any]] = (
    pa.types.is_signed_integer,
    pa.types.is_decimal,
    _any_of("is_string", "is_large_string", "is_string_view"),
    _any_of("is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary"),
)


def _is_kin(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether one type may hold the other's values."""
    if pa.types.is_floating(found) and pa.types.is_floating(wanted):
        return bool(found.bit_width <= wanted.bit_width)
    return pa.types.is_null(found) or any(kind(found) and kind(wanted) for kind in _KINDS)


def _unlike(array: pa.Array, wanted: str) -> _MisfitError:
    return _MisfitError(MISFIT, f"values of the Arrow type {array.type} are given where {wanted} is stored")

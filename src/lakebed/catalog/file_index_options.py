"""Tell which file indexes the options of a table ask for, and what is wrong with these options."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from lakebed.catalog.option_values import byte_size, column_names, real, size_of, whole
from lakebed.catalog.options import FILE_INDEX_IN_MANIFEST_THRESHOLD
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.physical.paimon_types import (
    BigInt,
    Binary,
    Boolean,
    Char,
    DataField,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    Map,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
    type_line,
)

UNFIT = "LB5087"
UNKNOWN_KIND = "LB5088"
BAD_PARAMETER = "LB5089"

#: What stands between a column and a key of it in the name of an index.
_JUNCTION = "##"
_COLUMNS = re.compile(r"file-index\.([^.]+)\.columns")
_PARAMETER = re.compile(r"file-index\.([^.]+)\.([^.]+)\.([^.]+)")
_KEY_OF_MAP = re.compile(r"([^\[]+)\[(.*)\]", re.DOTALL)
_LONG_PRECISION = 18
#: Most bits of a bloom filter that can be counted.
_MOST_BITS = 2**31 - 9
_Number = TypeVar("_Number", int, float)

_NUMBERS = (TinyInt, SmallInt, Int, BigInt, Date, Time, Timestamp, LocalZonedTimestamp)
_TEXTS = (Char, VarChar)
_REALS = (Float, Double)
_BYTES = (Binary, VarBinary)


class IndexKind(StrEnum):
    """The kinds of file index that are read and written, by the format's names."""

    BLOOM_FILTER = "bloom-filter"
    BITMAP = "bitmap"
    BSI = "bsi"
    RANGE_BITMAP = "range-bitmap"


FILE_INDEXES = tuple(kind.value for kind in IndexKind)
_TYPES: dict[IndexKind, tuple[type[DataType], ...]] = {
    IndexKind.BLOOM_FILTER: (*_NUMBERS, *_REALS, *_TEXTS, *_BYTES),
    IndexKind.BITMAP: (Boolean, *_NUMBERS, *_REALS, *_TEXTS),
    IndexKind.BSI: (*_NUMBERS, Decimal),
    IndexKind.RANGE_BITMAP: (Boolean, *_NUMBERS, *_REALS, *_TEXTS, Decimal),
}


def is_made_of(kind: IndexKind, type_: DataType) -> bool:
    """Whether an index of a kind is made of values of a type. Of decimals it is where 64 bits hold them."""
    if isinstance(type_, Decimal) and type_.precision > _LONG_PRECISION:
        return False
    return isinstance(type_, _TYPES[kind])


@dataclass(frozen=True, slots=True)
class Parameters:
    """How indexes of a column are made: `items` and `fpp` of a bloom filter, the rest of bitmaps."""

    items: int = 1_000_000
    fpp: float = 0.1
    version: int = 1
    block_size: int = 16 << 10
    chunk_size: int = 16 << 10

    @property
    def bloom_bits(self) -> int:
        """The size of a bloom filter, a multiple of 8."""
        bits = int(-self.items * math.log(self.fpp) / math.log(2) ** 2)
        return bits + 8 - bits % 8

    @property
    def bloom_functions(self) -> int:
        """How many bits of it stand for a value."""
        return max(1, math.floor(self.bloom_bits / self.items * math.log(2) + 0.5))


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """An index that a table asks for: its kind, the column, and the key whose values it is of where that is a MAP."""

    kind: IndexKind
    column: str
    key: str | None
    parameters: Parameters

    @property
    def name(self) -> str:
        """How the index names what it is of."""
        return self.column if self.key is None else f"{self.column}{_JUNCTION}{self.key}"


def wanted_indexes(options: Mapping[str, str]) -> tuple[WantedIndex, ...]:
    """The indexes that options ask for, of the kinds that are written. What `index_problems` tells of is left out."""
    found = {}
    for kind, column, key in _listed(options):
        parameters = _parameters(options, kind, column, key)
        if isinstance(parameters, Parameters):
            found[kind, column, key] = WantedIndex(kind, column, key, parameters)
    return tuple(found.values())


def kept_in_manifest(options: Mapping[str, str]) -> int:
    """How many bytes of indexes a data file may have in its manifest entry, rather than in a file beside it."""
    return size_of(options, FILE_INDEX_IN_MANIFEST_THRESHOLD)


def index_problems(options: Mapping[str, str], fields: Sequence[DataField]) -> Iterator[Diagnostic]:
    """Why rows cannot be written with the indexes that options ask for."""
    types = {f.name: f.type for f in fields}
    listed = tuple(_listed(options))
    for kind, column, key in listed:
        yield from _misfit(kind, column, key, types.get(column))
        wrong = _parameters(options, kind, column, key)
        if isinstance(wrong, str):
            yield _bad(options, wrong, "has a value that it cannot have")
    threshold = options.get(FILE_INDEX_IN_MANIFEST_THRESHOLD)
    if listed and threshold is not None and byte_size(threshold) is None:
        yield _bad(options, FILE_INDEX_IN_MANIFEST_THRESHOLD, "has a value that it cannot have")
    names = {(str(kind), name) for kind, column, key in listed for name in (column, _item(column, key))}
    for option in sorted(options):
        match = _PARAMETER.fullmatch(option)
        if match and match[1] in FILE_INDEXES and (match[1], match[2]) not in names:
            yield _bad(options, option, "belongs to an index that no option asks for")


def _bad(options: Mapping[str, str], option: str, what: str) -> Diagnostic:
    found = options.get(option)
    return Diagnostic(
        BAD_PARAMETER, f"the option {option} {what}", path=option, found=found, remedy="mend it, or take it out"
    )


def unwritten_indexes(options: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Warnings of the indexes that options ask for and that are left out, since their kind is not known."""
    for option, kind in _lists(options):
        if kind not in FILE_INDEXES:
            yield Diagnostic(
                UNKNOWN_KIND,
                f"file indexes of the kind {kind!r} are not written: data files are written without them",
                Severity.WARNING,
                path=option,
                expected=", ".join(FILE_INDEXES),
                found=kind,
                remedy="take the option out, or let an engine that knows the kind compact the table",
            )


def _lists(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for option in sorted(options):
        match = _COLUMNS.fullmatch(option)
        if match:
            yield option, match[1]


def _listed(options: Mapping[str, str]) -> Iterator[tuple[IndexKind, str, str | None]]:
    for option, kind in _lists(options):
        if kind in FILE_INDEXES:
            for item in column_names(options[option]):
                match = _KEY_OF_MAP.fullmatch(item)
                column, key = (match[1], match[2]) if match else (item, None)
                yield IndexKind(kind), column, key


def _item(column: str, key: str | None) -> str:
    return column if key is None else f"{column}[{key}]"


def _option(kind: IndexKind, column: str, key: str | None, parameter: str) -> str:
    return f"file-index.{kind}.{_item(column, key)}.{parameter}"


def _misfit(kind: IndexKind, column: str, key: str | None, type_: DataType | None) -> Iterator[Diagnostic]:
    option = f"file-index.{kind}.columns"
    if type_ is None:
        message, found = f"the option {option} names {column!r}, and there is no such column", column
    elif key is not None and not (isinstance(type_, Map) and isinstance(type_.key, _TEXTS)):
        message, found = f"{_item(column, key)} in {option} is no key of a MAP of texts", type_line(type_)
    else:
        of = type_.value if key is not None and isinstance(type_, Map) else type_
        if is_made_of(kind, of):
            return
        found = type_line(of)
        message = f"the option {option} names {_item(column, key)}, of whose type {found} no such index is made"
    yield Diagnostic(UNFIT, message, path=option, found=found, remedy=f"take it out of {option}")


def _parameters(options: Mapping[str, str], kind: IndexKind, column: str, key: str | None) -> Parameters | str:
    """What is set for an index, for a key of a MAP also by its column; or the option whose value is none."""
    found: dict[str, Any] = {}
    for name, (field, read) in _PARAMETERS[kind].items():
        of = (_option(kind, column, part, name) for part in (key, None))
        option = next((o for o in of if o in options), None)
        if option is not None:
            found[field] = read(options[option])
            if found[field] is None:
                return option
    parameters = Parameters(**found)
    return parameters if parameters.bloom_bits <= _MOST_BITS else _option(kind, column, key, "items")


def _within(read: Callable[[str], _Number | None], low: float, high: float) -> Callable[[str], _Number | None]:
    """Reads a number that is between two others."""

    def checked(text: str) -> _Number | None:
        number = read(text)
        return number if number is not None and low < number < high else None

    return checked


#: The parameters of each kind, with their names here and how they are read.
_PARAMETERS: Mapping[IndexKind, Mapping[str, tuple[str, Callable[[str], float | None]]]] = {
    IndexKind.BLOOM_FILTER: {"items": ("items", _within(whole, 0, math.inf)), "fpp": ("fpp", _within(real, 0, 1))},
    IndexKind.BITMAP: {
        "version": ("version", _within(whole, 0, 3)),
        "index-block-size": ("block_size", _within(byte_size, -1, math.inf)),
    },
    IndexKind.BSI: {},
    IndexKind.RANGE_BITMAP: {"chunk-size": ("chunk_size", _within(byte_size, -1, math.inf))},
}

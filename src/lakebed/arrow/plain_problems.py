"""Tell what is wrong with texts that surely are no values of a column.

It is a part of what an ingest tells (`lakebed.ingest.columns`), in the same words, chosen so that patterns know it. A
text of which nothing is told here may be a value or none: Spark's expressions tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.plain_values import PlainColumn, convert_texts, has_plain_form, is_taken
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    BigInt,
    Boolean,
    Char,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Timestamp,
    TinyInt,
    VarChar,
)

NULL_IN_REQUIRED = "LB6201"
NOT_CASTABLE = "LB6202"
OUT_OF_RANGE = "LB6203"
WRONG_LENGTH = "LB6205"

#: How much of a value a problem shows, in characters.
SHOWN = 200
PROBLEM = pa.struct([(name, pa.string()) for name in ("path", "code", "expected", "found")])

# What has a character that is in no value of the type. All are printable ones of ASCII: DECIMAL takes other digits.
_NO_WHOLE = "^[ -~]*[!-*,/:-DF-df-~][ -~]*$"
_NO_FLOATING = r"^[ -~]*[!-*,/:-@G-OQ-WYZ\[-\x60g-oq-wyz{-~][ -~]*$"
_NAMED = "(?i)inf|nan"
_NO_MOMENT = "^[ -,.-~]*$"
_PRINTABLE = "^[ -~]*$"
_TRUTH = r"(?i)^\s*(?:t|true|y|yes|1|f|false|n|no|0)\s*$"
#: Digits that are a number however many they are.
_DIGITS = "^-?[1-9][0-9]{0,36}$"


@dataclass(frozen=True, slots=True)
class Judged:
    """The texts of a column, whether each is surely a value, and the code of what is surely wrong with it, or NULL."""

    column: PlainColumn
    texts: pa.Array
    fine: pa.Array
    codes: pa.Array


def judge_texts(texts: pa.Array, column: PlainColumn) -> Judged:
    """Judge texts, of which NULL is none."""
    values, plain = convert_texts(texts, column)
    fine = pc.and_(plain, is_taken(values, column))
    codes = pa.nulls(len(texts), pa.string())
    if not bool(pc.all(fine).as_py()):
        for code, when in reversed(_faults(texts, fine, column)):
            codes = pc.if_else(pc.fill_null(when, False), code, codes)
        if not column.takes_null:
            codes = pc.if_else(texts.is_null(), NULL_IN_REQUIRED, codes)
    return Judged(column, texts, fine, codes)


def list_problems(judged: Sequence[Judged], whole: pa.Array) -> pa.Array:
    """The problems of each row, in the order of the columns; NULL for a row that is not surely bad.

    Rows that are not `whole` may have something else wrong with them.
    """
    told = reduce(pc.and_, (pc.or_(one.fine, one.codes.is_valid()) for one in judged), whole)
    bad = [one for one in judged if one.codes.null_count < len(told)]
    if not bad:
        return pa.nulls(len(told), pa.list_(PROBLEM))
    wrong = [pc.and_(told, one.codes.is_valid()) for one in bad]
    places = [pc.indices_nonzero(some) for some in wrong]
    problems = pa.concat_arrays([_problems(one, at) for one, at in zip(bad, places, strict=True)])
    # The sort leaves those of one row in the order of the columns.
    in_order = problems.take(pc.array_sort_indices(pa.concat_arrays(places)))
    counts = reduce(pc.add, (some.cast(pa.int32()) for some in wrong))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(counts)])
    return pa.ListArray.from_arrays(offsets, in_order, mask=pc.equal(counts, 0))


def _problems(judged: Judged, at: pa.Array) -> pa.Array:
    """The problems of one column, of rows at these places."""
    path, expected = (pa.repeat(pa.scalar(said), len(at)) for said in (judged.column.path, judged.column.expected))
    found = pc.fill_null(judged.texts.take(at), "NULL")
    cut = pc.binary_join_element_wise(pc.utf8_slice_codeunits(found, 0, SHOWN), "…", "")
    shown = pc.if_else(pc.greater(pc.utf8_length(found), SHOWN), cut, found)
    return pa.StructArray.from_arrays([path, judged.codes.take(at), expected, shown], fields=list(PROBLEM))


def _faults(texts: pa.Array, fine: pa.Array, column: PlainColumn) -> list[tuple[str, pa.Array]]:
    """What may surely be wrong with texts, in the order in which it is told."""
    match column.type:
        case TinyInt() | SmallInt() | Int() | BigInt() | Decimal():
            beyond = pc.and_(_matches(texts, _DIGITS), pc.invert(fine))
            return [(NOT_CASTABLE, _matches(texts, _NO_WHOLE)), (OUT_OF_RANGE, beyond)]
        case Float() | Double():
            return [(NOT_CASTABLE, pc.and_(_matches(texts, _NO_FLOATING), pc.invert(_matches(texts, _NAMED))))]
        case Date() | Timestamp() | LocalZonedTimestamp():
            no_such_day = pc.and_(has_plain_form(texts, column), pc.invert(fine))
            return [(NOT_CASTABLE, pc.or_(_matches(texts, _NO_MOMENT), no_such_day))]
        case Boolean():
            return [(NOT_CASTABLE, pc.and_(_matches(texts, _PRINTABLE), pc.invert(_matches(texts, _TRUTH))))]
        case Char() | VarChar() if column.type.length < MAX_LENGTH:
            return [(WRONG_LENGTH, pc.greater(pc.utf8_length(texts), column.type.length))]
        case _:
            return []


def _matches(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.match_substring_regex(texts, pattern)

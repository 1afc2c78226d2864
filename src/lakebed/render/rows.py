"""Show rows as a table for people and as JSON for programs."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from lakebed.catalog.time_zone import zone_of
from lakebed.physical import paimon_types as physical
from lakebed.printable import one_line
from lakebed.render.iso_times import day_text, moment_text
from lakebed.render.table_text import column_widths, table_text, total_width
from lakebed.render.terminal import cell_width, cut

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

    from lakebed.physical.paimon_types import DataField

_Encoder = Callable[[Any], Any]
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|NaN|-?Infinity|NULL")
#: Cells are not cut to less than this; where not all columns fit so, those that are shown get this much and more.
_SHORTEST, _READABLE = 12, 30
#: So many lines a value may take where values stand one below the other.
_FOLDS = 4
#: The columns of a quarantine, those first that say what is wrong.
_TOLD_FIRST = ("problems", "raw", "source_file", "source_line", "source_offset")


def json_value(value: Any) -> Any:
    """A value as JSON: decimals and moments as text, bytes as base64, maps of other keys than text as pairs."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
        case Decimal():
            return f"{value:f}"
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case bytes() | bytearray():
            return base64.b64encode(bytes(value)).decode()
        case dict():
            if all(isinstance(k, str) for k in value):
                return {k: json_value(v) for k, v in value.items()}
            return [[json_value(k), json_value(v)] for k, v in value.items()]
        case tuple() if hasattr(value, "__fields__"):
            return {k: json_value(v) for k, v in zip(value.__fields__, value, strict=True)}
        case list() | tuple():
            return [json_value(v) for v in value]
        case _:
            return str(value)


def row_encoder(schema: StructType, time_zone: str) -> Callable[[Any], list[Any]]:
    """A function that gives the JSON values of a Spark row, in order; instants are in `time_zone`, with its offset.

    Dates and timestamps may also be numbers: days, microseconds since 1970.
    """
    from lakebed.convert.spark_tree import fold

    zone = zone_of(time_zone)
    encoders = [fold(f.dataType, partial(_encoder, zone)) for f in schema.fields]
    return lambda row: [encode(v) for encode, v in zip(encoders, row, strict=True)]


def _encoder(zone: tzinfo, type_: DataType, inner: tuple[_Encoder, ...]) -> _Encoder:
    """What is needed beyond `json_value`: Spark gives instants as naive datetimes in the zone of the process."""
    from pyspark.sql import types as t

    match type_:
        case t.DateType():
            return lambda v: day_text(v) if isinstance(v, int) else json_value(v)
        case t.TimestampNTZType():
            return lambda v: moment_text(v, None) if isinstance(v, int) else json_value(v)
        case t.TimestampType():
            return _optional(
                lambda v: moment_text(v, zone) if isinstance(v, int) else v.astimezone(zone).isoformat(),
            )
        case t.ArrayType():
            return _items(*inner)
        case t.MapType():
            entries = _entries(*inner, by_name=isinstance(type_.keyType, t.StringType))
            return _optional(lambda v: entries(v.items()))
        case t.StructType():
            return _optional(_members(type_.names, inner))
        case t.DecimalType():
            # PySpark gives small ones with more digits than their type has.
            return _optional(lambda v: f"{v:.{type_.scale}f}")
        case t.VariantType():
            return _optional(lambda v: json.loads(v.toJson(str(zone))))
        case _:
            return json_value


def batch_rows(batches: Iterable[pa.RecordBatch], fields: Sequence[DataField], time_zone: str) -> Iterator[list[Any]]:
    """The JSON values of the rows of Arrow batches of the columns `fields`, as `row_encoder` gives those of Spark."""
    from lakebed.convert.arrow_rows import COUNTED, row_type
    from lakebed.physical.paimon_tree import fold

    zone = zone_of(time_zone)
    encoders = [fold(f.type, partial(_batch_encoder, zone)) for f in fields]
    for batch in batches:
        # Moments of any year as numbers, which Python can hold.
        counted = (c.cast(row_type(f.type, COUNTED)) for c, f in zip(batch.columns, fields, strict=True))
        for row in zip(*(column.to_pylist() for column in counted), strict=True):
            yield [encode(value) for encode, value in zip(encoders, row, strict=True)]


def _batch_encoder(zone: tzinfo, type_: physical.DataType, inner: tuple[_Encoder, ...]) -> _Encoder:
    match type_:
        case physical.Date():
            return _optional(day_text)
        case physical.Timestamp():
            return _optional(lambda v: moment_text(v, None))
        case physical.LocalZonedTimestamp():
            return _optional(lambda v: moment_text(v, zone))
        case physical.Array():
            return _items(*inner)
        case physical.Map():
            by_name = isinstance(type_.key, physical.Char | physical.VarChar)
            return _optional(_entries(*inner, by_name=by_name))
        case physical.Multiset():
            by_name = isinstance(type_.element, physical.Char | physical.VarChar)
            return _optional(_entries(inner[0], json_value, by_name=by_name))
        case physical.Row():
            members = _members([f.name for f in type_.fields], inner)
            return _optional(lambda v: members(v.values()))
        case _:
            return json_value


def _items(item: _Encoder) -> _Encoder:
    return _optional(lambda v: [item(x) for x in v])


def _entries(key: _Encoder, value: _Encoder, *, by_name: bool) -> _Encoder:
    """From pairs of keys and values to an object, or else to a list of pairs."""
    if by_name:
        return lambda pairs: {key(k): value(x) for k, x in pairs}
    return lambda pairs: [[key(k), value(x)] for k, x in pairs]


def _members(names: Sequence[str], members: Sequence[_Encoder]) -> _Encoder:
    return lambda v: {n: member(x) for n, member, x in zip(names, members, v, strict=True)}


def _optional(encode: _Encoder) -> _Encoder:
    return lambda value: None if value is None else encode(value)


def problems_first(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], *, ordered: bool
) -> tuple[list[str], list[list[Any]]]:
    """The columns and rows of a quarantine for people: problems as text, and where not `ordered` already, at the left.

    A problem is `price: LB6203, expected Int32, found abc`.
    """
    places = list(range(len(columns)))
    if not ordered:
        rank = {name: number for number, name in enumerate(_TOLD_FIRST)}
        places.sort(key=lambda i: rank.get(columns[i], len(rank)))
    problems = [columns[i] == "problems" for i in places]
    told = [[_problems_text(row[i]) if p else row[i] for i, p in zip(places, problems, strict=True)] for row in rows]
    return [columns[i] for i in places], told


def _problems_text(value: Any) -> Any:
    if not (isinstance(value, list) and all(isinstance(p, dict) and "code" in p for p in value)):
        return value
    return "; ".join(map(_problem_text, value))


def _problem_text(problem: dict[str, Any]) -> str:
    path = problem.get("path")
    said = [str(problem["code"])]
    said += [f"{key} {problem[key]}" for key in ("expected", "found") if problem.get(key) is not None]
    return ("" if path is None else f"{path}: ") + ", ".join(said)


def rows_text(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    width: int | None = None,
    more: bool = False,
    readable: int = 0,
) -> str:
    """Rows as an aligned table, with their number below it.

    In `width` columns of a terminal long cells are cut, then columns on the right left out; a line below says so.
    `more` says that there are more rows than these, `readable` how many columns at the left are to be cut the least:
    where these do not fit side by side, the values of each row stand one below the other.
    """
    cells = [[_cell(v) for v in row] for row in rows]
    heads = [one_line(c) for c in columns]
    right = {i for i in range(len(heads)) if rows and all(_NUMBER.fullmatch(row[i]) for row in cells)}
    what = None
    body = None
    if width is not None and total_width(column_widths(heads, cells)) > width:
        limits = _limits(column_widths(heads, cells), width, readable)
        what = "long values are cut" if len(limits) == len(columns) else f"{len(limits)} of {len(columns)} columns"
        if rows and len(limits) < min(readable, len(columns)):
            body, what = _stacked(heads, cells, width), "long values are cut"
        heads = [cut(h, n) for h, n in zip(heads, limits, strict=False)]
        cells = [[cut(c, n) for c, n in zip(row, limits, strict=False)] for row in cells]
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
    lines = [body or table_text(heads, cells, right=right)]
    lines.append(f"(the first {'row' if len(rows) == 1 else count}; there are more)" if more else f"({count})")
    if what is not None:
        lines.append(f"({what}; a file or a pipe gets all)")
    return "\n".join(lines)


def _stacked(heads: list[str], cells: list[list[str]], width: int) -> str:
    """Each row as lines `column: value`, with a rule below it; a value goes on in the lines below, up to a number."""
    rule = "─" * width
    return "\n".join(
        line
        for row in cells
        for line in (*(part for h, c in zip(heads, row, strict=True) for part in _folded(f"{h}: {c}", width)), rule)
    )


def _folded(text: str, width: int) -> list[str]:
    """The text in lines of `width` columns, or its beginning in `_FOLDS` of them."""
    lines: list[str] = []
    while text and len(lines) < _FOLDS - 1 and cell_width(text) > width:
        line = cut(text, width)[:-1] or text[0]
        lines.append(line)
        text = text[len(line) :].lstrip()
    return [*lines, cut(text, width)]


def _limits(widths: list[int], width: int, readable: int) -> list[int]:
    """A width for each column that is shown, from the left; the longest ones give way first, within reason."""
    floors = [_READABLE if i < readable else _SHORTEST for i in range(len(widths))]
    shown = list(widths)
    if total_width([min(w, floor) for w, floor in zip(widths, floors, strict=True)]) > width:
        while len(shown) > 1 and total_width([min(w, _READABLE) for w in shown]) > width:
            shown.pop()
    limits = shown
    for longest in range(max(shown), _SHORTEST - 1, -1):
        limits = [min(w, max(longest, floor)) for w, floor in zip(shown, floors, strict=False)]
        if total_width(limits) <= width:
            break
    return limits


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    encoded = json_value(value)
    return one_line(encoded if isinstance(encoded, str) else json.dumps(encoded, ensure_ascii=False))

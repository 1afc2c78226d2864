"""Read lines that are plain JSON objects of flat values, and tell which are not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.json import ParseOptions, ReadOptions, read_json

from lakebed.arrow.plain_problems import Judged, judge_texts
from lakebed.arrow.plain_values import PlainColumn, convert_texts, is_taken
from lakebed.convert.arrow_rows import row_type
from lakebed.physical.paimon_types import (
    BigInt,
    Boolean,
    Decimal,
    Double,
    Float,
    Int,
    SmallInt,
    TinyInt,
)

#: Types whose values JSON has itself; others are texts there.
_OWN = (Boolean, TinyInt, SmallInt, Int, BigInt, Decimal, Float, Double)
#: Longer numbers, and longer texts, Spark does not read.
_LONG_NUMBER, _LONG_TEXT = 1000, 20_000_000
#: So many lines say how the others are written.
_EXAMPLES = 9
#: Half of a surrogate pair may be written like this, and a character that ends a text.
_ESCAPE, _ODD_ESCAPE = "\\u", r"\\u(?:[dD][89a-fA-F]|0000)"


def read_lines(lines: pa.Array, columns: Sequence[PlainColumn]) -> tuple[list[pa.Array], pa.Array]:
    """The values of the columns in JSON lines, and whether each line is plain. What is not plain has any values.

    A plain line is one object, whose keys are all those of columns, each there once at most.
    """
    plain = _may_be_plain(lines)
    examples = _examples(lines.filter(plain))
    schema = pa.schema([pa.field(c.source, _read_as(c, examples)) for c in columns])
    found: list[pa.Table] = []
    plain = _read(lines, plain, schema, found)
    values = _in_place(found, plain, schema)
    made = []
    for column, array in zip(columns, values, strict=True):
        if pa.types.is_string(array.type):
            array, is_plain = convert_texts(array, column)
            plain = pc.and_(plain, is_plain)
        made.append(array)
    return made, plain


def judge_lines(lines: pa.Array, columns: Sequence[PlainColumn]) -> tuple[list[Judged], pa.Array]:
    """The columns of JSON lines, judged, and whether each line could be read to judge them.

    Numbers and truth values may stand in quotes: such texts are taken out of the lines, so that these can be read.
    """
    texts, left = {}, lines
    for column in columns:
        if isinstance(column.type, _OWN):
            texts[column], left = _quoted(lines, left, column.source)
    schema = pa.schema([pa.field(c.source, row_type(c.type) if c in texts else pa.string()) for c in columns])
    found: list[pa.Table] = []
    # Behind a backslash a quote is none.
    likely = pc.and_(_may_be_plain(lines), pc.invert(pc.match_substring(lines, "\\")))
    whole = _read(left, likely, schema, found)
    values = _in_place(found, whole, schema)
    return [_judged(c, texts.get(c), v) for c, v in zip(columns, values, strict=True)], whole


def _quoted(lines: pa.Array, left: pa.Array, key: str) -> tuple[pa.Array, pa.Array]:
    """The texts that lines have for a key, NULL where they have none, and what is left of the lines."""
    before = rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*"
    text = r"[^\"\x00-\x1f]*"
    found = pc.struct_field(pc.extract_regex(lines, f'{before}"(?P<text>{text})"'), "text")
    return found, pc.replace_substring_regex(left, f'({before})"{text}"', r"\1null")


def _judged(column: PlainColumn, texts: pa.Array | None, values: pa.Array) -> Judged:
    """A column of lines, judged; `values` are what is not in quotes. A NULL may be a key that is not there."""
    if texts is None:
        texts, judged = values, judge_texts(values, replace(column, takes_null=True))
        return replace(judged, fine=pc.and_(judged.fine, pc.or_(texts.is_valid(), pa.scalar(column.takes_null))))
    judged = judge_texts(texts, replace(column, takes_null=True))
    return replace(judged, fine=pc.if_else(texts.is_valid(), judged.fine, is_taken(values, column)))


def _examples(lines: pa.Array) -> list[Mapping[str, object]]:
    """Some of the objects, by which others are read."""
    step = max(len(lines) // _EXAMPLES, 1)
    loaded = (_loaded(lines[i].as_py()) for i in range(0, len(lines), step))
    return [read for read in loaded if isinstance(read, dict)]


def _loaded(line: str) -> object:
    """The value of a line, or None."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_as(column: PlainColumn, examples: Sequence[Mapping[str, object]]) -> pa.DataType:
    """The type that most values have in JSON: numbers may be quoted there."""
    is_quoted = sum(isinstance(read.get(column.source), str) for read in examples) * 2 > len(examples)
    return row_type(column.type) if isinstance(column.type, _OWN) and not is_quoted else pa.string()


def _may_be_plain(lines: pa.Array) -> pa.Array:
    """Whether a line can be told from its neighbours, and has nothing that Arrow might read otherwise than Spark.

    A line that begins with `{` and ends with `}` is no part of an object that goes on in the next one: no string goes
    over lines, and nowhere may `{` follow `}`.
    """
    plain = pc.and_(_are_text(lines), pc.and_(pc.starts_with(lines, "{"), pc.ends_with(lines, "}")))
    longest = pc.max(pc.binary_length(lines)).as_py() if len(lines) else 0
    if longest > _LONG_TEXT:
        plain = pc.and_(plain, pc.less_equal(pc.binary_length(lines), _LONG_TEXT))
    if longest > _LONG_NUMBER:
        plain = pc.and_(plain, pc.invert(pc.match_substring_regex(lines, f"[0-9.eE+-]{{{_LONG_NUMBER}}}")))
    if bool(pc.any(pc.match_substring(lines, _ESCAPE)).as_py()):
        plain = pc.and_(plain, pc.invert(pc.match_substring_regex(lines, _ODD_ESCAPE)))
    return plain


def _are_text(lines: pa.Array) -> pa.Array:
    """Whether each line is UTF-8."""
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([_is_text(line) for line in lines.cast(pa.binary()).to_pylist()], pa.bool_())
    return pa.repeat(pa.scalar(True), len(lines))


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read(lines: pa.Array, plain: pa.Array, schema: pa.Schema, found: list[pa.Table]) -> pa.Array:
    """Read the lines that are plain so far; the tables go to `found`. Returns which ones are plain indeed."""
    wanted = lines.filter(plain)
    table = _table(wanted, schema)
    if table is not None:
        found.append(table)
        return plain
    likely = pc.invert(_look_odd(wanted, schema))
    table = _table(wanted.filter(likely), schema)
    if table is not None:
        found.append(table)
        return _within(plain, likely)
    odd = pa.array(map(_odd_finder(schema), wanted.to_pylist()), pa.bool_())
    return _within(plain, pa.array(_read_halves(wanted, pc.invert(odd), schema, found), pa.bool_()))


def _within(plain: pa.Array, kept: pa.Array) -> pa.Array:
    """Those of the plain ones that are kept."""
    places = pc.indices_nonzero(plain).filter(kept)
    return pc.is_in(pa.array(range(len(plain)), places.type), places)


def _read_halves(lines: pa.Array, likely: pa.Array, schema: pa.Schema, found: list[pa.Table]) -> list[bool]:
    """Read the likely ones of lines, in parts that get smaller around those that cannot be read."""
    wanted = lines.filter(likely)
    table = _table(wanted, schema)
    if table is not None:
        found.append(table)
        return [bool(is_likely.as_py()) for is_likely in likely]
    if len(lines) == 1:
        return [False]
    half = len(lines) // 2
    parts = ((lines.slice(0, half), likely.slice(0, half)), (lines.slice(half), likely.slice(half)))
    return [is_read for part, of_part in parts for is_read in _read_halves(part, of_part, schema, found)]


def _table(lines: pa.Array, schema: pa.Schema) -> pa.Table | None:
    """The values of lines; None where one of them is not as the schema says."""
    if not len(lines):
        return schema.empty_table()
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")[0].as_buffer()
    reading = ReadOptions(use_threads=False, block_size=whole.size + 1)
    parsing = ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    try:
        table = read_json(pa.BufferReader(whole), read_options=reading, parse_options=parsing)
        # Decimals that are too large, and texts that are none.
        table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return table if table.num_rows == len(lines) else None


def _look_odd(lines: pa.Array, schema: pa.Schema) -> pa.Array:
    """Whether a line has, for some key, what begins otherwise than a value of its type."""
    begins = (
        (_begins_otherwise(field.type), re.escape(json.dumps(field.name, ensure_ascii=False))) for field in schema
    )
    patterns = (rf"{key}\s*:\s*[{others}]" for others, key in begins)
    return pc.match_substring_regex(lines, "|".join(patterns))


def _begins_otherwise(type_: pa.DataType) -> str:
    """The characters with which a JSON value of another type begins."""
    if pa.types.is_boolean(type_):
        return r'"0-9\[{-'
    return r"tf0-9\[{-" if pa.types.is_string(type_) else r'"tf\[{'


def _odd_finder(schema: pa.Schema) -> Callable[[str], bool]:
    """What tells of a line whether it is probably not as the schema says, so that few lines are read twice."""
    kinds = {field.name: _kinds(field.type) for field in schema}

    def is_odd(line: str) -> bool:
        read = _loaded(line)
        return not isinstance(read, dict) or any(type(value) not in kinds.get(key, ()) for key, value in read.items())

    return is_odd


def _kinds(type_: pa.DataType) -> tuple[type, ...]:
    nothing = type(None)
    if pa.types.is_boolean(type_):
        return bool, nothing
    if pa.types.is_string(type_):
        return str, nothing
    return (int, nothing) if pa.types.is_integer(type_) else (int, float, nothing)


def _in_place(found: Sequence[pa.Table], plain: pa.Array, schema: pa.Schema) -> list[pa.Array]:
    """The values that were read, each at the place of its line, NULL at those of others."""
    table = pa.concat_tables(found) if found else schema.empty_table()
    columns = [column.combine_chunks() for column in table.columns]
    if len(plain) == table.num_rows:
        return columns
    places = pc.if_else(plain, pc.subtract(pc.cumulative_sum(plain.cast(pa.int64())), 1), None)
    return [column.take(places) for column in columns]

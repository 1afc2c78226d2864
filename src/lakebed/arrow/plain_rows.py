"""Make rows of a table of the plain ones of a source, and leave the others as they are.

This runs in Spark's workers: texts come as they were split by Spark, and only those that are in doubt go through its
expressions, in another job.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.plain_lines import judge_lines, read_lines
from lakebed.arrow.plain_problems import PROBLEM, Judged, judge_texts, list_problems
from lakebed.arrow.plain_values import PlainColumn, convert_texts, is_taken, with_default
from lakebed.convert.arrow_rows import row_type
from lakebed.physical.paimon_types import Char, VarChar

#: Which part of a source a row is from.
PART = "_LAKEBED_PART"
#: A column that is not NULL where something is wrong with the row as a whole.
FAULT = "_LAKEBED_FAULT"
#: What is wrong with a row, in what is left of rows; NULL where that is in doubt.
PROBLEMS = "_LAKEBED_PROBLEMS"
#: After so many rows of a task, of which most were in doubt, the rest is not tried.
_TRIED = 20_000


@dataclass(frozen=True, slots=True)
class PlainTexts:
    """Rows that are texts by column; those that have `FAULT` are not plain.

    `empty` stands for what is written as an empty text, and means `meant`, a text or NULL; of other types than texts an
    empty text is NULL.
    """

    empty: str
    meant: str | None

    def read(self, batch: pa.RecordBatch, columns: Sequence[PlainColumn]) -> tuple[list[pa.Array], pa.Array]:
        """The values of the columns, and whether each row is plain."""
        plain = batch.column(FAULT).is_null()
        made = []
        for column in columns:
            values, is_plain = convert_texts(self._text(batch.column(column.source), column), column)
            plain = pc.and_(plain, is_plain)
            made.append(values)
        return made, plain

    def judge(self, batch: pa.RecordBatch, columns: Sequence[PlainColumn]) -> tuple[list[Judged], pa.Array]:
        """The columns of rows, judged, and whether each row has no fault as a whole."""
        judged = [judge_texts(self._text(batch.column(c.source), c), c) for c in columns]
        return judged, batch.column(FAULT).is_null()

    def _text(self, texts: pa.Array, column: PlainColumn) -> pa.Array:
        is_text = isinstance(column.type, Char | VarChar)
        empty = pc.fill_null(pc.equal(texts, self.empty), False)
        if bool(pc.any(empty).as_py()):
            texts = pc.if_else(empty, pa.scalar(self.meant, pa.string()), texts)
        if is_text:
            return texts
        nothing = pc.fill_null(pc.equal(texts, ""), False)
        return pc.if_else(nothing, None, texts) if bool(pc.any(nothing).as_py()) else texts


@dataclass(frozen=True, slots=True)
class PlainLines:
    """Rows that are lines of JSON, in the column `line`."""

    line: str

    def read(self, batch: pa.RecordBatch, columns: Sequence[PlainColumn]) -> tuple[list[pa.Array], pa.Array]:
        """The values of the columns, and whether each row is plain."""
        return read_lines(batch.column(self.line), columns)

    def judge(self, batch: pa.RecordBatch, columns: Sequence[PlainColumn]) -> tuple[list[Judged], pa.Array]:
        """The columns of rows, judged, and whether each row could be read to judge them."""
        return judge_lines(batch.column(self.line), columns)

    def has_key(self, batch: pa.RecordBatch, plain: pa.Array, column: PlainColumn) -> bool:
        """Whether a plain row has a column, be it NULL."""
        key = rf"{re.escape(json.dumps(column.source, ensure_ascii=False))}\s*:"
        return bool(pc.any(pc.match_substring_regex(batch.column(self.line).filter(plain), key)).as_py())


PlainForm = PlainTexts | PlainLines


@dataclass(frozen=True, slots=True)
class PlainPart:
    """How the rows of a part are written: `form` has its columns by the names that batches have them under.

    `absent` are the columns of the table that the part does not have.
    """

    form: PlainForm
    columns: tuple[PlainColumn, ...]
    absent: tuple[PlainColumn, ...] = ()

    def read(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], pa.Array]:
        """The values of the columns, and whether each row is plain; what is not has any values."""
        made, plain = self.form.read(batch, self.columns)
        conditions = (is_taken(values, column) for values, column in zip(made, self.columns, strict=True))
        return made, reduce(pc.and_, conditions, plain)

    def rows(self, made: Sequence[pa.Array], count: int) -> pa.RecordBatch:
        """The rows of the table, with defaults, of so many values of each column."""
        every = (*self.columns, *self.absent)
        absent = (pa.nulls(count, row_type(column.type)) for column in self.absent)
        written = [with_default(values, column) for values, column in zip((*made, *absent), every, strict=True)]
        return pa.RecordBatch.from_arrays(written, names=[c.name for c in every])

    def problems(self, batch: pa.RecordBatch) -> pa.Array:
        """The problems of rows that are not plain, where they are certain; NULL for others."""
        if not self.columns or any(c.expected is None for c in self.columns):
            return _in_doubt(batch.num_rows)
        return list_problems(*self.form.judge(batch, self.columns))

    def found(self, batch: pa.RecordBatch, made: Sequence[pa.Array], plain: pa.Array) -> Iterator[str]:
        """The columns that plain rows have, where the rows themselves say it."""
        if isinstance(self.form, PlainLines):
            for column, values in zip(self.columns, made, strict=True):
                has_value = bool(pc.any(pc.and_(values.is_valid(), plain)).as_py())
                if has_value or self.form.has_key(batch, plain, column):
                    yield column.name


@dataclass(slots=True)
class PlainRows:
    """How batches of a source become rows of a table; a value that travels to the workers.

    Batches have the column `PART` and those of the parts. `found` are the columns that rows of a task had, by the names
    in the batches that are made, where no header tells them. `bad` is how many of its rows have known problems.
    """

    parts: tuple[PlainPart, ...]
    found: set[str] = field(default_factory=set, init=False)
    bad: int = field(default=0, init=False)
    _seen: int = field(default=0, init=False)
    _in_doubt: int = field(default=0, init=False)

    def split(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
        """The rows of a batch that are plain, as rows of the table, and the others as they came, with `PROBLEMS`; None
        for no rows.
        """
        if self._seen >= _TRIED and self._in_doubt * 2 > self._seen:
            return None, _with(batch, _in_doubt(batch.num_rows))
        numbers = pc.unique(batch.column(PART)).to_pylist()
        if len(numbers) > 1:
            return self._split_parts(batch, numbers)
        part = self.parts[numbers[0]]
        made, plain = part.read(batch)
        self.found.update(part.found(batch, made, plain))
        rows = part.rows(made, batch.num_rows)
        self._seen += batch.num_rows
        if bool(pc.all(plain).as_py()):
            return rows, None
        return _some(rows.filter(plain)), self._judged(part, batch.filter(pc.invert(plain)))

    def _judged(self, part: PlainPart, rest: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that are not plain, with their problems."""
        problems = part.problems(rest)
        bad = rest.filter(problems.is_valid())
        nothing = [pa.nulls(bad.num_rows)] * len(part.columns)
        self.found.update(part.found(bad, nothing, pa.repeat(pa.scalar(True), bad.num_rows)))
        self.bad += bad.num_rows
        self._in_doubt += problems.null_count
        return _with(rest, problems)

    def _split_parts(
        self, batch: pa.RecordBatch, numbers: Sequence[int]
    ) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
        """The same for a batch with rows of several parts."""
        split = [self.split(batch.filter(pc.equal(batch.column(PART), number))) for number in numbers]
        rows, rest = ([some for some in side if some is not None] for side in zip(*split, strict=True))
        return _together(rows), _together(rest)


def _in_doubt(count: int) -> pa.Array:
    return pa.nulls(count, pa.list_(PROBLEM))


def _with(rows: pa.RecordBatch, problems: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*rows.columns, problems], names=[*rows.schema.names, PROBLEMS])


def _some(batch: pa.RecordBatch) -> pa.RecordBatch | None:
    return batch if batch.num_rows else None


def _together(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch | None:
    if not batches:
        return None
    names = batches[0].schema.names
    return pa.Table.from_batches([b.select(names) for b in batches]).combine_chunks().to_batches()[0]

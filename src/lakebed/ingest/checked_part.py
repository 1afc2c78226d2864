"""Check the rows of one part of a source: values, conditions and problems of each declared column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.arrow.line_numbers import START
from lakebed.catalog.node import Node
from lakebed.convert.scan_types import scan_type
from lakebed.ingest.columns.checkers import PROBLEM, Checker, any_of, no_problems, problem
from lakebed.ingest.columns.column_defaults import FolderSays
from lakebed.ingest.columns.unknown_values import are_there, problems_of
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.nulled_values import FAIL, NULL, code_column
from lakebed.ingest.numbering import block_of
from lakebed.ingest.repeated_values import TWICE, repeated_problem, value_column
from lakebed.ingest.sources.json_exact import DEPTH, TOO_DEEP, members_wanted, record_exactly
from lakebed.ingest.sources.json_texts import JSON_NAMES, with_json_parsed
from lakebed.ingest.sources.source_parts import RowFault, SourceColumn, SourcePart, plain_path
from lakebed.model.extra import ON_BAD_ROW, UNIQUE
from lakebed.physical import DataField, path_text
from lakebed.physical.paimon_types import DataType

FOLDER_DIFFERS = "LB6130"
#: The column of what `CheckedPart.unknown` finds.
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A declared column and what one part has for it."""

    index: int
    field: DataField
    node: Node
    checker: Checker | None
    source: SourceColumn | None
    read_as: DataType
    default: Column | None
    default_text: str | None = None
    folder: FolderSays | None = None
    json_steps: tuple[Callable[[Column], Column], ...] = ()

    @property
    def is_unique(self) -> bool:
        return self.node.extra.get(UNIQUE) is True


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """One part with what is read of it. Rows go through steps, so that no value is computed twice.

    `otherwise` is what becomes of rows that are bad in a column which does not say it. With `may_null` bad values may
    become NULL, but those of `kept_columns`. `unknown` are the values of a row for columns that are not declared
    (see `UnknownValues`), where they make it bad.
    """

    part: SourcePart
    columns: tuple[CheckedColumn, ...]
    rules: Rules
    otherwise: str | None
    kept_columns: frozenset[str] = frozenset()
    may_null: bool = False
    unknown: Column | None = None

    def action(self, column: CheckedColumn) -> str | None:
        """What becomes of a row with a bad value of this column."""
        return column.node.extra.get(ON_BAD_ROW) or self.otherwise

    def makes_null(self, column: CheckedColumn) -> bool:
        """Whether a bad value of this column becomes NULL."""
        may = self.may_null and column.node.nullable and column.node.path[0] not in self.kept_columns
        return may and self.action(column) == NULL

    @property
    def read(self) -> list[tuple[CheckedColumn, Checker, SourceColumn]]:
        return [(c, c.checker, c.source) for c in self.columns if c.checker is not None and c.source is not None]

    def flagged(self, number: int) -> DataFrame:
        """What the part, one of some, has: source values `s0`, ..., their conversions `x0`, ..., the values that are
        written `v0`, ..., `bad` and `fatal`, and where rows come from.
        """
        part = self.part
        block = block_of(number, part.url, part.start).alias("block")
        others = (block, plain_path(part.url).alias("path"), part.offset.alias("offset"), part.start.alias(START))
        again = [(c, source) for c, _, source in self.read if source.again is not None]
        parsed = [c for c, _, _ in self.read if c.json_steps]
        given = {c.index: "r" for c, _ in again} | {c.index: JSON_NAMES[0] for c in parsed}
        sources = (source.value.alias(f"{given.get(c.index, 's')}{c.index}") for c, _, source in self.read)
        wrong = any_of([fault.when for fault in self.part.faults]).alias("is_malformed")
        cut = () if self.part.cut is None else (F.coalesce(self.part.cut, F.lit(False)).alias("cut"),)
        folders = (
            column
            for c in self.columns
            if c.folder is not None
            for column in (c.folder.source.alias(f"f{c.index}"), c.folder.where.alias(f"w{c.index}"))
        )
        unknown = () if self.unknown is None else (self.unknown.alias(_UNKNOWN),)
        frame = self.part.frame.select("*", *sources, *folders, *unknown, wrong, *cut, *others)
        frame = _with_values_as_written(frame, again, self.part.allowed, self.rules.formats.decimal) if again else frame
        frame = with_json_parsed(frame, {c.index: c.json_steps for c in parsed})
        values = (checker.value(_s(c)).alias(f"x{c.index}") for c, checker, _ in self.read)
        malformed = F.col("is_malformed") | F.col("is_too_deep") if again else F.col("is_malformed")
        frame = frame.select("*", *values, _apart(malformed).alias("is_bad"))
        faulty = [(c, checker.bad(_s(c), _x(c))) for c, checker, _ in self.read if not self.makes_null(c)]
        faulty += [(c, _disagrees(c)) for c, _, _ in self.read if c.folder is not None]
        of_row = F.col("is_bad") if self.unknown is None else F.col("is_bad") | are_there(F.col(_UNKNOWN))
        bad = any_of([_apart(of_row), *(condition for _, condition in faulty)])
        fatal = any_of([condition for c, condition in faulty if self.action(c) == FAIL])
        if self.otherwise == FAIL:
            fatal = _apart(of_row) | fatal
        flags = (F.coalesce(flag, F.lit(False)).alias(name) for name, flag in (("bad", bad), ("fatal", fatal)))
        # Before `bad`, which has all values in it: Spark notes what is known of it once more for each name that a value
        # gets behind it, and again for each of these notes.
        written = [_written(c, self._value(c)).alias(f"v{c.index}") for c in self.columns]
        written += [self._code(c).alias(code_column(c.index)) for c in self.columns if self.makes_null(c)]
        own = (self._own_value(c).alias(value_column(c.index)) for c in self.columns if c.is_unique)
        return frame.select("*", *written, *own, *flags)

    def _own_value(self, column: CheckedColumn) -> Column:
        """The value that the source has for a column, NULL where it is bad."""
        type_ = scan_type(column.field.type)
        if column.checker is None or column.source is None:
            return F.lit(None).cast(type_)
        bad = F.coalesce(F.col("is_bad") | column.checker.bad(_s(column), _x(column)), F.lit(False))
        return F.when(~bad, _x(column)).cast(type_)

    def _value(self, column: CheckedColumn) -> Column:
        """The value that is made of the source, before any default."""
        if column.checker is None:
            return F.lit(None)
        bad = column.checker.bad(_s(column), _x(column))
        return F.when(~F.coalesce(bad, F.lit(False)), _x(column)) if self.makes_null(column) else _x(column)

    def _code(self, column: CheckedColumn) -> Column:
        """What is wrong with a value that becomes NULL."""
        if column.checker is None:
            return F.lit(None).cast("string")
        problems = F.array_compact(column.checker.problems(_s(column), _x(column), F.lit("")))
        code = F.get(problems, F.lit(0)).getField("code")
        return F.when(column.checker.bad(_s(column), _x(column)), code).cast("string")

    @property
    def _faults(self) -> tuple[RowFault, ...]:
        if all(source.again is None for _, _, source in self.read):
            return self.part.faults
        expected = f"values that are nested no deeper than {DEPTH}, where text is kept as it is written"
        return (*self.part.faults, RowFault(F.col("is_too_deep"), TOO_DEEP, expected))

    def all(self, flagged: DataFrame, *beside: Column) -> DataFrame:
        """Every row, see `PreparedRows.all`, of the flagged ones."""
        part = self.part
        shape = () if part.shape is None else (part.shape.alias("shape"),)
        values = [f"v{c.index}" for c in self.columns]
        values += [value_column(c.index) for c in self.columns if c.is_unique]
        values += [code_column(c.index) for c in self.columns if self.makes_null(c)]
        cut = F.lit(False).alias("cut") if part.cut is None else F.col("cut")
        return flagged.select(*values, "bad", "fatal", cut, "block", *shape, *beside)

    @property
    def told(self) -> list[Column]:
        """What is told of a bad row: itself, where it comes from, and which fault it has as a whole."""
        return [*self._place, self._line.alias("line"), self._fault.alias("fault")]

    @property
    def found(self) -> list[Column]:
        """What `PreparedRows.bad` gives of a bad row, of flagged rows."""
        return [self._problems(self._fault, self._line).alias("problems"), *self._place]

    def told_with(self, problems: Column) -> DataFrame:
        """The rows of the part, all of them bad, with these problems; see `PreparedRows.bad`."""
        part = self.part
        place = (plain_path(part.url).alias("path"), part.offset.alias("offset"), part.start.alias(START))
        rows = part.frame.select("*", *place)
        return rows.select(problems.alias("problems"), *self._place)

    @property
    def _place(self) -> list[Column]:
        """A bad row itself, and where it comes from; `START` is that of the piece that it was read in."""
        return [self.part.raw.alias("raw"), F.col("path").alias("file"), F.col("offset"), F.col(START)]

    @property
    def _line(self) -> Column:
        return self.part.raw if self.part.line is None else self.part.line

    @property
    def _fault(self) -> Column:
        """Which fault a row has as a whole, by its number."""
        fault = F.lit(None).cast("int")
        for i, found in reversed(list(enumerate(self._faults))):
            fault = F.when(found.when, F.lit(i)).otherwise(fault)
        return F.when(F.col("is_bad"), fault)

    @property
    def kept(self) -> list[str]:
        """The columns from which the problems of a row can be found again."""
        folders = (name for c in self.columns if c.folder is not None for name in (f"f{c.index}", f"w{c.index}"))
        return [*(f"s{c.index}" for c, _, _ in self.read), *folders, *(() if self.unknown is None else [_UNKNOWN])]

    def bad(self, rows: DataFrame) -> DataFrame:
        """The bad rows, see `PreparedRows.bad`, of what is told of them and kept."""
        values = (checker.value(_s(c)).alias(f"x{c.index}") for c, checker, _ in self.read)
        rows = rows.select("*", *values)
        problems = self._problems(F.col("fault"), F.col("line"), is_compared=TWICE in rows.columns)
        return rows.select(problems.alias("problems"), "raw", "file", "offset", START)

    def _problems(self, fault: Column, line: Column, *, is_compared: bool = False) -> Column:
        """The problems of a bad row, of its source values and their conversions. `is_compared`: `TWICE` is there."""
        found = [_problems_of(c, checker) for c, checker, _ in self.read]
        if is_compared:
            found += [repeated_problem(c.index, c.node.path, _s(c)) for c, _, _ in self.read if c.is_unique]
        found += () if self.unknown is None else [problems_of(F.col(_UNKNOWN))]
        whole_row = F.lit(None).cast(PROBLEM)
        for i, known in enumerate(self._faults):
            told_of = problem(F.lit(None).cast("string"), known.code, known.expected, line)
            whole_row = F.when(fault == i, told_of).otherwise(whole_row)
        in_columns = F.array_compact(F.flatten(F.array(*found))) if found else no_problems()
        return F.when(_apart(fault.isNotNull()), F.array(whole_row)).otherwise(in_columns)


def _with_values_as_written(
    frame: DataFrame, columns: Sequence[tuple[CheckedColumn, SourceColumn]], allowed: Mapping[str, str], point: str
) -> DataFrame:
    """The source values `s0`, ... of JSON columns that have `r0`, ...: those in doubt are read again from the line.

    `is_too_deep` says that this cannot be done.
    """
    doubts = [source.doubt(F.col(f"r{c.index}")) for c, source in columns if source.doubt is not None]
    want = members_wanted([(source.name, c.read_as) for c, source in columns], point)
    frame = frame.select("*", F.coalesce(any_of(doubts), F.lit(False)).alias("in_doubt"))
    again = record_exactly(F.col("line"), want, allowed)
    frame = frame.select("*", F.when(F.col("in_doubt") & ~F.col("is_malformed"), again).alias("again"))
    known = F.col("again").isNotNull()
    values = (
        F.when(known, source.again(F.col("again"))).otherwise(F.col(f"r{c.index}")).alias(f"s{c.index}")
        for c, source in columns
        if source.again is not None
    )
    too_deep = F.col("in_doubt") & ~known & ~F.col("is_malformed")
    return frame.select("*", *values, too_deep.alias("is_too_deep"))


def _apart(condition: Column) -> Column:
    """The same condition, in a form that keeps its step out of the one big function that Spark makes of a plan.

    That function soon is longer than the 8000 bytes that the JVM's compiler takes, and then runs many times slower. A
    step by itself is split into small functions.
    """
    return F.from_json(F.when(condition, F.lit("{}")), "nothing int").isNotNull()


def _problems_of(column: CheckedColumn, checker: Checker) -> Column:
    path = F.lit(path_text(column.node.path))
    found = checker.problems(_s(column), _x(column), path)
    if column.folder is None:
        return found
    expected = f"what the folder {column.node.path[0]}=... says"
    shown = F.coalesce(_s(column).try_cast("string"), F.lit("NULL"))
    other = F.array(problem(path, FOLDER_DIFFERS, expected, shown))
    return F.when(F.size(F.array_compact(found)) > 0, found).when(_disagrees(column), other).otherwise(found)


def _disagrees(column: CheckedColumn) -> Column:
    assert column.folder is not None
    return column.folder.disagrees(F.col(f"f{column.index}"), F.col(f"w{column.index}"), _x(column))


def _s(column: CheckedColumn) -> Column:
    return F.col(f"s{column.index}")


def _x(column: CheckedColumn) -> Column:
    return F.col(f"x{column.index}")


def _written(column: CheckedColumn, value: Column) -> Column:
    """The value that is written. NULL in a column with a default becomes the default, as the table format has it."""
    type_ = scan_type(column.field.type)
    value = value.cast(type_)
    return value if column.default is None else F.coalesce(value, column.default.cast(type_))

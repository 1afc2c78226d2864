"""Check the rows of a source: good ones with their values, bad ones with their problems.

What is wrong is looked for twice: quickly, as one condition, for all rows, and in detail for the rows where the
condition holds, which are put aside meanwhile, so that the source is read once. Of few rows both are done at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakebed.arrow.aside_files import ASIDE
from lakebed.catalog.node import Node, siblings
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_type
from lakebed.errors import SourceMismatchError
from lakebed.evolve.former_names import FormerNames
from lakebed.ingest.columns.checkers import PROBLEM, Checker, any_of, codes_of, no_problems, problem
from lakebed.ingest.columns.column_checks import CheckBuilder
from lakebed.ingest.columns.column_defaults import (
    ColumnDefault,
    FolderSays,
    check_defaults,
    column_default,
    folder_says,
)
from lakebed.ingest.columns.column_names import none_known
from lakebed.ingest.columns.values import Rules, TextFormats
from lakebed.ingest.mask_personal_data import PersonalColumns, mask_problems, personal_columns
from lakebed.ingest.nulled_values import FAIL, NULL, NullableColumn, code_column, nullable_columns
from lakebed.ingest.numbering import block_of
from lakebed.ingest.repeated_values import TWICE, RepeatedValues, repeated_problem, value_column
from lakebed.ingest.row_kind_column import of_known_kind
from lakebed.ingest.sources.json_exact import DEPTH, TOO_DEEP, members_wanted, record_exactly
from lakebed.ingest.sources.json_texts import JSON_NAMES, has_json, json_steps, with_json, with_json_parsed
from lakebed.ingest.sources.source_parts import RowFault, SourceColumn, SourcePart, plain_path
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.ingest.system_columns import SystemRow
from lakebed.model.extra import ON_BAD_ROW, UNIQUE
from lakebed.physical import DataField, path_text
from lakebed.physical.paimon_types import DataType

FOLDER_DIFFERS = "LB6130"

NOT_DECLARED = SourceSchema({})


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
class PreparedRows:
    """The rows of a source, checked. `has_shape`: they are JSON, whose keys are known when they have been read.

    `personal` says which columns hold personal data, `ignored` are columns of the source that are left out. `known_bad`
    gives the bad rows where they need not be looked for in the source, `unique` finds those that have values of others.
    """

    parts: tuple[CheckedPart, ...]
    has_shape: bool
    personal: PersonalColumns
    system: SystemRow | None = None
    ignored: tuple[str, ...] = ()
    known_bad: Callable[[], DataFrame] | None = None
    unique: RepeatedValues | None = None

    def with_unique(self, columns: Sequence[int]) -> PreparedRows:
        """The rows, of which those are bad, too, that have the same value as another one in one of these columns."""
        if not columns:
            return self
        part = self.parts[0]
        fatal = (c.index for c in part.columns if c.index in columns and part.action(c) == FAIL)
        return replace(self, unique=RepeatedValues(tuple(columns), frozenset(fatal)))

    def by_actions(self, otherwise: str) -> PreparedRows:
        """The rows of an ingest, in which bad values may become NULL; `otherwise` is what becomes of a bad row where
        the schema says nothing.
        """
        kept = frozenset(() if self.system is None else self.system.roles.values())
        parts = (replace(p, otherwise=p.otherwise or otherwise, kept_columns=kept, may_null=True) for p in self.parts)
        return replace(self, parts=tuple(parts))

    @property
    def nullable(self) -> tuple[NullableColumn, ...]:
        """The columns whose bad values become NULL."""
        read = ((p, c, checker) for p in self.parts for c, checker, _ in p.read)
        return nullable_columns(
            (c.index, path_text(c.node.path), codes_of(checker)) for p, c, checker in read if p.makes_null(c)
        )

    @property
    def folders(self) -> frozenset[str]:
        """The columns that the folders of every file say."""
        names = [frozenset(c.name for c in p.part.folders) for p in self.parts]
        return frozenset.intersection(*names) if names else frozenset()

    def all(self, *beside: str) -> DataFrame:
        """Every row: `v0`, `v1`, ... are the declared columns as they are written, `bad` says whether anything is wrong
        with the row, `fatal` whether it is something that ends the run, `cut` whether it is a piece of a row, `block`
        which piece of the source it comes from, `shape` is the JSON value,
        `beside` are columns that the frame of every part has.
        """
        frames = (part.all(part.flagged(i), *map(F.col, beside)) for i, part in enumerate(self.parts))
        return self._with_repeated(reduce(DataFrame.union, frames))

    def _with_repeated(self, rows: DataFrame) -> DataFrame:
        return rows if self.unique is None else self.unique.flagged(rows)

    def with_bad(self, *, few: bool = False) -> RowsWithBad:
        """Every row as `all` gives it, the bad ones with what `bad` needs of them, or, of `few` rows, what it gives.

        That the query which writes rows also finds the problems saves another query, and makes each row slower.
        """
        if few and self.unique is None:
            return self._with_problems()
        flagged = [part.flagged(i) for i, part in enumerate(self.parts)]
        kept = [frame.select(*part.kept).schema for part, frame in zip(self.parts, flagged, strict=True)]
        # Parts may have a column in other types.
        every = {(f.name, f.dataType.simpleString()): f.dataType for schema in kept for f in schema.fields}
        places = {key: f"k{i}" for i, key in enumerate(every)}
        rows, names = [], []
        for i, (part, frame, schema) in enumerate(zip(self.parts, flagged, kept, strict=True)):
            own = {(f.name, f.dataType.simpleString()) for f in schema.fields}
            values = ((F.col(key[0]) if key in own else F.lit(None).cast(type_)) for key, type_ in every.items())
            members = (value.alias(place) for value, place in zip(values, places.values(), strict=True))
            aside = F.struct(F.lit(i).alias("part"), *part.told, *members)
            # Which rows have values of others is known when all of them are together.
            put = F.when(F.col("bad"), aside) if self.unique is None else aside
            rows.append(part.all(frame, put.alias(ASIDE)))
            names.append({name: places[name, type_] for name, type_ in own})
        all_rows = self._with_repeated(reduce(DataFrame.union, rows))
        if self.unique is not None:
            aside = F.col(ASIDE).withField(TWICE, F.col(TWICE))
            all_rows = all_rows.withColumn(ASIDE, F.when(F.col("bad"), aside))
        return RowsWithBad(all_rows, tuple(zip(self.parts, names, strict=True)))

    def _with_problems(self) -> RowsWithBad:
        rows = []
        for i, part in enumerate(self.parts):
            frame = part.flagged(i)
            found = F.when(F.col("bad"), F.struct(*part.found)).alias(ASIDE)
            rows.append(part.all(frame, found))
        return RowsWithBad(reduce(DataFrame.union, rows))

    def bad(self) -> DataFrame:
        """The bad rows: `problems` says what is wrong, `raw`, `file` and `offset` where the row comes from."""
        if self.known_bad is not None:
            return self.known_bad()
        if self.unique is not None:
            every = self.with_bad()
            return every.bad(every.frame.where(F.col("bad")).select(f"{ASIDE}.*"))
        # After the filter: raw texts and problems are made for bad rows only.
        found = ((part, part.flagged(i).where(F.col("bad"))) for i, part in enumerate(self.parts))
        frames = (part.bad(frame.select(*part.told, *part.kept)) for part, frame in found)
        return reduce(DataFrame.union, frames)

    def shown(self) -> DataFrame:
        """The bad rows as an error may show them."""
        return mask_problems(self.bad(), self.personal)


@dataclass(frozen=True, slots=True)
class RowsWithBad:
    """Every row, as `PreparedRows.all` gives it, and the struct `ASIDE`: what has to be known of a bad row, NULL for
    good ones. Of each part `names` says under which names the struct has the part's columns; without parts the struct
    is what `PreparedRows.bad` gives.
    """

    frame: DataFrame
    parts: tuple[tuple[CheckedPart, Mapping[str, str]], ...] = ()

    @property
    def schema(self) -> StructType:
        """What is known of a bad row."""
        found = self.frame.schema[ASIDE].dataType
        assert isinstance(found, StructType)
        return found

    def bad(self, aside: DataFrame) -> DataFrame:
        """The bad rows, as `PreparedRows.bad` gives them, of what was put aside."""
        if not self.parts:
            return aside
        frames = []
        for i, (part, names) in enumerate(self.parts):
            own = (F.col(place).alias(name) for name, place in names.items())
            told = ("raw", "line", "file", "offset", "fault", *([TWICE] if TWICE in aside.columns else []))
            frames.append(part.bad(aside.where(F.col("part") == i).select(*told, *own)))
        return reduce(DataFrame.union, frames)


def prepare(
    session: SparkSession,
    parts: Sequence[SourcePart],
    schema: TableSchema,
    rules: Rules,
    *,
    ignore_unknown: bool,
    system: SystemRow | None = None,
    declared: SourceSchema = NOT_DECLARED,
    former: Callable[[], FormerNames] = dict,
    kinds: str | None = None,
) -> PreparedRows:
    """The checked rows of all parts; there is one part at least. `system` fills columns that a source may lack,
    `declared` are the types that values of the source have to be of first, `former` the names that columns bore before,
    `kinds` the column that says what a row does to its key.

    Raises `IngestError` with everything that makes the source unfit as a whole: required columns that are missing,
    columns that are not declared, types that cannot become the declared ones, defaults that are no values.
    """
    builder = CheckBuilder(rules, ignore_unknown, former=former)
    nodes = list(siblings(schema.fields, schema.logical.fields))
    nodes = [of_known_kind(node) if node.path == (kinds,) else node for node in nodes]
    if system is not None:
        nodes = [system.node(node) for node in nodes]
        builder.problems += [d for part in parts for d in system.taken([c.name for c in _named(part)], part.label)]
    # A default is written as in the manifest, whatever the source has.
    usual = builder.by(replace(rules, formats=TextFormats()))
    defaults = [
        column_default(usual, node, system.default_of(node, f) if system else f.default_value)
        for node, f in zip(nodes, schema.fields, strict=True)
    ]
    planned = [_columns(builder, part, nodes, defaults, schema, system, declared) for part in parts]
    for part in parts:
        # Folders alone are no rows. Columns that are not declared are an error by themselves.
        if part.columns is not None and (ignore_unknown or not part.columns):
            builder.problems += none_known([c.name for c in part.columns], schema.field_names, part.label)
    if not builder.problems:
        check_defaults(session, builder, nodes, defaults)
    if builder.problems:
        raise SourceMismatchError(*builder.problems)
    said = schema.logical.extra.get(ON_BAD_ROW)
    checked = (CheckedPart(part, columns, rules, said) for part, columns in zip(parts, planned, strict=True))
    has_shape = any(p.shape is not None for p in parts)
    return PreparedRows(tuple(checked), has_shape, personal_columns([schema]), system, tuple(builder.ignored))


def together(prepared: Sequence[PreparedRows]) -> PreparedRows:
    """The rows of several sources of one table, whose keys are known already; there is one at least."""
    parts = (replace(p, part=replace(p.part, shape=None)) for some in prepared for p in some.parts)
    ignored = dict.fromkeys(name for some in prepared for name in some.ignored)
    return PreparedRows(tuple(parts), False, prepared[0].personal, prepared[0].system, tuple(ignored))


def _columns(
    builder: CheckBuilder,
    part: SourcePart,
    nodes: Sequence[Node],
    defaults: Sequence[ColumnDefault | None],
    schema: TableSchema,
    system: SystemRow | None,
    declared: SourceSchema,
) -> tuple[CheckedColumn, ...]:
    found = []
    for i, (node, default) in enumerate(zip(nodes, defaults, strict=True)):
        said = declared.node(node.path[0]) or node
        source = part.said(node.path[0], said.stored, builder.rules.formats)
        checker: Checker | None = None
        steps: tuple[Callable[[Column], Column], ...] = ()
        if source is not None:
            form = with_json(source.type, said.stored)
            checker = declared.checker(builder, node, form)
            steps = json_steps(form, builder.rules.formats.decimal) if has_json(form) else ()
        elif not node.nullable:
            builder.note_missing(node, [c.name for c in _named(part)], schema.field_names, part.label)
        filled = None if default is None else default.value
        if default is not None and system is not None and system.by_file(node):
            filled = default.checker.value(F.coalesce(system.moment_of_file(node, F.col("path")), F.lit(default.text)))
        folder = folder_says(builder, part, node, declared)
        text = None if default is None else default.text
        found.append(
            CheckedColumn(i, schema.fields[i], node, checker, source, said.stored, filled, text, folder, steps)
        )
    folders = {c.name for c in part.folders} - {c.name for c in part.columns or ()}
    builder.note_unknown([c.name for c in _named(part)], schema.field_names, where=part.label, folders=folders)
    return tuple(found)


def _named(part: SourcePart) -> tuple[SourceColumn, ...]:
    """The columns of a part that are known by name before its rows are read."""
    names = {c.name for c in part.columns or ()}
    return (*(part.columns or ()), *(c for c in part.folders if c.name not in names))


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """One part with what is read of it. Rows go through steps, so that no value is computed twice.

    `otherwise` is what becomes of rows that are bad in a column which does not say it. With `may_null` bad values may
    become NULL, but those of `kept_columns`.
    """

    part: SourcePart
    columns: tuple[CheckedColumn, ...]
    rules: Rules
    otherwise: str | None
    kept_columns: frozenset[str] = frozenset()
    may_null: bool = False

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
        others = (block, plain_path(part.url).alias("path"), part.offset.alias("offset"))
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
        frame = self.part.frame.select("*", *sources, *folders, wrong, *cut, *others)
        frame = _with_values_as_written(frame, again, self.part.allowed, self.rules.formats.decimal) if again else frame
        frame = with_json_parsed(frame, {c.index: c.json_steps for c in parsed})
        values = (checker.value(_s(c)).alias(f"x{c.index}") for c, checker, _ in self.read)
        malformed = F.col("is_malformed") | F.col("is_too_deep") if again else F.col("is_malformed")
        frame = frame.select("*", *values, _apart(malformed).alias("is_bad"))
        faulty = [(c, checker.bad(_s(c), _x(c))) for c, checker, _ in self.read if not self.makes_null(c)]
        faulty += [(c, _disagrees(c)) for c, _, _ in self.read if c.folder is not None]
        bad = any_of([_apart(F.col("is_bad")), *(condition for _, condition in faulty)])
        fatal = any_of([condition for c, condition in faulty if self.action(c) == FAIL])
        if self.otherwise == FAIL:
            fatal = _apart(F.col("is_bad")) | fatal
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

    @property
    def _place(self) -> list[Column]:
        """A bad row itself, and where it comes from."""
        return [self.part.raw.alias("raw"), F.col("path").alias("file"), F.col("offset")]

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
        return [*(f"s{c.index}" for c, _, _ in self.read), *folders]

    def bad(self, rows: DataFrame) -> DataFrame:
        """The bad rows, see `PreparedRows.bad`, of what is told of them and kept."""
        values = (checker.value(_s(c)).alias(f"x{c.index}") for c, checker, _ in self.read)
        rows = rows.select("*", *values)
        problems = self._problems(F.col("fault"), F.col("line"), is_compared=TWICE in rows.columns)
        return rows.select(problems.alias("problems"), "raw", "file", "offset")

    def _problems(self, fault: Column, line: Column, *, is_compared: bool = False) -> Column:
        """The problems of a bad row, of its source values and their conversions. `is_compared`: `TWICE` is there."""
        found = [_problems_of(c, checker) for c, checker, _ in self.read]
        if is_compared:
            found += [repeated_problem(c.index, c.node.path, _s(c)) for c, _, _ in self.read if c.is_unique]
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

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
from pyspark.sql.types import LongType, StructField, StructType

from lakebed.arrow.aside_files import ASIDE
from lakebed.arrow.line_numbers import LINE, START, LineLookup
from lakebed.catalog.node import Node, siblings
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import SourceMismatchError
from lakebed.evolve.former_names import FormerNames
from lakebed.ingest.checked_part import CheckedColumn, CheckedPart
from lakebed.ingest.columns.checkers import Checker, codes_of
from lakebed.ingest.columns.column_checks import CheckBuilder
from lakebed.ingest.columns.column_defaults import (
    ColumnDefault,
    check_defaults,
    column_default,
    folder_says,
)
from lakebed.ingest.columns.column_names import UnknownColumns, none_known
from lakebed.ingest.columns.unknown_values import of_keys, of_values
from lakebed.ingest.columns.values import Rules, TextFormats
from lakebed.ingest.mask_personal_data import PersonalColumns, mask_problems, personal_columns
from lakebed.ingest.nulled_values import FAIL, NullableColumn, nullable_columns
from lakebed.ingest.repeated_values import TWICE, RepeatedValues
from lakebed.ingest.row_kind_column import of_known_kind
from lakebed.ingest.sources.json_texts import has_json, json_steps, with_json
from lakebed.ingest.sources.source_parts import SourceColumn, SourcePart
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.ingest.system_columns import SystemRow
from lakebed.model.extra import ON_BAD_ROW
from lakebed.physical import path_text

NOT_DECLARED = SourceSchema({})


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """The rows of a source, checked. `has_shape`: they are JSON, whose keys are known when they have been read.

    `personal` says which columns hold personal data, `ignored` are columns of the source that are left out. `known_bad`
    gives the bad rows where they need not be looked for in the source, `lines` finds the lines that they are from,
    `unique` those that have values of others.
    """

    parts: tuple[CheckedPart, ...]
    has_shape: bool
    personal: PersonalColumns
    system: SystemRow | None = None
    ignored: tuple[str, ...] = ()
    known_bad: Callable[[], DataFrame] | None = None
    lines: Callable[[], LineLookup | None] = lambda: None
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
        """The bad rows: `problems` says what is wrong, `raw`, `file`, `offset` and `line_number` where the row comes
        from.
        """
        rows, lookup = self._bad(), self.lines()
        if lookup is None:
            return rows.withColumn(LINE, F.lit(None).cast("bigint"))
        return rows.mapInArrow(lookup.with_lines, StructType([*rows.schema, StructField(LINE, LongType())]))

    def _bad(self) -> DataFrame:
        if self.known_bad is not None:
            return self.known_bad()
        if self.unique is not None:
            every = self.with_bad()
            return every.bad(every.frame.where(F.col("bad")).select(f"{ASIDE}.*"))
        # After the filter: raw texts and problems are made for bad rows only.
        found = ((part, part.flagged(i).where(F.col("bad"))) for i, part in enumerate(self.parts))
        frames = (part.bad(frame.select(*part.told, *part.kept)) for part, frame in found)
        return reduce(DataFrame.union, frames)

    def with_known(self, bad: DataFrame, *, others: bool) -> PreparedRows:
        """The rows with bad ones of which all is known, beside `others` that these may have."""
        return replace(self, known_bad=lambda: bad.union(self._bad()) if others else bad)

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
            told = ("raw", "line", "file", "offset", START, "fault", *([TWICE] if TWICE in aside.columns else []))
            frames.append(part.bad(aside.where(F.col("part") == i).select(*told, *own)))
        return reduce(DataFrame.union, frames)


def prepare(
    session: SparkSession,
    parts: Sequence[SourcePart],
    schema: TableSchema,
    rules: Rules,
    *,
    unknown: UnknownColumns,
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
    builder = CheckBuilder(rules, unknown, former=former)
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
        if part.columns is not None and (unknown is UnknownColumns.IGNORE or not part.columns):
            builder.problems += none_known([c.name for c in part.columns], schema.field_names, part.label)
    if not builder.problems:
        check_defaults(session, builder, nodes, defaults)
    if builder.problems:
        raise SourceMismatchError(*builder.problems)
    said = schema.logical.extra.get(ON_BAD_ROW)
    checked = (
        CheckedPart(part, columns, rules, said, unknown=_unknown_values(builder, part, schema, declared))
        for part, columns in zip(parts, planned, strict=True)
    )
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


def _unknown_values(
    builder: CheckBuilder, part: SourcePart, schema: TableSchema, declared: SourceSchema
) -> Column | None:
    """The values of a row for columns that are not declared, where they make it bad."""
    if builder.unknown is not UnknownColumns.QUARANTINE:
        return None
    named = [(c.name, c.value, builder.shown(c.type)) for c in _named(part) if c.name not in schema.field_names]
    if part.columns is not None:
        return of_values(named) if named else None
    keys = of_keys(schema.field_names, declared.types or None).found(F.col("record"))
    return F.concat(of_values(named), keys) if named else keys


def _named(part: SourcePart) -> tuple[SourceColumn, ...]:
    """The columns of a part that are known by name before its rows are read."""
    names = {c.name for c in part.columns or ()}
    return (*(part.columns or ()), *(c for c in part.folders if c.name not in names))

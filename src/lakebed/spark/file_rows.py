"""Read the rows of data files as columns of one schema, without merging.

Files are grouped by what has to be done to them (format and layout); each group is one scan, and the groups are
unioned. Everything that reads rows stands on this: plain tables as they are, the merge of primary keys and
of row ranges with the columns of `System` beside the table's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property, reduce
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.arrow.blob_values import IS_PLACEHOLDER
from lakebed.arrow.scan_files import refuse_inexact
from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import ORC_TIMESTAMP_LTZ_LEGACY_TYPE
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_schema
from lakebed.errors import UnsupportedError
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.live_files import DataFile
from lakebed.format.row_kinds import ROW_ID, SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.row_ranges import stored_fields
from lakebed.format.table_storage import Schemas
from lakebed.physical.paimon_tree import outer_rows
from lakebed.physical.paimon_types import UNASSIGNED, Array, Boolean, DataField, Map, Multiset, Row, Unknown
from lakebed.read.shared_layout import Layout
from lakebed.read.stored_layout import layout
from lakebed.spark.file_constants import by_number, partition_columns
from lakebed.spark.orc_values import (
    holds_instants,
    jvm_zone,
    legacy_zones,
    orc_changes,
    refuse_orc_instants,
    refuse_orc_names,
    refuse_orc_positions,
    scanned_as_instants,
    taken_by_place,
)
from lakebed.spark.parquet_nanos import from_nanoseconds, has_nanoseconds, stored_as_long
from lakebed.spark.projection import CastRules, project
from lakebed.spark.reach import needs_workers
from lakebed.spark.scan import (
    NATIVE,
    FileFormat,
    ScanFile,
    Scanned,
    Scratch,
    described,
    file_path,
    format_of,
    scan,
    scan_by_workers,
    without_deleted,
)
from lakebed.spark.scanned_values import Changes, shielded, widens, with_changes
from lakebed.spark.sql_names import quote_name
from lakebed.spark.worker_python import check_workers
from lakebed.store.base import Store


class System(StrEnum):
    """Columns beside the table's own that `FileRows.read` gives when asked, by their names in its DataFrame.

    `FILE` is the file's place in the sequence that was asked for (INT), `POSITION` the row's place in its file from 0
    (BIGINT), `PLACEHOLDER` whether an older file has the value of the file's only column (BOOLEAN). The others are
    columns that files may hold, of primary-key tables and of tables with row tracking; NULL where a file has them not.
    """

    FILE = "_LAKEBED_FILE"
    POSITION = "_LAKEBED_POSITION"
    SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
    VALUE_KIND = "_VALUE_KIND"
    ROW_ID = "_ROW_ID"
    PLACEHOLDER = IS_PLACEHOLDER


#: Spark holds at most so many bytes as one value, and files that it has no reader for are one.
_BIGGEST = (2 << 30) - 1024
#: The system columns that are columns of the files themselves.
_STORED = {
    System.SEQUENCE_NUMBER: spark_types.LongType(),
    System.VALUE_KIND: spark_types.ByteType(),
    System.ROW_ID: spark_types.LongType(),
}
#: What workers read beside the columns of the table, as fields of the table format.
_OF_FILES = {
    System.SEQUENCE_NUMBER: SEQUENCE_NUMBER,
    System.VALUE_KIND: VALUE_KIND,
    System.ROW_ID: ROW_ID,
    System.PLACEHOLDER: DataField(UNASSIGNED, IS_PLACEHOLDER, Boolean()),
}
_COMPUTED = {
    System.FILE: spark_types.IntegerType(),
    System.POSITION: spark_types.LongType(),
    System.PLACEHOLDER: spark_types.BooleanType(),
}


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Rows as files hold them: `frame` has the path of each row's file (`FILE`) and the columns `fields`.

    Names and types are those of the schema version that the files were written under.
    """

    FILE: ClassVar[str] = "_LAKEBED_PATH"

    frame: DataFrame
    fields: tuple[DataField, ...]


@dataclass(frozen=True)
class FileRows:
    """Reads data files of one table; of blobs their contents or, with `descriptors`, where these lie."""

    spark: SparkSession
    store: Store
    schemas: Schemas
    rules: CastRules
    scratch: Scratch
    descriptors: bool = False

    @cached_property
    def version(self) -> Callable[[int], TableSchema]:
        """The schema version of an id; each is read once."""
        return cache(self.schemas.load_schema)

    @cached_property
    def _jvm_zone(self) -> str:
        """The zone of the JVMs that read files; it takes a job to know it."""
        return jvm_zone(self.spark)

    def read(self, files: Sequence[DataFile], schema: TableSchema, *system: System) -> DataFrame:
        """The rows of `files` under `schema`, followed by the columns `system`, in that order.

        Rows that deletion vectors delete are left out. Partition columns come from the manifests. A file's own schema
        version says what its columns mean; each wanted column is found by its field id.
        """
        check_case(self.spark, schema)
        groups: dict[tuple[_Form, bool], list[_Numbered]] = {}
        forms = self._forms(files, schema, widened=True)
        scans = _scans(files, forms)
        for number, (file, form) in enumerate(zip(files, forms, strict=True)):
            groups.setdefault((scans[form], file.deletions is not None), []).append(_Numbered(number, file))
        frames = [self._group(form, group, schema, system) for (form, _), group in groups.items()]
        return reduce(DataFrame.union, frames) if frames else self._nothing(schema, system)

    def stored(self, files: Sequence[DataFile], schema: TableSchema) -> Iterator[StoredRows]:
        """What the files themselves say of the columns of `schema`, before any cast; a scan for each form of files.

        Rows that deletion vectors delete are among them.
        """
        groups: dict[_Form, list[DataFile]] = {}
        forms = self._forms(files, schema)
        scans = _scans(files, forms, as_they_are=True)
        for file, form in zip(files, forms, strict=True):
            groups.setdefault(scans[form], []).append(file)
        for form, group in groups.items():
            wanted, changes = self._read_as(form)
            scan_files = [ScanFile(file.path, file.size, number) for number, file in enumerate(group)]
            scanned = self._scan(form, wanted, scan_files, positions=False)
            path = by_number("string", [file.path for file in group])(scanned.ordinal)
            columns = [_scanned(f, changes).alias(f.name) for f in form.stored]
            yield StoredRows(scanned.frame.select(path.alias(StoredRows.FILE), *columns), form.stored)

    def _forms(self, files: Sequence[DataFile], schema: TableSchema, *, widened: bool = False) -> list[_Form]:
        """How each file holds what is wanted. Footers are read of those alone whose schema does not tell it.

        `widened`: types are the wanted ones where Spark's reader widens values itself.
        """
        by_workers = needs_workers(self.spark, (file.path for file in files))
        layouts = _Layouts(self, schema, widened=widened and not by_workers)
        forms = [_Form(format_of(file.path), layouts.of_file(file), by_workers=by_workers) for file in files]
        if by_workers:
            for file, form in zip(files, forms, strict=True):
                if form.format is not FileFormat.BLOB or not self.descriptors:
                    refuse_inexact(file.path, form.stored)
            return forms
        fine = [i for i, f in enumerate(forms) if f.format is FileFormat.PARQUET and has_nanoseconds(f.stored)]
        names = [frozenset(f.name for f in forms[i].stored if has_nanoseconds([f])) for i in fine]
        for i, long in zip(fine, stored_as_long(self.store, [files[i].path for i in fine], names), strict=True):
            forms[i] = replace(forms[i], nanos_as_long=long)
        for i, (file, form) in enumerate(zip(files, forms, strict=True)):
            if form.format is FileFormat.ORC and taken_by_place(written := stored_fields(self.version, file)):
                refuse_orc_positions(form.stored, written, file.path)
                forms[i] = replace(form, by_place=True)
        orc = [file for file, form in zip(files, forms, strict=True) if form.format is FileFormat.ORC]
        instants = [file.path for file in orc if holds_instants(stored_fields(self.version, file))]
        refuse_orc_instants(self.spark, self.store, instants)
        if is_set(schema.options, ORC_TIMESTAMP_LTZ_LEGACY_TYPE):
            open_ = [i for i, f in enumerate(forms) if f.format is FileFormat.ORC and holds_instants(f.stored)]
            for i, zone in zip(open_, legacy_zones(self.store, [files[i].path for i in open_]), strict=True):
                forms[i] = replace(forms[i], instants_by=zone)
        return forms

    def _nothing(self, schema: TableSchema, system: Sequence[System]) -> DataFrame:
        empty = scan_schema(schema.fields)
        for column in system:
            empty = empty.add(column.value, _STORED.get(column) or _COMPUTED[column])
        return self.spark.createDataFrame([], empty)

    def _group(
        self, form: _Form, files: Sequence[_Numbered], schema: TableSchema, system: Sequence[System]
    ) -> DataFrame:
        format, stored = form.format, form.stored
        deletions = [f.file.deletions for f in files if f.file.deletions is not None]
        positions = System.POSITION in system or bool(deletions)
        by_ordinal = positions or not form.is_native
        constants = _Constants(files, per_file=System.FILE in system or by_ordinal)
        wanted, changes = self._read_as(form)
        for column in system:
            if column in _STORED:
                wanted = wanted.add(column.value, _STORED[column])
        if format is FileFormat.BLOB and System.PLACEHOLDER in system:
            wanted = wanted.add(System.PLACEHOLDER, _COMPUTED[System.PLACEHOLDER])
        scanned = self._scan(form, wanted, constants.scan_files, positions=positions)
        file = constants.file_path(scanned.ordinal) if by_ordinal else file_path(scanned.frame)
        if deletions:
            places = read_positions(self.store, deletions)
            deleted = dict(zip((f.ordinal for f in constants.scan_files), places, strict=True))
            scanned = without_deleted(self.spark, scanned, deleted)
        rules = replace(self.rules, file=file)
        own = _own_columns(schema, stored, constants.partitions, scanned.ordinal, rules, changes)
        return scanned.frame.select(*own, *(_system_column(c, scanned, constants, format) for c in system))

    def _read_as(self, form: _Form) -> tuple[spark_types.StructType, Changes]:
        """What a scan is asked for, and what is then done to the values."""
        if form.nanos_as_long:
            return scan_schema(form.stored, nanos_as_long=True), from_nanoseconds
        wanted = scan_schema(form.stored)
        if form.format is not FileFormat.ORC or form.by_workers:
            return wanted, lambda _: None
        refuse_orc_names(form.stored)
        fields = [spark_types.StructField(f.name, scanned_as_instants(f.dataType)) for f in wanted.fields]
        return spark_types.StructType(fields), orc_changes(form.stored, form.instants_by, lambda: self._jvm_zone)

    def _scan(
        self, form: _Form, wanted: spark_types.StructType, files: Sequence[ScanFile], *, positions: bool
    ) -> Scanned:
        format, verify = form.format, self.rules.verify_checksums
        if format is FileFormat.BLOB and self.descriptors:
            return described(self.spark, self.store, wanted, files)
        if format not in NATIVE:
            _refuse_big(files)
        if not form.is_native:
            check_workers(self.spark)
        if form.by_workers:
            system = [field for field in _OF_FILES.values() if field.name in wanted.names]
            return scan_by_workers(self.spark, self.store, (*form.stored, *system), files, verify_checksums=verify)
        return scan(self.spark, format, wanted, files, self.scratch, positions=positions, verify_checksums=verify)


def _refuse_big(files: Sequence[ScanFile]) -> None:
    for file in files:
        if file.size > _BIGGEST:
            raise UnsupportedError.of(
                "LB5562",
                f"data file {file.path} of {file.size} bytes is too big to be read at once",
                path=file.path,
                expected=f"at most {_BIGGEST} bytes",
                found=str(file.size),
                remedy='read blobs with blobs="descriptor", and get the values with lake.fetch_blobs',
            )


def _own_columns(
    schema: TableSchema,
    stored: tuple[DataField, ...],
    partitions: Sequence[tuple[Any, ...]],
    ordinal: Column,
    rules: CastRules,
    changes: Changes,
) -> list[Column]:
    """The columns of `schema`, from the manifest or from the scanned columns `stored`."""
    keys = [_key_field(schema, k) for k in schema.partition_keys]
    values = partition_columns([k.type for k in keys], partitions, ordinal)
    constants = dict(zip((k.id for k in keys), values, strict=True))
    by_id = {f.id: f for f in stored}
    columns = []
    for field in schema.fields:
        value = constants.get(field.id)
        if value is None:
            old = by_id.get(field.id)
            value = project(field, old, None if old is None else _scanned(old, changes), rules)
        columns.append(value.alias(field.name))
    return columns


def _scanned(stored: DataField, changes: Changes) -> Column:
    column = with_changes(F.col(quote_name(stored.name)), stored.type, changes, stored.name)
    return shielded(column, stored.type)


def _system_column(column: System, scanned: Scanned, constants: _Constants, format: FileFormat) -> Column:
    match column:
        case System.FILE:
            value = constants.file_number(scanned.ordinal)
        case System.POSITION:
            value = scanned.position
        case System.PLACEHOLDER if format is not FileFormat.BLOB:
            value = F.lit(False)
        case _:
            value = F.col(column.value)
    return value.alias(column.value)


@dataclass(frozen=True, slots=True)
class _Form:
    """How a file holds what is wanted of it; files of one form are one scan."""

    format: FileFormat
    layout: Layout
    nanos_as_long: bool = False
    instants_by: str | None = None
    by_place: bool = False
    by_workers: bool = False

    @property
    def stored(self) -> tuple[DataField, ...]:
        """The columns that are read, as files hold them."""
        return self.layout.stored

    def shared(self, other: _Form, *, as_it_is: bool) -> _Form | None:
        """The form by which one scan reads files of both, None where they need two."""
        if replace(other, layout=self.layout) != self:
            return None
        both = self.layout.shared(other.layout, as_it_is=as_it_is or self.by_place or not self.is_native)
        return None if both is None else replace(self, layout=both)

    @property
    def is_native(self) -> bool:
        """Whether Spark reads the files itself."""
        return self.format in NATIVE and not self.by_workers


def _scans(files: Sequence[DataFile], forms: Sequence[_Form], *, as_they_are: bool = False) -> dict[_Form, _Form]:
    """For each form of files that of the scan which reads them, with the columns in the order of the newest version.

    `as_they_are`: a scan is asked for what is in each of its files, no more.
    """
    by_age = sorted(zip(files, forms, strict=True), key=lambda pair: -pair[0].meta.schema_id)
    made: list[tuple[_Form, list[_Form]]] = []
    for form in dict.fromkeys(form for _, form in by_age):
        for number, (shared, members) in enumerate(made):
            both = shared.shared(form, as_it_is=as_they_are)
            if both is not None:
                made[number] = both, [*members, form]
                break
        else:
            made.append((form, [form]))
    return {form: shared for shared, members in made for form in members}


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A file and its place among the files that were asked for."""

    number: int
    file: DataFile


class _Constants:
    """What is the same for all rows of a file: one ordinal for each different combination goes with the scan."""

    def __init__(self, files: Sequence[_Numbered], *, per_file: bool) -> None:
        ordinals: dict[tuple[tuple[Any, ...], int | None], int] = {}
        self.scan_files = []
        for numbered in files:
            key = numbered.file.partition, numbered.number if per_file else None
            ordinal = ordinals.setdefault(key, len(ordinals))
            self.scan_files.append(ScanFile(numbered.file.path, numbered.file.size, ordinal))
        self.partitions = [partition for partition, _ in ordinals]
        self._numbers = [number for _, number in ordinals]

    def file_path(self, ordinal: Column) -> Column:
        """The path of the file, from the ordinal that its rows carry; where every file has one of its own."""
        return by_number("string", [file.path for file in self.scan_files])(ordinal)

    def file_number(self, ordinal: Column) -> Column:
        """The number of the file, from the ordinal that its rows carry."""
        if len(self._numbers) == 1:
            return F.lit(self._numbers[0]).cast("int")
        return by_number("int", self._numbers)(ordinal)


class _Layouts:
    """What has to be read from files of each schema version, for one wanted schema; `widened`: see `_forms`."""

    def __init__(self, reader: FileRows, schema: TableSchema, *, widened: bool) -> None:
        self._reader = reader
        self._widened = widened
        self._partition_ids = {f.id for f in schema.fields if f.name in schema.partition_keys}
        self._wanted = [f for f in schema.fields if f.id not in self._partition_ids]
        self._found: dict[tuple[int, tuple[str, ...] | None, bool], Layout] = {}

    def of_file(self, file: DataFile) -> Layout:
        widened = self._widened and format_of(file.path) is FileFormat.PARQUET
        key = file.meta.schema_id, file.meta.write_cols, widened
        if key not in self._found:
            check_case(self._reader.spark, self._reader.version(file.meta.schema_id))
            written = stored_fields(self._reader.version, file)
            self._found[key] = Layout.of(self._stored(written, widened), written)
        return self._found[key]

    def _stored(self, written: Sequence[DataField], widened: bool) -> tuple[DataField, ...]:
        """Never nothing, so that rows are counted."""
        found = layout(written, self._wanted, widens) if widened else layout(written, self._wanted)
        if found:
            return found
        others = [f for f in written if f.id not in self._partition_ids] or list(written)
        flat = [f for f in others if not isinstance(f.type, (Row, Array, Map, Multiset, Unknown))]
        return layout(flat[:1] or others[:1], flat[:1] or others[:1])


def _key_field(schema: TableSchema, key: str) -> DataField:
    field = schema.field(key)
    if field is None:
        raise UnsupportedError.of("LB6705", f"partition key {key!r} is not a column of schema {schema.id}", path=key)
    return field


def check_case(spark: SparkSession, schema: TableSchema) -> None:
    """Names that differ only in case need a session that tells them apart."""
    if (spark.conf.get("spark.sql.caseSensitive", "false") or "false").lower() == "true":
        return
    for names, path in _sibling_names(schema.fields, ""):
        folded: dict[str, str] = {}
        for name in names:
            other = folded.setdefault(name.casefold(), name)
            if other != name:
                raise UnsupportedError.of(
                    "LB6706",
                    f"columns {path + other!r} and {path + name!r} of schema {schema.id} differ only in case",
                    path=path + name,
                    remedy="set spark.sql.caseSensitive=true in the Spark session",
                )


def _sibling_names(fields: Sequence[DataField], path: str) -> Iterable[tuple[list[str], str]]:
    yield [f.name for f in fields], path
    for field in fields:
        for inner in outer_rows(field.type):
            yield from _sibling_names(inner.fields, f"{path}{field.name}.")

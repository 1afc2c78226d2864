"""Compare the columns of data files, by their footers, with the schema versions that they were written under."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from lakebed.catalog import TableSchema
from lakebed.catalog.validate import KEY_COLUMN_PREFIX, SYSTEM_COLUMNS
from lakebed.convert.paimon import nearest
from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError
from lakebed.format.live_files import (
    DataFile,
    data_files,
    entries_of,
    live_entries,
    partition_types,
    snapshot_manifests,
)
from lakebed.format.parquet_footer import read_footer
from lakebed.format.table_branch import TableBranch
from lakebed.model import LogicalType
from lakebed.model import types as logical
from lakebed.model.logical_tree import fold
from lakebed.physical import path_text
from lakebed.physical.paimon_types import Blob, Variant, Vector

OTHER_COLUMNS = "LB5059"
#: What a Parquet file stores alike.
_SMALL_INTEGERS = (logical.Int8, logical.Int16, logical.Int32, logical.UInt8, logical.UInt16)
#: What lies in files of its own, or in forms that are not told apart here.
_OTHER_FORMS = (Blob, Variant, Vector)


def live_data_files(table: TableBranch) -> tuple[DataFile, ...]:
    """The data files of the newest snapshot; none where there is no snapshot."""
    newest = table.snapshots.latest()
    if newest is None:
        return ()
    schema, metas = table.schemas.load_latest_schema(), snapshot_manifests(table.store, table.table_path, newest)
    entries = live_entries(entries_of(table.store, table.table_path, metas), partition_types(schema))
    return data_files(table.table_path, schema, entries)


def other_columns(table: TableBranch, files: tuple[DataFile, ...]) -> Iterator[Diagnostic]:
    """What Parquet files lack, or have beside or in other types than the version that they name; LB5059 for each file.

    A file that cannot be read is told with its own code.
    """
    schema_of = cache(table.schemas.find)
    for file in files:
        schema = schema_of(file.meta.schema_id)
        if schema is None:
            yield _problem(file, f"names schema {file.meta.schema_id}, which is not there")
        elif file.path.endswith(".parquet"):
            try:
                found = _columns(table, file.path)
            except LakebedError as error:
                yield from error.diagnostics
                continue
            differences = list(_differences(schema, file, found))
            if differences:
                yield _problem(file, f"is not as schema {schema.id} says: {'; '.join(differences)}")


def _problem(file: DataFile, what: str) -> Diagnostic:
    remedy = "find out who wrote it; `lakebed rollback` goes back to a snapshot without it"
    return Diagnostic(OTHER_COLUMNS, f"the data file {file.path} {what}", path=file.path, remedy=remedy)


def _columns(table: TableBranch, path: str) -> dict[str, LogicalType]:
    from lakebed.convert.arrow import from_arrow

    found, _ = from_arrow(read_footer(table.store, path).schema.to_arrow_schema(), strict=False)
    return {f.name: f.type for f in found.fields}


def _differences(schema: TableSchema, file: DataFile, found: dict[str, LogicalType]) -> Iterator[str]:
    """The columns that differ. Those of partitions need not be in a file, whose directory says them."""
    written = file.meta.write_cols
    declared = {f.name: f.type for f in schema.fields if written is None or f.name in written}
    for name, type_ in declared.items():
        if isinstance(type_, _OTHER_FORMS):
            continue
        shown, stored = path_text((name,)), found.get(name)
        if stored is None:
            if name not in schema.partition_keys:
                yield f"there is no column {shown}"
        elif (is_ := _stored_as(stored)) != (wanted := _stored_as(nearest(type_))):
            yield f"{shown} is {is_}, not {wanted}"
    for name in found.keys() - {f.name for f in schema.fields}:
        if name not in SYSTEM_COLUMNS and not name.startswith(KEY_COLUMN_PREFIX):
            yield f"{path_text((name,))} is no column of it"


def _stored_as(type_: LogicalType) -> str:
    """A type as far as files of several writers are to agree on it."""
    return fold(type_, _form)


def _form(type_: LogicalType, parts: tuple[str, ...]) -> str:
    match type_:
        case logical.Option():
            return parts[0]
        case logical.Struct():
            members = (f"{f.name}: {part}" for f, part in zip(type_.fields, parts, strict=True))
            return f"Struct({', '.join(members)})"
        case logical.List() | logical.Map():
            return f"{type_.kind}({', '.join(parts)})"
        case logical.Decimal():
            return f"Decimal({type_.precision}, {type_.scale})"
        case _ if isinstance(type_, _SMALL_INTEGERS):
            return "Int32"
        case logical.Float16():
            return "Float32"
        case _:
            return type_.kind

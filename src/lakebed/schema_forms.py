"""Read and write a schema in any form: a registry of the forms, with what each one loses.

    found = read_schema(Path("rows.parquet").read_bytes(), name="rows.parquet")
    made = write_schema(found, "odf-yaml")
    made.content, found.report, made.report

The forms are those of `lakebed convert`. No Spark session and no Java is started.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lakebed.contract_forms import (
    IDENTIFIED_FORMS,
    READ_FORMS,
    WRITTEN_FORMS,
    parse_json,
    read_contract,
    read_contracts,
    refuse_repeated_keys,
    write_contract,
)
from lakebed.convert.loss import Loss, LossReport
from lakebed.diagnostics import Diagnostic, near_names, reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, UsageError
from lakebed.manifest.encode_manifest import ANNOTATIONS
from lakebed.model import Field, Schema, schema_json
from lakebed.model.encoding import strip_encoding
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.logical_tree import outer_structs
from lakebed.physical import path_text

if TYPE_CHECKING:
    import pyarrow as pa

    from lakebed.catalog import TableSchema
    from lakebed.convert.contract import Contract
    from lakebed.manifest import TableManifest
    from lakebed.manifest.substitutions import Substitutions

STANDARD_INPUT = "-"
#: Endings of names of files, and the forms that they stand for.
ENDINGS = {
    ".yaml": "odf-yaml",
    ".yml": "odf-yaml",
    ".parquet": "parquet",
    ".orc": "orc",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".ddl": "ddl",
    ".avsc": "avro",
    ".avro": "avro",
}
_MAGIC = {b"Obj\x01": "avro", b"PAR1": "parquet", b"ORC": "orc", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}


#: Lines that begin documents of YAML which are no manifests.
_YAML_MARKS = {
    "odcs": re.compile(rb"""^["']?kind["']?\s*:\s*["']?DataContract["']?\s*(?:#.*)?$""", re.MULTILINE),
    "dbt": re.compile(rb"^(?:models|seeds|snapshots|sources)\s*:\s*(?:#.*)?$", re.MULTILINE),
}


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A schema, the form that it was in, and what is known of its table beside the columns.

    `report` says what the schema leaves out of what was read; `stored` is the version of a table that it is, `name` the
    name of the table (`shop.orders`) where it is known.
    """

    form: str
    schema: Schema
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    stored: TableSchema | None = None
    report: LossReport = field(default_factory=LossReport)
    diagnostics: tuple[Diagnostic, ...] = ()
    name: str | None = None

    @classmethod
    def of_version(cls, stored: TableSchema, form: str = "table", name: str | None = None) -> SchemaSource:
        """The schema of a version of a table, with its keys and options; `name` is that of the table."""
        from lakebed.catalog import drift

        keys = (stored.primary_keys, stored.partition_keys, dict(stored.options))
        return cls(form, stored.logical, *keys, stored, diagnostics=tuple(drift(stored)), name=name)


@dataclass(frozen=True, slots=True)
class Converted:
    """The text, or the bytes, of a schema in another form, and what it does not say."""

    content: str | bytes
    report: LossReport = field(default_factory=LossReport)


def read_schema(
    data: bytes, form: str | None = None, *, name: str = "<bytes>", substitutions: Substitutions | None = None
) -> SchemaSource:
    """The schema that the bytes of a file hold in the form `form` of `SOURCE_FORMS`.

    Without `form` the first bytes say it, then the ending of `name`, then the keys of JSON. `name` is what messages
    call the bytes; `-` is standard input. `substitutions` are those of manifests. Raises `UsageError` where the form
    cannot be told or is none of them, `CorruptMetadataError` for what is not in that form, and the error of the form's
    reader.
    """
    form = form or _guess(name, data)
    _check_known(form, SOURCE_FORMS)
    with told_as(form, name):
        if _READERS[form] is _read_document:
            return _read_document(data, name, form, substitutions)
        return _READERS[form](data, name, form)


def read_schemas(data: bytes, form: str | None = None, *, name: str = "<bytes>") -> tuple[SchemaSource, ...]:
    """As `read_schema`, for files that may declare several tables: `odcs` and `dbt`."""
    form = form or _guess(name, data)
    if form not in READ_FORMS:
        return (read_schema(data, form, name=name),)
    with told_as(form, name):
        return tuple(_source_of(form, contract, report) for contract, report in read_contracts(data, form, name=name))


@contextmanager
def told_as(form: str, name: str) -> Iterator[None]:
    """Tell what goes wrong while `name` is read as a form: what is not in that form, and a library that is missing."""
    try:
        yield
    except LakebedError:
        raise
    except ImportError as error:
        raise _missing_library(error) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        message = f"{_shown(name)} cannot be read as {form}: {reason_of(error)}"
        remedy, in_python = "mend what is named, or correct --from", "mend what is named, or correct `form`"
        raise CorruptMetadataError.of("LB7052", message, remedy=remedy, python_remedy=in_python) from error


def write_schema(source: SchemaSource, form: str, *, encodings: bool = False) -> Converted:
    """The schema in the form `form` of `TARGET_FORMS`.

    Hints of how Arrow lays values out are left out, but for Arrow's own forms, unless `encodings` keeps them. Raises
    `UsageError` where the form is none of them, and `ConversionError` for what it cannot hold.
    """
    _check_known(form, TARGET_FORMS)
    if form not in _ARROW_FORMS and not encodings:
        source = replace(source, schema=_less_encodings(source.schema))
    try:
        return _WRITERS[form](source, encodings)
    except ImportError as error:
        raise _missing_library(error) from error


def _check_known(form: str, known: tuple[str, ...]) -> None:
    if form not in known:
        message, near = f"there is no form of schemas {form!r} here", near_names(form, known)
        raise UsageError.of("LB7054", message, expected=f"one of {', '.join(known)}", found=form, suggestions=near)


def _shown(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def _missing_library(error: ImportError) -> LakebedError:
    """What to install."""
    extra = "spark" if "spark" in str(error) else "arrow"
    return LakebedError.of("LB7051", f"{error}", remedy=f"install it: pip install 'lakebed[{extra}]'")


def _guess(name: str, data: bytes) -> str:
    """The form of bytes. Raises `UsageError` where nothing says it."""
    found = form_of(name, data)
    if found is None:
        raise UsageError.of(
            "LB7050",
            f"nothing says which form of schema {_shown(name)} holds",
            remedy="say it with --from",
            python_remedy="say it with `form`",
        )
    return found


def form_of(name: str, data: bytes) -> str | None:
    """The form by the first bytes where they are a mark, then by the name, then by what JSON says; None for no sign."""
    for mark, form in _MAGIC.items():
        if data.startswith(mark):
            return form
    by_name = ENDINGS.get(PurePath(name).suffix.lower())
    if by_name == "odf-yaml":
        return next((form for form, mark in _YAML_MARKS.items() if mark.search(data)), by_name)
    if by_name is not None:
        return by_name
    return _guess_json(data) if data[:256].lstrip()[:1] == b"{" else _guess_block(data)


def _guess_block(data: bytes) -> str | None:
    """A metadata block is told by its envelope; an event that is not in one has no mark."""
    from lakebed.events import is_envelope

    return "odf-event" if b"\x00" in data and is_envelope(data) else None


def _guess_json(data: bytes) -> str | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    match value:
        case {"type": "record", "fields": list()}:
            return "avro"
        case {"schema-id": _} | {"current-schema-id": _} | {"type": "struct", "fields": [{"id": _, "required": _}, *_]}:
            return "iceberg"
        case {"schemaString": _} | {"metaData": {"schemaString": _}}:
            return "delta"
        case {"properties": dict(), "type": "object"} | {"properties": dict(), "$defs": _} | {"$ref": _, "$defs": _}:
            return "json-schema"
        case {"type": "struct", "fields": list() as fields}:
            return "delta" if any(_is_of_delta(field) for field in fields) else "spark"
        case {"highestFieldId": _, "fields": list()}:
            return "paimon"
        case {"fields": [{"data_type": _}, *_]}:
            return "arrow-json"
        case {"kind": "DataContract"}:
            return "odcs"
        case {"fields": list()} | {"kind": str()} | {"$schema": str()}:
            return "odf-json"
        case _:
            return None


def _is_of_delta(field: Any) -> bool:
    """Whether a field of JSON that Spark and Delta share has an id of Delta's column mapping in its metadata."""
    match field:
        case {"metadata": {"delta.columnMapping.id": _}}:
            return True
        case _:
            return False


def _read_document(data: bytes, name: str, form: str, substitutions: Substitutions | None = None) -> SchemaSource:
    from lakebed.manifest.load import parse_schema

    found = parse_schema(data, source=name, substitutions=substitutions)
    if isinstance(found, Schema):
        return SchemaSource(form, found)
    keys = (found.primary_keys, found.partition_keys)
    lost = LossReport(tuple(Loss("", f"the property {name}") for name, has in _unsaid(found) if has))
    return SchemaSource(form, found.schema, *keys, dict(found.options), report=lost, name=_name_of(found))


def _unsaid(declared: TableManifest) -> Iterator[tuple[str, bool]]:
    """The properties of a manifest that no other form has a place for, and whether they are declared."""
    yield "compatibility", declared.compatibility is not None
    yield "consumers", bool(declared.consumers)
    yield "ignoreOptions", bool(declared.ignore_options)
    yield "read", declared.read is not None


def _name_of(declared: TableManifest) -> str | None:
    """The name of a declared table; an event carries none."""
    from lakebed.manifest.table_manifest import SourceKind

    nameless = (SourceKind.METADATA_EVENT, SourceKind.EVENTS)
    return None if declared.source_kind in nameless else declared.name


def _read_event(data: bytes, name: str, form: str) -> SchemaSource:
    from lakebed.events import Inspection

    found = Inspection.of(data)
    schema = found.schema(encodings=True)
    if schema is None:
        remedy = "only SetDataSchema holds a schema; `lakebed event inspect` shows the others"
        raise UsageError.of("LB7052", f"{name} holds a {found.event.kind} event", remedy=remedy)
    return SchemaSource(form, schema, diagnostics=tuple(found.event.diagnostics))


def _read_arrow(data: bytes, name: str, form: str) -> SchemaSource:
    import pyarrow as pa

    if data.startswith(b"ARROW1"):
        return _of_arrow(pa.ipc.open_file(pa.py_buffer(data)).schema, form)
    return _of_arrow(pa.ipc.read_schema(pa.py_buffer(data)), form)


def _read_parquet(data: bytes, name: str, form: str) -> SchemaSource:
    import pyarrow as pa
    from pyarrow import parquet

    return _of_arrow(parquet.read_schema(pa.BufferReader(data)), form)


def _read_orc(data: bytes, name: str, form: str) -> SchemaSource:
    from lakebed.format.orc_process import read_orc

    return _of_arrow(read_orc(data, schema_only=True).schema, form)


def _read_arrow_json(data: bytes, name: str, form: str) -> SchemaSource:
    from lakebed.convert.arrow.arrow_json import from_arrow_json

    return _of_arrow(from_arrow_json(parse_json(data, name)), form)


def _of_arrow(schema: pa.Schema, form: str) -> SchemaSource:
    from lakebed.convert.arrow import from_arrow

    found, report = from_arrow(schema, strict=False)
    return SchemaSource(form, found, report=report)


def _read_spark(data: bytes, name: str, form: str) -> SchemaSource:
    from lakebed.convert.spark import from_spark
    from lakebed.convert.spark_json import from_spark_json

    found, report = from_spark(from_spark_json(parse_json(data, name)))
    return SchemaSource(form, found, report=report)


def _read_ddl(data: bytes, name: str, form: str) -> SchemaSource:
    from lakebed.convert.ddl import from_ddl

    found, report = from_ddl(data.decode())
    return SchemaSource(form, found, report=report)


def _read_paimon(data: bytes, name: str, form: str) -> SchemaSource:
    from lakebed.catalog import schema_file

    stored = schema_file.loads(data, source=name)
    refuse_repeated_keys(data.decode(), name)
    return SchemaSource.of_version(stored, form)


def _read_contract(data: bytes, name: str, form: str) -> SchemaSource:
    return _source_of(form, *read_contract(data, form, name=name))


def _source_of(form: str, contract: Contract, report: LossReport) -> SchemaSource:
    keys = (contract.primary_keys, contract.partition_keys)
    return SchemaSource(form, contract.schema, *keys, dict(contract.options), report=report, name=contract.name)


_READERS: dict[str, Callable[[bytes, str, str], SchemaSource]] = {
    "odf-yaml": _read_document,
    "odf-json": _read_document,
    "odf-event": _read_event,
    "arrow": _read_arrow,
    "arrow-json": _read_arrow_json,
    "parquet": _read_parquet,
    "orc": _read_orc,
    "spark": _read_spark,
    "ddl": _read_ddl,
    "paimon": _read_paimon,
    **dict.fromkeys(READ_FORMS, _read_contract),
}
SOURCE_FORMS = tuple(_READERS)


def _less_encodings(schema: Schema) -> Schema:
    """The logical schema, without what programs noted about the file or message that it was in."""
    from lakebed.convert.arrow_hints import ARROW_METADATA

    stripped = strip_encoding(schema)
    return replace(stripped, extra=stripped.extra.without(ARROW_METADATA))


def _write_yaml(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.manifest.yaml_text import yaml_text

    return Converted(yaml_text(schema_json(source.schema)).rstrip("\n"))


def _write_json(source: SchemaSource, encodings: bool) -> Converted:
    return Converted(json.dumps(schema_json(source.schema), ensure_ascii=False, separators=(",", ":")))


def _write_event(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.events import encode_set_data_schema, without_encodings

    if encodings:
        return Converted(encode_set_data_schema(source.schema))
    lost = tuple(_paimon_types(source.schema.fields, ()))
    return Converted(encode_set_data_schema(without_encodings(source.schema)), LossReport(lost))


def _paimon_types(fields: tuple[Field, ...], path: tuple[str, ...]) -> list[Loss]:
    """The types of Paimon's own that an event does not say; a wall clock becomes an instant in it."""
    lost = []
    for member in fields:
        where = (*path, member.name)
        if PAIMON_TYPE in member.extra:
            lost.append(Loss(path_text(where), f"the type {member.extra[PAIMON_TYPE]}; --encodings keeps it"))
        for _, struct in outer_structs(member.type):
            lost += _paimon_types(struct.fields, where)
    return lost


def _write_arrow(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.arrow import to_arrow

    schema, report = to_arrow(source.schema, strict=False)
    return Converted(schema.serialize().to_pybytes(), report)


def _write_arrow_json(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.arrow import ToArrow, to_arrow
    from lakebed.convert.arrow.arrow_json import to_arrow_json

    schema, report = to_arrow(source.schema, ToArrow(carrier=False), strict=False)
    return Converted(_indented(to_arrow_json(schema)), report)


def _write_spark(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.spark import to_spark

    struct, report = to_spark(source.schema)
    return Converted(_indented(json.loads(struct.json())), report)


def _write_ddl(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.ddl import to_ddl

    return Converted(*to_ddl(source.schema))


def _write_paimon(source: SchemaSource, encodings: bool) -> Converted:
    """The schema file: of a table the one that it has, else the first that a table would get, made in 1970."""
    from lakebed.catalog import schema_file
    from lakebed.catalog.columns import to_columns
    from lakebed.catalog.first_version import first_version

    if source.stored is not None:
        return Converted(schema_file.dumps(source.stored).decode())
    columns = to_columns(source.schema)
    keys = (source.primary_keys, source.partition_keys)
    made = first_version(columns, *keys, source.options, source.schema.extra.description, 0)
    return Converted(schema_file.dumps(made).decode())


def _write_parquet_text(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.parquet_text import to_parquet_text

    return Converted(*to_parquet_text(source.schema))


def _write_contract(form: str, source: SchemaSource, encodings: bool) -> Converted:
    return Converted(*write_contract(_contract(source, ids=form in IDENTIFIED_FORMS), form))


def _contract(source: SchemaSource, *, ids: bool = False) -> Contract:
    """What the forms of tables are made of; `ids` pins the fields of a stored table to the ids that they have."""
    from lakebed.convert.contract import Contract, with_field_ids
    from lakebed.physical.paimon_tree import fields_inside

    schema = source.schema
    if ids and source.stored is not None:
        numbers = {path: column.id for path, column in fields_inside(source.stored.fields)}
        schema = replace(schema, fields=with_field_ids(schema.fields, numbers))
    # Where the annotations are kept in the schema file is no option of the table.
    options = {key: value for key, value in source.options.items() if key != ANNOTATIONS}
    highest = source.stored.highest_field_id if source.stored is not None else -1
    return Contract(schema, source.name, source.primary_keys, source.partition_keys, options, highest)


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


_ARROW_FORMS = ("arrow", "arrow-json")
_WRITERS: dict[str, Callable[[SchemaSource, bool], Converted]] = {
    "odf-yaml": _write_yaml,
    "odf-json": _write_json,
    "odf-event": _write_event,
    "arrow": _write_arrow,
    "arrow-json": _write_arrow_json,
    "spark": _write_spark,
    "ddl": _write_ddl,
    "paimon": _write_paimon,
    "parquet-text": _write_parquet_text,
    **{form: partial(_write_contract, form) for form in WRITTEN_FORMS},
}
TARGET_FORMS = tuple(_WRITERS)

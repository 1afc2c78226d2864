"""Write a schema in any other form and report what is lost. No Spark session, no Java."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.cli.schema_source import SchemaSource, missing_library
from lakebed.convert.loss import Loss, LossReport
from lakebed.model import Field, LogicalType, Schema, schema_json
from lakebed.model import types as logical
from lakebed.model.encoding import strip_encoding
from lakebed.model.extra import PAIMON_TYPE
from lakebed.physical import path_text


@dataclass(frozen=True, slots=True)
class Converted:
    """The text, or the bytes, of a schema in another form, and what it does not say."""

    content: str | bytes
    report: LossReport = field(default_factory=LossReport)


def convert(source: SchemaSource, form: str, *, encodings: bool = False) -> Converted:
    """The schema in the form `form` of `TARGET_FORMS`.

    Hints of how Arrow lays values out are left out, but for Arrow's own forms, unless `encodings` keeps them.
    """
    if form not in _ARROW_FORMS and not encodings:
        source = replace(source, schema=_less_encodings(source.schema))
    try:
        return _WRITERS[form](source, encodings)
    except ImportError as error:
        raise missing_library(error) from error


def _less_encodings(schema: Schema) -> Schema:
    """The logical schema, without what programs noted about the file or message that it was in."""
    from lakebed.convert.arrow_hints import ARROW_METADATA

    stripped = strip_encoding(schema)
    return replace(stripped, extra=stripped.extra.without(ARROW_METADATA))


def _yaml(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.manifest.yaml_text import yaml_text

    return Converted(yaml_text(schema_json(source.schema)).rstrip("\n"))


def _json(source: SchemaSource, encodings: bool) -> Converted:
    return Converted(json.dumps(schema_json(source.schema), ensure_ascii=False, separators=(",", ":")))


def _event(source: SchemaSource, encodings: bool) -> Converted:
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
        for struct in _structs(member.type):
            lost += _paimon_types(struct.fields, where)
    return lost


def _structs(type_: LogicalType) -> list[logical.Struct]:
    match type_:
        case logical.Struct():
            return [type_]
        case logical.Option():
            return _structs(type_.inner)
        case logical.List():
            return _structs(type_.item_type)
        case logical.Map():
            return _structs(type_.key_type) + _structs(type_.value_type)
        case _:
            return []


def _arrow(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.arrow import to_arrow

    schema, report = to_arrow(source.schema, strict=False)
    return Converted(schema.serialize().to_pybytes(), report)


def _arrow_json(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.arrow import ToArrow, to_arrow
    from lakebed.convert.arrow.arrow_json import to_arrow_json

    schema, report = to_arrow(source.schema, ToArrow(carrier=False), strict=False)
    return Converted(_indented(to_arrow_json(schema)), report)


def _spark(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.spark import to_struct_type

    return Converted(_indented(json.loads(to_struct_type(source.schema).json())))


def _ddl(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.ddl import to_ddl

    return Converted(*to_ddl(source.schema))


def _paimon(source: SchemaSource, encodings: bool) -> Converted:
    """The schema file: of a table the one that it has, else the first that a table would get, made in 1970."""
    from lakebed.catalog import schema_file
    from lakebed.catalog.building import first_version
    from lakebed.catalog.columns import to_columns

    if source.stored is not None:
        return Converted(schema_file.dumps(source.stored).decode())
    columns = to_columns(source.schema)
    keys = (source.primary_keys, source.partition_keys)
    made = first_version(columns, *keys, source.options, source.schema.extra.description, 0)
    return Converted(schema_file.dumps(made).decode())


def _parquet_text(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.parquet_text import to_parquet_text

    return Converted(*to_parquet_text(source.schema))


def _row_schema(source: SchemaSource, encodings: bool) -> Converted:
    from lakebed.convert.row_schema import to_row_schema

    schema, report = to_row_schema(source.schema)
    return Converted(_indented(schema), report)


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


_ARROW_FORMS = ("arrow", "arrow-json")
_WRITERS: dict[str, Callable[[SchemaSource, bool], Converted]] = {
    "odf-yaml": _yaml,
    "odf-json": _json,
    "odf-event": _event,
    "arrow": _arrow,
    "arrow-json": _arrow_json,
    "spark": _spark,
    "ddl": _ddl,
    "paimon": _paimon,
    "parquet-text": _parquet_text,
    "json-schema": _row_schema,
}
TARGET_FORMS = tuple(_WRITERS)

"""Read a schema from a file of any form, or from a table. No Spark session, no Java."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.convert.loss import LossReport
from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, ManifestError, NotFoundError, UsageError
from lakebed.model import Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from lakebed.catalog import TableSchema
    from lakebed.lake import Lake

STANDARD_INPUT = "-"
_ENDINGS = {
    ".yaml": "odf-yaml",
    ".yml": "odf-yaml",
    ".parquet": "parquet",
    ".orc": "orc",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".ddl": "ddl",
}
_MAGIC = {b"PAR1": "parquet", b"ORC": "orc", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A schema, the form that it was in, and what is known of its table beside the columns."""

    form: str
    schema: Schema
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    stored: TableSchema | None = None
    report: LossReport = field(default_factory=LossReport)
    diagnostics: tuple[Diagnostic, ...] = ()


def read_source(text: str, form: str | None, lake: Callable[[], Lake]) -> SchemaSource:
    """The schema of a file, of standard input (`-`), or of a table (`db.table`, `db.table@3`).

    Without `form` a file says by its name, or by its first bytes, what it is; a name of no file is a table. Raises
    `UsageError` where that cannot be told, and the error of the form's reader.
    """
    if form == "table" or (form is None and text != STANDARD_INPUT and not Path(text).is_file()):
        return _table(text, lake, must_be_table=form == "table")
    data = _content(text)
    form = form or _guess(text, data)
    try:
        return _READERS[form](data, text, form)
    except LakebedError:
        raise
    except ImportError as error:
        raise missing_library(error) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _not_that(text, form, error) from error


def missing_library(error: ImportError) -> LakebedError:
    """What to install."""
    extra = "spark" if "spark" in str(error) else "arrow"
    return LakebedError.of("LB7051", f"{error}", remedy=f"install it: pip install 'lakebed[{extra}]'")


def _table(text: str, lake: Callable[[], Lake], *, must_be_table: bool) -> SchemaSource:
    if not must_be_table and ("/" in text or Path(text).suffix in (*_ENDINGS, ".json")):
        raise NotFoundError.of("LB7009", f"{text}: No such file", remedy="give a file, or the name of a table")
    from lakebed.catalog import drift

    stored = lake().schema(text)
    keys = (stored.primary_keys, stored.partition_keys, dict(stored.options))
    return SchemaSource("table", stored.logical, *keys, stored, diagnostics=tuple(drift(stored)))


def _content(text: str) -> bytes:
    return sys.stdin.buffer.read() if text == STANDARD_INPUT else Path(text).read_bytes()


def _guess(text: str, data: bytes) -> str:
    """The form by the first bytes where they are a mark, then by the name, then by what JSON says."""
    for mark, form in _MAGIC.items():
        if data.startswith(mark):
            return form
    by_name = _ENDINGS.get(Path(text).suffix.lower())
    if by_name is not None:
        return by_name
    found = _guess_json(data) if data[:256].lstrip()[:1] == b"{" else _guess_block(data)
    if found is None:
        raise UsageError.of(
            "LB7050",
            f"nothing says which form of schema {'standard input' if text == STANDARD_INPUT else text} holds",
            remedy="say it with --from",
        )
    return found


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
        case {"type": "struct", "fields": list()}:
            return "spark"
        case {"highestFieldId": _, "fields": list()}:
            return "paimon"
        case {"fields": [{"data_type": _}, *_]}:
            return "arrow-json"
        case {"fields": list()} | {"kind": str()} | {"$schema": str()}:
            return "odf-json"
        case _:
            return None


def _json(data: bytes, text: str) -> Any:
    """The value of a JSON text. Raises `ManifestError` for a key that stands twice, as for a manifest."""
    value = json.loads(data)
    _check_keys(data.decode(json.detect_encoding(data)), text)
    return value


def _check_keys(content: str, text: str) -> None:
    from lakebed.manifest.load import twice

    found = twice(content, source=text)
    if found:
        raise ManifestError(*found)


def _document(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.manifest.load import parse_schema

    found = parse_schema(data, source=text)
    if isinstance(found, Schema):
        return SchemaSource(form, found)
    return SchemaSource(form, found.schema, found.primary_keys, found.partition_keys, dict(found.options))


def _event(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.events import Inspection

    found = Inspection.of(data)
    schema = found.schema(encodings=True)
    if schema is None:
        remedy = "only SetDataSchema holds a schema; `lakebed event inspect` shows the others"
        raise UsageError.of("LB7052", f"{text} holds a {found.event.kind} event", remedy=remedy)
    return SchemaSource(form, schema, diagnostics=tuple(found.event.diagnostics))


def _arrow(data: bytes, text: str, form: str) -> SchemaSource:
    import pyarrow as pa

    if data.startswith(b"ARROW1"):
        return _of_arrow(pa.ipc.open_file(pa.py_buffer(data)).schema, form)
    return _of_arrow(pa.ipc.read_schema(pa.py_buffer(data)), form)


def _parquet(data: bytes, text: str, form: str) -> SchemaSource:
    import pyarrow as pa
    from pyarrow import parquet

    return _of_arrow(parquet.read_schema(pa.BufferReader(data)), form)


def _orc(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.format.orc_process import read_orc

    return _of_arrow(read_orc(data, schema_only=True).schema, form)


def _arrow_json(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.convert.arrow.arrow_json import from_arrow_json

    return _of_arrow(from_arrow_json(_json(data, text)), form)


def _of_arrow(schema: pa.Schema, form: str) -> SchemaSource:
    from lakebed.convert.arrow import from_arrow

    found, report = from_arrow(schema, strict=False)
    return SchemaSource(form, found, report=report)


def _spark(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.convert.spark import from_struct_type, metadata_losses
    from lakebed.convert.spark_json import struct_type_of_json

    struct = struct_type_of_json(_json(data, text))
    return SchemaSource(form, from_struct_type(struct), report=metadata_losses(struct))


def _ddl(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.convert.ddl import parse_ddl

    return SchemaSource(form, parse_ddl(data.decode()))


def _paimon(data: bytes, text: str, form: str) -> SchemaSource:
    from lakebed.catalog import drift, schema_file

    stored = schema_file.loads(data, source=text)
    _check_keys(data.decode(), text)
    keys = (stored.primary_keys, stored.partition_keys, dict(stored.options))
    return SchemaSource(form, stored.logical, *keys, stored, diagnostics=tuple(drift(stored)))


_READERS: dict[str, Callable[[bytes, str, str], SchemaSource]] = {
    "odf-yaml": _document,
    "odf-json": _document,
    "odf-event": _event,
    "arrow": _arrow,
    "arrow-json": _arrow_json,
    "parquet": _parquet,
    "orc": _orc,
    "spark": _spark,
    "ddl": _ddl,
    "paimon": _paimon,
}
SOURCE_FORMS = (*_READERS, "table")


def _not_that(text: str, form: str, error: Exception) -> CorruptMetadataError:
    name = "standard input" if text == STANDARD_INPUT else text
    message = f"{name} cannot be read as {form}: {reason_of(error)}"
    diagnostic = Diagnostic("LB7052", message, remedy="mend what is named, or correct --from")
    return CorruptMetadataError(diagnostic)

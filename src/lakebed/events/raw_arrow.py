"""Upgrade the legacy form of a schema, a bare Arrow `Schema` table from before RFC-016."""

from __future__ import annotations

import struct
from typing import Any

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.events.buffer_cursor import Cursor
from lakebed.model import Schema
from lakebed.model.encoding import strip_encoding

# An Arrow IPC message around the bytes: the continuation mark, the length, and a FlatBuffers root whose table has a
# version, the tag of `Schema` and the offset of the schema, which follows at the next multiple of eight.
_HEADER = struct.Struct("<IHHHHHxx iIhBx 4x")
_VTABLE_AT, _TABLE_AT, _OFFSET_AT = 4, 16, 20
_METADATA_V5, _SCHEMA_TAG = 4, 1


def upgraded(data: bytes, *, keep_naive: bool = False) -> Schema:
    """The schema in force after a legacy event: Arrow's types as logical types, without their encodings.

    A timestamp without a zone is read as UTC, or keeps the hint that it has none. Needs the extra `arrow`.

    Raises `CorruptMetadataError` where the bytes are no Arrow schema, `ConversionError` where Open Data Fabric has no
    type for one of Arrow's, and `UnsupportedError` without pyarrow.
    """
    try:
        from lakebed.convert.arrow import from_arrow
    except ImportError as error:
        message = "the event holds its schema in Arrow's form only, which needs pyarrow"
        remedy = "install Lakebed with the extra `arrow`"
        raise UnsupportedError.of("LB2509", message, remedy=remedy) from error
    found = arrow_schema(data)
    try:
        schema, _ = from_arrow(found, naive="keep" if keep_naive else "utc", strict=False)
    except ValueError as error:
        # Names and zones are only decoded when they are looked at.
        raise _no_schema(error) from error
    return strip_encoding(schema)


def arrow_schema(data: bytes) -> Any:
    """The `pyarrow.Schema` of a bare Arrow schema table. Raises `CorruptMetadataError`."""
    import pyarrow as pa

    root = Cursor(data).root().at
    padded = data + bytes(-len(data) % 8)
    header = _HEADER.pack(
        *(_TABLE_AT, 10, 12, 8, 10, 4),
        *(_TABLE_AT - _VTABLE_AT, _HEADER.size + root - _OFFSET_AT, _METADATA_V5, _SCHEMA_TAG),
    )
    message = struct.pack("<II", 0xFFFFFFFF, len(header) + len(padded)) + header + padded
    try:
        return pa.ipc.read_schema(pa.py_buffer(message))
    except Exception as error:
        # Besides pyarrow's own errors, whatever the extension types raise that a program has registered.
        raise _no_schema(error) from error


def _no_schema(error: Exception) -> CorruptMetadataError:
    return CorruptMetadataError.of("LB2509", f"the legacy schema is no Arrow schema: {error}")

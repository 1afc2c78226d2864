"""Find where the values of BLOB columns lie, and refuse those that cannot be read or written (Paimon, "Blob Type").

A value lies in a blob file beside the data file; or the data file holds a descriptor that says where it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import (
    BLOB_DESCRIPTOR_FIELD,
    BLOB_EXTERNAL_STORAGE_FIELD,
    BLOB_STORED_DESCRIPTOR_FIELDS,
    BLOB_VIEW_FIELD,
    DATA_EVOLUTION_ENABLED,
    VIDEO_FRAME_FIELD,
)
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import CorruptMetadataError, UnsupportedError, UsageError
from lakebed.physical.paimon_types import (
    Array,
    BigInt,
    Binary,
    Blob,
    Boolean,
    Char,
    DataField,
    DataType,
    Date,
    Decimal,
    Int,
    Map,
    SmallInt,
    Time,
    TinyInt,
    VarBinary,
    VarChar,
    type_line,
)
from lakebed.store import Store, open_store

_DESCRIBED = (BLOB_DESCRIPTOR_FIELD, BLOB_STORED_DESCRIPTOR_FIELDS, BLOB_EXTERNAL_STORAGE_FIELD)
_VIEWED = (BLOB_VIEW_FIELD,)
#: Columns of these options are written otherwise than into blob files, and not by Lakebed.
_WRITTEN_ELSEWHERE = (*_DESCRIBED, *_VIEWED, VIDEO_FRAME_FIELD)
#: The keys that blob files have a form for, of maps to blobs.
_KEYS = (
    *(TinyInt, SmallInt, Int, BigInt, Boolean, Decimal, Date, Time),
    *(Char, VarChar, Binary, VarBinary),
)
UNWRITTEN_BLOB = "LB5098"

_MAGIC = 0x424C4F4244455343
_VERSION = 2
_HEAD = struct.Struct("<Bqi")
_MARK = _HEAD.pack(_VERSION, _MAGIC, 0)[:9]
_FIRST_HEAD = struct.Struct("<Bi")
_TAIL = struct.Struct("<qq")


@dataclass(frozen=True, slots=True)
class BlobDescriptor:
    """Where the content of a blob lies: path or URL of a file, offset and length in bytes; length -1 is all of it."""

    uri: str
    offset: int
    length: int

    def to_bytes(self) -> bytes:
        """The form in which tables store descriptors."""
        uri = self.uri.encode()
        return _HEAD.pack(_VERSION, _MAGIC, len(uri)) + uri + _TAIL.pack(self.offset, self.length)

    @staticmethod
    def from_bytes(data: bytes) -> BlobDescriptor:
        """Parse the stored form of version 1 or 2. Raises UsageError (LB5567) for anything else."""
        head = _FIRST_HEAD if data[:1] == b"\x01" else _HEAD
        if len(data) >= head.size + _TAIL.size:
            version, *magic, length = head.unpack_from(data)
            known = version in (1, _VERSION) and magic in ([], [_MAGIC])
            if known and length >= 0 and len(data) == head.size + length + _TAIL.size:
                offset, size = _TAIL.unpack_from(data, head.size + length)
                uri = data[head.size : head.size + length].decode(errors="replace")
                if offset >= 0 and size >= -1:
                    return BlobDescriptor(uri, offset, size)
        raise UsageError.of("LB5567", f"{data[:24]!r} is no descriptor of a blob", expected="the bytes of a descriptor")


def is_descriptor(data: memoryview) -> bool:
    """Whether bytes are the stored form of a descriptor, of the version that has a mark."""
    if data[: len(_MARK)] != _MARK:
        return False
    try:
        BlobDescriptor.from_bytes(bytes(data))
    except UsageError:
        return False
    return True


def holds_blobs(type_: DataType) -> bool:
    """Whether a column's values are blobs, arrays of blobs or maps to blobs."""
    match type_:
        case Array(element=inner) | Map(value=inner):
            return isinstance(inner, Blob)
        case _:
            return isinstance(type_, Blob)


def in_blob_files(schema: TableSchema) -> frozenset[int]:
    """The ids of the columns whose values lie in blob files."""
    return frozenset(f.id for f in blob_file_fields(schema.fields, schema.options))


def blob_file_fields(fields: Sequence[DataField], options: Mapping[str, str]) -> tuple[DataField, ...]:
    """Those columns of a table with these options whose values lie in blob files."""
    if not is_set(options, DATA_EVOLUTION_ENABLED):
        return ()
    inline = _names(options, (*_DESCRIBED, *_VIEWED))
    return tuple(f for f in fields if holds_blobs(f.type) and f.name not in inline)


def unwritable_blobs(schema: TableSchema) -> Iterator[Diagnostic]:
    """What stands in the way of new values of columns of blobs; none where they can be written."""
    own = in_blob_files(schema)
    for field in schema.fields:
        if not holds_blobs(field.type):
            continue
        option = next((key for key in _WRITTEN_ELSEWHERE if field.name in _names(schema.options, (key,))), None)
        if option is not None:
            reason = f"by the option {option} its values are written in another way"
        elif field.id not in own:
            reason = f"blob files need the option {DATA_EVOLUTION_ENABLED}"
        elif isinstance(field.type, Map) and not isinstance(field.type.key, _KEYS):
            reason = f"blob files have no form for keys of the type {field.type.key.root}"
        else:
            continue
        yield Diagnostic(
            UNWRITTEN_BLOB,
            f"column {field.name!r} of blobs cannot be written: {reason}",
            path=field.name,
            found=type_line(field.type),
            remedy="use another engine for this table",
        )


def refuse_blobs(fields: Sequence[DataField], options: Mapping[str, str], *, descriptors: bool) -> None:
    """Raise UnsupportedError for those columns of a table with these options that hold blobs which cannot be read as
    content, or else as `descriptors`.
    """
    own, viewed = blob_file_fields(fields, options), _names(options, _VIEWED)
    problems = []
    for field in fields:
        if not holds_blobs(field.type):
            continue
        if field.name in viewed:
            problems.append(Diagnostic("LB5565", f"column {field.name!r} views blobs of another table"))
        elif descriptors and not isinstance(field.type, Blob):
            problems.append(
                Diagnostic(
                    "LB5563",
                    f"column {field.name!r} is of type {field.type.root}: there are no descriptors of nested blobs",
                    path=field.name,
                    remedy='read with blobs="content"',
                )
            )
        elif not descriptors and field not in own:
            problems.append(
                Diagnostic(
                    "LB5564",
                    f"column {field.name!r} holds descriptors of blobs that lie outside of the table",
                    path=field.name,
                    remedy='read with blobs="descriptor", and get the values with lake.fetch_blobs',
                )
            )
    if problems:
        raise UnsupportedError(*problems)


def _names(options: Mapping[str, str], keys: tuple[str, ...]) -> frozenset[str]:
    """The columns that these options name."""
    texts = (options.get(key, "") for key in keys)
    return frozenset(name.strip() for text in texts for name in text.split(",") if name.strip())


def read_blob(store: Store, root: str, descriptor: bytes) -> bytes:
    """The content that a descriptor points to, through the store of the warehouse `root` or one for the URL's scheme.

    Raises UsageError for bytes that are no descriptor, CorruptMetadataError where the file ends before the content.
    """
    place = BlobDescriptor.from_bytes(descriptor)
    scheme = place.uri.partition("://")[0] if "://" in place.uri else None
    own = scheme is None or root.startswith(f"{scheme}://")
    where, path = (store, place.uri) if own else open_store(place.uri)
    length = place.length if place.length >= 0 else where.size(path) - place.offset
    content = where.read_range(path, place.offset, length)
    if len(content) != length:
        raise CorruptMetadataError.of("LB5561", f"{path} ends before the blob at offset {place.offset}", path=path)
    return content

"""Declare the Avro schemas of manifests and manifest lists; write their files, and read them from Avro or ORC.

What other readers insist on: a nullable field is a union with null first, counts and sizes are `long`, the fields of an
entry stand in this order, and `_VERSION` is 2 (Paimon specification, "Manifest").
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError
from lakebed.format.avro_container import (
    MAGIC,
    arrow_snappy,
    read_header,
    with_opaque_records,
    without_snappy,
)
from lakebed.format.avro_records import WHOLE, MissingPartError, Part, Path, decoder
from lakebed.format.orc_process import read_orc

#: The value of `_VERSION` in manifest lists and manifests.
VERSION = 2
_RECORD = "org.apache.paimon.avro.generated.record"
_STRINGS = {"type": "array", "items": "string"}
_CODECS = {"none": "null", "null": "null", "uncompressed": "null", "deflate": "deflate", "gzip": "deflate"}
_OTHER_FORMATS = {b"ORC": "ORC", b"PAR": "Parquet"}
_ORC = b"ORC"


def _field(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": type_}


def _optional(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None}


def _stats(name: str) -> dict[str, Any]:
    counts = {"type": "array", "items": ["null", "long"]}
    fields = [_field("_MIN_VALUES", "bytes"), _field("_MAX_VALUES", "bytes"), _optional("_NULL_COUNTS", counts)]
    return {"type": "record", "name": f"{_RECORD}_{name}", "fields": fields}


def _record(name: str, fields: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


_LIST_FIELDS = (
    _field("_VERSION", "int"),
    _field("_FILE_NAME", "string"),
    _field("_FILE_SIZE", "long"),
    _field("_NUM_ADDED_FILES", "long"),
    _field("_NUM_DELETED_FILES", "long"),
    _field("_PARTITION_STATS", _stats("_PARTITION_STATS")),
    _field("_SCHEMA_ID", "long"),
    _optional("_MIN_BUCKET", "int"),
    _optional("_MAX_BUCKET", "int"),
    _optional("_MIN_LEVEL", "int"),
    _optional("_MAX_LEVEL", "int"),
    _optional("_MIN_ROW_ID", "long"),
    _optional("_MAX_ROW_ID", "long"),
)
_LIST_TAIL = (_optional("_TOTAL_BUCKETS", "int"), _optional("_EXTRA_FILES", _STRINGS))

_FILE_FIELDS = (
    _field("_FILE_NAME", "string"),
    _field("_FILE_SIZE", "long"),
    _field("_ROW_COUNT", "long"),
    _field("_MIN_KEY", "bytes"),
    _field("_MAX_KEY", "bytes"),
    _field("_KEY_STATS", _stats("_FILE__KEY_STATS")),
    _field("_VALUE_STATS", _stats("_FILE__VALUE_STATS")),
    _field("_MIN_SEQUENCE_NUMBER", "long"),
    _field("_MAX_SEQUENCE_NUMBER", "long"),
    _field("_SCHEMA_ID", "long"),
    _field("_LEVEL", "int"),
    _field("_EXTRA_FILES", _STRINGS),
    _optional("_CREATION_TIME", {"type": "long", "logicalType": "timestamp-millis"}),
    _optional("_DELETE_ROW_COUNT", "long"),
    _optional("_EMBEDDED_FILE_INDEX", "bytes"),
    _optional("_FILE_SOURCE", "int"),
    _optional("_VALUE_STATS_COLS", _STRINGS),
    _optional("_EXTERNAL_PATH", "string"),
    _optional("_FIRST_ROW_ID", "long"),
    _optional("_WRITE_COLS", _STRINGS),
)
_FILE_TAIL = (_optional("_WRITE_COLS_SEQUENCES", {"type": "array", "items": "long"}),)


_RANGE = _record(
    f"{_RECORD}__DELETIONS_VECTORS_RANGES",
    (_field("f0", "string"), _field("f1", "int"), _field("f2", "int"), _optional("_CARDINALITY", "long")),
)
_INDEX_FIELDS = (
    _field("_VERSION", "int"),
    _field("_KIND", "int"),
    _field("_PARTITION", "bytes"),
    _field("_BUCKET", "int"),
    _field("_INDEX_TYPE", "string"),
    _field("_FILE_NAME", "string"),
    _field("_FILE_SIZE", "long"),
    _field("_ROW_COUNT", "long"),
    _optional("_DELETIONS_VECTORS_RANGES", {"type": "array", "items": ["null", _RANGE]}),
    _optional("_EXTERNAL_PATH", "string"),
)
_GLOBAL_INDEX = (
    _field("_ROW_RANGE_START", "long"),
    _field("_ROW_RANGE_END", "long"),
    _field("_INDEX_FIELD_ID", "int"),
    _optional("_EXTRA_FIELD_IDS", {"type": "array", "items": "int"}),
    _optional("_INDEX_META", "bytes"),
)
#: What a global index says of itself.
GLOBAL_INDEX_PARTS = tuple(f["name"] for f in _GLOBAL_INDEX)


def index_schema(*, tail: bool = False) -> dict[str, Any]:
    """The record of an index manifest; `tail` adds what global indexes say of themselves."""
    parts = _optional("_GLOBAL_INDEX", _record(f"{_RECORD}__GLOBAL_INDEX", _GLOBAL_INDEX))
    return _record(_RECORD, _INDEX_FIELDS + ((parts,) if tail else ()))


def list_schema(*, tail: bool = False) -> dict[str, Any]:
    """The record of a manifest list; `tail` adds the fields that only some writers know."""
    return _record(_RECORD, _LIST_FIELDS + (_LIST_TAIL if tail else ()))


def entry_schema(*, tail: bool = False) -> dict[str, Any]:
    """The record of a manifest; `tail` adds the newest field of a data file."""
    file = _record(f"{_RECORD}__FILE", _FILE_FIELDS + (_FILE_TAIL if tail else ()))
    return _record(
        _RECORD,
        (
            _field("_VERSION", "int"),
            _field("_KIND", "int"),
            _field("_PARTITION", "bytes"),
            _field("_BUCKET", "int"),
            _field("_TOTAL_BUCKETS", "int"),
            _field("_FILE", file),
        ),
    )


def avro_codec(compression: str) -> str:
    """Avro's name of a compression, an option's value; Zstandard for one that Avro files are not written with."""
    return _CODECS.get(compression.lower(), "zstandard")


def write_container(schema: dict[str, Any], records: Iterable[dict[str, Any]], compression: str) -> bytes:
    """An Avro container file. `compression` is an option's value; one that is not at hand becomes zstd or deflate."""
    import fastavro

    out = io.BytesIO()
    wanted = avro_codec(compression)
    fastavro.writer(out, schema, records, codec=wanted if _is_at_hand(wanted) else "deflate")
    return out.getvalue()


def _is_at_hand(codec: str) -> bool:
    """Whether the library of a codec is installed."""
    import fastavro

    try:
        fastavro.writer(io.BytesIO(), "null", [None], codec=codec)
    except ValueError as e:
        if not _library_missing(e):
            raise
        return False
    return True


def read_container(data: bytes, *, source: str) -> Iterator[dict[str, Any]]:
    """The records of a container file, also where its top-level type is a union of null and a record.

    They come one by one, so that ten thousand of them are never alive at once. Raises UnsupportedError for another file
    format or a codec without its library, CorruptMetadataError for what cannot be decoded.
    """
    return _records(_read_avro(data, WHOLE, source), source)


def _read_avro(data: bytes, wanted: tuple[Part, ...], source: str) -> Iterator[tuple[Any, ...]]:
    if data[: len(MAGIC)] != MAGIC:
        raise _not_avro(data, source)
    import fastavro

    with _reading(source):
        header = read_header(data)
        decode = decoder(header.text, wanted)
        data = with_opaque_records(data, header)
        if header.codec == "snappy" and importlib.util.find_spec("cramjam") is None:
            with suppress(ImportError):
                data = without_snappy(data, arrow_snappy)
        block: Any
        for block in fastavro.block_reader(io.BytesIO(data)):
            yield from decode(block.bytes_.getvalue(), block.num_records)


def _not_avro(data: bytes, source: str) -> Exception:
    found = _OTHER_FORMATS.get(data[:3])
    if found is None:
        return CorruptMetadataError.of("LB5010", f"{source} is not an Avro file", path=source)
    return UnsupportedError.of(
        "LB5011",
        f"{source} is written in {found}; manifests are read in Avro and ORC",
        path=source,
        expected="Avro",
        found=found,
        remedy="set option manifest.format to avro and rewrite the manifests with the engine that wrote the table",
    )


def _library_missing(error: ValueError) -> bool:
    """Whether fastavro means that the library of a codec is not installed; it has no exception of its own for that."""
    return "need to install" in str(error)


@contextmanager
def _reading(source: str) -> Iterator[None]:
    """A decoder meets any exception in damaged bytes; all of them mean that the file cannot be understood."""
    try:
        yield
    except (LakebedError, MissingPartError):
        raise
    except ValueError as e:
        if _library_missing(e):
            raise UnsupportedError.of(
                "LB5012",
                f"{source} is compressed by a codec that is not installed: {e}",
                path=source,
                remedy="install the library that the message names",
            ) from e
        raise CorruptMetadataError.of("LB5010", f"{source} cannot be decoded: {e}", path=source) from e
    except Exception as e:
        raise CorruptMetadataError.of("LB5010", f"{source} cannot be decoded: {reason_of(e)}", path=source) from e


def read_records(data: bytes, *, source: str) -> Iterator[dict[str, Any]]:
    """The records of a file whose bytes are `data`; `source` names it in errors.

    Raises UnsupportedError for other formats, codecs or libraries that are missing, CorruptMetadataError for damage.
    """
    return _records(read_parts(data, WHOLE, source=source), source)


def read_parts(data: bytes, wanted: tuple[Part, ...], *, source: str) -> Iterator[tuple[Any, ...]]:
    """The wanted parts of each record of a file, as `decoder` says. Times are the numbers that are stored.

    Raises as `read_records`, and `MissingPartError` for a file without a part that every one has.
    """
    return _read_orc(data, wanted, source) if data[:3] == _ORC else _read_avro(data, wanted, source)


def _records(found: Iterable[tuple[Any, ...]], source: str) -> Iterator[dict[str, Any]]:
    for (record,) in found:
        if not isinstance(record, dict):
            raise no_record(source)
        yield record


def no_record(source: str) -> CorruptMetadataError:
    """The error where a record is NULL, or no record at all."""
    return CorruptMetadataError.of("LB5010", f"{source} holds something else than records", path=source)


def _read_orc(data: bytes, wanted: tuple[Part, ...], source: str) -> Iterator[tuple[Any, ...]]:
    try:
        import pyarrow as pa
    except ImportError as e:
        raise UnsupportedError.of(
            "LB5011",
            f"{source} is written in ORC, which needs PyArrow",
            remedy="pip install 'lakebed[arrow]'",
            path=source,
        ) from e
    try:
        table = read_orc(data)
        # Nanoseconds have no Python form without pandas; the format means milliseconds.
        schema = pa.schema([f.with_type(_in_millis(f.type, pa)) for f in table.schema])
        rows = table.cast(schema, safe=False).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as e:
        raise CorruptMetadataError.of("LB5010", f"{source} cannot be decoded: {e}", path=source) from e
    for row in rows:
        yield tuple(_part(row, path, is_always=is_always) for path, is_always in wanted)


def _part(value: Any, path: Path, *, is_always: bool) -> Any:
    for name in path:
        if value is None:
            return None
        if name not in value:
            if is_always:
                raise MissingPartError(name)
            return None
        value = value[name]
    return value


def _in_millis(type_: Any, pa: Any) -> Any:
    if pa.types.is_timestamp(type_):
        return pa.timestamp("ms", "UTC")
    if pa.types.is_struct(type_):
        return pa.struct([f.with_type(_in_millis(f.type, pa)) for f in type_.fields])
    return type_

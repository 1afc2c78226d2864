"""Read the records of manifests, manifest lists and index manifests, from Avro or ORC bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format.avro_schemas import read_container
from lakebed.format.orc_process import read_orc

_ORC = b"ORC"


def read_records(data: bytes, *, source: str) -> Iterator[dict[str, Any]]:
    """The records of a file whose bytes are `data`; `source` names it in errors.

    Raises UnsupportedError for other formats, codecs or libraries that are missing, CorruptMetadataError for damage.
    """
    return _read_orc(data, source) if data[:3] == _ORC else read_container(data, source=source)


def _read_orc(data: bytes, source: str) -> Iterator[dict[str, Any]]:
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
        yield from table.cast(schema, safe=False).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as e:
        raise CorruptMetadataError.of("LB5010", f"{source} cannot be decoded: {e}", path=source) from e


def _in_millis(type_: Any, pa: Any) -> Any:
    if pa.types.is_timestamp(type_):
        return pa.timestamp("ms", "UTC")
    if pa.types.is_struct(type_):
        return pa.struct([f.with_type(_in_millis(f.type, pa)) for f in type_.fields])
    return type_

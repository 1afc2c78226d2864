"""Read footers of Parquet files through a store: the last bytes only. Imports pyarrow when called."""

from __future__ import annotations

from typing import Any

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.store.base import Store

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_TRAILER = 8
#: Enough for the footer of most files in one read.
_FIRST_READ = 64 * 1024


def read_footer(store: Store, path: str) -> Any:
    """The `pyarrow.parquet.FileMetaData` of a file.

    Raises CorruptMetadataError for a file that is no complete Parquet file, UnsupportedError for an encrypted one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tail = store.read_range(path, -_FIRST_READ, _FIRST_READ)
    if tail[-4:] == _ENCRYPTED:
        raise UnsupportedError.of("LB5041", f"{path} has an encrypted footer", path=path)
    if len(tail) < _TRAILER or tail[-4:] != _MAGIC:
        raise CorruptMetadataError.of("LB5040", f"{path} is not a complete Parquet file", path=path)
    length = int.from_bytes(tail[-_TRAILER:-4], "little") + _TRAILER
    if length > len(tail):
        tail = store.read_range(path, -length, length)
    try:
        return pq.read_metadata(pa.BufferReader(tail[-length:]))
    except (pa.ArrowException, OSError) as e:
        raise CorruptMetadataError.of("LB5040", f"the footer of {path} cannot be read: {e}", path=path) from e


def leaves(metadata: Any) -> dict[str, tuple[int, int]]:
    """Of each top-level column, by name: the index of its first leaf column and how many leaves it has.

    Paths of leaves are joined by dots and a name may hold one, so that leaves are counted instead of names compared.
    """
    found, index = {}, 0
    for field in metadata.schema.to_arrow_schema():
        count = _leaf_count(field.type)
        found[field.name] = (index, count)
        index += count
    return found if index == metadata.num_columns else {}


def _leaf_count(type_: Any) -> int:
    import pyarrow.types as t

    storage = getattr(type_, "storage_type", None)
    if storage is not None:
        return _leaf_count(storage)
    if t.is_map(type_):
        return _leaf_count(type_.key_type) + _leaf_count(type_.item_type)
    if t.is_struct(type_):
        return sum(_leaf_count(type_.field(i).type) for i in range(type_.num_fields))
    if t.is_list(type_) or t.is_large_list(type_) or t.is_fixed_size_list(type_):
        return _leaf_count(type_.value_type)
    return 1

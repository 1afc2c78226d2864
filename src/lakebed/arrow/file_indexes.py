"""Collect the file indexes that a table asks for while a data file is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.index_builders import IndexBuilder, index_builder
from lakebed.arrow.index_keys import index_keys
from lakebed.catalog.file_index_options import kept_in_manifest, wanted_indexes
from lakebed.physical.paimon_types import DataField, Map
from lakebed.read.file_index.container import container_bytes
from lakebed.read.file_index.keys import Coding, coding


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A column by its place, or a key of it where that is a MAP; by kind what builds its indexes."""

    place: int
    key: str | None
    coding: Coding
    builders: dict[str, IndexBuilder]

    def add(self, column: pa.ChunkedArray, first: int) -> None:
        values = column.combine_chunks()
        keys = index_keys(values if self.key is None else _of_key(values, self.key), self.coding)
        for builder in self.builders.values():
            builder.add(keys, first)


def _of_key(maps: pa.MapArray, key: str) -> pa.Array:
    """The value of a key in each map, NULL where it has none."""
    return pc.map_lookup(maps, pa.scalar(key, maps.type.key_type), "first")


class IndexCollector:
    """Collects the indexes of one file. The options must not be such as `index_problems` tells of."""

    def __init__(self, fields: Sequence[DataField], options: Mapping[str, str]) -> None:
        places = {f.name: i for i, f in enumerate(fields)}
        self._indexed: dict[str, _Indexed] = {}
        self._options = options
        self._rows = 0
        for wanted in wanted_indexes(options):
            place = places[wanted.column]
            type_ = fields[place].type
            # What is indexed is what was given, whatever a format makes of it.
            found = coding(type_.value if wanted.key is not None and isinstance(type_, Map) else type_, orc=False)
            assert found is not None
            of = self._indexed.setdefault(wanted.name, _Indexed(place, wanted.key, found, {}))
            of.builders[wanted.kind] = index_builder(wanted.kind, found, wanted.parameters)

    def add(self, rows: pa.Table) -> None:
        """Take rows into account: the columns of the table, as the file holds them."""
        for indexed in self._indexed.values():
            indexed.add(rows.column(indexed.place), self._rows)
        self._rows += rows.num_rows

    def container(self) -> bytes | None:
        """All indexes of the file; None where there is none."""
        made: dict[str, dict[str, bytes]] = {}
        for name, indexed in self._indexed.items():
            for kind, builder in indexed.builders.items():
                body = builder.body(self._rows)
                if body is not None:
                    made.setdefault(name, {})[kind] = body
        return container_bytes(made) if made else None

    def is_embedded(self, container: bytes) -> bool:
        """Whether the indexes belong into the manifest entry, rather than into a file of their own."""
        return len(container) <= kept_in_manifest(self._options)

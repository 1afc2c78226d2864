"""Load the indexes of a column from one container, decoded when first asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from lakebed.catalog.file_index_options import IndexKind
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedError, LakebedWarning
from lakebed.format.live_files import DataFile
from lakebed.physical.paimon_types import DataField
from lakebed.read.file_index.bitmap import read_bitmap_index
from lakebed.read.file_index.bloom import BloomFilter, read_bloom
from lakebed.read.file_index.bsi import read_bsi
from lakebed.read.file_index.container import Directory, Source, read_body, read_directory
from lakebed.read.file_index.exact import ExactIndex
from lakebed.read.file_index.index_bytes import DamagedError, UnknownVersionError
from lakebed.read.file_index.keys import Coding
from lakebed.read.file_index.range_bitmap import read_range_bitmap

ColumnIndex: TypeAlias = BloomFilter | ExactIndex

_KINDS: dict[str, Callable[[bytes, Coding], ColumnIndex | None]] = {
    IndexKind.BLOOM_FILTER: read_bloom,
    IndexKind.BITMAP: read_bitmap_index,
    IndexKind.BSI: read_bsi,
    IndexKind.RANGE_BITMAP: read_range_bitmap,
}


@dataclass(slots=True)
class ColumnIndexes:
    """One container of a data file and what has been read of it."""

    source: Source
    file: DataFile
    directory: Directory | None = None
    columns: dict[int, dict[str, ColumnIndex]] = field(default_factory=dict)
    warned: bool = False

    def of(self, column: DataField, coding: Coding) -> dict[str, ColumnIndex]:
        """The indexes of a column of the file by kind, as far as they are known and not damaged."""
        if column.id not in self.columns:
            kinds = self._entries().get(column.name, {})
            found = {kind: self._index(kind, column.name, coding) for kind in kinds if kind in _KINDS}
            self.columns[column.id] = {kind: index for kind, index in found.items() if index is not None}
        return self.columns[column.id]

    def warn(self, part: str | None, cause: Exception) -> None:
        """Says that the container is damaged, once."""
        if self.warned:
            return
        self.warned = True
        what = f"{self.source.name} is left aside" + (f" ({part})" if part else "")
        said = cause.diagnostics[0].message if isinstance(cause, LakebedError) else cause
        diagnostic = Diagnostic(
            "LB5640",
            f"{what}: {said}",
            Severity.WARNING,
            path=self.file.path,
            remedy="nothing for right results; compacting the table makes its indexes anew",
        )
        warnings.warn(LakebedWarning(diagnostic), stacklevel=2)

    def _entries(self) -> Directory:
        if self.directory is None:
            self.directory = {}
            try:
                self.directory = read_directory(self.source)
            except (DamagedError, LakebedError) as e:
                self.warn(None, e)
            except UnknownVersionError:
                pass
        return self.directory

    def _index(self, kind: str, column: str, coding: Coding) -> ColumnIndex | None:
        try:
            index = _KINDS[kind](read_body(self.source, self._entries()[column][kind]), coding)
            if index is None or isinstance(index, BloomFilter) or index.rows == self.file.meta.row_count:
                return index
            raise DamagedError(f"it is of {index.rows} rows and the file has {self.file.meta.row_count}")
        except (DamagedError, LakebedError) as e:
            self.warn(f"{kind} of column {column}", e)
        except UnknownVersionError:
            pass
        return None

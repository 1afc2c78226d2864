"""Evaluate a filter by the file indexes of a data file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import INDEX_SUFFIX
from lakebed.physical.paimon_types import DataField
from lakebed.read.file_index.bloom import BloomFilter
from lakebed.read.file_index.column_indexes import ColumnIndex, ColumnIndexes
from lakebed.read.file_index.container import Beside, Embedded, Source
from lakebed.read.file_index.index_bytes import DamagedError, UnknownVersionError
from lakebed.read.file_index.keys import Coding, coding, keeps_values
from lakebed.read.file_index.row_truths import RowTruths, of_index, of_predicate, uniform
from lakebed.read.file_index.spans import Reach, reach
from lakebed.read.predicate import Compare, Evidence, IsIn, IsNull, Leaf, Predicate, StartsWith, Truths, possible
from lakebed.store.base import Store


def index_evidence(store: Store, file: DataFile, schema: TableSchema) -> Evidence | None:
    """The truths that a data file's indexes leave open for a leaf; None where the file has no index.

    `FileIndex.evidence` of `file_index`, for those who need no more.
    """
    index = file_index(store, file, schema)
    return None if index is None else index.evidence


def file_index(store: Store, file: DataFile, schema: TableSchema) -> FileIndex | None:
    """The indexes of a data file, None where it has none. Nothing is read before they are asked.

    `schema` is the version that the file was written under (`file.meta.schema_id`). An index in the manifest entry goes
    before index files beside the data file, as for other readers.
    """
    sources: tuple[Source, ...]
    if file.meta.embedded_file_index is not None:
        sources = (Embedded(file.meta.embedded_file_index, file.meta.file_name),)
    else:
        sources = tuple(Beside(store, path) for path in file.paths[1:] if path.endswith(INDEX_SUFFIX))
    return FileIndex(file, schema, tuple(ColumnIndexes(source, file) for source in sources)) if sources else None


@dataclass(frozen=True, slots=True)
class FileIndex:
    """What the indexes of one data file say of predicates.

    A leaf's column belongs to the schema that is read; it is found by its field id, and judged only where the
    conversion between the two types keeps every value and the order. All other leaves may be anything.

    The rows meant are those physically in the file. In tables where a newer file overrides rows or columns of this one
    (primary keys without raw reading, data evolution), only a caller who knows better may drop the file by this.

    An index is a hint. Of an index file beside the data file only the ranges that are needed are read, and what is read
    is kept. What is damaged or cannot be read judges nothing and is told by a `LakebedWarning` (LB5640), once a
    container; an index of a kind or version that is not known judges nothing, silently. No method raises anything.
    """

    file: DataFile
    schema: TableSchema
    containers: tuple[ColumnIndexes, ...]

    def evidence(self, leaf: Leaf) -> Truths:
        """The truths that are possible for a leaf over the rows of the file, deleted ones among them."""
        truths = Truths.ANY
        for container, index, asked in self._indexes(leaf):
            try:
                truths &= _judge(index, asked)
            except DamagedError as e:
                container.warn(f"column {leaf.column.name}", e)
            except UnknownVersionError:
                continue
        return truths

    def truths(self, predicate: Predicate, deleted: Iterable[int] = ()) -> Truths:
        """The truths that are possible for a predicate over the rows at the positions that are not deleted.

        Never more than `possible(predicate, index.evidence)`: rows are also looked at one by one where that may help.
        """
        import pyroaring

        found = possible(predicate, self.evidence)
        gone = pyroaring.BitMap(deleted)
        if Truths.TRUE not in found or (not gone and isinstance(predicate, Compare | IsIn | IsNull | StartsWith)):
            return found
        return found & self._rows(predicate).truths(gone)

    def count(self, predicate: Predicate, deleted: Iterable[int] = ()) -> int | None:
        """How many rows that are not deleted make a predicate true; None where it is not certain of every row."""
        import pyroaring

        return self._rows(predicate).count(pyroaring.BitMap(deleted))

    def kinds(self, column: DataField) -> tuple[str, ...]:
        """The kinds of index that can judge a column that is read, as Paimon names them, such as `bloom-filter`."""
        return tuple(sorted({kind for _, indexes, _ in self._of(column) for kind in indexes}))

    def _rows(self, predicate: Predicate) -> RowTruths:
        return of_predicate(predicate, self._rows_of_leaf, self.file.meta.row_count)

    def _rows_of_leaf(self, leaf: Leaf) -> RowTruths:
        found = uniform(self.evidence(leaf), self.file.meta.row_count)
        for container, index, asked in self._indexes(leaf):
            if isinstance(index, BloomFilter):
                continue
            try:
                rows = of_index(index, asked)
            except DamagedError as e:
                container.warn(f"column {leaf.column.name}", e)
            except UnknownVersionError:
                continue
            else:
                found = found if rows is None else found.less(rows)
        return found

    def _indexes(self, leaf: Leaf) -> Iterator[tuple[ColumnIndexes, ColumnIndex, Reach | None]]:
        """The indexes that can judge a leaf, and what to ask them; None is `IS NULL`."""
        for container, indexes, coded in self._of(leaf.column):
            asked = reach(leaf, coded)
            if asked is not None or isinstance(leaf, IsNull):
                for index in indexes.values():
                    yield container, index, asked

    def _of(self, column: DataField) -> Iterator[tuple[ColumnIndexes, dict[str, ColumnIndex], Coding]]:
        """The indexes of a column that is read, where they can judge it."""
        stored = next((f for f in self.schema.fields if f.id == column.id), None)
        if stored is None or not keeps_values(stored.type, column.type):
            return
        coded = coding(stored.type, orc=self.file.meta.file_name.endswith(".orc"))
        if coded is not None:
            for container in self.containers:
                yield container, container.of(stored, coded), coded


def _judge(index: ColumnIndex, asked: Reach | None) -> Truths:
    if isinstance(index, BloomFilter):
        if asked is None or asked.equal is None or any(index.may_hold(key) for key in asked.equal):
            return Truths.ANY
        return Truths.FALSE | Truths.NULL
    null = index.holds_null()
    if asked is None:
        truths = Truths.TRUE if null else Truths.NONE
        return truths | (Truths.FALSE if index.holds((None, None)) else Truths.NONE)
    truths = Truths.NULL if null else Truths.NONE
    if any(index.holds(span) for span in asked.true):
        truths |= Truths.TRUE
    if any(index.holds(span) for span in asked.false):
        truths |= Truths.FALSE
    return truths

"""Read and publish the versions of one table's schema, in one branch: `SchemaManager`.

Versions are files that are made once and never changed. They are published with create-if-absent, so that of two
writers of the same version exactly one wins (specification, "Atomic creation").
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lakebed.catalog.annotations import refuse_newer
from lakebed.catalog.columns import AnyFields, to_columns
from lakebed.catalog.commit_version import commit_version, conflict, says_the_same
from lakebed.catalog.dialects import PAIMON, Dialect
from lakebed.catalog.names import TableName, no_text
from lakebed.catalog.paths import MAIN, SCHEMA, branch_root, has_schema, has_snapshots, schema_id_of
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema, refuse_unknown_types
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConflictError, NotFoundError, UnsupportedError, ValidationError
from lakebed.store import Store
from lakebed.store.directories import file_names
from lakebed.store.obstacles import refuse_obstacle

NO_SUCH_VERSION = "LB3201"
NO_SCHEMA = "LB3202"
CONFLICT = "LB3203"
NEWER_VERSION = "LB3507"

#: Milliseconds since 1970.
Clock: TypeAlias = Callable[[], int]


def system_clock() -> int:
    """The machine's clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class _Parsed:
    data: bytes
    previous: TableSchema | None
    schema: TableSchema


class SchemaManager:
    """Reads and makes schema versions of one branch of a table. May be shared by threads.

    Args:
        store: where the files are.
        table_path: the directory of the table (not of the branch).
        branch: the branch, whose schema files are its own.
        name: what messages call the table; its path where None.
        dialect: how a schema file is written.
        clock: milliseconds since 1970, for `timeMillis`.
        before_new_version: called before a version is published; what it raises keeps it from that.
        on_new_version: called after a version has been published.
        completed: adds to a version what its file has no place for and another file of the table holds.
    """

    def __init__(
        self,
        store: Store,
        table_path: str,
        *,
        branch: str = MAIN,
        name: TableName | None = None,
        dialect: Dialect = PAIMON,
        clock: Clock = system_clock,
        before_new_version: Callable[[TableSchema], None] | None = None,
        on_new_version: Callable[[TableSchema], None] | None = None,
        completed: Callable[[TableSchema], TableSchema] | None = None,
    ) -> None:
        self.store = store
        self.branch = branch
        self.name = name
        self._table_path = table_path
        self._directory = f"{branch_root(table_path, branch)}/{SCHEMA}"
        self._table = str(name) if name is not None else table_path
        self._dialect = dialect
        self._clock = clock
        self._before_new_version = before_new_version
        self._on_new_version = on_new_version
        self._completed = completed or (lambda schema: schema)
        self._lock = threading.Lock()
        self._parsed: dict[int, _Parsed] = {}

    @property
    def label(self) -> str:
        """What messages call the table."""
        return self._table

    def path(self, schema_id: int) -> str:
        """The file of a version."""
        return f"{self._directory}/schema-{schema_id}"

    def ids(self) -> list[int]:
        """The ids of all versions, ascending; gaps are legal, other files in the directory are no versions."""
        found = map(schema_id_of, file_names(self.store, self._directory))
        return sorted(number for number in found if number is not None)

    def exists(self) -> bool:
        """Whether there is any version, and the branch is not half made or half deleted."""
        return has_schema(self.store, self._table_path, self.branch)

    def has_snapshots(self) -> bool:
        """Whether the branch has any snapshot, so that rows may be stored under its versions."""
        return has_snapshots(self.store, self._table_path, self.branch)

    def load_schema(self, schema_id: int) -> TableSchema:
        """The version of this id, read from its file; only its parsed form is cached.

        Raises:
            NotFoundError: there is no such version.
            CorruptMetadataError: the file cannot be understood.
        """
        if self._dialect.is_cumulative:
            return self._completed(self._replay(schema_id, self.ids()))
        return self._completed(self._load(schema_id, None))

    def find(self, schema_id: int) -> TableSchema | None:
        """As `load_schema`; None where there is no such version."""
        return self.load_schema(schema_id) if schema_id in self.ids() else None

    def get_current_schema(self) -> TableSchema:
        """The newest version; it is parsed again only if its file holds other bytes than before.

        The directory is listed each time, so that versions of other writers are seen, and so is a table that was
        dropped and made again.

        Raises:
            NotFoundError: the table has no schema.
            CorruptMetadataError: the file cannot be understood.
        """
        known = self.ids()
        if not known:
            raise self._no_schema()
        if self._dialect.is_cumulative:
            return self._completed(self._replay(known[-1], known))
        return self._completed(self._load(known[-1], None))

    def load_latest_schema(self) -> TableSchema:
        """The newest version; whether its file holds other bytes than before is looked at. As `get_current_schema`."""
        return self.get_current_schema()

    def versions(self) -> list[TableSchema]:
        """All versions, oldest first."""
        known = self.ids()
        found: list[TableSchema] = []
        for number in known:
            found.append(self._load(number, found[-1] if found and self._dialect.is_cumulative else None))
        return [self._completed(schema) for schema in found]

    def as_stored(self, schema: TableSchema) -> TableSchema:
        """A version that was published, as it is read again: where files hold no ids, new columns are numbered anew."""
        return self.load_schema(schema.id) if self._dialect.is_cumulative else schema

    def problems(self, schema: TableSchema, previous: TableSchema | None) -> Sequence[Diagnostic]:
        """What keeps the table's files from holding `schema` as the version after `previous`; empty if nothing."""
        return self._dialect.problems(schema, previous)

    def publish(self, schema: TableSchema) -> bool:
        """Make the file of a version; False when somebody else has made this version, or a later one, before.

        Raises:
            ConflictError: the version before it is gone, as after a drop of the table.
            StoreError: something that is no file has the name of the version's file (LB3608).
            UnsupportedError: the dialect cannot hold the schema, or its version is newer than this Lakebed.
        """
        if schema.version > CURRENT_VERSION:
            raise self._newer(schema)
        data = self._dumps(schema)
        known = self.ids()
        newest = max(known, default=-1)
        if newest >= schema.id:
            return False
        if newest < schema.id - 1:
            raise ConflictError.of(
                CONFLICT,
                f"version {schema.id} of {self._table} follows on no version {schema.id - 1}: "
                "the table was dropped or its versions were removed meanwhile",
                remedy="Load the table's present schema and make the change again.",
            )
        if self._dialect.is_cumulative and known:
            problems = self._dialect.problems(schema, self._replay(newest, known))
            if problems:
                raise UnsupportedError(*problems)
        if self._before_new_version is not None:
            self._before_new_version(schema)
        if not self.store.create_if_absent(self.path(schema.id), data):
            refuse_obstacle(self.store, self.path(schema.id), self._what(schema.id))
            return False
        if not self._dialect.is_cumulative:
            # What is read next is most often what was just made.
            with self._lock:
                self._parsed[schema.id] = _Parsed(data, None, schema)
        if self._on_new_version is not None:
            self._on_new_version(schema)
        return True

    def create_new_schema_version(
        self,
        fields: AnyFields,
        primary_keys: Iterable[str] = (),
        partition_keys: Iterable[str] = (),
        *,
        base_id: int | None = None,
    ) -> TableSchema:
        """The next version, with exactly these columns; the present one, and nothing written, where nothing changes.

        Columns are those of the present version by id where one is given, else by name: what is missing is dropped,
        what is new is added. With `base_id` the call is refused unless that is still the newest version.

        Raises:
            NotFoundError: the table has no schema.
            RefusedError: the keys are others than the table's.
            ConflictError: somebody else changed the columns meanwhile; nothing was written.
            ValidationError: columns that cannot be understood, or changes of them that are not allowed.
        """
        columns, keys = to_columns(fields), (tuple(primary_keys), tuple(partition_keys))
        # Before anything is imported: the caller has just read the columns that the wanted ones are made from.
        base = self.load_latest_schema()
        from lakebed.evolve.make_version import with_columns

        def make(base: TableSchema) -> TableSchema:
            return with_columns(
                base,
                columns,
                keys,
                has_snapshots=self.has_snapshots,
                now=self._clock(),
                history=self.versions,
                label=self._table,
            )

        def is_meant(base: TableSchema, latest: TableSchema) -> bool:
            return latest.fields == base.fields or says_the_same(latest, make(latest))

        if base_id is not None and base.id != base_id:
            raise conflict(self, CONFLICT, base.id)
        return commit_version(self, base, make, is_meant, code=CONFLICT)

    def alter(self, changes: Sequence[Any]) -> TableSchema:
        """The version after all changes; the present one, and nothing written, where they change nothing.

        Changes are values of `lakebed.evolve` or their REST JSON form. After a lost race they are made again on the
        newer version, unless a column name means another column there.

        Raises:
            NotFoundError: the table has no schema.
            RefusedError, ValidationError: what is no change, or is not allowed.
            ConflictError: somebody else changed the columns that names stand for.
        """
        from lakebed.evolve.make_version import names_mean_the_same, with_changes

        def make(base: TableSchema) -> TableSchema:
            return with_changes(
                base, changes, has_snapshots=self.has_snapshots, now=self._clock(), history=self.versions
            )

        return commit_version(self, self.load_latest_schema(), make, names_mean_the_same)

    def refuse_newer(self, schema: TableSchema) -> None:
        """Raise `UnsupportedError` for a version that a later Lakebed or Paimon has written, or with unknown types."""
        refuse_unknown_types(schema)
        if schema.version > CURRENT_VERSION:
            raise self._newer(schema)
        refuse_newer(schema)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _replay(self, schema_id: int, known: list[int]) -> TableSchema:
        found: TableSchema | None = None
        for number in known:
            if number <= schema_id:
                found = self._load(number, found)
        if found is None or found.id != schema_id:
            raise self._no_such_version(schema_id, known)
        return found

    def _load(self, schema_id: int, previous: TableSchema | None) -> TableSchema:
        path = self.path(schema_id)
        try:
            data = self.store.read(path)
        except NotFoundError as error:
            refuse_obstacle(self.store, path, self._what(schema_id))
            raise self._no_such_version(schema_id, self.ids()) from error
        with self._lock:
            cached = self._parsed.get(schema_id)
        if cached is not None and cached.data == data and cached.previous is previous:
            return cached.schema
        schema = self._dialect.loads(data, source=path, expected_id=schema_id, previous=previous)
        with self._lock:
            self._parsed[schema_id] = _Parsed(data, previous, schema)
        return schema

    def _dumps(self, schema: TableSchema) -> bytes:
        try:
            return self._dialect.dumps(schema)
        except UnicodeEncodeError as error:
            raise ValidationError(no_text(error, f"version {schema.id} of the schema of {self._table}")) from None

    # -- errors ------------------------------------------------------------------------------------------------------

    def _what(self, schema_id: int) -> str:
        return f"version {schema_id} of the schema of {self._table}"

    def _no_schema(self) -> NotFoundError:
        return NotFoundError.of(NO_SCHEMA, f"{self._table} has no schema: there is no such table", path=self._directory)

    def _no_such_version(self, schema_id: int, known: list[int]) -> NotFoundError:
        if not known:
            return self._no_schema()
        return NotFoundError.of(
            NO_SUCH_VERSION,
            f"{self._table} has no schema version {schema_id}",
            path=self.path(schema_id),
            expected=f"one of {_ranges(known)}",
            found=str(schema_id),
            remedy=f"Name one that is there: {_ranges(known)}.",
        )

    def _newer(self, schema: TableSchema) -> UnsupportedError:
        return UnsupportedError.of(
            NEWER_VERSION,
            f"the schema of {self._table} has format version {schema.version}, which is newer than this Lakebed",
            expected=f"at most {CURRENT_VERSION}",
            found=str(schema.version),
            remedy="Use a newer Lakebed to change this table.",
        )


def _ranges(numbers: list[int]) -> str:
    """`0-3, 5` for 0, 1, 2, 3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)

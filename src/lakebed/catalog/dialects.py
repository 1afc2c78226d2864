"""Choose how a layout's schema files are read and written: Paimon's dialect, or Mini Paimon's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lakebed.catalog import schema_file
from lakebed.catalog.paths import Layout
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic


class Dialect(Protocol):
    """How schemas are written to and read from files."""

    #: Whether a file means something only after the versions before it (it holds no field ids).
    is_cumulative: bool

    def problems(self, schema: TableSchema, previous: TableSchema | None) -> Sequence[Diagnostic]:
        """What keeps the files from saying that `schema` is the version after `previous`; empty if nothing."""
        ...

    def dumps(self, schema: TableSchema) -> bytes:
        """The bytes of the file of a version."""
        ...

    def loads(self, data: bytes, *, source: str, expected_id: int, previous: TableSchema | None) -> TableSchema:
        """The version in a file; `previous` is the one before it, given to cumulative dialects only."""
        ...


class PaimonDialect:
    """Apache Paimon's schema files, versions 1 to 3."""

    is_cumulative = False

    def problems(self, schema: TableSchema, previous: TableSchema | None) -> Sequence[Diagnostic]:
        """Nothing: these files hold everything."""
        return ()

    def dumps(self, schema: TableSchema) -> bytes:
        """Exactly the bytes that the reference writes."""
        return schema_file.dumps(schema)

    def loads(self, data: bytes, *, source: str, expected_id: int, previous: TableSchema | None) -> TableSchema:
        """The version in a file; its id must be that of its name."""
        return schema_file.loads(data, source=source, expected_id=expected_id)


PAIMON: Dialect = PaimonDialect()


def dialect_of(layout: Layout) -> Dialect:
    """The dialect that a layout goes with."""
    if layout is Layout.PAIMON:
        return PAIMON
    from lakebed.catalog.mini_schema_file import MINI

    return MINI

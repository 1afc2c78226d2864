"""How the table says that its sources are read (`read` of the manifest), and what the caller says instead."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.ddl import parse_ddl
from lakebed.errors import UnsupportedError
from lakebed.manifest.read_step import stored_read
from lakebed.manifest.table_manifest import ReadKind, ReadOptions
from lakebed.spark.source_files import SourceFormat, format_of
from lakebed.spark.source_parts import SourcePart

NOT_READ = "LB6441"


@dataclass(frozen=True, slots=True)
class DeclaredSource:
    """The format and the reader's options of a run, and the columns that the declaration names, in order."""

    format: SourceFormat
    options: Mapping[str, object]
    ordered: tuple[str, ...] | None

    @property
    def columns(self) -> frozenset[str] | None:
        """The columns of the source that count; None for all."""
        return None if self.ordered is None else frozenset(self.ordered)

    def names(self, schema: TableSchema) -> tuple[str, ...]:
        """The columns, by position, of a file that does not name them."""
        return tuple(schema.field_names) if self.ordered is None else self.ordered

    def only(self, part: SourcePart) -> SourcePart:
        """A part less the columns that the declaration leaves out."""
        if self.ordered is None or part.columns is None:
            return part
        return replace(part, columns=tuple(c for c in part.columns if c.name in self.ordered))


def declared_source(
    schema: TableSchema, paths: Sequence[str], format_: str | None, options: Mapping[str, object] | None
) -> DeclaredSource:
    """What holds for a run over files: what the caller says, then what the table says, then the files' names.

    Where the caller gives another format than the table's, nothing of the table's declaration holds.
    """
    read = stored_read(schema.logical.extra) or ReadOptions()
    kind = format_of(paths, format_ or read.format)
    if format_ is not None and read.kind is ReadKind.JSON:
        read = ReadOptions()
    if read.format is not None and kind is not SourceFormat(read.format):
        read = ReadOptions()
    given = dict(options or {})
    if read.kind is ReadKind.JSON:
        raise UnsupportedError.of(
            NOT_READ,
            "the table says that its sources are of kind Json, one document each, which ingest does not read yet",
            expected="NdJson: one object a line",
            found="Json",
            remedy="write one object a line, for example with jq -c '.[]', and give --format json",
        )
    # Options are the same in any case of their letters, and two names of one option are one.
    said = {_known_as(name) for name in given}
    merged = {name: value for name, value in read.reader_options.items() if _known_as(name) not in said} | given
    return DeclaredSource(kind, merged, _columns(read))


def _columns(read: ReadOptions) -> tuple[str, ...] | None:
    if read.schema is not None:
        return tuple(str(f["name"]) for f in json.loads(read.schema).get("fields", ()))
    return tuple(f.name for f in parse_ddl(read.ddl_schema).fields) if read.ddl_schema else None


def _known_as(name: str) -> str:
    return {"delimiter": "sep", "charset": "encoding"}.get(name.lower(), name.lower())

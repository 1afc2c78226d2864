"""Record how a run was told to read its source: its bad rows can be read so again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.sources.source_types import describe
from lakebed.model import canonical_json


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """What a caller says of a source: format, options of the reader, what becomes of unknown columns, whether folders
    are columns, and which column says what rows do.

    `header` are the names of the values of a line, where all CSV files of the run have the same, `types` what columns
    were that had types of their own, as those of Parquet and of a DataFrame have. What the manifest says is not among
    them: bad rows are read as it says by now.
    """

    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    unknown: UnknownColumns = UnknownColumns.FAIL
    folders: bool = True
    row_kinds: str | None = None
    header: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def given(
        cls, format_: str | None, options: Mapping[str, object] | None, *, unknown: UnknownColumns, folders: bool
    ) -> ReadSettings:
        """Those of a call."""
        texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in (options or {}).items()}
        return cls(format_, texts, unknown, folders)

    def of_parts(self, parts: Sequence[SourcePart]) -> ReadSettings:
        """The same with what is known of the source when it was opened."""
        headers = {part.header for part in parts}
        found: dict[str, list[str]] = {}
        for part in parts:
            for column in () if part.header else part.columns or ():
                found.setdefault(column.name, []).append(describe(column.type))
        types = {name: " or ".join(dict.fromkeys(texts)) for name, texts in found.items()}
        return replace(self, header=headers.pop() if len(headers) == 1 else (), types=types)

    def put_over(self, format_: str | None, options: Mapping[str, object] | None) -> ReadSettings:
        """The same with what is said now: other options, or another format with none but these options."""
        keeps = format_ is None or format_ == self.format
        now = ReadSettings.given(format_, options, unknown=self.unknown, folders=False).options
        said = {name.lower() for name in now}
        kept = {name: value for name, value in self.options.items() if keeps and name.lower() not in said}
        return replace(self, format=format_ or self.format, options={**kept, **now})

    @property
    def text(self) -> str:
        """The property of a snapshot."""
        return canonical_json(
            {
                "format": self.format,
                "options": dict(self.options),
                "unknown_columns": self.unknown,
                "folders": self.folders,
                "row_kinds": self.row_kinds,
                "header": list(self.header),
                "types": dict(self.types),
            }
        )

    @classmethod
    def parse(cls, text: str | None) -> ReadSettings:
        """What such a text says; nothing where a run did not say it, or not in this way."""
        try:
            said: Any = json.loads(text or "{}")
            options = {str(name): str(value) for name, value in said.get("options", {}).items()}
            format_, kinds = said.get("format"), said.get("row_kinds")
            return cls(
                None if format_ is None else str(format_),
                options,
                _unknown(said),
                bool(said.get("folders", True)),
                None if kinds is None else str(kinds),
                tuple(map(str, said.get("header", ()))),
                {str(name): str(text) for name, text in said.get("types", {}).items()},
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            # Properties are anybody's to write.
            return cls()


def _unknown(said: Mapping[str, Any]) -> UnknownColumns:
    """What becomes of unknown columns; runs of earlier versions say only whether they are left out."""
    before = UnknownColumns.IGNORE if said.get("ignore_unknown") else UnknownColumns.FAIL
    return UnknownColumns(said.get("unknown_columns", before))

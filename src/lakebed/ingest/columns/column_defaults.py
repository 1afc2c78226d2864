"""Convert what a column has beside its source: the declared default, and what the folders of a file say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.node import Node
from lakebed.diagnostics import Diagnostic
from lakebed.ingest.columns.checkers import Checker
from lakebed.ingest.columns.column_checks import CheckBuilder
from lakebed.ingest.sources.source_parts import NESTED, SourcePart
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.ingest.sources.source_types import Text
from lakebed.model.extra import DEFAULT
from lakebed.physical import path_text, with_nullability
from lakebed.physical.paimon_types import Variant

BAD_DEFAULT = "LB6116"


@dataclass(frozen=True, slots=True)
class ColumnDefault:
    """The default of a column: its text and what checks it."""

    text: str
    checker: Checker

    @property
    def value(self) -> Column:
        return self.checker.value(F.lit(self.text))


def column_default(builder: CheckBuilder, node: Node, text: str | None) -> ColumnDefault | None:
    """The default that a text says; None where the column has none, and a problem noted where it cannot be used."""
    if text is None or not node.nullable:
        return None
    declared = node.extra.get(DEFAULT)
    if isinstance(node.stored, NESTED):
        if not isinstance(declared, (list, dict)):
            builder.problems.append(_bad_default(node, text))
            return None
        text = json.dumps(declared)
    elif len(text) > 1 and text[0] == text[-1] == "'":
        text = text[1:-1]
    stored = with_nullability(node.stored, False)
    checker = builder.checker(replace(node, stored=stored), Text(base64=True))
    return None if checker is None else ColumnDefault(text, checker)


def check_defaults(
    session: SparkSession, builder: CheckBuilder, nodes: Sequence[Node], defaults: Sequence[ColumnDefault | None]
) -> None:
    """Note defaults that cannot be converted; a NULL in their place would be silent."""
    given = [(p, d) for p, d in zip(nodes, defaults, strict=True) if d is not None]
    if not given:
        return
    tests = [F.coalesce(d.checker.bad(F.lit(d.text), d.value), F.lit(False)) for _, d in given]
    found = session.sql("SELECT 1").select(*(t.alias(f"d{i}") for i, t in enumerate(tests))).collect()[0]
    for is_bad, (node, default) in zip(found, given, strict=True):
        if is_bad:
            builder.problems.append(_bad_default(node, default.text))


def _bad_default(node: Node, text: str) -> Diagnostic:
    name = path_text(node.path)
    return Diagnostic(
        BAD_DEFAULT,
        f"the default of column {name} cannot be used as its value: {text!r}",
        path=name,
        found=text,
        remedy="change the default in the manifest and apply it",
    )


@dataclass(frozen=True, slots=True)
class FolderSays:
    """What the folders of a file say for a column that its rows may have too, and what makes a value of it.

    `where` says whether a row has the column.
    """

    source: Column
    where: Column
    checker: Checker

    def disagrees(self, text: Column, where: Column, value: Column) -> Column:
        """Whether a row says something else than its folders. `text` and `where` are those of the row."""
        return where & ~value.eqNullSafe(self.checker.value(text))


def folder_says(builder: CheckBuilder, part: SourcePart, node: Node, declared: SourceSchema) -> FolderSays | None:
    """What the folders say beside the rows; None where they say nothing, or are all that says something."""
    name = node.path[0]
    folder = part.folder(name)
    if folder is None or part.column(name, node.stored, builder.rules.formats) is None:
        return None
    if isinstance(node.stored, (*NESTED, Variant)):
        builder.note_unfit(node, f"a folder {name}=... as well as a column")
        return None
    checker = declared.checker(builder, node, folder.type)
    return None if checker is None else FolderSays(folder.value, part.has(name), checker)

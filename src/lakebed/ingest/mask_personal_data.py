"""Hide personal data in bad rows: values of columns that the manifest marks, wherever a bad row shows them.

Of the text of a row only what is known to be harmless is shown: the values of declared columns without personal data.
A key that the table does not have may be a misspelt one of theirs, and a line that is no JSON may hold anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.ingest.columns.checkers import PROBLEM
from lakebed.model.extra import PERSONAL_DATA
from lakebed.model.logical_tree import fields_inside
from lakebed.physical import path_text

MASK = "***"
#: The top-level column of the path of a problem, as `path_text` writes it.
_COLUMN = r"`(?:[^`]|``)+`|[^.\[]+"


@dataclass(frozen=True, slots=True)
class PersonalColumns:
    """The columns of a table by name: those with personal data, also in a member, and the others."""

    personal: frozenset[str]
    others: frozenset[str]


def personal_columns(versions: Iterable[TableSchema]) -> PersonalColumns:
    """What the schema versions of a table say of its columns: one that has held personal data is one that does."""
    personal: set[str] = set()
    names: set[str] = set()
    for version in versions:
        for field in version.logical.fields:
            names.add(field.name)
            if any(inner.extra.get(PERSONAL_DATA) is True for _, inner in fields_inside((field,))):
                personal.add(field.name)
    return PersonalColumns(frozenset(personal), frozenset(names - personal))


def column_of(path: Column) -> Column:
    """The top-level column of the path of a problem; NULL for a problem of the whole row."""
    return F.nullif(F.regexp_extract(path, f"(?s)^({_COLUMN})", 1), F.lit(""))


def column_pattern(name: str) -> str:
    """The same as a regular expression for Arrow, with the column as a group of this name."""
    return f"(?s)^(?P<{name}>{_COLUMN})"


def mask_rows(rows: DataFrame, columns: PersonalColumns) -> DataFrame:
    """Bad rows (`raw`, `problems`, `source_file`) with masks; they stay as they are where no column is personal."""
    if not columns.personal:
        return rows
    return rows.withColumns(
        {
            "source_file": _masked_folders(F.col("source_file"), columns),
            "raw": mask_text(F.col("raw"), columns),
            "problems": F.transform("problems", lambda p: _masked_problem(p, columns)),
        }
    )


def mask_problems(rows: DataFrame, columns: PersonalColumns) -> DataFrame:
    """Bad rows that were just checked (`problems`, `file`) with masks, as an error may tell of them."""
    if not columns.personal:
        return rows
    problems = F.transform("problems", lambda p: _masked_problem(p, columns))
    return rows.withColumns({"problems": problems, "file": _masked_folders(F.col("file"), columns)})


def _any_of(names: Iterable[str]) -> Column:
    return F.from_json(F.lit(json.dumps(sorted(names))), "array<string>")


def mask_text(raw: Column, columns: PersonalColumns) -> Column:
    """The text of a row with masks."""
    known = _any_of(columns.others)
    mask = F.parse_json(F.lit(json.dumps(MASK)))
    values = F.from_json(raw, "map<string,variant>", {"allowSingleQuotes": "false"})
    shown = F.transform_values(values, lambda key, value: F.when(F.array_contains(known, key), value).otherwise(mask))
    text = F.to_json(shown, {"ignoreNullFields": "false"})
    return F.when(raw.isNotNull(), F.coalesce(text, F.lit(MASK)))


def _masked_problem(problem: Column, columns: PersonalColumns) -> Column:
    path, found = problem.getField("path"), problem.getField("found")
    column = column_of(path)
    is_shown = F.coalesce(F.array_contains(_any_of(path_text((n,)) for n in columns.others), column), F.lit(False))
    return F.struct(
        # The keys of a map are part of a path.
        F.when(is_shown, path).otherwise(column).alias("path"),
        problem.getField("code").alias("code"),
        problem.getField("expected").alias("expected"),
        F.when(is_shown | found.isNull(), found).otherwise(F.lit(MASK)).alias("found"),
    ).cast(PROBLEM)


def _masked_folders(path: Column, columns: PersonalColumns) -> Column:
    return F.regexp_replace(path, _folders(columns), f"$1{MASK}")


def mask_folder(path: str, columns: PersonalColumns) -> str:
    """A path in which what folders say of columns with personal data is masked."""
    return re.sub(_folders(columns), rf"\g<1>{MASK}", path) if columns.personal else path


def _folders(columns: PersonalColumns) -> str:
    spelt = sorted({re.escape(text) for name in columns.personal for text in (name, quote(name, safe=""))})
    return rf"(?s)((?:^|/)(?:{'|'.join(spelt)})=)[^/]*"

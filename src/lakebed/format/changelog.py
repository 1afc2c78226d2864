"""Tell how a table makes its changelog, and how the files of it are written."""

from __future__ import annotations

from collections.abc import Mapping

from lakebed.catalog.option_values import chosen_word, text_of, word
from lakebed.catalog.options import (
    CHANGELOG_FILE_COMPRESSION,
    CHANGELOG_FILE_FORMAT,
    CHANGELOG_FILE_PREFIX,
    CHANGELOG_FILE_STATS_MODE,
    CHANGELOG_PRODUCER,
    DATA_FILE_PREFIX,
    FILE_COMPRESSION,
    FILE_COMPRESSION_PER_LEVEL,
    FILE_FORMAT,
    FILE_FORMAT_PER_LEVEL,
    METADATA_STATS_MODE,
)
from lakebed.catalog.table_schema import TableSchema

NO_CHANGELOG = "none"
#: Writers put down the rows as they come, beside the data files; the other producers are of compactions.
INPUT = "input"

#: What says for changelog files what another option says for data files, and what else has no say then.
_INSTEAD = {
    CHANGELOG_FILE_FORMAT: (FILE_FORMAT, FILE_FORMAT_PER_LEVEL),
    CHANGELOG_FILE_COMPRESSION: (FILE_COMPRESSION, FILE_COMPRESSION_PER_LEVEL),
    CHANGELOG_FILE_STATS_MODE: (METADATA_STATS_MODE,),
}


def changelog_producer(schema: TableSchema) -> str:
    """How the table makes its changelog; `none` where it has none, as every table without a primary key."""
    return chosen_word(schema.options, CHANGELOG_PRODUCER) if schema.primary_keys else NO_CHANGELOG


def has_input_changelog(schema: TableSchema) -> bool:
    """Whether who writes rows of the table writes changelog files too."""
    return bool(schema.primary_keys) and word(schema.options, CHANGELOG_PRODUCER) == INPUT


def changelog_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a table as they count for changelog files, where these are written as data files are."""
    found = {**options, DATA_FILE_PREFIX: text_of(options, CHANGELOG_FILE_PREFIX)}
    for own, (instead, *others) in _INSTEAD.items():
        if own in options:
            found[instead] = options[own]
            for name in others:
                found.pop(name, None)
    return found

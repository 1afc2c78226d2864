"""Read folders named `key=value` in the path of a file, as Hive and Spark write them, as columns.

The value is text, which becomes the column's type as any other text of the source; nobody guesses a type for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from lakebed.errors import IngestError
from lakebed.format.partition import unescape
from lakebed.ingest.sources.remedies import IGNORE_FOLDERS, say

TWO_VALUES = "LB6129"

#: How Hive and Spark spell NULL.
NULL_NAME = "__HIVE_DEFAULT_PARTITION__"

_URL_TEXT = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*+")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder `name=text`, both as they are spelled. `is_below`: it is below what the caller named as the source."""

    name: str
    text: str
    is_below: bool

    @property
    def key(self) -> str:
        """The name of the column."""
        return unescaped(self.name)

    @property
    def value(self) -> str | None:
        """The value in the column."""
        return None if self.text == NULL_NAME else unescaped(self.text)


def unescaped(text: str) -> str:
    """A name or a value as it was before it became a part of a path.

    Hive and Spark escape some ASCII characters, Arrow the bytes of UTF-8; the two never mean different things by the
    same text.
    """
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unescape(text)


def is_url_text(text: str) -> bool:
    """Whether decoding a text as a part of a URL is all that `unescaped` does, and possible."""
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return False
    return _URL_TEXT.fullmatch(text) is not None


def folders_of(path: str, below: str) -> tuple[Folder, ...]:
    """The folders `key=value` on the way to a file, outermost first; `below` is its path below the source."""
    names = path.partition("://")[2].split("/")[1:-1] if "://" in path else path.split("/")[:-1]
    first_below = len(names) - below.count("/")
    found = []
    for place, name in enumerate(names):
        key, equals, text = name.partition("=")
        if key and equals:
            found.append(Folder(key, text, place >= first_below))
    return tuple(found)


def counted_folders(
    path: str, folders: Iterable[Folder], columns: Collection[str], only: Collection[str] | None = None
) -> tuple[Folder, ...]:
    """The folders that say something about the rows of a file: all below the source, and above it those whose key is
    one of the table's `columns`. Of keys that are no column, those in `only` count, where it is given.

    Raises `IngestError` (LB6129) where a path says two values for one key.
    """
    found: dict[str, Folder] = {}
    for folder in folders:
        key = folder.key
        if key not in columns and (not folder.is_below or (only is not None and key not in only)):
            continue
        other = found.setdefault(key, folder)
        if other.value != folder.value:
            raise IngestError.of(
                TWO_VALUES,
                f"the folders of {path!r} say two values for {key}: {other.text!r} and {folder.text!r}",
                path=path,
                expected=f"one folder {key}=...",
                found=f"{other.text}, {folder.text}",
                **say("rename one of the folders, or give {} and say the value in the file", IGNORE_FOLDERS).parts,
            )
    return tuple(found.values())

"""The files of a source: which there are, of which format, and who they are (path, size and content)."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import IngestError, LakebedError, NotFoundError, UsageError
from lakebed.model import JsonValue
from lakebed.spark.text_scan import TextFindings, TextScan
from lakebed.store import Store, open_store

NO_SOURCE = "LB6101"
HIDDEN_FILE = "LB6102"
UNKNOWN_FORMAT = "LB6103"
MIXED_FORMATS = "LB6104"
CHANGED_FILE = "LB6124"

_GLOB = re.compile(r"[*?\[]")
_CHUNK = 1 << 22
_HASHERS = 4


class SourceFormat(StrEnum):
    """The formats of source files."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


#: Endings of file names; text files may be compressed.
_ENDINGS = {
    ".csv": SourceFormat.CSV,
    ".json": SourceFormat.JSON,
    ".jsonl": SourceFormat.JSON,
    ".ndjson": SourceFormat.JSON,
    ".parquet": SourceFormat.PARQUET,
}
COMPRESSED = (".gz", ".bz2")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file: absolute path or URL, size in bytes, and the hex digest of its content.

    `bad` is how many of its rows are bad, where that is known, and `text` what is known of it as text; neither belongs
    to what the file is.
    """

    path: str
    size: int
    sha256: str
    bad: int | None = field(default=None, compare=False)
    text: TextFindings | None = field(default=None, compare=False)

    @property
    def identity(self) -> tuple[str, int, str]:
        """What makes it the same file."""
        return self.path, self.size, self.sha256

    def to_json(self) -> dict[str, JsonValue]:
        """The object in the properties of a snapshot."""
        counted = {} if self.bad is None else {"bad": self.bad}
        return {"path": self.path, "size": self.size, "sha256": self.sha256, **counted}

    @staticmethod
    def from_json(value: Any) -> SourceFile:
        """The file that such an object means. Raises `KeyError`, `TypeError` or `ValueError` where it means none."""
        bad = value.get("bad")
        return SourceFile(
            str(value["path"]), int(value["size"]), str(value["sha256"]), None if bad is None else int(bad)
        )


def find_files(sources: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The files that paths, directories and globs name, in order, each once.

    A directory stands for the files in it and below, less those whose names start with `_` or `.`. Raises
    `NotFoundError` with everything that names nothing, `IngestError` for a hidden file that is named itself: Spark
    would skip it without a word.
    """
    problems: list[Diagnostic] = []
    found: dict[str, None] = {}
    for source in sources:
        text = os.fspath(source)
        files = list(_expand(text))
        if not files:
            problems.append(Diagnostic(NO_SOURCE, f"{text!r} names no file", path=text, found=text))
        found.update(dict.fromkeys(files))
    if problems:
        raise NotFoundError(*problems)
    hidden = [path for path in found if _is_hidden(path)]
    if hidden:
        raise IngestError(
            *(
                Diagnostic(
                    HIDDEN_FILE,
                    f"{path!r} is a hidden file for Spark, which would read no rows from it",
                    path=path,
                    remedy="rename the file so that it does not start with _ or .",
                )
                for path in hidden
            )
        )
    return tuple(found)


def are_gone(sources: Sequence[str | os.PathLike[str]]) -> bool:
    """Whether none of the paths, directories and globs names a file any more."""
    return not any(next(iter(_expand(os.fspath(source))), None) for source in sources)


def _expand(text: str) -> Iterator[str]:
    if text.lower().startswith("file:/") and not text.startswith("//", 5):
        text = text[5:]
    if "://" in text and not text.lower().startswith("file:"):
        yield from _below(*open_store(text))
        return
    path = open_store(text)[1]
    if os.path.isfile(path):
        yield path
    elif os.path.isdir(path):
        yield from _below(*open_store(path))
    else:
        fixed = len(os.path.dirname(_GLOB.split(path)[0]))
        for match in sorted(glob.glob(path, recursive=True)):
            if os.path.isfile(match) and not any(_is_hidden(part) for part in match[fixed:].split("/")):
                yield os.path.abspath(match)


def _below(store: Store, path: str) -> Iterator[str]:
    """The file itself, or the files below a directory that are not hidden."""
    entries = store.list(path)
    if not entries and store.exists(path):
        yield path
    for entry in entries:
        if _is_hidden(entry.name):
            continue
        if entry.is_directory:
            yield from _below(store, f"{path}/{entry.name}")
        else:
            yield f"{path}/{entry.name}"


def _is_hidden(path: str) -> bool:
    return path.rsplit("/", 1)[-1].startswith(("_", "."))


def format_of(files: Iterable[str], given: str | None) -> SourceFormat:
    """The format given, else the one that the files' names say. Raises `UsageError` where they do not agree on one."""
    if given is not None:
        try:
            return SourceFormat(given.lower())
        except ValueError:
            raise UsageError.of(
                UNKNOWN_FORMAT,
                f"{given!r} is no format of sources",
                expected="csv, json or parquet",
                found=given,
                suggestions=near_names(given, tuple(SourceFormat)),
            ) from None
    formats: dict[SourceFormat, str] = {}
    for path in files:
        ending = _ending(path)
        if ending not in _ENDINGS:
            raise UsageError.of(
                UNKNOWN_FORMAT,
                f"the name of {path!r} says no format",
                path=path,
                expected=", ".join(_ENDINGS),
                found=ending or "no ending",
                remedy="say the format: csv, json or parquet",
            )
        formats.setdefault(_ENDINGS[ending], path)
    if len(formats) != 1:
        raise UsageError.of(
            MIXED_FORMATS,
            "the source mixes formats: " + ", ".join(f"{path!r} is {name}" for name, path in formats.items()),
            remedy="ingest each format by itself",
        )
    return next(iter(formats))


def _ending(path: str) -> str:
    name = path.rsplit("/", 1)[-1].lower()
    for compressed in COMPRESSED:
        name = name.removesuffix(compressed)
    return os.path.splitext(name)[1]


def identify(files: Sequence[str], scan: Callable[[str], TextScan | None] | None = None) -> tuple[SourceFile, ...]:
    """Size and digest of every file, and what `scan`, which is asked for one of each path, finds in it."""
    with ThreadPoolExecutor(_HASHERS) as pool:
        return tuple(pool.map(lambda path: _identify(path, None if scan is None else scan(path)), files))


def _identify(path: str, scan: TextScan | None) -> SourceFile:
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(path):
        digest.update(chunk)
        size += len(chunk)
        if scan is not None:
            scan.feed(chunk)
    return SourceFile(path, size, digest.hexdigest(), text=None if scan is None else scan.findings())


def compression_of(path: str) -> str:
    """The ending that says how a text file is compressed; nothing for one that is not."""
    return next((ending for ending in COMPRESSED if path.lower().endswith(ending)), "")


def read_bytes(path: str) -> bytes:
    """All bytes of a file."""
    return b"".join(_chunks(path))


def changed_at(path: str) -> int | None:
    """When a file was changed, in milliseconds since 1970; None where its storage does not say."""
    store, root = open_store(path)
    directory, _, name = root.rpartition("/")
    return next((e.modified for e in store.list(directory) if e.name == name), None)


def _chunks(path: str) -> Iterator[bytes]:
    if "://" not in path:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        return
    store, root = open_store(path)
    size, at = store.size(root), 0
    while at < size:
        chunk = store.read_range(root, at, _CHUNK)
        yield chunk
        at += len(chunk)


def check_unchanged(files: Iterable[SourceFile]) -> None:
    """Raise `IngestError` where a file is not as long as it was when it was identified."""
    changed: list[Diagnostic] = []
    for file in files:
        store, root = open_store(file.path)
        try:
            size: int | None = store.size(root)
        except LakebedError:
            size = None
        if size != file.size:
            changed.append(
                Diagnostic(
                    CHANGED_FILE,
                    f"{file.path!r} changed while it was read",
                    path=file.path,
                    expected=f"{file.size} bytes",
                    found="no file" if size is None else f"{size} bytes",
                    remedy="ingest it again when nobody writes to it",
                )
            )
    if changed:
        raise IngestError(*changed)

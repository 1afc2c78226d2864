"""Identify the files of a source by path, size and content, and tell their format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import IngestError, LakebedError, UsageError
from lakebed.ingest.sources.source_folders import Folder, folders_of
from lakebed.ingest.sources.source_listing import LOCAL, FoundFile, SourceStorage
from lakebed.ingest.sources.text_scan import Scan, TextFindings, TextScan
from lakebed.lineage.lineage_run import LineageInput
from lakebed.model import JsonValue
from lakebed.redaction import redact
from lakebed.spark.spark_errors import SparkFailedError
from lakebed.store.failures import translated

UNKNOWN_FORMAT = "LB6103"
MIXED_FORMATS = "LB6104"
CHANGED_FILE = "LB6124"
BROKEN = "LB6131"

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

    `bad` is how many of its rows are bad, where that is known, `text` what is known of it as text, and `folders` are
    those that say something about its rows; none of them belongs to what the file is.
    """

    path: str
    size: int
    sha256: str
    bad: int | None = field(default=None, compare=False)
    text: TextFindings | None = field(default=None, compare=False)
    folders: tuple[Folder, ...] = field(default=(), compare=False)

    @property
    def shown(self) -> str:
        """The path as people and files get to see it, without secrets."""
        return redact(self.path)

    @property
    def identity(self) -> tuple[str, int, str]:
        """What makes it the same file."""
        return self.shown, self.size, self.sha256

    def to_json(self) -> dict[str, JsonValue]:
        """The object in the properties of a snapshot."""
        counted = {} if self.bad is None else {"bad": self.bad}
        return {"path": self.shown, "size": self.size, "sha256": self.sha256, **counted}

    @staticmethod
    def from_json(value: Any) -> SourceFile:
        """The file that such an object means. Raises `KeyError`, `TypeError` or `ValueError` where it means none."""
        bad = value.get("bad")
        return SourceFile(
            str(value["path"]), int(value["size"]), str(value["sha256"]), None if bad is None else int(bad)
        )


def lineage_inputs(files: Iterable[SourceFile]) -> tuple[LineageInput, ...]:
    """The files as OpenLineage is told of them."""
    return tuple(LineageInput(file.shown, file.size) for file in files)


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
                remedy="the formats are csv, json and parquet",
                found=given,
                suggestions=near_names(given, tuple(SourceFormat)),
            ) from None
    formats: dict[SourceFormat, str] = {}
    silent: list[str] = []
    for path in files:
        format_ = _ENDINGS.get(_ending(path))
        if format_ is None:
            silent.append(path)
        else:
            formats.setdefault(format_, path)
    if silent:
        raise UsageError(*(_no_format(path) for path in silent))
    if len(formats) != 1:
        raise UsageError.of(
            MIXED_FORMATS,
            "the source mixes formats: " + ", ".join(f"{path!r} is {name}" for name, path in formats.items()),
            remedy="ingest each format by itself",
        )
    return next(iter(formats))


def named_format(files: Iterable[str]) -> SourceFormat | None:
    """The one format that the names of all files say; None where they say none, or several."""
    formats = {_ENDINGS.get(_ending(path)) for path in files}
    return formats.pop() if len(formats) == 1 else None


def _no_format(path: str) -> Diagnostic:
    return Diagnostic(
        UNKNOWN_FORMAT,
        f"the name of {path!r} says no format",
        path=path,
        expected=", ".join(_ENDINGS),
        found=_ending(path) or "no ending",
        remedy="leave the file out (--exclude), or give --format csv, --format json or --format parquet",
        python_remedy='leave the file out (exclude), or give format="csv", format="json" or format="parquet"',
    )


def _ending(path: str) -> str:
    name = path.rsplit("/", 1)[-1].lower()
    for compressed in COMPRESSED:
        name = name.removesuffix(compressed)
    return os.path.splitext(name)[1]


def identify(
    files: Sequence[FoundFile],
    scan: Callable[[str], Scan | None] | None = None,
    storage: SourceStorage = LOCAL,
) -> tuple[SourceFile, ...]:
    """Size and digest of every file, the folders on the way to it, and what `scan`, which is asked for one of each
    path, finds in it.
    """
    with ThreadPoolExecutor(_HASHERS) as pool:
        return tuple(pool.map(lambda f: _identify(f, None if scan is None else scan(f.path), storage), files))


def _identify(file: FoundFile, scan: Scan | None, storage: SourceStorage) -> SourceFile:
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(file.path, storage):
        digest.update(chunk)
        size += len(chunk)
        if scan is not None:
            scan.feed(chunk)
    text = None if scan is None else scan.findings()
    return SourceFile(file.path, size, digest.hexdigest(), text=text, folders=folders_of(file.path, file.below))


class BrokenFileError(IngestError):
    """Files cannot be decompressed."""


def check_compressed(files: Sequence[SourceFile], storage: SourceStorage = LOCAL) -> None:
    """Raise `BrokenFileError` (LB6131) with every compressed file that cannot be decompressed to its end, where one is
    known. Those that are to be decompressed by Spark are only looked at then.
    """
    if any(f.text is not None and f.text.broken is not None for f in files):
        _name_broken(files, storage)


@contextmanager
def naming_broken(files: Callable[[], Sequence[SourceFile]], storage: SourceStorage = LOCAL) -> Iterator[None]:
    """Name all compressed files that are broken, where Spark failed, or one of them has shown itself."""
    try:
        yield
    except (SparkFailedError, BrokenFileError):
        _name_broken(files(), storage)
        raise


def _name_broken(files: Sequence[SourceFile], storage: SourceStorage) -> None:
    left = [FoundFile(f.path, f.path) for f in files if f.text is not None and not f.text.is_decoded]
    looked = identify(left, lambda path: TextScan(None, "", compression_of(path)), storage)
    said = {f.path: f.text for f in (*files, *looked)}
    broken = [broken_file(path, text.broken) for path, text in said.items() if text is not None and text.broken]
    if broken:
        raise BrokenFileError(*(error.diagnostics[0] for error in broken)) from None


def broken_file(path: str, problem: str) -> BrokenFileError:
    """The error for a compressed file that cannot be decompressed."""
    return BrokenFileError.of(
        BROKEN,
        f"{path!r} cannot be decompressed: {problem}",
        path=path,
        expected=f"a whole file, compressed as its ending {compression_of(path)} says",
        remedy="get the file again, or give it the ending of what it is",
    )


def compression_of(path: str) -> str:
    """The ending that says how a text file is compressed; nothing for one that is not."""
    return next((ending for ending in COMPRESSED if path.lower().endswith(ending)), "")


def read_bytes(path: str, storage: SourceStorage = LOCAL) -> bytes:
    """All bytes of a file."""
    return b"".join(_chunks(path, storage))


def changed_at(path: str, storage: SourceStorage = LOCAL) -> int | None:
    """When a file was changed, in milliseconds since 1970; None where its storage does not say."""
    store, root = storage.open(path)
    directory, _, name = root.rpartition("/")
    return next((e.modified for e in store.list(directory) if e.name == name), None)


def _chunks(path: str, storage: SourceStorage) -> Iterator[bytes]:
    if "://" not in path:
        with translated("read", path), Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        return
    store, root = storage.open(path)
    size, at = store.size(root), 0
    while at < size:
        chunk = store.read_range(root, at, _CHUNK)
        yield chunk
        at += len(chunk)


def check_unchanged(files: Iterable[SourceFile], storage: SourceStorage = LOCAL) -> None:
    """Raise `IngestError` where a file is not as long as it was when it was identified."""
    changed: list[Diagnostic] = []
    for file in files:
        store, root = storage.open(file.path)
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

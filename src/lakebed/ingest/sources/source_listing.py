"""List the files that paths, directories and patterns name, and those left out.

A directory stands for the files in it and below it. Files and folders whose names start with `_` or `.` are hidden to
Spark and left out; `include` and `exclude` choose among the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import IngestError, NotFoundError, UsageError
from lakebed.ingest.sources.remedies import EXCLUDE, INCLUDE, say
from lakebed.redaction import redact
from lakebed.store import Store, open_store
from lakebed.store.obstacles import is_file

NO_SOURCE = "LB6101"
HIDDEN_FILE = "LB6102"
BAD_PATTERN = "LB6128"

_GLOB = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"
_SAME_STORAGE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SourceStorage:
    """How the storages of sources are opened: with the lake's `options` where they are on the `scheme` of the lake."""

    scheme: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def open(self, path: str) -> tuple[Store, str]:
        """The store of a path or URL, and its root there."""
        scheme = _scheme(path)
        shared = scheme and _SAME_STORAGE.get(scheme, scheme) == _SAME_STORAGE.get(self.scheme, self.scheme)
        return open_store(path, storage_options=self.options if shared else None)


def storage_like(warehouse: str, options: Mapping[str, Any] | None) -> SourceStorage:
    """The storage of sources of a lake, with the options that the lake was opened with."""
    return SourceStorage(_scheme(warehouse), dict(options or {}))


def _scheme(path: str) -> str:
    return path.partition("://")[0].lower() if "://" in path else ""


LOCAL = SourceStorage()


class Reason(StrEnum):
    """Why a file is left out."""

    HIDDEN = "hidden"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not included"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file of a source that is not read; or a hidden folder with all in it, whose path ends in a slash."""

    path: str
    reason: Reason

    def to_json(self) -> dict[str, str]:
        """The object of `--json`."""
        return {"path": redact(self.path), "reason": self.reason.value}


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Patterns that choose files: those of `include` (all where there is none) less those of `exclude`.

    A pattern without a slash is held against the file's name, another one against its path below the source; there `*`
    stays within a folder and `**` is any number of folders.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def reason(self, below: str) -> Reason | None:
        """Why a file is left out whose path below its source this is; None where it is not."""
        if any(_fits(below, pattern) for pattern in self.exclude):
            return Reason.EXCLUDED
        if self.include and not any(_fits(below, pattern) for pattern in self.include):
            return Reason.NOT_INCLUDED
        return None


def file_choice(include: str | Iterable[str] | None, exclude: str | Iterable[str] | None) -> FileChoice:
    """The choice that a caller's patterns make. Raises `UsageError` (LB6128) for what is no pattern."""
    return FileChoice(_patterns("include", include), _patterns("exclude", exclude))


def _patterns(name: str, given: str | Iterable[str] | None) -> tuple[str, ...]:
    found = () if given is None else (given,) if isinstance(given, str) else tuple(given)
    for pattern in found:
        if not pattern.strip("/"):
            raise UsageError.of(
                BAD_PATTERN,
                f"{pattern!r} is no pattern of file names",
                path=name,
                expected="such as '*.csv' or 'archive/**'",
                found=repr(pattern),
            )
    return found


def _fits(below: str, pattern: str) -> bool:
    if "/" not in pattern:
        return fnmatchcase(below.rpartition("/")[2], pattern)
    return _fit(below.split("/"), pattern.strip("/").split("/"))


def _fit(names: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == _ANY_DEPTH:
        return any(_fit(names[i:], pattern[1:]) for i in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _fit(names[1:], pattern[1:])


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a source: its path or URL, and the end of that which is below what the source says.

    Its size in bytes and the time of its last change, in milliseconds since 1970, are as they were listed, None where
    they were not.
    """

    path: str
    below: str
    size: int | None = field(default=None, compare=False)
    modified: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files of a source in order, each once, and those that are left out."""

    files: tuple[FoundFile, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the files."""
        return tuple(f.path for f in self.files)


def find_files(
    sources: Sequence[str | os.PathLike[str]],
    choice: FileChoice | None = None,
    storage: SourceStorage = LOCAL,
    *,
    may_come: bool = False,
) -> FoundFiles:
    """The files that paths, directories and patterns name.

    Raises `NotFoundError` (LB6101) with everything that names nothing, unless files `may_come` later, `IngestError`
    (LB6102) for a hidden file that is named itself: Spark would skip it without a word.
    """
    choice = choice or FileChoice()
    problems: list[Diagnostic] = []
    found: dict[str, FoundFile] = {}
    left_out: dict[str, LeftOut] = {}
    for source in sources:
        text = os.fspath(source)
        count = 0
        for item in _expand(text, storage):
            reason = choice.reason(item.below) if isinstance(item, FoundFile) else item.reason
            if reason is not None:
                left_out[item.path] = LeftOut(item.path, reason)
            elif isinstance(item, FoundFile):
                found.setdefault(item.path, item)
                count += 1
        if not count and not may_come:
            problems.append(_nothing(text, list(left_out.values()), storage))
    if problems:
        raise NotFoundError(*problems)
    hidden = [path for path in found if _is_hidden(path)]
    if hidden:
        raise IngestError(*map(_hidden, hidden))
    return FoundFiles(tuple(found.values()), tuple(x for x in left_out.values() if x.path not in found))


def are_gone(sources: Sequence[str | os.PathLike[str]], storage: SourceStorage = LOCAL) -> bool:
    """Whether none of the paths, directories and patterns names a file any more."""
    return not any(isinstance(item, FoundFile) for source in sources for item in _expand(os.fspath(source), storage))


def _nothing(text: str, left_out: Sequence[LeftOut], storage: SourceStorage) -> Diagnostic:
    if not left_out:
        path = storage.open(_plain(text))[1]
        where = f"; looked for as {path!r}" if path != text else ""
        remedy = "check the path; a relative one begins at the current directory, and a directory is all files below it"
        near = () if _scheme(text) or _GLOB.search(text) else _near(text, path)
        message = f"{text!r} names no file{where}"
        return Diagnostic(NO_SOURCE, message, path=text, found=text, suggestions=near, remedy=remedy)
    named = ", ".join(f"{x.path!r} ({x.reason})" for x in left_out[:_SHOWN])
    more = f" and {len(left_out) - _SHOWN} more" if len(left_out) > _SHOWN else ""
    return Diagnostic(
        NO_SOURCE,
        f"{text!r} names no file that is to be read: {named}{more} left out",
        path=text,
        found=text,
        **say("change the patterns of {} and {}, or rename the files", INCLUDE, EXCLUDE).parts,
    )


def _near(text: str, path: str) -> tuple[str, ...]:
    """Files of this machine beside the one that is not there and called alike, as they would be written."""
    above, _, name = path.rstrip("/").rpartition("/")
    try:
        others = [other for other in os.listdir(above or "/") if not _is_hidden(other)]
    except OSError:
        return ()  # Where nothing can be listed, nothing is there to be meant.
    start = text.rstrip("/").removesuffix(name)
    return tuple(f"{start}{other}" for other in near_names(name, others))


def _hidden(path: str) -> Diagnostic:
    return Diagnostic(
        HIDDEN_FILE,
        f"{path!r} is a hidden file for Spark, which would read no rows from it",
        path=path,
        remedy="rename the file so that it does not start with _ or .",
    )


def _plain(text: str) -> str:
    return text[5:] if text.lower().startswith("file:/") and not text.startswith("//", 5) else text


def _expand(text: str, storage: SourceStorage) -> Iterator[FoundFile | LeftOut]:
    store, path = storage.open(_plain(text))
    if is_file(store, path):
        yield FoundFile(path, path.rpartition("/")[2])
    elif not _GLOB.search(path) or store.exists(path):
        yield from _below(store, path, len(path) + 1)
    else:
        fixed = path[: _GLOB.search(path).start()].rpartition("/")[0]  # type: ignore[union-attr]
        yield from _matches(store, fixed, path[len(fixed) + 1 :].split("/"), len(fixed) + 1)


def _below(store: Store, path: str, root: int) -> Iterator[FoundFile | LeftOut]:
    """The files below a directory. `root` is how many characters of a path are above what is below the source."""
    for entry in store.list(path):
        child = f"{path.rstrip('/')}/{entry.name}"
        if _is_hidden(entry.name):
            yield LeftOut(f"{child}/" if entry.is_directory else child, Reason.HIDDEN)
        elif entry.is_directory:
            yield from _below(store, child, root)
        else:
            yield FoundFile(child, child[root:], entry.size, entry.modified)


def _matches(store: Store, path: str, pattern: Sequence[str], root: int) -> Iterator[FoundFile | LeftOut]:
    """The files that a pattern names, one part of it a folder; a directory that it names stands for all below it."""
    head, rest = pattern[0], pattern[1:]
    if head == _ANY_DEPTH and rest:
        yield from _matches(store, path, rest, root)
    elif not _GLOB.search(head):
        child = f"{path}/{head}"
        if rest:
            yield from _matches(store, child, rest, root)
        elif is_file(store, child):
            yield FoundFile(child, child[root:])
        else:
            yield from _below(store, child, root)
        return
    for entry in store.list(path):
        child = f"{path}/{entry.name}"
        fits = head == _ANY_DEPTH or fnmatchcase(entry.name, head)
        if not fits or (rest and not entry.is_directory):
            continue
        if _is_hidden(entry.name):
            yield LeftOut(f"{child}/" if entry.is_directory else child, Reason.HIDDEN)
        elif entry.is_directory and rest:
            yield from _matches(store, child, pattern if head == _ANY_DEPTH else rest, root)
        elif entry.is_directory:
            yield from _below(store, child, root)
        else:
            yield FoundFile(child, child[root:], entry.size, entry.modified)


def _is_hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(("_", "."))

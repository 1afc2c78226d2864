"""Find what `lakebed check` compares: manifests as they are, and as they were in a commit of git or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lakebed.cli.commands.manifest_files import holds_manifests, load_files
from lakebed.cli.git_files import PREFIX, GitPlace, path_in_repository, refuse_bare_commit
from lakebed.cli.invocation import STANDARD_INPUT, Session

if TYPE_CHECKING:
    from lakebed.manifest.load import LoadedFile
    from lakebed.manifest.substitutions import Substitutions

_HERE = (".",)


def earlier_and_now(
    session: Session, against: str, files: tuple[str, ...]
) -> tuple[list[LoadedFile], list[LoadedFile]]:
    """The manifests that `against` means, and what FILES, or those of the present directory, are now.

    A commit without a path means the same files in it. A file that is not there any more, or a directory without
    manifests, is then empty where the commit has manifests for it. Tables of files that the commit has not are looked
    for around them, so that a file that was renamed is compared with what it was.

    Raises:
        NotFoundError: there is no such commit, or nothing at the path in it.
        UsageError: `against` is no file, and a commit that lacks its `git:`.
    """
    asked = files or _HERE
    if not against.startswith(PREFIX):
        refuse_bare_commit(against)
        return _with_empty(session, load_files(session, (against,)), asked)
    place, given = GitPlace.parse(against), session.substitutions()
    if place.path != ".":
        return _with_empty(session, list(place.manifests(given)), asked)
    were = {file: _at(place, file, given) for file in asked if file != STANDARD_INPUT}
    gone = [file for file, earlier in were.items() if earlier and not holds_manifests(file)]
    now = _loaded(session, [file for file in asked if file not in gone])
    earlier = _distinct(loaded for each in were.values() for loaded in each)
    return [*earlier, *_from_around(place, given, asked, earlier, now)], now


def _with_empty(
    session: Session, earlier: list[LoadedFile], asked: Sequence[str]
) -> tuple[list[LoadedFile], list[LoadedFile]]:
    """Both sides; directories that hold no manifest are empty where the earlier side declares anything."""
    gone = [file for file in asked if earlier and os.path.isdir(file) and not holds_manifests(file)]
    return earlier, _loaded(session, [file for file in asked if file not in gone])


def _loaded(session: Session, files: Sequence[str]) -> list[LoadedFile]:
    return load_files(session, tuple(files)) if files else []


def _at(place: GitPlace, file: str, given: Substitutions) -> tuple[LoadedFile, ...]:
    """What a file or a directory was in a commit; where the commit does not know a link to it, then what that means."""
    found = place.within(file).manifests(given, missing_ok=True)
    if found or path_in_repository(file) is None:
        return found
    return place.within(os.path.realpath(file)).manifests(given, missing_ok=True)


def _distinct(files: Iterator[LoadedFile]) -> list[LoadedFile]:
    """The files without those that hold what another one does, as a link and the file that it leads to."""
    return list({loaded.text or loaded.source: loaded for loaded in files}.values())


def _from_around(
    place: GitPlace,
    given: Substitutions,
    asked: Sequence[str],
    earlier: Sequence[LoadedFile],
    now: Sequence[LoadedFile],
) -> Iterator[LoadedFile]:
    """What the commit declares, in the directories around these files, of tables that are only in the files now."""
    missing = _names(now) - _names(earlier)
    for directory in dict.fromkeys(each for file in asked for each in _around(file)):
        for loaded in place.within(directory).manifests(given, missing_ok=True) if missing else ():
            tables = tuple(table for table in loaded.tables if _split(table.name) in missing)
            missing -= {_split(table.name) for table in tables}
            if tables:
                yield replace(loaded, tables=tables)


def _names(files: Sequence[LoadedFile]) -> set[tuple[str, str] | None]:
    return {_split(table.name) for loaded in files for table in loaded.tables}


def _split(name: str) -> tuple[str, str] | None:
    """Database and name of a table."""
    from lakebed.manifest.table_names import split_table_name

    return split_table_name(name)


def _around(file: str) -> Iterator[str]:
    """The directories that a file or a directory is in, from the inside, up to the present one; that has none.

    Of a file that is not below the present one it is the directory of the file alone.
    """
    path = os.path.relpath(file)
    if path.startswith(os.pardir):
        yield from () if os.path.isdir(file) else (os.path.dirname(path),)
        return
    while path != ".":
        path = os.path.dirname(path) or "."
        yield path

"""Read the sides of a comparison: tables, manifests, directories of them, files of other forms, and commits of git."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.cli.git_files import PREFIX, GitPlace, refuse_bare_commit
from lakebed.cli.invocation import NAME_OF_INPUT, STANDARD_INPUT, Session
from lakebed.errors import LakebedError, ManifestError, NotFoundError, NoWarehouseError, UsageError

if TYPE_CHECKING:
    from lakebed.catalog import TableSchema
    from lakebed.lake import Lake
    from lakebed.manifest import TableManifest
    from lakebed.manifest.load import LoadedFile
    from lakebed.manifest.substitutions import Substitutions

_SUFFIXES = (".yaml", ".yml", ".json")
_NO_FILE = "give a file that is there, or the name of a table"
_DOCUMENTS = ("odf-yaml", "odf-json", None)


@dataclass(frozen=True, slots=True)
class Side:
    """One table of a side: declared by a manifest or another file, or `stored`, a version of a table.

    `name` is that of the table, None for a schema that is nobody's.
    """

    name: str | None
    declared: TableManifest | None = None
    stored: TableSchema | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared: two versions of a table, whose columns are the same by id or by name; None where it is not."""

    name: str | None
    old: TableSchema | None
    new: TableSchema | None
    by_name: bool = True


class Sides:
    """Reads the sides. The warehouse is opened only for a table, or where there is one to look a manifest up in."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def pairs(self, a: str, b: str) -> list[Pair]:
        """The tables of two sides, those of the same name together; where each has one, these two."""
        old, new = self._read(a), self._read(b)
        if len(old) == len(new) == 1:
            return [self._pair(old[0], new[0])]
        old, new = old if _is_directory(b) else _chosen(old, new, a), new if _is_directory(a) else _chosen(new, old, b)
        olds, news = ({side.name: side for side in sides} for sides in (old, new))
        names = sorted({*olds, *news}, key=str)
        return [self._pair(olds.get(name), news.get(name)) for name in names]

    def _read(self, text: str) -> list[Side]:
        """The tables that an argument names."""
        if text == STANDARD_INPUT:
            return _of_bytes(self._session.read_input(), NAME_OF_INPUT, self._given)
        if text.startswith(PREFIX):
            return _of_commit(GitPlace.parse(text), self._given)
        if _is_there(text):
            return _of_bytes(Path(text).read_bytes(), text, self._given)
        if os.path.isdir(text):
            return self._directory(text)
        return [self._table(text)]

    def _directory(self, text: str) -> list[Side]:
        from lakebed.manifest.load import load_each, manifest_files

        if manifest_files(text) or os.sep in text:
            return _of_files(load_each([text], self._given))
        return [self._table(text)]

    def _table(self, text: str) -> Side:
        from lakebed.catalog import TableRef
        from lakebed.manifest import load_manifest
        from lakebed.schema_forms import ENDINGS

        try:
            return Side(str(TableRef.parse(text).name), stored=self._lake.schema(text))
        except LakebedError as error:
            if text.endswith(_SUFFIXES):
                # It is not there: that is told as for any other manifest.
                load_manifest(text, substitutions=self._given)
            refuse_bare_commit(text)
            if text.endswith(tuple(ENDINGS)) or os.sep in text:
                raise NotFoundError.of("LB7009", f"{text}: No such file", remedy=_NO_FILE) from None
            if "_lake" not in self.__dict__ and isinstance(error, NoWarehouseError | NotFoundError):
                said, *more = error.diagnostics
                message = f"{text}: No such file, and as a table it cannot be looked for: {said.message}"
                raise type(error)(replace(said, message=message), *more) from None
            raise

    @cached_property
    def _given(self) -> Substitutions:
        return self._session.substitutions()

    @cached_property
    def _lake(self) -> Lake:
        return self._session.lake()

    def _pair(self, old: Side | None, new: Side | None) -> Pair:
        if old is None or new is None:
            before, after = (None if side is None else _alone(side) for side in (old, new))
            return Pair((new or old or Side(None)).name, before, after)
        if old.declared is not None and new.declared is not None:
            return _declared_pair(old.declared, new.declared, old.name == new.name)
        (first, is_stored), (second, is_stored_too) = self._version(old), self._version(new)
        return Pair(new.name, first, second, not (is_stored and is_stored_too and old.name == new.name))

    def _version(self, side: Side) -> tuple[TableSchema, bool]:
        """The version of a side that is compared with a stored table, and whether its ids are those of its table.

        A manifest stands for the version that applying it to its own table gives, or would give if all was allowed.
        """
        from lakebed.evolve.without_warehouse import version_after
        from lakebed.manifest import Manifest

        if side.stored is not None:
            return side.stored, True
        assert side.declared is not None
        if side.name is not None:
            plan = self._lake.plan(Manifest((side.declared,))).tables[0]
            if plan.target is not None:
                return plan.target, True
            return version_after(self._lake.schema(side.name), side.declared), True
        return _anew(side.declared), False


def _declared_pair(old: TableManifest, new: TableManifest, is_same: bool) -> Pair:
    """Two declarations. Of one table the later stands for what it makes of the earlier, so that renames are known."""
    from lakebed.evolve.without_warehouse import version_between

    after = version_between(old, new) if is_same else _anew(new)
    return Pair(new.name, _anew(old), after, by_name=not is_same)


def _alone(side: Side) -> TableSchema:
    """The version of a side that is compared with nothing, which needs no warehouse for a manifest."""
    if side.stored is not None:
        return side.stored
    assert side.declared is not None
    return _anew(side.declared)


def _anew(declared: TableManifest) -> TableSchema:
    from lakebed.evolve.without_warehouse import plan_as_new

    made = plan_as_new(declared).target
    assert made is not None, "what is made anew is not forbidden"
    return made


def _chosen(sides: list[Side], others: list[Side], text: str) -> list[Side]:
    """Of several tables that one table is compared with, the one of its name."""
    if len(others) != 1 or len(sides) == 1:
        return sides
    found = [side for side in sides if side.name == others[0].name]
    if not found:
        raise UsageError.of(
            "LB7005",
            f"{text} declares {len(sides)} tables, none of which is {others[0].name or 'named like the other side'}",
            found=", ".join(str(side.name) for side in sides),
            remedy="compare it with a directory or a file of several tables, or put the table into a file of its own",
        )
    return found


def _is_directory(text: str) -> bool:
    """Whether a side is all that a directory holds, be it one table."""
    from lakebed.manifest.load import manifest_files

    if text.startswith(PREFIX):
        return GitPlace.parse(text).content() is None
    return os.path.isdir(text) and bool(manifest_files(text))


def _of_commit(place: GitPlace, given: Substitutions) -> list[Side]:
    data = place.content()
    return _of_bytes(data, str(place), given) if data is not None else _of_files(place.manifests(given))


def _of_files(files: Iterable[LoadedFile]) -> list[Side]:
    """The tables of manifests. Raises `ManifestError` with all problems of all files."""
    from lakebed.manifest.load import tables_of

    return [_of_table(table) for table in tables_of(files)]


def _of_table(declared: TableManifest) -> Side:
    from lakebed.catalog import TableName

    return Side(str(TableName.parse(declared.name)), declared)


def _of_bytes(data: bytes, name: str, given: Substitutions) -> list[Side]:
    """The tables of a manifest, or the schema of a file of another form."""
    from lakebed.manifest import TableManifest, parse_manifest
    from lakebed.manifest.load import parse_schema
    from lakebed.schema_forms import form_of, read_schema

    form = form_of(name, data)
    if form not in _DOCUMENTS:
        found = read_schema(data, form, name=name)
        return [
            Side(None, TableManifest(_NAMELESS, found.schema, found.primary_keys, found.partition_keys, found.options))
        ]
    try:
        return [_of_table(table) for table in parse_manifest(data, source=name, substitutions=given).tables]
    except ManifestError:
        try:
            bare = parse_schema(data, source=name, substitutions=given)
        except ManifestError:
            bare = None
        if bare is None or isinstance(bare, TableManifest):
            raise
        return [Side(None, TableManifest(_NAMELESS, bare))]


_NAMELESS = "default.schema"


def _is_there(text: str) -> bool:
    """Whether the argument is a file or a pipe, whatever it is called; a table may have the name of neither."""
    path = Path(text)
    try:
        return path.is_file() or path.is_fifo() or text.startswith("/dev/fd/")
    except OSError:
        return False

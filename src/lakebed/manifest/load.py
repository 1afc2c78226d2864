"""Load manifests from files and texts, and report every problem of every file in one `ManifestError`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lakebed.diagnostics import Diagnostic, Position, Severity, near_names
from lakebed.errors import ManifestError
from lakebed.manifest.attributes import AttributePlace
from lakebed.manifest.document import DocumentDecoder
from lakebed.manifest.field_decoder import SchemaDecoder
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode
from lakebed.manifest.parse_yaml import MAX_BYTES, compose, decode_utf8
from lakebed.manifest.problems import Problems
from lakebed.manifest.substitutions import Substitutions
from lakebed.manifest.table_manifest import Manifest, TableManifest
from lakebed.manifest.table_names import split_table_name
from lakebed.model import Schema

Source: TypeAlias = str | os.PathLike[str] | Manifest


def load_manifest(
    path: str | os.PathLike[str], *, name: str | None = None, substitutions: Substitutions | None = None
) -> Manifest:
    """The manifest in a YAML or JSON file, which may hold several documents.

    `name` is the table of documents that carry no name (events of Open Data Fabric). `substitutions` give the values of
    variables.

    Raises:
        ManifestError: the file cannot be read, or what it declares is faulty; with all problems.
    """
    source = os.fspath(path)
    return parse_manifest(read_file(source), source=source, name=name, substitutions=substitutions)


def read_file(source: str) -> bytes:
    """The bytes of a manifest's file, cut after one more than is allowed. Raises `ManifestError` (LB1001)."""
    try:
        with Path(source).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ManifestError(_unreadable(source, error)) from error


def parse_manifest(
    text: str | bytes,
    *,
    source: str | None = None,
    name: str | None = None,
    substitutions: Substitutions | None = None,
) -> Manifest:
    """The manifest in a text; bytes are UTF-8. `source` is what positions call the text, usually a file's path.

    Raises:
        ManifestError: what the text declares is faulty; with all problems.
    """
    problems = Problems()
    tables = _decoded(text, source, DocumentDecoder(problems, name, substitutions), problems)
    problems.raise_if_any()
    return Manifest(tables, problems.warnings)


def _decoded(
    text: str | bytes, source: str | None, decoder: DocumentDecoder, problems: Problems
) -> tuple[TableManifest, ...]:
    """The tables of a text as far as they can be told; those of a text with errors lack what is wrong."""
    decoded = decode_utf8(text, source, problems) if isinstance(text, bytes) else text
    documents = compose(decoded, source, problems) if decoded is not None else []
    if not documents and not problems.errors:
        remedy = "Write `kind: Table`, `version: 1` and `content: ...`."
        problems.error("LB1020", "the manifest is empty", Position(source, 1, 1), remedy=remedy)
    tables = [decoder.decode(document) for document in documents]
    return tuple(table for table in tables if table is not None)


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """What one file declares, or what is wrong with it: `tables` is empty where an error is among `diagnostics`.

    `text` is what it holds where that declares something, under these `substitutions`. `faulty` are the tables of a
    file with errors as far as they could be told, without the columns that are wrong: for what else is wrong with them.
    """

    source: str
    tables: tuple[TableManifest, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    text: str = ""
    faulty: tuple[TableManifest, ...] = ()
    substitutions: Substitutions | None = None

    @classmethod
    def parse(cls, data: str | bytes, source: str, substitutions: Substitutions | None = None) -> LoadedFile:
        """What a text declares; bytes are UTF-8. `source` is what positions call it."""
        problems = Problems()
        tables = _decoded(data, source, DocumentDecoder(problems, None, substitutions), problems)
        if problems.errors:
            return cls(source, (), (*problems.errors, *problems.warnings), faulty=tables)
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return cls(source, tables, problems.warnings, text, substitutions=substitutions)


def load_each(
    sources: Iterable[str | os.PathLike[str]], substitutions: Substitutions | None = None
) -> tuple[LoadedFile, ...]:
    """What each of several files declares, those of directories in their place. Raises nothing: problems are told."""
    failures: list[Diagnostic] = []
    found = []
    for source in _files(sources, failures):
        name = os.fspath(source)  # type: ignore[arg-type]
        try:
            found.append(LoadedFile.parse(read_file(name), name, substitutions))
        except ManifestError as error:
            found.append(LoadedFile(name, (), error.diagnostics))
    return (*found, *(LoadedFile(d.found or "", (), (d,)) for d in failures))


def tables_of(files: Iterable[LoadedFile]) -> tuple[TableManifest, ...]:
    """The tables of several files. Raises `ManifestError` with all their errors, also where two declare one table."""
    loaded = tuple(files)
    tables = tuple(table for file in loaded for table in file.tables)
    problems = [d for file in loaded for d in file.diagnostics if d.severity is Severity.ERROR]
    problems += declared_twice(tables)
    if problems:
        raise ManifestError(*problems)
    return tables


def load_all(sources: Source | Iterable[Source], substitutions: Substitutions | None = None) -> Manifest:
    """One manifest of all tables of several files, directories of files, or loaded manifests, in order.

    `substitutions` are those of files; a loaded manifest has its own.

    Raises:
        ManifestError: with the problems of all of them; also where two declare the same table, or a directory has no
            manifest in it.
    """
    if isinstance(sources, str | os.PathLike | Manifest):
        sources = [sources]
    manifests: list[Manifest] = []
    failures: list[Diagnostic] = []
    for source in _files(sources, failures):
        try:
            loaded = source if isinstance(source, Manifest) else load_manifest(source, substitutions=substitutions)
            manifests.append(loaded)
        except ManifestError as error:
            failures.extend(error.diagnostics)
    tables = tuple(table for manifest in manifests for table in manifest.tables)
    failures.extend(declared_twice(tables))
    if failures:
        raise ManifestError(*failures)
    return Manifest(tables, tuple(d for manifest in manifests for d in manifest.diagnostics))


def _files(sources: Iterable[Source], failures: list[Diagnostic]) -> list[Source]:
    """The sources with the files of directories in their place, each file once, by whatever names it goes."""
    found: list[Source] = []
    for source in sources:
        if isinstance(source, Manifest) or not os.path.isdir(source):
            found.append(source)
            continue
        below = manifest_files(source)
        found += below
        if not below:
            failures.append(no_manifest(os.fspath(source)))
    return distinct_files(found)


def distinct_files(sources: Iterable[Source]) -> list[Source]:
    """The sources without the files that stand there before under another name: a longer path, or a link."""
    first: dict[object, Source] = {}
    for source in sources:
        first.setdefault(source if isinstance(source, Manifest) else _real_path(source), source)
    return list(first.values())


def _real_path(source: str | os.PathLike[str]) -> str:
    try:
        return os.path.realpath(source)
    except ValueError:
        # No file has a name with a zero in it; the reader of the file says so.
        return os.fspath(source)


def no_manifest(directory: str) -> Diagnostic:
    """The error of a directory in which there is none."""
    in_json = len(json_manifests(directory))
    more = f" but {in_json} in JSON, which to name one by one" if in_json else ""
    return Diagnostic(
        "LB1001",
        f"the directory {directory} holds no manifest{more}",
        expected=f"files *{', *'.join(ENDINGS)}",
        found=directory,
        remedy="Name the directory that the manifests lie in, at any depth.",
    )


def declared_twice(tables: Iterable[TableManifest]) -> list[Diagnostic]:
    """An error for each table that another one of the same name stands before."""
    first: dict[tuple[str, str] | None, TableManifest] = {}
    found: list[Diagnostic] = []
    for table in tables:
        other = first.setdefault(split_table_name(table.name), table)
        if other is not table:
            where = f" in {other.position}" if other.position else ""
            message = f"the table {table.name!r} is declared twice; the first is{where or ' another manifest'}"
            remedy = "Keep one of the two."
            found.append(Diagnostic("LB1026", message, position=table.position, found=table.name, remedy=remedy))
    return found


def _unreadable(source: str, error: OSError | ValueError) -> Diagnostic:
    """Why a file could not be read, with files beside it that are named alike."""
    path = Path(source)
    try:
        others = [str(path.with_name(p.name)) for p in path.parent.iterdir() if p.suffix in (".yaml", ".yml", ".json")]
    except (OSError, ValueError):
        others = []
    missing = isinstance(error, FileNotFoundError)
    return Diagnostic(
        "LB1001",
        f"the file {source} cannot be read: {getattr(error, 'strerror', None) or error}",
        found=source,
        suggestions=near_names(source, others) if missing else (),
        remedy="Check the path; a relative one begins at the current directory." if missing else "Let it be read.",
    )


_BLOCK = "MetadataBlock"
_NAMELESS = "default.schema"


def parse_schema(
    text: str | bytes, *, source: str | None = None, substitutions: Substitutions | None = None
) -> TableManifest | Schema:
    """The schema in a YAML or JSON text of one document; bytes are UTF-8.

    A manifest and a metadata block give the whole table, a bare `DataSchema` (RFC-016) gives the schema.
    `source` is what positions call the text, usually a file's path. Raises `ManifestError` with all problems.
    """
    problems = Problems()
    decoded = decode_utf8(text, source, problems) if isinstance(text, bytes) else text
    documents = compose(decoded, source, problems) if decoded is not None else []
    if len(documents) != 1 and not problems.errors:
        at = Position(source, 1, 1)
        remedy = "Split it: one schema is converted at a time."
        problems.error("LB1020", f"one schema is expected, found {len(documents)} documents", at, remedy=remedy)
    found = _decode(documents[0], problems, substitutions) if documents else None
    problems.raise_if_any()
    if found is None:
        raise AssertionError("a document that declares nothing is a problem")
    return found


def twice(text: str, *, source: str | None = None) -> tuple[Diagnostic, ...]:
    """The keys that stand twice in an object of a JSON text, which readers of JSON pass over in silence."""
    problems = Problems()
    compose(text, source, problems)
    return problems.repeated_keys


def _decode(node: Node, problems: Problems, substitutions: Substitutions | None) -> TableManifest | Schema | None:
    if isinstance(node, MappingNode):
        values = {key.text: value for key, value in node.entries}
        if "fields" in values and "kind" not in values and "$schema" not in values:
            declared = SchemaDecoder(problems).decode(node, AttributePlace.ODF)
            return declared.schema if declared is not None else None
        event = _event_of_block(values)
        if event is not None:
            node = event
    return DocumentDecoder(problems, _NAMELESS, substitutions).decode(node)


def _event_of_block(values: dict[str, Node]) -> Node | None:
    """The event of a `kind: MetadataBlock`, as an event manifest of its own."""
    kind, content = values.get("kind"), values.get("content")
    if not (isinstance(kind, ScalarNode) and kind.text == _BLOCK and isinstance(content, MappingNode)):
        return None
    event = next((value for key, value in content.entries if key.text == "event"), None)
    if not isinstance(event, MappingNode):
        return None
    return SequenceNode((event,), event.position)


ENDINGS = (".yaml", ".yml")
#: How a manifest in JSON begins, and how much of a file is looked at.
_DECLARED_IN_JSON = re.compile(rb"""^\s*\{\s*"kind"\s*:\s*"(?:Table|DatasetSnapshot|MetadataEvent)\"""")
_HEAD = 4096
#: A declaration of a project's attributes may lie among the manifests, and is none.
_ATTRIBUTES = re.compile(rb"""^(?:["']?kind["']?\s*:\s*)["']?Attributes["']?\s*(?:#.*)?$""", re.MULTILINE)


def manifest_files(directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """The files `*.yaml` and `*.yml` below a directory, sorted by path.

    Hidden files and directories are left out, and so are declarations of a project's attributes, and what is no file: a
    pipe, a socket, a device. Links to files are taken, links to directories are not followed.
    """
    return tuple(path for path in _files_below(directory, ENDINGS) if not _declares_attributes(path))


def json_manifests(directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """The files `*.json` below a directory that look like manifests: commands take them by name only."""
    return tuple(path for path in _files_below(directory, (".json",)) if _looks_declared(path))


def _files_below(directory: str | os.PathLike[str], endings: tuple[str, ...]) -> list[str]:
    """The files below a directory whose names end so, sorted by path; see `manifest_files`."""
    found: list[str] = []
    for where, inner, names in os.walk(directory):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        named = (name for name in names if not name.startswith(".") and name.lower().endswith(endings))
        paths = (os.path.join(where, name) for name in named)
        found += [path.removeprefix("./") for path in paths if _is_file(path)]
    return sorted(found)


def _looks_declared(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return bool(_DECLARED_IN_JSON.search(file.read(_HEAD)))
    except OSError:
        return False


def _is_file(path: str) -> bool:
    """Whether it is a file, or a link to one; one to nothing is for the reader of manifests to report."""
    return os.path.isfile(path) or not os.path.exists(path)


def _declares_attributes(path: str) -> bool:
    """Whether a file does; one that cannot be read is for the reader of manifests to report."""
    try:
        return declares_attributes(Path(path).read_bytes())
    except OSError:
        return False


def declares_attributes(data: bytes) -> bool:
    """Whether the bytes of a file declare a project's attributes, and no table."""
    return bool(_ATTRIBUTES.search(data))

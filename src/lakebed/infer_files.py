"""Infer manifests from files and from tables of other formats.

    for found in infer_tables("warehouse/orders"):  # an Iceberg or Delta table, a file in any form
        print(found.manifest, found.report)

Files are read as `lakebed.schema_forms` reads them; of CSV and JSON lines the types are guessed from the first rows by
PyArrow. The ids of fields are left out: a table that is made anew gives its own.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lakebed.convert.arrow_hints import ARROW_METADATA
from lakebed.convert.loss import Loss, LossReport
from lakebed.errors import CorruptMetadataError, NotFoundError, UsageError
from lakebed.manifest import TableManifest
from lakebed.manifest.encode_manifest import ANNOTATIONS
from lakebed.model import Field, LogicalType, Schema, optional, required
from lakebed.model import types as logical
from lakebed.model.differences import DifferenceKind, differences
from lakebed.model.encoding import strip_encoding, without_attributes
from lakebed.model.extra import FIELD_ID, RENAMED_FROM
from lakebed.model.logical_tree import Path as ColumnPath
from lakebed.model.logical_tree import fold_at, places_inside, transform, with_children
from lakebed.physical import path_text
from lakebed.schema_forms import SchemaSource, form_of, read_schemas, told_as

#: How much of a file of rows is looked at, in bytes.
SAMPLE = 2**25
ROW_FORMS = {".csv": "csv", ".tsv": "csv", ".jsonl": "json-lines", ".ndjson": "json-lines"}
#: Files of rows, which make one table where a directory holds several.
_DATA = (".parquet", ".orc", ".arrow", ".feather", ".ipc", ".avro", *ROW_FORMS)
#: So many directories are named.
_MOST_NAMED = 5
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.[0-9a-f-]+|\.\d{10}\.\d{10})?\.(parquet|json)")
_METADATA = re.compile(r"v?(\d+)(?:-[^/]*)?\.(?:gz\.metadata\.json|metadata\.json(?:\.gz)?)")


@dataclass(frozen=True, slots=True)
class InferredTable:
    """A manifest, the form of what it was inferred from, and what a manifest does not say of that."""

    manifest: TableManifest
    form: str
    report: LossReport = field(default_factory=LossReport)


def infer_tables(
    source: str | os.PathLike[str], *, form: str | None = None, name: str | None = None
) -> tuple[InferredTable, ...]:
    """The tables that a file, a table's directory, or a directory of files declares.

    `form` is one of `lakebed.schema_forms.SOURCE_FORMS`, else told by what is there; `name` is the name of the only
    table. Raises `NotFoundError` (LB7009) for a path that is not there, `UsageError` for what tells no form, or for a
    `name` of several tables, and the errors of the form's reader.
    """
    path = Path(source)
    if not path.exists():
        raise NotFoundError.of("LB7009", f"{source}: No such file", remedy="give a file, a directory or a table")
    found = tuple(_of_directory(path)) if path.is_dir() else tuple(_of_file(path, form))
    if not found:
        inside = ", or one of its directories" if path.is_dir() and _directories(path) else ""
        remedy = f"name a file in it{inside}"
        raise UsageError.of("LB7050", f"nothing says which form of schema {source} holds", remedy=remedy)
    if name is None:
        return found
    if len(found) > 1:
        remedy = "leave the name out: each has its own"
        raise UsageError.of(
            "LB7055", f"{source} declares {len(found)} tables, which cannot have one name", remedy=remedy
        )
    return (replace(found[0], manifest=replace(found[0].manifest, name=name)),)


def infer_bytes(data: bytes, name: str, form: str | None = None) -> tuple[InferredTable, ...]:
    """The tables that the bytes of a file declare. `name` is the file's, which tells the form, and the table's name."""
    return tuple(_table(found, name) for found in read_schemas(data, form, name=name))


def _table(found: SchemaSource, name: str) -> InferredTable:
    """The manifest of a schema; without a name it is called as its file is."""
    schema = without_attributes(strip_encoding(found.schema), (FIELD_ID, RENAMED_FROM))
    schema = replace(schema, extra=schema.extra.without(ARROW_METADATA))
    called = found.name or Path(name).name.split(".")[0] or "table"
    options = {key: value for key, value in found.options.items() if key != ANNOTATIONS}
    manifest = TableManifest(called, schema, found.primary_keys, found.partition_keys, options)
    return InferredTable(manifest, found.form, found.report)


# --- files and directories --------------------------------------------------------------------------------------------


def _of_file(path: Path, form: str | None) -> Iterable[InferredTable]:
    rows = ROW_FORMS.get(path.suffix.lower()) if form is None else None
    if rows is not None:
        return (_of_rows(path, rows),)
    return infer_bytes(path.read_bytes(), str(path), form)


def _of_rows(path: Path, form: str) -> InferredTable:
    """The columns of a file of rows, each an `Option`: what the first rows have may be missing in the next."""
    with path.open("rb") as file:
        head = file.read(SAMPLE)
        whole = not file.read(1)
    head = head if whole else head[: head.rfind(b"\n") + 1]
    with told_as(form, str(path)):
        import pyarrow as pa

        from lakebed.convert.arrow import from_arrow

        schema, report = from_arrow(_GUESS[form](pa.BufferReader(head), path.suffix.lower()), strict=False)
    fields = tuple(replace(f, type=optional(transform(f.type, _known))) for f in schema.fields)
    return _table(SchemaSource(form, Schema(fields), report=report), path.name)


def _known(type_: LogicalType) -> LogicalType:
    """A column of nothing but NULL may become text."""
    return logical.String() if isinstance(type_, logical.Null) else type_


def _guess_csv(source: Any, ending: str) -> Any:
    from pyarrow import csv

    return csv.read_csv(source, parse_options=csv.ParseOptions(delimiter="\t" if ending == ".tsv" else ",")).schema


def _guess_json(source: Any, ending: str) -> Any:
    from pyarrow import json as arrow_json

    return arrow_json.read_json(source).schema


_GUESS: dict[str, Callable[[Any, str], Any]] = {"csv": _guess_csv, "json-lines": _guess_json}


def _of_directory(path: Path) -> Iterator[InferredTable]:
    """A table's directory is one table, and so are files of rows; every other file that says a schema is one."""
    if (path / "_delta_log").is_dir():
        yield _of_delta(path)
    elif (metadata := _newest_metadata(path / "metadata")) is not None:
        data = metadata.read_bytes()
        (found,) = infer_bytes(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, path.name, "iceberg")
        yield found
    elif versions := [p for p in (path / "schema").glob("schema-*") if p.name[7:].isdigit()]:
        newest = max(versions, key=lambda p: int(p.name[7:]))
        yield from infer_bytes(newest.read_bytes(), path.name, "paimon")
    else:
        yield from _passing_over(_directories(path), _of_files(path))


def _of_files(path: Path) -> Iterator[InferredTable]:
    files = [p for p in sorted(path.iterdir()) if p.is_file() and p.name[0] not in "._"]
    rows = [p for p in files if p.suffix.lower() in _DATA]
    if rows:
        yield from _of_row_files(path, rows)
    for file in files:
        if file not in rows:
            yield from _declared(file)


def _directories(path: Path) -> list[str]:
    return sorted(p.name for p in path.iterdir() if p.is_dir() and p.name[0] not in "._")


def _passing_over(directories: list[str], found: Iterator[InferredTable]) -> Iterator[InferredTable]:
    """The tables, of which the first tells the directories beside its files that nobody looked into."""
    first = next(found, None)
    if first is not None and directories:
        named = ", ".join(directories[:_MOST_NAMED]) + (", ..." if len(directories) > _MOST_NAMED else "")
        loss = Loss("", f"what is in the directories {named}; infer each by its own name")
        first = replace(first, report=LossReport((*first.report.losses, loss)))
    if first is not None:
        yield first
    yield from found


def _declared(file: Path) -> Iterable[InferredTable]:
    """What a file declares; one that says no schema, or is a manifest already, declares nothing here."""
    data = file.read_bytes()
    form = form_of(file.name, data)
    return () if form in (None, "odf-yaml", "odf-json") else infer_bytes(data, str(file), form)


def _of_row_files(path: Path, files: list[Path]) -> Iterator[InferredTable]:
    """One table with the columns of all files; a column whose type differs has that of the first."""
    (first,) = _of_file(files[0], None)
    schema, losses = first.manifest.schema, list(first.report.losses)
    for file in files[1:]:
        (more,) = _of_file(file, None)
        losses += [Loss(where, f"{what} of {file.name}") for where, what in other_types(schema, more.manifest.schema)]
        schema = with_new_columns(schema, more.manifest.schema)
    yield InferredTable(TableManifest(path.resolve().name, schema), first.form, LossReport(tuple(losses)))


# --- Delta and Iceberg ------------------------------------------------------------------------------------------------


def _of_delta(path: Path) -> InferredTable:
    """A Delta table by the newest `metaData` action of its log: in a commit, or in the checkpoint before it."""
    commits: dict[int, Path] = {}
    checkpoints: dict[int, list[Path]] = {}
    for file in sorted((path / "_delta_log").iterdir()):
        if found := _COMMIT.fullmatch(file.name):
            commits[int(found[1])] = file
        elif found := _CHECKPOINT.fullmatch(file.name):
            checkpoints.setdefault(int(found[1]), []).append(file)
    for version in sorted({*commits, *checkpoints}, reverse=True):
        files = [commits[version]] if version in commits else []
        for file in (*files, *checkpoints.get(version, ())):
            with told_as("delta", str(file)):
                action = _metadata_action(file)
            if action is not None:
                (table,) = infer_bytes(json.dumps(action).encode(), path.resolve().name, "delta")
                return table
    message = f"the log of the Delta table {path} has no metaData"
    raise CorruptMetadataError.of("LB7052", message, remedy="name the directory that `_delta_log` lies in")


def _metadata_action(file: Path) -> dict[str, Any] | None:
    """The last `metaData` action of a commit or of a checkpoint."""
    if file.suffix == ".json":
        lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
        listed = [line["metaData"] for line in lines if line.get("metaData")]
    else:
        from pyarrow import parquet

        actions = parquet.read_table(file, columns=["metaData"]).column("metaData").to_pylist()
        listed = [{**a, "configuration": dict(a.get("configuration") or ())} for a in actions if a]
    return listed[-1] if listed else None


def _newest_metadata(directory: Path) -> Path | None:
    """The metadata of an Iceberg table: of the version that the hint names, else the highest."""
    if not directory.is_dir():
        return None
    found = {p: int(m[1]) for p in directory.iterdir() if (m := _METADATA.fullmatch(p.name))}
    hint = directory / "version-hint.text"
    named = hint.read_text(encoding="utf-8").strip() if hint.is_file() else ""
    hinted = [p for p, version in found.items() if named.isdigit() and version == int(named)]
    return max(hinted or found, key=lambda p: (found[p], p.name), default=None)


# --- more columns for a manifest --------------------------------------------------------------------------------------


def with_new_columns(declared: Schema, found: Schema) -> Schema:
    """The declared schema with the columns and members of structs that only the other has: behind, as `Option`."""
    columns = logical.Struct(found.fields)
    others = dict(places_inside(columns))

    def combine(type_: LogicalType, path: ColumnPath, parts: tuple[LogicalType, ...]) -> LogicalType:
        made, other = with_children(type_, parts), others.get(path)
        if not isinstance(made, logical.Struct) or other is None:
            return made
        inside = required(other)
        named = {member.name for member in made.fields}
        return logical.Struct((*made.fields, *_new(inside, named)))

    merged = fold_at(logical.Struct(declared.fields), (), combine)
    assert isinstance(merged, logical.Struct)
    return Schema(merged.fields, declared.extra)


def _new(struct: LogicalType, known: set[str]) -> Iterator[Field]:
    if isinstance(struct, logical.Struct):
        yield from (replace(f, type=optional(f.type)) for f in struct.fields if f.name not in known)


def other_types(declared: Schema, found: Schema) -> Iterator[tuple[str, str]]:
    """The paths at which both schemas have a type, and another one; and what is found there."""
    from lakebed.model.type_name import type_name

    for d in differences(declared, found):
        if d.kind is DifferenceKind.TYPE and isinstance(d.after, LogicalType):
            yield path_text(d.path), f"the type {type_name(d.after, members=False)}"

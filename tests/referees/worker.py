"""The worker in the referees' environment: answers requests, one JSON object a line, until its input ends.

A request is `{"do": NAME, "args": {...}}`; the answer `{"result": ...}` or `{"error": {"type", "message", "trace"}}`.
"""

from __future__ import annotations

import enum
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from referees import encoding, filters, forms

Json = Any


def versions() -> Json:
    return {name: version(name) for name in ("pypaimon", "pypaimon-rust", "pyarrow")}


def options() -> Json:
    """The table options of pypaimon: name to kind, and its words where the kind is an enumeration."""
    from pypaimon.common.options.config_option import ConfigOption
    from pypaimon.common.options.core_options import CoreOptions

    found = {}
    for option in vars(CoreOptions).values():
        if isinstance(option, ConfigOption):
            kind = option._clazz
            words = [str(w.value) for w in kind] if isinstance(kind, type) and issubclass(kind, enum.Enum) else []
            found[option.key()] = {"kind": getattr(kind, "__name__", str(kind)), "words": words}
    return found


def _identifier(table: str, branch: str | None = None) -> str:
    return f"{table}$branch_{branch}" if branch else table


# --- pypaimon ---------------------------------------------------------------------------------------------------------


def _catalog(warehouse: str) -> Any:
    from pypaimon import CatalogFactory

    return CatalogFactory.create({"warehouse": warehouse})


def _python_table(warehouse: str, table: str, snapshot: int | None, branch: str | None, options: Json) -> Any:
    found = _catalog(warehouse).get_table(_identifier(table, branch))
    chosen = dict(options or {})
    if snapshot is not None:
        chosen["scan.snapshot-id"] = str(snapshot)
    return found.copy(chosen) if chosen else found


def _python_rows(table: Any, condition: Json, columns: list[str] | None) -> pa.Table:
    builder = table.new_read_builder()
    if condition:
        predicates = builder.new_predicate_builder()
        schema = _arrow_schema(table)

        def leaf(column: str, method: str, values: list[Any]) -> Any:
            literals = _literals(values, schema.field(column).type)
            return predicates._build_predicate(method, column, literals or None)

        def combine(word: str, parts: list[Any]) -> Any:
            return predicates.and_predicates(parts) if word == "and" else predicates.or_predicates(parts)

        builder = builder.with_filter(filters.build(condition, leaf, combine))
    if columns:
        builder = builder.with_projection(columns)
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())


def _arrow_schema(table: Any) -> pa.Schema:
    from pypaimon.schema.data_types import PyarrowFieldParser

    return PyarrowFieldParser.from_paimon_schema(table.fields)


def _literals(values: list[Any], kind: pa.DataType) -> list[Any]:
    """Values as Python objects: through an Arrow array, so that a timestamp is a datetime."""
    return pa.array([encoding.decode(value, kind) for value in values], type=kind).to_pylist()


# --- pypaimon-rust ----------------------------------------------------------------------------------------------------


def _rust_table(warehouse: str, table: str, branch: str | None) -> Any:
    from pypaimon_rust.datafusion import PaimonCatalog

    return PaimonCatalog({"warehouse": warehouse}).get_table(_identifier(table, branch))


def _rust_rows(
    warehouse: str,
    table: str,
    condition: Json,
    columns: list[str] | None,
    snapshot: int | None,
    branch: str | None,
    tag: str | None,
) -> pa.Table | list[Any]:
    found = _rust_table(warehouse, table, branch)
    travel = {"scan.snapshot-id": str(snapshot)} if snapshot is not None else {"scan.tag-name": tag} if tag else None
    builder = found.new_read_builder(travel)
    if condition:
        # The literals need Arrow types, which pypaimon knows for the same schema file.
        schema = _arrow_schema(_python_table(warehouse, table, snapshot, branch, None))

        def leaf(column: str, method: str, values: list[Any]) -> Any:
            return {"method": method, "field": column, "literals": _literals(values, schema.field(column).type)}

        builder = builder.with_filter(
            filters.build(condition, leaf, lambda word, parts: {"method": word, "children": parts})
        )
    if columns:
        builder = builder.with_projection(columns)
    return _one_table(builder.new_read().read(builder.new_scan().plan().splits()))


def _one_table(batches: list[pa.RecordBatch]) -> pa.Table | list[Any]:
    return pa.Table.from_batches(batches) if batches else []


def sql(warehouse: str, text: str) -> Json:
    from pypaimon_rust.datafusion import SQLContext

    context = SQLContext()
    context.register_catalog("lake", {"warehouse": warehouse}, "")
    context.set_current_catalog("lake")
    return _encoded(_one_table(context.sql(text)))


# --- requests ---------------------------------------------------------------------------------------------------------


def _encoded(answer: pa.Table | list[Any]) -> Json:
    return encoding.arrow_rows(answer) if isinstance(answer, pa.Table) else answer


def rows(
    reader: str,
    warehouse: str,
    table: str,
    filter: Json = None,
    columns: list[str] | None = None,
    snapshot: int | None = None,
    branch: str | None = None,
    tag: str | None = None,
) -> Json:
    if reader == "rust":
        return _encoded(_rust_rows(warehouse, table, filter, columns, snapshot, branch, tag))
    options = {"scan.tag-name": tag} if tag else None
    return _encoded(_python_rows(_python_table(warehouse, table, snapshot, branch, options), filter, columns))


def columns(warehouse: str, table: str, snapshot: int | None = None, branch: str | None = None) -> Json:
    found = _python_table(warehouse, table, snapshot, branch, None)
    return [[field.name, _type_text(field.type.to_dict())] for field in found.fields]


def _type_text(kind: Json) -> str:
    """A type's JSON as one text, nested types included; their nullability is left out."""
    if isinstance(kind, str):
        return kind
    name = kind["type"].split()[0]
    match name:
        case "ROW":
            inner = ", ".join(
                "`{}` {}".format(f["name"].replace("`", "``"), _type_text(f["type"])) for f in kind["fields"]
            )
        case "MAP":
            inner = f"{_type_text(kind['key'])}, {_type_text(kind['value'])}"
        case _:
            inner = _type_text(kind["element"])
    return f"{name}<{inner}>"


def create(
    warehouse: str,
    table: str,
    fields: Json,
    partition_keys: list[str],
    primary_keys: list[str],
    options: dict[str, str],
    comment: str | None,
) -> Json:
    from pypaimon import Schema
    from pypaimon.schema.data_types import AtomicInteger, DataTypeParser

    ids = AtomicInteger(-1)
    parsed = [DataTypeParser.parse_data_field(_without_ids(field), ids) for field in fields]
    catalog = _catalog(warehouse)
    catalog.create_database(table.split(".")[0], True)
    catalog.create_table(table, Schema(parsed, partition_keys, primary_keys, options, comment), False)
    return None


def _without_ids(value: Json) -> Json:
    """Field definitions with all ids taken out: pypaimon then numbers them, parents first."""
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items() if key != "id"}
    return [_without_ids(item) for item in value] if isinstance(value, list) else value


def append(
    warehouse: str,
    table: str,
    rows: Json = None,
    file: str | None = None,
    branch: str | None = None,
    options: Json = None,
    writer: str = "pypaimon",
    overwrite: Json = None,
) -> Json:
    target = _python_table(warehouse, table, None, branch, options)
    if file is not None:
        with pa.ipc.open_file(file) as reader:
            data = reader.read_all()
    else:
        data = encoding.arrow_table(rows, _arrow_schema(target))
    builder = (_rust_table(warehouse, table, branch) if writer == "rust" else target).new_batch_write_builder()
    if overwrite is not None:
        builder = builder.overwrite(overwrite)
    write, commit = builder.new_write(), builder.new_commit()
    try:
        # pypaimon-rust takes batches only.
        for part in data.combine_chunks().to_batches() if writer == "rust" else [data]:
            write.write_arrow(part)
        commit.commit(write.prepare_commit())
    finally:
        write.close()
        commit.close()
    return data.num_rows


def change_rows(warehouse: str, table: str, steps: Json) -> Json:
    """Commits of pypaimon to a table with row tracking, one a step, in the form of `Referees.change_rows`."""
    for step in steps:
        target = _python_table(warehouse, table, None, None, step.get("options"))
        builder = target.new_batch_write_builder()
        commit = builder.new_commit()
        if "delete" in step:
            messages = builder.new_update().delete_by_row_id(step["delete"])
        else:
            columns = step["columns"]
            kinds = {f.name: f.type for f in _arrow_schema(target)} | {"_ROW_ID": pa.int64()}
            data = encoding.arrow_table(step["rows"], pa.schema([(c, kinds[c]) for c in columns]))
            if "_ROW_ID" in columns:
                update = builder.new_update().with_update_type([c for c in columns if c != "_ROW_ID"])
                messages = update.update_by_arrow_with_row_id(data)
            else:
                write = builder.new_write().with_write_type(columns)
                write.write_arrow(data)
                messages = write.prepare_commit()
                write.close()
        commit.commit(messages)
        commit.close()
    return None


def alter(warehouse: str, table: str, changes: Json) -> Json:
    _catalog(warehouse).alter_table(table, [_change(change) for change in changes])
    return None


def evolve(cases: Json) -> Json:
    """For each schema and list of changes: pypaimon's next schema, or why it refuses. No table is kept."""
    out: list[Json] = []
    with tempfile.TemporaryDirectory() as root:
        catalog = _catalog(root)
        for number, case in enumerate(cases):
            directory = Path(root, "db.db", f"t{number}", "schema")
            directory.mkdir(parents=True)
            (directory / "schema-0").write_text(json.dumps(case["schema"]), encoding="utf-8")
            try:
                catalog.alter_table(f"db.t{number}", [_change(change) for change in case["changes"]])
            except Exception as error:
                out.append({"refused": f"{type(error).__name__}: {error}"})
                continue
            newest = max(directory.iterdir(), key=lambda file: int(file.name.removeprefix("schema-")))
            out.append({"schema": json.loads(newest.read_text(encoding="utf-8"))})
    return out


def _change(change: Json) -> Any:
    """A change in its REST JSON form as pypaimon's object."""
    from pypaimon.schema import schema_change as sc

    def move(value: Json) -> Any:
        if value is None:
            return None
        return sc.Move(value["fieldName"], value.get("referenceFieldName"), sc.MoveType(value["type"].upper()))

    names = change.get("fieldNames")
    match change["action"]:
        case "setOption":
            return sc.SetOption(change["key"], change["value"])
        case "removeOption":
            return sc.RemoveOption(change["key"])
        case "updateComment":
            return sc.UpdateComment(change.get("comment"))
        case "addColumn":
            return sc.AddColumn(names, _data_type(change["dataType"]), change.get("comment"), move(change.get("move")))
        case "renameColumn":
            return sc.RenameColumn(names, change["newName"])
        case "dropColumn":
            return sc.DropColumn(names)
        case "updateColumnType":
            return sc.UpdateColumnType(names, _data_type(change["newDataType"]), change.get("keepNullability", False))
        case "updateColumnNullability":
            return sc.UpdateColumnNullability(names, change["newNullability"])
        case "updateColumnComment":
            return sc.UpdateColumnComment(names, change.get("newComment"))
        case "updateColumnPosition":
            return sc.UpdateColumnPosition(move(change["move"]))
        case other:
            raise ValueError(f"pypaimon does not know the change {other}")


def _data_type(kind: Json) -> Any:
    from pypaimon.schema.data_types import AtomicInteger, DataTypeParser

    return DataTypeParser.parse_data_type(_without_ids(kind), AtomicInteger(-1))


REQUESTS: dict[str, Callable[..., Json]] = {
    f.__name__: f
    for f in (versions, options, rows, columns, sql, create, append, change_rows, alter, evolve, forms.read_form)
}


def serve(requests: Iterable[str], answer: Callable[[Json], None]) -> None:
    """Answers each line; a failing request is an answer too."""
    for line in requests:
        request = json.loads(line)
        try:
            answer({"result": REQUESTS[request["do"]](**request["args"])})
        except BaseException as error:  # Rust panics are no Exceptions
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            answer({"error": {"type": type(error).__name__, "message": str(error), "trace": traceback.format_exc()}})


def main() -> None:
    # The libraries print: only answers may go to what was standard output.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(value: Json) -> None:
        channel.write(json.dumps(value) + "\n")
        channel.flush()

    serve(sys.stdin, answer)


if __name__ == "__main__":
    main()

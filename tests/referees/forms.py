"""Reads schemas of other forms by the libraries of those who made the forms, in the referees' environment."""

from __future__ import annotations

import json
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

Json = Any


def read_form(form: str, text: str) -> Json:
    """What the library of a form reads. It raises for what is no schema of that form."""
    return {"iceberg": _iceberg, "delta": _delta, "odcs": _odcs, "protobuf": _protobuf}[form](text)


def _iceberg(text: str) -> Json:
    from pyiceberg.schema import Schema

    schema = Schema.model_validate_json(text)
    return {
        "columns": [[f.field_id, f.name, f.required, f.doc] for f in schema.fields],
        "key": list(schema.identifier_field_ids),
        "highest": schema.highest_field_id,
    }


def _delta(text: str) -> Json:
    from deltalake import Schema

    return {"columns": [[f.name, f.nullable, f.metadata.get("comment")] for f in Schema.from_json(text).fields]}


def _odcs(text: str) -> Json:
    """Validated by the standard's own JSON Schema, which the library brings along."""
    import jsonschema
    import yaml

    value = yaml.safe_load(text)
    schema = json.loads((files("open_data_contract_standard") / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(value)
    (table,) = value["schema"]
    return {"columns": [[p["name"], bool(p.get("required"))] for p in table["properties"]]}


def _protobuf(text: str) -> Json:
    """By protoc: the messages by their names, their fields by number, name in JSON, and whether they are repeated."""
    import grpc_tools
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "x.proto").write_text(text, encoding="utf-8")
        known = Path(grpc_tools.__file__).parent / "_proto"
        made = Path(directory) / "x.bin"
        arguments = ["protoc", f"-I{known}", f"-I{directory}", f"--descriptor_set_out={made}", f"{directory}/x.proto"]
        if protoc.main(arguments) != 0:
            raise ValueError("protoc refuses the file")
        (file,) = FileDescriptorSet.FromString(made.read_bytes()).file
    (message,) = file.message_type
    reserved = [n for r in message.reserved_range for n in range(r.start, r.end)]
    columns = [[f.number, f.json_name, f.label == f.LABEL_REPEATED, f.proto3_optional] for f in message.field]
    return {"package": file.package, "name": message.name, "columns": columns, "reserved": reserved}

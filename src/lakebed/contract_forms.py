"""Read and write the forms that say more of a table than its columns: Iceberg, Delta, Avro, data contracts.

`lakebed.schema_forms` is the registry of all forms, these among them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lakebed.diagnostics import Position
from lakebed.errors import ManifestError

if TYPE_CHECKING:
    from lakebed.convert.contract import Contract
    from lakebed.convert.loss import LossReport

READ_FORMS = ("iceberg", "delta", "avro", "json-schema", "odcs", "dbt")
WRITTEN_FORMS = (*READ_FORMS, "protobuf")
#: The forms that have a place for the ids of fields: those of a stored table go into it.
IDENTIFIED_FORMS = frozenset({"iceberg", "delta", "avro", "protobuf"})


def parse_json(data: bytes, name: str) -> Any:
    """The value of a JSON text. Raises `ManifestError` for a key that stands twice, as for a manifest."""
    value = json.loads(data)
    refuse_repeated_keys(data.decode(json.detect_encoding(data)), name)
    return value


def refuse_repeated_keys(content: str, name: str) -> None:
    """Raise `ManifestError` for a key that stands twice in an object of a JSON text."""
    from lakebed.manifest.load import twice

    found = twice(content, source=name)
    if found:
        raise ManifestError(*found)


def parse_yaml(data: bytes, name: str) -> Any:
    """The value of a YAML text of one document. Raises `ManifestError`, as for a manifest."""
    from lakebed.manifest.node_values import json_value
    from lakebed.manifest.parse_yaml import compose, decode_utf8
    from lakebed.manifest.problems import Problems

    problems = Problems()
    text = decode_utf8(data, name, problems)
    documents = compose(text, name, problems) if text is not None else []
    if len(documents) != 1 and not problems.errors:
        at = Position(name, 1, 1)
        message = f"one document is expected, found {len(documents)}"
        problems.error("LB1020", message, at, remedy="Split the file: one document is read at a time.")
    value = json_value(documents[0], problems) if documents else None
    problems.raise_if_any()
    return value


def read_contract(data: bytes, form: str, *, name: str) -> tuple[Contract, LossReport]:
    """What the bytes of a file in one of `READ_FORMS` declare. `name` is what messages call them.

    Raises `ConversionError` (LB2604) where that are several tables.
    """
    from lakebed.convert.contract import only_table

    return only_table(read_contracts(data, form, name=name))


def read_contracts(data: bytes, form: str, *, name: str) -> tuple[tuple[Contract, LossReport], ...]:
    """The same of each table: `odcs` and `dbt` may declare several in one file."""
    match form:
        case "iceberg":
            from lakebed.convert.iceberg import from_iceberg

            return (from_iceberg(parse_json(data, name)),)
        case "delta":
            from lakebed.convert.delta import from_delta

            return (from_delta(parse_json(data, name)),)
        case "json-schema":
            from lakebed.convert.row_schema import from_row_schema

            return (from_row_schema(parse_json(data, name)),)
        case "odcs":
            from lakebed.convert.odcs import tables_of_odcs

            return tables_of_odcs(parse_yaml(data, name))
        case "dbt":
            from lakebed.convert.dbt import tables_of_dbt

            return tables_of_dbt(parse_yaml(data, name))
        case _:
            return (_read_avro(data, name),)


def _read_avro(data: bytes, name: str) -> tuple[Contract, LossReport]:
    """A schema of Avro (`.avsc`), or that of a file of rows (`.avro`)."""
    from lakebed.convert.avro import from_avro
    from lakebed.format.avro_container import MAGIC, read_header

    return from_avro(read_header(data).schema if data.startswith(MAGIC) else parse_json(data, name))


def write_contract(contract: Contract, form: str) -> tuple[str, LossReport]:
    """The text of a contract in one of `WRITTEN_FORMS`, and what it does not say."""
    from lakebed.convert.avro import to_avro
    from lakebed.convert.dbt import to_dbt
    from lakebed.convert.delta import to_delta
    from lakebed.convert.iceberg import to_iceberg
    from lakebed.convert.odcs import to_odcs
    from lakebed.convert.protobuf import to_protobuf
    from lakebed.convert.row_schema import to_row_schema
    from lakebed.manifest.yaml_text import yaml_text

    in_json = {"iceberg": to_iceberg, "delta": to_delta, "avro": to_avro, "json-schema": to_row_schema}
    if form in in_json:
        made, report = in_json[form](contract)
        return json.dumps(made, ensure_ascii=False, indent=2), report
    if form == "protobuf":
        return to_protobuf(contract)
    made, report = {"odcs": to_odcs, "dbt": to_dbt}[form](contract)
    return yaml_text(made).rstrip("\n"), report

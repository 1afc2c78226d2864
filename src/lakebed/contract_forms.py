"""Read and write the forms that declare a table besides its columns: Iceberg, Delta, Avro, JSON Schema.

`lakebed.schema_forms` is the registry of all forms, these among them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lakebed.errors import ManifestError

if TYPE_CHECKING:
    from lakebed.convert.contract import Contract
    from lakebed.convert.loss import LossReport

READ_FORMS = ("iceberg", "delta", "avro", "json-schema")
WRITTEN_FORMS = READ_FORMS
#: The forms that have a place for the ids of fields: those of a stored table go into it.
IDENTIFIED_FORMS = frozenset({"iceberg", "delta", "avro"})


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


def read_contract(data: bytes, form: str, *, name: str) -> tuple[Contract, LossReport]:
    """What the bytes of a file in one of `READ_FORMS` declare. `name` is what messages call them."""
    match form:
        case "iceberg":
            from lakebed.convert.iceberg import from_iceberg

            return from_iceberg(parse_json(data, name))
        case "delta":
            from lakebed.convert.delta import from_delta

            return from_delta(parse_json(data, name))
        case "json-schema":
            from lakebed.convert.row_schema import from_row_schema

            return from_row_schema(parse_json(data, name))
        case _:
            return _read_avro(data, name)


def _read_avro(data: bytes, name: str) -> tuple[Contract, LossReport]:
    """A schema of Avro (`.avsc`), or that of a file of rows (`.avro`)."""
    from lakebed.convert.avro import from_avro
    from lakebed.format.avro_container import MAGIC, read_header

    return from_avro(read_header(data).schema if data.startswith(MAGIC) else parse_json(data, name))


def write_contract(contract: Contract, form: str) -> tuple[str, LossReport]:
    """The text of a contract in one of `WRITTEN_FORMS`, and what it does not say."""
    from lakebed.convert.avro import to_avro
    from lakebed.convert.delta import to_delta
    from lakebed.convert.iceberg import to_iceberg
    from lakebed.convert.row_schema import to_row_schema

    writers = {"iceberg": to_iceberg, "delta": to_delta, "avro": to_avro, "json-schema": to_row_schema}
    made, report = writers[form](contract)
    return json.dumps(made, ensure_ascii=False, indent=2), report

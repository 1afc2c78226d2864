"""Write rows in their stored forms as Avro data files, as Java writers of the table format write them.

Numbers go into the files as such: the library knows nothing of logical types, whose Python values end at the year 9999.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from lakebed.arrow.write_task import WriteTask
from lakebed.format.avro_container import read_header, with_schema, without_logical_types
from lakebed.format.avro_schemas import avro_codec
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import fold
from lakebed.physical.paimon_types import DataField, DataType
from lakebed.store import Output

_NAME = "org.apache.paimon.avro.generated.record"
_BLOCK = 64_000
_EXACT = Context(prec=100)
_MILLIS = 3
_LEAVES: dict[type[DataType], Any] = {
    physical.Boolean: "boolean",
    physical.TinyInt: "int",
    physical.SmallInt: "int",
    physical.Int: "int",
    physical.BigInt: "long",
    physical.Float: "float",
    physical.Double: "double",
    physical.Char: "string",
    physical.VarChar: "string",
    physical.Binary: "bytes",
    physical.VarBinary: "bytes",
    physical.Date: {"type": "int", "logicalType": "date"},
    physical.Time: {"type": "int", "logicalType": "time-millis"},
}
#: From a value as PyArrow gives it to one for the library; None where it is the same.
_Encode = Callable[[Any], Any] | None


class AvroWriter:
    """Writes Avro, record by record."""

    def __init__(self, output: Output, fields: Sequence[DataField], task: WriteTask) -> None:
        from fastavro.write import Writer

        self._output: Output | None = output
        self._blocks = io.BytesIO()
        form = _row(fields)
        self._names = [f.name for f in fields]
        self._encoders = [None if e is None else _of_present(e) for e in (_form_of(f.type).encode for f in fields)]
        schema = form.schema(_Names(), _NAME)
        self._writer = Writer(
            self._blocks,
            without_logical_types(schema),
            codec=avro_codec(task.compression),
            compression_level=task.zstd_level,
            sync_interval=_BLOCK,
        )
        plain = self._blocks.getvalue()
        self._hand_on(with_schema(plain, read_header(plain), schema))

    def write(self, rows: pa.Table) -> None:
        """Write rows, as blocks of their own."""
        columns = [_values(c, e) for c, e in zip(rows.columns, self._encoders, strict=True)]
        for record in zip(*columns, strict=True):
            self._writer.write(dict(zip(self._names, record, strict=True)))
        self.close()

    def close(self) -> None:
        """Write the last block."""
        self._writer.flush()
        self._hand_on(self._blocks.getvalue())

    def let_go(self) -> None:
        """Let the file go: nothing is written but when asked."""
        self._output = None

    def _hand_on(self, data: bytes) -> None:
        self._blocks.seek(0)
        self._blocks.truncate()
        if data and self._output is not None:
            self._output.write(data)


def _values(column: pa.ChunkedArray, encode: _Encode) -> list[Any]:
    values: list[Any] = column.cast(_raw_type(column.type)).to_pylist()
    return values if encode is None else [encode(v) for v in values]


def _raw_type(type_: pa.DataType) -> pa.DataType:
    """The type with numbers for days, times and moments."""
    if pa.types.is_struct(type_):
        return pa.struct([f.with_type(_raw_type(f.type)) for f in type_])
    if pa.types.is_map(type_):
        return pa.map_(_raw_type(type_.key_type), type_.item_field.with_type(_raw_type(type_.item_type)))
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_raw_type(type_.value_type)))
    if pa.types.is_date32(type_) or pa.types.is_time32(type_):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(type_) else type_


# --- schemas ----------------------------------------------------------------------------------------------------------


class _Names:
    """The names of records in a schema, each of which may be defined once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        """The name, or one made of it that is not taken."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Form:
    """How values of a type lie in a file. `schema` makes their schema, without NULL, of a name for records in it."""

    schema: Callable[[_Names, str], Any]
    encode: _Encode = None
    nullable: bool = True

    def nullable_schema(self, names: _Names, name: str) -> Any:
        """The schema of the values, with NULL where the type has it."""
        found = self.schema(names, name)
        return ["null", found] if self.nullable else found


def _form_of(type_: DataType) -> _Form:
    return fold(type_, lambda part, inner: replace(_form(part, inner), nullable=part.nullable))


def _form(type_: DataType, inner: tuple[_Form, ...]) -> _Form:
    match type_:
        case physical.Row():
            return _record(type_.fields, inner)
        case physical.Array():
            return _array(inner[0])
        case physical.Map():
            return _map(type_.key, *inner)
        case physical.Multiset():
            return _map(type_.element, inner[0], _Form(lambda *_: "int"))
        case physical.Decimal(precision=precision, scale=scale):
            schema = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
            return _Form(lambda *_: schema, lambda v: _unscaled(v, scale))
        case physical.Timestamp() | physical.LocalZonedTimestamp():
            # Java writers mark the two kinds the other way round than Avro means it.
            local = "local-" if isinstance(type_, physical.LocalZonedTimestamp) else ""
            unit = "millis" if type_.precision <= _MILLIS else "micros"
            stamp = {"type": "long", "logicalType": f"{local}timestamp-{unit}"}
            return _Form(lambda *_: stamp)
        case _:
            leaf = _LEAVES[type(type_)]
            return _Form(lambda *_: leaf)


def _row(fields: Sequence[DataField]) -> _Form:
    return _record(fields, [_form_of(f.type) for f in fields])


def _record(fields: Sequence[DataField], forms: Sequence[_Form]) -> _Form:
    def schema(names: _Names, name: str) -> Any:
        own = names.new(name)
        members = [_member(f.name, form, names, name) for f, form in zip(fields, forms, strict=True)]
        return {"type": "record", "name": own, "fields": members}

    changes = [(f.name, _of_present(form.encode)) for f, form in zip(fields, forms, strict=True) if form.encode]
    if not changes:
        return _Form(schema)
    return _Form(schema, lambda value: value | {name: change(value[name]) for name, change in changes})


def _member(member: str, form: _Form, names: _Names, name: str) -> dict[str, Any]:
    found = {"name": member, "type": form.nullable_schema(names, f"{name}_{member}")}
    return found | {"default": None} if form.nullable else found


def _array(element: _Form) -> _Form:
    def schema(names: _Names, name: str) -> Any:
        return {"type": "array", "items": element.nullable_schema(names, name)}

    if element.encode is None:
        return _Form(schema)
    change = _of_present(element.encode)
    return _Form(schema, lambda values: [change(v) for v in values])


def _map(key_type: DataType, key: _Form, value: _Form) -> _Form:
    """A map with text keys is one in Avro; any other is an array of key and value."""
    encode_key, encode_value = (_of_present(f.encode) if f.encode else _same for f in (key, value))
    if isinstance(key_type, physical.Char | physical.VarChar):
        return _Form(
            lambda names, name: {"type": "map", "values": value.nullable_schema(names, name)},
            lambda pairs: {k: encode_value(v) for k, v in pairs},
        )

    def schema(names: _Names, name: str) -> Any:
        entry = {"type": "record", "name": names.new(name)}
        members = [_member("key", key, names, name), _member("value", value, names, name)]
        return {"type": "array", "items": entry | {"fields": members}, "logicalType": "map"}

    return _Form(schema, lambda pairs: [{"key": encode_key(k), "value": encode_value(v)} for k, v in pairs])


def _of_present(encode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else encode(value)


def _same(value: Any) -> Any:
    return value


def _unscaled(value: Decimal, scale: int) -> bytes:
    number = int(value.scaleb(scale, _EXACT))
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)

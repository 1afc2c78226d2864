"""Read which partitions a caller means: `day=2024-01-01/region=eu`, or values by partition key.

Values that are texts are understood as a filter understands texts that are compared with the column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal as Number
from typing import Any, TypeAlias

from lakebed.catalog.options import PARTITION_DEFAULT_NAME
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UsageError
from lakebed.format import binary_row
from lakebed.format.partition import DEFAULT_NAME
from lakebed.model import canonical_json
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField, DataType, type_line
from lakebed.read.literals import Literal, LiteralKind, bind, from_python, single

NOT_PARTITIONED = "LB5100"
UNKNOWN_KEY = "LB5101"
NO_PARTITION = "LB5102"
NO_SUCH_VALUE = "LB5103"

#: A partition as callers name it: values by partition key, or `key=value`, several with a slash between.
NamedPartition: TypeAlias = Mapping[str, Any] | str
#: The same in internal values.
Spec: TypeAlias = dict[str, Any]


def partition_specs(
    schema: TableSchema, partitions: NamedPartition | Iterable[NamedPartition], *, time_zone: str
) -> tuple[Spec, ...]:
    """The partitions in internal values; of keys that are not named any value is meant.

    Raises UsageError with everything that is wrong about them, and where none is named. `time_zone` is that of instants
    that say none.
    """
    if not schema.partition_keys:
        raise UsageError.of(
            NOT_PARTITIONED,
            "the table has no partitions",
            remedy="`lakebed truncate TABLE` removes all of its rows",
            python_remedy="truncate() removes all of its rows",
        )
    named = [partitions] if isinstance(partitions, Mapping | str) else list(partitions)
    if not named:
        raise _names_none("no partition is named", schema)
    problems: list[Diagnostic] = []
    specs = []
    for one in named:
        try:
            specs.append(_spec(schema, one, time_zone))
        except UsageError as error:
            problems += error.diagnostics
    if problems:
        raise UsageError(*problems)
    return tuple(specs)


def specs_text(specs: Iterable[Spec]) -> tuple[str, ...]:
    """The partitions as they are told in a snapshot, in an order of their own."""
    return tuple(sorted(canonical_json({k: None if v is None else str(v) for k, v in s.items()}) for s in specs))


def _spec(schema: TableSchema, named: NamedPartition, time_zone: str) -> Spec:
    values = _parts(schema, named) if isinstance(named, str) else dict(named)
    unknown = [key for key in values if key not in schema.partition_keys]
    if unknown:
        raise UsageError(*(_unknown_key(key, schema) for key in unknown))
    if not values:
        raise _names_none(f"{named!r} names no partition", schema)
    default = schema.options.get(PARTITION_DEFAULT_NAME, DEFAULT_NAME)
    fields = {f.name: f for f in schema.fields}
    return {k: None if v in (None, default) else _value(fields[k], v, time_zone) for k, v in values.items()}


def _parts(schema: TableSchema, text: str) -> dict[str, str]:
    """The values of `key=value/key=value`; a slash that no partition key follows belongs to a value."""
    keys = "|".join(map(re.escape, schema.partition_keys))
    found: dict[str, str] = {}
    for part in re.split(f"/(?=(?:{keys})=)", text):
        key, equals, value = part.partition("=")
        if not equals or key in found:
            problem = "says a partition key twice" if key in found else "is no partition"
            raise _names_none(f"{text!r} {problem}", schema)
        found[key] = value
    return found


def _value(field: DataField, value: Any, time_zone: str) -> Any:
    literal = _literal(field, value)
    bound = None if literal is None else bind(field, literal, time_zone=time_zone)
    stored = None if bound is None or not bound.exact else _stored(field.type, bound.low)
    if stored is None:
        raise UsageError.of(
            NO_SUCH_VALUE,
            f"{value!r} is no value of the partition key {field.name!r}",
            path=field.name,
            expected=type_line(field.type),
            found=repr(value),
            remedy=f"the system table `partitions` lists those that there are; {_EXAMPLES}",
        )
    return stored


def _stored(type_: DataType, value: Any) -> Any:
    """The value as a column of the type holds it; None where it cannot: a fraction in an INT, or too large."""
    codec, wanted = binary_row.codec((type_,)), value
    if isinstance(type_, physical.Decimal):
        wanted = Number(value)
        if abs(wanted) >= 10 ** (type_.precision - type_.scale):
            return None
    try:
        (found,) = codec.decode(codec.encode((wanted,)))
    except ValueError:
        return None
    return found if found == wanted else None


_EXAMPLES = "dates are written 2024-01-31, timestamps 2024-01-31 12:00:00, instants with Z or an offset after that"


def _literal(field: DataField, value: Any) -> Literal | None:
    """A value as SQL would have it; a text becomes what the column's type asks for where SQL knows no such text."""
    match value:
        case str():
            return _literal_of_text(field, value)
        case bool():
            return Literal(LiteralKind.BOOLEAN, value)
        case int():
            return Literal(LiteralKind.INTEGER, value)
        case float():
            return Literal(LiteralKind.DOUBLE, value)
        case Number():
            return Literal(LiteralKind.DECIMAL, value) if value.is_finite() else None
        case bytes():
            return Literal(LiteralKind.BINARY, value)
        case datetime():
            moment = from_python(value)
            return Literal(LiteralKind.TIMESTAMP_NTZ if moment.offset is None else LiteralKind.TIMESTAMP, moment)
        case date():
            return Literal(LiteralKind.DATE, from_python(value))
        case _:
            return None


_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)", re.ASCII)


def _literal_of_text(field: DataField, text: str) -> Literal | None:
    match field.type:
        case physical.Boolean():
            known = {"true": True, "false": False}.get(text.lower())
            return None if known is None else Literal(LiteralKind.BOOLEAN, known)
        case physical.Decimal():
            return Literal(LiteralKind.DECIMAL, Number(text)) if _NUMBER.fullmatch(text) else None
        case physical.Float():
            stored = single(text) if _NUMBER.fullmatch(text) else None
            return None if stored is None else Literal(LiteralKind.FLOAT, stored)
        case physical.Double():
            return Literal(LiteralKind.DOUBLE, float(text)) if _NUMBER.fullmatch(text) else None
        case physical.Binary() | physical.VarBinary():
            return Literal(LiteralKind.BINARY, text.encode())
        case _:
            return Literal(LiteralKind.STRING, text)


def _unknown_key(key: str, schema: TableSchema) -> Diagnostic:
    keys = schema.partition_keys
    what = "a column, and no partition key" if key in schema.field_names else "no partition key of the table"
    return Diagnostic(
        UNKNOWN_KEY,
        f"{key!r} is {what}",
        path=key,
        expected=" or ".join(keys),
        found=key,
        suggestions=near_names(key, keys),
        remedy=f"the partition keys are {', '.join(keys)}",
    )


def _names_none(message: str, schema: TableSchema) -> UsageError:
    example = "/".join(f"{key}=VALUE" for key in schema.partition_keys)
    return UsageError.of(
        NO_PARTITION,
        message,
        expected=example,
        remedy=f"name partitions as {example}, or by the first keys only; `lakebed truncate TABLE` removes all rows",
        python_remedy=f"name partitions by {', '.join(schema.partition_keys)}; truncate() removes all rows",
    )

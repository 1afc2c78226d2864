"""Define what is converted where a form says more than columns, and tell what came back differently.

A form that has no place for something loses it. What is lost is never listed by hand: each writer reads back what it
wrote, and every difference is a loss (`losses_between`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.paimon import repeated_names
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError
from lakebed.model import Field, Schema
from lakebed.model import types as logical
from lakebed.model.differences import Difference, DifferenceKind, differences
from lakebed.model.extra import DESCRIPTION, FIELD_ID
from lakebed.model.logical_tree import Path, fold_at, types_inside, with_children
from lakebed.model.type_name import type_name
from lakebed.model.types import LogicalType
from lakebed.physical import path_text


@dataclass(frozen=True, slots=True)
class Contract:
    """A schema with what is declared of its table: its name (`shop.orders`), keys by names of columns, and options.

    `highest_field_id` is the highest id that a field of a stored table ever had, -1 where that is not known.
    """

    schema: Schema
    name: str | None = None
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    highest_field_id: int = field(default=-1, compare=False)

    @classmethod
    def of(cls, declared: Schema | Contract) -> Contract:
        """A contract as it is, or of a schema alone."""
        return declared if isinstance(declared, Contract) else cls(declared)

    @property
    def description(self) -> str | None:
        """What the table is said to be."""
        return self.schema.extra.description


def refuse_broken(contract: Contract) -> None:
    """Raise `ConversionError` for what no form can say: names that stand twice, an Option of an Option."""
    problems = [*repeated_names(contract.schema.fields)]
    for column in contract.schema.fields:
        if any(
            isinstance(t, logical.Option) and isinstance(t.inner, logical.Option) for t in types_inside(column.type)
        ):
            message, remedy = "an Option of an Option means nothing", "leave one of them out"
            problems.append(Diagnostic("LB2104", message, path=path_text((column.name,)), remedy=remedy))
    if problems:
        raise ConversionError(*problems)


def only_table(found: Sequence[tuple[Contract, LossReport]]) -> tuple[Contract, LossReport]:
    """The only one of the tables of a file. Raises `ConversionError` (LB2604) where there are several, or none."""
    if len(found) != 1:
        names = ", ".join(str(contract.name) for contract, _ in found) or "none"
        remedy = "leave one in it, or have `lakebed infer` write a manifest of each"
        raise ConversionError.of("LB2604", f"one table is expected, found {len(found)}", found=names, remedy=remedy)
    return found[0]


def losses_between(wanted: Contract, found: Contract) -> LossReport:
    """What of a contract did not come back. More than was there, such as field ids that were given, is no loss."""
    lost = [Loss("", f"the {what}") for what in _lost_of_table(wanted, found)]
    lost += [loss for d in differences(wanted.schema, found.schema) for loss in _loss(d)]
    return LossReport(tuple(lost))


def _lost_of_table(wanted: Contract, found: Contract) -> Iterator[str]:
    if wanted.primary_keys != found.primary_keys:
        yield "primary key " + ", ".join(wanted.primary_keys)
    if wanted.partition_keys != found.partition_keys:
        yield "partition keys " + ", ".join(wanted.partition_keys)
    options = sorted(key for key, value in wanted.options.items() if found.options.get(key) != value)
    if options:
        yield "options " + ", ".join(options)


def _loss(d: Difference) -> Iterator[Loss]:
    path = path_text(d.path)
    match d.kind:
        case DifferenceKind.SCHEMA_ATTRIBUTE | DifferenceKind.ATTRIBUTE if d.before is not None:
            yield Loss(path, "the description" if d.attribute == DESCRIPTION else f"the attribute {d.attribute}")
        case DifferenceKind.BECAME_OPTIONAL:
            yield Loss(path, "that it is never null")
        case DifferenceKind.BECAME_REQUIRED:
            yield Loss(path, "that it may be null")
        case DifferenceKind.TYPE if isinstance(d.before, logical.List) and isinstance(d.after, logical.List):
            yield Loss(path, f"the fixed length {d.before.fixed_length}")
        case DifferenceKind.TYPE if isinstance(d.before, logical.Map) and isinstance(d.after, logical.Map):
            yield Loss(path, "that the keys are sorted")
        case DifferenceKind.TYPE:
            yield Loss(path, f"the type {_named(d.before)}, which is read as {_named(d.after)}")
        case DifferenceKind.REMOVED:
            yield Loss(path, "the field, or its name")
        case DifferenceKind.REORDERED:
            yield Loss(path, "its place among the others")
        case _:
            pass


def _named(type_: object) -> str:
    return type_name(type_, members=False) if isinstance(type_, LogicalType) else str(type_)


def with_field_ids(fields: Iterable[Field], ids: Mapping[Path, int]) -> tuple[Field, ...]:
    """The fields, at every level, pinned to ids by their paths; a field without one stays as it is."""
    return tuple(_identified(f, (f.name,), ids) for f in fields)


def _identified(of: Field, path: Path, ids: Mapping[Path, int]) -> Field:
    def combine(type_: LogicalType, at: Path, parts: tuple[LogicalType, ...]) -> LogicalType:
        made = with_children(type_, parts)
        return (
            logical.Struct(tuple(pinned(f, (*at, f.name)) for f in made.fields))
            if isinstance(made, logical.Struct)
            else made
        )

    def pinned(member: Field, at: Path) -> Field:
        return replace(member, extra=member.extra.merged({FIELD_ID: ids[at]})) if at in ids else member

    return pinned(replace(of, type=fold_at(of.type, path, combine)), path)

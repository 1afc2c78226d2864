"""The 24 types: a closed set, nullability by `Option` only, equality that knows the defaults."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

from lakebed.model import (
    BY_KIND,
    Duration,
    Field,
    Int8,
    List,
    LogicalType,
    Map,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    optional,
    required,
)
from lakebed.testing import logical_types

MS = TimeUnit.MILLISECOND


def test_there_are_24_kinds() -> None:
    assert len(BY_KIND) == 24
    assert all(type_.kind == kind for kind, type_ in BY_KIND.items())


@pytest.mark.parametrize(
    ("absent", "explicit"),
    [
        (Timestamp(), Timestamp(MS, "UTC")),
        (Timestamp(), Timestamp(MS)),
        (Timestamp(TimeUnit.SECOND), Timestamp(TimeUnit.SECOND, "UTC")),
        (Time(), Time(MS)),
        (Duration(), Duration(MS)),
        (Map(String(), Int8()), Map(String(), Int8(), keys_sorted=False)),
        (List(Option(Timestamp())), List(Option(Timestamp(MS, "UTC")))),
        (Struct((Field("a", Time()),)), Struct((Field("a", Time(MS)),))),
        (Map(Time(), Duration()), Map(Time(MS), Duration(MS))),
    ],
)
def test_an_absent_parameter_equals_its_default(absent: LogicalType, explicit: LogicalType) -> None:
    assert absent == explicit
    assert hash(absent) == hash(explicit)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Timestamp(), Timestamp(TimeUnit.SECOND)),
        (Timestamp(), Timestamp(timezone="Europe/Paris")),
        (Time(), Duration()),
        (Time(), Time(TimeUnit.NANOSECOND)),
        (Map(String(), Int8()), Map(String(), Int8(), keys_sorted=True)),
        (List(Int8()), List(Int8(), 2)),
        (Int8(), Option(Int8())),
        (Struct((Field("a", Int8()), Field("b", Int8()))), Struct((Field("b", Int8()), Field("a", Int8())))),
    ],
)
def test_types_that_mean_something_else_differ(a: LogicalType, b: LogicalType) -> None:
    assert a != b


@given(logical_types())
def test_optional_and_required_undo_each_other(type_: LogicalType) -> None:
    assert required(optional(type_)) == required(type_)
    assert optional(required(type_)) == optional(type_)
    assert optional(optional(type_)) == optional(type_)


@given(logical_types())
def test_types_are_values(type_: LogicalType) -> None:
    copy = dataclasses.replace(type_)
    assert copy == type_
    assert hash(copy) == hash(type_)
    name = next((f.name for f in dataclasses.fields(type_)), "kind")
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        setattr(type_, name, None)

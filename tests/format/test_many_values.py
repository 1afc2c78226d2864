"""Values that are made quickly are the same values, and the collector is on again afterwards."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from dataclasses import FrozenInstanceError, astuple, dataclass, fields, replace

import pytest

from lakebed.format.identity_cache import by_identity
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import DataFileMeta, ManifestEntry, SimpleStats
from lakebed.format.many_values import maker, paused_collector
from lakebed.format.snapshot import Snapshot


@pytest.mark.parametrize("kind", [DataFileMeta, ManifestEntry, SimpleStats, DataFile])
def test_made_values_are_those_of_the_constructor(kind: type) -> None:
    values = {field.name: f"value of {field.name}" for field in fields(kind)}
    made, constructed = maker(kind)(*values.values()), kind(**values)
    assert type(made) is kind
    assert made == constructed
    assert hash(made) == hash(constructed)
    assert repr(made) == repr(constructed)
    assert astuple(made) == tuple(values.values())
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    name = fields(kind)[0].name
    assert replace(made, **{name: 1}) == replace(constructed, **{name: 1}) != made
    with pytest.raises(FrozenInstanceError):
        setattr(made, name, 1)


def test_fields_may_have_any_name() -> None:
    @dataclass(frozen=True, slots=True)
    class Odd:
        kind: int
        value: int
        new: int

    assert maker(Odd)(1, 2, 3) == Odd(1, 2, 3)


def test_a_class_that_does_something_when_a_value_is_made_is_refused() -> None:
    with pytest.raises(TypeError, match="Snapshot"):
        maker(Snapshot)


def test_the_collector_is_paused_until_the_last_one_ends() -> None:
    assert gc.isenabled()
    began, end = threading.Event(), threading.Event()

    def other() -> None:
        with paused_collector():
            began.set()
            end.wait(10)

    thread = threading.Thread(target=other)
    with paused_collector(), paused_collector():
        assert not gc.isenabled()
        thread.start()
        assert began.wait(10)
    assert not gc.isenabled()
    end.set()
    thread.join()
    assert gc.isenabled()


def test_the_collector_is_on_again_after_an_error_and_off_where_it_was_off() -> None:
    with pytest.raises(ValueError, match="stop"), paused_collector():
        raise ValueError("stop")
    assert gc.isenabled()
    gc.disable()
    try:
        with paused_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_answers_are_remembered_by_the_object_and_the_key() -> None:
    asked: list[tuple[list[int], str]] = []

    @by_identity
    def total(values: list[int], key: str) -> str:
        asked.append((values, key))
        return f"{sum(values)}{key}"

    one, same = [1, 2], [1, 2]
    assert [total(one, "a"), total(one, "a"), total(one, "b"), total(same, "a")] == ["3a", "3a", "3b", "3a"]
    assert [(id(values), key) for values, key in asked] == [(id(one), "a"), (id(one), "b"), (id(same), "a")]
    # An object that is gone is never taken for a new one in its place, however many there are.
    assert [total([number], "") for number in range(1000)] == [str(number) for number in range(1000)]

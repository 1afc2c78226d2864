"""The faults and races that `MemoryStore` plays, and that nothing happens unseen."""

from __future__ import annotations

import pytest

from lakebed.errors import StoreError
from lakebed.testing.memory_store import MemoryStore, Operation, SimulatedCrash


def test_operations_are_recorded():
    store = MemoryStore()
    store.create_if_absent("/t/schema/schema-0", b"")
    store.read("/t/schema/schema-0")
    store.replace("/t/x", b"")
    store.delete_tree("/t")
    assert store.operations == [
        Operation("create_if_absent", "/t/schema/schema-0"),
        Operation("read", "/t/schema/schema-0"),
        Operation("replace", "/t/x"),
        Operation("delete", "/t/schema/schema-0"),
        Operation("delete", "/t/x"),
        Operation("delete_tree", "/t"),
    ]


@pytest.mark.parametrize("after", [False, True])
def test_a_fault_strikes_once_before_or_after_the_effect(after):
    store = MemoryStore()
    store.replace("/a", b"")
    store.fail_at(1, after=after)
    store.replace("/b", b"")
    with pytest.raises(StoreError, match="injected fault"):
        store.replace("/c", b"")
    assert store.exists("/c") is after
    store.replace("/d", b"")


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_ends_the_process(after):
    store = MemoryStore()
    store.crash_at(0, after=after)
    with pytest.raises(SimulatedCrash):
        store.create_if_absent("/a", b"")
    with pytest.raises(SimulatedCrash):
        store.exists("/a")
    store.restart()
    assert store.exists("/a") is after
    assert not isinstance(SimulatedCrash(), Exception)


def test_a_crash_within_a_tree_leaves_the_rest():
    store = MemoryStore({"/t/a": b"", "/t/b": b"", "/t/c": b""})
    store.crash_at(1, after=True)
    with pytest.raises(SimulatedCrash):
        store.delete_tree("/t")
    assert set(store.snapshot()) == {"/t/c"}


def test_a_race_is_another_process():
    store = MemoryStore()
    store.race_at(0, lambda: store.create_if_absent("/schema-0", b"theirs"))
    assert store.create_if_absent("/schema-0", b"ours") is False
    assert store.read("/schema-0") == b"theirs"
    assert [o.name for o in store.operations] == ["create_if_absent", "read"]

"""Processes that change one table at once on a local disk: nothing is lost, nothing is made twice."""

from __future__ import annotations

import multiprocessing
import os
from itertools import pairwise
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import AlreadyExistsError, ConflictError, LakebedError, NotFoundError

PROCESSES, CHANGES = 8, 25
ID, V = Field("id", DataType.INT, False), Field("v", DataType.INT)


def _tables(root: str) -> TableManager:
    return TableManager(PathFactory(root))


def _change(name: str, number: int) -> dict[str, Any]:
    """Every fifth adds a column, the others set an option, since a schema of 200 columns is slow to handle."""
    if number % 5 == 0:
        return {"action": "addColumn", "fieldNames": [name], "dataType": "INT"}
    return {"action": "setOption", "key": f"x.{name}", "value": name}


def _said(schema: TableSchema) -> set[str]:
    """What the changes of `_change` have left."""
    return {*schema.field_names[1:], *(key.removeprefix("x.") for key in schema.options)}


def _adds_columns(root: str, worker: int, barrier: Barrier) -> None:
    tables = _tables(root)
    barrier.wait(60)
    for number in range(CHANGES):
        tables.alter_table("d", "t", [_change(f"c{worker}_{number}", number)])


def _run(work: Any, *arguments: tuple[Any, ...]) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(arguments))
    processes = [context.Process(target=work, args=(*given, barrier)) for given in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert [process.exitcode for process in processes] == [0] * len(arguments)


def test_every_compatible_change_of_every_process_is_one_version(tmp_path: Path) -> None:
    tables = _tables(str(tmp_path))
    tables.create_table("d", "t", [ID])
    _run(_adds_columns, *((str(tmp_path), worker) for worker in range(PROCESSES)))
    schemas = tables.get_schema_manager("d", "t")
    total = PROCESSES * CHANGES
    assert schemas.ids() == list(range(total + 1))
    versions = schemas.versions()
    added = [_said(new) - _said(old) for old, new in pairwise(versions)]
    assert all(len(names) == 1 for names in added)
    wanted = {f"c{worker}_{number}" for worker in range(PROCESSES) for number in range(CHANGES)}
    assert set().union(*added) == wanted
    assert _said(versions[-1]) == wanted
    assert [field.id for field in versions[-1].fields] == list(range(total // 5 + 1))
    directory = tmp_path / "d.db" / "t" / "schema"
    assert sorted(os.listdir(directory)) == sorted(f"schema-{number}" for number in range(total + 1))


def _rename_to(root: str, name: str, results: Any, barrier: Barrier) -> None:
    tables = _tables(root)
    real, waiting = tables.store.create_if_absent, [True]

    def together(path: str, data: bytes) -> bool:
        if waiting:
            waiting.clear()
            barrier.wait(60)
        return real(path, data)

    tables.store.create_if_absent = together  # type: ignore[method-assign]
    try:
        schema = tables.alter_table("d", "t", [{"action": "renameColumn", "fieldNames": ["v"], "newName": name}])
        results.put((name, schema.id, None))
    except LakebedError as error:
        results.put((name, None, type(error).__name__))


def test_of_two_incompatible_changes_one_wins_and_one_is_told(tmp_path: Path) -> None:
    """Both have made their change of version 0 when the first of them publishes."""
    tables = _tables(str(tmp_path))
    tables.create_table("d", "t", [ID, V])
    results = multiprocessing.get_context("spawn").Queue()
    _run(_rename_to, (str(tmp_path), "a", results), (str(tmp_path), "b", results))
    outcomes = [results.get(timeout=10) for _ in range(2)]
    won = [outcome for outcome in outcomes if outcome[1] is not None]
    assert len(won) == 1
    assert [outcome[2] for outcome in outcomes if outcome[1] is None] == ["ConflictError"]
    schemas = tables.get_schema_manager("d", "t")
    assert schemas.ids() == [0, 1]
    assert schemas.get_current_schema().field_names == ("id", won[0][0])


def test_the_loser_of_a_race_gets_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same two changes, both made from version 0: the loser looks again and finds another meaning."""
    mine, theirs = _tables(str(tmp_path)), _tables(str(tmp_path))
    mine.create_table("d", "t", [ID, V])
    real, first = mine.store.create_if_absent, [True]

    def behind(path: str, data: bytes) -> bool:
        if first and "schema-1" in path:
            first.clear()
            theirs.alter_table("d", "t", [{"action": "renameColumn", "fieldNames": ["v"], "newName": "theirs"}])
        return real(path, data)

    monkeypatch.setattr(mine.store, "create_if_absent", behind)
    with pytest.raises(ConflictError) as caught:
        mine.alter_table("d", "t", [{"action": "renameColumn", "fieldNames": ["v"], "newName": "mine"}])
    assert caught.value.code == "LB3128"
    assert mine.get_schema_manager("d", "t").get_current_schema().field_names == ("id", "theirs")


def _creates(root: str, worker: int, results: Any, barrier: Barrier) -> None:
    tables = _tables(root)
    barrier.wait(60)
    won = []
    for number in range(10):
        try:
            tables.create_table("d", f"t{number}", [ID, Field(f"by{worker}", DataType.INT)])
            won.append(number)
        except AlreadyExistsError:
            continue
    results.put((worker, won))


def test_of_many_makers_of_a_table_one_wins(tmp_path: Path) -> None:
    results = multiprocessing.get_context("spawn").Queue()
    _run(_creates, *((str(tmp_path), worker, results) for worker in range(3)))
    won = dict(results.get(timeout=10) for _ in range(3))
    assert sorted(number for numbers in won.values() for number in numbers) == list(range(10))
    tables = _tables(str(tmp_path))
    for worker, numbers in won.items():
        for number in numbers:
            names = tables.get_schema_manager("d", f"t{number}").get_current_schema().field_names
            assert names == ("id", f"by{worker}")


def _renames(root: str, worker: int, results: Any, barrier: Barrier) -> None:
    tables = _tables(root)
    barrier.wait(60)
    try:
        tables.rename_table("d.t", f"d.new{worker}")
        results.put(worker)
    except NotFoundError:
        results.put(None)


def test_of_many_renames_one_wins(tmp_path: Path) -> None:
    tables = _tables(str(tmp_path))
    tables.create_table("d", "t", [ID])
    results = multiprocessing.get_context("spawn").Queue()
    _run(_renames, *((str(tmp_path), worker, results) for worker in range(3)))
    won = [name for name in (results.get(timeout=10) for _ in range(3)) if name is not None]
    assert len(won) == 1
    assert tables.list_tables() == [f"d.new{won[0]}"]

"""Whatever temporary thing is left behind by a crash, the clean-up of orphan files takes it."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

import lakebed
from lakebed.catalog import DataType, Field
from lakebed.errors import LakebedError
from lakebed.format.commit import commit
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.spark.rows_aside import RowsAside
from lakebed.store import LocalStore, conditional, local, temporary

ID = Field("id", DataType.INT)


def everything(lake: lakebed.Lake) -> None:
    """All that writes metadata of a table."""
    tables = lake.tables
    tables.create_table("d", "t", [ID], comment="made")
    schemas, table = tables.get_schema_manager("d", "t"), tables.table_path("d.t")
    for number in range(2):
        commit(
            TableStorage(lake.store, table, schemas),
            SnapshotChange(commit_user=f"{number}"),
            clock=lambda: 1_700_000_000_000,
        )
    schemas.create_new_schema_version([ID, Field("more", DataType.INT)])
    tables.alter_table("d", "t", [{"action": "addColumn", "fieldNames": ["again"], "dataType": "INT"}])
    lake.tags("d.t").create("a", snapshot=1)
    lake.branches("d.t").create("b", tag="a")
    lake.branches("d.t").create("c", tag="a")
    branch = tables.get_schema_manager("d", "t", branch="b")
    commit(
        TableStorage(lake.store, table, branch, "b"), SnapshotChange(commit_user="b"), clock=lambda: 1_700_000_000_000
    )
    lake.branches("d.t").delete("c")
    lake.roll_back("d.t", snapshot=1)
    lake.roll_back("d.t", schema=0)
    lake.branches("d.t").fast_forward("b")
    tables.rename_table("d.t", "d.u")


def files(root: Path) -> list[str]:
    return sorted(str(p.relative_to(root)) for p in root.rglob("*"))


def test_every_file_on_its_way_is_known_again(tmp_path, monkeypatch):
    left: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(local, "_unlink", left.append)
        lake = lakebed.open(tmp_path)
        everything(lake)
    below = [path for path in files(tmp_path) if path.endswith(".tmp")]
    assert {Path(path).parent.name for path in below} >= {"schema", "snapshot", "manifest", "tag"}
    lake.remove_orphans("d.u", min_age=timedelta(0))
    assert [path for path in files(tmp_path) if path.endswith(".tmp")] == []


@pytest.mark.parametrize("step", ["link", "replace", "rename"])
def test_a_process_that_is_killed_at_a_step_leaves_nothing_unknown(tmp_path, monkeypatch, step):
    """The n-th publishing step kills the process, with its temporary file in place, for every n."""

    class Killed(BaseException):
        pass

    for number in range(100):
        root = tmp_path / str(number)
        calls = iter(range(10_000))
        real = getattr(local.os, step)

        def dying(*args, number=number, calls=calls, real=real, **parts):
            if next(calls) == number:
                raise Killed
            return real(*args, **parts)

        root.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(local.os, step, dying)
            patch.setattr(local, "_unlink", lambda path: None)
            patch.setattr(local.os, "fsync", lambda descriptor: None)
            lake = lakebed.open(root)
            try:
                everything(lake)
            except Killed:
                pass
            else:
                assert number > 0
                return
        for table in ("d.t", "d.u"):
            # Where the first version was not published there is no table to clean up.
            with suppress(LakebedError):
                lake.remove_orphans(table, min_age=timedelta(0))
        if lake.tables.list_tables():
            assert not [p for p in files(root) if p.endswith(".tmp") or "/branch/." in p]
    raise AssertionError("no end")


def test_staging_and_branches_and_probes_are_known_again(tmp_path):
    directory = RowsAside(LocalStore(), str(tmp_path)).directory
    assert temporary.is_staging(directory.removeprefix(f"{tmp_path}/"))
    assert temporary.is_half_branch(temporary.new_branch())
    assert temporary.is_half_branch(temporary.old_branch())
    assert temporary.is_temporary_file(temporary.probe())


def test_a_probe_that_cannot_be_deleted_is_known_again():
    written: list[str] = []

    class Driver:
        def pipe_file(self, path: str, data: bytes, mode: str) -> None:
            if written:
                raise FileExistsError(path)
            written.append(path)

        def rm_file(self, path: str) -> None:
            raise PermissionError(path)

    conditional.verify(Driver(), "s3://bucket/d.db/t/schema")
    (path,) = written
    assert path.startswith("s3://bucket/d.db/t/schema/")
    assert temporary.is_temporary_file(path.rpartition("/")[2])


@pytest.mark.parametrize(
    "name", ["schema-0", "snapshot-1", "LATEST", "tag-a", "metadata", ".lakebed-runs", ".incomplete"]
)
def test_what_is_there_to_stay_is_not_temporary(name):
    assert not temporary.is_temporary_file(name)
    assert temporary.is_temporary_file(temporary.sibling(name))
    assert len(temporary.sibling("ö" * 200).encode()) <= 255

"""What commands write is whole or not there, and a failure names the file and what it is."""

from __future__ import annotations

import errno
import os
import stat
import threading

import pytest

import lakebed
from lakebed.catalog import DataType, Field
from lakebed.cli.files import write_file
from lakebed.cli.main import run
from lakebed.errors import StoreError
from lakebed.store import local

MANIFEST = (
    "kind: Table\nversion: 1\ncontent:\n  name: d.t\n  schema:\n    fields:\n      - {name: id, type: {kind: Int32}}\n"
)


@pytest.fixture
def full_disk(monkeypatch):
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return lambda: monkeypatch.setattr(local.os, "write", refuse)


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "t.yaml", "--out", "made.json"],
        ["convert", "t.yaml", "--to", "json-schema", "--out", "made.json"],
        ["infer", "d.t", "--update", "t.yaml"],
        ["init", "other"],
    ],
)
def test_a_full_disk_leaves_the_old_file_and_is_told_with_its_name(tmp_path, monkeypatch, capsys, full_disk, arguments):
    monkeypatch.chdir(tmp_path)
    lakebed.open(tmp_path).tables.create_table("d", "t", [Field("id", DataType.INT), Field("more", DataType.INT)])
    (tmp_path / "t.yaml").write_text(MANIFEST)
    (tmp_path / "made.json").write_text("old")
    full_disk()
    if arguments[0] != "init":
        arguments = [*arguments, *([] if arguments[0] == "convert" else ["--warehouse", str(tmp_path)])]
    assert run(arguments) == 1
    said = capsys.readouterr().err
    assert "LB3612" in said, said
    assert any(name in said for name in ("made.json", "t.yaml", "lakebed.toml"))
    assert (tmp_path / "made.json").read_text() == "old"
    assert (tmp_path / "t.yaml").read_text() == MANIFEST
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_links_pipes_devices_and_permissions_stay(tmp_path):
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real")
    write_file(link, "new")
    assert link.is_symlink()
    assert (real.read_text(), stat.S_IMODE(real.stat().st_mode)) == ("new", 0o640)
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "said")
    reader.join()
    assert heard == [b"said"]
    write_file(os.devnull, "nothing")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    with pytest.raises(StoreError, match="No space left"):
        write_file("/dev/full", "x")
    with pytest.raises(StoreError, match="is not a file"):
        write_file(tmp_path, "x")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("step", ["open", "link", "mkdir"])
def test_a_read_only_place_is_told_as_such_and_not_as_unknown(tmp_path, monkeypatch, step, number):
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("d", "t", [Field("id", DataType.INT)])
    real = getattr(local.os, step)

    def refuse(path, flags=0, *rest, **parts):
        if step != "open" or flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, *rest, **parts)

    monkeypatch.setattr(local.os, step, refuse)
    schemas = lake.tables.get_schema_manager("d", "t")
    with pytest.raises(StoreError) as caught:
        _ = (
            lake.tables.create_table("d", "u", [Field("id", DataType.INT)])
            if step == "mkdir"
            else schemas.create_new_schema_version([Field("more", DataType.INT)])
        )
    assert caught.value.code == "LB3611"
    assert "schema-" in str(caught.value)

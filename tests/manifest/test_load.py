"""Files: what cannot be read, several files as one manifest, and what is imported for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import lakebed
from lakebed.errors import ManifestError
from lakebed.manifest import load_all, load_manifest, parse_manifest
from lakebed.manifest.load import load_each, manifest_files
from manifest.marked import table


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_missing_file_suggests_the_one_beside_it(tmp_path: Path) -> None:
    written(tmp_path / "orders.yaml", table("- {name: x, type: Int8}"))
    with pytest.raises(ManifestError) as error:
        load_manifest(tmp_path / "oders.yaml")
    (problem,) = error.value.diagnostics
    assert problem.code == "LB1001"
    assert problem.suggestions == (str(tmp_path / "orders.yaml"),)


@pytest.mark.parametrize("name", ["", "no/where.yaml"])
def test_a_path_that_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ManifestError) as error:
        load_manifest(tmp_path / name)
    assert error.value.code == "LB1001"


def test_problems_name_the_file_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "t.yaml", table("- {name: x, type: Nope}"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ManifestError, match=r"^t\.yaml:7:23: error\[LB1050\]"):
        lakebed.load_manifest("t.yaml")


def test_several_files_are_one_manifest(tmp_path: Path) -> None:
    one = table("- {name: x, type: Int8}")
    first = written(tmp_path / "a.yaml", one)
    second = written(tmp_path / "b.yaml", one.replace("a.b", "a.c"))
    loaded = parse_manifest(one.replace("a.b", "a.d"))
    assert [t.name for t in load_all([first, str(second), loaded]).tables] == ["a.b", "a.c", "a.d"]
    assert load_all(first) == load_manifest(first)
    assert load_all(loaded) == loaded


def test_all_problems_of_all_files_are_said(tmp_path: Path) -> None:
    bad = written(tmp_path / "a.yaml", table("- {name: x, type: Nope}"))
    worse = written(tmp_path / "b.yaml", table("- {name: x, type: [1]}\n- {name: y}"))
    with pytest.raises(ManifestError) as error:
        load_all([bad, worse, tmp_path / "c.yaml"])
    assert [d.code for d in error.value.diagnostics] == ["LB1050", "LB1040", "LB1042", "LB1001"]


def test_one_table_in_two_files(tmp_path: Path) -> None:
    one = table("- {name: x, type: Int8}")
    first = written(tmp_path / "a.yaml", one.replace("a.b", "b"))
    second = written(tmp_path / "b.yaml", one.replace("a.b", "default.b"))
    with pytest.raises(ManifestError) as error:
        load_all([first, second])
    (problem,) = error.value.diagnostics
    assert problem.code == "LB1026"
    assert problem.position is not None
    assert problem.position.file == str(second)
    assert f"{first}:4:9" in problem.message


def test_yaml_is_imported_only_for_manifests() -> None:
    script = """
import sys, lakebed, lakebed.model, lakebed.errors, lakebed.codes
assert not any(m.startswith("ruamel") for m in sys.modules), "ruamel"
lakebed.load_manifest
heavy = {"pyspark", "pyarrow", "fastavro", "hypothesis"} & set(sys.modules)
assert not heavy, heavy
"""
    source = str(Path(lakebed.__file__).parents[1])
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": source})


def _odd_files(directory: Path) -> None:
    """What is named like a manifest and is no file: a pipe, a socket, links to them and to a device."""
    os.mkfifo(directory / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(directory / "socket.yaml"))
    for name, target in (("a.yaml", "pipe.yaml"), ("b.yml", "/dev/zero"), ("c.yaml", "socket.yaml")):
        (directory / name).symlink_to(target)


def test_what_is_no_file_is_passed_over_in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _odd_files(tmp_path)
    assert manifest_files(tmp_path) == ()
    (tmp_path / "real").write_bytes(b"")
    (tmp_path / "file.yaml").symlink_to("real")
    (tmp_path / "lost.yaml").symlink_to("nothing")
    assert [os.path.basename(path) for path in manifest_files(tmp_path)] == ["file.yaml", "lost.yaml"]


def test_a_file_of_several_names_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    text = table("- {name: a, type: Int32}")
    written(tmp_path / "in/t.yaml", text)
    (tmp_path / "in/link.yaml").symlink_to("t.yaml")
    (tmp_path / "folder").symlink_to("in")
    names = [
        tmp_path / name for name in ("in/t.yaml", "in/../in/t.yaml", "in/link.yaml", "folder/t.yaml", "in", "folder")
    ]
    assert len(load_all(names).tables) == 1
    assert [loaded.source for loaded in load_each(names)] == [str(names[0])]
    written(tmp_path / "in/copy.yaml", text)
    with pytest.raises(ManifestError, match="declared twice"):
        load_all(names)

"""The contract of the rooms holds, and would notice if it did not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--no-logo",
        "--no-cache",
        str(REPOSITORY / "pyproject.toml"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=source, check=False)


def test_a_room_imports_only_from_the_rooms_below() -> None:
    done = lint_imports(REPOSITORY / "src")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("model/types.py", "import lakebed.store.base", "A room imports only"),
        ("store/base.py", "from lakebed.catalog import names", "A room imports only"),
        ("evolve/diff.py", "def f() -> None:\n    import lakebed.format.snapshot", "Evolution knows"),
        ("manifest/nodes.py", "import lakebed.physical", "A manifest is logical"),
        ("convert/paimon.py", "import lakebed.store.base", "Conversions and events"),
        ("newroom/__init__.py", "", "A room imports only"),
    ],
)
def test_a_wrong_import_is_noticed(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copytree(REPOSITORY / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path / "src" / "lakebed" / module
    target.parent.mkdir(exist_ok=True)
    with target.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path / "src")
    assert done.returncode != 0
    assert (
        any(row.startswith(contract) and "BROKEN" in row for row in done.stdout.splitlines())
        or "newroom" in done.stdout
    )

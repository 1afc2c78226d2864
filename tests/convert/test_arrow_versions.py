"""The tests of Arrow schemas with the oldest and newest PyArrow, each in an environment of its own without Spark."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = ("tests/convert/test_arrow.py", "tests/convert/test_arrow_carrier.py")
PROBE = """\
import importlib.util, sys
import pyarrow, lakebed.convert.arrow
assert importlib.util.find_spec("pyspark") is None
print(pyarrow.__version__)
"""


def run(environment: Path, *arguments: str) -> str:
    """The output of a Python of the environment, which must succeed."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
    variables |= {"PYTHONPATH": str(REPOSITORY / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(environment / "bin" / "python"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=REPOSITORY, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(params=[".venv-arrow18", ".venv-arrow"])
def environment(request: pytest.FixtureRequest) -> Path:
    found: Path = REPOSITORY / request.param
    if not (found / ".stamp").is_file():
        pytest.skip(f"no {request.param}: `make environments` makes it")
    return found


def test_arrow_schemas_with_this_pyarrow(environment: Path) -> None:
    version = run(environment, "-c", PROBE)
    assert version.startswith("18.") == environment.name.endswith("18")
    printed = run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    assert " passed" in printed

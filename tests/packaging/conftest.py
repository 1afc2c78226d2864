"""The wheel of this tree, and environments that hold it with one extra and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MAIN = REPOSITORY / "constraints" / "main.txt"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(REPOSITORY)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def run_in() -> Callable[..., str]:
    """`run_in(ENVIRONMENT, COMMAND...)`: what the command puts out, which must succeed; variables as keywords.

    A command is a program of the environment. Nothing of this process leaks into it.
    """

    def run(environment: Path, program: str, *arguments: str, **variables: str) -> str:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYSPARK", "SPARK"))}
        python = str(environment / "bin" / "python")
        own = {
            "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(environment),
            "PYSPARK_PYTHON": python,
            "PYSPARK_DRIVER_PYTHON": python,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        command = [str(environment / "bin" / program), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**kept, **own, **variables}, cwd=environment, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def environment_of(wheel: Path, run_in: Callable[..., str]) -> Callable[[str], Path]:
    """`environment_of(EXTRA)`: the environment with the wheel, what it and the extra ask for, and nothing else."""

    @cache
    def made(extra: str) -> Path:
        environment = REPOSITORY / ".venv-extras" / extra
        assert environment.is_dir(), f"{environment} is not there: `make environments` makes it"
        pip = ("python", "-m", "pip", "--quiet", "--disable-pip-version-check")
        run_in(environment, *pip, "uninstall", "--yes", "lakebed")
        wanted = str(wheel) if extra == "base" else f"{wheel}[{extra}]"
        run_in(environment, *pip, "install", "--no-compile", "--constraint", str(MAIN), wanted)
        run_in(environment, *pip, "check")
        return environment

    return made

"""The wheel of this tree, and environments that hold it with one extra and no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.spark_settings import set_java_options

REPOSITORY = Path(__file__).resolve().parents[2]
SMOKE = Path(__file__).with_name("smoke.py")


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
    """`run_in(ENVIRONMENT, COMMAND...)`: what the command puts out, which must end well; variables as keywords.

    A command is a program of the environment, and ends well with 0 or another of `codes`. Nothing of this process
    leaks into it.
    """

    def run(environment: Path, program: str, *arguments: str, codes: tuple[int, ...] = (0,), **variables: str) -> str:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYSPARK", "SPARK"))}
        python = str(environment / "bin" / "python")
        own = {
            "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(environment),
            "PYSPARK_PYTHON": python,
            "PYSPARK_DRIVER_PYTHON": python,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        set_java_options(own)
        command = [str(environment / "bin" / program), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**kept, **own, **variables}, cwd=environment, check=False
        )
        assert done.returncode in codes, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def environment_of(wheel: Path, run_in: Callable[..., str]) -> Callable[[str], Path]:
    """`environment_of(EXTRA)`: the environment with the wheel, what it and the extra ask for, and nothing else."""

    @cache
    def made(extra: str) -> Path:
        environment = REPOSITORY / ".venv-extras" / extra
        assert environment.is_dir(), f"{environment} is not there: `make environments` makes it"
        # What it asks for is there already; the check `packages` sees that it is, and that nothing else is.
        pip = ("python", "-m", "pip", "--quiet", "--disable-pip-version-check")
        run_in(environment, *pip, "install", "--no-compile", "--no-deps", "--force-reinstall", str(wheel))
        return environment

    return made


@pytest.fixture(scope="session")
def smoke(
    environment_of: Callable[[str], Path], run_in: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, str]]:
    """`smoke(EXTRA, PROGRAM..., NAME=PLACE...)`: what went wrong in each check of `smoke.py`; an extra has one run."""
    known: dict[str, dict[str, str]] = {}

    def run(extra: str, *program: str, **places: str | Path) -> dict[str, str]:
        if extra not in known:
            given = (f"{name}={place}" for name, place in places.items())
            directory = tmp_path_factory.mktemp(f"smoke-{extra}")
            printed = run_in(environment_of(extra), *program, str(SMOKE), extra, str(directory), *given)
            known[extra] = json.loads(printed.strip().splitlines()[-1])
        return known[extra]

    return run

"""Each extra alone is enough for what it promises, and the oldest versions that are allowed do the same."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
OLDEST = REPOSITORY / ".venv-oldest"
SMOKE = Path(__file__).with_name("smoke.py")
TABLES = REPOSITORY.parent / "shared" / "tables"
#: Spark before 4.2 does not read it, which is refused.
NEEDS_42 = "orc__append_with_multiple_ts_precision_and_timezone"
_BOUND = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z]+\])?>=([0-9.]+)")


def project() -> dict:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def smoke(run_in: Callable[..., str], environment: Path, extra: str, directory: Path, **variables: str) -> None:
    tables = [str(TABLES)] if TABLES.is_dir() else []
    printed = run_in(environment, "python", str(SMOKE), extra, str(directory), *tables, **variables)
    assert printed.splitlines()[-1].startswith("lakebed ")


def test_every_extra_has_its_turn() -> None:
    assert set(project()["optional-dependencies"]) == {"spark", "arrow", "connect", "fsspec", "demo"}


# `spark` has its turn beside the wheel's other tests there: an environment is one process' at a time.
@pytest.mark.slow
@pytest.mark.parametrize("extra", ["base", "arrow", "fsspec", "connect", "demo"])
def test_an_extra_alone_is_enough(
    extra: str, environment_of: Callable[[str], Path], run_in: Callable[..., str], tmp_path: Path
) -> None:
    smoke(run_in, environment_of(extra), extra, tmp_path)


def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    lines = (REPOSITORY / "constraints" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    wanted = [*project()["dependencies"], *(n for e in project()["optional-dependencies"].values() for n in e)]
    bounds = {found[1]: found[2] for need in wanted if (found := _BOUND.match(need))}
    assert {"pyspark", "pyarrow", "click"} <= bounds.keys()
    found = {name: ".".join(pinned[name].split(".")[: bound.count(".") + 1]) for name, bound in bounds.items()}
    assert found == bounds
    assert all(set(pinned[n].split(".")[b.count(".") + 1 :]) <= {"0"} for n, b in bounds.items())


@pytest.fixture(scope="module")
def oldest() -> Path:
    """The environment of the oldest versions, without Lakebed: the tests run it from here."""
    assert OLDEST.is_dir(), f"{OLDEST} is not there: `make environments` makes it"
    return OLDEST


@pytest.mark.slow
def test_the_main_job_with_the_oldest_versions(oldest: Path, run_in: Callable[..., str], tmp_path: Path) -> None:
    smoke(run_in, oldest, "-spark", tmp_path, PYTHONPATH=str(REPOSITORY / "src"))


@pytest.mark.slow
@pytest.mark.skipif(not TABLES.is_dir(), reason="the folder of foreign tables is absent")
def test_the_tables_of_others_and_connect_with_the_oldest_versions(oldest: Path, run_in: Callable[..., str]) -> None:
    keys = sorted(path.stem for path in (TABLES / "expected").glob("*.json") if "@" not in path.stem)
    keys.remove(NEEDS_42)
    # All of them come out with the newest versions; a third of all kinds is enough to see what an old one cannot do.
    keys = keys[::3]
    chosen = [f"tests/read/test_shared_tables.py::test_rows_come_out_as_expected[{key}]" for key in keys]
    chosen.append("tests/connect/test_connect.py")
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(REPOSITORY)]
    printed = run_in(
        oldest,
        "python",
        "-m",
        "pytest",
        *options,
        *(str(REPOSITORY / test) for test in chosen),
        PYTHONPATH=str(REPOSITORY / "src"),
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert re.search(rf"\b{len(keys) + 1} passed", printed)
    assert "skipped" not in printed


@pytest.mark.slow
@pytest.mark.skipif(not TABLES.is_dir(), reason="the folder of foreign tables is absent")
def test_what_an_old_spark_cannot_read_is_refused(oldest: Path, run_in: Callable[..., str]) -> None:
    place, database, table = json.loads((TABLES / "expected" / f"{NEEDS_42}.json").read_text())["path"].split("/")
    program = f"""
import lakebed
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    lakebed.open({str(TABLES / place)!r}).read(spark, "{database.removesuffix(".db")}.{table}")
except lakebed.LakebedError as error:
    print(spark.version, error.code)
"""
    printed = run_in(oldest, "python", "-c", program, PYTHONPATH=str(REPOSITORY / "src"))
    assert printed.split() == ["4.0.0", "LB6460"]

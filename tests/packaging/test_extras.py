"""Each extra alone is enough for what it promises, and the oldest versions that are allowed do the same."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
OLDEST = REPOSITORY / ".venv-oldest"
HERE = Path(__file__).parent
TABLES = REPOSITORY.parent / "shared" / "tables"
#: Spark before 4.2 does not read it: `oldest_checks.py` sees it refused.
NEEDS_42 = "orc__append_with_multiple_ts_precision_and_timezone"
needs_tables = pytest.mark.skipif(not TABLES.is_dir(), reason="the folder of foreign tables is absent")
_BOUND = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z]+\])?>=([0-9.]+)")


def project() -> dict:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_has_its_turn() -> None:
    assert set(project()["optional-dependencies"]) == {
        *("spark", "arrow", "connect", "fsspec", "prometheus", "openlineage", "demo")
    }


# `spark` has its turn beside the wheel's other tests there: an environment is one process' at a time.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "check"),
    [
        *((extra, "packages") for extra in ("base", "arrow", "fsspec", "prometheus", "openlineage")),
        *((extra, "schemas") for extra in ("base", "arrow", "fsspec", "prometheus", "openlineage")),
        pytest.param("arrow", "tables", marks=needs_tables),
        ("demo", "packages"),
        ("demo", "first month"),
    ],
)
def test_an_extra_alone_is_enough(extra: str, check: str, smoke: Callable[..., dict[str, str]]) -> None:
    tables = {"tables": TABLES} if TABLES.is_dir() else {}
    assert smoke(extra, "python", **tables)[check] == ""


@pytest.mark.slow
@pytest.mark.parametrize("check", ["packages", "main job", pytest.param("tables", marks=needs_tables)])
def test_the_extra_connect_alone_is_enough_for_a_client(
    check: str, connect: str, smoke: Callable[..., dict[str, str]]
) -> None:
    tables = {"tables": TABLES} if TABLES.is_dir() else {}
    assert smoke("connect", "python", server=connect, **tables)[check] == ""


def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    lines = (REPOSITORY / "constraints" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    wanted = [*project()["dependencies"], *(n for e in project()["optional-dependencies"].values() for n in e)]
    bounds = {found[1]: found[2] for need in wanted if (found := _BOUND.match(need))}
    assert {"pyspark", "pyarrow", "click"} <= bounds.keys()
    found = {name: ".".join(pinned[name].split(".")[: bound.count(".") + 1]) for name, bound in bounds.items()}
    assert found == bounds
    assert all(set(pinned[n].split(".")[b.count(".") + 1 :]) <= {"0"} for n, b in bounds.items())


def of_every_kind() -> list[str]:
    """Few tables of others that together show every feature that any of them has, and one of Avro files."""
    open_: dict[str, set[str]] = {}
    for path in sorted((TABLES / "expected").glob("*.json")):
        if "@" not in path.stem and path.stem != NEEDS_42:
            open_[path.stem] = set(json.loads(path.read_text(encoding="utf-8"))["features"])
    chosen = ["java__n_avro"] if open_ else []
    while any(open_.values()):
        best = max(open_, key=lambda key: len(open_[key]))
        shown = open_[best]
        chosen.append(best)
        open_ = {key: features - shown for key, features in open_.items()}
    return chosen


#: The tests that the oldest versions pass, as pytest names them: file, then test.
CHECKS = [
    ("tests/packaging/oldest_checks.py", "test_the_main_job"),
    ("tests/connect/test_connect.py", "test_ingest_and_read_over_spark_connect"),
    ("tests/arrow/test_write_files.py", "test_slices_of_structs[1-orc]"),
    ("tests/arrow/test_read_batches.py", "test_types_are_those_of_the_declared_schema"),
    # Click before 8.2 has classes that newer ones have as generic.
    ("tests/arrow/test_read_batches.py", "test_no_spark_is_imported_in_a_process_that_reads"),
    ("tests/arrow/test_row_filter.py", "test_filters_choose_the_rows_that_they_are_true_for[3]"),
    # Spark before 4.1 would fail the job where a text is no JSON, and reads halves of pairs of surrogates as `?`.
    ("tests/ingest/test_values.py", "test_json_text_in_a_cell_is_read[default]"),
    ("tests/ingest/test_json_texts.py", "test_half_of_a_pair_of_surrogates_makes_a_row_bad"),
    ("tests/ingest/test_json_lines.py", "test_the_reason_of_a_malformed_line_is_the_reason"),
    ("tests/ingest/test_json_as_written.py", "test_a_key_that_is_there_twice_is_told_from_what_is_no_json"),
    ("tests/ingest/test_ingest.py", "test_patterns_that_are_none_are_refused_by_name_before_a_row_is_read[csv]"),
    # Spark before 4.3 would write numbers of great exponents out.
    ("tests/casts/test_laws.py", "test_exponents_of_any_size_are_nothing_or_too_much"),
]
CHECKS_WITH_TABLES = [
    ("tests/packaging/oldest_checks.py", "test_what_an_old_spark_cannot_read_is_refused"),
    *(("tests/read/test_shared_tables.py", f"test_rows_come_out_as_expected[{key}]") for key in of_every_kind()),
]


@pytest.fixture(scope="module")
def oldest(run_in: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What pytest said of each test in the environment of the oldest versions; empty for one that passed.

    Lakebed is not installed there: the tests run it from here.
    """
    assert OLDEST.is_dir(), f"{OLDEST} is not there: `make environments` makes it"
    report = tmp_path_factory.mktemp("oldest") / "report.xml"
    tests = [f"{REPOSITORY / file}::{test}" for file, test in CHECKS + CHECKS_WITH_TABLES * TABLES.is_dir()]
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(REPOSITORY), "--junitxml", str(report)]
    run_in(
        OLDEST,
        *("python", "-m", "pytest", *options, *tests),
        # With 1 a test has failed, which its own test here says.
        codes=(0, 1),
        PYTHONPATH=os.pathsep.join((str(REPOSITORY / "src"), str(HERE))),
        PYTHONDONTWRITEBYTECODE="1",
    )
    cases = ElementTree.parse(report).iter("testcase")
    return {case.attrib["name"]: "\n".join((part.text or part.tag) for part in case) for case in cases}


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    [
        *(test for _, test in CHECKS),
        *(pytest.param(test, marks=needs_tables) for _, test in CHECKS_WITH_TABLES),
    ],
)
def test_the_oldest_versions_pass(test: str, oldest: dict[str, str]) -> None:
    assert oldest[test] == ""

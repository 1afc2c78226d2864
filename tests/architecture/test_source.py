"""Rules of the house that no linter knows."""

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src" / "lakebed"
MODULES = sorted(SOURCE.rglob("*.py"))

# Spark Connect knows none of these: rows go through the public data frame API alone.
BEYOND_CONNECT = re.compile(r"\b_jvm\b|\b_jsc\b|\b_jdf\b|\bsparkContext\b|\.rdd\b|\bpy4j\b")
PYTHON_UDF = re.compile(r"\b(pandas_udf|arrow_udf|functions\.udf|F\.udf|udf\()")
ONE_MACHINE = re.compile(r"(?<![\w.])/(work|farm|root|home|Users)/")
CODE = re.compile(r"\bLB\d{4}\b")
TEXT_FILES = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".sh", ".cfg", ".ini", ""}


def hits(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    """`file:line: text` of every line that matches."""
    return [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def tracked_files() -> list[Path]:
    """The text files that are or would be in the repository."""
    listing = ["git", "-C", str(REPOSITORY), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split("\0")
    paths = [REPOSITORY / name for name in names if name]
    return [path for path in paths if path.suffix in TEXT_FILES and path.is_file()]


def test_the_source_is_found() -> None:
    assert len(MODULES) > 30


def test_the_patterns_can_match() -> None:
    assert BEYOND_CONNECT.search("spark._jvm.x")
    assert BEYOND_CONNECT.search("frame.rdd.map")
    assert PYTHON_UDF.search("F.udf(f)")
    assert ONE_MACHINE.search('open("/' + 'home/me/x")')
    assert not ONE_MACHINE.search("https://example.org/home/x")


def test_spark_is_used_through_its_public_api_only() -> None:
    assert hits(BEYOND_CONNECT, MODULES) == []


def test_no_python_function_runs_per_row() -> None:
    assert hits(PYTHON_UDF, MODULES) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_is_one_room(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_no_path_of_one_machine_is_in_the_tree() -> None:
    assert hits(ONE_MACHINE, tracked_files()) == []


def test_every_code_in_use_is_registered_and_the_other_way_round() -> None:
    from lakebed.codes import register

    register_files = set((SOURCE / "codes").glob("*.py"))
    used = {
        code
        for path in MODULES
        if path not in register_files
        for code in CODE.findall(path.read_text(encoding="utf-8"))
    }
    registered = set(register())
    assert sorted(used - registered) == [], "used but not registered"
    assert sorted(registered - used) == [], "registered but not used"


def test_every_code_says_what_to_do() -> None:
    from lakebed.codes import register

    modules = [import_module(f"lakebed.codes.{path.stem}") for path in (SOURCE / "codes").glob("[a-z]*.py")]
    assert {code.id for module in modules for code in module.CODES} == set(register())
    for code in register().values():
        assert all((code.title, code.why, code.example, code.remedy)), code.id

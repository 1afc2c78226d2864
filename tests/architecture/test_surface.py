"""What users see does not change unnoticed: names and signatures, pages of help, codes, plan files, output as JSON."""

from __future__ import annotations

import difflib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from architecture import story, surface

GOLDEN = Path(__file__).with_name("golden")
#: What writes the golden files anew; then `git diff` shows what has changed.
COMMAND = "LAKEBED_GOLDEN=write python -m pytest tests/architecture/test_surface.py"
SHOWN = 120


def pretty(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def check_golden(name: str, value: Any, golden: Path = GOLDEN) -> None:
    """Fails with the lines that differ where the value is not what the golden file holds."""
    path, text = golden / f"{name}.json", pretty(value)
    if os.environ.get("LAKEBED_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if text != before:
        lines = difflib.unified_diff(before.splitlines(), text.splitlines(), f"{name}.json", "now", lineterm="", n=2)
        found = list(lines)
        more = [f"... and {len(found) - SHOWN} lines more"] if len(found) > SHOWN else []
        shown = "\n".join([*found[:SHOWN], *more])
        pytest.fail(f"what users see has changed:\n{shown}\nWhere that is intended: {COMMAND}", pytrace=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory to work in, and nothing around it that changes what comes out."""
    for variable in ("LAKEBED_WAREHOUSE", "NO_COLOR", "COLUMNS", "SPARK_REMOTE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        # When a file was made is told in the zone of the machine.
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield tmp_path
    time.tzset()


def test_public_modules() -> None:
    check_golden("modules", surface.modules_surface())


def test_lake_and_what_it_returns() -> None:
    check_golden("lake", surface.lake_surface())


def test_help() -> None:
    check_golden("help", surface.help_pages())


def test_codes() -> None:
    check_golden("codes", surface.codes())


def test_schema_for_editors(here: Path) -> None:
    check_golden("editor_schema", story.put_out(["schema"], here))


def test_a_story_of_the_command_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = story.tell(here, monkeypatch)
    assert all("Traceback" not in step.get("err", "") for step in told)
    check_golden("story", told)
    check_golden("plans", story.saved_plans(here))


def test_a_change_is_noticed_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_GOLDEN", "write")
    check_golden("x", {"read": "(table: str)"}, tmp_path)
    monkeypatch.delenv("LAKEBED_GOLDEN")
    check_golden("x", {"read": "(table: str)"}, tmp_path)
    with pytest.raises(pytest.fail.Exception) as failure:
        check_golden("x", {"read": "(table: str, limit: int)"}, tmp_path)
    for line in ('- "read": "(table: str)"', '+ "read": "(table: str, limit: int)"', COMMAND):
        assert line in str(failure.value)


class _Base:
    label: str = "x"

    def inherited(self, table: str, *rest: int, **more: Any) -> None: ...

    def _private(self) -> None: ...


class _Shown(_Base):
    def __init__(self, store: surface.ModuleType, limit: int | None = None) -> None:
        self.store = store
        self._limit = limit
        self.made: dict[str, Path] = {}

    @property
    def size(self) -> int:
        return 0

    @classmethod
    def of(cls, text: str, /, *, when: Literal["a.b", "c"] = "c") -> _Shown:
        raise NotImplementedError


def test_a_class_is_described_whole_and_without_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in (_Base, _Shown):
        monkeypatch.setattr(cls, "__module__", "lakebed.somewhere")
    assert surface.describe_class(_Shown) == {
        "made by": "(store: ModuleType, limit: int | None = None) -> None",
        "has": {
            "inherited": "(table: str, *rest: int, **more: Any) -> None",
            "label": "attribute: str = 'x'",
            "made": "attribute: dict[str, Path]",
            "of": "class (text: str, /, *, when: Literal['a.b', 'c'] = 'c') -> _Shown",
            "size": "property -> int",
            "store": "attribute: ModuleType",
        },
    }

"""Load and save plan files, as `lakebed plan --out` writes them, and tell the command that applies a plan."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.cli.files import write_file
from lakebed.cli.invocation import STANDARD_INPUT
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from lakebed.evolve import Plan


NO_PLAN = "LB4232"

_MAKE_ONE = "make the plan again with `lakebed plan --out FILE`, or give the name of a table"


def load_plan(file: str) -> Plan | None:
    """The plan in a file; None for a path of no file and for every other content, which somebody else has to judge.

    Raises `RefusedError` for a plan of another format, or one that was changed.
    """
    content = _content(Path(file))
    if content is None:
        return None
    from lakebed.evolve import Plan

    return Plan.from_json(content)


def not_a_plan(path: str) -> LakebedError | None:
    """What is wrong with a path of a file or directory that `load_plan` gives no plan of; None if nothing is there."""
    if os.path.isdir(path):
        message, remedy = f"{path} is a directory, and no saved plan", "give the file that `lakebed plan --out` wrote"
    elif not os.path.isfile(path):
        return None
    elif _is_json(Path(path)):
        message, remedy = f"{path} is no saved plan: it is JSON of another kind", _MAKE_ONE
    elif path.endswith(".json"):
        message, remedy = f"{path} is no saved plan: it is not JSON, or was cut off", _MAKE_ONE
    else:
        message, remedy = (
            f"{path} is no saved plan",
            f"if it is a manifest, `lakebed plan {path}` shows what it asks for",
        )
    return LakebedError.of(
        NO_PLAN, message, path=path, expected="a plan that `lakebed plan --out` saved", remedy=remedy
    )


def save_plan(plan: Plan, file: str) -> None:
    """Write a plan file."""
    write_file(file, json.dumps(plan.to_json(), indent=2, ensure_ascii=False) + "\n")


def next_command(
    plan: Plan,
    files: tuple[str, ...],
    flags: Mapping[str, str | bool | tuple[str, ...] | None],
    again: tuple[str, ...] = (),
) -> str | None:
    """What makes the changes, with the leave that is given `again` and what is missing; None where nothing can be made.

    So it is also where a manifest came from standard input, which cannot be read once more.
    """
    if plan.is_noop or plan.is_forbidden or STANDARD_INPUT in files:
        return None
    from lakebed.evolve.check_approvals import leave_on_the_command_line

    given = [(flag, one) for flag, value in flags.items() for one in (value if isinstance(value, tuple) else (value,))]
    words = [flag if value is True else f"{flag} {shlex.quote(str(value))}" for flag, value in given if value]
    leave = leave_on_the_command_line(*again, *plan.approvals_missing())
    return " ".join(["lakebed apply", *words, *map(shlex.quote, files), *([leave] if leave else [])])


def _content(path: Path) -> dict[str, Any] | None:
    if not os.path.isfile(path):
        return None
    data = path.read_bytes()
    if not data.lstrip().startswith(b"{"):
        return None
    content = _parsed(data)
    return content if isinstance(content, dict) and {"format_version", "tables"} <= content.keys() else None


def _is_json(path: Path) -> bool:
    return _parsed(path.read_bytes()) is not None


def _parsed(data: bytes) -> Any:
    """The JSON value; None for what is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None

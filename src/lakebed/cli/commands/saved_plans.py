"""Plan files, as `lakebed plan --out` saves them and commands take them beside manifests and tables."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.cli.files import write_file

if TYPE_CHECKING:
    from lakebed.evolve import Plan


def load_plan(file: str) -> Plan | None:
    """The plan in a file; None for a path of no file and for every other content, which somebody else has to judge.

    Raises `RefusedError` for a plan of another format, or one that was changed.
    """
    content = _content(Path(file))
    if content is None:
        return None
    from lakebed.evolve import Plan

    return Plan.from_json(content)


def save_plan(plan: Plan, file: str) -> None:
    """Write a plan file."""
    write_file(file, json.dumps(plan.to_json(), indent=2, ensure_ascii=False) + "\n")


def _content(path: Path) -> dict[str, Any] | None:
    if not os.path.isfile(path):
        return None
    data = path.read_bytes()
    if not data.lstrip().startswith(b"{"):
        return None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and {"format_version", "tables"} <= content.keys() else None

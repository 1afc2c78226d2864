"""Tables that other implementations wrote: everything that only looks works on them, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command_line import CommandLine
from referees.corpus import SHARED


def _tables() -> Iterator[str]:
    """`warehouse/database/table`, so that each is a test of its own."""
    for warehouse in ("java", "orc", "parquet"):
        for database in sorted((SHARED / "tables" / warehouse).glob("*.db")):
            for table in sorted(database.iterdir()):
                if (table / "schema").is_dir():
                    yield f"{warehouse}/{database.name.removesuffix('.db')}/{table.name}"


TABLES = list(_tables())


def test_the_tables_are_there(shared: Path) -> None:
    assert len(TABLES) >= 40


@pytest.mark.parametrize("table", TABLES)
def test_inferring_and_planning_gives_no_change(lakebed: CommandLine, shared: Path, here: Path, table: str) -> None:
    kind, database, name = table.split("/")
    warehouse, text = str(shared / "tables" / kind), f"`{database}`.`{name}`"
    inferred = lakebed("infer", text, "--warehouse", warehouse)
    assert (inferred.code, inferred.err) == (0, "")
    (here / "inferred.yaml").write_text(inferred.out, encoding="utf-8")
    planned = lakebed("plan", "inferred.yaml", "--exit-code", "--warehouse", warehouse)
    assert (planned.code, planned.err) == (0, ""), planned.out
    assert planned.out.startswith("No changes: ")
    for command in ("show", "history"):
        result = lakebed(command, text, "--warehouse", warehouse)
        assert (result.code, result.err) == (0, "")
        assert lakebed(command, text, "--json", "--warehouse", warehouse).json["ok"]

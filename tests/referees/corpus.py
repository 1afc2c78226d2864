"""The tables of other implementations in the shared folder, each with the rows that must come out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referees.comparison import assert_same_rows
from referees.encoding import Row

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """One right answer: where the table lies, which of its states is read, its columns and its rows."""

    key: str
    warehouse: str
    table: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    snapshot: int | None
    branch: str | None
    features: frozenset[str]

    @property
    def path(self) -> Path:
        """The table's directory."""
        database, name = self.table.split(".")
        return Path(self.warehouse) / f"{database}.db" / name

    def check(self, actual: Sequence[Row], *, micros: bool = False) -> None:
        """Raises AssertionError unless `actual` holds these rows, in whatever order."""
        assert_same_rows(self.rows, actual, self.columns, micros=micros)

    def place_external_files(self) -> None:
        """Copies the files outside of the table to the absolute path that its manifests name."""
        source = self.path.parent / "external"
        if source.is_dir():
            shutil.copytree(source, "/tmp/external", dirs_exist_ok=True)


def load_expected(key: str, shared: Path = SHARED) -> ExpectedTable:
    """The right answer `expected/KEY.json`; KEY is `FORMAT__TABLE`, `FORMAT__TABLE@SNAPSHOT` or `...+branch_NAME`."""
    content = json.loads((shared / "tables" / "expected" / f"{key}.json").read_text(encoding="utf-8"))
    directory, database, table = content["path"].split("/")
    options = content["read_options"]
    return ExpectedTable(
        key=key,
        warehouse=str(shared / "tables" / directory),
        table=f"{database.removesuffix('.db')}.{table}",
        columns=tuple((name, kind) for name, kind in content["schema"]),
        rows=tuple(content["rows"]),
        snapshot=int(options["scan.snapshot-id"]) if "scan.snapshot-id" in options else None,
        branch=options.get("branch"),
        features=frozenset(content["features"]),
    )


def check_expected(
    key: str, reader: Callable[[ExpectedTable], Sequence[Row]], *, shared: Path = SHARED, micros: bool = False
) -> None:
    """Runs a reader on the table of a key and compares what it gives with the right answer."""
    expected = load_expected(key, shared)
    expected.place_external_files()
    expected.check(reader(expected), micros=micros)

"""Tells one story of the command line, from an empty directory on, and keeps what every step puts out as JSON.

The clock is fixed, one minute a step; places and random ids are replaced by words.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lakebed
from cli.other_engine import add_column
from lakebed.cli.main import run
from lakebed.format.commit import commit
from lakebed.format.manifest import ColumnStatistics, SimpleStats
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from migration.mini_files import RENAMES, USERS
from migration.mini_files import warehouse as mini_warehouse

START = 1_767_225_600_000_000_000  # 2026-01-01 in nanoseconds
MINUTE = 60_000_000_000

ORDERS = """\
kind: Table
version: 1
content:
  name: shop.orders
  description: Orders of the shop
  partitionKeys: [day]
  options: {file.format: parquet, bucket: '-1'}
  schema:
    fields:
      - {name: day, type: Date}
      - {name: id, type: Int32}
      - name: amount
        type: {kind: Decimal, precision: 9, scale: 2}
        extra:
          opendatafabric.org/description: Price paid
          x.org/unit: EUR
      - {name: note, type: {kind: Option, inner: String}}
      - name: place
        type:
          kind: Option
          inner:
            kind: Struct
            fields:
              - {name: lat, type: Float64}
              - {name: tags, type: {kind: List, itemType: String}}
"""

SAFE = ORDERS.replace("{name: id, type: Int32}", "{name: id, type: Int64}").replace(
    "{name: note, type: {kind: Option, inner: String}}",
    "{name: comment, type: {kind: Option, inner: String}, extra: {lakebed.dev/renamedFrom: note}}",
)
BREAKING = SAFE.replace("          x.org/unit: EUR\n", "").replace("precision: 9", "precision: 5")
FORBIDDEN = SAFE + "      - {name: required, type: Int32}\n"
WRONG = ORDERS.replace("Int32", "Int23").replace("partitionKeys", "partitionKey")

FORMS = ("odf-yaml", "odf-json", "arrow-json", "spark", "ddl", "paimon", "parquet-text", "json-schema")

LOOKING = (
    "show shop.orders",
    "show shop.orders@0",
    "show shop.orders --physical",
    "history shop.orders",
    "diff shop.orders@0 shop.orders@1",
    "tables",
    "infer shop.orders",
    "database list",
    "versions shop.orders",
    "orphans shop.orders",
    "tag list shop.orders",
    "branch list shop.orders",
    "read shop.orders --explain",
    "read shop.orders --explain --where id>15",
    "read shop.orders --count",
    "read shop.orders$files",
    "read shop.orders$snapshots",
)

STORY = (
    "init warehouse",
    "plan orders.yaml --out plan.json",
    "show plan.json",
    "apply plan.json --yes",
    "apply plan.json --yes",
    "plan orders.yaml --exit-code",
    "plan safe.yaml --out safe.json --exit-code",
    "apply safe.json --yes",
    *LOOKING,
    "plan breaking.yaml --exit-code",
    "apply breaking.yaml --yes",
    "apply breaking.yaml --yes --allow LB4206:amount",
    "plan forbidden.yaml --exit-code",
    "plan wrong.yaml",
    "plan missing.yaml",
    *(f"convert shop.orders --to {form}" for form in FORMS),
    "event export shop.orders chain",
    "event verify chain",
    "!rows under schema 0",
    "!rows under schema 1",
    "tag create shop.orders first --snapshot 1",
    "branch create shop.orders trial",
    "!another engine adds a column",
    "plan safe.yaml --exit-code",
    "apply safe.json --yes",
    *LOOKING,
    "rollback shop.orders --to 0 --dry-run",
    "rollback shop.orders --to snap:1 --yes --delete-tags",
    "branch delete shop.orders trial --yes",
    "tag delete shop.orders first --yes",
    "rename shop.orders shop.sales --yes",
    "tables",
    "drop shop.sales --yes",
    "drop shop.sales --yes",
    "database create archive",
    "database drop archive",
    "migrate mini new --dry-run",
    "migrate mini new --yes " + " ".join(f"--rename {r}" for r in RENAMES),
    "explain LB4203",
    "explain LB9999",
    "nonsense",
)

_RANDOM = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")


def tell(here: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each step of the story gave; `here` is an empty directory, the current one."""
    for name in ("orders", "safe", "breaking", "forbidden", "wrong"):
        (here / f"{name}.yaml").write_text(globals()[name.upper()], encoding="utf-8")
    for path, data in mini_warehouse(str(here / "mini"), {"shop/users": USERS}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    told = []
    for number, step in enumerate(STORY):
        now = START + number * MINUTE
        monkeypatch.setattr(time, "time_ns", lambda now=now: now)
        monkeypatch.setattr(time, "time", lambda now=now: now / 1e9)
        if step[0] == "!":
            _elsewhere(step, here / "warehouse", now // 1_000_000)
        else:
            told.append({"lakebed": step, **put_out(step.split(), here)})
    return told


def saved_plans(here: Path) -> dict[str, Any]:
    """The plan files that the story has left behind."""
    return {name: json.loads((here / name).read_text(encoding="utf-8")) for name in ("plan.json", "safe.json")}


def _elsewhere(step: str, warehouse: Path, now: int) -> None:
    """What other engines do in the meantime."""
    match step:
        case "!rows under schema 0":
            _append(warehouse, 0, range(1, 6), now)
        case "!rows under schema 1":
            _append(warehouse, 1, range(10, 21), now)
        case "!another engine adds a column":
            add_column(warehouse, "shop.orders", "their_column", "INT")
        case _:
            raise AssertionError(step)


def _append(warehouse: Path, schema_id: int, ids: range, now: int) -> None:
    """A snapshot with one file more, that has these `id`s; of the file there is only the name."""
    lake = lakebed.open(warehouse)
    schemas = lake.tables.get_schema_manager("shop", "orders")
    known = {
        "day": ColumnStatistics(20_000, 20_000, 0),
        "id": ColumnStatistics(ids[0], ids[-1], 0),
        "amount": ColumnStatistics(Decimal("0.50"), Decimal("99.99"), 0),
    }
    schema = schemas.load_schema(schema_id)
    fields = schema.fields
    file = new_append_file(
        schema,
        (20_000,),
        file_name=f"data-{schema_id}-0.parquet",
        size=1000,
        rows=len(ids),
        stats=SimpleStats.of([f.type for f in fields], [known.get(f.name, ColumnStatistics()) for f in fields]),
        created=now,
    )
    table = TableStorage(lake.store, lake.tables.table_path("shop.orders"), schemas)
    commit(table, SnapshotChange(commit_user=f"user-{schema_id}", added=(file,)), clock=lambda: now)


def put_out(words: list[str], here: Path) -> dict[str, Any]:
    """The exit code and the output of one command with `--json`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, "--json"])
    text = _RANDOM.sub("<random>", out.getvalue().replace(str(here), "<here>"))
    return {"exit code": int(code), "out": _parsed(text), **({"err": err.getvalue()} if err.getvalue() else {})}


def _parsed(text: str) -> Any:
    """The one object, or the rows, of which each line holds one."""
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]

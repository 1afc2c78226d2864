from __future__ import annotations

from pathlib import Path

import pytest

from cli.command_line import CommandLine

MANIFEST = """\
kind: Table
version: 1
content:
  name: shop.orders
  description: Orders of the shop
  partitionKeys: [day]
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
"""


@pytest.fixture
def lakebed(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, and nothing in the environment that changes what comes out."""
    for variable in ("LAKEBED_WAREHOUSE", "NO_COLOR", "COLUMNS", "SPARK_REMOTE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def warehouse(lakebed: CommandLine, here: Path) -> Path:
    """An empty warehouse that `lakebed.toml` names."""
    assert lakebed("init", "warehouse").code == 0
    return here / "warehouse"


@pytest.fixture
def orders(lakebed: CommandLine, warehouse: Path, here: Path) -> Path:
    """`orders.yaml`, applied."""
    path = here / "orders.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    assert lakebed("apply", "orders.yaml", "--yes").code == 0
    return path

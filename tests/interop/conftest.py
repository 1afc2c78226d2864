from __future__ import annotations

from pathlib import Path

import pytest

import lakebed


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    """An empty warehouse."""
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    return lakebed.open(warehouse)

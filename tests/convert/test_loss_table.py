"""The page about what conversions lose says what they do lose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from convert.loss_table import FEATURES, SOURCES, TARGETS, lost, tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "conversions.md"
BEGIN, END = "<!-- begin: made by tests/convert/test_loss_table.py -->\n", "<!-- end -->"
#: They have a place for everything.
LOSSLESS = ("delta", "avro", "json-schema", "odcs", "dbt")


def test_the_page_has_the_table_of_losses() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{before}{BEGIN}{tables()}{END}{after}"
    if os.environ.get("LAKEBED_GOLDEN") == "write":
        PAGE.write_text(made, encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8"), "LAKEBED_GOLDEN=write python -m pytest this file"


@pytest.mark.parametrize("source", LOSSLESS)
def test_forms_with_a_place_for_everything_lose_nothing_of_each_other(source: str) -> None:
    assert {target: list(lost(source, target)) for target in LOSSLESS} == {target: [] for target in LOSSLESS}


def test_features_and_forms_are_told_apart() -> None:
    assert len({feature.label for feature in FEATURES}) == len(FEATURES)
    assert {*SOURCES} >= {"table", "parquet", "iceberg"}
    assert {*TARGETS} >= {"protobuf", "parquet-text", "iceberg"}
    assert 35 in lost("odf-yaml", "ddl"), "a list of columns has no keys"
    assert 35 not in lost("avro", "iceberg"), "Iceberg has identifier fields"

"""Columns that consumers read and others change: `drift` and `plan` name the consumers, `pull` and `infer` follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command_line import CommandLine
from cli.other_engine import drop_column, rename_column

MANIFEST = """\
kind: Table
version: 1
content:
  name: shop.orders
  consumers:
    # Asks each month.
    - name: monthly report
      owner: Finance
      columns:
        - id
        - total  # in cents
    - {name: letters, columns: [address.city, note]}
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: total, type: {kind: Option, inner: Int32}}
      - name: address
        type: {kind: Option, inner: {kind: Struct, fields: [{name: city, type: {kind: Option, inner: String}}]}}
      - {name: note, type: {kind: Option, inner: String}}
"""
FINANCE, LETTERS = "monthly report (Finance) reads total: ", "letters reads address.city: "


@pytest.fixture
def orders(lakebed: CommandLine, warehouse: Path, here: Path) -> Path:
    path = here / "orders.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    lakebed.ok("apply", "orders.yaml", "--yes")
    return path


def test_a_rename_is_told_and_followed(lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
    rename_column(warehouse, "shop.orders", "total", "sum")
    rename_column(warehouse, "shop.orders", "address", "place")
    missed = "those who read it by its old name do not find it"
    said = [FINANCE + missed, "letters reads address: " + missed]
    (table,) = lakebed.json("drift")["tables"]
    assert table["broken_consumers"] == said
    assert all(f"    {line}" in lakebed.ok("drift").splitlines() for line in said)
    for form in ("text", "markdown"):
        assert all(f"breaks a consumer: {line}" in lakebed.ok("plan", ".", "--format", form) for line in said)
    # Undoing the renames breaks nobody who reads the old names.
    assert "LB4243" not in lakebed.ok("plan", "orders.yaml")
    inferred = lakebed("infer", "shop.orders")
    assert (inferred.code, inferred.err, "- place.city" in inferred.out) == (0, "", True)
    for how in ((), ("--whole",)):
        orders.write_text(MANIFEST, encoding="utf-8")
        lakebed.ok("pull", *how)
        text = orders.read_text(encoding="utf-8")
        kept = text[: text.index("  schema:")]
        followed = MANIFEST.replace("- total", "- sum").replace("address.city", "place.city")
        assert kept == followed[: followed.index("  schema:")]
    (change,) = lakebed.json("plan", "orders.yaml")["tables"][0]["changes"]
    assert (change["verdict"], change["name"]) == ("safe", "lakebed.dev/consumers")
    lakebed.ok("apply", "orders.yaml", "--yes")
    assert lakebed.ok("drift").strip() == "Tables: 1 as declared."


def test_a_drop_is_told_and_leaves_a_choice(lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
    drop_column(warehouse, "shop.orders", "total")
    drop_column(warehouse, "shop.orders", "address")
    gone = "those who read it do not find it any more"
    assert lakebed.json("drift")["tables"][0]["broken_consumers"] == [FINANCE + gone, "letters reads address: " + gone]
    refused = lakebed("pull")
    assert (refused.code, refused.codes_of_text) == (1, ["LB1634", "LB1634"])
    assert "orders.yaml:11:11" in refused.err
    assert orders.read_text(encoding="utf-8") == MANIFEST
    # The one way: without the columns.
    assert "take total out of the `columns` of monthly report, and pull again" in refused.err
    shorter = MANIFEST.replace("        - total  # in cents\n", "").replace("address.city, ", "")
    orders.write_text(shorter, encoding="utf-8")
    lakebed.ok("pull")
    assert "total" not in orders.read_text(encoding="utf-8")
    lakebed.ok("apply", "orders.yaml", "--yes")
    assert lakebed.ok("drift").strip() == "Tables: 1 as declared."


def test_the_other_choice_is_to_have_the_columns_again(lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
    drop_column(warehouse, "shop.orders", "total")
    assert "apply the manifest with `--drift revert`" in lakebed("pull").err
    lakebed.ok("apply", "orders.yaml", "--yes", "--drift", "revert")
    assert lakebed.ok("drift").strip() == "Tables: 1 as declared."
    assert lakebed.ok("pull").startswith("Nothing to pull")


def test_what_is_gone_is_left_out_of_a_manifest_of_the_whole_table(
    lakebed: CommandLine, orders: Path, warehouse: Path
) -> None:
    drop_column(warehouse, "shop.orders", "total")
    inferred = lakebed("infer", "shop.orders")
    assert (inferred.code, inferred.err.count("warning[LB1634]"), "total" in inferred.out) == (0, 1, False)
    pulled = lakebed("pull", "--whole", "--json")
    assert (pulled.code, pulled.codes) == (0, ["LB1634"])
    assert "total" not in orders.read_text(encoding="utf-8")

"""`plan`, `check` and `apply` with `--data`: the commands of the page on it, with what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.command_line import CommandLine
from lakebed import open as open_lake
from read.foreign_files import put_rows

PAGE = (Path(__file__).resolve().parents[2] / "docs/how-to/prove-changes-by-the-rows.md").read_text(encoding="utf-8")
(ASKED,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
(SHOWN,) = re.findall(r"```\n(.*?)```\n", PAGE.partition("lakebed plan --data orders.yaml\n")[2], re.S)[:1]
QUANTITY = "quantity, type: {kind: Option, inner: Int16}"
BEFORE = (
    ASKED.replace("type: String}", "type: {kind: Option, inner: String}}")
    .replace("Int16", "Int64")
    .replace("extra: {lakebed.dev/enum: [new, paid, sent]}", "extra: {}")
)


@pytest.fixture
def orders(here: Path, warehouse: Path, lakebed: CommandLine) -> Path:
    """The table of the page, two files of rows, and what is asked of it."""
    Path("orders.yaml").write_text(BEFORE, encoding="utf-8")
    lakebed.ok("apply", "--yes", "orders.yaml")
    lake = open_lake(warehouse)
    for name, statuses in (("march", ["new", "paid", "sent"]), ("april", ["payed", "payed", None])):
        rows = [{"id": n, "customer": "c", "quantity": n, "status": status} for n, status in enumerate(statuses)]
        if name == "april":
            rows[0]["customer"] = None
        put_rows(lake, "shop.orders", "parquet", rows, name=f"{name}.parquet")
    Path("orders.yaml").write_text(ASKED, encoding="utf-8")
    return here


def test_the_page_shows_what_a_plan_prints(orders: Path, lakebed: CommandLine) -> None:
    assert lakebed.ok("plan", "--data", "orders.yaml") == SHOWN
    evidence = lakebed.json_of("plan", "--data", "orders.yaml")["tables"][0]["changes"][0]["evidence"]
    assert (evidence["outcome"], evidence["unfit"], evidence["examples"]) == ("refuted", 1, ["april.parquet"])
    assert "rows: 1 of 6 rows is NULL" in lakebed.ok("plan", "--data", "--format", "markdown", "orders.yaml")
    assert "rows:" not in lakebed.ok("plan", "orders.yaml")


def test_check_ends_with_11_where_rows_do_not_fit(orders: Path, lakebed: CommandLine) -> None:
    result = lakebed("check", "--data", "--engine", "arrow")
    assert result.code == 11
    assert "Tables against the warehouse: 1 changed. Changes: 1 safe, 2 breaking." in result.out
    leave = ["--allow", "LB4210:customer", "--allow", "LB4234"]
    assert lakebed("check", "--data", *leave).code == 0
    found = lakebed.json_of("check", "--data", "orders.yaml")["tables"][0]["changes"]
    assert [change["evidence"]["outcome"] for change in found] == ["refuted", "proven", "refuted"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check",), "give one of --against git:REF and --data"),
        (("check", "--data", "--against", "git:main"), "give one of --against git:REF and --data"),
        (("plan", "--engine", "arrow", "orders.yaml"), "takes --data"),
    ],
)
def test_what_makes_no_sense_together(orders: Path, lakebed: CommandLine, words: tuple[str, ...], said: str) -> None:
    result = lakebed(*words)
    assert (result.code, said in result.err) == (2, True), result.err


def test_what_was_proven_is_applied_as_long_as_no_rows_come(orders: Path, lakebed: CommandLine) -> None:
    only_quantity = BEFORE.replace("quantity, type: {kind: Option, inner: Int64}", QUANTITY)
    Path("orders.yaml").write_text(only_quantity, encoding="utf-8")
    assert lakebed("apply", "--yes", "orders.yaml").codes_of_text == ["LB4206"]
    lakebed.ok("plan", "--data", "--out", "plan.json", "orders.yaml")
    assert lakebed("apply", "--data", "--yes", "plan.json").codes_of_text == ["LB7004"]
    put_rows(open_lake(orders / "warehouse"), "shop.orders", "parquet", [{"id": 1, "customer": "c", "quantity": 2}])
    result = lakebed("apply", "--yes", "plan.json")
    assert (result.code, result.codes_of_text) == (12, ["LB4309"])
    assert "now at schema 1" in lakebed.ok("apply", "--data", "--yes", "orders.yaml")


def test_an_approval_for_what_the_rows_prove_is_not_unused(orders: Path, lakebed: CommandLine) -> None:
    """`check` without rows wants it; with it `apply` makes the change whatever rows have come."""
    approval = "  approvals: [{code: LB4206, path: quantity, reason: all are small, until: 2999-12-31}]\n"
    only_quantity = BEFORE.replace("quantity, type: {kind: Option, inner: Int64}", QUANTITY)
    Path("orders.yaml").write_text(only_quantity.replace("  schema:", approval + "  schema:"), encoding="utf-8")
    planned = lakebed("plan", "--data", "--out", "plan.json", "orders.yaml")
    assert ("LB4206: all stored rows fit" in planned.out, "LB4238" in planned.err) == (True, False)
    put_rows(open_lake(orders / "warehouse"), "shop.orders", "parquet", [{"id": 1, "customer": "c", "quantity": 2}])
    assert "now at schema 1" in lakebed.ok("apply", "--yes", "plan.json")


def test_an_option_that_forbids_what_the_rows_allow(orders: Path, lakebed: CommandLine) -> None:
    disabled = '  options: {alter-column-null-to-not-null.disabled: "true"}'
    only_id = BEFORE.replace('  options: {alter-column-null-to-not-null.disabled: "false"}', disabled)
    Path("orders.yaml").write_text(only_id, encoding="utf-8")
    lakebed.ok("apply", "--yes", "orders.yaml")
    Path("orders.yaml").write_text(
        only_id.replace("{name: quantity, type: {kind: Option, inner: Int64}}", "{name: quantity, type: Int64}")
    )
    out = lakebed.ok("plan", "--data", "orders.yaml")
    option = "option alter-column-null-to-not-null.disabled"
    assert f"LB4210: {option} forbids it, though no stored row is null there" in out
    assert f"remedy: set {option} to false" in out
    assert "may hold nulls" not in out

"""`lakebed docs build` and `lakebed docs serve`."""

from __future__ import annotations

import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from cli.command_line import CommandLine, process


@pytest.mark.usefixtures("orders")
def test_the_site_of_a_warehouse(lakebed: CommandLine, here: Path) -> None:
    assert lakebed.ok("docs", "build", "--out", "site", "--title", "Shop") == "1 table, 4 pages: site/index.html\n"
    text = (here / "site/tables/shop.orders.html").read_text(encoding="utf-8")
    assert "<title>shop.orders · Shop</title>" in text
    assert "x.org/unit=EUR" in text
    assert 'id="history"' in text


@pytest.mark.usefixtures("orders")
def test_what_manifests_would_change_stands_beside_what_is_stored(lakebed: CommandLine, here: Path) -> None:
    manifest = here / "orders.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("name: id, type: Int32", "name: id, type: Int64"))
    result = lakebed.json("docs", "build", "orders.yaml", "--out", "site")
    assert result["tables"] == ["shop.orders"]
    text = (here / "site/tables/shop.orders.html").read_text(encoding="utf-8")
    assert "change type of id from Int32 to Int64" in text
    assert "Not applied yet" in text


def test_manifests_need_no_warehouse(lakebed: CommandLine, here: Path) -> None:
    (here / "schemas").mkdir()
    manifest = (
        "kind: Table\nversion: 1\ncontent:\n  name: shop.Items\n  schema:\n    fields: [{name: id, type: Int32}]\n"
    )
    (here / "schemas/items.yaml").write_text(manifest, encoding="utf-8")
    (here / "lakebed.toml").write_text('[lint]\nLB1701 = "error"\n', encoding="utf-8")
    result = lakebed.json("docs", "build", "schemas", "--out", "site")
    # What the rules of the project say has a page, and stops nothing.
    assert (here / "site/codes/LB1701.html").is_file()
    assert result["unreadable"] == []
    without = lakebed("docs", "build", "--out", "site")
    assert (without.code, without.codes_of_text) == (2, ["LB7001"])


@pytest.mark.usefixtures("orders")
def test_a_table_that_cannot_be_read_is_told(lakebed: CommandLine, warehouse: Path) -> None:
    (warehouse / "shop.db/orders/schema/schema-0").write_text("{", encoding="utf-8")
    result = lakebed("docs", "build", "--out", "site")
    assert result.code == 1
    assert len(result.codes_of_text) == 1
    assert result.out.startswith("0 tables, ")


@pytest.mark.usefixtures("orders")
def test_no_other_directory_is_taken(lakebed: CommandLine, here: Path) -> None:
    result = lakebed("docs", "build", "--out", ".")
    assert (result.code, result.codes_of_text) == (2, ["LB7080"])
    assert (here / "orders.yaml").is_file()


@pytest.mark.usefixtures("orders")
def test_it_is_served_until_it_is_stopped() -> None:
    with process("docs", "serve", "--port", "0", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdout is not None
        said = server.stdout.readline().decode()
        url = next(word for word in said.split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(f"{url}tables/shop.orders.html") as answer:
            assert b"Price paid" in answer.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 0

"""What needs no rows starts without the heavy libraries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
HEAVY = {"pyspark", "pyarrow", "pandas", "numpy", "fastavro", "fsspec", "ruamel", "yaml", "rich"}

MANIFEST = """\
kind: Table
version: 1
content:
  name: shop.orders
  schema:
    fields:
      - {name: id, type: Int32}
"""


def imported(code: str, *arguments: str, status: int = 0) -> set[str]:
    """The top-level packages that a fresh interpreter has imported after running `code`."""
    command = [sys.executable, "-X", "importtime", "-c", code, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == status, done.stderr[-2000:]
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 20, "the interpreter did not say what it imported"
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_the_probe_sees_heavy_libraries() -> None:
    assert imported("import pyarrow") & HEAVY


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["plan", "--help"], ["ingest", "--help"]], ids=" ".join
)
def test_help_needs_none_of_them(arguments: list[str]) -> None:
    assert not imported("from lakebed.cli.main import main; main()", *arguments) & HEAVY


@pytest.mark.parametrize("line", ["", "read ", "read db.t --select a", "explain LB42", "plan x.yaml --allow LB4203:"])
def test_a_key_press_in_a_shell_needs_none_of_them(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_LAKEBED_COMPLETE", "bash_complete")
    monkeypatch.setenv("LAKEBED_LINE", f"lakebed --warehouse {tmp_path} {line}")
    # What manifests declare needs a reader of YAML.
    assert not imported("from lakebed.cli.main import main; main()") & (HEAVY - {"ruamel"})


def test_importing_the_package_needs_none_of_them() -> None:
    assert not imported("import lakebed; lakebed.LakebedError") & HEAVY


def test_planning_needs_neither_spark_nor_arrow(tmp_path: Path) -> None:
    manifest, warehouse = tmp_path / "orders.yaml", tmp_path / "warehouse"
    manifest.write_text(MANIFEST, encoding="utf-8")
    warehouse.mkdir()
    code = "from lakebed.cli.main import main; main()"
    found = imported(code, "--warehouse", str(warehouse), "plan", str(manifest))
    assert not found & (HEAVY - {"yaml", "rich"})
    assert "yaml" in found


def test_a_site_needs_neither_spark_nor_arrow(tmp_path: Path) -> None:
    import lakebed

    manifest, warehouse = tmp_path / "orders.yaml", tmp_path / "warehouse"
    manifest.write_text(MANIFEST, encoding="utf-8")
    warehouse.mkdir()
    lake = lakebed.open(str(warehouse))
    lake.apply(lake.plan(manifest))
    code = "from lakebed.cli.main import main; main()"
    words = ("docs", "build", str(manifest), "--out", str(tmp_path / "site"))
    assert not imported(code, "--warehouse", str(warehouse), *words) & {"pyspark", "pyarrow", "pandas", "numpy"}
    assert (tmp_path / "site/tables/shop.orders.html").is_file()


def test_what_needs_no_warehouse_needs_neither_spark_nor_arrow(tmp_path: Path) -> None:
    manifest = tmp_path / "orders.yaml"
    manifest.write_text(MANIFEST, encoding="utf-8")
    code = "from lakebed.cli.main import main; main()"
    for words in (["validate"], ["fmt"], ["lint"], ["check", "--against", str(manifest)]):
        assert not imported(code, *words, str(manifest)) & (HEAVY - {"ruamel", "yaml"}), words


def test_an_error_needs_no_text_of_the_register(tmp_path: Path) -> None:
    code = """
import sys, lakebed, lakebed.codes
try:
    lakebed.open(sys.argv[1])
except lakebed.LakebedError as error:
    assert error.code == "LB3112", error
else:
    raise SystemExit("it was opened")
assert lakebed.codes.register.cache_info().currsize == 0, "the register was read"
assert "LB3112" in lakebed.codes.register()
assert lakebed.codes.register.cache_info().currsize == 1
"""
    assert "lakebed" in imported(code, str(tmp_path / "nothing"))

"""The wheel: what is in it, and that it works where nothing else of this repository is."""

import json
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TABLES = REPOSITORY.parent / "shared" / "tables"
DEMO = REPOSITORY / "demo-warehouse"

SCRIPT = """\
import json, sys, lakebed
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
rows = lakebed.open(sys.argv[1]).read(spark, sys.argv[2]).groupBy(sys.argv[3]).count().collect()
print(json.dumps({"place": lakebed.__file__, "counts": {str(key): count for key, count in rows}}))
"""

FIRST = """\
kind: Table
version: 1
content:
  name: shop.orders
  partitionKeys: [day]
  schema:
    fields:
      - {name: day, type: Int32}
      - {name: amount, type: Int32}
"""
SECOND = FIRST.replace(
    "{name: amount, type: Int32}", "{name: total, type: Int64, extra: {lakebed.dev/renamedFrom: amount}}"
)

# The flights of 2013, and what the demo spoils.
FLIGHTS = 336_776


@pytest.fixture(scope="session")
def bare(environment_of: Callable[[str], Path]) -> Path:
    """The environment of the extra `spark`."""
    return environment_of("spark")


@pytest.fixture(scope="session")
def orders(spark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a small table that has evolved."""
    import lakebed

    directory = tmp_path_factory.mktemp("bare-orders")
    warehouse, manifest = directory / "warehouse", directory / "orders.yaml"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    for text, columns, rows in [
        (FIRST, "day int, amount int", [(1, 10), (2, 20)]),
        (SECOND, "day int, total long", [(2, 30)]),
    ]:
        manifest.write_text(text, encoding="utf-8")
        lake.apply(lake.plan(manifest))
        lake.ingest(spark, "shop.orders", spark.createDataFrame(rows, columns))
    return warehouse


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        information = f"lakebed-{project['version']}.dist-info"
        metadata = archive.read(f"{information}/METADATA").decode()
    assert {name.split("/")[0] for name in names} == {"lakebed", information}
    assert {"lakebed/py.typed", f"{information}/licenses/LICENSE", f"{information}/entry_points.txt"} <= names
    source = {str(p.relative_to(REPOSITORY / "src")) for p in (REPOSITORY / "src").rglob("*") if p.is_file()}
    assert {name for name in source if "__pycache__" not in name} == {n for n in names if n.startswith("lakebed/")}
    assert "License-Expression: Apache-2.0" in metadata
    assert not [
        line for line in metadata.splitlines() if line.startswith("Requires-Dist: pyspark") and "extra" not in line
    ]


@pytest.mark.slow
def test_the_command_works_in_a_bare_environment(bare: Path, run_in: Callable[..., str]) -> None:
    assert run_in(bare, "lakebed", "--version").startswith("lakebed 0.")
    assert "ingest" in run_in(bare, "lakebed", "--help")
    assert "column is dropped" in run_in(bare, "lakebed", "explain", "LB4203")


@pytest.mark.slow
def test_the_extra_spark_alone_is_enough(bare: Path, run_in: Callable[..., str], tmp_path: Path) -> None:
    tables = [str(TABLES)] if TABLES.is_dir() else []
    printed = run_in(bare, "python", str(Path(__file__).with_name("smoke.py")), "spark", str(tmp_path), *tables)
    assert printed.splitlines()[-1].startswith("lakebed ")


@pytest.mark.slow
def test_spark_submit_reads_a_table(bare: Path, run_in: Callable[..., str], orders: Path, tmp_path: Path) -> None:
    answer = submit(run_in, bare, tmp_path, orders, "shop.orders", "total")
    assert answer["counts"] == {"10": 1, "20": 1, "30": 1}
    assert answer["place"].startswith(str(bare)), "another Lakebed than the wheel's was imported"


@pytest.mark.slow
@pytest.mark.skipif(not DEMO.is_dir(), reason=f"no {DEMO.name}: `make demo` makes it")
def test_spark_submit_reads_the_table_of_the_demo(bare: Path, run_in: Callable[..., str], tmp_path: Path) -> None:
    counts = submit(run_in, bare, tmp_path, DEMO, "nyc.flights", "month")["counts"]
    assert set(counts) == {str(month) for month in range(1, 13)}
    assert FLIGHTS * 0.9 < sum(counts.values()) <= FLIGHTS


def submit(
    run_in: Callable[..., str], environment: Path, directory: Path, warehouse: Path, table: str, column: str
) -> dict:
    """What the script prints, run by spark-submit."""
    script = directory / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    options = ["--master", "local[2]", "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"]
    printed = run_in(environment, "spark-submit", *options, str(script), str(warehouse), table, column)
    return json.loads(printed.strip().splitlines()[-1])

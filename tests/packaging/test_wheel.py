"""The wheel: what is in it, and that it works where nothing else of this repository is."""

import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TABLES = REPOSITORY.parent / "shared" / "tables"
DEMO = REPOSITORY / "demo-warehouse"

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

# One start of Spark, by its own script.
SUBMIT = ("spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--conf")
SUBMIT += ("spark.driver.host=127.0.0.1", "--conf", "spark.sql.shuffle.partitions=2")


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


@pytest.fixture(scope="session")
def seen(smoke: Callable[..., dict[str, str]], orders: Path) -> dict[str, str]:
    """What went wrong in each check, run by spark-submit where there is nothing but the extra `spark`."""
    places = {name: place for name, place in (("tables", TABLES), ("demo", DEMO)) if place.is_dir()}
    return smoke("spark", *SUBMIT, orders=orders, **places)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    [
        "packages",
        "main job",
        pytest.param(
            "tables", marks=pytest.mark.skipif(not TABLES.is_dir(), reason="the folder of foreign tables is absent")
        ),
        "orders",
        pytest.param(
            "demo", marks=pytest.mark.skipif(not DEMO.is_dir(), reason=f"no {DEMO.name}: `make demo` makes it")
        ),
    ],
)
def test_the_extra_spark_alone_is_enough_for_spark_submit(seen: dict[str, str], check: str) -> None:
    assert seen[check] == ""

"""What each extra promises, done once where nothing but that extra is installed; ends with 0 when all of it came out.

    python smoke.py EXTRA DIRECTORY [TABLES]

DIRECTORY is an empty one to work in, TABLES the folder of tables of other implementations. Other files of this
repository are not needed, and none is imported.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lakebed
from lakebed.cli.main import run

FIRST = """\
kind: Table
version: 1
content:
  name: shop.orders
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: amount, type: Int32}
      - {name: tags, type: {kind: Option, inner: {kind: List, itemType: String}}}
      - {name: at, type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}}
"""
SECOND = FIRST.replace(
    "{name: amount, type: Int32}", "{name: total, type: Int64, extra: {lakebed.dev/renamedFrom: amount}}"
)
ROWS = [
    '{"id":1,"amount":10,"tags":["a","b"],"at":"2024-01-01T00:00:00"}',
    '{"id":2,"amount":20}',
    '{"id":3,"amount":"x"}',
]
LATER = ['{"id":4,"total":5000000000,"tags":[]}']
WHOLE = [(1, 10, ["a", "b"]), (2, 20, None), (4, 5_000_000_000, [])]
#: Tables of others: Avro files, blobs, row ranges that are put together, deletion vectors.
FOREIGN = (
    "java__n_avro",
    "parquet__blob_append_table_alter_table_with_cast_with_data_evolution",
    "parquet__data_evolution_with_dense_stats",
    "parquet__pk_table_scan_and_read_dv",
)


def check(what: str, found: Any, wanted: Any = True) -> None:
    """End the process where something else came out."""
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, wanted {wanted!r}")


def command(*words: str, code: int = 0) -> None:
    """Run a command line of Lakebed."""
    check(f"lakebed {' '.join(words)}", run(words), code)


def declared(directory: Path, warehouse: str) -> lakebed.Lake:
    """A warehouse with the table in its first version."""
    if "://" not in warehouse:
        Path(warehouse).mkdir()
    lake = lakebed.open(warehouse)
    declare(lake, directory, FIRST)
    return lake


def declare(lake: lakebed.Lake, directory: Path, text: str) -> None:
    """Plan and apply a manifest."""
    manifest = directory / "orders.yaml"
    manifest.write_text(text, encoding="utf-8")
    lake.apply(lake.plan(manifest))
    check("a second plan has nothing to do", lake.plan(manifest).is_noop)


def base(directory: Path) -> None:
    """What needs no extra: schemas of a warehouse on a disk."""
    check("PySpark is not there", find_spec("pyspark") is None)
    check("PyArrow is not there", find_spec("pyarrow") is None)
    lake = declared(directory, str(directory / "warehouse"))
    declare(lake, directory, SECOND)
    check("versions", [v.id for v in lake.tables.get_schema_manager("shop", "orders").versions()], [0, 1])
    check("count", lake.count("shop.orders"), 0)
    manifest = str(directory / "orders.yaml")
    for form in ("odf-yaml", "odf-json", "odf-event", "ddl", "paimon", "parquet-text", "json-schema"):
        command("convert", manifest, "--to", form, "--out", str(directory / form))


def arrow(directory: Path) -> None:
    """Schemas of Arrow, Parquet and ORC."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.orc
    import pyarrow.parquet

    check("PySpark is not there", find_spec("pyspark") is None)
    table = pa.table({"id": pa.array([1], pa.int64()), "tags": pa.array([["a"]], pa.list_(pa.string()))})
    pa.parquet.write_table(table, directory / "t.parquet")
    pa.orc.write_table(table, directory / "t.orc")
    pa.feather.write_feather(table, directory / "t.feather")
    for name in ("t.parquet", "t.orc", "t.feather"):
        command("convert", str(directory / name), "--to", "arrow-json", "--out", str(directory / "schema.json"))
        command(
            "convert",
            str(directory / "schema.json"),
            "--from",
            "arrow-json",
            "--to",
            "arrow",
            "--out",
            str(directory / "schema.arrow"),
        )
        command(
            "convert",
            str(directory / "schema.arrow"),
            "--from",
            "arrow",
            "--to",
            "ddl",
            "--out",
            str(directory / "ddl"),
        )
        check(name, "BIGINT" in (directory / "ddl").read_text())


def fsspec(directory: Path) -> None:
    """A warehouse on a URL."""
    check("PySpark is not there", find_spec("pyspark") is None)
    check("PyArrow is not there", find_spec("pyarrow") is None)
    lake = declared(directory, "memory://warehouse")
    declare(lake, directory, SECOND)
    check("tables", [str(t) for t in lake.tables.list_tables("shop")], ["orders"])
    check("history", len(lake.history("shop.orders").versions), 2)


def spark(directory: Path, tables: Path | None) -> None:
    """The main job in a Spark of this process, and the tables of others."""
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.log.level": "ERROR"}
    session = SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate()
    main_job(session, directory)
    if tables is not None:
        foreign_tables(session, tables)
    session.stop()


def connect(directory: Path, tables: Path | None) -> None:
    """The same through Spark Connect."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote("local[2]").getOrCreate()
    check("the session", type(session).__module__, "pyspark.sql.connect.session")
    main_job(session, directory)
    if tables is not None:
        foreign_tables(session, tables)
    session.stop()


def demo(directory: Path) -> None:
    """The first month of the demo, in a session like its own."""
    from importlib.resources import files

    from lakebed.demo.__main__ import MANIFESTS, TABLE
    from lakebed.demo.flights import load, write_month
    from lakebed.spark.session import local_session

    months = load()
    (directory / "warehouse").mkdir()
    lake = lakebed.open(directory / "warehouse")
    session = local_session("smoke", cores="2")
    lake.apply(lake.plan(str(files("lakebed.demo").joinpath("manifests", MANIFESTS[1][0]))))
    source = write_month(1, months.rows[1], directory)
    result = lake.ingest(session, TABLE, str(source), options={"nullValue": "NA"})
    check("rows of January", result.rows_read, months.expected[1].rows + months.expected[1].bad)
    session.stop()


def main_job(session: Any, directory: Path) -> None:
    """Declare, ingest, evolve, read; by the library, by the data source, and what went to quarantine."""
    lake = declared(directory, str(directory / "warehouse"))
    for number, lines in enumerate((ROWS, LATER)):
        if number:
            declare(lake, directory, SECOND)
        source = directory / f"{number}.jsonl"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        result = lake.ingest(session, "shop.orders", str(source))
        bad = 1 - number
        check("rows", (result.rows_written, result.rows_quarantined), (len(lines) - bad, bad))
    check("read", rows(lake.read(session, "shop.orders", where="total > 0")), WHOLE)
    check("count", lake.count("shop.orders"), 3)
    views = lake.register(session)
    by_format = session.read.format("lakebed").load("shop.orders")
    check("by the data source", rows(by_format.where("total > 0")), WHOLE)
    check("by SQL", [session.table(f"`{view}`").count() for view in sorted(views)], [3, 1])
    for quarantine in (
        lake.read(session, "shop.orders__quarantine"),
        session.read.format("lakebed").load("shop.orders__quarantine"),
    ):
        [[problems, raw]] = quarantine.select("problems", "raw").collect()
        check("the bad row", (problems[0]["path"], '"x"' in raw), ("amount", True))


def foreign_tables(session: Any, tables: Path) -> None:
    """What Spark has no reader for, and rows that are put together."""
    for key in FOREIGN:
        wanted = json.loads((tables / "expected" / f"{key}.json").read_text(encoding="utf-8"))
        place, database, table = wanted["path"].split("/")
        lake = lakebed.open(tables / place)
        found = lake.read(session, f"{database.removesuffix('.db')}.{table}").collect()
        check(key, len(found), len(wanted["rows"]))


def rows(frame: Any) -> list[tuple[Any, ...]]:
    """The rows in order."""
    return sorted((row.id, row.total, row.tags) for row in frame.collect())


def foreign_packages(extra: str) -> list[str]:
    """The packages of this environment that neither Lakebed nor the extra asks for."""
    from importlib.metadata import distributions

    return sorted({_plain(d.metadata["Name"]) for d in distributions()} - _asked_for(extra) - {"pip", "setuptools"})


def _asked_for(extra: str) -> set[str]:
    from pip._vendor.packaging.requirements import Requirement

    found: set[tuple[str, str]] = set()
    open_ = [("lakebed", ""), ("lakebed", extra)]
    while open_:
        name, own = open_.pop()
        if (name, own) in found:
            continue
        found.add((name, own))
        try:
            needed = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue
        for need in needed:
            if need.marker is None or need.marker.evaluate({"extra": own}):
                open_ += [(_plain(need.name), e) for e in ("", *need.extras)]
    return {name for name, _ in found}


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def main(extra: str, directory: str, tables: str | None = None) -> None:
    """Do what an extra promises. `-` in front of the extra lets other packages be there."""
    if not extra.startswith("-"):
        check("packages that nothing asks for", foreign_packages(extra), [])
    place = Path(directory)
    given = None if tables is None else Path(tables)
    match extra.removeprefix("-"):
        case "base":
            base(place)
        case "arrow":
            arrow(place)
        case "fsspec":
            fsspec(place)
        case "spark":
            spark(place, given)
        case "connect":
            connect(place, given)
        case "demo":
            demo(place)
        case other:
            raise SystemExit(f"there is no extra {other}")
    print("lakebed", extra)


if __name__ == "__main__":
    main(*sys.argv[1:])

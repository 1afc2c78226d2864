"""What each extra promises, done where nothing but that extra is installed; prints as JSON what went wrong a check.

    python smoke.py EXTRA DIRECTORY [NAME=PLACE ...]

DIRECTORY is an empty one to work in. Places by name, without which some checks are left out: `tables`, the folder of
tables of other implementations, `orders`, a warehouse with `shop.orders`, and `demo`, the warehouse of the demo; for
the extra `connect` also `server`, the address of a Spark Connect server. All checks of an extra share one session.
Other files of this repository are not needed, and none is imported.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, distribution, requires
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
#: What the demo's table holds: the flights of 2013, and what the demo spoils.
FLIGHTS = 336_776
#: Tables of others: Avro files, blobs, row ranges that are put together, deletion vectors.
FOREIGN = (
    "java__n_avro",
    "parquet__blob_append_table_alter_table_with_cast_with_data_evolution",
    "parquet__data_evolution_with_dense_stats",
    "parquet__pk_table_scan_and_read_dv",
)
#: The same without Spark, and rows of one key.
ARROW_READS = (*FOREIGN, "parquet__pk_table_scan_and_read_mor")


def check(what: str, found: Any, wanted: Any = True) -> None:
    """Fail where something else came out."""
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, wanted {wanted!r}")


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
    command("doctor", "--warehouse", str(directory / "warehouse"))
    manifest = str(directory / "orders.yaml")
    printed = ("odf-yaml", "odf-json", "odf-event", "ddl", "paimon", "parquet-text", "json-schema")
    for form in (*printed, "iceberg", "delta", "avro", "odcs", "dbt", "protobuf"):
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


def without_spark(tables: Path) -> None:
    """Rows of tables of others, by the library and by the command."""
    for key in ARROW_READS:
        wanted = json.loads((tables / "expected" / f"{key}.json").read_text(encoding="utf-8"))
        place, database, name = wanted["path"].split("/")
        table = f"{database.removesuffix('.db')}.{name}"
        rows = lakebed.open(tables / place).table(table).to_arrow()
        check(key, rows.num_rows, len(wanted["rows"]))
        command("--warehouse", str(tables / place), "read", table, "--limit", "1")
    try:
        lakebed.open(tables / place).table(table).to_pandas()
    except lakebed.errors.NotFoundError as error:
        check("pandas is asked for", error.code, "LB5611")
    else:
        raise AssertionError("pandas is there")


def fsspec(directory: Path) -> None:
    """A warehouse on a URL."""
    check("PySpark is not there", find_spec("pyspark") is None)
    check("PyArrow is not there", find_spec("pyarrow") is None)
    lake = declared(directory, "memory://warehouse")
    declare(lake, directory, SECOND)
    check("tables", [str(t) for t in lake.tables.list_tables("shop")], ["orders"])
    check("history", len(lake.history("shop.orders").versions), 2)


def prometheus(directory: Path) -> None:
    """The health of a table as Prometheus reads it."""
    check("PySpark is not there", find_spec("pyspark") is None)
    warehouse = str(directory / "warehouse")
    declared(directory, warehouse)
    command("--warehouse", warehouse, "health", "--format", "prometheus")


def openlineage(directory: Path) -> None:
    """The events of a run, in a file."""
    check("PySpark is not there", find_spec("pyspark") is None)
    warehouse, events = str(directory / "warehouse"), directory / "events.jsonl"
    declared(directory, warehouse)
    os.environ["OPENLINEAGE__TRANSPORT"] = json.dumps({"type": "file", "log_file_path": str(events), "append": True})
    lakebed.open(warehouse, lineage=True).table("shop.orders").truncate(run_id="one")
    told = [json.loads(line)["eventType"] for line in events.read_text(encoding="utf-8").splitlines()]
    check("events", told, ["START", "COMPLETE"])


def classic_session() -> Any:
    """What spark-submit has started, or a Spark of this process."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def connect_session(server: str) -> Any:
    """A client of the server."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(server).getOrCreate()
    check("the session", type(session).__module__, "pyspark.sql.connect.session")
    return session


def demo_session() -> Any:
    """A session as the demo starts it."""
    from lakebed.spark.session import local_session

    return local_session("smoke", cores="2")


def demo(session: Any, directory: Path) -> None:
    """The first month of the demo."""
    from importlib.resources import files

    from lakebed.demo.__main__ import MANIFESTS, TABLE
    from lakebed.demo.flights import load, write_month

    months = load()
    (directory / "warehouse").mkdir()
    lake = lakebed.open(directory / "warehouse")
    lake.apply(lake.plan(str(files("lakebed.demo").joinpath("manifests", MANIFESTS[1][0]))))
    source = write_month(1, months.rows[1], directory)
    result = lake.ingest(session, TABLE, str(source), options={"nullValue": "NA"})
    check("rows of January", result.rows_read, months.expected[1].rows + months.expected[1].bad)


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


def orders(session: Any, warehouse: Path) -> None:
    """A table that was written before, by a Spark of another environment."""
    found = lakebed.open(warehouse).read(session, "shop.orders").groupBy("total").count().collect()
    check("orders by total", sorted(tuple(row) for row in found), [(10, 1), (20, 1), (30, 1)])


def flights(session: Any, warehouse: Path) -> None:
    """The table that the demo has left."""
    found = lakebed.open(warehouse).read(session, "nyc.flights").groupBy("month").count().collect()
    check("months", sorted(row["month"] for row in found), list(range(1, 13)))
    good = sum(row["count"] for row in found)
    check(f"{good} of {FLIGHTS} flights", FLIGHTS * 0.9 < good <= FLIGHTS)


def packages(extra: str) -> None:
    """What Lakebed and the extra ask for is there, and nothing else is; Lakebed is this environment's own."""
    from importlib.metadata import distributions

    asked_for = _asked_for(extra)
    installed = {_plain(d.metadata["Name"]) for d in distributions()}
    check("packages that nothing asks for", sorted(installed - asked_for - {"pip", "setuptools"}), [])
    check("Lakebed is that of this environment", Path(lakebed.__file__).is_relative_to(sys.prefix))


def _asked_for(extra: str) -> set[str]:
    from pip._vendor.packaging.requirements import Requirement

    found: set[tuple[str, str]] = set()
    open_ = [("lakebed", ""), ("lakebed", extra)]
    while open_:
        name, own = open_.pop()
        if (name, own) in found:
            continue
        found.add((name, own))
        for need in map(Requirement, requires(name) or ()):
            if need.marker is None or need.marker.evaluate({"extra": own}):
                _see_that_it_is_there(need, name)
                open_ += [(_plain(need.name), e) for e in ("", *need.extras)]
    return {name for name, _ in found}


def _see_that_it_is_there(need: Any, asker: str) -> None:
    try:
        version = distribution(need.name).version
    except PackageNotFoundError:
        raise AssertionError(f"{asker} asks for {need}, which is not there") from None
    check(f"{asker} asks for {need}, found {version}", need.specifier.contains(version, prereleases=True))


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def checks(extra: str, directory: Path, places: Mapping[str, str]) -> dict[str, Callable[[], None]]:
    """The checks of an extra by name, in order. Those that need Spark share the first one's session."""

    def session(start: Callable[[], Any]) -> Any:
        if not started:
            started.append(start())
        return started[0]

    def in_spark(start: Callable[[], Any], work: Callable[[Any, Path], None], place: str | Path) -> Callable[[], None]:
        return lambda: work(session(start), Path(place))

    started: list[Any] = []
    found: dict[str, Callable[[], None]] = {"packages": lambda: packages(extra)}
    match extra:
        case "base" | "arrow" | "fsspec" | "prometheus" | "openlineage":
            works = {work.__name__: work for work in (base, arrow, fsspec, prometheus, openlineage)}
            found["schemas"] = lambda: works[extra](directory)
            if extra == "arrow" and "tables" in places:
                found["tables"] = lambda: without_spark(Path(places["tables"]))
        case "spark" | "connect":
            start = classic_session if extra == "spark" else lambda: connect_session(places["server"])
            found["main job"] = in_spark(start, main_job, directory)
            for name, work in (("tables", foreign_tables), ("orders", orders), ("demo", flights)):
                if name in places:
                    found[name] = in_spark(start, work, places[name])
        case "demo":
            found["first month"] = in_spark(demo_session, demo, directory)
        case other:
            raise SystemExit(f"there is no extra {other}")
    return found


def wrong(work: Callable[[], None]) -> str:
    """What went wrong; empty where nothing did."""
    try:
        work()
    except Exception:
        return traceback.format_exc()
    return ""


def main(extra: str, directory: str, *places: str) -> None:
    """Do what an extra promises."""
    given = {name: value for name, _, value in (place.partition("=") for place in places)}
    print(json.dumps({name: wrong(work) for name, work in checks(extra, Path(directory), given).items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])

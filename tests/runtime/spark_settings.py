"""Say how tests start Spark: small, quick, nothing outside of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A Java for many small jobs: it starts quickly, and does not collect or compile the same again and again.
JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1",
    # With one compiler Java reserves 48 MB for what it has compiled.
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC",
    "-Xmn600m",
    "-XX:MetaspaceSize=256m",
    # The classes of Spark are as they were released.
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
#: The classes of Spark as Java has them in memory, by `archive_classes.py`: half of a start is to read them from jars.
CLASSES = Path(__file__).resolve().parents[2] / ".cache" / "java" / "spark-classes.jsa"
#: Spark makes Java code of each query and compiles it, which takes longer than to interpret a query of a few rows: a
#: quarter of the time. Then it reads Parquet and ORC row by row too (ORC by another decoder), and not in batches as it
#: does for users: where files of every kind are read, or values are judged, tests ask for what users have.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
#: Nor is a query of a few rows planned anew after each shuffle.
QUICK = {**INTERPRETED, "spark.sql.adaptive.enabled": "false"}
#: Where rows are checked, columns are long expressions, and most of what it takes to optimize a query are filters that
#: follow from others. Where it reads, such filters are a part of what is tested.
WRITES = {**INTERPRETED, "spark.sql.constraintPropagation.enabled": "false"}


@contextmanager
def with_settings(spark: SparkSession, settings: Mapping[str, str | None]) -> Iterator[None]:
    """Within this the session has these settings, where None stands for what Spark has by default."""
    before = {key: spark.conf.get(key, None) for key in settings}
    _set(spark, settings)
    try:
        yield
    finally:
        _set(spark, before)


def _set(spark: SparkSession, settings: Mapping[str, str | None]) -> None:
    for key, value in settings.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)


def quick_queries(spark: SparkSession) -> AbstractContextManager[None]:
    """Within this Spark interprets queries as they were planned."""
    return with_settings(spark, QUICK)


def as_for_users(spark: SparkSession) -> AbstractContextManager[None]:
    """Within this Spark does all that it does for users, also inside of `quick_queries`."""
    return with_settings(spark, dict.fromkeys((*QUICK, *WRITES)))


def shared_classes() -> tuple[str, ...]:
    """Has Java take the classes from the archive, where there is one; other jars and Javas do without."""
    if not CLASSES.is_file() or " " in str(CLASSES):
        return ()
    return (f"-XX:SharedArchiveFile={CLASSES}", "-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr")


def settings(*java_options: str, time_zone: str = "UTC") -> dict[str, str]:
    """The settings of a session whose Java has these options too."""
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": " ".join((*JAVA_OPTIONS, *shared_classes(), *java_options)),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": time_zone,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }


def cluster_options() -> str:
    """The options of the Javas of masters, workers and executors, which have little memory."""
    return " ".join((*_without_sizes(), *shared_classes()))


def set_java_options(environment: MutableMapping[str, str]) -> None:
    """Have each Spark that is started with this environment run in such a Java; what is set already comes after."""
    # The launcher, a Java of its own, has little memory and does next to nothing.
    options = {"SPARK_SUBMIT_OPTS": (*JAVA_OPTIONS, *shared_classes()), "SPARK_LAUNCHER_OPTS": _without_sizes()}
    for name, of_it in options.items():
        own = " ".join(of_it)
        given = environment.get(name, "")
        if own not in given:
            environment[name] = f"{own} {given}".rstrip()


def _without_sizes() -> tuple[str, ...]:
    return tuple(option for option in JAVA_OPTIONS if "-Xmn" not in option)

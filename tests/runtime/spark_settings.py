"""Say how tests start Spark: small, quick, nothing outside of this machine."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
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
#: Spark makes Java code of each query and compiles it, which takes longer than to interpret a query of a few rows: a
#: quarter of the time. Then it reads Parquet and ORC row by row too (ORC by another decoder), and not in batches as it
#: does for users: where files of every kind are read, or values are judged, tests ask for what users have.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
#: Nor is a query of a few rows planned anew after each shuffle.
QUICK = {**INTERPRETED, "spark.sql.adaptive.enabled": "false"}


@contextmanager
def quick_queries(spark: SparkSession) -> Iterator[None]:
    """Within this Spark interprets queries as they were planned."""
    for key, value in QUICK.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in QUICK:
            spark.conf.unset(key)


@contextmanager
def as_for_users(spark: SparkSession) -> Iterator[None]:
    """Within this Spark does all that it does for users, also inside of `quick_queries`."""
    before = {key: spark.conf.get(key) for key in QUICK}
    for key in QUICK:
        spark.conf.unset(key)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def settings(*java_options: str, time_zone: str = "UTC") -> dict[str, str]:
    """The settings of a session whose Java has these options too."""
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": " ".join((*JAVA_OPTIONS, *java_options)),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": time_zone,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }


def set_java_options(environment: MutableMapping[str, str]) -> None:
    """Have each Spark that is started with this environment run in such a Java; what is set already comes after."""
    for name in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS"):
        # The launcher, a Java of its own, has little memory and does next to nothing.
        own = " ".join(option for option in JAVA_OPTIONS if name == "SPARK_SUBMIT_OPTS" or "-Xmn" not in option)
        given = environment.get(name, "")
        if own not in given:
            environment[name] = f"{own} {given}".rstrip()

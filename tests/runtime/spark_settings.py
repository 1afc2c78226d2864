"""Say how tests start Spark: small, quick, nothing outside of this machine."""

from __future__ import annotations

from collections.abc import MutableMapping

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
#: quarter of the time. Then it reads Parquet and ORC row by row too, and not in batches as it does for users: nothing
#: for tests of reading.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


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

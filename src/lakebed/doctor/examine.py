"""Make all checks in order, each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakebed.diagnostics import Diagnostic
from lakebed.doctor import runtimes
from lakebed.doctor.installed import check_extras, check_library, installed
from lakebed.doctor.report import Check, DoctorReport, State, checked
from lakebed.doctor.storage import Place, check_storage, wall_clock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def examine(
    warehouse: str | Place | None = None,
    *,
    time_zone: str = "UTC",
    write: bool = True,
    remote: str | None = None,
    spark: Callable[[], SparkSession] | None = None,
    clock: Callable[[], int] = wall_clock,
) -> DoctorReport:
    """Check this machine, and the storage of a warehouse where one is named. Nothing is raised for what is amiss.

    `warehouse` is a path, a URL, or a `Place` that says how it is reached, as `lakebed.open` takes it. With `write` the
    storage is tried with files in a directory of the warehouse that is removed again: whether they can be written,
    whether one of several writers of a name wins, and what time they get. `remote` is the address of a Spark Connect
    server that is used instead of a local Spark. No Spark is started, unless `spark` gives a session: then it counts,
    and its workers' Python is looked at.
    """
    checks = [runtimes.check_python(), *_of_spark(remote), check_library("pyarrow", "arrow"), check_extras()]
    checks += [runtimes.check_time_zones(time_zone), runtimes.check_git()]
    if warehouse is not None:
        place = warehouse if isinstance(warehouse, Place) else Place(str(warehouse))
        checks += check_storage(place, clock, write=write)
    if spark is not None:
        checks.append(_session(checks, spark))
    return DoctorReport(tuple(checks))


def _of_spark(remote: str | None) -> list[Check]:
    """What Spark needs here: a Java and a Python for workers only where it is started here."""
    library = check_library("pyspark", "spark")
    has_spark = installed("pyspark") is not None
    if remote is not None:
        return [library, check_server(remote)]
    java = runtimes.check_java(is_needed=has_spark)
    return [java, library, *([runtimes.check_workers_python()] if has_spark else [])]


def _session(checks: list[Check], spark: Callable[[], SparkSession]) -> Check:
    """Start Spark, unless what it needs is known to be missing."""
    needed = ("java", "pyspark", "spark-server")
    amiss = [check.name for check in checks if check.name in needed and check.state is not State.OK]
    if amiss:
        return Check("spark", State.FAIL, f"not started: see {', '.join(amiss)}", "LB7012", "mend these first")
    return check_spark(spark)


def check_server(url: str) -> Check:
    """Whether something takes connections at the address of a Spark Connect server."""
    from lakebed.spark import session

    def look() -> str:
        session.check_server(url)
        return f"{url} takes connections"

    return checked("spark-server", look)


def check_spark(start: Callable[[], SparkSession]) -> Check:
    """Start Spark, let it count, and see that its workers run a Python with what they need."""
    from lakebed.spark.spark_errors import cause_of, is_sparks
    from lakebed.spark.worker_python import check_workers

    def look() -> str:
        session = start()
        counted = session.range(3).count()
        check_workers(session)
        return f"Spark {session.version} counts to {counted}, and its workers run Python"

    try:
        return checked("spark", look)
    except Exception as error:
        if not is_sparks(error):
            raise
        return Check.of("spark", Diagnostic("LB7012", f"Spark failed: {cause_of(error)}", remedy=_SPARK_REMEDY))


_SPARK_REMEDY = "mend what the message names; the other checks may say why"

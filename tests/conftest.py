"""What all tests share: the shared folder, one Spark session, and the referees, each made when first asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from referees.client import Referees
from referees.corpus import SHARED, ExpectedTable, check_expected
from referees.encoding import Row
from referees.java import JavaReferee
from runtime import spark_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The same examples in every run, so that a failure of CI is a failure at home; `explore` looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# Also for the Spark of tests that start one of their own.
spark_settings.set_java_options(os.environ)
# Test modules and the processes that tests start need not be compiled anew each time.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_MARKERS = {"connect": "spark", "spark": "spark", "referees": "referee", "java": "java"}
#: Files with such a test come before the others, in this order: the small ones at the end keep all workers busy.
_FIRST = ("slow", "spark", "java", "referee")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test by the heavy fixtures that it uses, and puts long files of tests first."""
    turns: dict[Path, int] = {}
    for item in items:
        for fixture, marker in _MARKERS.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(marker)
        turn = next((i for i, marker in enumerate(_FIRST) if item.get_closest_marker(marker)), len(_FIRST))
        turns[item.path] = min(turn, turns.get(item.path, turn))
    items.sort(key=lambda item: turns[item.path])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications, vectors and tables of other implementations, beside the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared folder is absent: no directory {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of the test session: small, quick to start, nothing outside of this machine."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    _remember_java_names()
    # The fixture `connect` has any free port.
    server = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0"}
    conf = {**spark_settings.settings(), **server}
    session = SparkSession.builder.master("local[2]").appName("lakebed tests").config(map=conf).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def _remember_java_names() -> None:
    """Has py4j remember what a name is in Java: it asks each time, and Java looks into every jar of Spark for it.

    For a static method it copies all methods of the class, which `functions` has a thousand of.
    """
    from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

    # What a static field has may be another thing the next time.
    for kind, lasting in ((JVMView, object), (JavaPackage, object), (JavaClass, JavaMember)):
        ask = kind.__getattr__

        def remembered(self: Any, name: str, ask: Callable[[Any, str], Any] = ask, lasting: type[Any] = lasting) -> Any:
            found = ask(self, name)
            if isinstance(found, lasting):
                self.__dict__[name] = found
            return found

        kind.__getattr__ = remembered


@pytest.fixture(scope="session")
def connect(spark: SparkSession) -> Iterator[str]:
    """The address of a Spark Connect server in the Java of the one session. A client needs a process of its own."""
    pytest.importorskip("grpc", reason="Spark Connect needs the `connect` extra")
    jvm: Any = spark._jvm
    service = getattr(getattr(jvm, "org.apache.spark.sql.connect.service.SparkConnectService$"), "MODULE$")
    service.start(spark.sparkContext._jsc.sc())
    yield f"sc://127.0.0.1:{service.localPort()}"
    service.stop(jvm.scala.Option.empty(), jvm.scala.Option.empty())


@pytest.fixture(scope="session")
def referees() -> Iterator[Referees]:
    """pypaimon and pypaimon-rust in their own environment."""
    asked = Referees()
    yield asked
    asked.close()


@pytest.fixture(scope="session")
def java() -> Iterator[JavaReferee]:
    """Java Paimon 0.9."""
    asked = JavaReferee()
    yield asked
    asked.close()


@pytest.fixture(scope="session")
def expected_tables(shared: Path) -> Callable[..., None]:
    """`expected_tables(KEY, reader, micros=False)`: what the reader gives for that table is what must come out."""

    def check(
        key: str, reader: Callable[[ExpectedTable], Sequence[Row]], *, micros: bool = False, **parts: Any
    ) -> None:
        check_expected(key, reader, shared=shared, micros=micros, **parts)

    return check

"""The end of Spark's JVM is an error of ours, whatever it looks like where it is met."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkRuntimeError

from lakebed.errors import IngestError, LakebedError, UnsupportedError
from lakebed.spark.spark_errors import is_jvm_gone, is_sparks, known_failures, spark_errors


def below(module: str, error: BaseException) -> Callable[[], None]:
    """A function that raises an error through one of a module."""

    def fail() -> None:
        raise error

    scope = {"__name__": module, "fail": fail}
    exec("def go():\n    fail()\n", scope)
    return scope["go"]


def answered() -> Py4JJavaError:
    error = Py4JJavaError.__new__(Py4JJavaError)
    Exception.__init__(error, "An error occurred while calling o1.count.")
    error.java_exception = object()
    error.errmsg = "An error occurred while calling o1.count."
    return error


GONE = [
    Py4JNetworkError("Answer from Java side is empty"),
    Py4JNetworkError("An error occurred while trying to connect to the Java server (127.0.0.1:1)"),
    Py4JError("An error occurred while calling o12.count"),
    ConnectionRefusedError(111, "Connection refused"),
    ConnectionResetError(104, "Connection reset by peer"),
    BrokenPipeError(32, "Broken pipe"),
    EOFError(),
]


@pytest.mark.parametrize("error", GONE, ids=repr)
def test_what_follows_the_end_of_the_jvm_is_one_error(error: Exception) -> None:
    go = below("pyspark.sql.classic.dataframe", error)
    for kind in (LakebedError, IngestError):
        with pytest.raises(kind) as caught, known_failures(kind):
            go()
        assert caught.value.code == "LB6480"
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__
    with pytest.raises(IngestError) as failed, spark_errors():
        go()
    assert failed.value.code == "LB6480"
    assert not is_sparks(error)


@pytest.mark.parametrize("module", ["lakebed", "lakebed.data_source", "pyarrow", "fastavro"])
def test_workers_without_a_module_of_ours(module: str) -> None:
    said = f"Job aborted\nTraceback (most recent call last):\n  x\nModuleNotFoundError: No module named '{module}'\n"
    with pytest.raises(UnsupportedError) as caught, spark_errors():
        below("pyspark.errors", PySparkRuntimeError(said, messageParameters={}))()
    assert caught.value.code == "LB6461"
    assert f"has no {module.partition('.')[0]}" in str(caught.value)
    assert "PYSPARK_PYTHON" in str(caught.value)


def test_workers_without_a_module_of_the_user() -> None:
    for said in ("ModuleNotFoundError: No module named 'lakebedding'", "No module named 'lakebed'"):
        with pytest.raises(IngestError) as caught, spark_errors():
            raise PySparkRuntimeError(said, messageParameters={})
        assert caught.value.code == "LB6118"


def test_a_jvm_that_never_came_up() -> None:
    error = PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    assert is_jvm_gone(error)


@pytest.mark.parametrize(
    "go",
    [
        below("lakebed.store.fsspec_store", ConnectionRefusedError(111, "Connection refused")),
        below("lakebed.ingest.sources.csv_source", EOFError()),
        below("pyspark.sql.classic.dataframe", FileNotFoundError("x")),
        below("pyspark.sql.classic.dataframe", Py4JError("An error occurred while calling o1.foo. Trace:\nMethod foo")),
        below("pyspark.sql.classic.dataframe", PySparkRuntimeError("other", {})),
        below("pyspark.sql.classic.dataframe", answered()),
    ],
)
def test_what_has_other_causes_is_left_alone(go: Callable[[], None]) -> None:
    with pytest.raises(Exception) as caught, known_failures():
        go()
    assert not isinstance(caught.value, LakebedError)
    assert not is_jvm_gone(caught.value)

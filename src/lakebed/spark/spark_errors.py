"""Translate failures of Spark into Lakebed's errors.

Ours stand alone: Spark's page of traces is not shown under them, and stays reachable as their `__context__`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from lakebed import errors
from lakebed.errors import IngestError, LakebedError, StoreError, UnsupportedError
from lakebed.format.page_checksums import failed_checksum, is_failed_checksum
from lakebed.spark.sql_names import plain_url
from lakebed.store.failures import NO_ROOM

SPARK_FAILED = "LB6118"
JVM_ENDED = "LB6480"
WORKERS = "LB6461"

_NO_ROOM_TEXTS = ("No space left on device", "Disk quota exceeded")

_READING = re.compile(r"Encountered error while reading file (\S+?)\.(?:\s|$)")
_CODED = re.compile(r"\[[A-Z][A-Z0-9_.]+\]")
#: How what comes from the JVM begins: the failure itself is in the next line, after a colon.
_CALLED = "An error occurred while calling "
#: The errors of the bridge to the JVM, which has no public name for them. Those with a trace are the JVM's answers.
_BRIDGE = frozenset(("Py4JError", "Py4JNetworkError"))
_ANSWERED = "Trace:"
_PYTHONS_TRACE = "Traceback (most recent call last):"
_OURS = re.compile(
    r"^lakebed\.errors\.(?P<kind>\w+): (?:.*: )?error\[(?P<code>LB\d{4})\]: (?P<message>.*)"
    r"(?:\n {4}remedy: (?P<remedy>.*))?",
    re.MULTILINE,
)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(lakebed|pyarrow|fastavro)\b")
_NEVER_STARTED = "[JAVA_GATEWAY_EXITED]"

_DAMAGED_FILE = re.compile(r"Encountered error while reading file (\S.*?)\.\s+SQLSTATE")


class SparkFailedError(IngestError):
    """Spark failed while it read, checked or wrote rows."""

    @property
    def file(self) -> str | None:
        """The file that was being read, as people write its path."""
        return self.diagnostics[0].path

    @property
    def cause(self) -> str:
        """What Spark, or Java, says of it in a line."""
        return self.diagnostics[0].found or ""


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn failures of Spark into `SparkFailedError`, which names their cause; other errors pass.

    A failed checksum of a file becomes `CorruptMetadataError`, an error of ours in a worker the same error here.
    """
    try:
        yield
    except Exception as error:
        known = known_failure(error, IngestError)
        if known is not None:
            raise known from None
        if not is_sparks(error):
            raise
        ours = raised_by_us(error)
        if ours is not None:
            raise ours from None
        cause, file = cause_of(error), _file(error)
        what = f"Spark could not read {file!r}" if file else "Spark could not read, check or write the rows"
        raise SparkFailedError.of(
            SPARK_FAILED,
            f"{what}: {cause}",
            path=file,
            found=cause,
            remedy="nothing was written; mend the cause and repeat the run",
        ) from None


@contextmanager
def plainly() -> Iterator[None]:
    """Errors without the places in this library that raised them: Spark shows what it gets as it is."""
    try:
        yield
    except LakebedError as error:
        raise type(error)(*error.diagnostics) from None


@contextmanager
def known_failures(kind: type[LakebedError] = LakebedError) -> Iterator[None]:
    """Turn errors whose cause is where Spark runs into ones of ours; others pass. See `known_failure`."""
    try:
        yield
    except Exception as error:
        known = known_failure(error, kind)
        if known is None:
            raise
        raise known from None


def known_failure(error: Exception, kind: type[LakebedError] = LakebedError) -> LakebedError | None:
    """What to say of an error of Spark's whose cause is where it runs; None for all others.

    That its JVM ended is said by an error of the kind; that its workers have no Lakebed, by `UnsupportedError`.
    """
    if is_jvm_gone(error):
        return jvm_ended(kind)
    missing = _NO_MODULE.search(str(error)) if is_sparks(error) else None
    if missing is None:
        return None
    return UnsupportedError.of(
        WORKERS,
        f"Spark's workers run a Python that has no {missing[1]}",
        expected="lakebed[spark]",
        remedy="set PYSPARK_PYTHON to a Python that has it before Spark starts (for Spark Connect, where the server "
        "starts), or install lakebed[spark] for the workers' Python, on every machine of them",
    )


def jvm_ended(kind: type[LakebedError] = LakebedError) -> LakebedError:
    """What to say when Spark's JVM is not there any more."""
    again = "repeat it: files that were ingested are skipped. What was half written is no part of a table"
    memory = "The system may have ended it for want of memory"
    return kind.of(
        JVM_ENDED,
        "Spark's JVM ended by itself, so it is not known whether the work was done",
        remedy=f"if rows were written, `lakebed history TABLE` says whether they were committed; {again}, and "
        f"`lakebed orphans` removes it. {memory}: fewer --cores need less",
        python_remedy="if rows were written, lake.history(table) says whether they were committed; start a new "
        f"session and {again}, and lake.remove_orphans removes it. {memory}",
    )


def is_jvm_gone(error: BaseException) -> bool:
    """Whether an error means that Spark's JVM ended, or that the way to it is broken, which nothing mends."""
    if hasattr(error, "java_exception") or _ANSWERED in str(error):
        return False
    if any(kind.__name__ in _BRIDGE for kind in type(error).__mro__):
        return True
    if isinstance(error, ConnectionError | EOFError):
        return _is_raised_below_pyspark(error)
    return type(error).__module__.startswith("pyspark.") and str(error).startswith(_NEVER_STARTED)


def _is_raised_below_pyspark(error: BaseException) -> bool:
    """Whether an error came up through PySpark: those of storages do not."""
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).startswith("pyspark."):
            return True
        trace = trace.tb_next
    return False


@contextmanager
def writing_rows(directory: str) -> Iterator[None]:
    """Say where rows were to be written when there was no room for them: Spark's error does not."""
    try:
        yield
    except Exception as error:
        if not is_sparks(error) or not any(text in str(error) for text in _NO_ROOM_TEXTS):
            raise
        raise StoreError.of(
            NO_ROOM,
            f"there is no room for rows in {directory}, or in the directories that Spark keeps beside: "
            f"{cause_of(error)}",
            path=directory,
            remedy="Make room, then repeat the run: nothing was committed.",
        ) from None


def is_sparks(error: Exception) -> bool:
    """Whether an error is Spark's own, a failure in the JVM that it passes on, or one of the way to a server.

    The end of the JVM is none of them: `is_jvm_gone`.
    """
    if is_jvm_gone(error):
        return False
    return type(error).__module__.startswith(("pyspark.", "grpc")) or hasattr(error, "java_exception")


def _file(error: Exception) -> str | None:
    """The file that was being read, as people write its path."""
    found = _READING.search(str(error))
    return None if found is None else unquote(re.sub("^file:(//)?(?=/)", "", found[1]))


def cause_of(error: Exception) -> str:
    """The line of an error that says what really happened: what a worker's Python raised, else the innermost cause,
    else the one with Spark's name.
    """
    lines = said(error)
    raised = _raised_in_python(str(error))
    if raised is not None:
        return raised
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    coded = [line for line in lines if _CODED.search(line)]
    return (causes[-1:] or coded[:1] or lines[:1] or [type(error).__name__])[0]


def _raised_in_python(text: str) -> str | None:
    """The last line of the last trace of Python in a text, which says what was raised."""
    _, found, trace = text.rpartition(_PYTHONS_TRACE)
    after = trace.splitlines()[1:] if found else []
    return next((line.strip() for line in after if line.strip() and not line[0].isspace()), None)


def raised_by_us(error: Exception) -> LakebedError | None:
    """The error of ours that is behind a failure of Spark: a checksum that failed, or what a worker raised."""
    return failed_checksum_of(str(error)) or _raised_in_worker(str(error))


def _raised_in_worker(text: str) -> LakebedError | None:
    """The error of ours in the last trace of Python in a text."""
    found = _OURS.search(text.rpartition(_PYTHONS_TRACE)[2])
    kind = None if found is None else getattr(errors, found["kind"], None)
    if found is None or not (isinstance(kind, type) and issubclass(kind, LakebedError)):
        return None
    return kind.of(found["code"], found["message"].strip(), remedy=found["remedy"])


def name_of(error: Exception) -> str:
    """The line that tells a person most: the one with Spark's name for the failure, else the innermost cause."""
    coded = [line[found.start() :].rstrip(";") for line in said(error) if (found := _CODED.search(line))]
    return coded[0] if coded else cause_of(error)


def said(error: Exception) -> list[str]:
    """The lines of an error, from the one on that says what failed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0].startswith(_CALLED):
        lines = [line.removeprefix(": ") for line in lines[1:]]
    return lines


def failed_checksum_of(said: str) -> LakebedError | None:
    """The error for a failure of Spark that such a page is the cause of; None for other failures."""
    if not is_failed_checksum(said):
        return None
    file = _DAMAGED_FILE.search(said)
    return failed_checksum(plain_url(file[1]) if file else "that was read")


@contextmanager
def file_failures() -> Iterator[None]:
    """Turn failures of Spark behind which is an error of ours into that one; other errors pass. See `raised_by_us`."""
    try:
        yield
    except Exception as error:
        ours = raised_by_us(error) if is_sparks(error) else None
        if ours is None:
            raise
        raise ours from None

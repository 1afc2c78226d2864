"""Start, check and stop Spark sessions for short runs: local ones, or a server's.

Only the command line and the demo use these; the library takes whatever session it is given and changes no setting.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakebed.errors import NotFoundError, UnsupportedError, UsageError
from lakebed.spark.jvm import PATIENCE, children, end, ended_by_interrupts

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_LOG = logging.getLogger(__name__)

NO_JAVA = "LB6125"
OLD_JAVA = "LB6126"
NO_SPARK = "LB6127"
NO_SERVER = "LB6450"
NO_ADDRESS = "LB6451"
OF_THE_SERVER = "LB6452"

OLDEST_JAVA = 17
_TIMEOUT = 60
_CONNECT_TIMEOUT = 5.0
_CONNECT_PORT = 15002
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_REMEDY = (
    f"install Java {OLDEST_JAVA} or newer (Debian and Ubuntu: `apt-get install openjdk-17-jre-headless`; macOS: "
    "`brew install openjdk@17`), or let JAVA_HOME say where it is"
)
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    "spark.log.level": "ERROR",
    # Else a filter on a day of October 1582 that the old calendar has not passes over rows of Parquet files.
    "spark.sql.datetime.java8API.enabled": "true",
    # Every Column would note the line of Lakebed that made it, which takes most of the time of making it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

#: The sessions that were started here.
_started: list[_Started] = []


def check_java() -> int:
    """The version of the Java that Spark would start. Raises `NotFoundError` or `UnsupportedError`."""
    java = find_java()
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_TIMEOUT, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise NotFoundError.of(
            NO_JAVA, f"{java} does not run: {error}", path=java, expected=f"Java {OLDEST_JAVA}", remedy=_REMEDY
        ) from error
    text = said.stderr + said.stdout
    found = _VERSION.search(text)
    version = int(found[1]) if found else 0
    if version < OLDEST_JAVA:
        raise UnsupportedError.of(
            OLD_JAVA,
            f"Spark needs Java {OLDEST_JAVA} or newer, and {java} is older",
            path=java,
            expected=f"{OLDEST_JAVA} or newer",
            found=str(version) if found else text.strip()[:80],
            remedy=_REMEDY,
        )
    return version


def find_java() -> str:
    """The program that Spark starts: that of JAVA_HOME, else the first on the PATH. Raises `NotFoundError`."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = os.path.join(home, "bin", "java")
        if os.path.isfile(java):
            return java
        raise NotFoundError.of(
            NO_JAVA,
            f"JAVA_HOME is {home!r}, and there is no bin/java in it",
            path=java,
            expected=f"Java {OLDEST_JAVA} or newer",
            remedy=_REMEDY,
        )
    java_on_path = shutil.which("java")
    if java_on_path is None:
        raise NotFoundError.of(
            NO_JAVA,
            "Spark needs Java, and there is none on the PATH",
            expected=f"Java {OLDEST_JAVA} or newer",
            remedy=_REMEDY,
        )
    return java_on_path


def local_session(
    app: str,
    *,
    cores: int | str = "*",
    memory: str = "2g",
    time_zone: str = "UTC",
    shuffle_partitions: int = 4,
    config: Mapping[str, str] | None = None,
) -> SparkSession:
    """The active session of this process, else a new local one on `cores` cores, with what `config` sets otherwise.

    Java is looked for first. Raises `NotFoundError` or `UnsupportedError` that say what to install.
    """
    check_spark()
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    check_java()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    own = {
        "spark.master": f"local[{cores}]",
        "spark.app.name": app,
        "spark.driver.memory": memory,
        "spark.sql.session.timeZone": time_zone,
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
    }
    before = children()
    with ended_by_interrupts(before) as keep_handler:
        # In two steps: the first ends with a handler of interrupts that asks the JVM in the middle of another question.
        settings = SparkConf().setAll(list({**_LOCAL, **own, **(config or {})}.items()))
        _keep_quiet(SparkContext.getOrCreate(settings))
        keep_handler()
        session = SparkSession.builder.config(conf=settings).getOrCreate()
    _started.append(_Started(session, children() - before))
    return session


def _keep_quiet(context: SparkContext) -> None:
    """Log what the server of accumulators meets: it prints traces of its own when its JVM ends in mid-sentence."""
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: _LOG.debug("the server of accumulators met an error", exc_info=True)


def cancel_sessions() -> None:
    """Begin to cancel what the sessions do that were started here, and wait for nothing.

    Whoever waits for an answer of theirs gets one soon: a session that does not cancel in a moment loses its JVM.
    """
    for started in _started:
        started.cancel()


def has_lost_jvm() -> bool:
    """Whether a session that was started here has no JVM any more."""
    return any(started.has_lost_jvm for started in _started)


def stop_session() -> None:
    """Cancel what the sessions do that were started here, and stop them; a local one ends with its JVM.

    Takes about two seconds at most: a JVM that is busy goes on to end by itself. A session that was there before
    belongs to the program around this one, which goes on.
    """
    while _started:
        _started.pop().stop()


class _Started:
    """A session that was started here, with the ids of its JVM."""

    def __init__(self, session: SparkSession, jvm: frozenset[int]) -> None:
        self._session = session
        self._processes = jvm
        self._cancelling: threading.Thread | None = None

    @property
    def has_lost_jvm(self) -> bool:
        """Whether its JVM has ended; a server's is not known."""
        return not self._processes <= children()

    def cancel(self) -> None:
        """Begin to cancel all jobs; the JVM ends if it does not answer."""
        if self._cancelling is None:
            # A thread has a way to the JVM of its own: the one of the main thread may be broken by an interrupt.
            self._cancelling = threading.Thread(target=self._cancel, daemon=True)
            self._cancelling.start()

    def stop(self) -> None:
        """Cancel all jobs, stop the session and end its JVM, and wait only a moment for each."""
        self.cancel()
        stopping = threading.Thread(target=self._stop, daemon=True)
        stopping.start()
        try:
            stopping.join(PATIENCE)
        finally:
            end(self._processes, within=PATIENCE)

    def _cancel(self) -> None:
        asking = threading.Thread(target=self._ask_to_cancel, daemon=True)
        asking.start()
        asking.join(PATIENCE)
        if asking.is_alive():
            end(self._processes, within=0)

    def _ask_to_cancel(self) -> None:
        # Whatever was interrupted may have left the way to the JVM or the server unusable: then both are gone anyway.
        with suppress(Exception):
            self._session.interruptAll()

    def _stop(self) -> None:
        if self._cancelling is not None:
            self._cancelling.join()
        with suppress(Exception):
            self._session.stop()


def remote_session(url: str, *, config: Mapping[str, str] | None = None) -> SparkSession:
    """A session of a Spark Connect server, such as `sc://host:15002`, with the settings in `config`.

    Raises `UsageError` for another kind of address, and for settings that only who starts the server can give (LB6452),
    `NotFoundError` where nothing takes a connection there: Spark
    itself would try again for many minutes.
    """
    check_server(url)
    check_spark()
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(url).getOrCreate()
    _started.append(_Started(session, frozenset()))
    _configure(session, config or {})
    return session


def _configure(session: SparkSession, config: Mapping[str, str]) -> None:
    from pyspark.errors import AnalysisException

    for name, value in config.items():
        try:
            session.conf.set(name, value)
        except AnalysisException as error:
            raise UsageError.of(
                OF_THE_SERVER,
                f"the setting {name} is not taken by a session of a Spark server",
                found=name,
                remedy="give it where the server is started, and take it out here",
            ) from error


def check_server(url: str, *, timeout: float = _CONNECT_TIMEOUT) -> None:
    """Look whether something takes connections at the address of a Spark server. `timeout` is in seconds."""
    parts = urlsplit(url)
    try:
        port = parts.port or _CONNECT_PORT
    except ValueError:
        port = 0
    if parts.scheme != "sc" or not parts.hostname or not port:
        raise UsageError.of(
            NO_ADDRESS,
            f"{url!r} is no address of a Spark Connect server",
            expected="sc://host:15002",
            found=url,
            remedy="write sc://host:port; without --remote a local Spark is started",
            python_remedy="write sc://host:port",
        )
    try:
        socket.create_connection((parts.hostname, port), timeout).close()
    except OSError as error:
        raise NotFoundError.of(
            NO_SERVER,
            f"no Spark server takes connections at {parts.hostname}:{port}: {error.strerror or error}",
            path=url,
            found=str(error),
            remedy="start the server, or check host and port",
        ) from error


def check_spark() -> None:
    """Raise `NotFoundError` where PySpark is not installed; it is not started, and no Java is looked for."""
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise NotFoundError.of(
            NO_SPARK, "PySpark is not installed", remedy="install Lakebed with its extra: pip install 'lakebed[spark]'"
        ) from error

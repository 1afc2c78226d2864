"""What can be told without Spark is told before one is started; an interrupt ends a start quietly."""

from __future__ import annotations

import errno
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JNetworkError

from cli.command_line import SOURCE, CommandLine
from lakebed.errors import LakebedError
from lakebed.spark import session
from lakebed.spark.session import _interrupts_wait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _no_spark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts Spark fails."""
    if "spark" not in request.fixturenames:

        def started(*_: Any, **__: Any) -> None:
            raise AssertionError("Spark was started")

        monkeypatch.setattr(session, "local_session", started)


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["read", "shop.nothing"], "LB3122", 1),
        (["read", "shop.orders", "--where", "nte = 'x'"], "LB6463", 2),
        (["read", "shop.orders", "--select", "id, upper(nte) as n"], "LB6463", 2),
        (["read", "shop.orders", "--count", "--where", "nte = 'x'"], "LB6463", 2),
        (["read", "shop.orders", "--snapshot", "7"], "LB5003", 1),
        (["read", "shop.orders", "--tag", "none"], "LB5004", 1),
        (["read", "shop.orders", "--branch", "none"], "LB3122", 1),
        (["read", "shop.orders", "--schema", "9"], "LB3201", 1),
        (["read", "shop.orders@9"], "LB3201", 1),
        (["ingest", "shop.nothing", "a.csv"], "LB3122", 1),
        (["ingest", "shop.orders", "missing.csv"], "LB6101", 1),
        (["ingest", "shop.orders", "empty/*.csv"], "LB6101", 1),
        (["ingest", "shop.orders", "a.txt"], "LB6103", 2),
        (["ingest", "shop.orders", "_a.csv"], "LB6102", 1),
        (["ingest", "shop.orders", "a.csv", "--option", "inferSchema=true"], "LB6105", 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_problems_are_told_before_spark(
    lakebed: CommandLine, orders: Path, here: Path, words: list[str], code: str, status: int
) -> None:
    for name in ("a.csv", "_a.csv", "a.txt"):
        (here / name).write_text("id\n1\n", encoding="utf-8")
    failed = lakebed("--json", *words)
    assert (failed.codes, failed.code) == ([code], status)


def test_a_misspelt_column_is_asked_about(lakebed: CommandLine, orders: Path) -> None:
    failed = lakebed("read", "shop.orders", "--select", "nte", "--where", "idd > 1")
    assert "shop.orders has no column 'idd'" in failed.err
    assert "note" in failed.err


def test_files_that_are_done_need_no_spark(
    lakebed: CommandLine, orders: Path, here: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "a.csv").write_text("day,id,amount,note\n2024-01-01,1,1.00,x\n", encoding="utf-8")
    assert lakebed.json("ingest", "shop.orders", "a.csv")["rows_written"] == 1

    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "local_session", started)
    done = lakebed.json("ingest", "shop.orders", "a.csv")
    assert (done["rows_read"], len(done["skipped_files"])) == (0, 1)
    assert lakebed.ok("read", "shop.orders", "--count") == "1\n"


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_a_start() -> None:
    before = signal.getsignal(signal.SIGINT)
    steps = []
    with pytest.raises(KeyboardInterrupt), _interrupts_wait():  # noqa: PT012
        interrupt()
        steps.append("went on")
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert steps == ["went on"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_does_not_wait() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), _interrupts_wait():  # noqa: PT012
        interrupt()
        steps.append("went on")
        interrupt()
        steps.append("went on")
    assert steps == ["went on"]


def test_a_start_in_another_thread_leaves_interrupts_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def start() -> None:
        with _interrupts_wait():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert seen == [before]


def test_an_interrupt_stands_in_place_of_the_failure_that_follows_it() -> None:
    with pytest.raises(KeyboardInterrupt), _interrupts_wait():  # noqa: PT012
        interrupt()
        raise Py4JNetworkError("Answer from Java side is empty")


@pytest.mark.parametrize(
    "follows",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
        LakebedError.of("LB7012", "Spark failed"),
        SystemExit(1),
        KeyError("anything"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("words", [["read", "shop.orders"], ["ingest", "shop.orders", "a.csv"]], ids=" ".join)
def test_whatever_follows_an_interrupt_is_the_interrupt(
    lakebed: CommandLine,
    orders: Path,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    words: list[str],
    follows: BaseException,
) -> None:
    (here / "a.csv").write_text("day,id,amount,note\n2024-01-01,1,1.00,x\n", encoding="utf-8")
    stopped = []

    def cut_off(*_: Any, **__: Any) -> None:
        try:
            interrupt()
        except KeyboardInterrupt:
            logging.exception("KeyboardInterrupt while sending command.")
            raise follows from None

    def stop() -> None:
        stopped.append(True)
        # Once more while Spark is stopped: that is not waited for, and no trace is shown.
        interrupt()

    monkeypatch.setattr(session, "local_session", cut_off)
    monkeypatch.setattr(session, "stop_session", stop)
    before = signal.getsignal(signal.SIGINT), logging.root.manager.disable, sys.unraisablehook
    result = lakebed(*words)
    assert (result.code, result.out, stopped) == (130, "", [True])
    assert result.err == "error[LB7010]: stopped\n    remedy: repeat the command: nothing is left half done\n"
    assert caplog.records == []
    assert (signal.getsignal(signal.SIGINT), logging.root.manager.disable, sys.unraisablehook) == before


def test_every_session_is_stopped_also_where_spark_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Lost:
        def interruptAll(self) -> None:  # noqa: N802
            asked.append("interrupt")
            raise Py4JNetworkError("Answer from Java side is empty")

        def stop(self) -> None:
            asked.append("stop")
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(session, "_started", [Lost(), Lost()])
    session.stop_session()
    assert asked == ["interrupt", "stop"] * 2


@pytest.mark.spark
@pytest.mark.slow
def test_an_interrupt_ends_quietly_and_leaves_no_process(lakebed: CommandLine, orders: Path, here: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "lakebed", "read", "shop.orders"]
    # A session of its own, as a terminal gives a command: its interrupts go to all of its processes.
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    until = time.monotonic() + 120
    while not of_session(started.pid, "java") and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=200)
    assert (started.returncode, out) == (130, "")
    assert [line for line in err.splitlines() if line] == [
        "error[LB7010]: stopped",
        "    remedy: repeat the command: nothing is left half done",
    ]
    until = time.monotonic() + 30
    while of_session(started.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert of_session(started.pid) == []


def of_session(leader: int, name: str = "") -> list[str]:
    """The processes of a session, by the names of their programs."""
    listed = subprocess.run(["ps", "-A", "-o", "sess=,comm="], capture_output=True, text=True, check=True).stdout
    found = (line.split(None, 1) for line in listed.splitlines())
    return [program for session_id, program in found if session_id == str(leader) and name in program]


def test_a_session_of_the_program_around_is_not_stopped(
    spark: SparkSession, lakebed: CommandLine, orders: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert session.local_session("a command") is spark
    monkeypatch.setattr("lakebed.lake.Lake.schema", interrupted)
    assert lakebed("show", "shop.orders").code == 130
    assert spark.range(1).count() == 1

"""What can be told without Spark is told before one is started; an interrupt ends a start quietly."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JNetworkError

from cli.command_line import SOURCE, CommandLine
from lakebed.errors import LakebedError
from lakebed.spark import jvm as jvm_process
from lakebed.spark import session
from lakebed.spark.jvm import children, end, ended_by_interrupts
from lakebed.spark.session import _Started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds: what hangs does so for long, and what ends soon does so much earlier, on a machine with much else to do too.
LONG, SOON = 60, 20


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
        (["ingest", "shop.orders", "a.csv", "--ignore-unknown-columns", "--unknown-columns", "fail"], "LB7008", 2),
        (["overwrite", "shop.orders", "a.csv", "--whole", "--yes", "--unknown-columns", "quarantine"], "LB6109", 2),
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


@pytest.fixture
def jvm() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts a child that stands for a JVM."""
    started = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["sleep", str(LONG)]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_an_interrupt_ends_the_jvm_that_is_starting_and_no_other_child(
    jvm: Callable[[], subprocess.Popen[bytes]],
) -> None:
    handler = signal.getsignal(signal.SIGINT)
    other = jvm()
    steps = []
    with pytest.raises(KeyboardInterrupt), ended_by_interrupts(children()):  # noqa: PT012
        starting = jvm()
        interrupt()
        steps.append("went on")
    assert steps == []
    assert starting.wait(timeout=SOON) in (-signal.SIGTERM, 0)
    assert other.poll() is None
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_interrupt_ends_a_start_also_when_spark_has_put_in_its_own_handler() -> None:
    def of_spark(*_: object) -> None:
        raise AssertionError("PySpark asks the JVM")

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), ended_by_interrupts(children()) as keep:  # noqa: PT012
        signal.signal(signal.SIGINT, of_spark)
        keep()
        interrupt()
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_interrupt_stands_in_place_of_the_failure_that_follows_it(
    jvm: Callable[[], subprocess.Popen[bytes]],
) -> None:
    with pytest.raises(KeyboardInterrupt), ended_by_interrupts(children()):  # noqa: PT012
        try:
            interrupt()
        except KeyboardInterrupt:
            late = jvm()
            raise Py4JNetworkError("Answer from Java side is empty") from None
    assert late.wait(timeout=SOON) in (-signal.SIGTERM, 0)


def test_a_start_in_another_thread_leaves_interrupts_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def start() -> None:
        with ended_by_interrupts(children()) as keep:
            keep()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert seen == [before]


def test_ignored_interrupts_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ended_by_interrupts(children()) as keep:
            keep()
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("listed", [jvm_process._linux_processes, jvm_process._listed_processes])
def test_children_are_those_of_this_process_that_live(
    jvm: Callable[[], subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, listed: Any
) -> None:
    monkeypatch.setattr(jvm_process, "_linux_processes", listed)
    before = children()
    child = jvm()
    assert children() - before == {child.pid}
    child.kill()
    # It is not waited for yet, so it is there as a zombie.
    wait_until(lambda: child.pid not in children(), SOON)
    assert child.pid not in children()
    child.wait()


def test_only_children_are_ended() -> None:
    end([os.getpid(), os.getppid(), 1], within=0)


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
@pytest.mark.parametrize(
    "words", [["read", "shop.orders", "--engine", "spark"], ["ingest", "shop.orders", "a.csv"]], ids=" ".join
)
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


@pytest.mark.parametrize("fails", [True, False])
def test_every_session_is_stopped_with_its_jvm(
    monkeypatch: pytest.MonkeyPatch, jvm: Callable[[], subprocess.Popen[bytes]], fails: bool
) -> None:
    asked = []

    class Lost:
        def interruptAll(self) -> None:  # noqa: N802
            asked.append("interrupt")
            if fails:
                raise Py4JNetworkError("Answer from Java side is empty")

        def stop(self) -> None:
            asked.append("stop")
            if fails:
                raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    jvms = [jvm(), jvm()]
    monkeypatch.setattr(session, "_started", [_Started(Lost(), frozenset([p.pid])) for p in jvms])
    session.stop_session()
    assert asked == ["interrupt", "stop"] * 2
    assert [process.wait(timeout=SOON) for process in jvms] == [-signal.SIGTERM] * 2


@pytest.mark.parametrize("hangs", ["interruptAll", "stop"])
def test_a_session_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, jvm: Callable[[], subprocess.Popen[bytes]], hangs: str
) -> None:
    over = threading.Event()

    class Hanging:
        def interruptAll(self) -> None:  # noqa: N802
            if hangs == "interruptAll":
                over.wait(LONG)

        def stop(self) -> None:
            if hangs == "stop":
                over.wait(LONG)

    process = jvm()
    monkeypatch.setattr(session, "_started", [_Started(Hanging(), frozenset([process.pid]))])
    monkeypatch.setattr(session, "PATIENCE", 2)
    started = time.monotonic()
    session.cancel_sessions()
    assert time.monotonic() - started < 2
    if hangs == "interruptAll":
        # The JVM goes even if nobody stops the session: what waits for it goes on.
        assert process.wait(timeout=SOON) == -signal.SIGTERM
    session.stop_session()
    assert time.monotonic() - started < SOON
    assert process.wait(timeout=SOON) == -signal.SIGTERM
    over.set()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("then", ["start", "job"])
def test_an_interrupt_ends_quietly_and_soon_and_leaves_no_process(
    lakebed: CommandLine, orders: Path, here: Path, then: str
) -> None:
    started = started_ingest(here)
    wait_until(lambda: of_session(started.pid, "java") if then == "start" else is_writing(here))
    os.killpg(started.pid, signal.SIGINT)
    interrupted = time.monotonic()
    out, err = started.communicate(timeout=200)
    # About two seconds.
    assert time.monotonic() - interrupted < SOON
    assert (started.returncode, out) == (130, "")
    assert [line for line in err.splitlines() if line] == [
        "error[LB7010]: stopped",
        "    remedy: repeat the command: nothing is left half done",
    ]
    wait_until(lambda: not of_session(started.pid), LONG)
    assert of_session(started.pid) == []
    assert lakebed.json("history", "shop.orders")["snapshots"] == []


def test_what_the_server_of_accumulators_meets_is_logged_and_not_printed(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    from pyspark import accumulators

    class Context:
        _accumulatorServer = accumulators._start_update_server("", False)  # noqa: N815

    server = Context._accumulatorServer
    session._keep_quiet(Context())  # type: ignore[arg-type]
    with caplog.at_level(logging.DEBUG, "lakebed"), socket.create_connection(server.server_address) as jvm:
        jvm.sendall(b"\0")
        jvm.close()
        wait_until(lambda: caplog.records, LONG)
    server.shutdown()
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert capsys.readouterr().err == ""


@pytest.mark.spark
@pytest.mark.slow
def test_a_jvm_that_ends_by_itself_is_an_error_of_ours(lakebed: CommandLine, orders: Path, here: Path) -> None:
    started = started_ingest(here, "--json")
    wait_until(lambda: is_writing(here))
    for pid in processes_of(started.pid, "java"):
        os.kill(pid, signal.SIGKILL)
    out, err = started.communicate(timeout=200)
    assert started.returncode == 1
    assert [d["code"] for d in json.loads(out)["diagnostics"]] == ["LB6480"]
    assert "Traceback" not in err
    assert lakebed.json("history", "shop.orders")["snapshots"] == []


def started_ingest(here: Path, *words: str) -> subprocess.Popen[str]:
    """A command that writes for more than a second, in a session of its own, as a terminal gives one."""
    line = "2024-01-01,{},1.00,x\n"
    with (here / "many.csv").open("w", encoding="utf-8") as file:
        file.write("day,id,amount,note\n")
        file.writelines(line.format(number) for number in range(600_000))
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "lakebed", "ingest", "shop.orders", "many.csv", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True)


def is_writing(here: Path) -> bool:
    return any((here / "warehouse" / "shop.db" / "orders").rglob("bucket-*/*"))


def wait_until(condition: Callable[[], object], seconds: float = 200) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)


def processes_of(leader: int, name: str) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "sess=,pid=,comm="], capture_output=True, text=True, check=True).stdout
    found = (line.split(None, 2) for line in listed.splitlines())
    return [int(pid) for session_id, pid, program in found if session_id == str(leader) and name in program]


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

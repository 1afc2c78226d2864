"""Running `lakebed` for the tests: in this process, in one of its own, and on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lakebed.cli.main import run

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True, slots=True)
class Result:
    """What a command line gave: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The envelope on standard output."""
        return json.loads(self.out)

    @property
    def codes(self) -> list[str]:
        """The codes of the envelope's diagnostics."""
        return [d["code"] for d in self.json["diagnostics"]]

    @property
    def codes_of_text(self) -> list[str]:
        """The codes of the errors on standard error."""
        return re.findall(r"error\[(LB\d+)\]", self.err)


class CommandLine:
    """`lakebed WORDS...` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> Result:
        self._capsys.readouterr()
        code = run(words)
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.err
        return Result(int(code), captured.out, captured.err)

    def ok(self, *words: str) -> str:
        """The standard output of a command that must succeed."""
        result = self(*words)
        assert result.code == 0, result.err
        return result.out

    def json_of(self, *words: str) -> Any:
        """The result object of a command, however it ends."""
        return self("--json", *words).json["result"]

    def json(self, *words: str) -> Any:
        """The result object of a command that must succeed."""
        result = self("--json", *words)
        assert (result.code, result.json["ok"]) == (0, True), result.out
        return result.json["result"]


def environment(**more: str) -> dict[str, str]:
    """The environment of a `lakebed` in a process of its own."""
    dropped = {"LAKEBED_WAREHOUSE", "NO_COLOR", "COLUMNS"}
    return {k: v for k, v in os.environ.items() if k not in dropped} | {"PYTHONPATH": str(SOURCE)} | more


def process(*words: str, **options: Any) -> subprocess.Popen[bytes]:
    """`lakebed WORDS...` in a process of its own."""
    options.setdefault("env", environment())
    return subprocess.Popen([sys.executable, "-m", "lakebed", *words], **options)


def on_terminal(
    *words: str, columns: int = 80, answers: Mapping[str, str] | None = None, **variables: str
) -> tuple[int, str]:
    """Exit code and screen of `lakebed` on a terminal; each answer is typed once its question is on the screen."""
    own, others = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    started = process(
        *words,
        stdin=others,
        stdout=others,
        stderr=others,
        env=environment(**{"TERM": "xterm"} | variables),
    )
    os.close(others)
    waiting = dict(answers or {})
    screen = b""
    while chunk := _read(own):
        screen += chunk
        for question in [q for q in waiting if q.encode() in screen]:
            os.write(own, waiting.pop(question).encode())
    os.close(own)
    return started.wait(timeout=30), screen.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    ready, _, _ = select.select([descriptor], [], [], 60)
    assert ready, "it waits for an answer that the test does not give"
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux says so where everybody else has closed the terminal.
        return b""

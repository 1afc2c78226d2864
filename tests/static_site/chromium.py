"""Drives a headless Chromium by its DevTools protocol, through pipes: no port, no library."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 60
#: No name leads anywhere but to this machine: what would leave fails, and is seen.
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe"),
)


def find_chromium() -> str | None:
    """The program, where there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page:
    """A tab. `requests` are the URLs that it asked for, `errors` what its console and its scripts complained of."""

    def __init__(self, to: int, of: int) -> None:
        self._to, self._of, self._buffer, self._number = to, of, b"", 0
        self._session: str | None = None
        self._loaded = False
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """The result of a command."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def open(self, url: str) -> None:
        """Go to a URL and wait until all of it is loaded."""
        self._loaded = False
        self.ask("Page.navigate", url=url)
        while not self._loaded:
            self._next()

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """A key goes down and up."""
        code = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}.get(key, 0)
        named = {"key": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **named)

    def type(self, text: str) -> None:
        """Text goes to where the focus is."""
        self.ask("Input.insertText", text=text)

    def look(self, *, width: int, dark: bool = False) -> None:
        """A screen of so many pixels, of a reader who likes it dark or light."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._of], [], [], max(until - time.monotonic(), 0))
            assert ready, f"Chromium said nothing for {SECONDS} seconds"
            got = os.read(self._of, 1 << 20)
            assert got, "Chromium ended"
            self._buffer += got
        first, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, told: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(told["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.errors.append(json.dumps(told["args"]))
            case "Log.entryAdded":
                self.errors.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")


@contextmanager
def started_page(program: str, profile: Path) -> Iterator[Page]:
    """A tab of a Chromium that ends with the block; `profile` is a directory for it."""
    # Chromium reads commands from descriptor 3 and answers on 4; ours are out of their way.
    ends = (*os.pipe(), *os.pipe())
    theirs, to, of, theirs_too = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    command = ["bash", "-c", f'exec 3<&{theirs} 4>&{theirs_too}; exec "$@"', "bash", program, *_FLAGS]
    process = subprocess.Popen(
        [*command, f"--user-data-dir={profile}"],
        pass_fds=(theirs, theirs_too),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    os.close(theirs_too)
    try:
        yield Page(to, of)
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)
        os.close(to)
        os.close(of)

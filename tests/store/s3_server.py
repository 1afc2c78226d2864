"""An S3 server on this machine, and the ways in which a network spoils a put."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Verdict = Callable[[dict[str, Any]], str | None]
_BUSY = (
    b"<?xml version='1.0'?><Error><Code>ConditionalRequestConflict</Code>"
    b"<Message>another is under way</Message></Error>"
)


class S3Server:
    """moto's server on 127.0.0.1. Requests are carried out one after the other, as moto's check and put are not one.

    `spoil` is asked about each request: `lost` carries it out and then fails as if the answer never came, `busy` does
    nothing and says that another conditional put is under way, `unconditional` drops the condition. `requests` keeps
    method and path of each.
    """

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._lock = threading.Lock()
        self.spoil: Verdict | None = None
        self.requests: list[tuple[str, str]] = []

    def __enter__(self) -> S3Server:
        self._server.start()
        self._app: WsgiApp = self._server._server.app
        self._server._server.app = self._answer
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    @property
    def options(self) -> dict[str, Any]:
        """Storage options that lead here."""
        host, port = self._server.get_host_and_port()
        return {"key": "test", "secret": "test", "endpoint_url": f"http://{host}:{port}"}

    @contextmanager
    def spoiling(self, verdict: Verdict) -> Iterator[None]:
        """Spoil requests inside the block."""
        self.spoil = verdict
        try:
            yield
        finally:
            self.spoil = None

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            verdict = self.spoil(environ) if self.spoil is not None else None
            if verdict == "busy":
                start_response("409 Conflict", [("Content-Type", "application/xml")])
                return [_BUSY]
            if verdict == "unconditional":
                environ.pop("HTTP_IF_NONE_MATCH", None)
            if verdict == "lost":
                list(self._app(environ, lambda *_: None))
                start_response("500 Internal Server Error", [("Content-Type", "application/xml")])
                return [b"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>lost</Message></Error>"]
            return list(self._app(environ, start_response))


def is_put(environ: dict[str, Any], name: str) -> bool:
    """Whether a request puts an object whose key ends in `name`."""
    return environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(name)

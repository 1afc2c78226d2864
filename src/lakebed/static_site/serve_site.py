"""Serve a written site to browsers of this machine, and to nobody else."""

from __future__ import annotations

import os
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lakebed.errors import LakebedError
from lakebed.static_site.page_frame import POLICY

NO_PORT = "LB7081"
LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost")


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site. A page elsewhere, whose name was made to mean this machine, gets none of them."""

    def send_head(self) -> Any:
        if self.headers.get("Host", "").rpartition(":")[0] not in _NAMES:
            self.send_error(HTTPStatus.FORBIDDEN, "this site is for this machine")
            return None
        return super().send_head()

    def list_directory(self, path: str | os.PathLike[str]) -> None:
        self.send_error(HTTPStatus.NOT_FOUND, "there is no such page")

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of each page that is asked for."""


def open_server(directory: str | os.PathLike[str], port: int) -> ThreadingHTTPServer:
    """A server of the files below a directory, on the loopback interface; port 0 is any that is free.

    It listens, and answers when `serve_forever` is called. Raises `LakebedError` (LB7081) for a port that is taken.
    """
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, directory=os.fspath(directory)))
    except OSError as error:
        raise LakebedError.of(
            NO_PORT,
            f"port {port} of {LOOPBACK} cannot be listened on: {error.strerror or error}",
            found=str(port),
            remedy="give another one; `lakebed docs serve --port 0` takes any that is free",
        ) from error

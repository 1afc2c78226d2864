"""Show Lakebed's log records on standard error, each a line with its fields: `--log-level`, `LAKEBED_LOG`."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lakebed.printable import one_line
from lakebed.redaction import redact

VARIABLE = "LAKEBED_LOG"
LEVELS = ("debug", "info", "warning")
_LOGGER = logging.getLogger("lakebed")
#: What every record has; the others are the fields of this one.
_USUAL = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class _Lines(logging.Handler):
    """Writes to what standard error is by then."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(record_text(record) + "\n")


def record_text(record: logging.LogRecord) -> str:
    """`INFO lakebed.format.commit: committed table=... rows=3`: fields by name, texts that have spaces as in JSON."""
    fields = {name: value for name, value in record.__dict__.items() if name not in _USUAL}
    parts = [f"{record.levelname} {record.name}:", record.getMessage()]
    parts += [f"{name}={_value_text(value)}" for name, value in fields.items() if value is not None]
    return one_line(redact(" ".join(parts)))


def _value_text(value: Any) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c.isspace() or c in '"=' for c in text) else text


def show_records(level: str) -> None:
    """Show records of a level and above, until `hidden_records` ends."""
    _LOGGER.setLevel(level.upper())
    if not any(isinstance(handler, _Lines) for handler in _LOGGER.handlers):
        _LOGGER.addHandler(_Lines())


@contextmanager
def hidden_records() -> Iterator[None]:
    """Leave the logger as it was found, whatever `show_records` has been told meanwhile."""
    level, handlers = _LOGGER.level, _LOGGER.handlers[:]
    try:
        yield
    finally:
        _LOGGER.setLevel(level)
        _LOGGER.handlers[:] = handlers

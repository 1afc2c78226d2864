"""Decode ORC files in a separate process: damaged ones can crash the ORC library.

The process is started with the first file, decodes one after the other, and ends when it has had nothing to do for a
while or when its parent ends. A message is a byte, its length in eight bytes, and then its bytes. In go files, with
what is wanted of them, perhaps the names of columns before them; out come Arrow streams, or why there is none.
"""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from lakebed.errors import UnsupportedError

_HEAD, _LENGTH = struct.Struct(">cQ"), struct.Struct(">Q")
#: What is wanted of a file, and how it went.
_ROWS, _SCHEMA, _COLUMNS = b"R", b"S", b"C"
_DONE, _DAMAGED = b"D", b"X"
#: Seconds that a process waits for the next file, and that its parent waits for an answer.
_IDLE, _PATIENCE = 30.0, 60.0
#: Bytes of address space: what PyArrow takes, and what a damaged length must not exceed.
_MEMORY = 8 << 30


class OrcDamageError(ValueError):
    """The bytes are no ORC file that can be decoded."""


def read_orc(data: bytes, *, columns: Sequence[str] | None = None, schema_only: bool = False) -> Any:
    """The rows of an ORC file as a `pyarrow.Table`, or one without rows. Raises OrcDamageError, whatever the bytes are.

    `columns` are those that are wanted, at least one; all without. Raises UnsupportedError (LB5080) where no process
    can be started.
    """
    import pyarrow as pa

    wanted = _SCHEMA if schema_only else _ROWS if columns is None else _COLUMNS
    named = [] if columns is None else [json.dumps(list(columns)).encode()]
    parts = [part for text in named for part in (_LENGTH.pack(len(text)), text)]
    with _lock:
        # A process that has waited long enough may just be ending.
        answer = _answer(wanted, *parts, data) or _answer(wanted, *parts, data)
    if answer is None:
        raise OrcDamageError("the ORC library broke down over it")
    status, content = answer
    if status != _DONE:
        raise OrcDamageError(content.decode("utf-8", "replace"))
    return pa.ipc.open_stream(content).read_all()


_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None


def _answer(wanted: bytes, *parts: bytes) -> tuple[bytes, bytes] | None:
    """What the process says to a file; None where it has ended instead, and then it is gone."""
    global _process
    if _process is None:
        _process = _start()
    process = _process
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _send(process.stdin, wanted, *parts)
        if select.select([process.stdout], [], [], _PATIENCE)[0]:
            answer = _message(process.stdout)
            if answer is not None:
                return answer
    except OSError:
        # It has ended, which the next lines see to.
        pass
    _end(process)
    _process = None
    return None


def _start() -> subprocess.Popen[bytes]:
    """With the path of this process, so that it finds what this one has found."""
    try:
        return subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            start_new_session=True,
        )
    except OSError as e:
        raise UnsupportedError.of(
            "LB5080", f"ORC files are read in a process apart, and {sys.executable!r} cannot be started: {e.strerror}"
        ) from e


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()


def _send(target: IO[bytes], kind: bytes, *parts: bytes) -> None:
    target.write(_HEAD.pack(kind, sum(map(len, parts))))
    for part in parts:
        target.write(part)
    target.flush()


def _message(source: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next message, None where it is not whole."""
    head = source.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    data = source.read(length)
    return (kind, data) if len(data) == length else None


def _forget() -> None:
    """In a process that was forked off the pipes are the parent's, and so may be the lock."""
    global _process, _lock
    _process, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# --- in the process ---------------------------------------------------------------------------------------------------


def _serve(files: IO[bytes], answers: IO[bytes]) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    while select.select([files], [], [], _IDLE)[0] and (asked := _message(files)) is not None:
        _send(answers, *_decode(*asked))


def _decode(wanted: bytes, data: bytes) -> tuple[bytes, bytes]:
    import pyarrow as pa
    from pyarrow import orc

    try:
        columns = None
        if wanted == _COLUMNS:
            end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
            columns, data = json.loads(data[_LENGTH.size : end]), data[end:]
        file = orc.ORCFile(pa.BufferReader(data))
        table = file.schema.empty_table() if wanted == _SCHEMA else file.read(columns)
        table.validate(full=True)
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        return _DONE, out.getvalue().to_pybytes()
    except (pa.ArrowException, OSError, ValueError, MemoryError) as e:
        return _DAMAGED, str(e).encode("utf-8", "replace")


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)

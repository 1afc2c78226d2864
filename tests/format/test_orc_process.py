"""Damaged ORC manifests: whatever the bytes are, this process lives, and what comes out is an error of ours."""

from __future__ import annotations

import base64
import io
import os
import signal
import subprocess
import sys
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import orc

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format import orc_process
from lakebed.format.avro_schemas import read_records
from lakebed.format.orc_process import OrcDamageError, read_orc

#: Damaged files that end the process with a segmentation fault (PyArrow 26), compressed.
KILLERS = (
    (
        "eNrNkr9OG0EQxmd299bD+rBOx7/lKusqN6CzIRCuQiBBFAmMEGUUyVZEhZCQkJzSoaGlSBWloKTkEfwmeQkegGH2wOhCUnMrfb/Z2W+L"
        "73b6x7vOpobiI3CJ0wCQzlC8o+lWcef5pB1OlinO55z9NrgcrBRp4Jb/iexoOcUGenIPlQe3EG60yOfk8CLFkS/YNi+2FsVsheQX+t+N"
        "I5g0Y/j+zr6G3cNRCCraFe2Jromui34Q3RDdFP0Yfku4VV3uTppqdrKEcDF6e02a0HKWbAKehOhToar22udC4xNh5JeE1i8yFfuNaxAy"
        "b1Aa2kdMZH6WvWHDEyMhMr3QesOPDAmwKtHXdU0zvX9w4r64MBWvBiU0/jMf08moj0RtGEgn9yabZfxAf63ad9iJ85Q9ClWGwwxP29CB"
        "AnIiqqpFPtXa2AwHGZ5leP7iaFRVk1yK0V9tIhOqIi4lQTmNVDX+Hal8iVTWIpW1SNs3h59wGPVWedEf5Dcej02uIO58LezVg9b9413/"
        "CCnZsFM="
    ),
    (
        "eNrNkk1LHEEQhqu6e3rKnskyTHRt57TMaSEkjB/5cE7igopgFMkxBHYRTyEgCJuj8eJ1D54khxxzzE/Yf+KfyA+wtnr8YNScMw3vU139"
        "9uGdrv3DgbO5ofQAXOY0AORzlG5q+qW4c3vSCydLlJYvnT0ang5fV3ngur9EdnScYgPN3CPlwS2EGx3yJTk8yXHsK7bNi61DKVshu0L/"
        "Mz6AaZLC9//si+0WjkNQ0WXRFdFV0TXRt6LvRN+Lfgi/JdxqLi9PEwXTRXx1Mn56TRPoOEs2A09C9LlQNXvtS6HxmTDyi0Lru0zFfuNi"
        "QuYEpaF9xETmruwNG2aMhMj0QusNPzJkwKpEH9YtLfT23if32YWpeDAoofGP+bifjPZItIaBdPbHFC8YP9BfqN5v7Kdlzh6FqsBRgcc9"
        "6EMFJRE1VZdPtTa2wGGBXwv8dueImyohl2P0qE1kQlWltSSo7yM1jecj1XeR6lakuhVpY/JxB0fRyhtedI38xmdnplSQ9r9U9vyv1vuH"
        "A38DaM+wcQ=="
    ),
)

ROWS = [{"b": b"x" * 12, "f": {"a": f"data-{i}", "l": ["q", "w"], "n": i * 7}} for i in range(12)]


def _written(compression: str) -> bytes:
    out = io.BytesIO()
    orc.write_table(pa.Table.from_pylist(ROWS), out, compression=compression)
    return out.getvalue()


WHOLE = [_written(c) for c in ("uncompressed", "zstd", "snappy", "zlib", "lz4")]


@pytest.mark.parametrize("killer", KILLERS)
def test_what_ends_a_process_is_an_error_here(killer: str) -> None:
    data = zlib.decompress(base64.b64decode(killer))
    for _ in range(2):
        with pytest.raises(CorruptMetadataError, match="manifest-1 cannot be decoded") as caught:
            list(read_records(data, source="manifest-1"))
        assert caught.value.code == "LB5010"
        assert list(read_records(WHOLE[1], source="manifest-2")) == ROWS


def _damaged() -> st.SearchStrategy[bytes]:
    """Bytes changed anywhere or near the end, where lengths and places stand; or the end cut off."""

    def change(data: bytes, changes: list[tuple[bool, int, int]], cut: int) -> bytes:
        out = bytearray(data[: max(len(data) - cut, 3)])
        for near_end, place, value in changes:
            span = min(len(out) - 3, 400) if near_end else len(out) - 3
            if span:
                out[-1 - place % span] = value
        return bytes(out)

    places = st.tuples(st.booleans(), st.integers(0, 2000), st.integers(0, 255))
    cuts = st.just(0) | st.just(0) | st.integers(0, 900)
    return st.builds(change, st.sampled_from(WHOLE), st.lists(places, max_size=4), cuts)


@settings(max_examples=600)
@given(_damaged(), st.booleans())
def test_only_our_errors_come_out(data: bytes, schema_only: bool) -> None:
    try:
        if schema_only:
            read_orc(data, schema_only=True)
        else:
            list(read_records(data, source="manifest-1"))
    except OrcDamageError:
        assert schema_only
    except CorruptMetadataError:
        assert not schema_only


def test_a_process_that_is_gone_is_replaced() -> None:
    read_orc(WHOLE[0])
    running = orc_process._process
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    assert read_orc(WHOLE[0]).to_pylist() == ROWS
    assert orc_process._process is not running
    assert running.returncode == -signal.SIGKILL


def test_one_process_decodes_many_files_and_ends_with_its_parent() -> None:
    script = (
        "import sys; from lakebed.format import orc_process as o; data = sys.stdin.buffer.read(); o.read_orc(data); "
        "first = o._process.pid; o.read_orc(data); assert first == o._process.pid; print(first)"
    )
    made = subprocess.run([sys.executable, "-c", script], input=WHOLE[0], capture_output=True, check=True, timeout=60)
    assert made.stderr == b""
    pid = int(made.stdout)
    for _ in range(500):
        if _has_ended(pid):
            return
        signal.sigtimedwait([], 0.02)
    pytest.fail("the process is still there")


def _has_ended(pid: int) -> bool:
    """Whether a process is gone, or only waits for somebody to ask how it went."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_without_an_interpreter_nothing_is_called_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orc_process, "_process", None)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(UnsupportedError) as caught:
        list(read_records(WHOLE[0], source="manifest-1"))
    assert caught.value.code == "LB5080"

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
from typing import Any

import fastavro
import pytest

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format.avro_schemas import list_schema, read_container, write_container


def _codec(data: bytes) -> str:
    return str(fastavro.reader(io.BytesIO(data)).metadata["avro.codec"])


@pytest.mark.parametrize(
    ("option", "codec"),
    [
        ("zstd", "zstandard"),
        ("ZSTD", "zstandard"),
        ("snappy", "zstandard"),
        ("deflate", "deflate"),
        ("gzip", "deflate"),
        ("none", "null"),
    ],
)
def test_compression(option: str, codec: str) -> None:
    assert _codec(write_container(list_schema(), [], option)) == codec


def test_deflate_stands_in_where_zstd_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fastavro.writer

    def without_zstd(*arguments: Any, codec: str, **parts: Any) -> None:
        if codec == "zstandard":
            raise ValueError("zstandard codec is supported but you need to install one of the following libraries: ()")
        real(*arguments, codec=codec, **parts)

    monkeypatch.setattr(fastavro, "writer", without_zstd)
    assert _codec(write_container(list_schema(), [], "zstd")) == "deflate"


def test_a_value_that_does_not_fit_is_not_taken_for_a_missing_codec() -> None:
    with pytest.raises((ValueError, TypeError)):
        write_container(list_schema(), [{"_VERSION": "two"}], "zstd")


@pytest.mark.skipif(importlib.util.find_spec("lz4") is not None, reason="the library of the codec is installed")
def test_a_codec_without_its_library_is_refused_with_the_library_named() -> None:
    record = {"type": "record", "name": "r", "fields": [{"name": "x", "type": "int"}]}
    out = io.BytesIO()
    fastavro.writer(out, record, [{"x": 1}], codec="null")
    data = out.getvalue().replace(b"\x08null", b"\x06lz4")
    with pytest.raises(UnsupportedError, match="lz4") as e:
        list(read_container(data, source="manifest-1"))
    assert e.value.code == "LB5012"


def test_an_unknown_codec_is_corrupt() -> None:
    data = write_container(list_schema(), [], "deflate").replace(b"\x0edeflate", b"\x0eunknown")
    with pytest.raises(CorruptMetadataError):
        list(read_container(data, source="manifest-1"))


def test_records_must_be_records() -> None:
    out = io.BytesIO()
    fastavro.writer(out, "int", [1, 2])
    with pytest.raises(CorruptMetadataError, match="something else than records"):
        list(read_container(out.getvalue(), source="manifest-1"))


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    modules = "snapshot, live_files, commit, refuse_unsupported, statistics, partition, manifest"
    heavy = "('fastavro', 'pyarrow', 'pyspark')"
    code = f"import sys; from lakebed.format import {modules}; print([m for m in {heavy} if m in sys.modules])"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == "[]"

"""Lines that workers read are those that Spark's readers read, however a file is cut into pieces and chunks."""

from __future__ import annotations

import bz2
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.arrow import text_lines
from lakebed.arrow.text_lines import LineRules, line_batches, line_pieces, line_tasks
from lakebed.testing.memory_store import MemoryStore

TEXTS = st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b" ", b"#", b"xyz", b"\xef\xbb\xbf", b"\xff"])).map(
    b"".join
)


def read(data: bytes, rules: LineRules, most: int, path: str = "/f.csv") -> list[bytes]:
    store = MemoryStore()
    store.create_if_absent(path, data)
    pieces = line_pieces([(path, len(data))], rules, most)
    return [line for piece in pieces for lines in line_batches(store, path, piece, rules) for line in lines]


@pytest.fixture(params=[1, 2, 7], ids=lambda chunk: f"chunk-{chunk}")
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "_CHUNK", request.param)


@pytest.mark.usefixtures("chunk")
@given(data=TEXTS, most=st.integers(1, 12))
def test_every_line_is_read_once_in_whatever_pieces(data: bytes, most: int) -> None:
    assert read(data, LineRules(), most) == data.removeprefix(b"\xef\xbb\xbf").splitlines()


@pytest.mark.usefixtures("chunk")
@given(data=TEXTS, most=st.integers(1, 12), end=st.sampled_from([b"\n", b"a", b"\r\n", b"xx"]))
def test_an_end_of_line_that_is_said_is_the_only_one(data: bytes, most: int, end: bytes) -> None:
    *lines, last = data.removeprefix(b"\xef\xbb\xbf").split(end)
    assert read(data, LineRules(end), most) == [*lines, *([last] if last else [])]


@pytest.mark.usefixtures("chunk")
@given(data=TEXTS, most=st.integers(1, 12))
def test_blank_lines_comments_and_the_header_are_left_out(data: bytes, most: int) -> None:
    lines = [line for line in read(data, LineRules(), most) if line.strip() and not line.startswith(b"#")]
    rules = LineRules(skips_blank=True, comment=b"#")
    assert read(data, rules, most) == lines
    # As in Spark, the header is looked for where the file begins.
    assert read(data, LineRules(skips_blank=True, comment=b"#", header=True), len(data) + 1) == lines[1:]


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_what_is_compressed_is_one_piece(ending: str, compress: type) -> None:
    data = b"one\ntwo\r\nthree"
    packed = compress(data) + compress(b"\nfour\n")
    path = f"/f.csv{ending}"
    assert len(line_pieces([(path, len(packed))], LineRules(), 5)) == 1
    assert read(packed, LineRules(), 5, path) == [b"one", b"two", b"three", b"four"]
    with pytest.raises(OSError, match="runcated"):
        read(packed[:20], LineRules(), 5, path)


def test_tasks_read_about_as_much_as_each_other() -> None:
    small = line_pieces([(f"/{i}.csv", 10) for i in range(100)], LineRules())
    assert (len(small), line_tasks(small)) == (100, 4)
    assert line_tasks(line_pieces([("/a.csv", 1 << 30)], LineRules())) == 8
    assert line_tasks([]) == 1

"""File indexes that a worker writes: those that options ask for, the bytes that others write, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrow import values as v
from arrow.test_write_files import TABLE, fields_of, path_of, task_of
from lakebed.arrow.index_builders import index_builder
from lakebed.arrow.index_keys import index_keys
from lakebed.arrow.stored_forms import PARQUET, stored_column
from lakebed.arrow.write_files import write_data_files
from lakebed.catalog.file_index_options import (
    FILE_INDEXES,
    IndexKind,
    Parameters,
    index_problems,
    is_made_of,
    unwritten_indexes,
    wanted_indexes,
)
from lakebed.errors import LakebedError
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import ManifestEntry
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField, DataType, LocalZonedTimestamp, Timestamp
from lakebed.read.file_index import file_index
from lakebed.read.file_index.container import Embedded, container_bytes, read_body, read_directory
from lakebed.read.file_index.keys import coding
from lakebed.read.predicate import Compare, Operator, Truths
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore
from read import index_encoder
from read.one_index import schema_of

NEVER, ALWAYS = {"file-index.in-manifest-threshold": "0 b"}, {"file-index.in-manifest-threshold": "1 gb"}


@st.composite
def indexed(draw: st.DrawFn) -> tuple[IndexKind, DataType, list[Any]]:
    """A kind, a type that it is made of, and values of it, of which some are the same."""
    kind = draw(st.sampled_from(IndexKind))
    type_ = draw(v.leaf_types().filter(lambda leaf: is_made_of(kind, leaf)))
    pool = draw(st.lists(v.values(type_), min_size=1, max_size=6))
    return kind, type_, draw(st.lists(st.sampled_from([*pool, None]), max_size=30))


def internal(type_: DataType, values: list[Any]) -> list[Any]:
    """Values as the encoder takes them: moments in nanoseconds."""
    is_stamp = isinstance(type_, Timestamp | LocalZonedTimestamp)
    return [x * 1000 if is_stamp and x is not None else x for x in values]


def expected(kind: IndexKind, type_: DataType, values: list[Any], parameters: Parameters) -> bytes:
    match kind:
        case IndexKind.BLOOM_FILTER:
            size = parameters.bloom_bits // 8
            return index_encoder.bloom(type_, values, functions=parameters.bloom_functions, size=size)
        case IndexKind.BITMAP:
            return index_encoder.bitmap(type_, values, version=2, block=parameters.block_size)
        case IndexKind.BSI:
            return index_encoder.bsi(type_, values)
        case IndexKind.RANGE_BITMAP:
            return index_encoder.range_bitmap(type_, values, chunk=parameters.chunk_size)


@given(indexed(), st.integers(1, 40), st.sampled_from([40, 16_384]))
@settings(max_examples=150)
def test_bodies_are_those_of_the_format(given: tuple[IndexKind, DataType, list[Any]], size: int, most: int) -> None:
    kind, type_, values = given
    if kind is IndexKind.BSI and -(2**63) in values:
        return
    parameters = Parameters(items=50, version=2, block_size=most, chunk_size=most)
    coded = coding(type_, orc=False)
    assert coded is not None
    builder = index_builder(kind, coded, parameters)
    for start in range(0, len(values), size):
        # What is shown may be a part of something larger.
        whole = stored_column(v.array([None, *values[start : start + size]], type_), DataField(0, "c", type_), PARQUET)
        builder.add(index_keys(whole.slice(1), coded), start)
    assert builder.body(len(values)) == expected(kind, type_, internal(type_, values), parameters)


def test_many_rows_and_many_different_ones() -> None:
    """Bitmaps of all forms: runs, sorted numbers, and bits."""
    numbers = [*range(70_000), *[7] * 70_000, *(i % 3 - 1 for i in range(70_000))]
    type_ = parse("INT")
    coded = coding(type_, orc=False)
    assert coded is not None
    for kind in IndexKind:
        parameters = Parameters(items=100_000, version=2)
        builder = index_builder(kind, coded, parameters)
        for start in range(0, len(numbers), 50_000):
            builder.add(pa.array(numbers[start : start + 50_000], pa.int64()), start)
        assert builder.body(len(numbers)) == expected(kind, type_, numbers, parameters), kind


def test_the_lowest_number_is_in_no_bit_slices_and_in_all_else() -> None:
    fields = fields_of({"c": "BIGINT"})
    options = {f"file-index.{kind}.columns": "c" for kind in FILE_INDEXES} | ALWAYS
    entry, store = written(fields, [[-(2**63), 5]], options)
    assert bodies(entry, store)["c"].keys() == set(FILE_INDEXES) - {"bsi"}


@given(st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=3), st.binary(max_size=3), min_size=1)))
def test_containers(indexes: dict[str, dict[str, bytes]]) -> None:
    data = container_bytes(indexes)
    assert data == index_encoder.container(indexes)
    source = Embedded(data, "x")
    found = {c: {k: read_body(source, body) for k, body in of.items()} for c, of in read_directory(source).items()}
    assert found == indexes


# --- files ------------------------------------------------------------------------------------------------------------


def written(
    fields: tuple[DataField, ...], columns: list[list[Any]], options: dict[str, str], **parts: Any
) -> tuple[ManifestEntry, MemoryObjectStore]:
    """The one file of these columns, written in batches of 2."""
    store = MemoryObjectStore()
    rows = v.Rows(fields, tuple(map(tuple, columns)))
    (entry,) = write_data_files(rows.batches(2), task_of(fields, options=options, **parts), store=store).added
    return entry, store


def live(entry: ManifestEntry, fields: tuple[DataField, ...]) -> DataFile:
    path = path_of(entry, task_of(fields))
    return DataFile(path, entry.file.file_size, (), entry.bucket, -1, entry.file)


def bodies(entry: ManifestEntry, store: MemoryObjectStore) -> dict[str, dict[str, bytes]]:
    """The indexes of a file by name and kind."""
    data = entry.file.embedded_file_index
    if data is None:
        (name,) = entry.file.extra_files
        assert name == f"{entry.file.file_name}.index"
        (data,) = (data for path, data in store.snapshot().items() if path.endswith(name))
    source = Embedded(data, "x")
    return {c: {k: read_body(source, body) for k, body in of.items()} for c, of in read_directory(source).items()}


FIELDS = fields_of({"id": "INT NOT NULL", "s": "STRING", "m": {"type": "MAP", "key": "STRING", "value": "INT"}})
COLUMNS: list[list[Any]] = [
    [1, 2, 3, 4, 5],
    ["a", None, "b", "a", ""],
    [[("k", 1)], None, [], [("x", 7), ("k", 2)], [("k", None)]],
]
ASKED = {
    "file-index.bloom-filter.columns": "id, s,m[k]",
    "file-index.bloom-filter.id.items": "100",
    "file-index.bloom-filter.s.fpp": "0.01",
    "file-index.bloom-filter.m.items": "10",
    "file-index.bitmap.columns": "s, m[k]",
    "file-index.bitmap.s.version": "2",
}


@pytest.mark.parametrize("where", [NEVER, ALWAYS], ids=["beside", "in the manifest"])
@pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("key", [(), ("id",)], ids=["append", "keyed"])
def test_files_have_the_indexes_that_options_ask_for(format: str, where: dict[str, str], key: tuple[str, ...]) -> None:
    entry, store = written(FIELDS, COLUMNS, ASKED | where, file_format=format, key=key)
    assert (entry.file.embedded_file_index is None) == (where is NEVER) == bool(entry.file.extra_files)
    assert len(store.snapshot()) == 1 + len(entry.file.extra_files)
    (one, text, _), number = (f.type for f in FIELDS), parse("INT")
    of_key = [1, None, None, 2, None]
    assert bodies(entry, store) == {
        "id": {"bloom-filter": expected(IndexKind.BLOOM_FILTER, one, COLUMNS[0], Parameters(items=100))},
        "s": {
            "bloom-filter": expected(IndexKind.BLOOM_FILTER, text, COLUMNS[1], Parameters(fpp=0.01)),
            "bitmap": index_encoder.bitmap(text, COLUMNS[1]),
        },
        "m##k": {
            "bloom-filter": expected(IndexKind.BLOOM_FILTER, number, of_key, Parameters(items=10)),
            # Version 1 is what every reader knows; the order of its dictionary is free.
            "bitmap": bodies(entry, store)["m##k"]["bitmap"],
        },
    }
    assert bodies(entry, store)["m##k"]["bitmap"][0] == 1


@pytest.mark.parametrize("options", [{}, {"file-index.in-manifest-threshold": "501 b"}, NEVER])
def test_small_indexes_are_in_the_manifest(options: dict[str, str]) -> None:
    most = int(options.get("file-index.in-manifest-threshold", "500 b").split()[0])
    options = options | {"file-index.bloom-filter.columns": "id"}
    head = 24 + 2 + len("id") + 4 + 2 + len("bloom-filter") + 8
    for total in (499, 500, 501, 502):
        items = next(n for n in range(1, 1000) if head + 4 + Parameters(items=n).bloom_bits // 8 == total)
        entry, store = written(FIELDS, COLUMNS, options | {"file-index.bloom-filter.id.items": str(items)})
        assert (entry.file.embedded_file_index is not None) == (total <= most), total
        assert sum(len(data) == total for data in store.snapshot().values()) == (total > most), total


def test_files_of_changelogs_have_indexes_too() -> None:
    task = task_of(FIELDS, options=ASKED | ALWAYS, key=("id",), makes_changelog=True)
    files = write_data_files(v.Rows(FIELDS, tuple(map(tuple, COLUMNS))).batches(2), task, store=MemoryStore())
    assert [e.file.embedded_file_index is not None for e in files.entries] == [True, True]


def test_each_file_has_its_own() -> None:
    task = task_of(FIELDS, options=ASKED | NEVER | {"target-file-row-num": "2"})
    store = MemoryObjectStore()
    entries = write_data_files(v.Rows(FIELDS, tuple(map(tuple, COLUMNS))).batches(5), task, store=store).added
    assert [e.file.row_count for e in entries] == [2, 2, 1]
    for entry, here, gone in zip(entries, (1, 3, 5), (3, 5, 1), strict=True):
        index = file_index(store, live(entry, FIELDS), schema_of(FIELDS))
        assert index is not None
        answers = [index.evidence(Compare(FIELDS[0], Operator.EQUAL, number)) for number in (here, gone)]
        assert [Truths.TRUE in answer for answer in answers] == [True, False]
    assert len({entry.file.file_name for entry in entries}) == 3
    assert len(store.snapshot()) == 6


@pytest.mark.parametrize("kind", [MemoryStore, MemoryObjectStore])
@pytest.mark.parametrize("after", [False, True])
def test_no_index_stays_of_a_call_that_fails(kind: type[MemoryObjectStore], after: bool) -> None:
    task = replace(task_of(FIELDS, options=ASKED | NEVER), options=ASKED | NEVER | {"target-file-row-num": "3"})
    batches = v.Rows(FIELDS, tuple(map(tuple, COLUMNS))).batches(2)
    calm = kind()
    write_data_files(batches, task, store=calm)
    assert sum(path.endswith(".index") for path in calm.snapshot()) == 2
    for step in range(len(calm.operations)):
        store = kind({f"{TABLE}/bucket-0/theirs.parquet": b""})
        store.fail_at(step, None, after=after)
        with pytest.raises(LakebedError):
            write_data_files(batches, task, store=store)
        assert set(store.snapshot()) == {f"{TABLE}/bucket-0/theirs.parquet"}, step


# --- options ----------------------------------------------------------------------------------------------------------

TYPES = fields_of(
    {
        **{"i": "INT", "b": "BOOLEAN", "s": "STRING", "x": "BYTES", "n": "DECIMAL(10, 2)", "f": "DOUBLE"},
        **{"big": "DECIMAL(20, 2)", "l": {"type": "ARRAY", "element": "INT"}},
        "m": {"type": "MAP", "key": "STRING", "value": {"type": "ARRAY", "element": "INT"}},
        "o": {"type": "MAP", "key": "INT", "value": "INT"},
    }
)
WRONG: list[tuple[dict[str, str], str]] = [
    *(
        ({"bloom-filter.columns": name}, "LB5087")
        for name in ("b", "n", "big", "l", "m", "gone", "m[k]", "o[1]", "i[k]")
    ),
    *(({"bitmap.columns": name}, "LB5087") for name in ("x", "n", "big", "l", "i,x")),
    *(({"bsi.columns": name}, "LB5087") for name in ("x", "s", "b", "f", "big", "l")),
    *(({"range-bitmap.columns": name}, "LB5087") for name in ("x", "big", "l")),
    *(
        ({"bloom-filter.columns": "i", f"bloom-filter.i.{name}": value}, "LB5089")
        for name, value in (("fpp", "0"), ("fpp", "1"), ("fpp", "x"), ("items", "0"), ("items", "-1"), ("items", "1.5"))
    ),
    ({"bloom-filter.columns": "i", "bloom-filter.i.items": "2147483647"}, "LB5089"),
    ({"bitmap.columns": "i", "bitmap.i.version": "3"}, "LB5089"),
    ({"bitmap.columns": "i", "bitmap.i.index-block-size": "much"}, "LB5089"),
    ({"bloom-filter.columns": "i", "bloom-filter.s.fpp": "0.1"}, "LB5089"),
    ({"bloom-filter.columns": "i", "in-manifest-threshold": "small"}, "LB5089"),
]


def of(options: dict[str, str]) -> dict[str, str]:
    return {f"file-index.{name}": value for name, value in options.items()}


@pytest.mark.parametrize(("options", "code"), WRONG)
def test_what_no_index_can_be_made_of(options: dict[str, str], code: str) -> None:
    found = list(index_problems(of(options), TYPES))
    assert [d.code for d in found] == [code]
    assert found[0].path in of(options)


def test_what_options_ask_for() -> None:
    def asked() -> Iterator[tuple[dict[str, str], list[tuple[str, str]]]]:
        yield {}, []
        yield {"bloom-filter.columns": " i , s,"}, [("bloom-filter", "i"), ("bloom-filter", "s")]
        yield {"bsi.columns": "n", "bitmap.columns": "i,i", "ngram.columns": "s"}, [("bitmap", "i"), ("bsi", "n")]
        yield {"in-manifest-threshold": "1 mb", "bitmap.i.version": "1"}, []

    for options, expected_indexes in asked():
        assert [(w.kind.value, w.name) for w in wanted_indexes(of(options))] == expected_indexes
    assert [d.code for d in unwritten_indexes(of({"ngram.columns": "s", "bsi.columns": "i"}))] == ["LB5088"]
    assert not list(index_problems(of({"in-manifest-threshold": "small"}), TYPES))
    assert not list(index_problems(of({"ngram.columns": "gone", "ngram.s.n": "3"}), TYPES))

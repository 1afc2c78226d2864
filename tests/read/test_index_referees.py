"""Indexes that others wrote: Java 0.9 and pypaimon-rust when asked, and newer Java in the shared tables."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lakebed
from arrow.test_written_for_others import write
from lakebed.arrow.file_indexes import IndexCollector
from lakebed.arrow.stored_forms import PARQUET, stored_column
from lakebed.physical.paimon_types import DataField
from lakebed.read.file_index import file_index
from lakebed.read.file_index.container import Embedded, read_body, read_directory
from lakebed.read.predicate import Compare, IsIn, IsNull, Leaf, Operator, StartsWith, Truths
from read.indexed_files import STORE, IndexedFile, files_of
from read.leaf_truth import truth, truths
from referees.client import Referees
from referees.java import JavaReferee

#: Values of each type.
TYPES: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, -1, 0, 3, 127],
    "SMALLINT": [-32768, -300, 0, 7, 32767],
    "INT": [-(2**31), -5, 0, 5, 2**31 - 1],
    "BIGINT": [-(2**63) + 1, -1, 0, 2**40, 2**63 - 1],
    "FLOAT": [-1.5, -0.0, 0.0, 0.5, "NaN"],
    "DOUBLE": [-0.1, -0.0, 0.0, 1e300, "NaN"],
    "DECIMAL(12, 3)": ["-999999999.999", "-0.001", "0.000", "1.500", "999999999.997"],
    "DATE": ["0001-01-01", "1969-12-31", "2024-02-29"],
    "TIME(3)": ["00:00:00", "10:11:12.013000"],
    "TIMESTAMP(3)": ["1700-01-01T00:00:00.000000000", "1969-12-31T23:59:57.999000000", "2024-05-14T12:00:00"],
    "TIMESTAMP(6)": ["1969-12-31T23:59:57.999999000", "1970-01-01T00:00:00", "2024-05-14T12:00:00.123456000"],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": ["1969-12-31T23:59:57.999999000Z", "2024-05-14T12:00:00.123456000Z"],
    "STRING": ["", "a", "ab", "é", "\U0001f30a", "z" * 100],
    "VARCHAR(5)": ["", "a", "abcde"],
    "CHAR(5)": ["a", "abcde"],
    "BYTES": ["hex:", "hex:00ff", "hex:616263"],
}
_NO_BLOOM = {"BOOLEAN", "DECIMAL(12, 3)"}
_NUMBERS = [k for k in TYPES if k not in {"BOOLEAN", "FLOAT", "DOUBLE", "STRING", "VARCHAR(5)", "CHAR(5)", "BYTES"}]
#: What Java 0.9 can index; its bitmaps of BOOLEAN fail.
OF_JAVA = [
    *(("bloom-filter", kind) for kind in TYPES if kind not in _NO_BLOOM),
    *(("bitmap", kind) for kind in TYPES if kind not in {*_NO_BLOOM, "BYTES"}),
]
OF_RUST = [
    *(("bloom-filter", kind) for kind in TYPES if kind not in _NO_BLOOM),
    *(("bitmap", kind) for kind in TYPES if kind not in {"DECIMAL(12, 3)", "BYTES"}),
    *(("bsi", kind) for kind in _NUMBERS),
    *(("range-bitmap", kind) for kind in TYPES if kind != "BYTES"),
]
#: Tables: the columns of each as index and type, the format, and how large an index may be in the manifest.
WRITTEN = {
    "java": (OF_JAVA, "parquet", "1 mb"),
    "java_orc": (OF_JAVA, "orc", "1 b"),
    "rust": (OF_RUST, "parquet", "1 mb"),
    "lakebed": (OF_RUST, "parquet", "1 mb"),
    # Moments before 1970 with fractions of a second are not written to ORC.
    "lakebed_orc": ([(of, kind) for of, kind in OF_RUST if "STAMP" not in kind], "orc", "1 b"),
}


@pytest.fixture(scope="module")
def written(
    tmp_path_factory: pytest.TempPathFactory, java: JavaReferee, referees: Referees
) -> dict[str, list[IndexedFile]]:
    """Tables of all types with indexes, one index a column; two commits each, which have few values in common."""
    root = tmp_path_factory.mktemp("indexes")
    chance = random.Random(7)
    for table, (columns, format, threshold) in WRITTEN.items():
        options = {"bucket": "-1", "file.format": format, "file-index.in-manifest-threshold": threshold}
        for index in sorted({index for index, _ in columns}):
            names = [f"c{i}" for i, (of, _) in enumerate(columns) if of == index]
            options[f"file-index.{index}.columns"] = ",".join(names)
            if index == "bloom-filter":
                options |= {f"file-index.{index}.{name}.items": "300" for name in names}
            if index == "bitmap" and table in ("rust", "lakebed"):
                options |= {f"file-index.{index}.{name}.version": "2" for name in names}
        fields = [(f"c{i}", kind) for i, (_, kind) in enumerate(columns)]
        (java if table.startswith("java") else referees).create(root, f"db.{table}", fields, options=options)
        for start in (0, 1):
            pools = [[*TYPES[kind][start::2], None] for _, kind in columns]
            rows = [[chance.choice(pool) for pool in pools] for _ in range(40)]
            if table == "rust":
                referees.append(root, f"db.{table}", rows, writer="rust")
            elif table.startswith("lakebed"):
                write(lakebed.open(root), table, rows)
            else:
                java.append(root, f"db.{table}", rows)
    return {table: list(files_of(root / "db.db" / table)) for table in WRITTEN}


def _known(files: list[IndexedFile], name: str) -> list[Any]:
    values = {v for file in files for v in file.columns[name] if v is not None}
    return sorted(v for v in values if not (isinstance(v, float) and math.isnan(v)))


def _leaves(field: DataField, known: list[Any]) -> Iterator[Leaf]:
    asked = [*known, *(_near(v) for v in known)]
    yield IsNull(field)
    for value in asked:
        yield from (Compare(field, operator, value) for operator in Operator)
        if isinstance(value, str):
            yield StartsWith(field, value[:2])
    yield from (IsIn(field, tuple(asked[i : i + 2])) for i in range(len(asked)))


def _near(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case str():
            return value + "!"
        case bytes():
            return value + b"!"
        case Decimal():
            return value + Decimal("0.002")
        case float():
            return value / 2 - 1
        case _:
            # The greatest of a type is odd, and so nothing leaves its type.
            return value ^ 2


def _check(files: list[IndexedFile]) -> dict[str, set[str]]:
    """Nothing that a row is may be ruled out. Which columns an index ruled anything out of, and of which all of it."""
    found: dict[str, set[str]] = {"judged": set(), "exact": set()}
    for indexed in files:
        index = file_index(STORE, indexed.file, indexed.schema)
        assert index is not None
        for field in indexed.fields():
            values = indexed.columns[field.name]
            gaps = []
            for leaf in _leaves(field, _known([f for f in files if field.name in f.columns], field.name)):
                answer, right = index.evidence(leaf), truths(leaf, values)
                assert answer | right == answer, (field, leaf)
                assert index.count(leaf) in {None, sum(truth(leaf, v) == Truths.TRUE for v in values)}
                gaps.append(answer != right)
                if answer != Truths.ANY:
                    found["judged"].add(field.name)
            if not any(gaps):
                found["exact"].add(field.name)
    return found


@pytest.mark.parametrize("table", WRITTEN)
def test_what_others_indexed(written: dict[str, list[IndexedFile]], table: str) -> None:
    columns, format, threshold = WRITTEN[table]
    files = written[table]
    assert [file.file.meta.embedded_file_index is not None for file in files] == [threshold == "1 mb"] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _check(files)
    changed = {"CHAR(5)", "VARCHAR(5)", *(k for k in TYPES if "STAMP" in k)} if format == "orc" else set()
    rounded = {k for k in TYPES if "STAMP" in k or (k == "DATE" and format == "orc")}
    kept = {f"c{i}": of for i, of in enumerate(columns) if of[1] not in changed}
    assert found["judged"] == set(kept)
    assert found["exact"] == {n for n, (index, kind) in kept.items() if index != "bloom-filter" and kind not in rounded}


def bodies_of(container: bytes) -> dict[tuple[str, str], bytes]:
    source = Embedded(container, "x")
    places = ((column, kind, body) for column, of in read_directory(source).items() for kind, body in of.items())
    return {(column, kind): read_body(source, body) for column, kind, body in places}


def _differ(indexed: IndexedFile) -> set[str]:
    """The kinds of which some index has other bytes than the writer of the file gave it; of all there are the same."""
    schema, index = indexed.schema, file_index(STORE, indexed.file, indexed.schema)
    assert index is not None
    source = index.containers[0].source
    rows = pyarrow.parquet.read_table(indexed.file.path).combine_chunks()
    stored = [stored_column(rows[f.name].combine_chunks(), f, PARQUET) for f in schema.fields]
    collector = IndexCollector(schema.fields, schema.options)
    collector.add(pa.Table.from_arrays(stored, list(schema.field_names)))
    ours = collector.container()
    assert ours is not None
    found, expected = bodies_of(ours), bodies_of(source.read(0, source.size()))
    assert found.keys() == expected.keys()
    return {place[1] for place, body in found.items() if expected[place] != body}


@pytest.mark.parametrize("table", ["java", "rust"])
def test_what_others_indexed_is_indexed_the_same(written: dict[str, list[IndexedFile]], table: str) -> None:
    """The same bytes. Only has Java values of bitmaps in the order of a hash map, and Rust no runs in slices."""
    for indexed in written[table]:
        assert _differ(indexed) <= ({"bitmap"} if table == "java" else {"bsi", "range-bitmap"})


@pytest.mark.parametrize("table", ["java", "rust", "lakebed"])
def test_bloom_filters_rule_out_nearly_all_that_is_absent(written: dict[str, list[IndexedFile]], table: str) -> None:
    first, second = written[table]
    index = file_index(STORE, first.file, first.schema)
    assert index is not None
    ruled_out = []
    for field, (kind, _) in zip(first.fields(), WRITTEN[table][0], strict=True):
        if kind == "bloom-filter":
            absent = set(_known([second], field.name)) - set(_known([first], field.name))
            found = [index.evidence(Compare(field, Operator.EQUAL, value)) for value in absent]
            ruled_out += [Truths.TRUE not in truths for truths in found]
    assert sum(ruled_out) > 0.8 * len(ruled_out) > 15


SHARED_TABLES = {
    "parquet/append_with_bitmap": {"f0", "f1", "f2"},
    "parquet/append_with_bitmap_v1": {"f0", "f1", "f2"},
    "parquet/append_with_bitmap_no_embedding": {"f0", "f1", "f2"},
    "parquet/append_with_bsi_bitmap_bloomfilter": {"f0", "f1", "f2"},
    "parquet/append_with_bloomfilter": set(),
    "parquet/pk_with_bitmap_dv": {"f0", "f1", "f2"},
    "orc/append_with_bitmap_alter_table": {"f0", "f1", "f2", "f4", "f5"},
}


@pytest.mark.parametrize("table", SHARED_TABLES)
def test_the_indexes_of_the_shared_tables(shared: Path, table: str) -> None:
    format, _, name = table.partition("/")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _check(list(files_of(shared / "tables" / format / f"{name}.db" / name)))
    assert found["exact"] == SHARED_TABLES[table]
    assert found["judged"] >= found["exact"]
    assert "f1" in found["judged"]


@pytest.mark.parametrize("table", [t for t in SHARED_TABLES if t.startswith("parquet/append")])
def test_the_shared_tables_are_indexed_the_same(shared: Path, table: str) -> None:
    name = table.partition("/")[2]
    found: set[str] = set()
    for indexed in files_of(shared / "tables" / "parquet" / f"{name}.db" / name):
        found |= _differ(indexed)
    assert found <= {"bitmap"}

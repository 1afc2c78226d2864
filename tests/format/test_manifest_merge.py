"""Merging manifests: the same files are live, no entry is written again and again, and partitions stay together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from format.building import PATH, table_schema
from lakebed.format import binary_row
from lakebed.format.live_files import entries_of, live_entries
from lakebed.format.manifest import (
    ColumnStatistics,
    DataFileMeta,
    Kind,
    ManifestEntry,
    ManifestFileMeta,
    SimpleStats,
    describe,
    manifest_path,
)
from lakebed.format.manifest_merge import MergeRule
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.physical import parse
from lakebed.testing.memory_store import MemoryStore

INT = parse("INT")
COLUMNS = [("day", "INT"), ("v", "BIGINT")]
_KEYS = 6


def _entry(number: int, day: int | None, kind: Kind = Kind.ADD) -> ManifestEntry:
    file = DataFileMeta(file_name=f"data-{number}", file_size=1, row_count=1, schema_id=0)
    return ManifestEntry(int(kind), binary_row.encode([INT], [day]), 0, -1, file)


def _day(entry: ManifestEntry) -> int | None:
    day: int | None = binary_row.codec((INT,)).decode(entry.partition)[0]
    return day


class Table:
    """The manifests of a table, one commit after the other, and how often each file's entry has been written."""

    def __init__(self, partitioned: bool = True, **options: str) -> None:
        keys = ["day"] if partitioned else []
        given = {"manifest.compression": "none"} | {f"manifest.{k.replace('_', '-')}": v for k, v in options.items()}
        self.schema = table_schema(COLUMNS, partition_keys=keys, options=given)
        self.store = MemoryStore()
        self.metas: list[ManifestFileMeta] = []
        self.written: Counter[str] = Counter()

    def commit(self, entries: list[ManifestEntry]) -> None:
        writer = ManifestWriter(self.store, PATH, self.schema)
        before = {m.file_name for m in self.metas}
        self.metas = writer.merge(self.metas) + writer.write(entries)
        new = [m for m in self.metas if m.file_name not in before]
        self.written.update(e.file.file_name for e in entries_of(self.store, PATH, new))

    @property
    def live(self) -> list[str]:
        entries = entries_of(self.store, PATH, self.metas)
        return sorted(e.file.file_name for e in live_entries(entries, [INT] if self.schema.partition_keys else []))


_STEPS = st.lists(
    st.lists(st.tuples(st.integers(0, 5) | st.none(), st.booleans()), min_size=1, max_size=6), min_size=1, max_size=12
)


@settings(max_examples=60)
@given(_STEPS, st.sampled_from(["1 kb", "16 kb", "8 mb"]), st.integers(2, 4), st.sampled_from(["1 kb", "16 mb", "0"]))
def test_the_same_files_are_live(
    steps: list[list[tuple[int | None, bool]]], target: str, count: int, full: str
) -> None:
    """Also where a DELETE and its ADD stand in different manifests, of which one is merged."""
    table = Table(target_file_size=target, merge_min_count=str(count), full_compaction_threshold_size=full)
    alive: dict[str, ManifestEntry] = {}
    number = 0
    for step in steps:
        there = list(alive)
        added, deleted = {}, []
        for day, deletes in step:
            if deletes and there:
                deleted.append(alive.pop(there.pop(number % len(there))))
            else:
                number += 1
                added[f"data-{number}"] = _entry(number, day)
        table.commit([*added.values(), *(replace(e, kind=int(Kind.DELETE)) for e in deleted)])
        alive |= added
        assert table.live == sorted(alive)


def test_an_entry_is_written_a_few_times_however_long_the_table_grows() -> None:
    table = Table(merge_min_count="5", target_file_size="256 kb")
    for number in range(400):
        table.commit([_entry(number * 10 + i, number // 7) for i in range(10)])
    assert len(table.live) == 4000
    assert max(table.written.values()) <= 5
    # Four of each size class at most, and those that are large enough.
    full = sum(m.file_size >= 32 << 10 for m in table.metas)
    assert len(table.metas) - full <= 4 * 3 + 1
    assert full >= 5


def test_large_manifests_hold_whole_partitions() -> None:
    """Every commit touches every day; after merging a day's entries stand in few manifests."""
    table = Table(merge_min_count="16", target_file_size="256 kb")
    for number in range(16 * 16 + 2):
        table.commit([_entry(number * 10 + day, day) for day in range(10)])
    large = [m for m in table.metas if m.file_size >= 32 << 10]
    assert len(large) >= 3
    for day in range(10):
        holding = [m for m in large if day in {_day(e) for e in entries_of(table.store, PATH, [m])}]
        assert len(holding) == 1
    bounds = [m.partition_stats.decode([INT])[0] for m in large]
    assert all(before.maximum < after.minimum for before, after in pairwise(bounds))


def test_without_partitions_manifests_grow_to_the_target_size() -> None:
    table = Table(partitioned=False, merge_min_count="4", target_file_size="64 kb")
    plain = [replace(_entry(i, None), partition=binary_row.EMPTY_ROW) for i in range(1500)]
    for start in range(0, 1500, 10):
        table.commit(plain[start : start + 10])
    sizes = [len(table.store.read(manifest_path(PATH, m.file_name))) for m in table.metas]
    assert max(sizes) <= 64 << 10
    assert sum(s >= 32 << 10 for s in sizes) >= 2
    assert len(table.live) == 1500


def test_what_is_full_is_not_chosen_and_deletes_are_taken_out_at_last() -> None:
    rule = MergeRule.of({"manifest.full-compaction-threshold-size": "100 kb"}, [])
    full = [_meta(f"f{i}", rule.piece) for i in range(50)]
    assert rule.chosen(full) == []
    few = [_meta(f"s{i}", 5000) for i in range(29)]
    assert rule.chosen([*full, *few]) == []
    many = [*few, _meta("s29", 5000, deleted=1)]
    assert rule.chosen([*full, *many]) == many
    large = _meta("d", 200 << 10, deleted=3)
    assert rule.chosen([*full, large]) == [*full, large]


def _meta(name: str, size: int, deleted: int = 0) -> ManifestFileMeta:
    return ManifestFileMeta(file_name=name, file_size=size, num_added_files=9, num_deleted_files=deleted, schema_id=0)


def test_small_entries_are_cut_by_their_number() -> None:
    rule = MergeRule.of({}, [INT])
    entries = [_entry(i, i % 20) for i in range(20_000)]
    pieces = list(rule.cut(entries, 1000))
    assert [sorted({_day(e) or 0 for e in p}) for p in pieces] == [[*range(n, n + 5)] for n in (0, 5, 10, 15)]
    one_day = replace(_meta("m", 1000), num_added_files=5000, partition_stats=_days(3, 3))
    assert rule.chosen([replace(one_day, file_name=f"m{i}") for i in range(40)]) == []


def _days(low: int | None, high: int | None, nulls: int | None = 0) -> SimpleStats:
    return SimpleStats.of([INT], [ColumnStatistics(low, high, nulls)])


def _large(*days: tuple[int | None, int | None]) -> list[ManifestFileMeta]:
    """Large manifests that hold the partitions from a day to another."""
    return [
        replace(_meta(f"{low}-{high}-{i}", 1 << 20), partition_stats=_days(low, high, int(low is None)))
        for i, (low, high) in enumerate(days)
    ]


def test_large_manifests_are_merged_where_too_many_may_hold_one_partition() -> None:
    rule = MergeRule.of({}, [INT])
    apart = _large(*((n, n + 1) for n in range(0, 100, 2)))
    one_day = _large(*[(5, 5)] * 20, (None, None))
    assert rule.chosen([*apart, *one_day]) == []
    # Below no value, which is a partition of its own below all others, nothing is; day 7 is in one of `apart` too.
    over = _large((0, 99), (None, 60), (7, 8), (3, 7), (7, 20), (None, 7))
    assert rule.chosen([*apart, *one_day, *over[:5]]) == []
    found = rule.chosen([*apart, *one_day, *over])
    assert [m for m in found if m in over] == over
    assert [m for m in found if m in apart] == [apart[3]]
    assert len(found) == 7
    # A file without a value of the key may be there where a writer does not say that none is.
    unsaid = [replace(m, partition_stats=_days(5, 5, None)) for m in _large(*[(5, 5)] * 5)]
    some = [replace(m, file_name=f"some {m.file_name}", partition_stats=_days(5, 6, 1)) for m in unsaid]
    assert len(rule.chosen([*apart[20:], *unsaid, *some[:2]])) == 7
    assert rule.chosen([*apart[20:], *some[:3], *_large((0, 9), (1, 9), (2, 9))]) == []
    assert MergeRule.of({}, []).chosen([replace(m, file_size=8 << 20) for m in (*apart, *over)]) == []
    assert MergeRule.of({"manifest.merge-min-count": "100000"}, [INT]).chosen([*apart, *over]) == []


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * _KEYS), min_size=200, max_size=700))
def test_what_was_cut_is_not_cut_again(places: list[tuple[int, ...]]) -> None:
    """Also with several partition keys, where the ends of what was cut overlap."""
    rule = replace(MergeRule.of({}, [INT] * _KEYS), entries=4, piece=1 << 40)
    codec = binary_row.codec((INT,) * _KEYS)
    entries = [replace(_entry(i, None), partition=codec.encode(place)) for i, place in enumerate(places)]
    pieces = list(rule.cut(entries, 1))
    metas = [describe(f"m{i}", 1, piece, [INT] * _KEYS, 0) for i, piece in enumerate(pieces)]
    assert rule.chosen(metas) == []


def test_a_partition_stands_in_few_manifests_though_every_commit_has_files_of_all() -> None:
    """Also where so many come at once that manifests are large as soon as they are merged; nothing is written often."""
    rule = replace(MergeRule.of({}, [INT]), entries=512, piece=1 << 40)
    held: dict[str, Sequence[ManifestEntry]] = {}
    metas: list[ManifestFileMeta] = []
    written: Counter[str] = Counter()

    def put(entries: Sequence[ManifestEntry]) -> ManifestFileMeta:
        meta = describe(f"m{sum(written.values())}", 1, entries, [INT], 0)
        held[meta.file_name] = entries
        written.update(e.file.file_name for e in entries)
        return meta

    reads = []
    for number in range(1500):
        chosen = rule.chosen(metas)
        left = [e for m in chosen for e in held[m.file_name]]
        made = [put(piece) for piece in rule.cut(left, len(chosen))] if chosen else []
        names = {m.file_name for m in chosen}
        new = put([_entry(number * 16 + i, i * 25 + number % 25) for i in range(16)])
        metas = [*(m for m in metas if m.file_name not in names), *made, new]
        bounds = [m.partition_stats.decode([INT])[0] for m in metas]
        reads.append(sum(m.num_added_files for m, b in zip(metas, bounds, strict=True) if b.minimum <= 99 <= b.maximum))
    # Of 24,000 entries, of which a partition has 60.
    assert max(reads) < 9 * 512
    assert sum(written.values()) / len(written) < 5
    assert max(written.values()) <= 9

"""What commits do beside adding files: take files away, overwrite, compact; and their conflicts with other commits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format.building import PATH, Built, table_schema
from lakebed.errors import ConflictError, LakebedError, RefusedError, UsageError
from lakebed.format import binary_row, conflicts, manifest, snapshot_change
from lakebed.format.live_files import PartitionBounds, delta_manifests, entries_of, partition_types
from lakebed.format.manifest import FileSource, Kind, ManifestEntry, describe, read_list, read_manifest
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import WHOLE_TABLE, Scope, matching_partitions, near_partitions, partitions_of
from lakebed.testing.memory_store import MemoryStore, SimulatedCrash

MONTHLY = table_schema(
    [("month", "INT"), ("v", "BIGINT")], partition_keys=["month"], options={"manifest.merge-min-count": "3"}
)
KEYED = table_schema(
    [("month", "INT NOT NULL"), ("k", "BIGINT NOT NULL")],
    partition_keys=["month"],
    primary_keys=["month", "k"],
    options={"bucket": "4"},
)
TWO_KEYS = table_schema([("a", "INT"), ("b", "STRING"), ("v", "BIGINT")], partition_keys=["a", "b"])


def _built(schema: Any = MONTHLY) -> Built:
    return Built(MemoryStore(), schema)


def _store(table: Built) -> MemoryStore:
    assert isinstance(table.store, MemoryStore)
    return table.store


def _live(table: Built) -> list[ManifestEntry]:
    return [
        ManifestEntry(int(Kind.ADD), binary_row.encode(partition_types(table.schema), f.partition), *place, f.meta)
        for f in table.plan()
        for place in [(f.bucket, f.total_buckets)]
    ]


def _delta(table: Built, snapshot: Snapshot) -> list[ManifestEntry]:
    return list(entries_of(table.store, PATH, delta_manifests(table.store, PATH, snapshot)))


def _months(table: Built, *months: int, rows: int = 1) -> list[ManifestEntry]:
    files = [table.new_file((m,), name=f"{m}.parquet", rows=rows) for m in months]
    table.append(*files)
    return files


class TestDeletedFiles:
    def test_the_entry_repeats_the_live_one(self) -> None:
        table = _built()
        plain = table.new_file((1,), rows=5)
        odd = replace(plain, file=replace(plain.file, extra_files=("x.index",), embedded_file_index=b"i"))
        table.append(odd)
        (live,) = _live(table)
        snapshot = table.commit(deleted=(live,), added=(table.new_file((1,), rows=3),))
        gone, came = _delta(table, snapshot)
        assert gone == replace(odd, kind=int(Kind.DELETE))
        assert came.kind == Kind.ADD
        assert (snapshot.commit_kind, snapshot.delta_record_count, snapshot.total_record_count) == ("OVERWRITE", -2, 3)
        assert len(table.plan()) == 1

    def test_a_file_that_is_gone_is_a_conflict_that_is_not_retried(self) -> None:
        table = _built()
        first, _ = _months(table, 1, 2)
        table.commit(deleted=(first,))
        waits: list[float] = []
        with pytest.raises(ConflictError) as e:
            table.commit(deleted=(first,), sleep=waits.append)
        assert (e.value.code, e.value.diagnostics[0].path, waits) == ("LB5090", "1.parquet", [])

    def test_a_lost_race_shows_the_conflict(self) -> None:
        table = _built()
        first, second = _months(table, 1, 2)
        before = {e.name for e in table.store.list(f"{PATH}/manifest")}
        _race(table, lambda t: t.commit(deleted=(first,)), lambda t: t.commit(deleted=(first,)))
        with pytest.raises(ConflictError) as e:
            table.commit(deleted=(first,))
        assert e.value.code == "LB5090"
        assert table.names() == [second.file.file_name]
        # The lists of the rival and its manifest; nothing of ours.
        assert len({e.name for e in table.store.list(f"{PATH}/manifest")} - before) == 3

    def test_a_file_that_is_live_or_was_is_not_added_again(self) -> None:
        table = _built()
        first, second = _months(table, 1, 2)
        table.commit(deleted=(first,))
        for name in (first, second):
            with pytest.raises(ConflictError) as e:
                table.commit(added=(name,), compaction=True)
            assert e.value.code == "LB5091"

    def test_what_contradicts_itself_is_said_at_once(self) -> None:
        table = _built()
        first, second = _months(table, 1, 2)
        with pytest.raises(UsageError) as e:
            table.commit(deleted=(first, first, second), added=(second,))
        assert {(d.code, d.path) for d in e.value.diagnostics} == {
            ("LB5072", "1.parquet"),
            ("LB5072", "2.parquet"),
        }

    def test_a_compaction_is_of_its_own_kind(self) -> None:
        table = _built()
        files = _months(table, 1, 2)
        merged = table.new_file((1,), rows=1)
        merged = replace(merged, file=replace(merged.file, file_source=int(FileSource.COMPACT)))
        snapshot = table.commit(deleted=(files[0],), added=(merged,), compaction=True)
        assert (snapshot.commit_kind, snapshot.delta_record_count) == ("COMPACT", 0)


class TestOverwrite:
    @pytest.mark.parametrize(
        ("scope", "left"),
        [
            (lambda _: WHOLE_TABLE, []),
            (lambda t: matching_partitions(t.schema, [{}]), []),
            (lambda t: matching_partitions(t.schema, []), ["a", "b", "c", "d"]),
            (lambda t: matching_partitions(t.schema, [{"a": 1}]), ["c", "d"]),
            (lambda t: matching_partitions(t.schema, [{"b": "y"}]), ["a", "c"]),
            (lambda t: matching_partitions(t.schema, [{"a": 1, "b": "y"}, {"a": None}]), ["a", "c"]),
            (lambda t: matching_partitions(t.schema, [{"a": 7}]), ["a", "b", "c", "d"]),
            (lambda t: partitions_of(t.schema, [t.new_file((2, "x"))]), ["a", "b", "d"]),
            (lambda t: partitions_of(t.schema, []), ["a", "b", "c", "d"]),
        ],
    )
    def test_what_a_scope_takes_away(self, scope: Callable[[Built], Scope], left: list[str]) -> None:
        table = _built(TWO_KEYS)
        places = {"a": (1, "x"), "b": (1, "y"), "c": (2, "x"), "d": (None, "y")}
        for name, place in places.items():
            table.append(table.new_file(place, name=f"{name}.parquet"))
        snapshot = table.commit(overwrite=scope(table))
        assert [n.removesuffix(".parquet") for n in table.names()] == left
        assert (snapshot.commit_kind, snapshot.total_record_count) == ("OVERWRITE", len(left))
        assert snapshot.delta_record_count == len(left) - 4

    def test_new_files_take_the_place_of_those_in_scope(self) -> None:
        table = _built()
        _months(table, 1, 2)
        new = table.new_file((2,), name="new.parquet")
        table.commit(added=(new,), overwrite=partitions_of(table.schema, [new]))
        assert table.names() == ["1.parquet", "new.parquet"]

    def test_new_files_lie_in_scope(self) -> None:
        table = _built()
        with pytest.raises(UsageError) as e:
            table.commit(added=(table.new_file((2,)),), overwrite=matching_partitions(table.schema, [{"month": 1}]))
        assert e.value.code == "LB5072"

    def test_what_came_meanwhile_goes_too(self) -> None:
        table = _built()
        _months(table, 1, 2)
        drop = {"overwrite": matching_partitions(table.schema, [{"month": 1}])}
        _race(
            table,
            lambda t: t.commit(**drop),
            lambda t: t.append(t.new_file((1,), name="r.parquet"), t.new_file((3,), name="s.parquet")),
        )
        assert (table.commit(**drop).id, table.names()) == (3, ["2.parquet", "s.parquet"])

    def test_other_manifests_are_not_read_for_the_files_of_a_partition(self) -> None:
        table = _built(replace(MONTHLY, options={}))
        for month in range(20):
            table.append(table.new_file((month,), name=f"{month}.parquet"))
        store = _store(table)
        for change in (
            {"overwrite": matching_partitions(table.schema, [{"month": 3}])},
            {"deleted": (_live(table)[4],), "added": (table.new_file((4,)),)},
        ):
            store.restart()
            table.commit(**change)
            read = {o.path for o in store.operations if o.name == "read" and "/manifest-" in o.path}
            assert len([p for p in read if "-list-" not in p]) == 1

    def test_a_commit_that_only_adds_reads_no_manifest(self) -> None:
        table = _built(replace(KEYED, id=0))
        for month in range(3):
            table.append(table.keyed_file((0, 1), partition=(month,)))
        store = _store(table)
        store.restart()
        table.append(table.keyed_file((0, 1), partition=(1,)))
        read = [o.path for o in store.operations if o.name == "read" and "/manifest/manifest-" in o.path]
        assert all("-list-" in path for path in read)


def _race(table: Built, act: Callable[[Built], Any], rival: Callable[[Built], Any]) -> None:
    """Let a rival commit when `act` is about to publish."""
    copy = Built(MemoryStore(_store(table).snapshot()), table.schema)
    _store(copy).restart()
    act(copy)
    steps = [(o.name, "/snapshot/snapshot-" in o.path) for o in _store(copy).operations]
    other = Built(_store(table), table.schema, numbers=count(1000))
    _store(table).race_at(steps.index(("create_if_absent", True)), lambda: rival(other) and None)


class TestBuckets:
    def test_entries_fit_the_number_of_buckets(self) -> None:
        table = _built(KEYED)
        good = table.keyed_file((1, 2), bucket=3, partition=(1,))
        table.append(good)
        for bad in (replace(good, bucket=4), replace(good, bucket=-1), replace(good, total_buckets=8)):
            with pytest.raises(UsageError) as e:
                table.append(bad)
            assert e.value.code == "LB5072"

    @pytest.mark.parametrize(
        ("bucket", "keyed", "fits"),
        [
            ("-1", True, [(0, -1), (7, -1)]),
            ("-1", False, [(0, -1)]),
            ("-2", True, [(-2, -2), (0, 3), (2, 3)]),
            ("2", False, [(0, 2), (1, 2)]),
        ],
    )
    def test_every_mode(self, bucket: str, keyed: bool, fits: list[tuple[int, int]]) -> None:
        columns = [("k", "BIGINT NOT NULL")]
        table = _built(table_schema(columns, primary_keys=["k"] if keyed else [], options={"bucket": bucket}))
        every = [(b, t) for b in range(-3, 9) for t in (-2, -1, 0, 2, 3)]
        for place in every:
            entry = table.keyed_file((1, 2)) if keyed else table.new_file()
            entry = replace(entry, bucket=place[0], total_buckets=place[1])
            if place in fits or (keyed and bucket == "-1" and place[0] >= 0 and place[1] == -1):
                table.append(entry)
            elif bucket != "-2" or not 0 <= place[0] < place[1]:
                with pytest.raises(UsageError):
                    table.append(entry)

    def _rescaled(self) -> tuple[Built, ManifestEntry]:
        table = _built(KEYED)
        old = table.keyed_file((1, 2), partition=(1,))
        table.append(old, table.keyed_file((1, 2), partition=(2,)))
        table.evolve(replace(KEYED, id=1, options={"bucket": "8"}))
        return table, old

    def test_a_partition_of_the_old_number_takes_no_rows_of_the_new_one(self) -> None:
        table, _ = self._rescaled()
        with pytest.raises(RefusedError) as e:
            table.append(table.keyed_file((1, 2), bucket=7, partition=(1,)))
        assert e.value.code == "LB5092"
        table.append(table.keyed_file((1, 2), bucket=7, partition=(3,)))

    def test_a_bucket_of_two_numbers_loses_no_file_while_both_stay(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Others have left it so: which bucket a key lies in cannot be told."""
        table, old = self._rescaled()
        with monkeypatch.context() as patch:
            patch.setattr(conflicts._Concern, "check_buckets", lambda *_: None)
            new = [table.keyed_file((1, 2), partition=(1,)) for _ in range(2)]
            table.append(*new)
        with pytest.raises(RefusedError) as e:
            table.commit(deleted=(new[0],))
        assert e.value.code == "LB5092"
        table.commit(deleted=(old,))
        table.commit(deleted=(new[0],))

    def test_an_overwrite_gives_a_partition_the_new_number(self) -> None:
        table, _ = self._rescaled()
        new = table.keyed_file((1, 2), bucket=7, partition=(1,))
        table.commit(added=(new,), overwrite=partitions_of(table.schema, [new]))
        assert sorted((f.partition, f.total_buckets) for f in table.plan()) == [((1,), 8), ((2,), 4)]
        table.append(table.keyed_file((3, 4), bucket=6, partition=(1,)))

    def test_a_compaction_keeps_the_number_of_the_partition(self) -> None:
        table, old = self._rescaled()
        merged = table.keyed_file((1, 2), partition=(1,), level=5)
        table.commit(deleted=(old,), added=(replace(merged, total_buckets=4),), compaction=True)
        assert sorted((f.partition, f.total_buckets) for f in table.plan()) == [((1,), 4), ((2,), 4)]
        with pytest.raises(UsageError):
            table.append(replace(table.keyed_file((1, 2), partition=(1,)), total_buckets=4))


class TestLevels:
    @pytest.mark.parametrize(
        ("keys", "bucket", "level", "fits"),
        [
            ((5, 9), 0, 5, False),
            ((3, 5), 0, 5, False),
            ((9, 20), 0, 5, False),
            ((6, 7), 0, 5, False),
            ((0, 4), 0, 5, True),
            ((10, 11), 0, 5, True),
            ((5, 9), 1, 5, True),
            ((5, 9), 0, 4, True),
        ],
    )
    def test_keys_of_a_level_do_not_meet(self, keys: tuple[int, int], bucket: int, level: int, fits: bool) -> None:
        table = _built(KEYED)
        first = table.keyed_file((5, 9), partition=(1,))
        table.append(first)
        top = replace(first, file=replace(first.file, level=5))
        table.commit(deleted=(first,), added=(top,), compaction=True)
        second = table.keyed_file((0, 99), partition=(1,), bucket=bucket)
        table.append(second)
        new = table.keyed_file(keys, partition=(1,), bucket=bucket, level=level)
        change = {"deleted": (second,), "added": (new,), "compaction": True}
        if fits:
            table.commit(**change)
            assert len(table.plan()) == 2
        else:
            with pytest.raises(ConflictError) as e:
                table.commit(**change)
            assert e.value.code == "LB5093"
            # Where the file that is in the way goes too, nothing is.
            table.commit(**change | {"deleted": (second, top)})

    def test_keys_are_keys_of_the_table(self) -> None:
        table = _built(KEYED)
        for parts in ({"min_key": binary_row.EMPTY_ROW}, {"max_key": b""}):
            with pytest.raises(UsageError) as e:
                table.append(table.keyed_file((1, 2), partition=(1,), **parts))
            assert e.value.code == "LB5072"
        with pytest.raises(UsageError):
            table.append(table.keyed_file((2, 1), partition=(1,)))


class TestWhatASnapshotSays:
    def test_a_changelog_has_a_list_of_its_own(self) -> None:
        table = _built(KEYED)
        changes = table.keyed_file((1, 2), partition=(1,))
        changes = replace(changes, file=replace(changes.file, file_name="changelog-1.parquet", row_count=7))
        snapshot = table.commit(added=(table.keyed_file((1, 2), partition=(1,)),), changelog=(changes,))
        assert snapshot.changelog_manifest_list is not None
        assert (snapshot.changelog_record_count, snapshot.commit_kind) == (7, "APPEND")
        (meta,) = read_list(table.store, PATH, snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size)
        assert read_manifest(table.store, PATH, meta) == [changes]
        after = table.append(table.keyed_file((1, 2), partition=(1,)))
        assert (after.changelog_manifest_list, after.changelog_record_count) == (None, None)
        assert len(table.plan()) == 2
        with pytest.raises(UsageError):
            table.commit(changelog=(changes, changes))

    @pytest.mark.parametrize(("old", "new", "now"), [(None, 5, 5), (7, 5, 7), (5, 7, 7), (5, None, 5)])
    def test_a_watermark_never_falls(self, old: int | None, new: int | None, now: int) -> None:
        table = _built()
        table.commit(watermark=old)
        assert table.commit(watermark=new).watermark == now

    def test_kinds_of_one_user_are_commits_of_their_own(self) -> None:
        table = _built()
        _months(table, 1)
        one = table.append(table.new_file((2,)), user="me")
        two = table.commit("me", overwrite=WHOLE_TABLE, operation="TRUNCATE", properties={"k": "v"})
        assert (one.id, two.id, two.operation, two.properties) == (2, 3, "TRUNCATE", {"k": "v"})
        assert table.commit("me", overwrite=WHOLE_TABLE, operation="TRUNCATE") == two

    def test_an_operation_is_found_again_whatever_kind_it_came_to(self) -> None:
        """Repeated on what it has done, a merge may find other rows to insert and to update than at first."""
        table = _built()
        (first,) = _months(table, 1)
        made = table.commit("me", added=(table.new_file((2,)),), operation="MERGE")
        assert made.commit_kind == "APPEND"
        again = table.commit("me", added=(table.new_file((2,)),), deleted=(first,), operation="MERGE")
        assert again == made
        other = table.commit("me", deleted=(first,), operation="DELETE")
        assert (other.id, len(table.plan())) == (3, 1)

    def test_row_ids_are_handed_out(self) -> None:
        tracked = table_schema([("v", "BIGINT")], options={"row-tracking.enabled": "true"})
        table = _built(tracked)
        first = table.append(table.new_file(rows=3), table.new_file(rows=4))
        assert (first.next_row_id, [f.meta.first_row_id for f in table.plan()]) == (7, [0, 3])
        compacted = table.new_file(rows=7)
        compacted = replace(
            compacted,
            file=replace(compacted.file, first_row_id=0, file_source=int(FileSource.COMPACT), min_sequence_number=1),
        )
        second = table.commit(deleted=tuple(_live(table)), added=(compacted,), compaction=True)
        third = table.append(table.new_file(rows=2))
        assert (second.next_row_id, third.next_row_id) == (7, 9)
        assert [(f.meta.first_row_id, f.meta.max_sequence_number) for f in table.plan()] == [(0, 6), (7, 3)]

    def test_ids_of_blobs_are_those_of_their_rows(self) -> None:
        tracked = table_schema(
            [("v", "BIGINT")], options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
        )
        table = _built(tracked)

        def part(rows: int, name: str, column: str) -> ManifestEntry:
            entry = table.new_file(rows=rows, name=name)
            return replace(entry, file=replace(entry.file, write_cols=(column,)))

        snapshot = table.append(
            part(5, "a.parquet", "v"),
            part(2, "a-1.blob", "x"),
            part(3, "a-2.blob", "x"),
            part(5, "a-3.blob", "y"),
            part(4, "b.parquet", "v"),
            part(4, "b-1.blob", "x"),
        )
        delta = {e.file.file_name: e.file.first_row_id for e in _delta(table, snapshot)}
        assert list(delta.values()) == [0, 0, 2, 0, 5, 5]
        assert snapshot.next_row_id == 9


def test_a_commit_keeps_of_many_entries_those_that_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of a million files does not have to fit into memory so that one of them can go."""
    kept: list[int] = []
    real = conflicts.split_entries

    def counted(*arguments: Any) -> Any:
        found = real(*arguments)
        kept.append(len(found[0]) + len(found[1]))
        return found

    for schema in (MONTHLY, KEYED):
        table = _built(schema)
        files = [
            table.keyed_file((1, 2), partition=(1,)) if schema is KEYED else table.new_file((1,)) for _ in range(31)
        ]
        table.append(*files[1:])
        table.commit(deleted=tuple(files[1:11]))
        with monkeypatch.context() as patch:
            patch.setattr(conflicts, "split_entries", counted)
            table.commit(deleted=tuple(files[11:13]), added=(files[0],))
        assert len(table.names()) == 19
    assert kept == [2, 2]


def test_entries_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest may name hundreds of thousands of files."""
    table = _built()
    _months(table, *range(1, 9))
    latest = table.storage.snapshots.latest()
    assert latest is not None
    made: list[str] = []
    real = manifest._entry
    monkeypatch.setattr(manifest, "_entry", lambda record, source: made.append(source) or real(record, source))
    entries = entries_of(table.store, PATH, delta_manifests(table.store, PATH, latest))
    for number in range(1, 9):
        next(entries)
        assert len(made) == number


_PLACE = st.tuples(st.none() | st.integers(0, 9), st.none() | st.sampled_from("abc"))


@pytest.mark.parametrize("one_by_one", [0, 64])
def test_a_manifest_with_a_wanted_partition_is_never_spared(one_by_one: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_change, "_ONE_BY_ONE", one_by_one)
    table, types = _built(TWO_KEYS), partition_types(TWO_KEYS)

    @given(st.lists(_PLACE, min_size=1, max_size=6), st.lists(_PLACE, min_size=1, max_size=6))
    def law(there: list[Any], wanted: list[Any]) -> None:
        entries = [table.new_file(place) for place in there]
        bounds = PartitionBounds.of(describe("m", 1, entries, types, 0), types)
        near = near_partitions(frozenset(wanted))(bounds)
        assert near or not set(there) & set(wanted)
        for place in wanted:
            for spec in ({0: place[0]}, {1: place[1]}, dict(enumerate(place))):
                matches = any(all(t[i] == v for i, v in spec.items()) for t in there)
                assert bounds.may_hold(spec) or not matches

    law()
    far = [table.new_file((n, "a")) for n in (3, 4)]
    bounds = PartitionBounds.of(describe("m", 1, far, types, 0), types)
    assert not near_partitions(frozenset({(5, "a"), (9, "b")}))(bounds)
    assert not near_partitions(frozenset({(3, "b"), (3, "c")}))(bounds)


_STEP = st.tuples(
    st.sampled_from(["add", "delete", "overwrite", "replace", "compact"]), st.integers(0, 3), st.integers(0, 5)
)


@settings(max_examples=40)
@given(st.lists(_STEP, max_size=15))
def test_histories_leave_what_a_set_of_files_leaves(steps: list[tuple[str, int, int]]) -> None:
    table = _built()
    model: dict[str, tuple[int, ManifestEntry]] = {}
    for what, month, number in steps:
        new = table.new_file((month,), rows=number + 1)
        mine = [(n, e) for n, (m, e) in model.items() if m == month]
        change: dict[str, Any]
        match what:
            case "add":
                change, gone = {"added": (new,)}, []
            case "delete":
                gone = mine[:number]
                change = {"deleted": tuple(e for _, e in gone)}
            case "overwrite":
                gone = mine
                change = {"overwrite": matching_partitions(MONTHLY, [{"month": month}])}
            case "replace":
                gone = mine
                change = {"added": (new,), "overwrite": partitions_of(MONTHLY, [new])}
            case _:
                gone = mine[number:]
                change = {"added": (new,), "deleted": tuple(e for _, e in gone), "compaction": True}
        snapshot = table.commit(**change)
        for name, _ in gone:
            del model[name]
        if "added" in change:
            model[new.file.file_name] = month, new
        assert sorted(table.names()) == sorted(model)
        assert snapshot.total_record_count == sum(e.file.row_count for _, e in model.values())


@pytest.mark.parametrize("fault", ["crash before", "crash after", "fail before", "fail after"])
def test_a_fault_at_any_step_leaves_the_old_or_the_new_state(fault: str) -> None:
    """Of an overwrite with new files, whose manifests are merged too."""
    table = _built()
    for month in range(4):
        table.append(table.new_file((month,), name=f"{month}.parquet"))
    files, old = _store(table).snapshot(), table.names()
    new_state = ["0.parquet", "2.parquet", "3.parquet", "new.parquet"]

    def act(copy: Built) -> Snapshot:
        new = copy.new_file((1,), name="new.parquet")
        return copy.commit("me", added=(new,), overwrite=partitions_of(copy.schema, [new]))

    def fresh() -> tuple[Built, MemoryStore]:
        store = MemoryStore(files)
        copy = Built(store, MONTHLY)
        store.restart()
        return copy, store

    sample, store = fresh()
    act(sample)
    steps = len(store.operations)
    for step in range(steps):
        broken, store = fresh()
        (store.crash_at if fault.startswith("crash") else store.fail_at)(step, after=fault.endswith("after"))
        with suppress(SimulatedCrash, LakebedError):
            act(broken)
        store.restart()
        assert sorted(broken.names()) in (old, new_state)
        assert act(broken).id == 5
        assert sorted(broken.names()) == new_state


class TestPlannedChanges:
    """What was live where a change was planned is not looked for again, and it comes to the same."""

    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_it_comes_to_the_same_as_without_knowing_where_it_was_planned(self, data: st.DataObject) -> None:
        table = _built()
        names = (f"{i}.parquet" for i in count(1))
        for _ in range(data.draw(st.integers(1, 3))):
            self._append(table, names, data)
        planned, live = table.storage.snapshots.latest(), _live(table)
        assert planned is not None
        chosen = tuple(data.draw(st.lists(st.sampled_from(live), min_size=1, max_size=3, unique=True)))
        for _ in range(data.draw(st.integers(0, 3))):
            self._change(table, names, data)
        added = tuple(
            table.new_file((m,), name=next(names)) for m in data.draw(st.lists(st.integers(1, 2), max_size=1))
        )
        outcomes = [self._outcome(table, chosen, added, on) for on in (None, planned)]
        assert outcomes[0] == outcomes[1]

    def test_it_reads_only_what_was_committed_since(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = _built()
        files = [f for months in ((1, 2), (3, 4), (1, 4)) for f in _months_named(table, *months)]
        planned = table.storage.snapshots.latest()
        newer = _delta(table, _append_one(table))
        read: list[str] = []

        def reading(store: Any, path: str, metas: Any) -> Any:
            found = list(entries_of(store, path, metas))
            read.extend(e.file.file_name for e in found)
            return iter(found)

        monkeypatch.setattr(conflicts, "entries_of", reading)
        snapshot = table.commit(deleted=(files[0],), planned_on=planned)
        assert read == [e.file.file_name for e in newer]
        assert snapshot.delta_record_count == -1

    @staticmethod
    def _append(table: Built, names: Any, data: st.DataObject) -> None:
        months = data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
        table.append(*(table.new_file((m,), name=next(names)) for m in months))

    def _change(self, table: Built, names: Any, data: st.DataObject) -> None:
        """A commit of somebody else, or a roll back by one snapshot."""
        snapshots, live = table.storage.snapshots, _live(table)
        match data.draw(st.sampled_from(["append", "delete", "overwrite", "roll back"])):
            case "delete" if live:
                gone = data.draw(st.lists(st.sampled_from(live), min_size=1, max_size=2, unique=True))
                table.commit(deleted=tuple(gone))
            case "overwrite":
                table.commit(overwrite=matching_partitions(table.schema, [{"month": data.draw(st.integers(1, 2))}]))
            case "roll back" if len(snapshots.ids()) > 1:
                table.store.delete(snapshots.path(snapshots.ids()[-1]))
            case _:
                self._append(table, names, data)

    @staticmethod
    def _outcome(table: Built, deleted: Any, added: Any, planned_on: Snapshot | None) -> Any:
        try:
            made = table.commit("me", deleted=deleted, added=added, planned_on=planned_on)
        except ConflictError as error:
            return error.code, table.names()
        found = _delta(table, made), made.total_record_count, table.names()
        table.store.delete(table.storage.snapshots.path(made.id))
        return found


def _months_named(table: Built, *months: int) -> list[ManifestEntry]:
    files = [table.new_file((m,), name=f"{m}-{len(table.names())}-{i}.parquet") for i, m in enumerate(months)]
    table.append(*files)
    return files


def _append_one(table: Built) -> Snapshot:
    return table.append(table.new_file((1,), name="newer.parquet"))

"""Which files of a table with data evolution hold parts of the same rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.building import table_schema
from lakebed.errors import CorruptMetadataError
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import DataFileMeta
from lakebed.format.row_ranges import column_sequence, has_row_tracking, plan_ranges


def _file(name: str, start: int | None, rows: int, sequence: int = 1, **parts: Any) -> DataFile:
    place = parts.pop("place", ())
    if "." not in name:
        name = f"{name}.parquet"
    known = {"file_name": name, "file_size": 1, "row_count": rows, "schema_id": 0}
    meta = DataFileMeta(**known, max_sequence_number=sequence, first_row_id=start, **parts)
    return DataFile(f"/t/{name}", 1, place, 0, -1, meta)


def _plan(*files: DataFile) -> tuple[set[str], list[list[str]]]:
    plan = plan_ranges(files)
    names = [[f.meta.file_name.removesuffix(".parquet") for f in group] for group in plan.groups]
    return {f.meta.file_name.removesuffix(".parquet") for f in plan.whole}, names


def test_files_that_share_rows_come_newest_first_and_blobs_last() -> None:
    whole, groups = _plan(
        _file("old", 0, 10, 1),
        _file("x.blob", 0, 6, 9, write_cols=("x",)),
        _file("y.blob", 6, 4, 3, write_cols=("x",)),
        _file("new", 0, 10, 5),
        _file("alone", 10, 10, 7),
    )
    assert (whole, groups) == ({"alone"}, [["new", "old", "x.blob", "y.blob"]])


def test_between_equal_sequence_numbers_the_first_wins() -> None:
    assert _plan(_file("b", 0, 3), _file("a", 0, 3), _file("c", 0, 3)) == (set(), [["b", "a", "c"]])


def test_files_without_row_ids_stand_alone() -> None:
    assert _plan(_file("a", None, 3), _file("b", None, 3), _file("c", 0, 3)) == ({"a", "b", "c"}, [])


def test_partitions_do_not_mix() -> None:
    assert _plan(_file("a", 0, 3, place=("p",)), _file("b", 0, 3, place=("q",))) == ({"a", "b"}, [])


def test_a_file_of_no_rows_stands_alone() -> None:
    whole, groups = _plan(_file("a", 0, 0), _file("b", 0, 3), _file("c", 3, 2))
    assert (whole, groups) == ({"a", "b", "c"}, [])


@pytest.mark.parametrize(
    "files",
    [
        [_file("a", 0, 10), _file("b", 5, 10)],
        [_file("a", 0, 10), _file("b", 0, 5)],
        [_file("a", 0, 10), _file("b", 2, 3)],
        [_file("a", 0, 5), _file("x.blob", 0, 10, write_cols=("x",))],
        [_file("a", 0, 10), _file("x.blob", 0, 5, write_cols=("x",))],
        [_file("a", 0, 9), _file("x.blob", 0, 3, write_cols=("x",)), _file("y.blob", 6, 3, write_cols=("x",))],
        [_file("a", 0, 9), _file("x.blob", 0, 5, write_cols=("x",)), _file("y.blob", 5, 4, write_cols=("y",))],
    ],
)
def test_files_that_share_some_rows_only_are_refused(files: list[DataFile]) -> None:
    with pytest.raises(CorruptMetadataError) as caught:
        plan_ranges(files)
    assert caught.value.code == "LB5560"
    assert "rows 0 to" in str(caught.value)


def test_a_renamed_column_of_blobs_is_one_column() -> None:
    files = [
        _file("a", 0, 9),
        _file("x.blob", 0, 9, write_cols=("x",)),
        _file("z.blob", 2, 3, 2, write_cols=("renamed",)),
    ]
    assert len(plan_ranges(files, lambda file: "the column").groups) == 1


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.randoms(use_true_random=False), st.data())
def test_every_file_is_planned_once_with_those_of_its_rows(lengths: list[int], random: Any, data: Any) -> None:
    files, start = [], 0
    for number, rows in enumerate(lengths):
        for part in range(data.draw(st.integers(1, 3))):
            files.append(_file(f"{number}-{part}", start, rows, data.draw(st.integers(0, 5))))
        start += rows
    random.shuffle(files)
    whole, groups = _plan(*files)
    assert sorted([*whole, *(n for g in groups for n in g)]) == sorted(f.meta.file_name[:-8] for f in files)
    sequences = {f.meta.file_name[:-8]: f.meta.max_sequence_number for f in files}
    for group in groups:
        assert len({name.split("-")[0] for name in group}) == 1 < len(group)
        assert [sequences[n] for n in group] == sorted((sequences[n] for n in group), reverse=True)


def test_the_sequence_number_of_a_column() -> None:
    said = _file("a", 0, 1, 9, write_cols=("x", "y"), write_cols_sequences=(3, 7))
    assert [column_sequence(said, name) for name in ("x", "y", "z")] == [3, 7, 9]
    assert column_sequence(_file("a", 0, 1, 9, write_cols=("x",)), "x") == 9


@pytest.mark.parametrize(
    ("options", "keys", "tracked"),
    [
        ({"row-tracking.enabled": "true"}, [], True),
        ({"row-tracking.enabled": "True"}, [], True),
        ({}, [], False),
        ({"row-tracking.enabled": "true"}, ["k"], False),
    ],
)
def test_which_tables_have_row_ids(options: dict[str, str], keys: list[str], tracked: bool) -> None:
    assert has_row_tracking(table_schema([("k", "INT NOT NULL")], options=options, primary_keys=keys)) is tracked

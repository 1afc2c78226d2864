"""A watch takes each file once, when it is complete, across files that grow, ends and new beginnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.ingest_lake import SmallLake
from lakebed.errors import LakebedError, NotFoundError, SourceMismatchError
from lakebed.ingest.run_history import IngestResult
from lakebed.ingest.sources.source_listing import FoundFile
from lakebed.ingest.watch_files import Looks, Pace, watch
from lakebed.model import Field, Int32

SECOND = timedelta(seconds=1)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)), max_size=8))
def test_a_file_is_taken_once_and_when_two_looks_find_it_the_same(looks: list[dict[str, int]]) -> None:
    """Each look finds files by their sizes; one that was gone and comes again as it was may be one that was taken."""
    watching, before = Looks(), dict[str, int]()
    taken: dict[str, int] = {}
    for files in looks:
        taken = {path: size for path, size in taken.items() if path in files}
        complete, may_come = watching.look([FoundFile(path, path, size, 7) for path, size in files.items()])
        new = {path for path, size in files.items() if taken.get(path) != size}
        assert complete == {path for path in new if before.get(path) == files[path]}
        assert may_come == (complete != new)
        watching.take(complete)
        taken |= {path: files[path] for path in complete}
        before = files


def watched(lake: SmallLake, *steps: Callable[[], object], **asked: object) -> Iterator[IngestResult]:
    """A watch of `in`, with steps that are done between its looks, one each."""
    left = list(steps)

    def sleep(seconds: float) -> None:
        assert seconds == 1
        if left:
            left.pop(0)()

    (lake.root / "in").mkdir(exist_ok=True)
    pace = Pace(SECOND, SECOND * 2, sleep)
    return watch(lake.context, lake.spark, "db.t", str(lake.root / "in"), pace, asked)  # type: ignore[arg-type]


def test_files_are_ingested_as_they_come(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()))
    lake.file("in/a.csv", "id\n1\n")
    lake.file("in/_part.csv", "id\n100\n")
    large = lake.root / "in" / "b.csv"
    results = list(
        watched(
            lake,
            lambda: large.write_text("id\n2\n"),
            lambda: large.write_text("id\n2\n3\n"),
            lambda: None,
            lambda: None,
            lambda: lake.file("in/c.csv", "id\nx\n4\n"),
        )
    )
    assert [(r.rows_written, r.rows_quarantined, r.skipped_files) for r in results] == [
        (1, 0, ()),
        (2, 0, ()),
        (1, 1, ()),
    ]
    assert [len(r.left_out) for r in results] == [1, 0, 0]
    # Begun again, it knows what is there.
    lake.file("in/d.csv", "id\n5\n")
    [result] = watched(lake)
    assert (result.rows_written, len(result.skipped_files)) == (1, 3)
    assert [r["id"] for r in lake.rows(order="id")] == [1, 2, 3, 4, 5]


def test_what_fails_an_ingest_ends_the_watch(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()))
    results = watched(
        lake, lambda: lake.file("in/a.csv", "id\n1\n"), lambda: None, lambda: lake.file("in/b.csv", "no\n1\n")
    )
    assert next(results).rows_written == 1
    with pytest.raises(SourceMismatchError):
        next(results)
    (lake.root / "in" / "b.csv").write_text("id\n2\n")
    assert [r.rows_written for r in watched(lake)] == [1]


def test_what_makes_no_sense_is_told_at_once(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()))

    def code(source: object, pace: Pace, **asked: object) -> str:
        with pytest.raises(LakebedError) as caught:
            watch(lake.context, lake.spark, "db.t", source, pace, asked)  # type: ignore[arg-type]
        return caught.value.code

    here = str(lake.root)
    assert code(here, Pace(timedelta())) == code(here, Pace(SECOND, -SECOND)) == "LB6109"
    assert code(here, Pace(5)) == "LB6109"  # type: ignore[arg-type]
    assert code(here, Pace(), unknown_columns="keep") == code(here, Pace(), row_kinds="x") == "LB6109"
    assert code(3, Pace()) == "LB6108"
    with pytest.raises(NotFoundError, match="LB6101"):
        watch(lake.context, lake.spark, "db.t", f"{here}/none", Pace(), {})
    assert Path(here).is_dir()

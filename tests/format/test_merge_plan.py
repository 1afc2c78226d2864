"""The plan of a primary-key table's read: laws over random files of random buckets."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.building import table_schema
from lakebed.errors import LakebedError
from lakebed.format import binary_row
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import DataFileMeta
from lakebed.format.merge_engine import MergeEngine, merge_rules
from lakebed.format.merge_plan import Section, has_no_deletes, is_older, plan_merge, split_base
from lakebed.format.partition import POSTPONED
from lakebed.physical import parse

COLUMNS = [("k", "INT NOT NULL"), ("v", "INT")]
ENGINES = [{"merge-engine": engine.value} for engine in MergeEngine]
VECTORS = [{"deletion-vectors.enabled": "true"}]
MERGED_VECTORS = [VECTORS[0] | {"deletion-vectors.merge-on-read": "true"}]


def schema(options: dict[str, str]):
    return table_schema(COLUMNS, primary_keys=["k"], options=options)


def file(low: int, high: int, *, level: int = 0, deletes: int | None = 0, bucket: int = 0, **meta: int) -> DataFile:
    key = [parse("INT")]
    described = DataFileMeta(
        file_name="f",
        file_size=10,
        row_count=meta.pop("rows", 10),
        schema_id=0,
        min_key=binary_row.encode(key, [low]),
        max_key=binary_row.encode(key, [high]),
        level=level,
        delete_row_count=deletes,
        **meta,
    )
    return DataFile("/t/f.parquet", 10, (), bucket, 1, described)


def span(found: DataFile) -> tuple[int, int]:
    key = [parse("INT")]
    low, high = (binary_row.decode(key, k)[0] for k in (found.meta.min_key, found.meta.max_key))
    return low, high


@st.composite
def tables(draw: st.DrawFn) -> list[DataFile]:
    """Files of some buckets; above level 0 those of one level and bucket do not overlap, as compaction leaves them."""
    files = []
    for bucket in (0, 1, POSTPONED):
        for level in (0, 0, 1, 5):
            ends = sorted(draw(st.sets(st.integers(0, 40), max_size=6)))
            deletes = draw(st.sampled_from([0, 0, 0, 2, None]))
            pairs = zip(ends[::2], ends[1::2], strict=False)
            files += [file(low, high, level=level, deletes=deletes, bucket=bucket) for low, high in pairs]
    return [replace(f, path=f"/t/{i}.parquet") for i, f in enumerate(draw(st.permutations(files)))]


@given(tables(), st.sampled_from(ENGINES + VECTORS + MERGED_VECTORS))
def test_every_visible_file_is_in_exactly_one_part(files: list[DataFile], options: dict[str, str]) -> None:
    plan = plan_merge(files, schema(options))
    compacted = options in VECTORS or options == {"merge-engine": "first-row"}
    visible = [f for f in files if f.bucket != POSTPONED and (f.meta.level > 0 or not compacted)]
    planned = [*plan.raw, *(f for section in plan.sections for f in section)]
    assert sorted(f.path for f in planned) == sorted(f.path for f in visible)


@given(tables(), st.sampled_from(ENGINES[:3] + MERGED_VECTORS))
def test_a_key_lies_in_one_part_only(files: list[DataFile], options: dict[str, str]) -> None:
    plan = plan_merge(files, schema(options))
    parts = [(f,) for f in plan.raw] + list(plan.sections)
    assert all(len({f.bucket for f in part}) == 1 for part in parts)
    for bucket in (0, 1):
        spans = sorted(_hull(part) for part in parts if part[0].bucket == bucket)
        assert all(one[1] < other[0] for one, other in itertools.pairwise(spans))


@given(tables(), st.sampled_from(ENGINES + VECTORS))
def test_what_may_hold_deletes_is_merged(files: list[DataFile], options: dict[str, str]) -> None:
    assert all(f.meta.delete_row_count == 0 for f in plan_merge(files, schema(options)).raw)


@given(tables())
def test_sections_are_as_small_as_can_be(files: list[DataFile]) -> None:
    """No section of several files falls into parts that share no key."""
    for section in plan_merge(files, schema({})).sections:
        spans = sorted(map(span, section))
        end = spans[0][1]
        for low, high in spans[1:]:
            assert low <= end
            end = max(end, high)


@given(tables())
def test_files_of_a_section_stand_in_the_order_of_their_commits(files: list[DataFile]) -> None:
    """Between equal sequence numbers the newer file wins, so a section must not be sorted by its keys."""
    places = {f.path: i for i, f in enumerate(files)}
    for section in plan_merge(files, schema({})).sections:
        order = [places[f.path] for f in section]
        assert order == sorted(order)


@pytest.mark.parametrize(
    ("levels", "is_merged"),
    [((0, 0), True), ((0, 5), True), ((1, 5), True), ((5, 5), False), ((1, 1), False)],
)
@pytest.mark.parametrize("options", [{}, {"merge-engine": "aggregation"}, MERGED_VECTORS[0]])
def test_only_a_level_that_compaction_made_is_one_run(
    levels: tuple[int, int], is_merged: bool, options: dict[str, str]
) -> None:
    """Each file of level 0 is a run of its own: two of them may hold one key."""
    low, high = file(0, 10, level=levels[0]), replace(file(5, 20, level=levels[1]), path="/t/g.parquet")
    plan = plan_merge([low, high], schema(options))
    assert (plan.raw, plan.sections) == (((), ((low, high),)) if is_merged else ((low, high), ()))


def _hull(part: Section) -> tuple[int, int]:
    spans = [span(f) for f in part]
    return min(low for low, _ in spans), max(high for _, high in spans)


# --- base and delta ---------------------------------------------------------------------------------------------------

BASE = file(0, 100, level=5, rows=1000, min_sequence_number=0, max_sequence_number=99)
DELTA = file(0, 100, rows=100, min_sequence_number=100, max_sequence_number=150)


def test_a_large_compacted_base_is_split_off() -> None:
    more = replace(DELTA, path="/t/more.parquet")
    assert split_base((DELTA, BASE, more)) == ((BASE,), (DELTA, more))


@pytest.mark.parametrize(
    "section",
    [
        (BASE,),
        (replace(BASE, meta=replace(BASE.meta, level=0)), DELTA),
        (replace(BASE, meta=replace(BASE.meta, row_count=150)), DELTA),
    ],
    ids=["alone", "not compacted", "not larger"],
)
def test_any_other_section_is_not(section: Section) -> None:
    assert split_base(section) is None


def test_what_is_known_of_a_base() -> None:
    """One that is not older, or may hold deletes, is split off as well; its merge has to know."""
    assert is_older((BASE,), (DELTA,))
    late = replace(BASE, meta=replace(BASE.meta, max_sequence_number=100))
    assert not is_older((late,), (DELTA,))
    assert split_base((late, DELTA)) == ((late,), (DELTA,))
    deletes = [replace(BASE, meta=replace(BASE.meta, delete_row_count=count)) for count in (0, 1, None)]
    assert [has_no_deletes(base) for base in deletes] == [True, False, False]
    assert all(split_base((base, DELTA)) == ((base,), (DELTA,)) for base in deletes)


# --- rules ------------------------------------------------------------------------------------------------------------

WIDE = [("k", "INT NOT NULL"), *((name, "INT") for name in "abgh")]
PARTIAL = {"merge-engine": "partial-update"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"merge-engine": "keep-some"}, "LB5500"),
        (PARTIAL | {"fields.a.aggregate-function": "sum"}, "LB5506"),
        (PARTIAL | {"ignore-delete": "true", "partial-update.remove-record-on-delete": "true"}, "LB5506"),
        (PARTIAL | {"partial-update.remove-record-on-delete": "true", "fields.g.sequence-group": "a"}, "LB5506"),
        (PARTIAL | {"partial-update.remove-record-on-sequence-group": "h", "fields.g.sequence-group": "a"}, "LB5506"),
        (PARTIAL | {"fields.g.sequence-group": "a", "fields.h.sequence-group": "a"}, "LB5506"),
        (PARTIAL | {"fields.g.sequence-group": "h", "fields.h.sequence-group": "b"}, "LB5506"),
        (PARTIAL | {"fields.g.sequence-group": "z"}, "LB5509"),
        ({"sequence.field": "z"}, "LB5509"),
        ({"merge-engine": "aggregation", "fields.a.nested-sequence-field": "x"}, "LB5506"),
        ({"merge-engine": "aggregation", "fields.a.nested-key-null-strategy": "x"}, "LB5506"),
        (
            {
                "merge-engine": "aggregation",
                "aggregation.remove-record-on-delete": "true",
                "fields.a.ignore-retract": "true",
            },
            "LB5506",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], code: str) -> None:
    with pytest.raises(LakebedError) as caught:
        merge_rules(table_schema(WIDE, primary_keys=["k"], options=options))
    assert caught.value.code == code


@pytest.mark.parametrize("engine", MergeEngine)
def test_old_spellings_of_ignore_delete(engine: MergeEngine) -> None:
    for key in ("ignore-delete", *(f"{e}.ignore-delete" for e in MergeEngine)):
        options = {"merge-engine": engine.value, key: "true"}
        assert merge_rules(table_schema(WIDE, primary_keys=["k"], options=options)).ignore_delete

"""How many rows of a run may be bad."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakebed.errors import UsageError
from lakebed.ingest.arguments import bad_row_limit
from lakebed.ingest.bad_row_limit import BadRowLimit, share_text


@given(st.integers(0, 100), st.integers(0, 10_000), st.integers(0, 10_000))
@example(29, 29, 100)  # 0.29 * 100 is a little less than 29
@example(7, 7, 100)
@example(0, 0, 0)
@example(0, 1, 10_000)
def test_a_share_is_taken_as_it_is_written(percent: int, bad: int, read: int) -> None:
    bad = min(bad, read)
    limit = BadRowLimit(share=float(Decimal(percent) / 100))
    assert (limit.passed_by(bad, read) is not None) == (100 * bad > percent * read)
    assert share_text(limit.share or 0.0) == f"{percent}%"


@given(st.integers(0, 50), st.integers(0, 50), st.none() | st.integers(0, 50), st.none() | st.floats(0, 1))
def test_each_limit_counts_by_itself(bad: int, good: int, rows: int | None, share: float | None) -> None:
    both, read = BadRowLimit(rows, share), bad + good
    alone = [BadRowLimit(rows).passed_by(bad, read), BadRowLimit(share=share).passed_by(bad, read)]
    assert both.passed_by(bad, read) == next((said for said in alone if said is not None), None)


@pytest.mark.parametrize("share", [-0.1, 1.01, 5, float("nan"), True, "5%"])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(UsageError) as error:
        bad_row_limit(None, share)
    assert error.value.code == "LB6109"
    assert error.value.diagnostics[0].expected == "a share of all rows, from 0 to 1: 0.05 for 5%"


def test_what_a_limit_says() -> None:
    assert BadRowLimit(2, 0.5).passed_by(3, 4) == "more than 2"
    assert BadRowLimit(3, 0.005).passed_by(3, 4) == "more than 0.5% of them"
    assert bad_row_limit(0, 1) == BadRowLimit(0, 1)

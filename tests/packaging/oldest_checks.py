"""What the oldest versions do, besides the tests of other rooms: `test_extras.py` runs it in their environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import smoke

import lakebed
from lakebed.errors import UnsupportedError
from referees.corpus import load_expected

#: Spark before 4.2 does not read it, which is refused.
NEEDS_42 = "orc__append_with_multiple_ts_precision_and_timezone"


def test_the_main_job(spark: Any, tmp_path: Path) -> None:
    smoke.main_job(spark, tmp_path)


def test_what_an_old_spark_cannot_read_is_refused(spark: Any, shared: Path) -> None:
    table = load_expected(NEEDS_42, shared)
    with pytest.raises(UnsupportedError) as refused:
        lakebed.open(table.warehouse).read(spark, table.table)
    assert (spark.version, refused.value.code) == ("4.0.0", "LB6460")

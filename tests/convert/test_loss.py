from __future__ import annotations

import pytest

from lakebed.convert import Loss, LossReport
from lakebed.errors import ConversionError


def test_an_empty_report_is_falsy_and_raises_nothing() -> None:
    assert not LossReport()
    LossReport().raise_if_any()


def test_losses_are_one_diagnostic_each() -> None:
    report = LossReport((Loss("a.b", "the unit"), Loss("", "the attributes")))
    assert report
    assert str(report) == "a.b: the unit\nthe attributes"
    with pytest.raises(ConversionError) as caught:
        report.raise_if_any()
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2107", "a.b"), ("LB2107", None)]

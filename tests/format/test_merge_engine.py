"""What options say of merging, and the texts that are no values of them."""

from __future__ import annotations

from typing import Any

import pytest

from format.building import table_schema
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError
from lakebed.format.merge_engine import ignores_deletes, merge_rules


@pytest.mark.parametrize(
    ("options", "ignored"),
    [
        ({}, False),
        ({"ignore-delete": "true"}, True),
        ({"first-row.ignore-delete": "TRUE"}, True),
        # The first that is set counts, and no other is read.
        ({"ignore-delete": "false", "first-row.ignore-delete": "true"}, False),
        ({"ignore-delete": "false", "first-row.ignore-delete": "no value"}, False),
        ({"deduplicate.ignore-delete": "false", "partial-update.ignore-delete": "true"}, False),
    ],
)
def test_the_first_name_of_ignore_delete_that_is_set_counts(options: dict[str, str], ignored: bool) -> None:
    assert ignores_deletes(options) is ignored


def _keyed(**options: str) -> TableSchema:
    spelt: dict[str, Any] = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return table_schema([("id", "BIGINT NOT NULL"), ("at", "BIGINT")], primary_keys=("id",), options=spelt)


def test_a_sort_order_is_one_of_two_words_or_an_error() -> None:
    assert merge_rules(_keyed(sequence__field="at", sequence__field__sort_order="DESCENDING")).descending
    assert not merge_rules(_keyed(sequence__field="at")).descending
    for text in (" descending", "down", ""):
        with pytest.raises(LakebedError) as caught:
            merge_rules(_keyed(sequence__field="at", sequence__field__sort_order=text))
        assert caught.value.code == "LB5073"


def test_an_option_that_the_engine_does_not_have_is_not_read() -> None:
    assert not merge_rules(_keyed(aggregation__remove_record_on_delete="no value")).remove_on_delete

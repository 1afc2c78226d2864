"""The manifests in the reference page are what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakebed.errors import ManifestError
from lakebed.manifest import parse_manifest
from lakebed.manifest.attributes import BAD_ROW_ACTIONS
from lakebed.model import BY_KIND
from lakebed.model.extra import DEFAULT, ENUM, FIELD_ID, ON_BAD_ROW, PAIMON_TYPE, PATTERN, PERSONAL_DATA, RENAMED_FROM

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "manifest.md").read_text(encoding="utf-8")


def test_examples_are_valid() -> None:
    examples = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert [parse_manifest(text).tables[0].name for text in examples] == ["nyc.flights", "lab.green-house"]


def test_every_type_and_attribute_is_there() -> None:
    names = [*BY_KIND, DEFAULT, ENUM, FIELD_ID, ON_BAD_ROW, PAIMON_TYPE, PATTERN, PERSONAL_DATA, RENAMED_FROM]
    names += BAD_ROW_ACTIONS
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_the_errors_shown_are_those_that_are_given() -> None:
    first = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert first is not None
    text = first[1].replace("type: Int32", "type: Integer").replace("renamedFrom", "renamedfrom")
    shown = re.findall(r"^flights.yaml.*$", PAGE, re.MULTILINE)
    with pytest.raises(ManifestError) as error:
        parse_manifest(text, source="flights.yaml")
    assert [line for line in str(error.value).split("\n") if line.startswith("flights")] == shown

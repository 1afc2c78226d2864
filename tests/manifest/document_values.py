"""A declared table as the JSON value of its document."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML

from lakebed.manifest import TableManifest, dump_table
from lakebed.manifest.node_values import json_value
from lakebed.manifest.parse_yaml import compose
from lakebed.manifest.problems import Problems


def document_value(manifest: TableManifest) -> Any:
    """What an editor that loads YAML 1.2 hands to a validator."""
    problems = Problems()
    (node,) = compose(dump_table(manifest), None, problems)
    value = json_value(node, problems)
    assert not problems.errors
    return value


def loaded(text: str) -> Any:
    """What another YAML library makes of a text."""
    return YAML(typ="safe", pure=True).load(text)

"""Attributes of the project on the command line, and manifests brought up to date."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST

ATTRIBUTES = """\
kind: Attributes
version: 1
content:
  domains: [shop.org]
  attributes:
    - name: shop.org/pii
      description: Class of personal data
      on: [column]
      required: true
      value: {enum: [none, personal]}
"""


@pytest.fixture
def declared(orders: Path, here: Path) -> None:
    (here / "attributes.yaml").write_text(ATTRIBUTES, encoding="utf-8")
    with (here / "lakebed.toml").open("a", encoding="utf-8") as settings:
        settings.write('attributes = "attributes.yaml"\n')


@pytest.mark.usefixtures("declared")
class TestEnforced:
    def test_plan_and_ingest_refuse_what_lacks_them(self, lakebed: CommandLine, here: Path) -> None:
        result = lakebed("plan", "orders.yaml")
        assert result.code == 1
        assert "orders.yaml:9:16: error[LB1604]: the column day lacks the attribute shop.org/pii" in result.err
        (here / "rows.csv").write_text("day,id,amount,note\n", encoding="utf-8")
        result = lakebed("ingest", "shop.orders", "rows.csv")
        assert result.code == 1
        assert "error[LB1604]: shop.orders: the column day lacks" in result.err

    def test_a_saved_plan_is_refused_too(self, lakebed: CommandLine, here: Path) -> None:
        settings = here / "lakebed.toml"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(text.replace("attributes =", "# attributes ="), encoding="utf-8")
        (here / "new.yaml").write_text(MANIFEST.replace("shop.orders", "shop.new"), encoding="utf-8")
        lakebed.ok("plan", "new.yaml", "--out", "new.plan")
        settings.write_text(text, encoding="utf-8")
        result = lakebed("apply", "new.plan", "--yes")
        assert result.code == 1
        assert "LB1604" in result.err

    def test_the_editor_schema_has_them(self, lakebed: CommandLine) -> None:
        schema = json.loads(lakebed.ok("schema"))
        field = {"name": "a", "type": "Int8", "extra": {"shop.org/pii": "none"}}
        value = {"kind": "Table", "version": 1, "content": {"name": "t", "schema": {"fields": [field]}}}
        validator = jsonschema.Draft7Validator(schema)
        assert validator.is_valid(value)
        field["extra"] = {"shop.org/pii": "some"}
        assert not validator.is_valid(value)


class TestUpdate:
    def test_a_file_follows_the_table(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        mine = here / "mine.yaml"
        mine.write_text(MANIFEST.replace("{name: id,", "{name: id,  #\n        "), "utf-8")
        later = MANIFEST.replace("type: Int32", "type: Int64").replace(
            "{name: note,", "{name: comment, extra: {lakebed.dev/renamedFrom: note},"
        )
        orders.write_text(later, encoding="utf-8")
        lakebed.ok("apply", "orders.yaml", "--yes")
        assert "is brought up to date" in lakebed.ok("infer", "shop.orders", "--update", "mine.yaml")
        text = mine.read_text(encoding="utf-8")
        assert "name: comment" in text
        assert "{name: id,  #\n" in text
        assert "as declared" in lakebed.ok("plan", "mine.yaml")
        assert "as it is" in lakebed.ok("infer", "shop.orders", "--update", "mine.yaml")

    def test_of_another_table(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        (here / "o.yaml").write_text(MANIFEST.replace("shop.orders", "shop.o"), encoding="utf-8")
        assert lakebed("infer", "shop.orders", "--update", "o.yaml").code == 1

"""A small warehouse with a history, whose names and texts are as hostile as they may be."""

from __future__ import annotations

from pathlib import Path

import lakebed
from lakebed.lake import Lake
from lakebed.manifest import parse_manifest

SCRIPT = "<script>alert('x')</script>"
IMAGE = "<img src=x onerror=alert(1)>"
SECRET = "hunter2222"
ORDERS = f"""\
kind: Table
version: 1
content:
  name: shop.orders
  description: "Orders of the shop {SCRIPT}"
  primaryKeys: [id]
  options: {{bucket: "2", my.secret: "{SECRET}"}}
  schema:
    extra:
      example.org/owner: "team-shop {SCRIPT}"
      example.org/tags: [gold, "{IMAGE}"]
      example.org/seen: "{SCRIPT}"
    fields:
      - {{name: id, type: Int64, extra: {{opendatafabric.org/description: "Number of the order </td>{SCRIPT}"}}}}
      - {{name: "{IMAGE}", type: {{kind: Option, inner: String}}}}
      - name: address
        type:
          kind: Option
          inner:
            kind: Struct
            fields:
              - {{name: street, type: String}}
              - name: place
                type: {{kind: Option, inner: {{kind: Struct, fields: [{{name: latitude, type: Float64}}]}}}}
      - name: email
        type: {{kind: Option, inner: String}}
        extra: {{lakebed.dev/personalData: true, example.org/tags: [contact]}}
"""
NOTE = '      - {name: note, type: {kind: Option, inner: String}, extra: {example.org/why: "</script><b>"}}\n'
QUANTITY = "      - {name: quantity, type: {kind: Option, inner: Int32}}\n"
OTHERS = """\
kind: Table
version: 1
content:
  name: "`we''ird <b>&`.`a\\"&<i>`"
  schema:
    fields:
      - {name: id, type: Int64}
---
kind: Table
version: 1
content:
  name: shop.Orders
  schema:
    fields:
      - {name: id, type: Int64}
"""
WEIRD = "`we''ird <b>&`.a\"&<i>"


def hostile_lake(directory: Path) -> Lake:
    """`shop.orders` in three versions with a branch, and two others."""
    directory.mkdir(exist_ok=True)
    lake = lakebed.open(str(directory))
    for text in (ORDERS, ORDERS + NOTE, ORDERS + NOTE + QUANTITY, OTHERS):
        lake.apply(lake.plan(parse_manifest(text)))
    lake.branches("shop.orders").create("dev")
    return lake

"""Other engines append to a table of Lakebed's and alter it; Lakebed reads that, keeps what it knew, and goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakebed
from interop.agreement import READERS, declare, put, rows
from interop.declared import (
    DESCRIPTION,
    Fields,
    add,
    drop,
    field,
    list_of,
    manifest,
    option,
    retype,
    struct,
    timestamp,
)
from lakebed.catalog.annotations import OPTION, drift
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import RefusedError
from lakebed.manifest import dump_table
from lakebed.model import type_json
from referees.client import RefereeError, Referees
from referees.comparison import assert_same_rows
from referees.encoding import Row
from referees.java import JavaReferee

TABLE = "db.t"
INNER = (field("a", "UInt8", {"example.org/unit": "m"}), field("b", option("String")))
FLAT: Fields = (
    field("id", "Int64", {DESCRIPTION: "the key"}),
    field("big", "UInt64", {"example.org/owner": {"name": "us"}}),
    field("small", option("UInt16")),
    field("took", option({"kind": "Duration", "unit": "Second"}), {"example.org/note": ["x", 1, None]}),
    field("at", option(timestamp("Millisecond", "Europe/Paris"))),
    field("pair", option(list_of("UInt8", 2))),
    field("gone", option("String")),
)
FIELDS: Fields = (*FLAT, field("s", option(struct(*INNER))))
STAMP = "2024-02-29T10:11:12.345000000Z"


def text(fields: Fields) -> str:
    return manifest(fields, name=TABLE, extra={"example.org/team": "tide"}, description="kept")


def called(fields: Fields, **names: str) -> Fields:
    """The fields under the names that others have given them."""
    return tuple(f | {"name": names.get(f["name"], f["name"])} for f in fields)


def newest(lake: lakebed.Lake) -> TableSchema:
    return lake.schema(TABLE)


def kinds(lake: lakebed.Lake) -> dict[str, Any]:
    """The logical types by column, without Option."""
    return {
        f.name: (kind["inner"] if kind["kind"] == "Option" else kind)
        for f in newest(lake).logical.fields
        for kind in [type_json(f.type)]
    }


def check(lake: lakebed.Lake, spark: SparkSession, referees: Referees, expected: list[Row], *readers: Any) -> None:
    """Lakebed and the readers see these rows, in whatever order."""
    columns = referees.columns(lake.warehouse, TABLE)
    assert_same_rows(expected, rows(lake, spark, TABLE), columns)
    for reader in readers:
        assert_same_rows(expected, referees.rows(reader, lake.warehouse, TABLE), columns)


def infer_is_noop(lake: lakebed.Lake) -> None:
    """A manifest that is inferred from the table changes nothing."""
    path = Path(lake.warehouse).parent / "inferred.yaml"
    path.write_text(dump_table(lake.infer(TABLE)), encoding="utf-8")
    assert lake.plan(path).is_noop


def refuses_to_undo(lake: lakebed.Lake, fields: Fields) -> None:
    """The manifest of before undoes the other engine's version in every change, and does so with leave only."""
    path = Path(lake.warehouse).parent / "before.yaml"
    path.write_text(text(fields), encoding="utf-8")
    plan, version = lake.plan(path), newest(lake).id
    (table,) = plan.tables
    assert table.drift is not None
    assert (table.drift.applied, table.drift.last) == (version - 1, version)
    undone = {c.summary for c in table.changes if c.undoes_others}
    assert {"drop column n (Option<Int32>)", "rename column lasted to took", "rename column s.d to b"} <= undone
    assert len(undone) == len(table.changes)
    with pytest.raises(RefusedError):
        lake.apply(plan, allow={code for code in plan.leave_needed() if not code.startswith("LB4231")})
    assert newest(lake).id == version


def test_pypaimon_and_rust_append_and_pypaimon_alters(
    lake: lakebed.Lake, spark: SparkSession, referees: Referees
) -> None:
    declare(lake, text(FIELDS))
    put(lake, spark, TABLE, [{"id": 1, "big": 2**64 - 1, "took": 5, "pair": [0, 255], "s": {"a": 7, "b": "seven"}}])
    told = [[1, str(2**64 - 1), None, 5, None, [0, 255], None, [7, "seven"]]]
    theirs = [2, str(2**63), 65535, -1, STAMP, [1, 2], "gone", [255, None]]
    referees.append(lake.warehouse, TABLE, [theirs, [3, "0", *[None] * 6]])
    referees.append(lake.warehouse, TABLE, [[4, *theirs[1:]], [5, "0", *[None] * 6]], writer="rust")
    told += [theirs, [3, "0", *[None] * 6], [4, *theirs[1:]], [5, "0", *[None] * 6]]
    check(lake, spark, referees, told, *READERS)

    before = newest(lake)
    referees.alter(
        lake.warehouse,
        TABLE,
        [
            {
                "action": "addColumn",
                "fieldNames": ["n"],
                "dataType": "INT",
                "comment": "by pypaimon",
                "move": {"fieldName": "n", "referenceFieldName": "id", "type": "AFTER"},
            },
            {"action": "renameColumn", "fieldNames": ["took"], "newName": "lasted"},
            {"action": "updateColumnType", "fieldNames": ["small"], "newDataType": "BIGINT"},
            {"action": "dropColumn", "fieldNames": ["gone"]},
            {"action": "addColumn", "fieldNames": ["s", "c"], "dataType": "DATE", "comment": None, "move": None},
            {"action": "renameColumn", "fieldNames": ["s", "b"], "newName": "d"},
        ],
    )
    after = newest(lake)
    assert after.options[OPTION] == before.options[OPTION]
    assert (after.comment, after.logical.extra.get("example.org/team")) == ("kept", "tide")
    found = kinds(lake)
    assert list(found) == ["id", "n", "big", "small", "lasted", "at", "pair", "s"]
    assert [found[name]["kind"] for name in ("big", "small", "lasted")] == ["UInt64", "Int64", "Duration"]
    assert found["lasted"]["unit"] == "Second"
    assert found["at"]["timezone"] == "Europe/Paris"
    assert found["pair"]["fixedLength"] == 2
    assert [f["type"]["kind"] for f in found["s"]["fields"]] == ["UInt8", "Option", "Option"]
    logical = {f.name: f for f in after.logical.fields}
    assert logical["big"].extra.get("example.org/owner") == {"name": "us"}
    assert logical["lasted"].extra.get("example.org/note") == ["x", 1, None]
    assert logical["n"].description == "by pypaimon"
    assert [(d.code, d.path) for d in drift(after)] == [("LB3513", "small")]
    refuses_to_undo(lake, FIELDS)

    told = [[r[0], None, *r[1:6], None if r[7] is None else [*r[7], None]] for r in told]
    check(lake, spark, referees, told, *READERS)
    added = [6, 60, "6", 2**40, 60, None, [6, 6], [6, "six", "2024-02-29"]]
    referees.append(lake.warehouse, TABLE, [added])
    told.append(added)
    check(lake, spark, referees, told, *READERS)
    infer_is_noop(lake)

    # The manifest follows what the others did, and changes more.
    inner = add(called(INNER, b="d"), field("c", option("Date")), after="d")
    fields = retype(drop(called(FIELDS, took="lasted"), "gone"), small=option("Int64"))
    fields = retype(fields, s=option(struct(*retype(inner, a="UInt16"))))
    fields = add(fields, field("n", option("Int64")), after="id")
    declare(lake, text((field("front", option("Bool")), *fields)))
    assert newest(lake).id == after.id + 1
    assert not drift(newest(lake))
    put(lake, spark, TABLE, [{"id": 7, "big": 7, "n": 2**40, "front": True, "s": {"a": 65535}}])
    told = [[None, *r] for r in told]
    told.append([True, 7, 2**40, "7", None, None, None, None, [65535, None, None]])
    check(lake, spark, referees, told, *READERS)
    infer_is_noop(lake)


def test_java_appends_and_alters(
    lake: lakebed.Lake, spark: SparkSession, referees: Referees, java: JavaReferee
) -> None:
    declare(lake, text(FIELDS))
    put(lake, spark, TABLE, [{"id": 1, "big": 2**64 - 1, "took": 5, "pair": [0, 255], "s": {"a": 7, "b": "seven"}}])
    told = [[1, str(2**64 - 1), None, 5, None, [0, 255], None, [7, "seven"]]]
    theirs = [2, str(2**63), 65535, -1, STAMP, [1, 2], "gone", [255, None]]
    java.append(lake.warehouse, TABLE, [theirs])
    told.append(theirs)
    check(lake, spark, referees, told, "rust")
    before = newest(lake)
    java.alter(
        lake.warehouse,
        TABLE,
        [
            {
                "action": "addColumn",
                "fieldNames": ["n"],
                "dataType": "INT",
                "move": {"fieldName": "n", "type": "FIRST"},
            },
            {"action": "renameColumn", "fieldNames": ["took"], "newName": "lasted"},
            {"action": "updateColumnType", "fieldNames": ["small"], "newDataType": "BIGINT"},
            {"action": "dropColumn", "fieldNames": ["gone"]},
        ],
    )
    after = newest(lake)
    assert json.loads(after.options[OPTION]) == json.loads(before.options[OPTION])
    assert kinds(lake)["lasted"] == {"kind": "Duration", "unit": "Second"}
    assert [(d.code, d.path) for d in drift(after)] == [("LB3513", "small")]
    told = [[None, *r[:6], r[7]] for r in told]
    java.append(lake.warehouse, TABLE, [[9, 3, "3", 2**40, 3, None, None, None]])
    told.append([9, 3, "3", 2**40, 3, None, None, None])
    check(lake, spark, referees, told, "rust")
    infer_is_noop(lake)

    fields = retype(drop(called(FIELDS, took="lasted"), "gone"), small=option("Int64"))
    declare(lake, text((field("n", option("Int64")), *fields, field("tail", option("Date")))))
    put(lake, spark, TABLE, [{"id": 4, "big": 4, "n": 2**40}])
    told = [[*r, None] for r in told]
    told.append([2**40, 4, "4", None, None, None, None, None, None])
    check(lake, spark, referees, told, "rust")
    assert_same_rows(told, java.rows(lake.warehouse, TABLE), referees.columns(lake.warehouse, TABLE))
    # pypaimon 2.1.0 wants a field in manifests that Java 0.9 does not write.
    with pytest.raises(RefereeError, match="_VALUE_STATS_COLS"):
        referees.rows("pypaimon", lake.warehouse, TABLE)

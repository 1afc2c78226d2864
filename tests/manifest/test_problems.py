"""Every kind of problem, at its exact place, with a suggestion where there is a near name."""

from __future__ import annotations

import re

import pytest

from lakebed.codes import register
from lakebed.diagnostics import Severity
from lakebed.manifest import parse_manifest
from manifest.marked import places_of, problems_of, table, unmarked

EVENT = "{kind: SetDataSchema, schema: {fields: []}}"


def snapshot(*events: str) -> str:
    listed = "".join(f"  - {event}\n" for event in events)
    return f"kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: a.b\n  kind: Root\n  metadata:\n{listed}"


# Each text is one case; the marks in it are all that may be said about it.
CASES: dict[str, str] = {
    # the text
    "broken indentation": "a: 1\n b«LB1003»: 2\n",
    "tab as indentation": "a:\n«LB1003»\tb: 1\n",
    "control character": "a: x«LB1003»\x07y\n",
    "unclosed list": "kind: Table\na: «LB1003»[1,\n",
    "unclosed list before another key": "kind: Table\na: «LB1003»[1,\n\nb: 1\n",
    "unclosed brace": "kind: Table\na: «LB1003»{b: 1",
    "unclosed brace inside": "a:\n  - «LB1003»{b: 1\n  - {b: 2}\n",
    "unclosed quote": 'a: 1\nb: «LB1003»"x\nc: 1\n',
    "unclosed single quote": "a: 1\nb: [«LB1003»'x]\nc: 1\n",
    "unclosed quote in a document": 'a: 1\nb: «LB1003»"x\n---\nc: 1\n',
    "key without a colon": "a:\n  b: 1\n  «LB1003»c\n  d: 2\n",
    "missing comma": "a: {b: 1 c«LB1003»: 2}\n",
    "unknown escape": 'a: "\\«LB1003»q"\n',
    "escape beyond Unicode": '«LB1003»a: "\\UFFFFFFFF"\n',
    "future YAML": "«LB1003»%YAML 2.0\n---\na: 1\n",
    "duplicate keys": table("- {name: x, type: String, «LB1006»name: y}"),
    "duplicate keys that differ in quotes": table('- {name: x, type: String, «LB1006»"type": Int8}'),
    "duplicate attribute": table("- {name: x, type: String, extra: {a/b: 1, a/c: 2, «LB1006»a/b: 1}}"),
    "list as key": table("- {name: x, type: String, ? «LB1007»[a] : 1}"),
    "nothing as key": table("- {name: x, type: String, extra: {:«LB1007» 1}}"),
    "tag of an object": table("- {name: x, type: String, extra: {a/b: «LB1008»!!python/none x}}"),
    "tag of a set": table("- {name: x, type: String, extra: {a/b: «LB1008»!!set {x}}}"),
    "alias without anchor": table("- {name: x, type: String, extra: {a/b: «LB1009»*nobody}}"),
    "alias inside of itself": "a: &a [«LB1009»*a]\n",
    "half a character": table('- {name: x, type: String, extra: {a/b: «LB1010»"\\ud800"}}'),
    "not a number": table("- {name: x, type: String, extra: {a/b: [«LB1010».nan]}}"),
    "infinite number": table("- {name: x, type: String, extra: {a/b: {c: «LB1010»1e999}}}"),
    "number without end": table("- {name: x, type: String, extra: {a/b: «LB1010»" + "9" * 5000 + "}}"),
    # the envelope
    "empty text": "«LB1020»",
    "only comments": "«LB1020»# nothing\n# here\n",
    "empty documents": "«LB1020»---\n---\n",
    "text as document": "«LB1021»hello\n",
    "mapping without kind": "«LB1021»fields: []\n",
    "unknown kind": "kind: «LB1022»Tabel\nversion: 1\ncontent: {}\n",
    "block as manifest": "kind: «LB1022»MetadataBlock\nversion: 3\ncontent: {}\n",
    "wrong kind of resource": "$schema: «LB1022»https://example.org/Dataset\nheaders: {name: a}\n"
    "spec: {metadata: [{kind: SetDataSchema, schema: {fields: []}}]}\n",
    "later version": table("- {name: x, type: String}").replace("version: 1", "version: «LB1023»2"),
    "version as text": table("- {name: x, type: String}").replace("version: 1", 'version: «LB1023»"1"'),
    "no version": "«LB1042»kind: Table\ncontent: {name: a, schema: {fields: []}}\n",
    "events without a name": "«LB1024»- {kind: SetDataSchema, schema: {fields: []}}\n",
    "path as name": "kind: Table\nversion: 1\ncontent: {name: «LB1025»a/b, schema: {fields: []}}\n",
    "version in name": "kind: Table\nversion: 1\ncontent: {name: «LB1025»a@3, schema: {fields: []}}\n",
    "unclosed backtick": "kind: Table\nversion: 1\ncontent: {name: «LB1025»'`a', schema: {fields: []}}\n",
    "database given twice": "kind: Table\nversion: 1\ncontent: {name: «LB1025»a.b, database: c, schema: {fields: []}}",
    "table declared twice": "kind: Table\nversion: 1\ncontent: {name: b, schema: {fields: []}}\n---\n"
    "kind: Table\nversion: 1\ncontent: {name: «LB1026»default.b, schema: {fields: []}}\n",
    "no schema event": "kind: DatasetSnapshot\nversion: 1\ncontent:\n  «LB1027»name: a.b\n  kind: Root\n"
    "  metadata: [{kind: SetVocab}]\n",
    "two schema events": snapshot("«LB1028»{kind: SetDataSchema, schema: {fields: []}}", EVENT),
    "Arrow bytes": snapshot("{kind: SetDataSchema, rawArrowSchema: «LB1029»DAAAAA==}"),
    "schema event without schema": snapshot("«LB1042»{kind: SetDataSchema}"),
    "unknown event": snapshot("{kind: «LB1030»SetDataShema, schema: {fields: []}}"),
    "event of a running dataset": snapshot("{kind: «LB1030»AddData}", EVENT),
    "variable without a value": "kind: Table\nversion: 1\ncontent:\n  name: a\n  description: «LB1031»${b}\n"
    "  schema: {fields: []}\n",
    "unknown dataset kind": "kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: a.b\n  kind: «LB1056»Leaf\n"
    "  metadata: [{kind: SetDataSchema, schema: {fields: []}}]\n",
    "name missing in snapshot": "kind: DatasetSnapshot\nversion: 1\ncontent:\n  «LB1042»kind: Root\n"
    "  metadata: [{kind: SetDataSchema, schema: {fields: []}}]\n",
    # shapes and properties
    "schema is a list": "kind: Table\nversion: 1\ncontent: {name: a.b, schema: «LB1040»[]}\n",
    "fields are a mapping": "kind: Table\nversion: 1\ncontent: {name: a.b, schema: {fields: «LB1040»{}}}\n",
    "field is text": table("- «LB1040»x"),
    "name is a list": table("- {name: «LB1040»[x], type: String}"),
    "type is a list": table("- {name: x, type: «LB1040»[String]}"),
    "kind is a list": table("- {name: x, type: {kind: «LB1040»[String]}}"),
    "extra is a list": table("- {name: x, type: String, extra: «LB1040»[a/b]}"),
    "number in quotes": table('- {name: x, type: {kind: Binary, fixedLength: «LB1040»"16"}}'),
    "number with a fraction": table("- {name: x, type: {kind: Binary, fixedLength: «LB1040»1.5}}"),
    "yes is not true": table(
        "- {name: x, type: {kind: Map, keyType: String, valueType: String, keysSorted: «LB1040»yes}}"
    ),
    "key as text": table("- {name: x, type: String}", content="primaryKeys: «LB1040»x"),
    "key in a list in a list": table("- {name: x, type: String}", content="primaryKeys: [«LB1040»[x]]"),
    "list as option": table("- {name: x, type: String}", content="options: {bucket: «LB1040»[4]}"),
    "nothing as option": table("- {name: x, type: String}", content="options:\n  «LB1040»bucket:"),
    "read is text": table("- {name: x, type: String}", content="read: «LB1040»csv"),
    "no pattern of files": table("- {name: x, type: String}", content="read: {exclude: [a, «LB1040»'/']}"),
    "patterns as a mapping": table("- {name: x, type: String}", content="read: {kind: Csv, include: «LB1040»{a: b}}"),
    "unknown property of a field": table("- {name: x, type: String, «LB1041»nullable: true}"),
    "unknown property of a type": table("- {name: x, type: {kind: Int8, «LB1041»unit: Second}}"),
    "unknown property of the schema": table("- {name: x, type: String}") + "    «LB1041»extras: {}\n",
    "unknown property of content": table("- {name: x, type: String}", content="«LB1041»primaryKey: [x]"),
    "unknown property of the envelope": table("- {name: x, type: String}") + "«LB1041»metadata: {}\n",
    "merge key": table("- {name: x, type: String, «LB1041»<<: {extra: {}}}"),
    "no name": table("- «LB1042»{type: String}"),
    "nothing as name": table("- «LB1042»name:\n  type: String"),
    "no type": table("- «LB1042»name: x"),
    "no kind": table("- {name: x, type: «LB1042»{}}"),
    "no schema": "kind: Table\nversion: 1\ncontent: «LB1042»{name: a.b}\n",
    "no fields": "kind: Table\nversion: 1\ncontent: {name: a.b, schema: «LB1042»{}}\n",
    "list without items, short": table("- {name: x, type: «LB1042»List}"),
    "option without inner": table("- {name: x, type: «LB1042»{kind: Option}}"),
    "map without value type": table("- {name: x, type: «LB1042»{kind: Map, keyType: String}}"),
    "struct without fields, short": table("- {name: x, type: «LB1042»struct}"),
    "decimal without both": table("- {name: x, type: «LB1042»Decimal}"),
    "decimal without scale": table("- {name: x, type: «LB1042»{kind: Decimal, precision: 3}}"),
    # types
    "unknown type": table("- {name: x, type: «LB1050»Strng}"),
    "unknown type, long": table("- {name: x, type: {kind: «LB1050»STRING}}"),
    "type text": table("- {name: x, type: «LB1050»'Decimal(10, 2)'}"),
    "unknown type deep inside": table(
        "- name: x\n  type:\n    kind: Struct\n    fields:\n    - name: y\n"
        "      type: {kind: Option, inner: {kind: List, itemType: «LB1050»Uint8}}"
    ),
    "option of option": table("- {name: x, type: «LB1051»{kind: Option, inner: {kind: Option, inner: Int8}}}"),
    "unknown unit": table("- {name: x, type: {kind: Time, unit: «LB1053»Milliseconds}}"),
    "unknown zone": table("- {name: x, type: {kind: Timestamp, timezone: «LB1054»Europe/Pariss}}"),
    "offset beyond the earth": table("- {name: x, type: {kind: Timestamp, timezone: «LB1054»+25:00}}"),
    "precision 0": table("- {name: x, type: {kind: Decimal, precision: «LB1055»0, scale: 0}}"),
    "negative length": table("- {name: x, type: {kind: List, itemType: Int8, fixedLength: «LB1055»-1}}"),
    "unknown compatibility": table("- {name: x, type: String}", content="compatibility: «LB1056»OFD"),
    "unknown system columns": table("- {name: x, type: String}", content="systemColumns: «LB1056»true"),
    # names
    "duplicate columns": table("- {name: x, type: String}\n- {name: «LB1060»x, type: Int8}"),
    "duplicate members": table(
        "- {name: x, type: {kind: Struct, fields: [{name: y, type: Int8}, {name: «LB1060»y, type: Int8}]}}"
    ),
    "duplicate of a faulty column": table("- {name: x, type: «LB1050»Nope}\n- {name: «LB1060»x, type: Int8}"),
    "names that differ in case": table("- {name: id, type: String}\n- {name: «LB1061»ID, type: Int8}"),
    "members that differ in case": table(
        "- {name: x, type: {kind: List, itemType: {kind: Struct, fields: [{name: y, type: Int8}, "
        "{name: «LB1061»Y, type: Int8}]}}}"
    ),
    "empty name": table('- {name: «LB1062»"", type: String}'),
    "blank member": table('- {name: x, type: {kind: Struct, fields: [{name: «LB1062»" ", type: String}]}}'),
    "reserved name": table("- {name: «LB1063»rowkind, type: String}"),
    "reserved prefix": table("- {name: «LB1063»_KEY_x, type: String}"),
    # attributes
    "attribute without domain": table("- {name: x, type: String, extra: {«LB1070»description: y}}"),
    "attribute with two slashes": table("- {name: x, type: String, extra: {«LB1070»a/b/c: y}}"),
    "attribute with a dot in the name": table("- {name: x, type: String, extra: {«LB1070»a.b/c.d: y}}"),
    "attribute with a line break": table('- {name: x, type: String, extra: {«LB1070»"a/b\\n": y}}'),
    "attribute of the schema without domain": table("- {name: x, type: String}") + "    extra: {«LB1070»owner: y}\n",
    "unknown attribute of ours": table("- {name: x, type: String, extra: {«LB1071»lakebed.dev/renamedfrom: y}}"),
    "our domain in capitals": table("- {name: x, type: String, extra: {«LB1071»Lakebed.dev/renamedFrom: y}}"),
    "unknown attribute of ours, nested": table(
        "- {name: x, type: {kind: Struct, fields: [{name: y, type: Int8, extra: {«LB1071»lakebed.dev/owner: z}}]}}"
    ),
    "keys as attribute of a Table": table("- {name: x, type: String}")
    + "    extra: {«LB1072»lakebed.dev/primaryKeys: [x]}\n",
    "rename of a schema": table("- {name: x, type: String}") + "    extra: {«LB1072»lakebed.dev/renamedFrom: y}\n",
    "field id as text": table("- {name: x, type: String, extra: {lakebed.dev/fieldId: «LB1073»seven}}"),
    "field id true": table("- {name: x, type: String, extra: {lakebed.dev/fieldId: «LB1073»true}}"),
    "field id of a system column": table("- {name: x, type: String, extra: {lakebed.dev/fieldId: «LB1073»1073741823}}"),
    "field id negative": table("- {name: x, type: String, extra: {lakebed.dev/fieldId: «LB1073»-1}}"),
    "rename from a list": table("- {name: x, type: String, extra: {lakebed.dev/renamedFrom: «LB1073»[a, y]}}"),
    "rename from nothing": table("- {name: x, type: String, extra: {lakebed.dev/renamedFrom: «LB1073»''}}"),
    "default of another type": table("- {name: x, type: Int8, extra: {lakebed.dev/default: «LB1073»true}}"),
    "default out of range": table("- {name: x, type: UInt8, extra: {lakebed.dev/default: «LB1073»256}}"),
    "default null": table("- {name: x, type: Int8, extra: {lakebed.dev/default: «LB1073»null}}"),
    "enum is one value": table("- {name: x, type: String, extra: {lakebed.dev/enum: «LB1073»a}}"),
    "enum is empty": table("- {name: x, type: String, extra: {lakebed.dev/enum: «LB1073»[]}}"),
    "enum of another type": table("- {name: x, type: Int8, extra: {lakebed.dev/enum: [1, «LB1073»two]}}"),
    "enum with a value twice": table("- {name: x, type: Int8, extra: {lakebed.dev/enum: [1, 2, «LB1073»1]}}"),
    "enum on a list": table("- {name: x, type: {kind: List, itemType: Int8}, extra: {lakebed.dev/enum: «LB1073»[1]}}"),
    "pattern on a number": table("- {name: x, type: Int8, extra: {lakebed.dev/pattern: «LB1073»a+}}"),
    "enum of a date that is none": table("- {name: x, type: Date, extra: {lakebed.dev/enum: [«LB1073»2024-02-30]}}"),
    "enum beyond the digits": table(
        "- {name: x, type: {kind: Decimal, precision: 3, scale: 1}, extra: {lakebed.dev/enum: [1.5, «LB1073»1.55]}}"
    ),
    "minimum of another type": table("- {name: x, type: Int8, extra: {lakebed.dev/minimum: «LB1073»low}}"),
    "minimum out of range": table("- {name: x, type: UInt8, extra: {lakebed.dev/minimum: «LB1073»-1}}"),
    "minimum null": table("- {name: x, type: Int8, extra: {lakebed.dev/minimum: «LB1073»null}}"),
    "minimum of a text": table("- {name: x, type: String, extra: {lakebed.dev/minimum: «LB1073»a}}"),
    "maximum of a list": table(
        "- {name: x, type: {kind: List, itemType: Int8}, extra: {lakebed.dev/maximum: «LB1073»3}}"
    ),
    "maximum that Float32 does not hold": table(
        "- {name: x, type: Float32, extra: {lakebed.dev/maximum: «LB1073»1e39}}"
    ),
    "maximum beyond the unit": table(
        "- {name: x, type: {kind: Time, unit: Second}, extra: {lakebed.dev/maximum: «LB1073»'08:00:00.5'}}"
    ),
    "maximum below the minimum": table(
        "- {name: x, type: Date, extra: {lakebed.dev/minimum: 2024-1-2, lakebed.dev/maximum: «LB1073»2024-01-01}}"
    ),
    "unique in words": table("- {name: x, type: Int8, extra: {lakebed.dev/unique: «LB1073»yes}}"),
    "unique lists": table("- {name: x, type: {kind: List, itemType: Int8}, extra: {lakebed.dev/unique: «LB1073»true}}"),
    "unique member": table(
        "- {name: x, type: {kind: Struct, fields: [{name: y, type: Int8, extra: {lakebed.dev/unique: «LB1073»true}}]}}"
    ),
    "personal data that are neither so nor not": table(
        "- {name: x, type: Int8, extra: {lakebed.dev/personalData: «LB1073»email}}"
    ),
    "unknown way with bad rows": table("- {name: x, type: Int8, extra: {lakebed.dev/onBadRow: «LB1073»drop}}"),
    "bad rows of a member": table(
        "- name: x\n"
        "  type: {kind: Struct, fields: [{name: y, type: Int8, extra: {lakebed.dev/onBadRow: «LB1073»fail}}]}"
    ),
    "NULL in a required column": table("- {name: x, type: Int8, extra: {lakebed.dev/onBadRow: «LB1073»null}}"),
    "no way with bad rows": table("- {name: x, type: Int8, extra: {lakebed.dev/onBadRow: «LB1073»~}}"),
    "description is a list": table("- {name: x, type: Int8, extra: {opendatafabric.org/description: «LB1073»[a]}}"),
    "description is null": table("- {name: x, type: Int8, extra: {opendatafabric.org/description: «LB1073»null}}"),
    "renamed from itself": table("- {name: x, type: Int8, extra: {lakebed.dev/renamedFrom: «LB1074»x}}"),
    "two renamed from one": table(
        "- {name: x, type: Int8, extra: {lakebed.dev/renamedFrom: z}}\n"
        "- {name: y, type: Int8, extra: {lakebed.dev/renamedFrom: «LB1076»z}}"
    ),
    "field id twice, at two levels": table(
        "- name: a\n  type: {kind: Struct, fields: [{name: x, type: Int8, extra: {lakebed.dev/fieldId: 3}}]}\n"
        "- {name: y, type: Int8, extra: {lakebed.dev/fieldId: «LB1077»3}}"
    ),
    "description that instructs": table(
        "- {name: x, type: Int8, extra: {opendatafabric.org/description: «LB1078»__BLOB_FIELD x}}"
    ),
    "description of the table that instructs": table(
        "- {name: x, type: Int8}", content="description: «LB1078»__VECTOR"
    ),
    "attribute nearly known": table("- {name: x, type: Int8, extra: {«LB1079»opendatafabric.org/descripton: y}}"),
    # the table
    "unknown primary key": table("- {name: month, type: Int8}", content="primaryKeys: [«LB1080»mnth]"),
    "unknown partition key": table("- {name: month, type: Int8}", content="partitionKeys: [month, «LB1080»Month]"),
    "nested column as key": table(
        "- {name: a, type: {kind: Struct, fields: [{name: x, type: Int8}]}}", content="primaryKeys: [«LB1080»a.x]"
    ),
    "key twice": table("- {name: x, type: Int8}", content="primaryKeys: [x, «LB1081»x]"),
    "option declared and ignored": table(
        "- {name: x, type: Int8}", content="options: {bucket: 4}\nignoreOptions: [snapshot.*, «LB1084»bucket]"
    ),
    "ignored options are no list": table("- {name: x, type: Int8}", content="ignoreOptions: «LB1040»bucket"),
    "ignored option without a name": table("- {name: x, type: Int8}", content="ignoreOptions: [«LB1040»' ']"),
    "approvals are no list": table("- {name: x, type: Int8}", content="approvals: «LB1040»LB4203"),
    "approval that is no mapping": table("- {name: x, type: Int8}", content="approvals: [«LB1040»LB4203]"),
    "approval of no code": table(
        "- {name: x, type: Int8}", content="approvals: [{code: «LB1085»LB42O3, reason: r, until: 2026-12-31}]"
    ),
    "approval until no day": table(
        "- {name: x, type: Int8}", content="approvals: [{code: LB4203, reason: r, until: «LB1086»2026-02-30}]"
    ),
    "approval until a day in other words": table(
        "- {name: x, type: Int8}", content="approvals: [{code: LB4203, reason: r, until: «LB1086»20261231}]"
    ),
    "approval without an end": table(
        "- {name: x, type: Int8}", content="approvals: [«LB1042»{code: LB4203, reason: r}]"
    ),
    "approval without a reason": table(
        "- {name: x, type: Int8}", content="approvals: [{code: LB4203, reason: «LB1040»' ', until: 2026-12-31}]"
    ),
    "approval with more": table(
        "- {name: x, type: Int8}",
        content="approvals: [{code: LB4203, reason: r, until: 2026-12-31, «LB1041»column: x}]",
    ),
    "consumers are no list": table("- {name: x, type: Int8}", content="consumers: «LB1040»report"),
    "consumer without a name": table("- {name: x, type: Int8}", content="consumers: [«LB1042»{owner: Finance}]"),
    "consumer that is there twice": table(
        "- {name: x, type: Int8}", content="consumers: [{name: report}, «LB1087»{name: report}]"
    ),
    "consumer of an unknown column": table(
        "- {name: total, type: Int8}", content="consumers: [{name: report, columns: [total, «LB1088»totl]}]"
    ),
    "consumer of no column": table(
        "- {name: x, type: Int8}", content="consumers: [{name: report, columns: «LB1040»[]}]"
    ),
    "consumer in a mode of whole schemas": table(
        "- {name: x, type: Int8}", content="consumers: [{name: report, mode: «LB1056»ODF}]"
    ),
    "described twice": table("- {name: x, type: Int8}", content="description: «LB1083»this")
    + "    extra: {opendatafabric.org/description: that}\n",
    "system column of another type": table("- {name: «LB1090»offset, type: String}", content="systemColumns: kamu"),
}
# Bounds are tried in test_hostile; a file that cannot be read, in test_load; a path for a former name, where the
# columns of the table are known: in evolve/test_identity.
ELSEWHERE = {"LB1001", "LB1002", "LB1004", "LB1005", "LB1075"}
SUGGESTED = {
    "unknown kind": "Table",
    "unknown event": "SetDataSchema",
    "unknown property of the schema": "extra",
    "unknown property of content": "primaryKeys",
    "unknown type": "String",
    "unknown type, long": "String",
    "unknown type deep inside": "UInt8",
    "unknown unit": "Millisecond",
    "unknown zone": "Europe/Paris",
    "unknown compatibility": "ODF",
    "consumer of an unknown column": "total",
    "attribute without domain": "opendatafabric.org/description",
    "unknown attribute of ours": "lakebed.dev/renamedFrom",
    "our domain in capitals": "lakebed.dev/renamedFrom",
    "attribute nearly known": "opendatafabric.org/description",
    "unknown primary key": "month",
    "unknown partition key": "month",
}


@pytest.mark.parametrize("case", CASES)
def test_is_said_at_its_place(case: str) -> None:
    text, expected = unmarked(CASES[case])
    assert places_of(problems_of(text)) == expected


@pytest.mark.parametrize("case", SUGGESTED)
def test_the_near_name_is_suggested_first(case: str) -> None:
    (problem,) = problems_of(unmarked(CASES[case])[0])
    assert problem.suggestions[0] == SUGGESTED[case]


def test_every_code_has_a_case() -> None:
    marked = {code for text in CASES.values() for code, _, _ in unmarked(text)[1]}
    others = ("LB16", "LB17")
    assert marked | ELSEWHERE == {code for code in register() if code.startswith("LB1") and not code.startswith(others)}


def test_all_problems_are_reported_at_once_in_the_order_of_the_text() -> None:
    text, expected = unmarked(
        """\
kind: Table
version: 1
content:
  «LB1042»«LB1041»nmae: nyc.flights
  primaryKeys: [«LB1080»idd]
  schema:
    fields:
    - name: id
      type: «LB1050»Strng
    - name: «LB1060»id
      type: {kind: Timestamp, unit: «LB1053»Milli, «LB1041»zone: UTC}
      extra:
        «LB1071»lakebed.dev/renamdFrom: x
    - name: address
      type:
        kind: Struct
        fields:
        - {name: zip, type: «LB1042»Decimal}
        - {name: «LB1060»zip, type: String, extra: {«LB1070»note: x}}
---
kind: Table
version: «LB1023»3
content: {name: a.b, schema: {fields: [{name: x, type: Int8, extra: {«LB1006»a/b: 1, a/b: 2}}]}}
""".replace("{«LB1006»a/b: 1, a/b: 2}", "{a/b: 1, «LB1006»a/b: 2}")
    )
    assert sorted(places_of(problems_of(text))) == sorted(expected)
    assert [p[1:] for p in places_of(problems_of(text))] == [p[1:] for p in expected]


def test_duplicates_name_both_places() -> None:
    keys = problems_of(table("- {name: x, type: String, name: y}"))[0]
    columns = problems_of(table("- {name: x, type: String}\n- {name: x, type: String}"))[0]
    assert "line 7, column 8" in keys.message
    assert "line 7, column 14" in columns.message


def test_decimal_names_both_missing_properties() -> None:
    (problem,) = problems_of(table("- {name: x, type: Decimal}"))
    assert "`precision`" in problem.message
    assert "`scale`" in problem.message
    assert problem.path == "x"


def test_problems_carry_the_path_of_the_field() -> None:
    text = table(
        "- name: a.b\n  type: {kind: List, itemType: {kind: Struct, fields: [{name: c, type: Nope}]}}\n"
        "- name: m\n  type: {kind: Map, keyType: Nope, valueType: {kind: Option, inner: Nope}}"
    )
    assert [p.path for p in problems_of(text)] == ["`a.b`.element.c", "m.key", "m.value"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Integer", "Int32"), ("BIGINT", "Int64"), ("varchar", "String"), ("Double", "Float64"), ("Array", "List")],
)
def test_type_names_of_other_systems_lead_to_ours(written: str, meant: str) -> None:
    (problem,) = problems_of(table(f"- {{name: x, type: {written}}}"))
    assert problem.suggestions == (meant,)


def test_warnings_do_not_refuse_a_manifest_and_come_last_where_it_is_refused() -> None:
    warned = "- {name: x, type: Int8, extra: {opendatafabric.org/descripton: y}}"
    assert [p.severity for p in problems_of(table(warned))] == [Severity.WARNING]
    both = problems_of(table(f"{warned}\n- {{name: y, type: Nope}}"))
    assert [p.severity for p in both] == [Severity.ERROR, Severity.WARNING]


def test_reserved_names_are_free_inside_structs() -> None:
    members = "[{name: rowkind, type: Int8}, {name: _KEY_x, type: Int8}]"
    assert problems_of(table(f"- {{name: a, type: {{kind: Struct, fields: {members}}}}}")) == ()


def test_former_names_with_dots_are_names_where_columns_have_dots() -> None:
    text = table("- {name: a.b, type: Int8, extra: {lakebed.dev/renamedFrom: a.c}}")
    assert problems_of(text) == ()


def test_swapped_names_are_no_problem() -> None:
    text = table(
        "- {name: a, type: Int8, extra: {lakebed.dev/renamedFrom: b}}\n"
        "- {name: b, type: Int8, extra: {lakebed.dev/renamedFrom: a}}"
    )
    assert problems_of(text) == ()


def test_the_same_name_may_be_a_former_name_in_two_structs() -> None:
    member = "{name: x, type: Int8, extra: {lakebed.dev/renamedFrom: y}}"
    text = table("\n".join(f"- {{name: {n}, type: {{kind: Struct, fields: [{member}]}}}}" for n in "ab"))
    assert problems_of(text) == ()


@pytest.mark.parametrize("text", ['a: "x\nb: 1\n', "a: {b: 1\nc: 2\n", "a: 1\nb\nc: 2\n", "a: {b:\n"])
def test_where_it_shows_that_something_is_not_closed_is_told_too(text: str) -> None:
    (problem,) = problems_of(text)
    assert re.search(r"in line [23], column \d+ \(while .* that begins here\)$", problem.message)
    assert problem.remedy is not None


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029"])
def test_what_ended_a_line_in_yaml_1_1_is_a_character(char: str) -> None:
    text = table("- {name: x, type: String}").replace("kind", f"# a comment {char}b: [\nkind", 1)
    assert parse_manifest(text) == parse_manifest(text.replace(char, ""))
    for quoted in (f'"a{char}b"', f"'a{char}b'", f"a{char}b", '"a\\N\\L\\Pb"'):
        loaded = parse_manifest(table(f"- {{name: x, type: String, extra: {{a/b: {quoted}}}}}"))
        value = loaded.tables[0].schema.fields[0].extra["a/b"]
        assert value == (f"a{char}b" if char in quoted else "a\x85\u2028\u2029b")
    (problem,) = problems_of(f"# {char} {chr(0xE000)}\na: {char}\n" + "kind: 1\nkind: 2\n")[-1:]
    assert (problem.code, problem.position.line) == ("LB1006", 4)

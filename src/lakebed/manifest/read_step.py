"""Decode `read` of a manifest, how sources are read, in Open Data Fabric's words or in Spark's.

    read: {kind: Csv, separator: ";", header: true, schema: {fields: [{name: id, type: Int64}]}}
    read: {format: csv, options: {sep: ";"}}

With a `kind`, properties and defaults are those of Open Data Fabric: a CSV file has no header unless it is said, and a
backslash escapes a quote. `schema`, or the older `ddlSchema`, names the columns that are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lakebed.manifest.attributes import AttributePlace
from lakebed.manifest.event_time import EventTime, EventTimeKind
from lakebed.manifest.field_decoder import SchemaDecoder
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, is_empty
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import Properties, wrong_shape
from lakebed.manifest.table_manifest import ReadKind, ReadOptions
from lakebed.manifest.table_properties import decode_text_map
from lakebed.model import Extra, canonical_json, schema_json
from lakebed.model.extra import READ

READ_FORMATS = ("csv", "json", "parquet")
#: Properties and options that may be lists: of datetime patterns.
DATE_PATTERNS = ("dateFormat", "timestampFormat", "timestampNTZFormat")
_SEPARATORS = ("decimalSeparator", "groupingSeparator")
_VALUES = ("dateFormat", "timestampFormat", *_SEPARATORS)
#: Properties of each kind beside the columns.
STEP_PROPERTIES: Mapping[ReadKind, tuple[str, ...]] = {
    ReadKind.CSV: (
        *("separator", "encoding", "quote", "escape", "header", "inferSchema", "nullValue", "emptyValue"),
        *_VALUES,
    ),
    ReadKind.JSON: ("subPath", "encoding", *_VALUES),
    ReadKind.ND_JSON: ("encoding", *_VALUES),
    ReadKind.PARQUET: (),
}


def decode_read(node: Node | None, problems: Problems) -> ReadOptions | None:
    """What `read` says; None where it says nothing, or something faulty, which is noted."""
    if node is None:
        return None
    if not isinstance(node, MappingNode):
        wrong_shape(problems, node, "`read`", "a mapping such as {format: csv, options: {header: true}}")
        return None
    read = Properties(node, "`read`", problems)
    has_kind = any(key.text == "kind" for key, _ in node.entries)
    kind = read.choice("kind", [k.value for k in ReadKind], "LB6441") if has_kind else None
    format_, options = None, {}
    if not has_kind:
        read.take("kind")
        format_ = read.text("format")
        options = decode_text_map(read.take("options"), "read.options", problems, lists=DATE_PATTERNS)
        if format_ is not None and format_.lower() not in READ_FORMATS:
            expected = ", ".join(READ_FORMATS)
            problems.error(
                "LB6442", f"{clipped(format_)} is no format of sources", node, expected=expected, found=format_
            )
    elif kind is not None:
        options = _step_options(read, ReadKind(kind), problems)
    schema, ddl = _columns(read, problems)
    event_time = _event_time(read, problems)
    include, exclude = (_patterns(read.optional(name), name, problems) for name in ("include", "exclude"))
    if kind is not None or not has_kind:
        read.close()
    return ReadOptions(format_, options, ReadKind(kind) if kind else None, schema, ddl, event_time, include, exclude)


def _step_options(read: Properties, kind: ReadKind, problems: Problems) -> dict[str, str]:
    found = {}
    for name in STEP_PROPERTIES[kind]:
        node = read.optional(name)
        items = (
            node.items if isinstance(node, SequenceNode) and name in DATE_PATTERNS else () if node is None else (node,)
        )
        scalars = [scalar for item in items if (scalar := read.scalar(item, f"`{name}`")) is not None]
        for scalar in scalars:
            _check_step(name, scalar, problems)
        if scalars:
            found[name] = "\n".join(scalar.text for scalar in scalars)
    return found


def _check_step(name: str, node: ScalarNode, problems: Problems) -> None:
    if name in ("header", "inferSchema") and node.text.lower() not in ("true", "false"):
        wrong_shape(problems, node, f"`{name}` of `read`", "true or false")
    if name == "inferSchema" and node.text.lower() == "true":
        message = "types are never inferred from the data: they are those of the table"
        problems.error("LB6443", message, node, found="inferSchema: true", remedy="Leave it out.")
    if name in _SEPARATORS and (len(node.text) != 1 or node.text.isalnum() or node.text in "+-"):
        wrong_shape(problems, node, f"`{name}` of `read`", "one character that is no letter, digit or sign")
    if name in ("dateFormat", "timestampFormat") and "%" in node.text:
        message = f"{clipped(node.text)} is not a datetime pattern of Spark"
        problems.error("LB6443", message, node, expected="such as dd.MM.yyyy HH:mm:ss", found=node.text)


def _columns(read: Properties, problems: Problems) -> tuple[str | None, tuple[str, ...]]:
    schema_node, ddl_node = read.optional("schema"), read.optional("ddlSchema")
    if schema_node is not None and ddl_node is not None:
        message = "`read` has its columns twice, as `schema` and as `ddlSchema`"
        problems.error("LB6440", message, ddl_node, remedy="Keep `schema`; `ddlSchema` is the older form.")
    schema: str | None = None
    ddl: tuple[str, ...] = ()
    mapping = None if schema_node is None else read.mapping(schema_node, "`schema`")
    if mapping is not None:
        declared = SchemaDecoder(problems).decode(mapping, AttributePlace.TABLE)
        schema = None if declared is None else canonical_json(schema_json(declared.schema))
    if ddl_node is not None:
        items = ddl_node.items if isinstance(ddl_node, SequenceNode) else (ddl_node,)
        ddl = tuple(item.text for item in items if isinstance(item, ScalarNode))
        if len(ddl) != len(items):
            wrong_shape(problems, ddl_node, "`ddlSchema`", "a list of columns such as [id INT, name STRING]")
    return schema, ddl


def _patterns(node: Node | None, name: str, problems: Problems) -> tuple[str, ...]:
    """Patterns of file names: one, or a list of them."""
    if node is None:
        return ()
    items = node.items if isinstance(node, SequenceNode) else (node,)
    found = []
    for item in items:
        if isinstance(item, ScalarNode) and not is_empty(item) and item.text.strip("/ "):
            found.append(item.text)
        else:
            wrong_shape(problems, item, f"an entry of `{name}`", "a pattern of file names such as '*.csv'")
    return tuple(found)


def _event_time(read: Properties, problems: Problems) -> EventTime | None:
    node = read.optional("eventTime")
    if node is None:
        return None
    mapping = read.mapping(node, "`eventTime`")
    if mapping is None:
        return None
    rule = Properties(mapping, "`eventTime`", problems)
    kind = rule.choice("kind", [k.value for k in EventTimeKind], "LB6445")
    if kind != EventTimeKind.PATH.value:
        rule.close()
        if kind is None:
            problems.error("LB6445", "`eventTime` has no `kind`", node, expected=", ".join(EventTimeKind))
        return None if kind is None else EventTime(EventTimeKind(kind))
    found = EventTime(EventTimeKind.PATH, rule.text("pattern"), rule.text("timestampFormat"))
    rule.close()
    problem = found.problem()
    if problem is None:
        return found
    problems.error("LB6445", problem, node, expected='such as {kind: FromPath, pattern: "-([0-9]+)[.]csv"}')
    return None


def read_json(read: ReadOptions) -> dict[str, Any]:
    """`read` as it stands in a manifest, and as it is stored with the table."""
    out: dict[str, Any] = {}
    if read.kind is not None:
        out["kind"] = read.kind.value
        out |= {name: _plain(name, text) for name, text in sorted(read.options.items())}
    else:
        if read.format is not None:
            out["format"] = read.format
        if read.options:
            out["options"] = {name: _lines(name, text) for name, text in sorted(read.options.items())}
    if read.schema is not None:
        out["schema"] = json.loads(read.schema)
    if read.ddl_schema:
        out["ddlSchema"] = list(read.ddl_schema)
    if read.event_time is not None:
        out["eventTime"] = read.event_time.to_json()
    if read.include:
        out["include"] = list(read.include)
    if read.exclude:
        out["exclude"] = list(read.exclude)
    return out


def _plain(name: str, text: str) -> Any:
    return text.lower() == "true" if name in ("header", "inferSchema") else _lines(name, text)


def _lines(name: str, text: str) -> Any:
    several = "\n" in text and name.lower() in {pattern.lower() for pattern in DATE_PATTERNS}
    return text.split("\n") if several else text


def stored_read(extra: Extra) -> ReadOptions | None:
    """What the attributes of a stored schema say; None where they say nothing that can be understood."""
    value = extra.get(READ)
    if not isinstance(value, dict):
        return None
    kind = value.get("kind")
    known = {k.value for k in ReadKind}
    schema, ddl = value.get("schema"), value.get("ddlSchema", [])
    inside = {"kind", "schema", "ddlSchema", "eventTime", "include", "exclude"}
    include, exclude = value.get("include", []), value.get("exclude", [])
    options = value.get("options", {}) if kind is None else {k: v for k, v in value.items() if k not in inside}
    if kind not in (None, *known) or not isinstance(options, dict) or not isinstance(ddl, list):
        return None
    return ReadOptions(
        value.get("format") if kind is None else None,
        {str(k): _text(v) for k, v in options.items()},
        None if kind is None else ReadKind(kind),
        canonical_json(schema) if isinstance(schema, dict) else None,
        tuple(str(column) for column in ddl),
        EventTime.stored(value.get("eventTime")),
        tuple(map(str, include)) if isinstance(include, list) else (),
        tuple(map(str, exclude)) if isinstance(exclude, list) else (),
    )


def _text(value: Any) -> str:
    """The text of an option; of several patterns, one a line."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)

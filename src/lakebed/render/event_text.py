"""Show metadata events, blocks and chains."""

from __future__ import annotations

from lakebed.chain_store import ExportedChain
from lakebed.events import ChainReport, Event
from lakebed.events.inspection import Inspection
from lakebed.events.instant import text as instant_text
from lakebed.manifest.yaml_text import yaml_text
from lakebed.model import Schema
from lakebed.model.extra import DESCRIPTION
from lakebed.printable import one_line
from lakebed.render.schema_text import attribute_text, field_rows
from lakebed.render.table_text import table_text


def inspection_text(found: Inspection, *, encodings: bool = False, width: int | None = None) -> str:
    """The head of the block, then the schema as a table, or the properties of another event."""
    lines = [_title(found), f"hash      {found.hash}"]
    if found.block is not None:
        previous = found.block.previous
        lines += [
            f"previous  {previous if previous is not None else 'none: this is the first block'}",
            f"time      {instant_text(found.block.system_time)}",
            f"number    {found.block.sequence_number}",
        ]
    lines.append(f"event     {_event_title(found.event)}")
    schema = found.schema(encodings=encodings)
    if schema is not None:
        return "\n".join([*lines, "", schema_table(schema, width=width)])
    shown = found.event.to_json()
    del shown["kind"]
    return "\n".join([*lines, "", yaml_text(shown).rstrip("\n")] if shown else lines)


def _title(found: Inspection) -> str:
    what = "event" if found.block is None else f"metadata block, version {found.block.version}"
    return f"{what}, {found.size:,} bytes"


def _event_title(event: Event) -> str:
    return f"{event.kind} (legacy Arrow form, upgraded)" if event.is_legacy else event.kind


def schema_table(schema: Schema, *, width: int | None = None) -> str:
    """A logical schema: attributes of the whole, then one line a field; members of a struct are indented."""
    head = [one_line(schema.extra.description)] if schema.extra.description else []
    head += [one_line(f"{k}: {attribute_text(v)}") for k, v in schema.extra.items() if k != DESCRIPTION]
    rows = [row[1:] for field in schema.fields for row in field_rows(field)]
    table = table_text(("column", "type", "null", "description"), rows, width=width)
    return "\n".join([*head, *([""] if head else []), table])


def export_text(done: ExportedChain, directory: str, *, width: int | None = None) -> str:
    """What an export wrote, and the whole chain."""
    count = len(done.chain.blocks)
    written = f"{_blocks(done.new_blocks)} written" if done.new_blocks else "nothing to write"
    head = f"{directory}: {written}, {count} in the chain of {done.dataset_id}"
    rows: list[tuple[str, ...]] = []
    for stored in done.chain.blocks:
        what = stored.block.event.kind if stored.version is None else f"schema {stored.version}"
        rows.append((str(stored.block.sequence_number), instant_text(stored.block.system_time), what, str(stored.hash)))
    return "\n".join([one_line(head), "", _chain_table(rows, width)])


def report_text(report: ChainReport, directory: str, *, width: int | None = None) -> str:
    """The blocks that could be followed, and the verdict."""
    rows: list[tuple[str, ...]] = [
        (str(b.block.sequence_number), instant_text(b.block.system_time), _event_title(b.block.event), str(b.hash))
        for b in report.blocks
    ]
    table = ["", _chain_table(rows, width)] if rows else []
    return "\n".join([one_line(f"{directory}: {_verdict(report)}"), *table])


def _verdict(report: ChainReport) -> str:
    count = _blocks(len(report.blocks))
    if report.is_valid:
        return f"valid, {count}"
    problems = len(report.problems)
    many = f"{problems} problem{'' if problems == 1 else 's'}"
    if report.is_sound:
        return f"sound, {count}; the schema changes against the rule of Open Data Fabric ({many})"
    return f"not valid, {count} could be followed ({many})"


def _chain_table(rows: list[tuple[str, ...]], width: int | None) -> str:
    return table_text(("number", "time", "event", "hash"), rows, right={0}, width=width)


def _blocks(count: int) -> str:
    return f"{count} block{'' if count == 1 else 's'}"

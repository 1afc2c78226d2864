"""Describe a file that holds one metadata block or one event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakebed.events.block import Block, decode_block, is_envelope
from lakebed.events.event import SET_DATA_SCHEMA, Event, decode_event
from lakebed.events.event_schema import CURRENT_RULES, ReaderRules
from lakebed.events.multihash import Multihash
from lakebed.model import Schema, schema_json
from lakebed.model.encoding import strip_encoding


@dataclass(frozen=True, slots=True)
class Inspection:
    """The event of a file, and the block around it where there is one. `hash` is that of all bytes, `size` theirs."""

    event: Event
    block: Block | None
    hash: Multihash
    size: int

    @classmethod
    def of(cls, data: bytes, *, kind: str = SET_DATA_SCHEMA, rules: ReaderRules = CURRENT_RULES) -> Inspection:
        """Look at some bytes. `kind` is that of an event which is not in a block.

        Raises `CorruptMetadataError` for damaged bytes, `UnsupportedError` for what only another version can read.
        """
        block = decode_block(data, rules=rules) if is_envelope(data) else None
        event = block.event if block is not None else decode_event(data, kind, rules=rules)
        return cls(event, block, Multihash.of(data), len(data))

    def schema(self, *, encodings: bool = False) -> Schema | None:
        """The schema that the event declares, with its encoding hints or without; None for other events."""
        found = self.event.schema
        return found if found is None or encodings else strip_encoding(found)

    def to_json(self, *, encodings: bool = False) -> dict[str, Any]:
        """The result object of `lakebed event inspect --json`; `manifest` is the block or event in ODF's own form."""
        schema = self.schema(encodings=encodings)
        shown: dict[str, Any] = self.event.to_json()
        if schema is not None and "schema" in shown:
            shown["schema"] = schema_json(schema)
        if self.block is not None:
            manifest = self.block.to_json()
            manifest["content"]["event"] = shown
        else:
            manifest = {"kind": "MetadataEvent", "version": 1, "content": shown}
        return {
            "hash": str(self.hash),
            "size": self.size,
            "manifest": manifest,
            "schema": schema_json(schema) if schema is not None else None,
            "is_legacy": self.event.is_legacy,
            "left_out": [{"path": u.path, "what": u.what} for u in self.event.unknown],
        }

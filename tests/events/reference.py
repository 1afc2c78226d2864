"""The blocks whose hashes the reference implementation asserts, written out."""

from __future__ import annotations

import hashlib

from lakebed.events import Block, Event, Multihash, event_from_json
from lakebed.events.instant import parse

TIME = parse("2020-01-01T12:00:00Z")
PREVIOUS = Multihash(0x16, hashlib.sha3_256(b"prev").digest())
SCHEMA_EVENT = {
    "kind": "SetDataSchema",
    "schema": {
        "fields": [
            {
                "name": "city",
                "type": {"kind": "String"},
                "extra": {"arrow.apache.org/bufferEncoding": {"kind": "View", "offsetBitWidth": 32}},
            },
            {"name": "population", "type": {"kind": "UInt64"}},
            {
                "name": "census",
                "type": {"kind": "Option", "inner": {"kind": "String"}},
                "extra": {"opendatafabric.org/type": {"kind": "ObjectLink", "linkType": {"kind": "Multihash"}}},
            },
            {"name": "links", "type": {"kind": "List", "itemType": {"kind": "String"}}},
        ],
        "extra": {"kamu.dev/archetype": "Collection"},
    },
}
#: A bare Arrow schema {a: int64 not null, b: bool not null}.
RAW_ARROW = bytes.fromhex(
    "0c00000008000800000004000800000004000000020000004000000004000000d8ffffff180000000c0000000000000610000000000000000400"
    "040004000000010000006200000010001400100000000f00040000000800100000001800000020000000000000021c00000008000c0004000b00"
    "080000004000000000000001000000000100000061000000"
)


def block(event: Event, version: int = 3, number: int = 117) -> Block:
    return Block(event, TIME, number, PREVIOUS, version)


def schema_event() -> Event:
    return event_from_json(SCHEMA_EVENT)


def legacy_event() -> Event:
    return Event("SetDataSchema", {"rawArrowSchema": RAW_ARROW})


def empty_data() -> Event:
    return Event("AddData")

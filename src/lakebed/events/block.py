"""Encode, decode and hash metadata blocks: an event with its time and its place in a chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.events import instant
from lakebed.events.buffer_cursor import Cursor
from lakebed.events.decode_event import Decoder, Unknown
from lakebed.events.encode_event import encode
from lakebed.events.event import Event, event_of
from lakebed.events.event_schema import CURRENT_RULES, ReaderRules
from lakebed.events.multihash import SHA3_256, Multihash

#: Multicodec numbers of what an envelope holds.
BLOCK_CODE = 0x400000
SNAPSHOT_CODE = 0x400001
CURRENT_VERSION = 3
#: Version 2 differs in that the instant is not aligned. Version 1 had no sequence numbers.
READABLE_VERSIONS = (2, 3)


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a chain. `system_time` is in nanoseconds since 1970; the first block has no `previous`."""

    event: Event
    system_time: int
    sequence_number: int = 0
    previous: Multihash | None = None
    version: int = CURRENT_VERSION

    def to_json(self) -> dict[str, Any]:
        """The block as a manifest: `kind: MetadataBlock`, canonical long form."""
        content: dict[str, Any] = {"systemTime": instant.text(self.system_time)}
        if self.previous is not None:
            content["prevBlockHash"] = str(self.previous)
        content |= {"sequenceNumber": self.sequence_number, "event": self.event.to_json()}
        return {"kind": "MetadataBlock", "version": self.version, "content": content}


def block_hash(data: bytes) -> Multihash:
    """The hash of a block: SHA3-256 of its bytes as they are stored, never of a block that was written again."""
    return Multihash.of(data)


def encode_block(block: Block) -> bytes:
    """The bytes of a block, byte for byte as the reference implementation writes them.

    Raises `ConversionError` for what the layout cannot hold, `UnsupportedError` for another version than 2 and 3.
    """
    _check_version(block.version)
    value: dict[str, Any] = {
        "systemTime": block.system_time,
        "prevBlockHash": block.previous.to_bytes() if block.previous is not None else None,
        "sequenceNumber": block.sequence_number,
        "event": {"kind": block.event.kind, **block.event.value},
    }
    inner = encode("MetadataBlock", value, aligned=block.version > 2)
    return encode("Manifest", {"kind": BLOCK_CODE, "version": block.version, "content": inner})


def is_envelope(data: bytes) -> bool:
    """Whether the bytes are a block or another envelope of the kind, and not an event on its own."""
    try:
        cursor = Cursor(data)
        at = cursor.slot(cursor.root(), 0, 8)
    except CorruptMetadataError:
        return False
    return at is not None and cursor.scalar("<q", at) in (BLOCK_CODE, SNAPSHOT_CODE)


def decode_block(data: bytes, *, rules: ReaderRules = CURRENT_RULES) -> Block:
    """The block of its stored bytes.

    Raises `CorruptMetadataError` for damaged bytes and bytes that are no block, `UnsupportedError` for a version that
    cannot be read.
    """
    envelope = Decoder(Cursor(data)).root("Manifest")
    if envelope["kind"] != BLOCK_CODE:
        is_snapshot = envelope["kind"] == SNAPSHOT_CODE
        what = "a dataset snapshot" if is_snapshot else f"a manifest of kind {envelope['kind']:#x}"
        raise CorruptMetadataError.of("LB2501", f"this is {what}, not a metadata block", expected=f"{BLOCK_CODE:#x}")
    _check_version(envelope["version"])
    if "content" not in envelope:
        raise CorruptMetadataError.of("LB2503", "the envelope is empty")
    decoder = Decoder(Cursor(envelope["content"]))
    content = decoder.root("MetadataBlock")
    if "systemTime" not in content:
        raise CorruptMetadataError.of("LB2503", "the block has no time")
    return Block(
        _event(content.get("event"), tuple(decoder.unknown), rules),
        instant.parse(content["systemTime"]),
        content["sequenceNumber"],
        _previous(content.get("prevBlockHash")),
        envelope["version"],
    )


def _event(value: Mapping[str, Any] | None, unknown: tuple[Unknown, ...], rules: ReaderRules) -> Event:
    if value is not None:
        properties = dict(value)
        kind = properties.pop("kind")
        return event_of(kind, properties, _within_event(unknown), rules)
    newer = next((found for found in unknown if found.path == "event"), None)
    if newer is None:
        raise CorruptMetadataError.of("LB2503", "the block has no event")
    return event_of(newer.what, {}, unknown, rules)


def _within_event(unknown: tuple[Unknown, ...]) -> tuple[Unknown, ...]:
    return tuple(Unknown(u.path.removeprefix("event."), u.what, u.column) for u in unknown)


def _previous(text: str | None) -> Multihash | None:
    if text is None:
        return None
    found = Multihash.parse(text)
    if found.code != SHA3_256 or len(found.digest) != 32:
        message = "the hash of the block before is no SHA3-256"
        raise CorruptMetadataError.of("LB2504", message, path="prevBlockHash", found=text[:80])
    return found


def _check_version(version: int) -> None:
    if version in READABLE_VERSIONS:
        return
    message = f"the block is of version {version}; versions 2 and 3 can be read"
    remedy = "use a newer Lakebed" if version > CURRENT_VERSION else "upgrade the dataset with the tool that wrote it"
    raise UnsupportedError.of("LB2502", message, expected="2 or 3", found=str(version), remedy=remedy)

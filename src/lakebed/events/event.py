"""Read one metadata event from bytes or from a manifest's object, and write it as bytes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import ConversionError, CorruptMetadataError, UsageError
from lakebed.events.buffer_cursor import Cursor
from lakebed.events.decode_event import Decoder, Unknown
from lakebed.events.encode_event import encode
from lakebed.events.event_schema import CURRENT_RULES, NAIVE, ReaderRules, SchemaReader
from lakebed.events.flatbuffers_layout import layout
from lakebed.events.raw_arrow import upgraded
from lakebed.model import Schema, schema_json

SET_DATA_SCHEMA = "SetDataSchema"


@dataclass(frozen=True, slots=True)
class Event:
    """A metadata event.

    `kind` is such as `SetInfo`; for an event of a newer writer it is such as `metadata event 14`, and nothing of it is
    decoded. `value` are its properties as a manifest has them, `kind` left out. Of a `SetDataSchema`, `schema` is what
    it declares, a legacy one (`is_legacy`) upgraded. `unknown` is what was left out, `diagnostics` are warnings.
    """

    kind: str
    value: Mapping[str, Any] = field(default_factory=dict, hash=False)
    schema: Schema | None = None
    is_legacy: bool = False
    unknown: tuple[Unknown, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def set_data_schema(cls, schema: Schema) -> Event:
        """The event that declares a schema, as it is given."""
        return cls(SET_DATA_SCHEMA, {"schema": schema_json(schema)}, schema)

    def to_json(self) -> dict[str, Any]:
        """The event of a manifest, `kind` first; bytes are base 64."""
        out = {"kind": self.kind, **self.value}
        if self.schema is not None and not self.is_legacy:
            out["schema"] = schema_json(self.schema)
        raw = out.get("rawArrowSchema")
        if isinstance(raw, bytes):
            out["rawArrowSchema"] = base64.b64encode(raw).decode("ascii")
        return out


def event_from_json(value: Mapping[str, Any], *, rules: ReaderRules = CURRENT_RULES) -> Event:
    """The event of a manifest's object, long form, canonical spelling. It can be written as it is.

    Raises `ConversionError` for what an event cannot hold, `CorruptMetadataError` for a schema that lacks a part.
    """
    kind, properties = _kind_of(value)
    raw = properties.get("rawArrowSchema")
    if isinstance(raw, str):
        try:
            properties["rawArrowSchema"] = base64.b64decode(raw, validate=True)
        except ValueError as error:
            raise ConversionError.of("LB2510", f"`rawArrowSchema` is not base 64: {error}") from error
    return decode_event(encode(kind, properties), kind, rules=rules)


def encode_event(event: Event | Mapping[str, Any]) -> bytes:
    """The bytes of an event as a root of its own, which do not say of which kind it is.

    Takes an `Event` or the object of a manifest. Raises `ConversionError` for what the layout cannot hold.
    """
    kind, properties = _kind_of(event)
    return encode(kind, properties)


def encode_set_data_schema(schema: Schema) -> bytes:
    """The bytes of a `SetDataSchema` event, byte for byte as the reference implementation writes them.

    Everything that the schema says is written, encoding hints included; the legacy slot stays empty. Raises
    `ConversionError` for numbers beyond what the layout holds.
    """
    return encode(SET_DATA_SCHEMA, {"schema": schema_json(schema)})


def decode_event(data: bytes, kind: str = SET_DATA_SCHEMA, *, rules: ReaderRules = CURRENT_RULES) -> Event:
    """The event of bytes that were written as a root of their own. The bytes do not say of which kind they are.

    Raises `CorruptMetadataError` for damaged bytes and `UsageError` for a kind that does not exist.
    """
    if kind not in dict(layout().unions["MetadataEvent"]):
        known = [name for name, _ in layout().unions["MetadataEvent"]]
        raise UsageError.of("LB2511", f"there is no event {kind!r}", suggestions=near_names(kind, known))
    decoder = Decoder(Cursor(data))
    return event_of(kind, decoder.root(kind), tuple(decoder.unknown), rules)


def event_of(kind: str, value: dict[str, Any], unknown: tuple[Unknown, ...], rules: ReaderRules) -> Event:
    """The event of a decoded table."""
    warnings = tuple(_warning(found) for found in unknown)
    if kind != SET_DATA_SCHEMA:
        return Event(kind, value, unknown=unknown, diagnostics=warnings)
    stated, raw = value.get("schema"), value.get("rawArrowSchema")
    if stated is None:
        if raw is None:
            remedy = "an event needs `schema`, or the legacy `rawArrowSchema`"
            raise CorruptMetadataError.of("LB2503", "the event holds no schema", remedy=remedy)
        schema = upgraded(raw, keep_naive=rules.absent_zone == NAIVE)
        return Event(kind, value, schema, True, unknown, warnings)
    reader = SchemaReader(rules)
    schema = reader.schema(stated)
    if raw is not None:
        message = "the event holds its schema twice; the legacy `rawArrowSchema` is not looked at"
        reader.diagnostics.append(Diagnostic("LB2507", message, Severity.WARNING))
    return Event(kind, value, schema, False, unknown, (*warnings, *reader.diagnostics))


def _kind_of(event: Event | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(event, Event):
        kind, properties = event.kind, dict(event.value)
    else:
        kind, properties = str(event.get("kind")), {k: v for k, v in event.items() if k != "kind"}
    known = [name for name, _ in layout().unions["MetadataEvent"]]
    if kind not in known:
        message = f"{kind!r:.60} is not a kind of event that can be written"
        raise ConversionError.of("LB2510", message, suggestions=near_names(kind, known))
    return kind, properties


def _warning(found: Unknown) -> Diagnostic:
    what = f"the column {found.path}" if found.column else f"`{found.path}`"
    message = f"{what} has a {found.what}, which this version does not know, and is left out"
    remedy = "use a newer Lakebed to see it; the stored bytes are not changed"
    return Diagnostic("LB2506", message, Severity.WARNING, path=found.path, found=found.what, remedy=remedy)

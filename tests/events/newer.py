"""A writer of a later release: it knows types, events and units that this one does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from lakebed.events.flatbuffers_layout import Layout, layout


def newer_layout() -> Layout:
    known = layout()
    unions = dict(known.unions)
    unions["DataType"] = (*unions["DataType"], ("Geometry", "TimestampType"))
    unions["MetadataEvent"] = (*unions["MetadataEvent"], ("SetColour", "SetInfo"))
    unions["ReadStep"] = (*unions["ReadStep"], ("Xml", "ReadCsv"))
    enums = dict(known.enums)
    enums["TimeUnit"] = ("int16", (*enums["TimeUnit"][1], "Picosecond"))
    return replace(known, unions=unions, enums=enums)


@contextmanager
def newer_writer() -> Iterator[None]:
    made = newer_layout()
    with patch("lakebed.events.encode_event.layout", lambda: made), patch("lakebed.events.event.layout", lambda: made):
        yield

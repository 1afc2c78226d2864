"""Encoding hints: what a schema says about Arrow buffers, not about values (RFC-016, "Logical Types vs. Encoding").

They are kept in `extra` so that conversions lose nothing, and left out where a schema is shown.
"""

from __future__ import annotations

from lakebed.model.attributes import without_attributes
from lakebed.model.schema import Schema

BUFFER_ENCODING = "arrow.apache.org/bufferEncoding"
DATE_ENCODING = "arrow.apache.org/dateEncoding"
DECIMAL_ENCODING = "arrow.apache.org/decimalEncoding"
#: What Arrow says and the three hints of the RFC cannot; see `lakebed.convert.arrow_hints`.
ARROW_ENCODING = "arrow.lakebed.dev/encoding"
#: Every attribute that is an encoding hint. A conversion that keeps more of them adds its own here.
ENCODING_KEYS = frozenset({BUFFER_ENCODING, DATE_ENCODING, DECIMAL_ENCODING, ARROW_ENCODING})


def is_encoding(key: str) -> bool:
    """Whether an attribute says how values are encoded, not what they mean."""
    return key in ENCODING_KEYS


def strip_encoding(schema: Schema) -> Schema:
    """The schema without the encoding hints of its fields, at every depth: in structs, lists, maps and options.

    All other attributes stay, those of the schema itself included. A stripped schema comes back as it is.
    """
    return without_attributes(schema, ENCODING_KEYS)

"""Choose how fields without encoding hints are laid out in Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.convert.arrow_hints import Buffer, encoding_of
from lakebed.model.encoding import BUFFER_ENCODING, DATE_ENCODING


@dataclass(frozen=True, slots=True)
class ToArrow:
    """Encodings for the fields that carry no hint of the RFC, and for everything inside of lists and maps.

    They apply to String, to Binary and List of any length, and to Date ("Day" or "Millisecond"); None is Arrow's plain
    type. `carrier` puts the schema itself into the metadata; without it attributes are lost.
    """

    string: Buffer | None = None
    binary: Buffer | None = None
    list: Buffer | None = None
    date: str | None = None
    carrier: bool = True

    def to_json(self) -> dict[str, Any]:
        """The settings that were made, for the carrier."""
        buffers = {"string": self.string, "binary": self.binary, "list": self.list}
        out: dict[str, Any] = {name: buffer.to_json() for name, buffer in buffers.items() if buffer is not None}
        return out | ({"date": {"unit": self.date}} if self.date else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ToArrow:
        """Settings as `to_json` gives them. Raises `ConversionError`."""
        string, binary, list_ = (
            encoding_of({BUFFER_ENCODING: value[name]}).buffer if name in value else None
            for name in ("string", "binary", "list")
        )
        date = encoding_of({DATE_ENCODING: value["date"]}).date if "date" in value else None
        return cls(string, binary, list_, date)

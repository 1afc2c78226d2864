"""Read and write the Arrow encoding hints of a schema: RFC-016's, and Lakebed's. Needs no PyArrow.

The RFC has three attributes, for the field that carries them: `bufferEncoding`, `dateEncoding` and `decimalEncoding`
under `arrow.apache.org/`. What they cannot say stands under `arrow.lakebed.dev/encoding`, a tree along the type:

    {"layers": [{"kind": "Dictionary", "indexType": "Int32", "ordered": true},    around the type, outermost first
                {"kind": "RunEnd", "runEndsBitWidth": 16},
                {"kind": "Extension", "name": "arrow.uuid", "serialized": ""}],
     "naive": true,                                                               a timestamp without zone
     "name": "element", "metadata": {...},                                        of an item, a key or a value
     "bufferEncoding": ..., "dateEncoding": ..., "decimalEncoding": ...,          of an item, a key or a value
     "item": {...}, "key": {...}, "value": {...}}                                 what is inside, in the same form

each part only where Arrow has something else than the default. Members of a Struct are fields with hints of their own.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lakebed.errors import ConversionError
from lakebed.model import JsonValue, canonical_json
from lakebed.model.encoding import ARROW_ENCODING, BUFFER_ENCODING, DATE_ENCODING, DECIMAL_ENCODING

#: The key and value metadata of an Arrow field, or of a whole Arrow schema.
ARROW_METADATA = "arrow.lakebed.dev/metadata"

Pairs: TypeAlias = tuple[tuple[bytes, bytes], ...]

_INDEX_TYPES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_WIDTHS = {"Contiguous": "offsetBitWidth", "View": "offsetBitWidth", "RunEnd": "runEndsBitWidth"}
_MAX_DEPTH = 128


@dataclass(frozen=True, slots=True)
class Buffer:
    """A `bufferEncoding`: `kind` is Contiguous, View or RunEnd; an absent `width` in bits means 32."""

    kind: str
    width: int | None = None

    @property
    def effective_width(self) -> int:
        return self.width or 32

    def to_json(self) -> dict[str, JsonValue]:
        return {"kind": self.kind} | ({} if self.width is None else {_WIDTHS[self.kind]: self.width})


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Values stand in a dictionary, rows hold indices of the integer type `index`."""

    index: str
    ordered: bool = False

    def to_json(self) -> dict[str, JsonValue]:
        return {"kind": "Dictionary", "indexType": self.index} | ({"ordered": True} if self.ordered else {})


@dataclass(frozen=True, slots=True)
class RunEnds:
    """Runs of equal values; `width` of the run ends in bits: 16, 32 or 64."""

    width: int

    def to_json(self) -> dict[str, JsonValue]:
        return {"kind": "RunEnd", "runEndsBitWidth": self.width}


@dataclass(frozen=True, slots=True)
class Extension:
    """An Arrow extension type over the type inside, which is its storage."""

    name: str
    serialized: bytes = b""

    def to_json(self) -> dict[str, JsonValue]:
        return {"kind": "Extension", "name": self.name, "serialized": base64.b64encode(self.serialized).decode()}


Layer: TypeAlias = Dictionary | RunEnds | Extension


@dataclass(frozen=True, slots=True)
class Encoding:
    """All that the hints say about one place of a type. `date` is "Day" or "Millisecond", `decimal` a width in bits."""

    buffer: Buffer | None = None
    date: str | None = None
    decimal: int | None = None
    layers: tuple[Layer, ...] = ()
    naive: bool = False
    name: str | None = None
    metadata: Pairs = ()
    item: Encoding | None = None
    key: Encoding | None = None
    value: Encoding | None = None

    @property
    def is_default(self) -> bool:
        """Whether nothing is said."""
        return self == Encoding()

    @property
    def says_rfc(self) -> bool:
        """Whether one of the three hints of the RFC is there, so that settings do not apply."""
        return self.buffer is not None or self.date is not None or self.decimal is not None


def pruned(encoding: Encoding, less: tuple[str, ...]) -> Encoding:
    """The encoding without the parts named, at every level; levels that say nothing are left out."""

    def inner(part: Encoding | None) -> Encoding | None:
        left = None if part is None else pruned(part, less)
        return None if left is None or left.is_default else left

    defaults = {name: getattr(Encoding(), name) for name in less}
    return replace(
        encoding, item=inner(encoding.item), key=inner(encoding.key), value=inner(encoding.value), **defaults
    )


def encoding_of(extra: Mapping[str, Any], path: str = "") -> Encoding:
    """The hints of a field's attributes. Raises `ConversionError` for a malformed one; `path` is the field's."""
    reader = _Reader(path)
    own = reader.tree(extra[ARROW_ENCODING], ARROW_ENCODING) if ARROW_ENCODING in extra else Encoding()
    return replace(
        own,
        buffer=reader.buffer(extra[BUFFER_ENCODING]) if BUFFER_ENCODING in extra else own.buffer,
        date=reader.date(extra[DATE_ENCODING]) if DATE_ENCODING in extra else own.date,
        decimal=reader.decimal(extra[DECIMAL_ENCODING]) if DECIMAL_ENCODING in extra else own.decimal,
    )


def attributes_of(encoding: Encoding) -> dict[str, JsonValue]:
    """The attributes that say an encoding: the RFC's where it has one, and ours."""
    found: dict[str, JsonValue] = {k: v for k, v in _rfc_parts(encoding).items() if v is not None}
    own = _tree_json(replace(encoding, buffer=None, date=None, decimal=None))
    return found | ({ARROW_ENCODING: own} if own else {})


def _rfc_parts(encoding: Encoding) -> dict[str, JsonValue]:
    return {
        BUFFER_ENCODING: encoding.buffer.to_json() if encoding.buffer else None,
        DATE_ENCODING: {"unit": encoding.date} if encoding.date else None,
        DECIMAL_ENCODING: {"bitWidth": encoding.decimal} if encoding.decimal else None,
    }


def _tree_json(encoding: Encoding) -> dict[str, JsonValue]:
    out: dict[str, JsonValue] = {}
    if encoding.layers:
        out["layers"] = [layer.to_json() for layer in encoding.layers]
    if encoding.naive:
        out["naive"] = True
    if encoding.name is not None:
        out["name"] = encoding.name
    if encoding.metadata:
        out["metadata"] = metadata_json(encoding.metadata)
    for key, value in _rfc_parts(encoding).items():
        if value is not None:
            out[key.partition("/")[2]] = value
    for part in ("item", "key", "value"):
        inner = getattr(encoding, part)
        if inner is not None:
            out[part] = _tree_json(inner)
    return out


def metadata_json(pairs: Pairs) -> JsonValue:
    """Arrow metadata as JSON: an object of texts or, where something is no text, a list of pairs in base64."""
    try:
        texts: dict[str, JsonValue] = {key.decode(): value.decode() for key, value in pairs}
    except UnicodeDecodeError:
        return [[base64.b64encode(part).decode() for part in pair] for pair in pairs]
    return texts


def metadata_pairs(value: object, path: str = "") -> Pairs:
    """What `metadata_json` made. Raises `ConversionError` for something else."""
    match value:
        case dict() if all(isinstance(text, str) for text in value.values()):
            return tuple((key.encode(), text.encode()) for key, text in value.items())
        case list() if all(isinstance(p, list) and [type(t) for t in p] == [str, str] for p in value):
            try:
                return tuple((base64.b64decode(k, validate=True), base64.b64decode(v, validate=True)) for k, v in value)
            except ValueError:
                pass
    raise _malformed(ARROW_METADATA, value, "an object of texts, or a list of pairs in base64", path)


def as_pairs(metadata: Mapping[bytes, bytes] | None) -> Pairs:
    """Arrow metadata in the order of its keys, as the attributes have it."""
    return tuple(sorted((metadata or {}).items()))


class _Reader:
    """Reads the JSON of hints; the three spellings of the RFC's names are taken."""

    def __init__(self, path: str) -> None:
        self._path = path

    def buffer(self, value: object) -> Buffer:
        wanted = "{kind: Contiguous or View, offsetBitWidth: 32 or 64}, or {kind: RunEnd, runEndsBitWidth: 32 or 64}"
        if isinstance(value, dict):
            kind = _spelt(value.get("kind"), _WIDTHS)
            width = value.get(_WIDTHS.get(kind, ""))
            if kind and value.keys() <= {"kind", _WIDTHS[kind]} and (width is None or _is_one_of(width, (32, 64))):
                return Buffer(kind, width)
        raise _malformed(BUFFER_ENCODING, value, wanted, self._path)

    def date(self, value: object) -> str:
        if isinstance(value, dict) and value.keys() == {"unit"} and (unit := _spelt(value["unit"], _DATE_UNITS)):
            return unit
        raise _malformed(DATE_ENCODING, value, "{unit: Day} or {unit: Millisecond}", self._path)

    def decimal(self, value: object) -> int:
        if isinstance(value, dict) and value.keys() == {"bitWidth"} and _is_one_of(value["bitWidth"], DECIMAL_DIGITS):
            return int(value["bitWidth"])
        raise _malformed(DECIMAL_ENCODING, value, "{bitWidth: 32, 64, 128 or 256}", self._path)

    def tree(self, value: object, where: str, depth: int = 0) -> Encoding:
        if not isinstance(value, dict) or depth > _MAX_DEPTH:
            raise _malformed(where, value, "an object that is nested along the type", self._path)
        parts: dict[str, Any] = {}
        for key, part in value.items():
            match key, part:
                case "layers", list():
                    parts["layers"] = tuple(self._layer(layer) for layer in part)
                case "naive", bool():
                    parts["naive"] = part
                case "name", str():
                    parts["name"] = part
                case "metadata", _:
                    parts["metadata"] = metadata_pairs(part, self._path)
                case "bufferEncoding", _:
                    parts["buffer"] = self.buffer(part)
                case "dateEncoding", _:
                    parts["date"] = self.date(part)
                case "decimalEncoding", _:
                    parts["decimal"] = self.decimal(part)
                case "item" | "key" | "value", _:
                    parts[key] = self.tree(part, where, depth + 1)
                case _:
                    raise _malformed(where, {key: part}, "layers, naive, name, metadata, item, key, value", self._path)
        return Encoding(**parts)

    def _layer(self, value: object) -> Layer:
        match value:
            case {"kind": "Dictionary", "indexType": str(index), **rest} if index in _INDEX_TYPES:
                ordered = rest.get("ordered", False)
                if rest.keys() <= {"ordered"} and isinstance(ordered, bool):
                    return Dictionary(index, ordered)
            case {"kind": "RunEnd", "runEndsBitWidth": int(width), **rest} if width in (16, 32, 64) and not rest:
                return RunEnds(width)
            case {"kind": "Extension", "name": str(name), "serialized": str(text), **rest} if not rest:
                try:
                    return Extension(name, base64.b64decode(text, validate=True))
                except ValueError:
                    pass
        raise _malformed(ARROW_ENCODING, value, "a Dictionary, a RunEnd or an Extension as a layer", self._path)


_DATE_UNITS = ("Day", "Millisecond")
#: How many digits a decimal of so many bits can hold.
DECIMAL_DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}


def _is_one_of(value: object, choices: Iterable[int]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in choices


def _spelt(value: object, names: Iterable[str]) -> str:
    """The canonical spelling of a name in one of its three spellings, or nothing."""
    spellings = {s: name for name in names for s in (name, name[0].lower() + name[1:], name.lower())}
    return spellings.get(value, "") if isinstance(value, str) else ""


def _malformed(key: str, value: object, expected: str, path: str) -> ConversionError:
    found = canonical_json(value)[:200]  # type: ignore[arg-type]
    return ConversionError.of(
        "LB2402",
        f"the attribute {key} is malformed",
        path=path or None,
        expected=expected,
        found=found,
        remedy="mend the attribute, or drop it: it says how Arrow lays the values out, not what they are",
    )

"""Parse and print content hashes and dataset identities of Open Data Fabric: multihash, multibase, `did:odf`.

A multihash is the varint of a hash function, the varint of a length, and the digest. Its text is multibase; ODF writes
base 16 (`f1620...`), and older texts are in base 58 (`z...`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lakebed.errors import CorruptMetadataError

SHA3_256 = 0x16
ED25519_PUBLIC_KEY = 0xED
DID_PREFIX = "did:odf:"

_BASE_58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LONGEST_TEXT = 1024
_KEY_LENGTH = 32
_FIELD_PRIME = 2**255 - 19
_CURVE_D = -121665 * pow(121666, _FIELD_PRIME - 2, _FIELD_PRIME) % _FIELD_PRIME


@dataclass(frozen=True, slots=True)
class Multihash:
    """A hash that says which function made it. `code` is the multicodec number, 0x16 for SHA3-256."""

    code: int
    digest: bytes

    @classmethod
    def of(cls, data: bytes) -> Multihash:
        """The SHA3-256 of some bytes."""
        return cls(SHA3_256, hashlib.sha3_256(data).digest())

    @classmethod
    def from_bytes(cls, data: bytes) -> Multihash:
        """Raises `CorruptMetadataError` for bytes that are no multihash."""
        code, at = _varint(data, 0)
        length, at = _varint(data, at)
        if code is None or length is None or len(data) - at != length or not length:
            raise _faulty("a multihash", data.hex()[:80], "a function, a length and as many bytes")
        return cls(code, data[at:])

    @classmethod
    def parse(cls, text: str) -> Multihash:
        """The multihash of its text, in base 16 or 58. Raises `CorruptMetadataError`."""
        data = _multibase(text)
        if data is None:
            raise _faulty("a multihash", text[:80], "f1620 and 64 hexadecimal digits")
        return cls.from_bytes(data)

    def to_bytes(self) -> bytes:
        """Function, length, digest."""
        return _as_varint(self.code) + _as_varint(len(self.digest)) + self.digest

    def __str__(self) -> str:
        return "f" + self.to_bytes().hex()

    @property
    def short(self) -> str:
        """The beginning of the text, enough to tell blocks apart: the tag and eight digits of the digest."""
        return str(self)[:13]


@dataclass(frozen=True, slots=True)
class DatasetId:
    """The identity of a dataset: a public key, written `did:odf:f...`. `key` is the multicodec form of it."""

    key: bytes

    @classmethod
    def from_bytes(cls, data: bytes) -> DatasetId:
        """Raises `CorruptMetadataError` for bytes that are no ed25519 public key."""
        code, at = _varint(data, 0)
        if code != ED25519_PUBLIC_KEY or len(data) - at != _KEY_LENGTH:
            raise _faulty("the identity of a dataset", data.hex()[:80], "the bytes ed 01 and a key of 32 bytes")
        return cls(data)

    @classmethod
    def parse(cls, text: str) -> DatasetId:
        """The identity of its text, `did:odf:` and a multibase text. Raises `CorruptMetadataError`."""
        data = _multibase(text.removeprefix(DID_PREFIX)) if text.startswith(DID_PREFIX) else None
        if data is None:
            raise _faulty("the identity of a dataset", text[:80], "did:odf:fed01 and 64 hexadecimal digits")
        return cls.from_bytes(data)

    @classmethod
    def derived(cls, *words: str) -> DatasetId:
        """An identity that follows from some words alone, so that the same table is exported as the same dataset.

        It is a point of the curve, as a key has to be, found by hashing: nobody has the private key to it.
        """
        digest = hashlib.sha3_256("\0".join(("lakebed", *words)).encode()).digest()
        while not _is_public_key(digest):
            digest = hashlib.sha3_256(digest).digest()
        return cls(_as_varint(ED25519_PUBLIC_KEY) + digest)

    def __str__(self) -> str:
        return DID_PREFIX + "f" + self.key.hex()


def _is_public_key(data: bytes) -> bool:
    """Whether 32 bytes are a point of the curve of ed25519 (RFC 8032, 5.1.3)."""
    y = int.from_bytes(data, "little") & (2**255 - 1)
    squared = (y * y - 1) * pow(_CURVE_D * y * y + 1, _FIELD_PRIME - 2, _FIELD_PRIME) % _FIELD_PRIME
    return y < _FIELD_PRIME and squared != 0 and pow(squared, (_FIELD_PRIME - 1) // 2, _FIELD_PRIME) == 1


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    """An unsigned LEB128 number of at most nine bytes, as multiformats allow, and where it ends."""
    value = 0
    for count, byte in enumerate(data[at : at + 9]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, at + count + 1
    return None, at


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _multibase(text: str) -> bytes | None:
    """The bytes of a multibase text in base 16 or 58, None for any other."""
    base, digits = text[:1], text[1:_LONGEST_TEXT]
    if len(text) > _LONGEST_TEXT or not digits.isascii():
        return None
    if base in ("f", "F"):
        try:
            return bytes.fromhex(digits) if digits.isalnum() else None
        except ValueError:
            return None
    return _from_base_58(digits) if base == "z" else None


def _from_base_58(digits: str) -> bytes | None:
    value = 0
    for digit in digits:
        place = _BASE_58.find(digit)
        if place < 0:
            return None
        value = value * 58 + place
    zeros = len(digits) - len(digits.lstrip("1"))
    return bytes(zeros) + value.to_bytes((value.bit_length() + 7) // 8, "big")


def _faulty(what: str, found: str, expected: str) -> CorruptMetadataError:
    return CorruptMetadataError.of("LB2504", f"{found!r} is not {what}", expected=expected, found=found)

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CorruptMetadataError
from lakebed.events import DatasetId, Multihash


@given(st.binary(max_size=64))
def test_a_hash_is_its_function_its_length_and_its_digest(data: bytes) -> None:
    found = Multihash.of(data)
    assert found.to_bytes() == b"\x16\x20" + hashlib.sha3_256(data).digest()
    assert str(found) == "f1620" + hashlib.sha3_256(data).hexdigest()
    assert Multihash.parse(str(found)) == Multihash.from_bytes(found.to_bytes()) == found


@given(st.integers(0, 2**63 - 1), st.binary(min_size=1, max_size=200))
def test_any_function_and_length(code: int, digest: bytes) -> None:
    found = Multihash(code, digest)
    assert Multihash.from_bytes(found.to_bytes()) == found


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_anything_else_is_a_clean_error(data: bytes | str) -> None:
    try:
        found = Multihash.from_bytes(data) if isinstance(data, bytes) else Multihash.parse(data)
    except CorruptMetadataError as error:
        assert error.code == "LB2504"  # noqa: PT017
    else:
        # Not every varint is the shortest one.
        assert len(found.to_bytes()) <= len(data)


def test_base_58_is_read() -> None:
    # The multihash of the text `multihash`, as the specification of multihash prints it.
    assert Multihash.parse("zQmYtUc4iTCbbfVSDNKvtQqrfyezPPnFvE33wFmutw9PBBk") == Multihash(
        0x12, hashlib.sha256(b"multihash").digest()
    )


IDENTITY = "did:odf:fed01" + "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"


def test_an_identity_is_a_key() -> None:
    found = DatasetId.parse(IDENTITY)
    assert found.key[:2] == b"\xed\x01"
    assert len(found.key) == 34
    assert str(DatasetId.from_bytes(found.key)) == IDENTITY


@pytest.mark.parametrize(
    "text", ["", "did:odf:", "did:key:fed01", IDENTITY[:-2], IDENTITY + "00", "did:odf:f1620" + "0" * 64]
)
def test_what_is_no_identity(text: str) -> None:
    with pytest.raises(CorruptMetadataError) as caught:
        DatasetId.parse(text)
    assert caught.value.code == "LB2504"


@given(st.lists(st.text(max_size=8), max_size=3))
def test_a_derived_identity_is_a_point_of_the_curve_and_follows_from_its_words(words: list[str]) -> None:
    found = DatasetId.derived(*words)
    assert found == DatasetId.derived(*words)
    assert found != DatasetId.derived(*words, "")
    assert DatasetId.parse(str(found)) == found
    assert _on_curve(found.key[2:])


def _on_curve(key: bytes) -> bool:
    """Decompression as RFC 8032 has it: the x of -x^2 + y^2 = 1 + d x^2 y^2."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p
    y = int.from_bytes(key, "little") & ~(1 << 255)
    square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(square, (p + 3) // 8, p)
    if (x * x - square) % p:
        x = x * pow(2, (p - 1) // 4, p) % p
    return (x * x - square) % p == 0 and (-x * x + y * y - 1 - d * x * x * y * y) % p == 0


def test_published_keys_are_points_of_the_curve_and_others_are_not() -> None:
    assert _on_curve(bytes.fromhex(IDENTITY[-64:]))
    assert not all(_on_curve(bytes([i]) + bytes(31)) for i in range(16))


@given(st.integers(0, 2**63 - 1), st.binary(min_size=1, max_size=40), st.binary(min_size=1, max_size=4))
def test_bytes_too_many_or_too_few_are_no_hash(code: int, digest: bytes, more: bytes) -> None:
    """Two texts for one hash would be two names of one block."""
    whole = Multihash(code, digest).to_bytes()
    for data in (whole + more, whole[:-1]):
        with pytest.raises(CorruptMetadataError):
            Multihash.from_bytes(data)
        with pytest.raises(CorruptMetadataError):
            Multihash.parse("f" + data.hex())

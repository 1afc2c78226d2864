"""Columns that are declared as DIDs or multihashes hold nothing else."""

from __future__ import annotations

from ingest.ingest_lake import SmallLake
from lakebed.errors import CorruptMetadataError
from lakebed.events.multihash import Multihash
from lakebed.ingest.columns.extended_types import NO_DID, NO_MULTIHASH
from lakebed.model import Extra, Field, Int32, Option, String

HASH = str(Multihash.of(b"x"))
DIDS = {
    "did:odf:fed01abc": True, "did:web:example.com%3A3000:user": True, "did:a:b:": False, "did:a::b": True,
    "did:odf": False, "did:ODF:x": False, "did:a:b c": False, "x did:a:b": False, "did:a:b\n": False, "": False,
}  # fmt: skip
HASHES = [HASH, HASH.upper().replace("F", "f", 1), HASH[:-2], HASH + "00", "f", "f1620", "f0001ff", "f00", HASH[1:]]
HASHES += [
    "f1e" + "8001" + "ab" * 128,
    "f1e" + "8001" + "ab" * 127,
    "",
    "u1620",
    "zQmWvQxTqbG2Z9HPJgG57jjwR154cKhbtJenbyYTWkjgF3e",
]


def is_multihash(text: str) -> bool:
    """What the reader of metadata blocks says."""
    try:
        Multihash.parse(text)
    except CorruptMetadataError:
        return False
    return True


def column(name: str, kind: str) -> Field:
    value = {"kind": "ObjectLink", "linkType": {"kind": kind}} if name == "link" else {"kind": kind}
    return Field(name, Option(String()), Extra({"opendatafabric.org/type": value}))


def test_values_are_validated_on_ingest(lake: SmallLake) -> None:
    lake.create(Field("n", Int32()), column("did", "Did"), column("hash", "Multihash"), column("link", "Multihash"))
    rows = [(i, did, None, None) for i, did in enumerate(DIDS)]
    rows += [(100 + i, None, text, None) for i, text in enumerate(HASHES)]
    rows += [(200 + i, None, None, text) for i, text in enumerate(HASHES)]
    frame = lake.spark.createDataFrame(rows, "n INT, did STRING, hash STRING, link STRING")
    result = lake.ingest(frame, run_id="r")
    good = [*DIDS.values(), *[is_multihash(text) for text in HASHES] * 2].count(True)
    assert (result.rows_written, result.rows_quarantined) == (good, len(rows) - good)
    wrong = {("did", NO_DID, did[:200]) for did, fine in DIDS.items() if not fine}
    wrong |= {(c, NO_MULTIHASH, text[:200]) for c in ("hash", "link") for text in HASHES if not is_multihash(text)}
    assert {(p["path"], p["code"], p["found"].rstrip("…")) for row in lake.bad() for p in row["problems"]} == wrong

"""Read and write Open Data Fabric metadata as FlatBuffers: `SetDataSchema` events and metadata blocks.

Pure: bytes in, values out. Writing is byte for byte what the reference implementation writes; reading trusts nothing.
"""

from lakebed.events.block import Block, block_hash, decode_block, encode_block, is_envelope
from lakebed.events.chain import Chain, SchemaVersion, StoredBlock, export_chain, without_encodings
from lakebed.events.decode_event import Unknown
from lakebed.events.event import Event, decode_event, encode_event, encode_set_data_schema, event_from_json
from lakebed.events.event_schema import ReaderRules
from lakebed.events.inspection import Inspection
from lakebed.events.multihash import DatasetId, Multihash
from lakebed.events.verify import ChainBlock, ChainReport, verify_chain

__all__ = [
    "Block",
    "Chain",
    "ChainBlock",
    "ChainReport",
    "DatasetId",
    "Event",
    "Inspection",
    "Multihash",
    "ReaderRules",
    "SchemaVersion",
    "StoredBlock",
    "Unknown",
    "block_hash",
    "decode_block",
    "decode_event",
    "encode_block",
    "encode_event",
    "encode_set_data_schema",
    "event_from_json",
    "export_chain",
    "is_envelope",
    "verify_chain",
    "without_encodings",
]

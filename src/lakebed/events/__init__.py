"""Open Data Fabric metadata on the wire: `SetDataSchema` events and metadata blocks as FlatBuffers."""

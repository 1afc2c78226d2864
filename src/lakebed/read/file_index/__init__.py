"""Prune files and rows by Paimon's file indexes: bloom filters, bitmaps, bit slices."""

from lakebed.read.file_index.index_evidence import FileIndex, file_index, index_evidence

__all__ = ["FileIndex", "file_index", "index_evidence"]

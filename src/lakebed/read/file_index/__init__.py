"""Paimon's file indexes: what a bloom filter or a bitmap beside a data file, or in its manifest entry, says of it."""

from lakebed.read.file_index.index_evidence import FileIndex, file_index, index_evidence

__all__ = ["FileIndex", "file_index", "index_evidence"]

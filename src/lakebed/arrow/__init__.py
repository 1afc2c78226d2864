"""Read and write data files as Arrow batches in Spark's Python workers, which must be able to import Lakebed.

Avro files and blobs are read whole and decoded row by row, which is slower than a native scan.
"""

"""Read data files as Arrow batches in Spark's Python workers.

This is slower than a native scan: each file is read whole and decoded row by row. Workers must be able to import
Lakebed.
"""

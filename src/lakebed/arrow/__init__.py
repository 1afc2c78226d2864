"""Formats that Spark has no reader for: functions from a file's bytes to Arrow, run by Spark's Python workers.

This is slower than a native scan: each file is read whole and decoded row by row. Workers must be able to import
Lakebed.
"""

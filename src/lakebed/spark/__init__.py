"""Rows: reading and writing through Spark's own expressions and native scans. Needs the `spark` extra."""

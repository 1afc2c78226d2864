"""Read tables as DataFrames through Spark's own expressions and scans. Needs the `spark` extra."""

"""Provide the Spark data source `lakebed`: tables by `spark.read` and `spark.readStream`."""

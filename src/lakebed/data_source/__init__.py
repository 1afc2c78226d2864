"""The Spark data source `lakebed`: tables of a warehouse by `spark.read` and `spark.readStream`."""

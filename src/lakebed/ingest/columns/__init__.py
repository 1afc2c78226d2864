"""Convert and check columns of a source, as Spark expressions built from the declared schema."""

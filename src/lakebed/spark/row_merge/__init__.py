"""Merge the stored rows of a key into one, as expressions of Spark."""

"""Ingest sources into tables under the declared schema: checks of rows, quarantine, runs and their history."""

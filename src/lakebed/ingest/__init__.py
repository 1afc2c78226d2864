"""Ingest sources into tables under the declared schema: checks, quarantine, runs and their history."""

"""Open the sources of an ingest: paths, files of each format and their options, or a DataFrame."""

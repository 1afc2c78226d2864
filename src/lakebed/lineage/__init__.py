"""Tell OpenLineage of runs, by its own library, where a lake is opened so."""

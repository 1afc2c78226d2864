"""Plan reads without an engine: state, predicate, evidence of files, file indexes, count, explain."""

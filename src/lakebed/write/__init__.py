"""Plan what a write does to a table, without an engine: routing, refusals, the change of a commit."""

"""Plan what a write does to a table, without an engine: where rows go, what is refused, what a commit changes."""

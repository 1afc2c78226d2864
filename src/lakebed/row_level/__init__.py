"""Change single rows of a table: delete, update and merge, each as one snapshot."""

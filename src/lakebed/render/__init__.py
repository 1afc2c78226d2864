"""Show values as text. Pure: every function returns text."""

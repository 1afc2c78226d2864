"""One value, many looks. Pure: every function returns text."""

"""One file per command; each holds a click `command` of the file's name."""

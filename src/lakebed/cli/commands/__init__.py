"""Hold one file per command, each with a click `command` of the file's name."""

"""The command line: one file per command in `commands/`, one way to put things out in `output`."""

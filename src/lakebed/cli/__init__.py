"""Run the command line: one file per command in `commands/`, one way to print in `output`."""

"""Run the command line as `python -m lakebed`."""

from lakebed.cli.main import main

main()

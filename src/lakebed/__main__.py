"""`python -m lakebed` is the command line."""

from lakebed.cli.main import main

main()

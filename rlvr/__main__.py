"""`python -m rlvr` is the command `rlvr`."""

from rlvr.cli.main import main

main()

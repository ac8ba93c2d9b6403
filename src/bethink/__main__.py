"""Lets `python -m bethink` be the command line."""

import sys

from bethink.cli.app import main

if __name__ == "__main__":
    sys.exit(main())

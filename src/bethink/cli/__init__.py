"""The command line: translates arguments into requests, and results into lines or JSON."""

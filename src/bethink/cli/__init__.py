"""The command line: translates words into verbs, and what they return into lines or JSON."""

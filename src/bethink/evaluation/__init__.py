"""Evaluate a memory on questions of your own: `run.py` first."""

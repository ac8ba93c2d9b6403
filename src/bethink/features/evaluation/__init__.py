"""Evaluate a memory on questions of your own: `run.py` first."""

COMMANDS = {"eval": "Evaluate memory on your own questions: evidence, answers, tokens and cost."}

"""Evaluation of a memory on your own questions. Start with `run.py`."""

COMMANDS = {"test eval": "Measure recall and answers on your own questions."}
